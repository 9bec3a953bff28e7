"""The distribution function of von Mises' distribution, between -pi and pi.

Of small concentrations it is a Fourier series, whose coefficients are ratios of modified Bessel functions: they follow
from a continued fraction. [DLMF 10.35.2, 10.33.1] Of large ones the normal distribution is its first term: with
``s**2 = 2 * kappa * sin(x / 2)**2`` the density is ``exp(-s**2) / sqrt(1 - s**2 / (2 * kappa))``, which is expanded.
Both have errors of a few units in the last place of 1; the expansion keeps the digits of small probabilities near 0.

The formula takes registers, or arrays of NumPy and JAX.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from numbagraph.intrinsics import vecmath
from numbagraph.intrinsics.formula import Number, in_double, lifted, sqrt
from numbagraph.intrinsics.vecmath.modified_bessel import i0e

LARGE = 20.0
"""From which concentration on it is the expansion."""
HARMONICS, TERMS = 41, 20
"""As many as a concentration of LARGE needs."""
LARGEST = 1e300
"""Of larger concentrations the scaled Bessel function times a root would be 0 times infinity."""
NONE_LEFT = 750.0
"""The exponential of its negative is 0; powers of larger numbers would be infinite."""


class Functions(NamedTuple):
    """What the formula needs of the numbers that it is evaluated on."""

    sin: Callable[..., Any]
    cos: Callable[..., Any]
    exp: Callable[..., Any]
    sqrt: Callable[..., Any]
    erfc: Callable[..., Any]
    i0e: Callable[..., Any]
    where: Callable[..., Any]


def von_mises_cdf(f: Functions, kappa: Any, x: Any) -> Any:
    large = kappa >= LARGE
    by_series = 0.5 + x * (0.5 / math.pi) + harmonics(f, f.where(large, 0.0, kappa), x)
    tail = expansion(f, f.where(large, kappa, LARGE), x)
    by_expansion = f.where(x > 0.0, 1.0 - tail, tail)
    return f.where(large, by_expansion, by_series)


def harmonics(f: Functions, kappa: Any, x: Any) -> Any:
    """The sum of ``I_n(kappa) / I_0(kappa) * sin(n * x) / (n * pi)`` by Clenshaw's recurrence."""
    ratio, ratios = kappa / (2.0 * HARMONICS), []
    for n in reversed(range(1, HARMONICS)):
        ratio = kappa / (2.0 * n + kappa * ratio)
        ratios.append(ratio)
    product, coefficients = 1.0 / math.pi, []
    for n, each in enumerate(reversed(ratios), start=1):
        product = product * each
        coefficients.append(product * (1.0 / n))
    twice, following, last = 2.0 * f.cos(x), x * 0.0, x * 0.0
    for each in reversed(coefficients):
        following, last = each + (twice * following - last), following
    return following * f.sin(x)


def expansion(f: Functions, kappa: Any, x: Any) -> Any:
    """The smaller tail. Its terms are incomplete gamma functions of half-integers: all are positive. [DLMF 8.8.2]"""
    half = f.sin(0.5 * x)
    end = f.where(half < 0.0, -half, half) * f.sqrt(2.0 * kappa)
    end = f.where(end * end > NONE_LEFT, math.sqrt(NONE_LEFT), end)
    square, step = end * end, 0.5 / kappa
    density = 0.5 * end * f.exp(-square)
    integral = (0.5 * math.sqrt(math.pi)) * f.erfc(end)
    total, factor = integral, 1.0
    for j in range(1, TERMS):
        integral = integral * (j - 0.5) + density
        factor = factor * (step * ((2 * j - 1) / (2 * j)))
        total = total + factor * integral
        density = density * square
    finite = f.where(kappa > LARGEST, LARGEST, kappa)
    return total / (f.i0e(finite) * f.sqrt(finite) * (math.sqrt(2.0) * math.pi))


def on_registers(kappa: Number, x: Number) -> Number:
    functions = Functions(
        sin=lifted(vecmath.sin),
        cos=lifted(vecmath.cos),
        exp=lifted(vecmath.exp),
        sqrt=sqrt,
        erfc=lifted(vecmath.erfc),
        i0e=lifted(i0e),
        where=lambda condition, yes, no: condition.where(yes, no),
    )
    return von_mises_cdf(functions, kappa, x)


emit = in_double(on_registers)
