"""Translation of PyTensor's random variables: draws from the state of a generator, with NumPy's numbers.

PyTensor draws with methods of `numpy.random.Generator`, or with distributions of SciPy, which use them. Native code
draws the same (`numbagraph.library.random.generator`). A class that is not known has no translation, nor has one that
inherits from a known one but draws otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply
from pytensor.tensor.random.op import RandomVariable

from numbagraph.intrinsics.emitters.random.bit_generators import WORDS
from numbagraph.ir import shapes
from numbagraph.ir.shapes import ShapeError
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import UINT64
from numbagraph.ir.values import ArrayType, Constant, Input, Value
from numbagraph.library.random.permutations import Local, shapes_of
from numbagraph.pymc_bridge.importer import Importer, UnsupportedOp, describe, imports
from numbagraph.pymc_bridge.translations.nested_ops import IN_THE_MODE
from numbagraph.pymc_bridge.translations.structure import elements_of
from numbagraph.tracing.checks import require
from numbagraph.tracing.trace import tracing
from numbagraph.tracing.tracer import to_tracer, to_value

Sampler = Callable[..., Any]
"""A function of a generator, a shape (or None), and parameters, all of them traced."""

DEFAULT_KIND = "PCG64"
"""The bit generator that is assumed for a random generator whose kind is not known yet."""


class State(Struct, eq=False):
    """The state of a random generator in a graph."""

    kind: str
    words: Value


class NotDrawn(ShapeError):
    """An error for parameters for which PyTensor raises an error, or draws in another way: PyTensor then decides."""


class Source(Local):
    """A generator that a random variable is drawn from."""

    __slots__ = ("_drawn",)
    _drawn: str
    """A description of the drawn variable for messages."""

    def _require(self, condition: Any, rule: str) -> None:
        """Raise an error for parameters that do not keep a rule, so that PyTensor decides on them."""
        require(condition, NotDrawn, f"{self._drawn}, which native code draws if {rule}")


def state_input(kind: str, name: str | None) -> State:
    """The input for a random generator."""
    return State(kind, Input(ArrayType(UINT64, (WORDS[kind],)), name or "a random generator"))


def sampler_of(op: Any) -> Sampler | None:
    """The function that draws as an op does; None if the op has no translation."""
    kind = type(op)
    found = SAMPLERS.get(f"{kind.__module__}.{kind.__name__}")
    if found is not None:
        return found(op) if found in (of_vectors, permutations) else found
    if isinstance(op, RandomVariable) and kind.rng_fn is RandomVariable.rng_fn and op.name in METHODS:
        return method(op.name)
    return None


@imports(RandomVariable)
def draw(importer: Importer, node: Apply, state: Any, size: Any, *parameters: Value) -> list[Any]:
    """The state after a draw, and the numbers that are drawn."""
    sampler = sampler_of(node.op)
    if sampler is None or not isinstance(state, State):
        raise UnsupportedOp(
            f"{describe(node.outputs[-1])} is drawn at random ({node.op}), so what depends on it is no function of the "
            "model's variables",
            advice=f"Draw it before, as a constant, or make it a variable of the model. {IN_THE_MODE}",
        )
    with tracing("a random variable") as trace:
        generator = object.__new__(Source)
        generator._kind, generator._state = state.kind, to_tracer(state.words)
        generator._drawn = f"{describe(node.outputs[-1])} is drawn by {getattr(node.op, 'name', None) or node.op}"
        shape = None if size is None else tuple(map(length, elements_of(size)))
        found = to_value(sampler(generator, shape, *map(to_tracer, parameters)))
        after = to_value(generator._state)
    if trace.captured.snapshots or not isinstance(found, Value):
        raise UnsupportedOp(f"what {node.op} draws")
    shapes.require_all(trace.guards)
    return [State(state.kind, after), found]


def length(value: Value) -> Any:
    """A length of PyTensor's as a Python integer, if it is known."""
    return int(value.data) if isinstance(value, Constant) else to_tracer(value)


def method(name: str) -> Sampler:
    """Make a sampler of a method of the generator."""

    def sample(generator: Any, size: Any, *parameters: Any) -> Any:
        return getattr(generator, name)(*parameters, size=shape_of(size, *parameters))

    return sample


def shape_of(size: Any, *parameters: Any) -> tuple[Any, ...]:
    return size if size is not None else shapes_of(*parameters)


METHODS = frozenset(
    """
    beta binomial exponential gamma geometric hypergeometric integers laplace logistic lognormal normal poisson
    triangular uniform vonmises wald weibull
    """.split()
)
"""The methods that PyTensor's classes without code of their own call."""


# ---- SciPy's distributions: standard ones that are scaled and shifted ----


