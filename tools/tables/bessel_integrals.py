"""The tables of the integrals of the Bessel functions of the order 0, and of the modified ones, from 0 on."""

from __future__ import annotations

from functools import cache

import mpmath
from minimax import Polynomial
from mpmath import mp, mpf
from tables.modified_bessel import relative

WAVE_TAIL, FIRST_TAIL, SECOND_TAIL = mpf(5), mpf(16), mpf(2)
"""From where on integrals of J0 and Y0 are waves, and those of I0 and K0 are scaled by exponentials."""
MIDDLES = WAVE_TAIL**2 / 2, 1 / (2 * (WAVE_TAIL + 1)), 1 / (2 * FIRST_TAIL), 1 / (2 * (SECOND_TAIL + 1))
"""Where the variables of these are zero: the square up to `WAVE_TAIL`, and inverses from each of the three on."""
FAR = 130
"""Where the asymptotic series has all digits."""


def per_number(x, sign):
    """The integrals of J0, or of I0, and of Y0 or -K0 but for ``log(x)`` times the first, per number. The second is
    without the factor of Y0, 2 / pi. [A&S 11.1.2, 11.1.3, 11.1.8, 11.1.9]"""
    first, second, term, harmonic, square = mpf(0), mpf(0), mpf(1), mpf(0), sign * x * x / 4
    for k in range(4 * FAR):
        if k:
            term *= square / k**2
            harmonic += mpf(1) / k
        share = term / (2 * k + 1)
        first += share
        second -= share * (harmonic + mpf(1) / (2 * k + 1) + mpmath.log(2) - mpmath.euler)
    return first, second


@cache
def integrals(x, sign):
    first, second = per_number(x, sign)
    return x * first, x * (second + mpmath.log(x) * first)


def series(x, turn):
    """The asymptotic one, which is 1 at infinity, of ``turn`` per number. [A&S 11.1.12]"""
    terms, half = [mpf(1), mpf(5) / 8], mpf(1) / 2
    for k in range(1, 2 * FAR):
        following = 3 * (k + half) * (k + mpf(5) / 6) * terms[k] - (k + half) ** 2 * (k - half) * terms[k - 1]
        terms.append(following / (2 * k + 2))
    total = mpmath.mpc(0)
    for k, each in enumerate(terms):
        term = each * turn**k / x**k
        total += term
        if abs(term) < mpf(10) ** -mp.dps:
            return total
    raise ArithmeticError(f"the asymptotic series ends at {x}")


@cache
def slow(x):
    """The integral of ``J0 + 1j * Y0`` from ``x`` on times ``sqrt(pi * x / 2)``, turned to be 1 at infinity."""
    if x > FAR:
        return series(x, mpmath.mpc(0, -1))
    with mpmath.workdps(mp.dps + FAR):
        first, second = integrals(x, -1)
        rest = mpmath.mpc(1 - first, -second * 2 / mp.pi)
        return rest * mpmath.sqrt(mp.pi * x / 2) * mpmath.expj(-mp.pi / 4 - x)


def amplitude(t):
    inverse = t + MIDDLES[1]
    return abs(slow(1 / inverse - 1)) * mpmath.sqrt(2 / mp.pi / (1 - inverse))


def phase(t):
    inverse = t + MIDDLES[1]
    return mpmath.arg(slow(1 / inverse - 1)) / inverse


def first_near(t):
    """The integral of J0 per number."""
    return per_number(mpmath.sqrt(t + MIDDLES[0]), -1)[0]


def second_near(t):
    """What the integral of Y0 is beside that of J0 times ``2 / pi * log(x)``, per number."""
    return per_number(mpmath.sqrt(t + MIDDLES[0]), -1)[1] * 2 / mp.pi


def growing(square):
    """The integral of I0 per number."""
    return per_number(mpmath.sqrt(square), 1)[0]


def growing_tail(t):
    """The integral of I0 times ``exp(-x) * sqrt(x)``."""
    x = 1 / (t + MIDDLES[2])
    if x > FAR:
        return series(x, 1).real / mpmath.sqrt(2 * mp.pi)
    return integrals(x, 1)[0] * mpmath.exp(-x) * mpmath.sqrt(x)


def decaying(square):
    """What the integral of K0 is beside that of I0 times ``-log(x / 2)``, per number."""
    first, second = per_number(mpmath.sqrt(square), 1)
    return -second - mpmath.log(2) * first


def decaying_tail(t):
    """The integral of K0 from ``x`` on times ``exp(x) * sqrt(x + 1)``."""
    x = 1 / (t + MIDDLES[3]) - 1
    if x > FAR:
        return series(x, -1).real * mpmath.sqrt(mp.pi / 2 * (1 + 1 / x))
    with mpmath.workdps(mp.dps + FAR):
        return (mp.pi / 2 + integrals(x, 1)[1]) * mpmath.exp(x) * mpmath.sqrt(x + 1)


ALMOST_0 = mpf("1e-12")
AROUND = ALMOST_0 - MIDDLES[0], MIDDLES[0]
BEYOND, GROWING, DECAYING = ((ALMOST_0 - middle, middle) for middle in MIDDLES[1:])

TABLES = [
    Polynomial("FIRST", first_near, AROUND, (12, None)),
    Polynomial("SECOND", second_near, AROUND, (12, None)),
    Polynomial("AMPLITUDE", amplitude, BEYOND, (23, None)),
    Polynomial("PHASE", phase, BEYOND, (24, None)),
    Polynomial("GROWING", growing, (ALMOST_0, FIRST_TAIL**2), (20, None), relative(growing), first=1),
    Polynomial("GROWING_TAIL", growing_tail, GROWING, (26, None)),
    Polynomial("GROWING_SHORT", growing, (ALMOST_0, SECOND_TAIL**2), (8, None), first=1),
    Polynomial("DECAYING", decaying, (ALMOST_0, SECOND_TAIL**2), (8, None)),
    Polynomial("DECAYING_TAIL", decaying_tail, DECAYING, (26, None)),
]
