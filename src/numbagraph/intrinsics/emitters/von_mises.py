"""The distribution function of von Mises' distribution, between -pi and pi.

Of small concentrations it is a Fourier series, whose coefficients are ratios of modified Bessel functions: they follow
from a continued fraction. [DLMF 10.35.2, 10.33.1] Of large ones the normal distribution is its first term: with
``s**2 = 2 * kappa * sin(x / 2)**2`` the density is ``exp(-s**2) / sqrt(1 - s**2 / (2 * kappa))``, which is expanded.
Both have errors of a few units in the last place of 1; the expansion keeps the digits of small probabilities near 0.

The formula takes registers, or arrays of NumPy and JAX.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from numbagraph.intrinsics.emitters import vecmath
from numbagraph.intrinsics.emitters.formula import Number, in_double, lifted, sqrt
from numbagraph.intrinsics.emitters.ir import Emit
from numbagraph.intrinsics.emitters.vecmath.modified_bessel import i0e

LARGE = 20.0
"""The concentration from which on the function is the expansion."""
HARMONICS, TERMS = 41, 20
"""The numbers of harmonics and of terms that a concentration of LARGE needs."""
LARGEST = 1e300
"""The greatest concentration. For larger ones the scaled Bessel function times a root would be 0 times infinity."""
NONE_LEFT = 750.0
"""A number for which the exponential of the negative is 0; powers of larger numbers would be infinite."""


class Functions(NamedTuple):
    """The functions that the formula needs for the numbers that it is evaluated on."""

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


def von_mises_slope(f: Functions, kappa: Any, x: Any) -> Any:
    """Return the derivative by the concentration: the integral of the density times ``cos(t) - A``, where A is the mean
    of the cosine."""
    large = kappa >= LARGE
    by_series = changing_harmonics(f, f.where(large, 0.0, kappa), x)
    tail = changing_tail(f, f.where(large, kappa, LARGE), x)
    return f.where(large, f.where(x > 0.0, -tail, tail), by_series)


def ratios(kappa: Any) -> list[Any]:
    """Return ``I_n(kappa) / I_0(kappa) / pi`` from n = 1 on."""
    ratio, found = kappa / (2.0 * HARMONICS), []
    for n in reversed(range(1, HARMONICS)):
        ratio = kappa / (2.0 * n + kappa * ratio)
        found.append(ratio)
    product, products = 1.0 / math.pi, []
    for each in reversed(found):
        product = product * each
        products.append(product)
    return products


def harmonics(f: Functions, kappa: Any, x: Any) -> Any:
    """Return the sum of ``I_n(kappa) / I_0(kappa) * sin(n * x) / (n * pi)``."""
    return sines(f, ratios(kappa), x)


def changing_harmonics(f: Functions, kappa: Any, x: Any) -> Any:
    """Return the sum of harmonics with the derivatives of these ratios as coefficients. [DLMF 10.29.1]"""
    found = ratios(kappa)
    mean = math.pi * found[0]
    around = [1.0 / math.pi, *found, 0.0]
    return sines(f, [0.5 * (before + after) - mean * each for before, each, after in triples(around)], x)


def triples(values: Sequence[Any]) -> Iterable[tuple[Any, Any, Any]]:
    return zip(values, values[1:], values[2:], strict=False)


def sines(f: Functions, coefficients: Sequence[Any], x: Any) -> Any:
    """Return the sum of ``c_n / n * sin(n * x)`` by Clenshaw's recurrence."""
    given = [each * (1.0 / n) for n, each in enumerate(coefficients, start=1)]
    twice, following, last = 2.0 * f.cos(x), x * 0.0, x * 0.0
    for each in reversed(given):
        following, last = each + (twice * following - last), following
    return following * f.sin(x)


def expansion(f: Functions, kappa: Any, x: Any) -> Any:
    """Return the smaller tail. Its terms are incomplete gamma functions of half-integers: all are positive. [DLMF
    8.8.2]"""
    finite = f.where(kappa > LARGEST, LARGEST, kappa)
    total = weighted(kappa, integrals(f, kappa, x, TERMS))
    return total / (f.i0e(finite) * f.sqrt(finite) * (math.sqrt(2.0) * math.pi))


def changing_tail(f: Functions, kappa: Any, x: Any) -> Any:
    """Return the derivative of the smaller tail: ``cos(t)`` is ``1 - s**2 / kappa``, and ``s**2`` leads from each
    integral to the next one. Its difference to the mean has digits, since both are sums of positive terms."""
    of_tail = integrals(f, kappa, x, TERMS + 1)
    of_half = [0.5 * math.gamma(j + 0.5) for j in range(TERMS + 1)]
    tail, squares = weighted(kappa, of_tail[:-1]), weighted(kappa, of_tail[1:])
    half, half_squares = weighted(kappa, of_half[:-1]), weighted(kappa, of_half[1:])
    return (tail * (half_squares / half) - squares) / (2.0 * half * kappa)


def integrals(f: Functions, kappa: Any, x: Any, count: int) -> list[Any]:
    """Return the integrals of ``s**(2 * j) * exp(-s**2)`` from an angle's ``s`` on."""
    half = f.sin(0.5 * x)
    end = f.where(half < 0.0, -half, half) * f.sqrt(2.0 * kappa)
    end = f.where(end * end > NONE_LEFT, math.sqrt(NONE_LEFT), end)
    square = end * end
    density = 0.5 * end * f.exp(-square)
    found = [(0.5 * math.sqrt(math.pi)) * f.erfc(end)]
    for j in range(1, count):
        found.append(found[-1] * (j - 0.5) + density)
        density = density * square
    return found


def weighted(kappa: Any, values: Sequence[Any]) -> Any:
    """Return the sum of integrals, times the terms of ``1 / sqrt(1 - s**2 / (2 * kappa))``."""
    step, total, factor = 0.5 / kappa, values[0], 1.0
    for j, each in enumerate(values[1:], start=1):
        factor = factor * (step * ((2 * j - 1) / (2 * j)))
        total = total + factor * each
    return total


def on_registers(function: Callable[[Functions, Any, Any], Any]) -> Emit:
    functions = Functions(
        sin=lifted(vecmath.sin),
        cos=lifted(vecmath.cos),
        exp=lifted(vecmath.exp),
        sqrt=sqrt,
        erfc=lifted(vecmath.erfc),
        i0e=lifted(i0e),
        where=lambda condition, yes, no: condition.where(yes, no),
    )

    def formula(kappa: Number, x: Number) -> Number:
        return function(functions, kappa, x)

    return in_double(formula)


emit, emit_slope = on_registers(von_mises_cdf), on_registers(von_mises_slope)
