"""Integrals of elementary functions and of Bessel functions. Numbers in brackets are those of the DLMF."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from numbagraph.intrinsics.emitters.vecmath import (
    bessel_integrals,
    dawson,
    dilogarithm,
    exponential_integrals,
    hyperbolic_integrals,
)
from numbagraph.intrinsics.emitters.vecmath import kolmogorov as kolmogorov_formula
from numbagraph.ir.op import registry
from numbagraph.ir.values import Value
from numbagraph.ops.comparison import less
from numbagraph.ops.exponentials import exp, log
from numbagraph.ops.selection import where
from numbagraph.ops.special.modified_bessel_functions import i0
from numbagraph.ops.special.removable_singularities import at_edge, near_zero
from numbagraph.ops.special.scipy_kernels import BY_PARAMETER, kernel, kernels
from numbagraph.ops.trigonometry import cos, cosh, sin, sinc, sinh

NUMBERS = (-3.0, 3.0)
POSITIVE = (0.1, 5.0)


def per(x: Value, function: Callable[[Value], Value]) -> Value:
    """Return ``function(x) / x`` of a function that is 1 at 0."""
    return at_edge(x, 0.0, lambda x: 1 / x, lambda x, y: y / x, function, function(x))


HALVES = [1 / (4**k * math.factorial(k) ** 2) for k in range(9)]
"""Terms of the modified Bessel function of order 0, by powers of the square. [10.25.2]"""


def between(terms: Sequence[float], first: int) -> list[float]:
    """Return 16 terms of a series of every second power of a number, from the one of ``first``."""
    found = [0.0] * 16
    found[first::2] = terms[: (17 - first) // 2]
    return found


def sinh_per(x: Value) -> Value:
    """``sinh(x) / x`` [4.33.1]"""
    terms = [1 / math.factorial(2 * k + 1) for k in range(8)]
    return near_zero(x, between(terms, 0), lambda away: sinh(away) / away)


def struve_per(x: Value) -> Value:
    """``struve(0, x) / x`` [11.2.1]"""
    terms = [0.5 * (-0.25) ** k / math.gamma(k + 1.5) ** 2 for k in range(8)]
    return near_zero(x, between(terms, 0), lambda away: registry["struve"](0.0, away) / away)


def j0_per(x: Value) -> Value:
    """``(1 - j0(x)) / x`` [10.2.2]"""
    terms = [-((-1) ** k) * each for k, each in enumerate(HALVES)]
    return near_zero(x, between(terms[1:], 1), lambda away: (1 - registry["j0"](away)) / away)


def i0_per(x: Value) -> Value:
    """``(i0(x) - 1) / x``"""
    return near_zero(x, between(HALVES[1:], 1), lambda away: (i0(away) - 1) / away)


erfi = kernel("erfi", [NUMBERS], lambda y, x: exp(x * x) * (2 / math.sqrt(math.pi)), emit=dawson.erfi, ulp=100)
"""The imaginary error function. [7.10.1] SciPy's is off by up to 90 units in the last place near 0, as is its
`dawsn`."""
dawsn = kernel("dawsn", [NUMBERS], lambda y, x: 1 - 2 * x * y, emit=dawson.dawsn, ulp=100)
"""[7.10.2]"""
expi = kernel("expi", [POSITIVE], lambda y, x: exp(x) / x, emit=exponential_integrals.expi, ulp=40)
"""The exponential integral. [6.2.5] SciPy's is off by up to 35 units in the last place around its root, and `exp1` by
up to 10."""
exp1 = kernel("exp1", [POSITIVE], lambda y, x: -exp(-x) / x, emit=exponential_integrals.exp1, ulp=12)
"""[6.2.1]"""


def expn_slope(y: Value, n: Value, x: Value) -> Value:
    """Return the derivative of `expn`: [8.19.13], and for order 0 the recurrence [8.19.12]."""
    first = less(n, 1)
    return -where(first, (exp(-x) + y) / x, expn(where(first, 0, n - 1), x))


expn = kernel("expn", [range(4), POSITIVE], BY_PARAMETER, expn_slope, whole=(0,))


def spence_slope(y: Value, x: Value) -> Value:
    """Return the derivative of `spence`. [25.12.2]"""

    def quotient(x: Value, y: Value) -> Value:
        return near_zero(x - 1, [(-1.0) ** (n + 1) / (n + 1) for n in range(16)], lambda away: -log(x) / away)

    return at_edge(x, 0.0, log, quotient, spence, y)


spence = kernel("spence", [POSITIVE], spence_slope, emit=dilogarithm.spence, ulp=16)

sici = kernels("sici", [NUMBERS], [[lambda ys, x: sinc(x / math.pi)], [lambda ys, x: per(x, cos)]])
"""[6.2.9], [6.2.11]"""
shichi = kernels(
    "shichi",
    [POSITIVE],
    [[lambda ys, x: sinh_per(x)], [lambda ys, x: per(x, cosh)]],
    emit=hyperbolic_integrals.shichi,
    ulp=8,
)
"""[6.2.15], [6.2.16]"""
fresnel = kernels(
    "fresnel", [NUMBERS], [[lambda ys, x: sin(x * x * (math.pi / 2))], [lambda ys, x: cos(x * x * (math.pi / 2))]]
)
"""[7.2.7], [7.2.8]"""

itj0y0 = kernels(
    "itj0y0",
    [POSITIVE],
    [[lambda ys, x: registry["j0"](x)], [lambda ys, x: registry["y0"](x)]],
    emit=bessel_integrals.itj0y0,
    ulp=64,
    scale=1,
)
"""SciPy's are off by up to 1e-8, as `iti0k0` is by 1e-7, around 20."""
it2j0y0 = kernels("it2j0y0", [POSITIVE], [[lambda ys, x: j0_per(x)], [lambda ys, x: -registry["y0"](x) / x]])
iti0k0 = kernels(
    "iti0k0",
    [POSITIVE],
    [[lambda ys, x: i0(x)], [lambda ys, x: registry["k0"](x)]],
    emit=bessel_integrals.iti0k0,
    ulp=512,  # what SciPy's are off by below 5
)
it2i0k0 = kernels("it2i0k0", [POSITIVE], [[lambda ys, x: i0_per(x)], [lambda ys, x: -registry["k0"](x) / x]])
itstruve0 = kernel("itstruve0", [POSITIVE], lambda y, x: registry["struve"](0.0, x))
it2struve0 = kernel("it2struve0", [POSITIVE], lambda y, x: -struve_per(x))
itmodstruve0 = kernel("itmodstruve0", [POSITIVE], lambda y, x: registry["modstruve"](0.0, x))
itairy = kernels(
    "itairy",
    [(0.1, 2.0)],
    [
        [lambda ys, x: registry["airy"](x)[0]],
        [lambda ys, x: registry["airy"](x)[2]],
        [lambda ys, x: registry["airy"](-x)[0]],
        [lambda ys, x: registry["airy"](-x)[2]],
    ],
)
"""[9.10]: integrals from 0 of Ai, Bi, and of both of the opposite number."""

