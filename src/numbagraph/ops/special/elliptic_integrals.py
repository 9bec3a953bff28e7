"""Elliptic integrals and functions. Numbers in brackets are those of the DLMF, whose modulus is the root of ``m``."""

from __future__ import annotations

import math
from typing import Any

from numbagraph.intrinsics.emitters.vecmath import carlson, incomplete_elliptic
from numbagraph.intrinsics.emitters.vecmath import elliptic as formulas
from numbagraph.ir.values import Value
from numbagraph.ops.arithmetic import absolute, sqrt
from numbagraph.ops.comparison import equal, less
from numbagraph.ops.exponentials import log
from numbagraph.ops.floating import copysign
from numbagraph.ops.identity import differentiated_as
from numbagraph.ops.selection import where
from numbagraph.ops.special.removable_singularities import NEAR, at_edge, near_zero, power_series
from numbagraph.ops.special.scipy_kernels import kernel, kernels
from numbagraph.ops.trigonometry import cos, sin

PARAMETER = (0.1, 0.8)
ANGLE = (-1.4, 1.4)
POSITIVE = (0.3, 3.0)


TERMS = [math.pi / 2 * n * (math.comb(2 * n, n) / 4**n) ** 2 for n in range(1, 17)]
"""Terms of the derivative of the first complete integral, by powers of the parameter. [19.5.1]"""


def ellipk_slope(k: Value, m: Value, rest: Value) -> Value:
    """Return the derivative of `ellipk`, of a parameter and 1 less the parameter. [19.4.1]"""
    return near_zero(m, TERMS, lambda away: (ellipe(m) - rest * k) / (2 * away * rest))


def ellipe_slope(e: Value, m: Value) -> Value:
    """Return the derivative of the second complete integral. [19.4.2], [19.5.2]"""
    terms = [-each / (2 * n + 1) for n, each in enumerate(TERMS)]
    return near_zero(m, terms, lambda away: (e - ellipk(m)) / (2 * away))


ellipk = kernel(
    "ellipk",
    [PARAMETER],
    lambda y, m: at_edge(m, 1.0, lambda m: 0.5 / (1 - m), lambda m, y: ellipk_slope(y, m, 1 - m), ellipk, y),
    emit=formulas.ellipk,
    ulp=4,
)
ellipkm1 = kernel(
    "ellipkm1",
    [PARAMETER],
    lambda y, p: at_edge(p, 0.0, lambda p: -0.5 / p, lambda p, y: -ellipk_slope(y, 1 - p, p), ellipkm1, y),
    emit=formulas.ellipkm1,
    ulp=4,
)
ellipe = kernel(
    "ellipe",
    [PARAMETER],
    lambda y, m: at_edge(m, 1.0, lambda m: 0.25 * log(1 - m), lambda m, y: ellipe_slope(y, m), ellipe, y),
    emit=formulas.ellipe,
    ulp=4,
)
"""The second complete integral. Near 1 it behaves like the logarithm of 1 less the parameter. [19.12.1], [19.12.2]"""


def delta(phi: Value, m: Value) -> Value:
    return sqrt(1 - m * sin(phi) * sin(phi))


def powers_of_sines(phi: Value) -> list[Value]:
    """Return terms of the derivative of the first incomplete integral, by powers of the parameter: integrals of the
    even powers of the sine, each by parts from the one before. [19.5.1]"""
    sine, square = sin(phi), sin(phi) * sin(phi)
    edge, integral, found = sine * cos(phi), phi, []
    for n in range(1, 17):
        integral = ((2 * n - 1) * integral - edge) / (2 * n)
        edge = edge * square
        found.append(n * math.comb(2 * n, n) / 4**n * integral)
    return found


def ellipkinc_slope(f: Value, phi: Value, m: Value) -> Value:
    """Return the derivative of the first incomplete integral by the parameter. [19.4.5]"""

    def quotient(away: Value) -> Value:
        first = (ellipeinc(phi, m) - (1 - m) * f) / (2 * away * (1 - m))
        return first - sin(phi) * cos(phi) / (2 * (1 - m) * delta(phi, m))

    return near_zero(m, powers_of_sines(phi), quotient)


def ellipeinc_slope(e: Value, phi: Value, m: Value) -> Value:
    """Return the derivative of the second incomplete integral by the parameter. [19.4.6], [19.5.2]"""
    terms = [-each / (2 * n - 1) for n, each in enumerate(powers_of_sines(phi), 1)]
    return near_zero(m, terms, lambda away: (e - ellipkinc(phi, m)) / (2 * away))


