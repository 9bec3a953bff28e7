"""The draws of NumPy's `Generator`: ops of the state of a bit generator, and the parameters of a distribution.

Each gives the numbers, and the state after them: so the order of draws is a dependence between data, a loop carries
the state, and a draw whose numbers are not used stays as long as the state after it is used. The numbers are
NumPy's, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from numbagraph.blockwise.kinds import Keywords, core_op
from numbagraph.blockwise.promotion import as_value
from numbagraph.intrinsics.emitters.emitter import I64
from numbagraph.intrinsics.emitters.random.bit_generators import WORDS
from numbagraph.intrinsics.emitters.random.distributions import (
    FINITE,
    NOT_NEGATIVE,
    POSITIVE,
    Distribution,
    Parameter,
    algorithm,
    at_most,
    between,
    count,
)
from numbagraph.intrinsics.emitters.random.inlined_draws import has_formula
from numbagraph.ir import shapes
from numbagraph.ir.types import BOOL, FLOAT32, FLOAT64, INT64, UINT64
from numbagraph.ir.values import Op, Unsupported, Value
from numbagraph.ops.random.generator_states import generator_of, words_of

NO_BATCH = Unsupported(
    "a numpy.random.Generator gives its numbers one after the other, which a batch has no place for: draw all of them "
    "before vmap, and pass them as an argument, or draw from a key for each element (numbagraph.random)"
)
NO_JAX = Unsupported(
    "JAX has no numpy.random.Generator: draw with NumPy, and pass the numbers as an argument, or from a key "
    "(numbagraph.random)"
)


LONGEST = 2**60
"""The greatest length. That of other core ops, which are bound by LAPACK's lengths, is shorter."""


def parameters(names: str, *checks: Any, dtype: np.dtype = FLOAT64) -> tuple[Parameter, ...]:
    return tuple(Parameter(name, check, dtype) for name, check in zip(names.split(), checks, strict=True))


GREATER_THAN_1 = between(1.0, 1e308, open_below=True)
PROBABILITY = between(0.0, 1.0)
PROBABILITY_BELOW_1 = between(0.0, 1.0, open_above=True)
PROBABILITY_ABOVE_0 = between(0.0, 1.0, open_below=True)
RATE = between(0.0, 9.2e18)
LOCATED = parameters("loc scale", FINITE, NOT_NEGATIVE)
BINOMIAL_STATE = 256
"""The number of bytes for the state that NumPy keeps of the last binomial distribution (``binomial_t``)."""


def ordered(builder: Any, values: Sequence[Any]) -> Any:
    """Emit a test of whether the corners of a triangle follow each other, and are not all equal."""
    left, mode, right = values
    below, above = builder.fcmp_ordered("<=", left, mode), builder.fcmp_ordered("<=", mode, right)
    return builder.and_(builder.and_(below, above), builder.fcmp_ordered("<", left, right))


def fit_in_sums(builder: Any, values: Sequence[Any]) -> Any:
    """Emit a test of whether no more are taken than there are."""
    good, bad, taken = values
    return builder.icmp_unsigned("<=", taken, builder.add(good, bad))


