"""The complete elliptic integrals, and the arithmetic-geometric mean, which follows from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, copysign, fma, sqrt, wide
from numbagraph.intrinsics.emitters.vecmath.declare import at_most, constant_of, math_function, polynomial
from numbagraph.intrinsics.emitters.vecmath.logarithm import log
from numbagraph.intrinsics.emitters.vecmath.rare import by_call, only_where
from numbagraph.intrinsics.emitters.vecmath.tables.elliptic import ELLIPE, ELLIPK, LOG_4

INFINITY = math.inf
LEAST_RATIO = 1e-290
"""The quotient of the operands of the mean from which on it is not denormal."""


class Parameter:
    """The parameter of the series of the integrals: 1 less the given parameter, or its inverse if that is above 1."""

    def __init__(self, rest: Number) -> None:
        self.above = rest > 1.0
        self.root = sqrt(rest)
        self.inverse_root = 1.0 / self.root
        self.number = self.above.where(self.inverse_root * self.inverse_root, rest)
        self.logarithm = absolute(log.of(rest))
        """The size of the logarithm of `number`."""

    def polynomials(self, table: Sequence[float]) -> tuple[Number, Number]:
        half = len(table) // 2
        return polynomial(self.number, table[:half]), polynomial(self.number, table[half:])


def ellipk_of_rest(rest: Number) -> Number:
    parameter = Parameter(rest)
    plain, of_logarithm = parameter.polynomials(ELLIPK["float64"])
    near_0 = fma(parameter.number, plain, constant_of(LOG_4, rest))
    value = fma(parameter.logarithm, fma(parameter.number, of_logarithm, 0.5), near_0)
    value = parameter.above.where(value * parameter.inverse_root, value)
    return rest.equals(INFINITY).where(0.0, value)


def ellipe_of_rest(rest: Number) -> Number:
    parameter = Parameter(rest)
    plain, of_logarithm = parameter.polynomials(ELLIPE["float64"])
    slope = fma(at_most(parameter.logarithm, 1e3), of_logarithm, plain)
    value = fma(parameter.number, slope, 1.0)
    return parameter.above.where(value * parameter.root, value)


def exact(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return mpmath's function where it is real, else NaN: mpmath's is complex beyond 1."""
    return lambda mp, m: function(mp, m) if m <= 1 else mp.nan


def exact_ellipkm1(mp: Any, p: Any) -> Any:
    """Return the integral with mpmath; so close to 1 that mpmath's parameter would be 1, two terms are enough."""
    if p < 1e-40:
        return mp.log(4) - mp.log(p) / 2 if p >= 0 else mp.nan
    return mp.ellipk(1 - p)


@math_function(
    libm.scipy("ellipk"), exact(lambda mp, m: mp.ellipk(m)), domain=[(-10.0, 1.0)], near=(0.0, 1.0), ulp=3.5, room=2
)
@wide
def ellipk(m: Number) -> Number:
    return ellipk_of_rest(1.0 - m)


@math_function(
    libm.scipy("ellipkm1"),
    exact_ellipkm1,
    domain=[(0.0, 10.0)],
    near=(0.0, 1.0),
    ulp=3.5,
    room=2,
)
@wide
def ellipkm1(p: Number) -> Number:
    return ellipk_of_rest(p)


@math_function(
    libm.scipy("ellipe"), exact(lambda mp, m: mp.ellipe(m)), domain=[(-10.0, 1.0)], near=(0.0, 1.0), ulp=3.5, room=2
)
@wide
def ellipe(m: Number) -> Number:
    return ellipe_of_rest(1.0 - m)


def exact_agm(mp: Any, a: Any, b: Any) -> Any:
    return mp.agm(abs(a), abs(b)) * mp.sign(a) if a * b > 0 else mp.nan


@math_function(libm.scipy("agm"), exact_agm, domain=[(0.0, 10.0), (0.0, 10.0)], near=(1.0,), ulp=4.5, room=3)
@wide
def agm(a: Number, b: Number) -> Number:
    """Return the mean by the integral of the first kind. [DLMF 19.8.5] If one operand is tiny beside the other, SciPy
    computes it."""
    first, second = absolute(a), absolute(b)
    falling = first > second
    larger, smaller = falling.where(first, second), falling.where(second, first)
    ratio = smaller / larger
    rare = a.differs(0.0) & ((ratio < LEAST_RATIO) | larger.equals(INFINITY))
    of_rare = only_where(rare, by_call("agm", libm.scipy("agm")), a, b)
    total = ratio + 1.0
    share = ellipk_of_rest(4.0 * ratio / (total * total))
    mean = first.equals(second).where(first, larger * (total * (math.pi / 4) / share))
    signed = ((a > 0.0) ^ (b > 0.0)).where(math.nan, copysign(mean, a))
    at_zero = (second < INFINITY).where(a.constant(0.0), math.nan)
    return a.equals(0.0).where(at_zero, rare.where(of_rare, signed))
