"""Special functions that are written as formulas of other mathematical functions."""

from __future__ import annotations

import math
import sys

from llvmlite import ir

from numbagraph.intrinsics.emitters import vecmath
from numbagraph.intrinsics.emitters.elementary import integer_power
from numbagraph.intrinsics.emitters.emitter import Emitter, Operand
from numbagraph.intrinsics.emitters.formula import (
    Number,
    copysign,
    floor,
    fma,
    formula,
    in_double,
    intrinsic,
    lifted,
    unwrap,
    wrap,
)
from numbagraph.intrinsics.emitters.vecmath.gamma import cotangent_of_turns
from numbagraph.ir.types import FLOAT64

_log, _log1p = lifted(vecmath.log), lifted(vecmath.log1p)
_round = lifted(intrinsic("rint"))

INFINITY, NAN = math.inf, math.nan


def _zero_times(x: Number, y: Number, product: Number) -> Number:
    """Return ``product`` of x and a function of y, in which 0 times infinity is 0."""
    return (x.equals(0.0) & ~y.is_nan()).where(0.0, product)


xlogy = formula(lambda x, y: _zero_times(x, y, x * _log(y)))
xlog1py = formula(lambda x, y: _zero_times(x, y, x * _log1p(y)))


@formula
def entr(x: Number) -> Number:
    outside = x.equals(0.0).where(0.0, x.is_nan().where(x, x.constant(-INFINITY)))
    return (x > 0.0).where(-x * _log(x), outside)


def _relative(x: Number, y: Number, inside: Number, at_zero: Number) -> Number:
    """Return ``inside`` where both are positive, ``at_zero`` where x is 0, and infinity elsewhere, but NaN for NaN."""
    outside = (x.equals(0.0) & (y >= 0.0)).where(at_zero, INFINITY)
    result = ((x > 0.0) & (y > 0.0)).where(inside, outside)
    return (x.is_nan() | y.is_nan()).where(NAN, result)


def _log_ratio(x: Number, y: Number) -> Number:
    """Return ``log(x / y)`` without cancellation near 1, and by the logarithms of both where the quotient over- or
    underflows."""
    ratio = x / y
    close = (ratio > 0.5) & (ratio < 2.0)
    far = (ratio < sys.float_info.min) | ratio.equals(INFINITY)
    apart = _log(far.where(x, ratio)) - _log(far.where(y, 1.0))
    return close.where(_log1p((x - y) / y), apart)


@in_double
def rel_entr(x: Number, y: Number) -> Number:
    return _relative(x, y, x * _log_ratio(x, y), x.constant(0.0))


@in_double
def kl_div(x: Number, y: Number) -> Number:
    return _relative(x, y, x * _log(x / y) - x + y, y)


@formula
def loggamma(x: Number) -> Number:
    """Return the logarithm of gamma, and NaN on the negative axis, where the function is complex."""
    return (x < 0.0).where(NAN, vecmath.gammaln.of(x))


@formula
def rounded(x: Number) -> Number:
    """Round to an integer; a zero that comes from rounding is positive."""
    return x.equals(0.0).where(x, _round(x) + 0.0)


@formula
def gammasgn(x: Number) -> Number:
    whole = floor(x)
    half = whole * 0.5
    sign = _round(half).differs(half).where(x.constant(-1.0), 1.0)
    beside_pole = (x > whole).where(sign, NAN)
    return (x > 0.0).where(x.constant(1.0), x.equals(0.0).where(copysign(x.constant(1.0), x), beside_pole))


SECOND_OF_ARC = math.pi / 648000


@in_double
def radian(degrees: Number, minutes: Number, seconds: Number) -> Number:
    return ((degrees * 60.0 + minutes) * 60.0 + seconds) * SECOND_OF_ARC


def _inside(p: Number) -> Number:
    """Return a probability; NaN for 0 and 1, too."""
    return ((p > 0.0) & (p < 1.0)).where(p, NAN)


@in_double
def nrdtrimn(p: Number, deviation: Number, x: Number) -> Number:
    return (deviation > 0.0).where(fma(-vecmath.ndtri.of(_inside(p)), deviation, x), NAN)


BERNOULLI = ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510))


def polygamma(emitter: Emitter, x: Operand, *, order: int) -> ir.Value:
    """The derivative of digamma of a static order."""
    if not order:
        return vecmath.digamma(emitter, x)
    number = wrap(emitter, x).cast(FLOAT64)
    positive, nearest = number > 0.0, _round(number)
    sign = -1.0 if order % 2 == 0 else 1.0
    value = _polygamma_of_positive(positive.where(number, 1.0 - number), order) * sign
    cotangent = cotangent_of_turns(number - nearest)
    reflected = _cotangent_derivative(cotangent, order) * -(math.pi ** (order + 1)) - value * sign
    reflected = number.equals(nearest).where(sign * INFINITY, reflected)
    return unwrap(emitter, positive.where(value, reflected).cast(x.dtype))


def _polygamma_of_positive(x: Number, order: int) -> Number:
    """Return the absolute value of polygamma: some terms of the series, and for the rest Euler and Maclaurin's
    formula."""
    terms = 10 + 2 * order
    total, shifted = x.constant(0.0), x
    for _ in range(terms):
        total = total + integer_power(1.0 / shifted, order + 1)
        shifted = shifted + 1.0
    inverse = 1.0 / shifted
    squared, rest, rising = inverse * inverse, x.constant(0.0), []
    above, below = order + 1, 2
    for k, (numerator, denominator) in enumerate(BERNOULLI, start=1):
        rising.append(numerator * above / (denominator * below))
        above *= (order + 2 * k) * (order + 2 * k + 1)
        below *= (2 * k + 1) * (2 * k + 2)
    for each in reversed(rising):
        rest = (rest + each) * squared
    tail = integer_power(inverse, order) * (1.0 / order + 0.5 * inverse + rest)
    return (total + tail) * float(math.factorial(order))


def _cotangent_derivative(cotangent: Number, order: int) -> Number:
    """Return the derivative of the cotangent, a polynomial of it: that of ``cot**k`` is ``-k (1 + cot**2) cot**(k -
    1)``."""
    coefficients = [0, 1]
    for _ in range(order):
        following = [0] * (len(coefficients) + 1)
        for power, coefficient in enumerate(coefficients):
            if power:
                following[power - 1] -= power * coefficient
                following[power + 1] -= power * coefficient
        coefficients = following
    result = cotangent.constant(float(coefficients.pop()))
    for coefficient in reversed(coefficients):
        result = result * cotangent + float(coefficient)
    return result
