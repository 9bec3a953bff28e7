"""SciPy's elementary functions, transformations and losses, and functions that are made of gammas.

Numbers in brackets are those of the DLMF.
"""

from __future__ import annotations

import math
from typing import Any

from numbagraph.blockwise.promotion import as_value
from numbagraph.intrinsics.emitters import special_formulas as emitters
from numbagraph.intrinsics.emitters import vecmath
from numbagraph.intrinsics.emitters.vecmath import beta as beta_functions
from numbagraph.intrinsics.emitters.vecmath import box_cox, degrees, transformations, wright_omega
from numbagraph.ir.op import load
from numbagraph.ir.values import Value
from numbagraph.ops.arithmetic import absolute, hypot, power, power_vjp, remainder
from numbagraph.ops.comparison import equal, maximum, minimum
from numbagraph.ops.exponentials import exp, log, log1p
from numbagraph.ops.identity import differentiated_as
from numbagraph.ops.rounding import floor, rint
from numbagraph.ops.selection import where
from numbagraph.ops.special.error_functions import digamma, gamma
from numbagraph.ops.special.scipy_kernels import BY_PARAMETER, Slope, kernel
from numbagraph.ops.trigonometry import cos, sin

NUMBERS = (-3.0, 3.0)
POSITIVE = (0.1, 5.0)
DEGREE = math.pi / 180


def scaled(factor: float) -> Slope:
    return lambda y, *operands: factor


cbrt = kernel(
    "special.cbrt",
    [POSITIVE],
    lambda y, x: 1 / (3 * y * y),
    jnp=lambda x: load("jax.numpy:cbrt")(x),
    emit=vecmath.cbrt,
    ulp=4,
)
exp2 = kernel(
    "special.exp2",
    [NUMBERS],
    lambda y, x: y * math.log(2),
    jnp=lambda x: load("jax.numpy:exp2")(x),
    emit=vecmath.exp2,
    ulp=4,
)
exp10 = kernel("exp10", [NUMBERS], lambda y, x: y * math.log(10), jnp=lambda x: 10.0**x, emit=vecmath.exp10, ulp=4)
expm1 = kernel(
    "special.expm1",
    [NUMBERS],
    lambda y, x: y + 1,
    jnp=lambda x: load("jax.numpy:expm1")(x),
    emit=vecmath.expm1,
    ulp=4,
)
plus_one_logarithm = kernel(
    "special.log1p",
    [(-0.9, 5.0)],
    lambda y, x: 1 / (1 + x),
    jnp=lambda x: load("jax.numpy:log1p")(x),
    emit=vecmath.log1p,
    ulp=4,
)

SLOPE_OF_EXPREL = [(k + 1) / math.factorial(k + 2) for k in range(18)]
"""Factors of the series of the slope of `exprel`, as many as give it all digits below 1."""
NO_MORE = -1000.0
"""An exponent whose exponential is 0."""


def exprel_slope(x: Value, root: Value | float, share: Value) -> Value:
    """Return the derivative of `exprel`, M(2, 3, x) / 2, times a square: that of ``root``, which is ``x / share``.
    [13.2.2]

    SciPy's M(a, b, x) does not return for large numbers.
    """
    near = absolute(x) < 1
    inner, far = where(near, x, 0.0), where(near, 1.0, x)
    series = as_value(SLOPE_OF_EXPREL[-1])
    for each in reversed(SLOPE_OF_EXPREL[:-1]):
        series = series * inner + each
    small, over = where(near, root, 0.0), where(near, 1.0, share)
    return where(near, series * small * small, ((maximum(far, NO_MORE) - 1) * exp(far) + 1) / (over * over))


