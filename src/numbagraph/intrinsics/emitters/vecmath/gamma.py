"""The gamma function and its reciprocal, its logarithm, and the derivative of that."""

from __future__ import annotations

import math
from typing import NamedTuple

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, copysign, fma, intrinsic, lifted, wide
from numbagraph.intrinsics.emitters.target import current_target
from numbagraph.intrinsics.emitters.vecmath import without_fma
from numbagraph.intrinsics.emitters.vecmath.declare import (
    at_most,
    by_format,
    coefficients_of,
    constant_of,
    fast_two_sum,
    format_of,
    horner,
    math_function,
    polynomial,
    two_product,
)
from numbagraph.intrinsics.emitters.vecmath.double_double import exp_of_sum, log_in_parts
from numbagraph.intrinsics.emitters.vecmath.logarithm import log
from numbagraph.intrinsics.emitters.vecmath.tables.gamma import (
    DIGAMMA,
    DIGAMMA_ROOT,
    DIGAMMA_TAIL,
    GAMMALN,
    GAMMALN_LIMIT,
    GAMMALN_TAIL,
)
from numbagraph.intrinsics.emitters.vecmath.tables.trigonometric import SINE, TANGENT
from numbagraph.intrinsics.emitters.vecmath.trigonometric import POLES, with_sign_of_parity

INFINITY, NAN = math.inf, math.nan
ROOT_OF_DIGAMMA = 1.4616321449683623

_round = lifted(intrinsic("rint"))


class Steps(NamedTuple):
    """The steps of 1 that lead from x to the interval from 1 to 2.5, where the polynomials hold: truth values, and a
    number."""

    up: Number
    """Whether there is a step up, as for an x below 1."""
    down: Number
    """Whether there are one or more steps down."""
    twice: Number
    """Whether there are two or more steps down."""
    tail: Number
    """Whether x is so large that asymptotic series hold."""
    total: Number
    """The number that the steps add to x."""


def steps_of(x: Number) -> Steps:
    up, down, twice, tail = x < 1.0, x > 2.5, x > 3.5, x > 4.5
    return Steps(up, down, twice, tail, up.where(1.0, twice.where(-2.0, down.where(x.constant(-1.0), 0.0))))


def from_nearest_integer(x: Number) -> Number:
    return x - _round(x)


def sine_of_turns(x: Number) -> Number:
    """Return ``sin(pi * x) / pi`` for x from -1/2 to 1/2."""
    square = (x * math.pi) * (x * math.pi)
    return fma(-(x * square), polynomial(square, coefficients_of(SINE, x)), x)


def cotangent_of_turns(x: Number) -> Number:
    """Return ``cot(pi * x)`` for x from -1/2 to 1/2: in the outer half, the tangent of the difference to 1/2."""
    if not current_target().has_fma:
        return without_fma.cotangent_of_turns(x)
    size = absolute(x)
    outer = size > 0.25
    rest = outer.where(0.5 - size, size) * math.pi
    square = rest * rest
    denominator = horner(square, POLES)
    numerator = fma(square * rest, polynomial(square, coefficients_of(TANGENT, x)), rest * denominator)
    return copysign(outer.where(numerator, denominator) / outer.where(denominator, numerator), x)


def gammaln_of_positive(x: Number) -> Number:
    """Return the logarithm of gamma by one logarithm: that of x in Stirling's formula or below 1, else that of the
    factors that the steps down leave."""
    steps = steps_of(x)
    above_1, above_2 = x + (steps.total - 1.0), x + (steps.total - 2.0)
    near = above_1 * above_2 * polynomial(above_1 - 0.75, coefficients_of(GAMMALN, x))
    factors = steps.down.where(x + steps.total, 1.0) * steps.twice.where(x - 1.0, 1.0)
    logarithm = log.of((steps.up | steps.tail).where(x, factors))
    inverse = 1.0 / x
    series = polynomial(inverse * inverse, coefficients_of(GAMMALN_TAIL, x))
    tail = fma(x - 0.5, logarithm - 1.0, fma(inverse, series, constant_of(GAMMALN_LIMIT, x)))
    return steps.tail.where(tail, near + steps.up.where(-logarithm, logarithm))


class Factors(NamedTuple):
    """The gamma function as an exponential times a quotient."""

    high: Number
    low: Number
    """A small part that is added to `high` in the exponent."""
    numerator: Number
    denominator: Number

    def value(self) -> Number:
        factor = self.numerator / self.denominator
        result = exp_of_sum(self.high, self.low, factor)
        return absolute(factor).equals(INFINITY).where(factor, result)

    def reciprocal(self) -> Number:
        return exp_of_sum(-self.high, -self.low, self.denominator / self.numerator)


def stirling(x: Number) -> tuple[Number, Number]:
    """Return the logarithm of the gamma function as a sum, for numbers above those that `Steps` are for."""
    log, log_error = log_in_parts(x)
    product, error = two_product(x - 0.5, log)
    high, low = fast_two_sum(product, -x)
    inverse = 1.0 / x
    series = polynomial(inverse * inverse, coefficients_of(GAMMALN_TAIL, x))
    rest = fma(inverse, series, constant_of(GAMMALN_LIMIT, x) + 0.5)
    return high, rest + (low + fma(x - 0.5, log_error, error))


