"""Riemann's zeta function. Numbers in brackets are those of the DLMF."""

from __future__ import annotations

import math

from numbagraph.ir.values import Value
from numbagraph.ops.arithmetic import power
from numbagraph.ops.comparison import minimum
from numbagraph.ops.selection import where
from numbagraph.ops.special.error_functions import digamma, gamma
from numbagraph.ops.special.scipy_kernels import kernel
from numbagraph.ops.trigonometry import cos, sin

STEPS = 10
"""The number of the term from which on Euler and Maclaurin's formula gives the rest of the sum."""
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
"""Bernoulli's numbers of even order, from the second on."""
LEAST = -0.5
"""The number below which the terms of the sum cancel; close to 0 those of the reflection formula do."""
NONE_LEFT = 1100.0
"""The number at which all terms but the first, which is 1, are 0."""


def slope_at_right(x: Value) -> Value:
    """Return the derivative, term by term, of Euler and Maclaurin's formula, for numbers from `LEAST` on. [25.2.9]"""
    log_a = math.log(STEPS)
    total = sum(power(float(k), -x) * -math.log(k) for k in range(2, STEPS))
    last = power(float(STEPS), -x)
    integral = STEPS * last / (x - 1)
    term, slope = x * last / (2 * STEPS), last * (1 - x * log_a) / (2 * STEPS)
    rest = last * (-0.5 * log_a)
    for number, each in enumerate(BERNOULLI, start=1):
        rest = rest + each * slope
        scale = 1 / (STEPS**2 * (2 * number + 1) * (2 * number + 2))
        factor, bend = (x + (2 * number - 1)) * (x + 2 * number) * scale, (2 * x + (4 * number - 1)) * scale
        term, slope = term * factor, slope * factor + term * bend
    return total + (rest - integral * (log_a + 1 / (x - 1)))


def zeta_slope(_: Value, x: Value) -> Value:
    """Return the derivative; for negative numbers by reflection, with gammas that do not overflow before the function.
    [25.4.1, 5.5.5]"""
    left = x < LEAST
    other = minimum(where(left, 1 - x, x), NONE_LEFT)
    slope = slope_at_right(other)
    inside = where(left, x, -1.0)
    angle, root = 0.5 * math.pi * inside, power(math.pi, 0.5 * (inside - 1))
    scale = (root * gamma(0.5 - 0.5 * inside)) * (root * gamma(1 - 0.5 * inside)) / math.sqrt(math.pi)
    value = 1 + zetac(other)
    turned = sin(angle) * ((math.log(2 * math.pi) - digamma(1 - inside)) * value - slope)
    return where(left, scale * (turned + 0.5 * math.pi * cos(angle) * value), slope)


zetac = kernel("zetac", [(1.5, 5.0)], zeta_slope)
"""The zeta function less 1."""