exprel = kernel(
    "exprel",
    [NUMBERS],
    lambda y, x: exprel_slope(x, 1.0, minimum(x, -NO_MORE)),
    emit=transformations.exprel,
    ulp=4,
)
# SciPy's is a difference of 1, off by as many units as it is small beside that.
cosm1 = kernel("cosm1", [NUMBERS], lambda y, x: -sin(x), emit=transformations.cosm1, ulp=64)
powm1 = kernel(
    "powm1",
    [POSITIVE, NUMBERS],
    lambda p, x, y: power_vjp(as_value(1.0), power(x, y), x, y)[0],
    lambda p, x, y: power_vjp(as_value(1.0), power(x, y), x, y)[1],
    emit=transformations.powm1,
    ulp=16,
)
rounded = kernel("special.round", [(-9.0, 9.0)], None, emit=emitters.rounded)
sindg = kernel("sindg", [(-200.0, 200.0)], lambda y, x: cosdg(x) * DEGREE, emit=degrees.sindg, ulp=4)
cosdg = kernel("cosdg", [(-200.0, 200.0)], lambda y, x: -sindg(x) * DEGREE, emit=degrees.cosdg, ulp=4)
# SciPy rounds the angle in radians, which counts the more the closer it is to a pole.
tandg = kernel("tandg", [(-80.0, 80.0)], lambda y, x: (1 + y * y) * DEGREE, emit=degrees.tandg, ulp=256)
cotdg = kernel("cotdg", [(10.0, 170.0)], lambda y, x: (1 + y * y) * -DEGREE, emit=degrees.cotdg, ulp=256)
radian = kernel(
    "radian",
    [(0.0, 90.0), (0.0, 59.0), (0.0, 59.0)],
    scaled(DEGREE),
    scaled(DEGREE / 60),
    scaled(DEGREE / 3600),
    emit=emitters.radian,
    ulp=2,
)

# ---- transformations ----


def transformed_by_power(lmbda: Value, logarithm: Value) -> Value:
    """Return the derivative of ``(exp(t) - 1) / lmbda``, with ``t = lmbda * logarithm``, by ``lmbda``."""
    return exprel_slope(lmbda * logarithm, logarithm, lmbda)


OF_EXPONENTS = 1024
"""The error of SciPy's results, in units in the last place, where they are exponentials of large numbers, which it
rounds."""

boxcox = kernel(
    "boxcox",
    [POSITIVE, NUMBERS],
    lambda y, x, p: power(x, p - 1),
    lambda y, x, p: transformed_by_power(p, log(x)),
    jnp=lambda x, p: load("jax.scipy.special:boxcox")(x, p),
    emit=box_cox.boxcox,
    ulp=OF_EXPONENTS,
)
boxcox1p = kernel(
    "boxcox1p",
    [POSITIVE, NUMBERS],
    lambda y, x, p: power(1 + x, p - 1),
    lambda y, x, p: transformed_by_power(p, log1p(x)),
    jnp=lambda x, p: load("jax.scipy.special:boxcox1p")(x, p),
    emit=box_cox.boxcox1p,
    ulp=OF_EXPONENTS,
)
inv_boxcox = kernel(
    "inv_boxcox",
    [(0.1, 2.0), (0.1, 2.0)],
    lambda x, y, p: power(x, 1 - p),
    lambda x, y, p: -transformed_by_power(p, log(x)) * power(x, 1 - p),
    emit=box_cox.inv_boxcox,
    ulp=OF_EXPONENTS,
)
inv_boxcox1p = kernel(
    "inv_boxcox1p",
    [(0.1, 2.0), (0.1, 2.0)],
    lambda x, y, p: power(1 + x, 1 - p),
    lambda x, y, p: -transformed_by_power(p, log1p(x)) * power(1 + x, 1 - p),
    emit=box_cox.inv_boxcox1p,
    ulp=OF_EXPONENTS,
)


def length(delta: Value, r: Value) -> Value:
    """Return the length of both operands as a vector, and 1 where it is 0: a zero vector has no direction, and no
    slope."""
    found = hypot(delta, r)
    return where(equal(found, 0.0), 1.0, found)


def pseudo_huber_slope(delta: Value, r: Value) -> Value:
    """Return the derivative by the first operand, without a difference of the length and that operand."""
    h = length(delta, r)
    share = r / (h + delta)
    return share * share * r * (r / h)