def standard(
    sample: Sampler, domain: Callable[..., Any] = lambda *_: True, rule: str = "its parameters are positive"
) -> Callable[..., Any]:
    """Make a sampler in the way of ``rvs`` of a distribution. The shape parameters have to be in their domain, which
    ``rule`` describes."""

    def rvs(generator: Any, size: Any, *parameters: Any, loc: Any = None, scale: Any = None) -> Any:
        given = [each for each in (*parameters, loc, scale) if each is not None]
        generator._require(domain(*parameters), rule)
        if scale is not None:
            generator._require(scale >= 0, "no scale is negative")
            generator._require(np.any(scale != 0), "some scale is not 0")
        numbers = sample(generator, shape_of(size, *given), *parameters)
        if scale is not None:
            numbers = numbers * scale
        return numbers if loc is None else numbers + loc

    return rvs


def by_quantiles(quantile: Callable[..., Any], domain: Callable[..., Any] = lambda *_: True) -> Callable[..., Any]:
    """Make a sampler in SciPy's way for distributions without another one: by the quantiles of uniform numbers."""
    return standard(lambda rng, size, *parameters: quantile(rng.uniform(size=size), *parameters), domain)


def drawn(name: str) -> Sampler:
    return lambda rng, size, *parameters: getattr(rng, name)(*parameters, size=size)


def positive(*values: Any) -> Any:
    found: Any = True
    for each in values:
        found = np.logical_and(found, np.all(each > 0))
    return found


def probability(p: Any) -> Any:
    return (p >= 0) & (p <= 1)


def whole(n: Any) -> Any:
    return (n >= 0) & (n == np.round(n))


def skew_normal(rng: Any, size: Any, a: Any) -> Any:
    first, second = rng.standard_normal(size), rng.standard_normal(size)
    d = a / np.sqrt(1 + a**2)
    found = d * first + second * np.sqrt(1 - d**2)
    return np.where(first >= 0, found, -found)


def beta_binomial(rng: Any, size: Any, n: Any, a: Any, b: Any) -> Any:
    return rng.binomial(n.astype(np.int64), rng.beta(a, b, size=size), size=size)


half_normal = standard(lambda rng, size: abs(rng.standard_normal(size)))
half_cauchy = by_quantiles(lambda q: np.tan(np.pi / 2 * q))
cauchy = by_quantiles(lambda q: -1 / np.tan(np.pi * q))
gumbel = by_quantiles(lambda q: -np.log(-np.log(q)))
pareto = by_quantiles(lambda q, b: (1 - q) ** (-1.0 / b), positive)
truncated_exponential = by_quantiles(lambda q, b: -np.log1p(q * np.expm1(-b)), positive)
student_t = standard(drawn("standard_t"), positive)
bernoulli = standard(lambda rng, size, p: rng.binomial(1, p, size=size), probability, "p is between 0 and 1")
negative_binomial = standard(
    drawn("negative_binomial"),
    lambda n, p: np.all(n > 0) & np.all((p > 0) & (p <= 1)),
    "n is positive, and p above 0 and at most 1",
)
beta_binomials = standard(
    beta_binomial,
    lambda n, a, b: np.all(whole(n)) & positive(a, b),
    "n is whole and not negative, and the other parameters are positive",
)
generalized_gamma = standard(
    lambda rng, size, a, c: rng.standard_gamma(a, size=size) ** (1.0 / c),
    lambda a, c: positive(a) & np.all(c != 0),
    "alpha is positive, and p is not 0",
)
skew_normals = standard(skew_normal)
moyal = standard(lambda rng, size: -np.log(rng.standard_gamma(0.5, size=size) * 2))
beta = standard(drawn("beta"), positive)


def uniform_integers(rng: Any, size: Any, low: Any, high: Any) -> Any:
    rng._require(np.all(low <= high), "lower is at most upper")
    return rng.integers(low, high, size=shape_of(size, low, high), endpoint=True)


def clipped(rng: Any, size: Any, a: Any, b: Any) -> Any:
    info = np.nextafter(0.0, 1.0), np.nextafter(1.0, 0.0)
    return np.maximum(np.minimum(beta(rng, size, a, b), info[1]), info[0])


# ---- vectors ----


OF_ORDERED = (
    "Those of an ordered model are where its cut points do not ascend, as draws from their prior do not: write "
    "cutpoints=pytensor.tensor.sort(c)"
)


def categorical(rng: Any, size: Any, p: Any) -> Any:
    """The position of a uniform number among cumulated probabilities."""
    rng._require(p >= 0, f"no probability is negative. {OF_ORDERED}")
    rows = tuple(p.shape[:-1]) if size is None else size
    if len(rows) < p.ndim - 1:
        raise UnsupportedOp("categories whose size has fewer dimensions than their probabilities")
    number = rng.uniform(size=rows)
    return np.sum(np.cumsum(p, axis=-1) < number[..., np.newaxis], axis=-1)


def multinomial(rng: Any, size: Any, n: Any, p: Any) -> Any:
    return rng.multinomial(n, p, size=size)


