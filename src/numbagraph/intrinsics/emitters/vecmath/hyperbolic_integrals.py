"""The integrals of the hyperbolic sine and cosine."""

from __future__ import annotations

from functools import partial
from typing import Any

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, copysign, fma, wide
from numbagraph.intrinsics.emitters.vecmath.declare import at_most, by_result, constant_of, math_function
from numbagraph.intrinsics.emitters.vecmath.double_double import exp_of_sum
from numbagraph.intrinsics.emitters.vecmath.logarithm import log
from numbagraph.intrinsics.emitters.vecmath.piecewise_polynomials import piecewise
from numbagraph.intrinsics.emitters.vecmath.tables.hyperbolic_integrals import CHI, EULER, SHI

LIMITS = 3.0, 8.0, 20.0
"""The limits of the polynomials: up to the first one it is one of the square, then of the inverse, times the
exponential."""
LARGEST = 760.0
"""The number from which on exponentials are infinite."""
ROOT = 0.523822571389864
"""The root of the integral of the hyperbolic cosine."""


def parts_of(size: Number, table: dict[str, tuple[float, ...]], at_0: float) -> tuple[Number, Number, Number]:
    """Return whether a number is beyond the first limit, the polynomial of its square, and the integral of a large
    number."""
    square = size * size
    bounded = at_most(size, LARGEST)
    inverse = 1.0 / bounded
    first, second, third = (size > limit for limit in LIMITS)
    value = piecewise(first.where(inverse, square), table, first, second, third)
    return first, fma(square, value, at_0), exp_of_sum(bounded, size.constant(0.0), value * (inverse * 0.5))


def exact_shi(mp: Any, x: Any) -> Any:
    return mp.shi(x) if abs(x) < 1e4 else mp.sign(x) * mp.inf


def exact_chi(mp: Any, x: Any) -> Any:
    return mp.chi(abs(x)) if abs(x) < 1e4 else mp.inf


@math_function(
    partial(libm.scipy("shichi"), result=0),
    exact_shi,
    name="shichi.0",
    domain=[(-720.0, 720.0)],
    near=(0.0, *LIMITS),
    ulp=4.0,
    room=3,
)
@wide
def shi(x: Number) -> Number:
    size = absolute(x)
    large, per_size, value = parts_of(size, SHI, 1.0)
    return copysign(large.where(value, size * per_size), x)


@math_function(
    partial(libm.scipy("shichi"), result=1),
    exact_chi,
    name="shichi.1",
    domain=[(ROOT + 0.5, 720.0)],
    near=LIMITS,
    everywhere=False,
    ulp=4.0,
    room=3,
)
@wide
def chi(x: Number) -> Number:
    """Return the integral. Near its root, the error is small relative to 1."""
    size = absolute(x)
    large, around_0, value = parts_of(size, CHI, constant_of(EULER, size))
    return large.where(value, log.of(size) + around_0)


shichi = by_result(shi, chi)