def factors_of_positive(x: Number) -> Factors:
    """Return the factors by the logarithm, whose error is small relative to 1 where it is a polynomial."""
    steps = steps_of(x)
    above_1, above_2 = x + (steps.total - 1.0), x + (steps.total - 2.0)
    near = above_1 * above_2 * polynomial(above_1 - 0.75, coefficients_of(GAMMALN, x))
    high, low = stirling(x)
    factors = steps.down.where(x + steps.total, 1.0) * steps.twice.where(x - 1.0, 1.0)
    return Factors(
        steps.tail.where(high, near),
        steps.tail.where(low, 0.0),
        steps.tail.where(1.0, factors),
        steps.up.where(x, 1.0),
    )


def gamma_factors(x: Number) -> Factors:
    """Return the factors; for negative numbers, from the reciprocal for the number without its sign."""
    size, negative = at_most(absolute(x), 200.0), x < 0.0
    high, low, numerator, denominator = factors_of_positive(size)
    whole = x + format_of(x).magic
    sine = with_sign_of_parity(sine_of_turns(from_nearest_integer(x)), whole.bits)
    above = (size < 1.0).where(sine, sine * (size * numerator))
    return Factors(
        negative.where(-high, high),
        negative.where(-low, low),
        negative.where(1.0, numerator),
        negative.where(above, (size < 1.0).where(x, denominator)),
    )


def rounded_to(digits: int, x: Number) -> Number:
    """Round to so many bits: a factorial ends in more zeros than there are bits that may be wrong."""
    rest = 1 << (format_of(x).digits + 1 - digits)
    return ((x.bits + rest // 2) & -rest).number


@math_function(
    libm.gamma,
    lambda mp, x: mp.gamma(x),
    domain=[(-170.0, 171.7)],
    near=(0.0, 1.0, 2.0, 2.5, 3.5, 4.5, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -30.0, -100.0),
    everywhere=False,
    ulp=5.0,
    room=5,
)
@wide
def gamma(x: Number) -> Number:
    """Return the function, which is exact where it is the factorial of a number up to 22, which double precision
    holds."""
    whole, value = from_nearest_integer(x).equals(0.0), gamma_factors(x).value()
    exact = (x > 22.5).where(rounded_to(51, value), rounded_to(48, value))
    found = (whole & (x < 23.5)).where(exact, value)
    return ((x < 0.0) & whole | x.equals(-INFINITY)).where(NAN, found)


@math_function(
    libm.scipy("rgamma"),
    lambda mp, x: mp.rgamma(x),
    domain=[(-170.0, 171.7)],
    near=(0.0, 1.0, 2.0, 2.5, 3.5, 4.5, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -30.0, -100.0),
    everywhere=False,
    ulp=5.0,
    room=5,
)
@wide
def rgamma(x: Number) -> Number:
    return x.equals(-INFINITY).where(0.0, gamma_factors(x).reciprocal())


@math_function(
    without_fma.gammaln,
    lambda mp, x: mp.loggamma(x),
    domain=[(0.0, 1e6)],
    near=(1.0, 2.0, 2.5, 3.5, 4.5),
    everywhere=False,
    ulp=4.0,
    room=3,
)
def gammaln(x: Number) -> Number:
    """Return the logarithm; for negative numbers by reflection, with an error that is small relative to 1."""
    negative = x < 0.0
    # Beyond the limit Stirling's formula would overflow, and the other term is infinite: all numbers are integers.
    value = gammaln_of_positive(negative.where(at_most(1.0 - x, 2.0 ** format_of(x).digits), x))
    reflected = -log.of(absolute(sine_of_turns(from_nearest_integer(x)))) - value
    # SciPy's is infinite as soon as the inverse is.
    tiny = absolute(x) < by_format(x, 2.0**-1024, 0.0)
    result = tiny.where(x.constant(INFINITY), negative.where(reflected, value))
    return x.equals(-INFINITY).where(x, result)


def digamma_of_positive(x: Number) -> Number:
    """Return the function with one division: the polynomial gives the product of digamma and its argument."""
    steps = steps_of(x)
    stepped = x + steps.total
    root, error = coefficients_of(DIGAMMA_ROOT, x)
    slope = polynomial(stepped - 1.75, coefficients_of(DIGAMMA, x))
    near = fma(stepped - root, slope, -(error * slope))
    near = steps.down.where(near + 1.0, near)
    other, more = steps.up.where(x, x - 1.0), steps.up | steps.twice
    numerator = more.where(fma(near, other, steps.up.where(-stepped, stepped)), near)
    denominator = more.where(stepped * other, stepped)
    quotient = steps.tail.where(1.0, numerator) / steps.tail.where(x, denominator)
    series = polynomial(quotient * quotient, coefficients_of(DIGAMMA_TAIL, x))
    return steps.tail.where(fma(-quotient, fma(quotient, series, 0.5), log.of(x)), quotient)


@math_function(
    libm.digamma,
    lambda mp, x: mp.digamma(x),
    domain=[(0.0, 1e6)],
    near=(1.0, ROOT_OF_DIGAMMA, 2.0, 2.5, 3.5, 4.5),
    everywhere=False,
    ulp=4.0,
    room=3,
)
def digamma(x: Number) -> Number:
    """Return the function; for negative numbers by reflection, with an error that is small relative to 1."""
    negative, turns = x < 0.0, from_nearest_integer(x)
    value = digamma_of_positive(negative.where(1.0 - x, x))
    reflected = turns.equals(0.0).where(NAN, fma(cotangent_of_turns(turns), -math.pi, value))
    return negative.where(reflected, value)