DISTRIBUTIONS: dict[str, Distribution] = {
    "random": Distribution("random_standard_uniform_fill", (), fills=True),
    "random_f": Distribution("random_standard_uniform_fill_f", (), FLOAT32, fills=True),
    "standard_normal": Distribution("random_standard_normal_fill", (), fills=True),
    "standard_normal_f": Distribution("random_standard_normal_fill_f", (), FLOAT32, fills=True),
    "standard_exponential": Distribution("random_standard_exponential_fill", (), fills=True),
    "standard_exponential_f": Distribution("random_standard_exponential_fill_f", (), FLOAT32, fills=True),
    "standard_exponential_inv": Distribution("random_standard_exponential_inv_fill", (), fills=True),
    "standard_exponential_inv_f": Distribution("random_standard_exponential_inv_fill_f", (), FLOAT32, fills=True),
    "standard_cauchy": Distribution("random_standard_cauchy", ()),
    "standard_gamma": Distribution("random_standard_gamma", parameters("shape", NOT_NEGATIVE)),
    "standard_gamma_f": Distribution(
        "random_standard_gamma_f", parameters("shape", NOT_NEGATIVE, dtype=FLOAT32), FLOAT32
    ),
    "standard_t": Distribution("random_standard_t", parameters("df", POSITIVE)),
    "beta": Distribution("random_beta", parameters("a b", POSITIVE, POSITIVE)),
    "chisquare": Distribution("random_chisquare", parameters("df", POSITIVE)),
    "noncentral_chisquare": Distribution("random_noncentral_chisquare", parameters("df nonc", POSITIVE, NOT_NEGATIVE)),
    "f": Distribution("random_f", parameters("dfnum dfden", POSITIVE, POSITIVE)),
    "noncentral_f": Distribution(
        "random_noncentral_f", parameters("dfnum dfden nonc", POSITIVE, POSITIVE, NOT_NEGATIVE)
    ),
    "pareto": Distribution("random_pareto", parameters("a", POSITIVE)),
    "weibull": Distribution("random_weibull", parameters("a", NOT_NEGATIVE)),
    "power": Distribution("random_power", parameters("a", POSITIVE)),
    "laplace": Distribution("random_laplace", LOCATED),
    "gumbel": Distribution("random_gumbel", LOCATED),
    "logistic": Distribution("random_logistic", LOCATED),
    "lognormal": Distribution("random_lognormal", parameters("mean sigma", FINITE, NOT_NEGATIVE)),
    "rayleigh": Distribution("random_rayleigh", parameters("scale", NOT_NEGATIVE)),
    "wald": Distribution("random_wald", parameters("mean scale", POSITIVE, POSITIVE)),
    "vonmises": Distribution("random_vonmises", parameters("mu kappa", FINITE, NOT_NEGATIVE)),
    "triangular": Distribution(
        "random_triangular", parameters("left mode right", FINITE, FINITE, FINITE), check=ordered
    ),
    "poisson": Distribution("random_poisson", parameters("lam", RATE), INT64),
    "negative_binomial": Distribution(
        "random_negative_binomial", parameters("n p", between(0.0, 1e9, open_below=True), between(1e-6, 1.0)), INT64
    ),
    "geometric": Distribution("random_geometric", parameters("p", PROBABILITY_ABOVE_0), INT64),
    "logseries": Distribution("random_logseries", parameters("p", PROBABILITY_BELOW_1), INT64),
    "zipf": Distribution("random_zipf", parameters("a", GREATER_THAN_1), INT64),
    "binomial": Distribution(
        "random_binomial",
        (Parameter("n", count, INT64), Parameter("p", PROBABILITY)),
        INT64,
        scratch=BINOMIAL_STATE,
        order=(1, 0),
    ),
    "hypergeometric": Distribution(
        "random_hypergeometric",
        parameters("ngood nbad nsample", count, count, count, dtype=INT64),
        INT64,
        check=fit_in_sums,
    ),
}
"""Distributions by the name of NumPy's method; ``_f`` stands for float32, ``_inv`` for the inverse of the cumulative
distribution."""

INTEGERS = tuple(np.dtype(f"{kind}int{8 * size}") for kind in ("", "u") for size in (1, 2, 4, 8))
for _dtype in (*INTEGERS, BOOL):
    _unsigned = "bool" if _dtype == BOOL else f"uint{8 * _dtype.itemsize}"
    _within = at_most(1 if _dtype == BOOL else 2 ** (8 * _dtype.itemsize) - 1)
    DISTRIBUTIONS[f"integers_{_dtype.name}"] = Distribution(
        f"random_bounded_{_unsigned}_fill",
        parameters("low width", _within, _within, dtype=UINT64),
        _dtype,
        fills=True,
        options=(ir.Constant(I64, 0),),  # not by masks
    )

