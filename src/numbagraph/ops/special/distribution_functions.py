"""Distribution functions of SciPy, their complements, and their inverses by each operand.

Those that are incomplete gamma or beta functions have the derivatives of these. That of an inverse follows from the
derivatives of the function (the implicit function theorem). Numbers in brackets are those of the DLMF.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from numbagraph.intrinsics.emitters import special_formulas as emitters
from numbagraph.intrinsics.emitters.vecmath import normal_quantiles
from numbagraph.ir.op import registry
from numbagraph.ir.values import Op, Unsupported, Value
from numbagraph.ops.arithmetic import power, sign, sqrt
from numbagraph.ops.comparison import equal, less
from numbagraph.ops.exponentials import exp, log1p
from numbagraph.ops.identity import differentiated_as
from numbagraph.ops.rounding import floor
from numbagraph.ops.selection import where
from numbagraph.ops.special.densities import beta_density, gamma_density
from numbagraph.ops.special.error_functions import gammaln, ndtri, per
from numbagraph.ops.special.incomplete_gamma import betainc_by_a, betainc_by_b, gammainc_by_a
from numbagraph.ops.special.modified_bessel_functions import ive
from numbagraph.ops.special.scipy_kernels import BY_PARAMETER, Domain, Slope, kernel
from numbagraph.ops.special.shifted_t import less_by_shift, shifted_density

COUNTS = Unsupported("there is no derivative by a count")
ROOT_2_PI = math.sqrt(2 * math.pi)
PROBABILITY = (0.1, 0.9)
POSITIVE = (0.3, 4.0)
SHAPES = range(1, 5)

Partials = Callable[..., Sequence[Value]]
"""``partials(*operands)``: the derivatives of a distribution function by each of its operands."""


def of_gradient(partials: Partials, number: int, factor: float = 1.0) -> Slope:
    return lambda y, *operands: partials(*operands)[number] * factor


def falling(name: str, domains: Sequence[Domain], partials: Partials) -> Op:
    """Declare the complement of a distribution function."""
    return kernel(name, domains, *[of_gradient(partials, number, -1.0) for number in range(len(domains))])


def rising(name: str, domains: Sequence[Domain], partials: Partials) -> Op:
    """Declare a distribution function."""
    return kernel(name, domains, *[of_gradient(partials, number) for number in range(len(domains))])


def inverse(
    name: str,
    domains: Sequence[Domain],
    partials: Partials,
    solved: int,
    probability: int,
    factor: float = 1.0,
    clipped: bool = False,
) -> Op:
    """Declare the inverse of a function by one of its operands.

    ``solved`` is the position of that operand among the function's operands, ``probability`` that of the function's
    value among the inverse's operands: the others are in the same order. ``factor`` is -1 for a complement. ``clipped``
    says that results below 0 become 0. Where a result is 0, for a probability of 0, it is 0 for all parameters.
    """

    def slope(number: int) -> Slope:
        def derivative(y: Value, *operands: Value) -> Value:
            others = [each for at, each in enumerate(operands) if at != probability]
            given = [*others[:solved], y, *others[solved:]]
            found = partials(*given)
            if number == probability:
                slope = factor / found[solved]
                return where(equal(y, 0.0), 0.0, slope) if clipped else slope
            place = number - (number > probability)
            return where(equal(y, 0.0), 0.0, -per(found[place + (place >= solved)], found[solved]))

        return derivative

    return kernel(name, domains, *[slope(number) for number in range(len(domains))], cost=800)


# ---- of incomplete gamma functions [8.8.13] ----


def chi_square(v: Value, x: Value) -> Sequence[Value]:
    return 0.5 * gammainc_by_a(0.5 * v, 0.5 * x), 0.5 * gamma_density(0.5 * v, 0.5 * x)


def gamma_distribution(a: Value, b: Value, x: Value) -> Sequence[Value]:
    z = a * x
    density, none = gamma_density(b, z), equal(z, 0.0)  # infinite there, if b is below 1
    return (
        where(none & equal(x, 0.0), 0.0, x * density),
        gammainc_by_a(b, z),
        where(none & equal(a, 0.0), 0.0, a * density),
    )


chdtr = rising("chdtr", [SHAPES, POSITIVE], chi_square)
chdtrc = falling("chdtrc", [SHAPES, POSITIVE], chi_square)
chdtri = inverse("chdtri", [SHAPES, PROBABILITY], chi_square, 1, 1, -1.0)
chdtriv = inverse("chdtriv", [PROBABILITY, range(2, 6)], chi_square, 0, 0)
gdtr = rising("gdtr", [POSITIVE, SHAPES, POSITIVE], gamma_distribution)
gdtrc = falling("gdtrc", [POSITIVE, SHAPES, POSITIVE], gamma_distribution)
gdtrix = inverse("gdtrix", [POSITIVE, SHAPES, PROBABILITY], gamma_distribution, 2, 2)
gdtria = inverse("gdtria", [PROBABILITY, SHAPES, POSITIVE], gamma_distribution, 0, 0)
gdtrib = inverse("gdtrib", [POSITIVE, PROBABILITY, POSITIVE], gamma_distribution, 1, 1)


def poisson_slope(k: Value, m: Value) -> Value:
    return gamma_density(floor(k) + 1.0, m)


pdtr = kernel("pdtr", [range(5), POSITIVE], COUNTS, lambda y, k, m: -poisson_slope(k, m))
pdtrc = kernel("pdtrc", [range(5), POSITIVE], COUNTS, lambda y, k, m: poisson_slope(k, m))
pdtri = kernel("pdtri", [range(5), PROBABILITY], COUNTS, lambda m, k, p: -1 / poisson_slope(k, m), whole=(0,))
pdtrik = inverse(
    "pdtrik",
    [PROBABILITY, (2.5, 4.0)],
    lambda k, m: (-gammainc_by_a(k + 1, m), -gamma_density(k + 1, m)),
    0,
    0,
    clipped=True,
)

# ---- of incomplete beta functions [8.17.1] ----


def beta_distribution(a: Value, b: Value, x: Value) -> Sequence[Value]:
    return betainc_by_a(a, b, x), betainc_by_b(a, b, x), beta_density(a, b, x)


def f_distribution(m: Value, n: Value, x: Value) -> Sequence[Value]:
    """Return the derivatives of the F distribution, computed from the share of the smaller of two terms: that of the
    other one rounds to 1, and is its complement."""
    total, turned = n + m * x, less(n, m * x)
    first, second = where(turned, n, m), where(turned, m, n)
    by_first, by_second, density = beta_distribution(0.5 * first, 0.5 * second, where(turned, n, m * x) / total)
    scale, sign = density / (total * total), where(turned, -0.5, 0.5)
    by_m, by_n = sign * where(turned, by_second, by_first), sign * where(turned, by_first, by_second)
    return by_m + scale * n * x, by_n - scale * m * x, scale * m * n


def student(v: Value, t: Value) -> Sequence[Value]:
    """Return the derivative of Student's distribution by the degrees of freedom, an odd function of the number, and the
    density."""
    square, is_zero = t * t, equal(t, 0.0)

    def by_freedom(w: Value) -> Value:
        by_a, _, density = beta_distribution(0.5 * v, 0.5 * (v * 0 + 1), w)
        return sign(t) * -0.5 * (0.5 * by_a + density * square / ((v + square) * (v + square)))

    w = v / (v + square)
    first = differentiated_as(where(is_zero, 0.0, by_freedom(where(is_zero, 0.5, w))), by_freedom(w))
    constant = gammaln(0.5 * (v + 1)) - gammaln(0.5 * v)
    return first, exp(constant - 0.5 * (v + 1) * log1p(square / v)) * power(v * math.pi, -0.5)


betaincc = falling("betaincc", [SHAPES, SHAPES, PROBABILITY], beta_distribution)
betainccinv = inverse("betainccinv", [SHAPES, SHAPES, PROBABILITY], beta_distribution, 2, 2, -1.0)
btdtria = inverse("btdtria", [PROBABILITY, SHAPES, PROBABILITY], beta_distribution, 0, 0)
btdtrib = inverse("btdtrib", [SHAPES, PROBABILITY, PROBABILITY], beta_distribution, 1, 1)
fdtr = rising("fdtr", [SHAPES, SHAPES, POSITIVE], f_distribution)
fdtrc = falling("fdtrc", [SHAPES, SHAPES, POSITIVE], f_distribution)
fdtri = inverse("fdtri", [SHAPES, SHAPES, PROBABILITY], f_distribution, 2, 2)
fdtridfd = inverse("fdtridfd", [range(2, 4), (0.45, 0.6), (1.0, 1.3)], f_distribution, 1, 1)
stdtr = rising("stdtr", [SHAPES, (-3.0, 3.0)], student)
stdtrit = inverse("stdtrit", [SHAPES, PROBABILITY], student, 1, 1)
stdtridf = inverse("stdtridf", [(0.85, 0.9), (1.3, 1.5)], student, 0, 0)


def binomial_slope(k: Value, n: Value, p: Value) -> Value:
    return beta_density(floor(k) + 1.0, n - floor(k), p)


def negative_binomial_slope(k: Value, n: Value, p: Value) -> Value:
    return beta_density(n * 1.0, k + 1.0, p)


OF_BINOMIAL, OF_NEGATIVE = [range(4), range(6, 9), PROBABILITY], [range(4), range(2, 5), PROBABILITY]
bdtr = kernel("bdtr", OF_BINOMIAL, COUNTS, COUNTS, lambda y, k, n, p: -binomial_slope(k, n, p), whole=(1,))
bdtrc = kernel("bdtrc", OF_BINOMIAL, COUNTS, COUNTS, lambda y, k, n, p: binomial_slope(k, n, p), whole=(1,))
bdtri = kernel("bdtri", OF_BINOMIAL, COUNTS, COUNTS, lambda p, k, n, y: -1 / binomial_slope(k, n, p), whole=(1,))
bdtrik = kernel("bdtrik", [PROBABILITY, range(6, 9), PROBABILITY])
bdtrin = kernel("bdtrin", [range(1, 4), PROBABILITY, PROBABILITY])
nbdtr = kernel("nbdtr", OF_NEGATIVE, COUNTS, COUNTS, lambda y, k, n, p: negative_binomial_slope(k, n, p), whole=(0, 1))
nbdtrc = kernel(
    "nbdtrc", OF_NEGATIVE, COUNTS, COUNTS, lambda y, k, n, p: -negative_binomial_slope(k, n, p), whole=(0, 1)
)
nbdtri = kernel(
    "nbdtri", OF_NEGATIVE, COUNTS, COUNTS, lambda p, k, n, y: 1 / negative_binomial_slope(k, n, p), whole=(0, 1)
)
nbdtrik = kernel("nbdtrik", [PROBABILITY, range(2, 5), PROBABILITY])
nbdtrin = kernel("nbdtrin", [range(1, 4), PROBABILITY, PROBABILITY])

# ---- of the normal distribution ----


def per_density(z: Value) -> Value:
    return exp(0.5 * z * z) * ROOT_2_PI


ndtri_exp = kernel(
    "ndtri_exp",
    [(-5.0, -0.1)],
    lambda x, y: exp(y + 0.5 * x * x) * ROOT_2_PI,
    emit=normal_quantiles.ndtri_exp,
    ulp=16,
    scale=1,
)
# A difference: its errors are relative to the terms.
nrdtrimn = kernel(
    "nrdtrimn",
    [PROBABILITY, POSITIVE, (-2.0, 2.0)],
    lambda y, p, scale, x: -scale * per_density(ndtri(p)),
    lambda y, p, scale, x: -ndtri(p),
    lambda y, p, scale, x: 1.0,
    emit=emitters.nrdtrimn,
    ulp=512,
)
nrdtrisd = kernel(
    "nrdtrisd",
    [(-2.0, -1.0), (0.6, 0.9), (1.0, 2.0)],
    lambda y, mean, p, x: -1 / ndtri(p),
    lambda y, mean, p, x: -y / ndtri(p) * per_density(ndtri(p)),
    lambda y, mean, p, x: 1 / ndtri(p),
)

# ---- non-central ones, and those of extreme distances, whose derivatives have no formula in SciPy's functions ----


def non_central_slope(y: Value, x: Value, v: Value, nc: Value) -> Value:
    """Return the derivative by the non-centrality: a difference of distributions of other degrees of freedom."""
    return 0.5 * (chndtr(x, v + 2, nc) - y)


def non_central_density(x: Value, v: Value, nc: Value) -> Value:
    """Return the density by the scaled Bessel function, which does not overflow; the central density where the
    non-centrality is 0. [R. J. Muirhead, Aspects of Multivariate Statistical Theory (1982), theorem 1.3.4]"""
    central, outside = equal(nc, 0.0), less(x, 0.0)
    inner, number = where(central, 1.0, nc), where(outside, 1.0, x)
    apart = sqrt(number) - sqrt(inner)
    weight = power(number / inner, 0.25 * (v - 2)) * ive(0.5 * v - 1, sqrt(number * inner))
    value = where(central, gamma_density(0.5 * v, 0.5 * number), exp(-0.5 * apart * apart) * weight)
    return where(outside, 0.0, 0.5 * value)


chndtr = kernel(
    "chndtr",
    [SHAPES, range(3, 5), POSITIVE],
    lambda y, x, v, nc: non_central_density(x, v, nc),
    BY_PARAMETER,
    non_central_slope,
)
chndtrix = kernel(
    "chndtrix",
    [PROBABILITY, POSITIVE, POSITIVE],
    lambda x, p, v, nc: 1 / non_central_density(x, v, nc),
    BY_PARAMETER,
    lambda x, p, v, nc: -non_central_slope(p, x, v, nc) / non_central_density(x, v, nc),
)
chndtridf = kernel("chndtridf", [POSITIVE, (0.2, 0.3), POSITIVE])
chndtrinc = kernel("chndtrinc", [(2.0, 3.0), (1.0, 1.5), (0.05, 0.2)])


def ratio_slope(y: Value, dfn: Value, dfd: Value, nc: Value, f: Value) -> Value:
    """Return the derivative by the non-centrality, as `non_central_slope`."""
    return 0.5 * (ncfdtr(dfn + 2, dfd, nc, f * dfn / (dfn + 2)) - y)


def ratio_density(f: Value, dfn: Value, dfd: Value, nc: Value) -> Value:
    """Return the density, with its limits at zero and infinity: Boost's function is zero at zero, and has no value at
    infinity."""
    at_zero, at_end = equal(f, 0.0), equal(f, math.inf)
    first = where(less(dfn, 2.0), math.inf, where(equal(dfn, 2.0), exp(-0.5 * nc), 0.0))
    inside = registry["ncf_pdf"](where(at_zero | at_end, 1.0, f), dfn, dfd, nc)
    return where(at_zero, first, where(at_end, 0.0, inside))


ncfdtr = kernel(
    "ncfdtr",
    [POSITIVE, POSITIVE, POSITIVE, POSITIVE],
    BY_PARAMETER,
    BY_PARAMETER,
    ratio_slope,
    lambda y, dfn, dfd, nc, f: ratio_density(f, dfn, dfd, nc),
)
ncfdtri = kernel(
    "ncfdtri",
    [POSITIVE, POSITIVE, POSITIVE, PROBABILITY],
    BY_PARAMETER,
    BY_PARAMETER,
    lambda f, dfn, dfd, nc, p: -ratio_slope(p, dfn, dfd, nc, f) / ratio_density(f, dfn, dfd, nc),
    lambda f, dfn, dfd, nc, p: 1 / ratio_density(f, dfn, dfd, nc),
)
ncfdtridfd = kernel("ncfdtridfd", [(2.0, 3.0), (0.4, 0.6), (0.5, 1.0), (1.0, 1.5)])
ncfdtridfn = kernel("ncfdtridfn", [(2.0, 3.0), (0.4, 0.6), (0.5, 1.0), (1.0, 1.5)])
ncfdtrinc = kernel("ncfdtrinc", [(2.0, 3.0), (2.0, 3.0), (0.4, 0.6), (1.0, 1.5)])
nctdtr = kernel(
    "nctdtr",
    [POSITIVE, POSITIVE, POSITIVE],
    BY_PARAMETER,
    lambda y, df, nc, t: -less_by_shift(t, df, nc),
    lambda y, df, nc, t: shifted_density(t, df, nc),
)
nctdtrit = kernel(
    "nctdtrit",
    [POSITIVE, POSITIVE, PROBABILITY],
    BY_PARAMETER,
    lambda t, df, nc, p: less_by_shift(t, df, nc) / shifted_density(t, df, nc),
    lambda t, df, nc, p: 1 / shifted_density(t, df, nc),
)
nctdtridf = kernel("nctdtridf", [(0.5, 1.0), (0.4, 0.6), (1.2, 1.5)])
nctdtrinc = kernel("nctdtrinc", [(2.0, 3.0), (0.2, 0.4), (1.0, 2.0)])
smirnov = kernel("smirnov", [range(1, 6), PROBABILITY], whole=(0,))
smirnovi = kernel("smirnovi", [range(1, 6), PROBABILITY], whole=(0,))
