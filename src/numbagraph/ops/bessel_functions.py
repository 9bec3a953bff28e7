"""Functions of Bessel, Kelvin, Struve and Airy beside those of `bessel`. Numbers in brackets are those of the DLMF."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numbagraph.ir.values import Op, Value
from numbagraph.ops.arithmetic import power, sqrt
from numbagraph.ops.bessel import BY_ORDER
from numbagraph.ops.comparison import maximum
from numbagraph.ops.elementary_functions import rgamma
from numbagraph.ops.exponential import exp, log
from numbagraph.ops.kernels import BY_PARAMETER, kernel, kernels
from numbagraph.ops.removable import at_edge, near_zero

POSITIVE = (0.3, 5.0)
ORDERS = range(1, 4)


def of_order(name: str, slope: Callable[..., Value], **properties: Any) -> Op:
    """Declare a function of an order and a number, with its derivative by the number."""
    return kernel(name, [ORDERS, POSITIVE], BY_ORDER, slope, **properties)


y0 = kernel("y0", [POSITIVE], lambda y, x: -y1(x), cost=60)
"""[10.6.3]"""
y1 = kernel(
    "y1", [POSITIVE], lambda y, x: at_edge(x, 0.0, lambda x: power(x, -2.0), lambda x, y: y0(x) - y / x, y1, y), cost=60
)
"""[10.6.2]"""
k0 = kernel("k0", [POSITIVE], lambda y, x: -k1(x), cost=60)
"""[10.29.3]"""
k1 = kernel("k1", [POSITIVE], lambda y, x: -k0(x) - y / x, cost=60)
"""[10.29.2]"""
k0e = kernel(
    "k0e", [POSITIVE], lambda y, x: at_edge(x, 0.0, lambda x: -1 / x, lambda x, y: y - k1e(x), k0e, y), cost=60
)
k1e = kernel(
    "k1e",
    [POSITIVE],
    lambda y, x: at_edge(x, 0.0, lambda x: -power(x, -2.0), lambda x, y: y - k0e(x) - y / x, k1e, y),
    cost=60,
)

jve = of_order("jve", lambda y, v, x: 0.5 * (jve(v - 1, x) - jve(v + 1, x)))
"""[10.6.1]; of real numbers it is not scaled."""
yv = of_order("yv", lambda y, v, x: 0.5 * (yv(v - 1, x) - yv(v + 1, x)))
"""[10.6.1]"""
yve = of_order("yve", lambda y, v, x: 0.5 * (yve(v - 1, x) - yve(v + 1, x)))
yn = of_order("yn", lambda y, n, x: 0.5 * (yn(n - 1, x) - yn(n + 1, x)), whole=(0,))
"""[10.6.1]"""
kv = of_order("kv", lambda y, v, x: -0.5 * (kv(v - 1, x) + kv(v + 1, x)))
"""[10.29.1]"""
kn = of_order("kn", lambda y, n, x: -0.5 * (kn(abs(n - 1), x) + kn(n + 1, x)), whole=(0,))
"""[10.29.1], [10.27.3]"""


def struve_term(v: Value, x: Value) -> Value:
    return power(0.5 * x, v) * rgamma(v + 1.5) / math.sqrt(math.pi)


struve = of_order("struve", lambda y, v, x: 0.5 * (struve(v - 1, x) - struve(v + 1, x) + struve_term(v, x)))
"""[11.4.24]"""
modstruve = of_order("modstruve", lambda y, v, x: 0.5 * (modstruve(v - 1, x) + modstruve(v + 1, x) + struve_term(v, x)))
"""[11.4.26]"""


# ---- Kelvin's functions: real and imaginary parts of solutions of x**2 w'' + x w' = i x**2 w [10.61.3] ----


def kelvin_terms(first: int) -> list[float]:
    """16 terms of a derivative of Kelvin's functions per the number: ber has every fourth power, bei those between.
    [10.65.1]"""
    found = [0.0] * 16
    for m in range(first, 18, 4):
        found[m - 2] = (-1) ** (m // 4) * m / (2.0**m * math.factorial(m // 2) ** 2)
    return found


ber = kernel("ber", [POSITIVE], lambda y, x: berp(x))
bei = kernel("bei", [POSITIVE], lambda y, x: beip(x))
berp = kernel("berp", [POSITIVE], lambda y, x: -bei(x) - near_zero(x, kelvin_terms(4), lambda away: y / away))
beip = kernel("beip", [POSITIVE], lambda y, x: ber(x) - near_zero(x, kelvin_terms(2), lambda away: y / away))
ker = kernel("ker", [POSITIVE], lambda y, x: kerp(x))
kei = kernel("kei", [POSITIVE], lambda y, x: keip(x))
kerp = kernel(
    "kerp", [POSITIVE], lambda y, x: at_edge(x, 0.0, lambda x: power(x, -2.0), lambda x, y: -kei(x) - y / x, kerp, y)
)
keip = kernel(
    "keip", [POSITIVE], lambda y, x: at_edge(x, 0.0, lambda x: -0.5 * log(x), lambda x, y: ker(x) - y / x, keip, y)
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
"""Scaled by the exponential of 2/3 x**1.5, and of its negative."""

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
