"""JAX's keys of random numbers, as the words that they consist of: the same numbers as JAX's.

Threefry with 20 rounds on two words: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from numbagraph.ir.op import registry
from numbagraph.jax_bridge.translation import Run, is_constant, jaxpr_of, traced
from numbagraph.ops.comparison import maximum
from numbagraph.ops.exponentials import exp, log
from numbagraph.ops.identity import differentiated_as
from numbagraph.ops.random.sample_derivatives import sampled_log_gamma
from numbagraph.tracing.tracer import Tracer

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = np.uint32(0x1BD11BDA)


def rotated(x: Any, count: int) -> Any:
    return (x << np.uint32(count)) | (x >> np.uint32(32 - count))


def threefry(_run: Run, _equation: Any, *operands: Any) -> list[Any]:
    """The cipher of two words by a key of two words."""
    first, second, a, b = operands
    keys = (first, second, first ^ second ^ PARITY)
    a, b = a + keys[0], b + keys[1]
    for group in range(5):
        for count in ROTATIONS[group % 2]:
            a = a + b
            b = a ^ rotated(b, count)
        a = a + keys[(group + 1) % 3]
        b = b + keys[(group + 2) % 3] + np.uint32(group + 1)
    return [a, b]


def counts(_run: Run, equation: Any) -> list[Any]:
    """Counts 0, 1, ... as numbers of two words: the upper words and the lower ones."""
    shape = tuple(map(int, equation.params["shape"]))
    lower: Any = Tracer(registry["arange"](math.prod(shape))).reshape(shape)
    return [(lower >> 32).astype(np.uint32), lower.astype(np.uint32)]


def implementation(aval: Any) -> Any:
    """The implementation of random numbers for a type of keys."""
    return aval.dtype._impl


def by_jax(run: Run, function: Callable[..., Any], *operands: Any) -> Any:
    """Evaluate a function of JAX on words, without keys, that has one result."""
    (found,) = results_by_jax(run, function, *operands)
    return found


def results_by_jax(run: Run, function: Callable[..., Any], *operands: Any) -> list[Any]:
    jaxpr = jaxpr_of(function, *(jax.ShapeDtypeStruct(known(each), each.dtype) for each in operands))
    return run.closed(jaxpr, operands)


def known(operand: Any) -> tuple[int, ...]:
    return tuple(map(int, operand.shape))


def over_keys(function: Callable[..., Any], batch: int) -> Callable[..., Any]:
    for _ in range(batch):
        function = jax.vmap(function)
    return function


def seed(run: Run, equation: Any, number: Any) -> Any:
    return by_jax(run, over_keys(equation.params["impl"].seed, np.ndim(number)), number)


def wrap(_run: Run, _equation: Any, words: Any) -> Any:
    return words


def draw_bits(run: Run, equation: Any, words: Any) -> Any:
    aval = equation.invars[0].aval
    width, shape = equation.params["bit_width"], tuple(equation.params["shape"])
    return by_jax(
        run, over_keys(lambda key: implementation(aval).random_bits(key, width, shape), len(aval.shape)), words
    )


def split(run: Run, equation: Any, words: Any) -> Any:
    aval = equation.invars[0].aval
    shape = tuple(equation.params["shape"])
    return by_jax(run, over_keys(lambda key: implementation(aval).split(key, shape), len(aval.shape)), words)


def fold_in(run: Run, equation: Any, words: Any, number: Any) -> Any:
    aval = equation.invars[0].aval
    return by_jax(run, over_keys(implementation(aval).fold_in, len(aval.shape)), words, number)


def is_key(variable: Any) -> bool:
    return jax.numpy.issubdtype(variable.aval.dtype, jax.dtypes.prng_key)


def of_keys(equation: Any) -> Callable[..., Any] | None:
    """The translation of an operation on keys that is not about random numbers, but compares or moves them."""
    if all(map(is_key, equation.outvars)):
        return moved
    return {"eq": equal, "ne": differ}.get(equation.primitive.name)


def moved(run: Run, equation: Any, *operands: Any) -> list[Any]:
    """Apply an operation that moves keys to each of their words."""
    axes = [-1 if is_key(each) else None for each in equation.invars]

    def move(*operands: Any) -> Any:
        return equation.primitive.bind(*operands, **equation.params)

    return results_by_jax(run, jax.vmap(move, axes, -1), *operands)


def equal(_run: Run, _equation: Any, first: Any, second: Any) -> Any:
    return np.all(first == second, axis=-1)


def differ(_run: Run, _equation: Any, first: Any, second: Any) -> Any:
    return np.any(first != second, axis=-1)


def gammas(run: Run, equation: Any, words: Any, a: Any) -> Any:
    """Draw by JAX's rejection sampler, with the implicit derivative: the derivative of its steps would ignore
    rejections."""
    implementation_of_keys = implementation(equation.invars[0].aval)

    def draw(words: Any, a: Any) -> Any:
        return equation.primitive.impl(
            jax.random.wrap_key_data(words, impl=implementation_of_keys), a, **equation.params
        )

    found = by_jax(run, draw, words, a)
    if is_constant(a):
        return found
    value, parameter = traced(found).value, traced(a).value
    if equation.params["log_space"]:
        return Tracer(sampled_log_gamma(value, parameter))
    logarithm = log(maximum(value, np.finfo(value.dtype).tiny))
    return Tracer(differentiated_as(value, exp(sampled_log_gamma(logarithm, parameter))))


TABLE: dict[str, Callable[..., Any]] = {
    "iota_2x32_shape": counts,
    "random_bits": draw_bits,
    "random_clone": wrap,
    "random_fold_in": fold_in,
    "random_gamma": gammas,
    "random_seed": seed,
    "random_split": split,
    "random_unwrap": wrap,
    "random_wrap": wrap,
    "threefry2x32": threefry,
}
