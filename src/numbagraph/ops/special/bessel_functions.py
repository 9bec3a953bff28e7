"""Functions of Bessel, Kelvin, Struve and Airy beside those of `bessel`. Numbers in brackets are those of the DLMF."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numbagraph.blockwise.promotion import as_value
from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.vecmath import kelvin, modified_bessel
from numbagraph.ir.values import Op, Value
from numbagraph.ops.arithmetic import absolute, power, sqrt
from numbagraph.ops.comparison import equal, isinf, less, maximum
from numbagraph.ops.exponentials import exp, log
from numbagraph.ops.selection import where
from numbagraph.ops.special.elementary_functions import rgamma
from numbagraph.ops.special.modified_bessel_functions import BY_ORDER
from numbagraph.ops.special.removable_singularities import NEAR, at_edge, near_zero, where_infinite
from numbagraph.ops.special.scipy_kernels import BY_PARAMETER, kernel, kernels

POSITIVE = (0.3, 5.0)
ORDERS = range(1, 4)


def of_order(name: str, slope: Callable[..., Value], **properties: Any) -> Op:
    """Declare a function of an order and a number, with its derivative by the number."""
    return kernel(name, [ORDERS, POSITIVE], BY_ORDER, slope, **properties)


k0 = kernel("k0", [POSITIVE], lambda y, x: -k1(x), cost=60, emit=modified_bessel.k0, ulp=8)
"""[10.29.3]"""
k1 = kernel("k1", [POSITIVE], lambda y, x: -k0(x) - y / x, cost=60, emit=modified_bessel.k1, ulp=8)
"""[10.29.2]"""
k0e = kernel(
    "k0e",
    [POSITIVE],
    lambda y, x: at_edge(x, 0.0, lambda x: -1 / x, lambda x, y: y - k1e(x), k0e, y),
    cost=60,
    emit=modified_bessel.k0e,
    ulp=8,
)
k1e = kernel(
    "k1e",
    [POSITIVE],
    lambda y, x: at_edge(x, 0.0, lambda x: -power(x, -2.0), lambda x, y: y - k0e(x) - y / x, k1e, y),
    cost=60,
    emit=modified_bessel.k1e,
    ulp=8,
)

jve = of_order("jve", lambda y, v, x: 0.5 * (jve(v - 1, x) - jve(v + 1, x)))
"""The scaled Bessel function of the first kind, which is not scaled for real numbers. [10.6.1]"""


def second_slope(op: Callable[[Value, Value], Value], y: Value, v: Value, x: Value) -> Value:
    """Return the derivative by the number of a function Y of an order and a number. [10.6.1] At 0 it is infinite, as
    are a power and the logarithm of the number, whose derivatives have their sign and the opposite one by turns.
    [10.7.3], [10.7.4]"""

    def function(x: Value) -> Value:
        return op(v, x)

    def leading(x: Value) -> Value:
        return -function(x) / x

    def formula(x: Value, y: Value) -> Value:
        return 0.5 * (op(v - 1, x) - op(v + 1, x))

    return where_infinite(equal(x, 0.0) & isinf(y), x, leading, formula, function, y)


def second_kind(name: str, **properties: Any) -> Op:
    """Declare a function of the second kind, of an order and a number."""
    op = of_order(name, lambda y, v, x: second_slope(op, y, v, x), **properties)
    return op


yv = second_kind("yv")
yve = second_kind("yve")
"""The scaled Bessel function of the second kind, which is not scaled for real numbers."""
yn = second_kind("yn", whole=(0,))
kv = of_order("kv", lambda y, v, x: -0.5 * (kv(v - 1, x) + kv(v + 1, x)))
"""[10.29.1]"""
kn = of_order("kn", lambda y, n, x: -0.5 * (kn(abs(n - 1), x) + kn(n + 1, x)), whole=(0,))
"""[10.29.1], [10.27.3]"""


def spherical(name: str, lower: float, upper: float) -> Op:
    """Declare a spherical function of positive numbers, with the factors of its neighbours in the derivative.
    [10.51.1], [10.51.2], [10.51.4]"""

    def slope(y: Value, n: Value, x: Value) -> Value:
        below = lower * op(maximum(n - 1, 0), x) - (n + 1) / x * y
        return where(equal(n, 0), upper * op(n * 0 + 1, x), below)

    path, emit = f"scipy.special._ufuncs:_{name}", libm.spherical(name)
    op = kernel(name, [ORDERS, POSITIVE], BY_ORDER, slope, path=path, emit=emit, cost=100)
    return op


spherical_jn = spherical("spherical_jn", 1.0, -1.0)
spherical_yn = spherical("spherical_yn", 1.0, -1.0)
spherical_kn = spherical("spherical_kn", -1.0, -1.0)


STRUVE_TERMS = 7


def struve_slope(sign: int, function: Callable[[Value, Value], Value], v: Value, x: Value) -> Value:
    """Return the derivative of a Struve function. [11.4.24], [11.4.26] Near 0, where functions of lower orders are
    infinite and cancel, it is the series [11.2.1] term by term: each has a reciprocal gamma function that is a multiple
    of the next one's."""
    is_near = less(absolute(x), NEAR)
    away, half = where(is_near, 1.0, x), 0.5 * where(is_near, x, 0.0)
    reciprocal, series = rgamma(v + (STRUVE_TERMS + 0.5)), as_value(0.0)
    for k in reversed(range(STRUVE_TERMS)):
        factor = sign**k / (2 * math.gamma(k + 1.5))
        series = series * (half * half) + factor * (2 * k + v + 1) * reciprocal
        reciprocal = reciprocal * (k + v + 0.5)
    term = power(0.5 * away, v) * rgamma(v + 1.5) / math.sqrt(math.pi)
    return where(is_near, power(half, v) * series, 0.5 * (function(v - 1, away) + sign * function(v + 1, away) + term))