def dirichlet(rng: Any, size: Any, alpha: Any) -> Any:
    if alpha.ndim == 1:
        return rng.dirichlet(alpha, size=size)
    # one row after the other: of each, independent numbers that are scaled
    rng._require(np.max(alpha, axis=-1) >= SMALL, f"each row has a parameter of {SMALL} or more")
    rows = alpha.shape if size is None else (*size, alpha.shape[-1])
    numbers = rng.standard_gamma(np.broadcast_to(alpha.astype(np.float64), rows), size=rows)
    return numbers * (1 / np.cumsum(numbers, axis=-1)[..., -1:])


SMALL = 0.1
"""The bound of parameters below which NumPy draws a row by breaking a stick."""


def of_vectors(op: Any) -> Sampler | None:
    """Normal vectors; other factors than Cholesky's have signs that are free."""
    return by_cholesky if op.method == "cholesky" else None


def by_cholesky(rng: Any, size: Any, mean: Any, covariance: Any) -> Any:
    rows = shapes_of(mean[..., 0], covariance[..., 0, 0]) if size is None else size
    factor = np.linalg.cholesky(covariance)
    numbers = rng.standard_normal((*rows, mean.shape[-1]))
    return np.matmul(factor, numbers[..., np.newaxis])[..., 0] + mean


def normal_matrices(rng: Any, size: Any, mean: Any, rows: Any, columns: Any) -> Any:
    outer = shapes_of(mean[..., 0, 0], rows[..., 0, 0], columns[..., 0, 0]) if size is None else size
    numbers = rng.standard_normal((*outer, rows.shape[-2], columns.shape[-2]))
    return mean + np.matmul(rows, np.matmul(numbers, np.swapaxes(columns, -1, -2)))


def permutations(op: Any) -> Sampler | None:
    """Orders of the rows of one array, or of integers; PyTensor does not know how many integers there are."""
    (ndim,) = op.ndims_params

    def sample(rng: Any, size: Any, x: Any) -> Any:
        if not ndim or x.ndim != ndim or size is not None:
            raise UnsupportedOp("permutations of several arrays")
        return rng.permutation(x)

    return sample


PYTENSOR = "pytensor.tensor.random.basic"
CONTINUOUS, DISCRETE = "pymc.distributions.continuous", "pymc.distributions.discrete"
SAMPLERS: dict[str, Any] = {
    f"{PYTENSOR}.HalfNormalRV": lambda g, size, loc, scale: half_normal(g, size, loc=loc, scale=scale),
    f"{PYTENSOR}.HalfCauchyRV": lambda g, size, loc, scale: half_cauchy(g, size, loc=loc, scale=scale),
    f"{PYTENSOR}.CauchyRV": lambda g, size, loc, scale: cauchy(g, size, loc=loc, scale=scale),
    f"{PYTENSOR}.GumbelRV": lambda g, size, loc, scale: gumbel(g, size, loc=loc, scale=scale),
    f"{PYTENSOR}.ParetoRV": lambda g, size, b, scale: pareto(g, size, b, scale=scale),
    f"{PYTENSOR}.TruncExponentialRV": lambda g, size, b, loc, scale: truncated_exponential(
        g, size, b, loc=loc, scale=scale
    ),
    f"{PYTENSOR}.StudentTRV": lambda g, size, df, loc, scale: student_t(g, size, df, loc=loc, scale=scale),
    f"{PYTENSOR}.BernoulliRV": bernoulli,
    f"{PYTENSOR}.NegBinomialRV": negative_binomial,
    f"{PYTENSOR}.BetaBinomialRV": beta_binomials,
    f"{PYTENSOR}.GenGammaRV": lambda g, size, a, p, scale: generalized_gamma(g, size, a / p, p, scale=scale),
    f"{PYTENSOR}.InvGammaRV": lambda g, size, a, scale: 1 / g.gamma(a, 1 / scale, size=shape_of(size, a, scale)),
    f"{PYTENSOR}.CategoricalRV": categorical,
    f"{PYTENSOR}.MultinomialRV": multinomial,
    f"{PYTENSOR}.DirichletRV": dirichlet,
    f"{PYTENSOR}.MvNormalRV": of_vectors,
    f"{PYTENSOR}.PermutationRV": permutations,
    f"{CONTINUOUS}.WaldRV": lambda g, size, mu, lam, alpha: g.wald(mu, lam, size=shape_of(size, mu, lam)) + alpha,
    f"{CONTINUOUS}.SkewNormalRV": lambda g, size, mu, s, a: skew_normals(g, size, a, loc=mu, scale=s),
    f"{CONTINUOUS}.MoyalRV": lambda g, size, mu, sigma: moyal(g, size, loc=mu, scale=sigma),
    f"{CONTINUOUS}.BetaClippedRV": clipped,
    f"{DISCRETE}.DiscreteUniformRV": uniform_integers,
    "pymc.distributions.multivariate.MatrixNormalRV": normal_matrices,
    "pymc.data.MinibatchIndexRV": method("integers"),
}
"""The samplers by the names of classes, which may be PyMC's and not imported yet."""
