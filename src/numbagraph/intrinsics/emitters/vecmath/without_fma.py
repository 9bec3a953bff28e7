"""Fallbacks on machines without FMA, written in libm's functions, for formulas that libm has no function for."""

from __future__ import annotations

import math
from collections.abc import Callable

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, copysign, formula, in_double, lifted

_erfc, _erfcx = lifted(libm.erfc), lifted(libm.erfcx)
_exp, _exp2, _expm1, _log, _log1p = (lifted(each) for each in (libm.exp, libm.exp2, libm.expm1, libm.log, libm.log1p))
_lgamma, _tan = lifted(libm.lgamma), lifted(libm.tan)


@formula
def expit(x: Number) -> Number:
    return 1.0 / (1.0 + _exp(-x))


@formula
def logit(x: Number) -> Number:
    """Return the function by the logarithm of the odds where they are small, elsewhere by `log1p` of the odds less 1,
    which is right near 1/2, too."""
    return (x < 0.25).where(_log(x / (1.0 - x)), _log1p((2.0 * x - 1.0) / (1.0 - x)))


@formula
def log_expit(x: Number) -> Number:
    tail = _log1p(_exp(-absolute(x)))
    return (x < 0.0).where(x - tail, -tail)


@formula
def softplus(x: Number) -> Number:
    return (x > 0.0).where(x, 0.0) + _log1p(_exp(-absolute(x)))


@formula
def log1mexp(x: Number) -> Number:
    return (x > -math.log(2)).where(_log(-_expm1(x)), _log1p(-_exp(x)))


def _log_of_sum(x: Number, y: Number, exp: Callable[[Number], Number], scale: float, of_equals: float) -> Number:
    """Return ``log(exp(x) + exp(y))`` in some base; equal operands need not be finite."""
    difference = x - y
    larger = (difference > 0.0).where(x, y)
    return x.equals(y).where(x + of_equals, larger + _log1p(exp(-absolute(difference))) * scale)


logaddexp = formula(lambda x, y: _log_of_sum(x, y, _exp, 1.0, math.log(2)))
logaddexp2 = formula(lambda x, y: _log_of_sum(x, y, _exp2, 1 / math.log(2), 1.0))


@formula
def gammaln(x: Number) -> Number:
    """Return the logarithm; as SciPy's, it is infinite as soon as the inverse is."""
    result = (absolute(x) < 2.0**-1024).where(math.inf, _lgamma(x))
    return x.equals(-math.inf).where(x, result)


def cotangent_of_turns(x: Number) -> Number:
    """Return ``cot(pi * x)`` for x from -1/2 to 1/2, exact at both."""
    size = absolute(x)
    outer = size > 0.25
    tangent = _tan(outer.where(0.5 - size, size) * math.pi)
    return copysign(outer.where(tangent, 1.0 / tangent), x)


ndtr = in_double(lambda x: 0.5 * _erfc(x * -math.sqrt(0.5)))


@in_double
def log_ndtr(x: Number) -> Number:
    t = x * math.sqrt(0.5)
    return (x < -1.0).where(_log(0.5 * _erfcx(-t)) - t * t, _log1p(-0.5 * _erfc(t)))