struve = of_order("struve", lambda y, v, x: struve_slope(-1, struve, v, x))
modstruve = of_order("modstruve", lambda y, v, x: struve_slope(1, modstruve, v, x))


# ---- Kelvin's functions: real and imaginary parts of solutions of x**2 w'' + x w' = i x**2 w [10.61.3] ----


def kelvin_terms(first: int) -> list[float]:
    """Return 16 terms of a derivative of Kelvin's functions per the number: ber has every fourth power, bei those
    between. [10.65.1]"""
    found = [0.0] * 16
    for m in range(first, 18, 4):
        found[m - 2] = (-1) ** (m // 4) * m / (2.0**m * math.factorial(m // 2) ** 2)
    return found


def kelvin_function(name: str, slope: Callable[[Value, Value], Value]) -> Op:
    """Declare one of Kelvin's functions. SciPy's are off by up to ten units of 1; these are measured with mpmath."""
    return kernel(name, [POSITIVE], slope, emit=getattr(kelvin, name), cost=100, ulp=32, scale=1)


ber = kelvin_function("ber", lambda y, x: berp(x))
bei = kelvin_function("bei", lambda y, x: beip(x))
ker = kelvin_function("ker", lambda y, x: kerp(x))
kei = kelvin_function("kei", lambda y, x: keip(x))
berp = kelvin_function("berp", lambda y, x: -bei(x) - near_zero(x, kelvin_terms(4), lambda away: y / away))
beip = kelvin_function("beip", lambda y, x: ber(x) - near_zero(x, kelvin_terms(2), lambda away: y / away))
kerp = kelvin_function(
    "kerp", lambda y, x: at_edge(x, 0.0, lambda x: power(x, -2.0), lambda x, y: -kei(x) - y / x, kerp, y)
)
keip = kelvin_function(
    "keip", lambda y, x: at_edge(x, 0.0, lambda x: -0.5 * log(x), lambda x, y: ker(x) - y / x, keip, y)
)

airy = kernels(
    "airy",
    [(-3.0, 3.0)],
    [[lambda ys, x: ys[1]], [lambda ys, x: x * ys[0]], [lambda ys, x: ys[3]], [lambda ys, x: x * ys[2]]],
)
"""Ai, its derivative, Bi, its derivative. [9.2.1]"""


def root(x: Value) -> Value:
    return sqrt(maximum(x, 0.0))


airye = kernels(
    "airye",
    [POSITIVE],
    [
        [lambda ys, x: ys[1] + root(x) * ys[0]],
        [lambda ys, x: x * ys[0] + root(x) * ys[1]],
        [lambda ys, x: ys[3] - root(x) * ys[2]],
        [lambda ys, x: x * ys[2] - root(x) * ys[3]],
    ],
)
"""The Airy functions, scaled by the exponential of 2/3 x**1.5, and of its negative."""

wright_bessel = kernel(
    "wright_bessel",
    [ORDERS, ORDERS, (0.1, 3.0)],
    BY_PARAMETER,
    BY_PARAMETER,
    lambda y, a, b, x: wright_bessel(a, a + b, x),
)
"""[10.46.1]"""
log_wright_bessel = kernel(
    "log_wright_bessel",
    [ORDERS, ORDERS, (0.1, 3.0)],
    BY_PARAMETER,
    BY_PARAMETER,
    lambda y, a, b, x: exp(log_wright_bessel(a, a + b, x) - y),
)
besselpoly = kernel("besselpoly", [(0.5, 2.0), (0.5, 2.0), (0.5, 2.0)])