ellipkinc = kernel(
    "ellipkinc",
    [ANGLE, PARAMETER],
    lambda y, phi, m: 1 / delta(phi, m),
    ellipkinc_slope,
    emit=incomplete_elliptic.ellipkinc,
    ulp=8,
)
ellipeinc = kernel(
    "ellipeinc",
    [ANGLE, PARAMETER],
    lambda y, phi, m: delta(phi, m),
    ellipeinc_slope,
    emit=incomplete_elliptic.ellipeinc,
    ulp=8,
)


def amplitude_slope(ys: tuple[Value, ...], u: Value, m: Value) -> Value:
    """Return the derivative of the amplitude by the parameter, from that of its inverse, an integral of the first
    kind."""
    return -ys[2] * ellipkinc_slope(u, ys[3], m)


def dn_slope(ys: tuple[Value, ...], u: Value, m: Value) -> Value:
    sn, cn, dn, _ = ys
    return -(sn * sn + 2 * m * sn * cn * amplitude_slope(ys, u, m)) / (2 * dn)


ellipj = kernels(
    "ellipj",
    [(-1.2, 1.2), PARAMETER],
    [
        [lambda ys, u, m: ys[1] * ys[2], lambda ys, u, m: ys[1] * amplitude_slope(ys, u, m)],
        [lambda ys, u, m: -ys[0] * ys[2], lambda ys, u, m: -ys[0] * amplitude_slope(ys, u, m)],
        [lambda ys, u, m: -m * ys[0] * ys[1], dn_slope],
        [lambda ys, u, m: ys[2], amplitude_slope],
    ],
)
"""sn, cn, dn, and the amplitude. [22.13.1-3], [22.16.3]"""

# ---- Carlson's symmetric integrals ----

DUPLICATIONS = 5
"""The number of duplications. Each brings operands nearer to each other by a factor of 4, and reduces the rest of a
series of five terms by 4**8."""


def elliprc_slope(a: Value, b: Value, difference: Value, factor: Value | float) -> Value:
    """Return the derivative by the first operand, times a factor, which is also in ``difference``, the integral less
    its value at equal operands. It is a principal value where the second operand is negative. [19.2.18]"""
    apart = 1 - a / b
    is_near = less(absolute(apart), NEAR)
    positive = where(less(b, 0), 1.0, b)
    terms = [-n * math.comb(2 * n, n) / 4**n / (2 * n + 1) for n in range(1, 17)]
    near = power_series(where(is_near, apart, 0.0), terms)
    away = difference / (2 * where(is_near, 1.0, b - a))
    return where(is_near, factor * near / (positive * sqrt(positive)), away)


elliprc = kernel(
    "elliprc",
    [POSITIVE, POSITIVE],
    lambda y, a, b: elliprc_slope(a, b, y - 1 / sqrt(a), 1.0),
    lambda y, a, b: -(0.5 * y + elliprc_slope(a, b, a * y - sqrt(a), a)) / b,
    emit=carlson.elliprc,
    ulp=8,
)
"""[19.18.4], and by homogeneity [19.18.11]"""
elliprf = kernel(
    "elliprf",
    [POSITIVE, POSITIVE, POSITIVE],
    lambda y, a, b, c: elliprd(b, c, a) / -6,
    lambda y, a, b, c: elliprd(a, c, b) / -6,
    lambda y, a, b, c: elliprd(a, b, c) / -6,
    emit=carlson.elliprf,
    ulp=8,
)
"""[19.18.4]"""


SERIES = [(-1) ** n / (2 * n + 1) for n in range(1, 17)]
"""Terms of ``(elliprc(1, 1 + x) - 1) / x``. [19.2.14]"""


def slope_of_near(a: Value, b: Value, c: Value, p: Value) -> Value:
    """Return the difference of `elliprj` and of its value with ``p = a``, divided by the difference of ``p`` and ``a``,
    where that is small: by duplication [19.26.18], whose terms are divided by it, and a series for the rest
    [19.19.7]."""
    total: Value | float = 0.0
    for step in range(DUPLICATIONS):
        roots = sqrt(a), sqrt(b), sqrt(c)
        shift = roots[0] * roots[1] + roots[0] * roots[2] + roots[1] * roots[2]
        reach, product = roots[0] + roots[1] + roots[2], roots[0] * roots[1] * roots[2]
        one, other = p * reach + product, a * reach + product
        around = (p - b) * (p - c) / (one * one)
        total = total + 3 / 16**step * (around * power_series((p - a) * around, SERIES) - reach / other) / one
        a, b, c, p = (0.25 * (each + shift) for each in (a, b, c, p))
    mean = (3 * a + b + c + 2 * p) / 7
    apart = [1 - each / mean for each in (a, b, c, p)]
    sums: list[Any] = [0.0, 0.0]
    for order in range(2, 6):
        powers = [each**order for each in apart]
        sums.append(1.5 * powers[0] + 0.5 * (powers[1] + powers[2]) + powers[3])
    terms = sums[2] / 2, sums[3] / 3, sums[4] / 4 + sums[2] * sums[2] / 8, sums[5] / 5 + sums[2] * sums[3] / 6
    series = 1 + sum(5 / (5 + 2 * order) * each for order, each in enumerate(terms, 2))
    return total - 0.6 / 16**DUPLICATIONS * series / (mean * mean * sqrt(mean))


