"""The beta function and its logarithm, by the logarithms of gamma in parts, for positive numbers; other numbers go to
SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, intrinsic, lifted, wide
from numbagraph.intrinsics.emitters.vecmath.declare import math_function
from numbagraph.intrinsics.emitters.vecmath.double_double import exp_of_sum
from numbagraph.intrinsics.emitters.vecmath.gamma import Factors, factors_of_positive
from numbagraph.intrinsics.emitters.vecmath.logarithm import log
from numbagraph.intrinsics.emitters.vecmath.rare import by_call, only_where

INFINITY = math.inf
LEAST, LARGEST, MOST_UNEQUAL = 1e-100, 1e9, 1e6
"""The bounds of the operands, and that of their quotient, for which the formulas are meant."""

_round = lifted(intrinsic("rint"))


def with_rare(name: str, formula: Callable[[Number, Number], Number], at_zero: Number, a: Number, b: Number) -> Number:
    """Return the formula's value where it is meant, ``at_zero`` where ``a`` is zero, and SciPy's value elsewhere."""

    def usual(x: Number, other: Number) -> Number:
        return (x > LEAST) & (x < LARGEST) & (x < other * MOST_UNEQUAL)

    rare = a.differs(0.0) & ~(usual(a, b) & usual(b, a))
    of_rare = only_where(rare, by_call(name, libm.scipy(name)), a, b)
    return a.equals(0.0).where(at_zero, rare.where(of_rare, formula(a, b)))


def two_sum(x: Number, y: Number) -> tuple[Number, Number]:
    """Return the sum and its rounding error, of any two numbers."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def beta_factors(a: Number, b: Number) -> Factors:
    total, rest = two_sum(a, b)
    first, second, both = factors_of_positive(a), factors_of_positive(b), factors_of_positive(total)
    high, low = two_sum(first.high, second.high)
    high, more = two_sum(high, -both.high)
    # The rounding error of the sum counts as much as the derivative of the logarithm, which is about a logarithm.
    error = rest * log.of(total)
    return Factors(
        high,
        (low + more) + ((first.low + second.low) - both.low) - error,
        first.numerator * second.numerator * both.denominator,
        first.denominator * second.denominator * both.numerator,
    )


def exact_beta(mp: Any, a: Any, b: Any) -> Any:
    return mp.beta(a, b)


def exact_betaln(mp: Any, a: Any, b: Any) -> Any:
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


@math_function(
    libm.scipy("beta"),
    exact_beta,
    domain=[(0.0, 100.0), (0.0, 100.0)],
    near=(1.0, 2.0, 2.5, 3.5, 4.5),
    everywhere=False,
    ulp=6.0,
    room=9,
)
@wide
def beta(a: Number, b: Number) -> Number:
    def formula(a: Number, b: Number) -> Number:
        factors = beta_factors(a, b)
        return exp_of_sum(factors.high, factors.low, factors.numerator / factors.denominator)

    half = b * 0.5
    odd = (b < 0.0) & _round(b).equals(b) & _round(half).differs(half)
    return with_rare("beta", formula, odd.where(b.constant(-INFINITY), INFINITY), a, b)


@math_function(
    libm.scipy("betaln"),
    exact_betaln,
    domain=[(2.0, 100.0), (2.0, 100.0)],
    near=(2.5, 3.5, 4.5),
    everywhere=False,
    ulp=4.0,
    room=9,
)
@wide
def betaln(a: Number, b: Number) -> Number:
    """Return the logarithm of beta. Where the function is close to 1, the error is small relative to 1."""

    def formula(a: Number, b: Number) -> Number:
        factors = beta_factors(a, b)
        total, rest = two_sum(factors.high, log.of(factors.numerator / factors.denominator))
        return total + (rest + factors.low)

    return with_rare("betaln", formula, a.constant(INFINITY), a, b)
