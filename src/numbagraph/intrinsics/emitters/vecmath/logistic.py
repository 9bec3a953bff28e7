"""Functions of statistics that are written with an exponential and a logarithm."""

from __future__ import annotations

import math

from numbagraph.intrinsics.emitters.formula import Number, absolute, fma
from numbagraph.intrinsics.emitters.vecmath import without_fma
from numbagraph.intrinsics.emitters.vecmath.declare import (
    at_least,
    at_most,
    by_format,
    constant_of,
    format_of,
    math_function,
    power_of_two,
)
from numbagraph.intrinsics.emitters.vecmath.exponential import exp2, exp_of, expm1_of
from numbagraph.intrinsics.emitters.vecmath.logarithm import (
    above_least,
    above_least_ratio,
    inverse_power,
    log1p_of_rest,
    log1p_of_unit,
    twice_arctanh,
    unit_parts,
)
from numbagraph.intrinsics.emitters.vecmath.tables.exponential import LOG2_E, LOG_2

INFINITY, NAN = math.inf, math.nan


@math_function(without_fma.expit, lambda mp, x: 1 / (1 + mp.exp(-x)), domain=[(-746.0, 50.0)], near=(0.0,), ulp=2.5)
def expit(x: Number) -> Number:
    """Return the logistic function; as SciPy's, it is zero as soon as ``exp(-x)`` is infinite."""
    tail = exp_of(-absolute(x))  # the exponential of `log_expit`, which is often wanted beside it
    result = (x < 0.0).where(tail, 1.0) / (tail + 1.0)
    return (x < by_format(x, -709.782712893384, -88.72283)).where(0.0, result)


@math_function(without_fma.softplus, lambda mp, x: mp.log1p(mp.exp(x)), domain=[(-746.0, 50.0)], near=(0.0,), ulp=2.5)
def softplus(x: Number) -> Number:
    return at_least(x, 0.0) + log1p_of_unit(exp_of(-absolute(x)))


@math_function(
    without_fma.log_expit, lambda mp, x: -mp.log1p(mp.exp(-x)), domain=[(-50.0, 746.0)], near=(0.0,), ulp=2.5
)
def log_expit(x: Number) -> Number:
    return at_most(x, -0.0) - log1p_of_unit(exp_of(-absolute(x)))


@math_function(
    without_fma.logaddexp,
    lambda mp, x, y: mp.log(mp.exp(x) + mp.exp(y)),
    domain=[(0.0, 50.0), (0.0, 50.0)],
    everywhere=False,
    serial=True,
)
def logaddexp(x: Number, y: Number) -> Number:
    tail = log1p_of_unit(exp_of(-absolute(x - y)))
    return x.equals(y).where(x + constant_of(LOG_2, x), (x > y).where(x, y) + tail)


@math_function(
    without_fma.logaddexp2,
    lambda mp, x, y: mp.log(mp.mpf(2) ** x + mp.mpf(2) ** y, 2),
    domain=[(0.0, 50.0), (0.0, 50.0)],
    everywhere=False,
    serial=True,
)
def logaddexp2(x: Number, y: Number) -> Number:
    rest, high = unit_parts(exp2.formula(-absolute(x - y)))
    larger = (x > y).where(x, y)
    result = fma(log1p_of_rest(rest), constant_of(LOG2_E, x), high.where(larger + 1.0, larger))
    return x.equals(y).where(x + 1.0, result)


@math_function(without_fma.logit, lambda mp, x: mp.log(x / (1 - x)), domain=[(0.0, 1.0)], near=(0.0, 0.5, 1.0), ulp=2.5)
def logit(x: Number) -> Number:
    layout = format_of(x)
    power = layout.digits + 2
    low, high = x < layout.tiny, x > 0.625
    raised, rest = low.where(x * 2.0**power, x), 1.0 - x
    inverse, exponent = inverse_power(above_least_ratio(raised, rest))
    # The scaled x less the rest, and plus it. For small x, where the rest is not exact, rounded only once.
    numerator = high.where(fma(raised, inverse, -rest), fma(raised, inverse + 1.0, -1.0))
    denominator = high.where(fma(raised, inverse, rest), fma(raised, inverse - 1.0, 1.0))
    result = twice_arctanh(numerator, denominator, low.where(exponent - float(power), exponent), 1.0)
    at_end = x.equals(0.0).where(x.constant(-INFINITY), x.equals(1.0).where(x.constant(INFINITY), NAN))
    return ((x > 0.0) & (x < 1.0)).where(result, at_end)


@math_function(
    without_fma.log1mexp,
    lambda mp, x: mp.log1p(-mp.exp(x)) if x < -1 else mp.log(-mp.expm1(x)),
    domain=[(-746.0, 0.0)],
    near=(0.0, -math.log(2)),
    room=2,
)
def log1mexp(x: Number) -> Number:
    layout = format_of(x)
    power = layout.digits + 2
    low, deep = x > -layout.tiny, x < -2.0
    reduced, count = expm1_of(deep.where(-1.0, low.where(x * 2.0**power, x)))
    of_count = power_of_two(count)
    inverse, exponent = inverse_power(above_least(fma(-of_count, reduced, 1.0 - of_count)))
    scaled = of_count * inverse
    rest = deep.where(-exp_of(x), fma(-scaled, reduced, inverse - scaled - 1.0))
    exponent = low.where(exponent - float(power), deep.where(0.0, exponent))
    result = -absolute(fma(exponent, constant_of(LOG_2, x), log1p_of_rest(rest)))
    return (x < 0.0).where(result, x.equals(0.0).where(x.constant(-INFINITY), NAN))
