"""Functions that mpmath lacks, or computes slowly, in many digits: for parameters that are positive integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath

GUARD_DIGITS = 150
"""The digits beyond those that are required: sums cancel, and numbers near 1 are subtracted from 1."""


def careful(function: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*operands: Any) -> Any:
        with mpmath.workdps(mpmath.mp.dps + GUARD_DIGITS):
            return function(*operands)

    return wrapped


def root(function: Callable[[Any], tuple[Any, Any]], start: Any) -> Any:
    """Find a root by Newton's method, for a concave function that returns its value and its slope."""
    for _ in range(2000):
        value, slope = function(start)
        step = value / slope
        start -= step
        if abs(step) <= abs(start) * mpmath.mpf(10) ** (-mpmath.mp.dps // 2 - 5):
            value, slope = function(start)
            return start - value / slope
    raise ValueError("no root")


def poisson(a: Any, x: Any) -> Any:
    """The upper incomplete gamma function."""
    return mpmath.exp(-x) * mpmath.fsum(x**k / mpmath.factorial(k) for k in range(int(a)))


@careful
def gammaincinv(a: Any, p: Any) -> Any:
    if not 0 < p < 1:
        return mpmath.nan
    if p > 0.5:
        return gammainccinv(a, 1 - p)

    def logarithm(t: Any) -> tuple[Any, Any]:
        x = mpmath.exp(t)
        value = 1 - poisson(a, x)
        return mpmath.log(value / p), x**a * mpmath.exp(-x) / mpmath.factorial(a - 1) / value

    return mpmath.exp(root(logarithm, mpmath.log(p * mpmath.factorial(a)) / a))


@careful
def gammainccinv(a: Any, q: Any) -> Any:
    if not 0 < q < 1:
        return mpmath.nan
    if q > 0.5:
        return gammaincinv(a, 1 - q)

    def logarithm(x: Any) -> tuple[Any, Any]:
        value = poisson(a, x)
        return mpmath.log(value / q), -(x ** (a - 1)) * mpmath.exp(-x) / mpmath.factorial(a - 1) / value

    return root(logarithm, -mpmath.log(q))


@careful
def betaincinv(a: Any, b: Any, p: Any) -> Any:
    if not 0 < p < 1:
        return mpmath.nan
    if p > 0.5:
        return 1 - betaincinv(b, a, 1 - p)
    n = int(a + b - 1)

    def logarithm(t: Any) -> tuple[Any, Any]:
        x = mpmath.exp(t)
        value = mpmath.fsum(mpmath.binomial(n, j) * x**j * (1 - x) ** (n - j) for j in range(int(a), n + 1))
        return mpmath.log(value / p), x**a * (1 - x) ** (b - 1) / mpmath.beta(a, b) / value

    return mpmath.exp(root(logarithm, mpmath.log(p * a * mpmath.beta(a, b)) / a))


def sums_at_zero(n: int, half: Any, sign: int) -> tuple[Any, Any, Any]:
    """The sums in the series of Bessel functions of the second kind around 0 (Abramowitz and Stegun, 9.1.11 with -1,
    9.6.11 with 1): the sum of negative powers, the function of the first kind, and the sum with digamma functions."""
    square, small = sign * half * half, mpmath.mpf(10) ** -mpmath.mp.dps
    first = sum(mpmath.factorial(n - k - 1) / mpmath.factorial(k) * (-square) ** k for k in range(n)) / half**n
    harmonic, other = mpmath.mpf(0), mpmath.fsum(mpmath.mpf(1) / k for k in range(1, n + 1))
    term, total, bessel, k = half**n / mpmath.factorial(n), mpmath.mpf(0), mpmath.mpf(0), 0
    while k < 100 or abs(term) > small * abs(total):
        bessel += term
        total += term * (harmonic + other - 2 * mpmath.euler)
        k += 1
        harmonic, other = harmonic + mpmath.mpf(1) / k, other + mpmath.mpf(1) / (n + k)
        term *= square / (k * (n + k))
    return first, bessel, total


@careful
def kve(n: Any, x: Any) -> Any:
    if x <= 0:
        return mpmath.nan
    first, bessel, total = sums_at_zero(int(n), x / 2, 1)
    sign = (-1) ** int(n)
    return mpmath.exp(x) * (first / 2 - sign * mpmath.log(x / 2) * bessel + sign * total / 2)


@careful
def yn(n: Any, x: Any) -> Any:
    if x <= 0:
        return mpmath.nan
    first, bessel, total = sums_at_zero(int(n), x / 2, -1)
    return (2 * mpmath.log(x / 2) * bessel - first - total) / mpmath.pi


@careful
def kelvin(x: Any) -> Any:
    """ker(x) + 1j kei(x): the function K of order 0 on a diagonal of the plane."""
    if x <= 0:
        return mpmath.nan * mpmath.mpc(1, 1)
    half = x / 2 * mpmath.sqrt(mpmath.j)
    _, bessel, total = sums_at_zero(0, half, 1)
    return total / 2 - mpmath.log(half) * bessel


def owens_t(h: Any, a: Any) -> Any:
    """Owen's T function, by the series of the exponential in the integrand."""
    z, count = h * h / 2, 200
    powers = [mpmath.mpf(1)]
    for k in range(1, count):
        powers.append(powers[-1] * z / k)
    tail, total = mpmath.mpf(0), mpmath.mpf(0)
    for j in range(count - 1, -1, -1):
        total += (-1) ** j * a ** (2 * j + 1) / (2 * j + 1) * tail
        tail += powers[j]
    return (mpmath.atan(a) - mpmath.exp(-z) * total) / (2 * mpmath.pi)


@careful
def gammainc_by_a(a: Any, x: Any) -> Any:
    """The derivative of an incomplete gamma function by its parameter, by the series of the confluent hypergeometric
    function, term by term."""
    if x <= 0:
        return mpmath.nan
    small, total, term, k = mpmath.mpf(10) ** -mpmath.mp.dps, mpmath.mpf(0), 1 / mpmath.factorial(a), 0
    digamma, logarithm = mpmath.digamma(a + 1), mpmath.log(x)
    while k < x + 20 or abs(term) > small * abs(total):
        total += term * (logarithm - digamma)
        k += 1
        digamma += 1 / (a + k)
        term *= x / (a + k)
    return x**a * mpmath.exp(-x) * total


@careful
def betainc_by_a(a: Any, b: Any, x: Any) -> Any:
    if not 0 < x < 1:
        return mpmath.nan
    constant = mpmath.digamma(a + b) - mpmath.digamma(a) + mpmath.log(x)
    terms = ((-1) ** k * mpmath.binomial(b - 1, k) * x**k / (a + k) * (constant - 1 / (a + k)) for k in range(int(b)))
    return x**a / mpmath.beta(a, b) * mpmath.fsum(terms)


def betainc_by_b(a: Any, b: Any, x: Any) -> Any:
    return -betainc_by_a(b, a, 1 - x)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "gammaincinv": gammaincinv,
    "gammainccinv": gammainccinv,
    "betaincinv": betaincinv,
    "gammainc_by_a": gammainc_by_a,
    "betainc_by_a": betainc_by_a,
    "betainc_by_b": betainc_by_b,
    "kve": kve,
    "owens_t": owens_t,
}
"""The functions by the names of the ops."""