SAMPLES: dict[str, tuple[Any, ...]] = {
    "triangular": (-1.0, 0.5, 2.0),
    "binomial": (20, 0.3),
    "hypergeometric": (10, 7, 8),
    "geometric": (0.3,),
    "logseries": (0.6,),
    "negative_binomial": (3.0, 0.4),
    **dict.fromkeys([name for name in DISTRIBUTIONS if name.startswith("integers")], (0, 1)),
}
"""Parameters for tests, for distributions that need others than 1.5."""


def method_of(name: str) -> tuple[str, dict[str, Any]]:
    """Return the name of NumPy's method for a distribution, and its options."""
    options: dict[str, Any] = {}
    if name.endswith("_f") and name != "noncentral_f":
        name, options = name.removesuffix("_f"), {"dtype": np.float32}
    if name.startswith("integers"):
        name, _, dtype = name.partition("_")
        options = {"dtype": np.dtype(dtype), "endpoint": True}
    if name.endswith("_inv"):
        name, options["method"] = name.removesuffix("_inv"), "inv"
    return name, options


def declare(name: str, distribution: Distribution) -> Op:
    """Declare the op of a distribution."""
    method, options = method_of(name)

    def evaluate(
        state: np.ndarray, *others: np.ndarray, source: str, on_error: str, **_: Any
    ) -> tuple[np.ndarray, ...]:
        del on_error
        *given, sizes = others
        generator = generator_of(source, state)
        arguments = [each[0] if each.shape == (1,) else each for each in given]
        if method == "integers":
            low, width = arguments
            arguments = bounds(low, width, options["dtype"])
        found = getattr(generator, method)(*arguments, size=sizes.shape[0], **options)
        return found, words_of(generator.bit_generator)

    def samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
        if dtype != UINT64:
            return []
        given = SAMPLES.get(name, (1.5,) * len(distribution.parameters))
        pairs = list(zip(given, distribution.parameters, strict=True))
        alike = [np.full(1, value, each.dtype) for value, each in pairs]
        apart = [np.full(5, value, each.dtype) for value, each in pairs]
        words = words_of(np.random.PCG64(int(rng.integers(1000))))
        # several bounds of 8 or 16 bits draw otherwise in NumPy, and are refused before
        chosen = (alike,) if np.dtype(options.get("dtype", float)).itemsize < 4 else (alike, apart)
        return [(words, *each, np.zeros(5, bool), Keywords(source="PCG64", on_error="raise")) for each in chosen]

    operands = ",".join(["(s)", *["(m)"] * len(distribution.parameters), "(n)"])
    return core_op(
        None,
        f"{operands}->(n),(s)",
        name=f"draws.{name}",
        evaluate=evaluate,
        library=algorithm(name, distribution),
        threaded=False,
        frontend=lambda op, *operands, source, **options: drawn(
            op, *operands, source=source, **options, formula=has_formula(name, source)
        ),
        vjp=no_derivative
        if not distribution.parameters
        else Unsupported(f"numbers that {method} draws have no derivatives by its parameters"),
        jnp=NO_JAX,
        batched=NO_BATCH,
        dtypes=lambda dtype, *_: (distribution.dtype, UINT64),
        samples=samples,
        longest=LONGEST,
        ulp=0,
    )


def drawn(op: Op, state: Any, *others: Any, source: str, on_error: str, **options: Any) -> tuple[Value, Value]:
    """Return the numbers, and the state after them."""
    value, words = as_value(state), WORDS[source]
    shapes.require_same(value.shape[-1], words, f"a state of {source} has {words} words")
    operands, attributes = (value, *map(as_value, others)), {"source": source, "on_error": on_error, **options}
    numbers, after = (op.bind(*operands, **attributes, result=number) for number in (0, 1))
    return numbers, after


def bounds(low: Any, width: Any, dtype: np.dtype) -> list[Any]:
    """Return the lowest and the highest integer as Python objects; ``low`` is given without its sign."""
    first = np.asarray(low).astype(dtype).astype(object)
    return [first, first + np.asarray(width).astype(object)]


def no_derivative(g: Any, y: Value, *operands: Value, **_: Any) -> tuple[None, ...]:
    return (None,) * len(operands)


DRAWS = {name: declare(name, distribution) for name, distribution in DISTRIBUTIONS.items()}
