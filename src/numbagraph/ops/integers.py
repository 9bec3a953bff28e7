"""Ops on integers: their bits, their divisors, and whether arithmetic of 64-bit ones overflows."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import draw, elementwise
from numbagraph.blockwise.promotion import Kind
from numbagraph.intrinsics.emitters import integer_ops
from numbagraph.intrinsics.emitters.formula import instruction
from numbagraph.ir.op import load
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import Op
from numbagraph.ops.selection import DISCRETE

bitwise_and = elementwise(np.bitwise_and, emit=instruction("and_"), vjp=DISCRETE, operator="and", commutative=True)
bitwise_or = elementwise(np.bitwise_or, emit=instruction("or_"), vjp=DISCRETE, operator="or", commutative=True)
bitwise_xor = elementwise(np.bitwise_xor, emit=instruction("xor"), vjp=DISCRETE, operator="xor", commutative=True)
invert = elementwise(np.invert, emit=instruction("not_"), vjp=DISCRETE, operator="invert")
left_shift = elementwise(np.left_shift, emit=integer_ops.left_shift, vjp=DISCRETE, operator="lshift", domain=(0.0, 5.0))
right_shift = elementwise(
    np.right_shift, emit=integer_ops.right_shift, vjp=DISCRETE, operator="rshift", domain=(0.0, 5.0)
)
bitwise_count = elementwise(np.bitwise_count, emit=integer_ops.bit_count, vjp=DISCRETE)
gcd = elementwise(np.gcd, emit=integer_ops.gcd, vjp=DISCRETE, commutative=True, domain=(-60.0, 60.0), cost=40)
lcm = elementwise(np.lcm, emit=integer_ops.lcm, vjp=DISCRETE, commutative=True, domain=(-6.0, 6.0), cost=45)

LIMITS = np.iinfo(np.int64)
"""The limits of 64-bit integers. Python's integers have none, so overflow is an error where one of these would be
given."""


def integers_only(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
    if any(kind != INT64 for kind in kinds):
        raise TypeError("whether results fit is asked of int64")
    return INT64, INT64, BOOL


def limit_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype != INT64:
        return []
    edges = np.array([LIMITS.min, LIMITS.min + 1, -(2**62), -(2**32), -1, 0, 1, 2**32, 2**62, LIMITS.max])
    return [(draw(rng, dtype, (3, 4)), draw(rng, dtype, (4,))), (edges[:, None], edges)]


def fits(name: str, function: Callable[[Any, Any], Any], operation: str) -> Op:
    """Declare whether an operation on two 64-bit integers has a result that is one."""

    def reference(a: Any, b: Any) -> Any:
        integers_only((np.result_type(a), np.result_type(b)))
        exact = function(np.asarray(a, object), np.asarray(b, object))
        return np.asarray((exact >= int(LIMITS.min)) & (exact <= int(LIMITS.max)), np.bool_)[()]

    return elementwise(
        reference,
        name=name,
        emit=integer_ops.fits(operation),
        dtype=integers_only,
        vjp=DISCRETE,
        jnp=partial(fits_in_jax, name),
        samples=limit_samples,
    )


def fits_in_jax(name: str, a: Any, b: Any) -> Any:
    """Return whether a result fits, with JAX, whose integers wrap: where a sum has wrapped, its sign is another than
    those of both operands."""
    jnp = load("jax.numpy:asarray")
    a, b = jnp(a), jnp(b)
    if name == "sum_fits":
        return ((a ^ (a + b)) & (b ^ (a + b))) >= 0
    if name == "difference_fits":
        return ((a ^ b) & (a ^ (a - b))) >= 0
    product, smallest = a * b, int(LIMITS.min)
    divisor = load("jax.numpy:where")(a == 0, 1, a)
    return (a == 0) | ((product // divisor == b) & ~((a == -1) & (b == smallest)))


sum_fits = fits("sum_fits", operator.add, "sadd")
difference_fits = fits("difference_fits", operator.sub, "ssub")
product_fits = fits("product_fits", operator.mul, "smul")