# SciPy's is an exponential of a logarithm, which is off by as many units as that is large.
pseudo_huber = kernel(
    "pseudo_huber",
    [POSITIVE, NUMBERS],
    lambda y, delta, r: pseudo_huber_slope(delta, r),
    lambda y, delta, r: delta * (r / length(delta, r)),
    kinks=lambda delta, r: (delta == 0) & (r == 0),
    emit=transformations.pseudo_huber,
    ulp=64,
)

# ---- gammas ----


def is_pole(x: Value) -> Value:
    """Return whether gamma has a pole at a number, that is, its reciprocal is 0."""
    return (x <= 0) & equal(x, floor(x))


def rgamma_slope(y: Value, x: Value) -> Value:
    """Return the derivative of the reciprocal gamma function: [5.2.2], and on the left its reflection, which has no
    poles. [5.5.3]"""
    left = x < 0.5
    reflected = where(left, 1 - x, 1.0)
    turns = where(left, x - rint(x), 0.0)
    sign = 1 - 2 * remainder(where(left, rint(x), 0.0), 2)
    slope = cos(math.pi * turns) - digamma(reflected) * sin(math.pi * turns) / math.pi
    return where(left, sign * gamma(reflected) * slope, -y * digamma(where(left, 1.0, x)))


rgamma = kernel("rgamma", [POSITIVE], rgamma_slope, emit=vecmath.rgamma, ulp=16)
gammasgn = kernel("gammasgn", [NUMBERS], None, emit=emitters.gammasgn)


def betaln_slope(a: Value, b: Value) -> Value:
    """Return the derivative by the first operand. [5.12.1] Where gamma has poles at it and at the sum, both are
    reflected [5.5.4]. Where gamma has poles at the other operand and at the sum, there is no slope: the function is
    infinite beside such a point."""
    both, jumps = is_pole(a) & is_pole(a + b), is_pole(b) & is_pole(a + b)
    total = differentiated_as(a + b, a + where(both, where(both, b, 1.0) * math.nan, b))
    slope = digamma(where(both, 1 - a, a)) - digamma(where(both, 1 - total, total))
    return where(jumps, math.nan, slope)


def beta_slope(y: Value, a: Value, b: Value) -> Value:
    """Return the derivative by the first operand. Where gamma has a pole at the sum alone, the reciprocal of that is a
    factor, which is 0."""
    vanishes = is_pole(a + b) & ~is_pole(a) & ~is_pole(b)
    one, other = where(vanishes, a, 1.0), where(vanishes, b, 1.0)
    zero, product = rgamma(one + other), gamma(one) * gamma(other)
    slope = product * (zero * digamma(one) + rgamma_slope(zero, one + other))
    return where(vanishes, slope, y * betaln_slope(where(vanishes, 1.0, a), where(vanishes, 1.0, b)))


STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
"""Factors of odd powers of 1 / x in the logarithm of gamma less Stirling's formula, as many as give it all digits from
10 on. [5.11.1]"""


def stirling_rest(x: Any) -> Any:
    square, result = 1.0 / (x * x), 0.0
    for factor in reversed(STIRLING):
        result = result * square + factor
    return result / x


def betaln_in_jax(a: Any, b: Any) -> Any:
    """Compute `betaln` in JAX, whose own function has only seven digits where the larger operand is about 10."""
    gammaln, numpy = load("jax.scipy.special:gammaln"), load("jax:numpy")
    small, large = numpy.minimum(a, b), numpy.maximum(a, b)
    unequal = (small > 0) & (large >= 10.0) & (large < math.inf)
    s, t = numpy.where(unequal, small, 1.0), numpy.where(unequal, large, 10.0)
    total = s + t
    series = (
        gammaln(s) + s - s * numpy.log(t) - (total - 0.5) * numpy.log1p(s / t) + stirling_rest(t) - stirling_rest(total)
    )
    direct = gammaln(a) + gammaln(b) - gammaln(a + b)
    return numpy.where(
        unequal, series, numpy.where((small > 0) & (small < large) & (large == math.inf), -math.inf, direct)
    )


def beta_in_jax(a: Any, b: Any) -> Any:
    sign, exp = load("jax.scipy.special:gammasgn"), load("jax.numpy:exp")
    return sign(a) * sign(b) * sign(a + b) * exp(betaln_in_jax(a, b))