def elliprj_slope(y: Value, a: Value, b: Value, c: Value, p: Value) -> Value:
    """Return the derivative by the first operand, by partial fractions of the integrand. [19.16.2], [19.18.4]"""
    is_near = less(absolute(a - p), 0.1 * p)
    near = slope_of_near(*(where(is_near, each, 1.0) for each in (a, b, c, p)))
    return 0.5 * where(is_near, near, (elliprd(b, c, a) - y) / where(is_near, 1.0, a - p))


def elliprd_slope(y: Value, a: Value, b: Value, c: Value) -> Value:
    """Return the derivative by the first operand: `elliprd` is `elliprj` with its last operand twice."""
    return elliprj_slope(y, a, b, c, c)


def share(slope: Value, a: Value) -> Value:
    """Return an operand times a slope by it, which grows like the reciprocal of its root."""
    return differentiated_as(where(equal(a, 0), 0.0, a * where(equal(a, 0), 1.0, slope)), a * slope)


def elliprj_slope_by_last(y: Value, a: Value, b: Value, c: Value, p: Value) -> Value:
    """Return the derivative by the last operand, by homogeneity. [19.18.11]"""
    first, second = share(elliprj_slope(y, a, b, c, p), a), share(elliprj_slope(y, b, a, c, p), b)
    return -(1.5 * y + first + second + share(elliprj_slope(y, c, a, b, p), c)) / p


def elliprd_slope_by_last(y: Value, a: Value, b: Value, c: Value) -> Value:
    """Return the derivative by the last operand, by homogeneity. [19.18.11]"""
    first, second = share(elliprd_slope(y, a, b, c), a), share(elliprd_slope(y, b, a, c), b)
    return -(1.5 * y + first + second) / c


elliprd = kernel(
    "elliprd",
    [POSITIVE, POSITIVE, POSITIVE],
    lambda y, a, b, c: elliprd_slope(y, a, b, c),
    lambda y, a, b, c: elliprd_slope(y, b, a, c),
    elliprd_slope_by_last,
    emit=carlson.elliprd,
    ulp=8,
)
elliprg = kernel(
    "elliprg",
    [POSITIVE, POSITIVE, POSITIVE],
    lambda y, a, b, c: 0.25 * (elliprf(a, b, c) - share(elliprd(b, c, a), a) / 3),
    lambda y, a, b, c: 0.25 * (elliprf(a, b, c) - share(elliprd(a, c, b), b) / 3),
    lambda y, a, b, c: 0.25 * (elliprf(a, b, c) - share(elliprd(a, b, c), c) / 3),
    emit=carlson.elliprg,
    ulp=8,
)
elliprj = kernel(
    "elliprj",
    [POSITIVE, POSITIVE, POSITIVE, POSITIVE],
    lambda y, a, b, c, p: elliprj_slope(y, a, b, c, p),
    lambda y, a, b, c, p: elliprj_slope(y, b, a, c, p),
    lambda y, a, b, c, p: elliprj_slope(y, c, a, b, p),
    elliprj_slope_by_last,
)
"""A principal value where the last operand is negative, as are its derivatives."""


def mean_slope(y: Value, a: Value, b: Value) -> Value:
    """Return the derivative of the arithmetic-geometric mean by the first operand: the mean is ``pi / 4 * (a + b) /
    K(m)``. [19.8.5]

    Where an operand is 0, the integral is infinite and the mean 0, whatever the other operand is: its slope is 0 by
    the other one, and infinite by the one that is 0.
    """
    at_edge = equal(y, 0)
    total, apart = where(at_edge, 1.0, a + b), where(at_edge, 0.0, a - b)
    rest, m = where(at_edge, 1.0, 4 * a * b / (total * total)), (apart / total) * (apart / total)
    integral = ellipkm1(rest)
    rising = near_zero(m, TERMS, lambda away: (ellipe(m) - rest * integral) / (2 * away * rest))
    inside = y / total - y / integral * rising * (4 * where(at_edge, 0.0, b) * apart / (total * total * total))
    steep = b / copysign(where(at_edge, a, 1.0), where(at_edge, b, 1.0))
    return where(at_edge, where(equal(a, 0), steep, y / where(equal(a, 0), 1.0, a)), inside)


agm = kernel("agm", [POSITIVE, POSITIVE], mean_slope, lambda y, a, b: mean_slope(y, b, a), emit=formulas.agm, ulp=8)