KOLMOGOROV_ENDS = 0.04, 0.82
"""Two numbers: up to the first the function is 1, and up to the second the series that follows by Jacobi's identity
counts."""


def kolmogorov_slope(x: Value) -> Value:
    """Return the derivative, term by term, of the series that ends sooner. [20.2.3, 20.7.32]"""
    first, second = KOLMOGOROV_ENDS
    flat, low = x <= first, x < second
    inner, outer = where(low & ~flat, x, 1.0), where(low, 1.0, x)
    share = (math.pi * math.pi / 8) / (inner * inner)
    of_low = sum(exp(-share * m * m) * (1 - share * (2 * m * m)) for m in (1, 3, 5))
    terms = sum((-1) ** k * k * k * exp(outer * outer * (-2 * k * k)) for k in range(1, 7))
    return where(flat, 0.0, where(low, of_low * math.sqrt(2 * math.pi) / (inner * inner), 8 * outer * terms))


# SciPy rounds the exponent, and leaves out a term of the series that counts where it begins.
kolmogorov = kernel(
    "kolmogorov", [(0.3, 2.0)], lambda y, x: kolmogorov_slope(x), emit=kolmogorov_formula.kolmogorov, ulp=1024
)
kolmogi = kernel("kolmogi", [(0.1, 0.9)], lambda x, p: 1 / kolmogorov_slope(x))