# SciPy's are off by hundreds of units where the logarithms are large.
beta = kernel(
    "beta",
    [POSITIVE, POSITIVE],
    lambda y, a, b: beta_slope(y, a, b),
    lambda y, a, b: beta_slope(y, b, a),
    jnp=beta_in_jax,
    emit=beta_functions.beta,
    ulp=512,
)
betaln = kernel(
    "betaln",
    [POSITIVE, POSITIVE],
    lambda y, a, b: betaln_slope(a, b),
    lambda y, a, b: betaln_slope(b, a),
    jnp=betaln_in_jax,
    emit=beta_functions.betaln,
    ulp=32,
    scale=1,
)


def poch_slopes(y: Value, z: Value, m: Value) -> tuple[Value, Value]:
    """Return the derivatives of `poch`. [5.2.5] Where gamma has a pole at the first operand, the reciprocal of that is
    a factor, which is 0; where it has one at the sum, too, both are reflected, and there is no slope by the other
    operand."""
    pole, both = is_pole(z), is_pole(z) & is_pole(z + m)
    single = pole & ~both
    at, numerator = where(single, z, 1.0), gamma(where(single, z + m, 1.0))
    zero, by_first, by_sum = rgamma(at), digamma(where(pole, 1 - z, z)), digamma(where(both, 1 - z - m, z + m))
    by_total = where(single, zero * numerator, y) * by_sum
    by_one = where(single, numerator * rgamma_slope(zero, at), -y * by_first)
    first = where(both, y * (by_sum - by_first), by_total + by_one)
    return first, where(both, where(both, y, 1.0) * math.nan, by_total)


poch = kernel(
    "poch",
    [POSITIVE, POSITIVE],
    lambda y, z, m: poch_slopes(y, z, m)[0],
    lambda y, z, m: poch_slopes(y, z, m)[1],
)


def binom_slopes(y: Value, n: Value, k: Value) -> tuple[Value, Value]:
    """Return the derivatives of `binom`. [1.2.6] Where gamma has a pole in the denominator, the reciprocal of that is a
    factor, which is 0."""
    first, second = k + 1, n - k + 1
    at_first, at_second = is_pole(first), is_pole(second)
    pole = at_first | at_second
    at, other = where(pole, where(at_first, first, second), 1.0), where(at_first, second, where(at_second, first, 1.0))
    rest, zero = poch(other, at - 1), rgamma(at)
    by_other, by_rest = poch_slopes(rest, other, at - 1)
    by_at = rest * rgamma_slope(zero, at) + zero * by_rest
    by_other = zero * by_other
    away = where(pole, 1.0, first), where(pole, 1.0, second)
    by_first = where(pole, where(at_first, by_at, by_other), -y * digamma(away[0]))
    by_second = where(pole, where(at_first, by_other, by_at), -y * digamma(away[1]))
    by_sum = where(pole, 0.0, y * digamma(where(pole, 1.0, n + 1)))
    return by_sum + by_second, by_first - by_second


binom = kernel(
    "binom",
    [(3.2, 6.0), (0.2, 2.0)],
    lambda y, n, k: binom_slopes(y, n, k)[0],
    lambda y, n, k: binom_slopes(y, n, k)[1],
)
# Far on the left, SciPy's is off by as many units as the number is large.
wrightomega = kernel("wrightomega", [NUMBERS], lambda y, x: y / (1 + y), emit=wright_omega.wrightomega, ulp=64)
"""[4.13.16]"""
voigt_profile = kernel("voigt_profile", [NUMBERS, POSITIVE, POSITIVE])


def tukey_density(y: Value, x: Value, p: Value) -> Value:
    """Return the reciprocal of the slope of the quantiles, ``(F**p - (1 - F)**p) / p``; outside of the support it is
    0."""
    inside = (y > 0) & (y < 1)
    known = where(inside, y, 0.5)
    return where(inside, 1 / (power(known, p - 1) + power(1 - known, p - 1)), 0.0)


tklmbda = kernel("tklmbda", [(-0.5, 0.5), range(1, 3)], tukey_density, BY_PARAMETER)
