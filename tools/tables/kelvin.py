"""The tables of Kelvin's functions: real and imaginary parts of ``I0(z)`` and ``K0(z)``, and of their derivatives by x,
where ``z = x * exp(1j * pi / 4)``."""

from __future__ import annotations

from functools import cache

import mpmath
from minimax import Polynomial
from mpmath import mp, mpf

FIRST_TAIL, SECOND_TAIL = mpf(8), mpf(1)
"""From here on the functions of the first and of the second kind are exponentials times sines."""
FIRST_MIDDLE, SECOND_MIDDLE = mpf(1) / 18, mpf(1) / 4
"""Where the variables of their polynomials are zero there."""
FAR = 70
"""Where the asymptotic series has all digits."""
TURN = mpmath.expjpi(mpf(1) / 4)


def asymptotic(order, w):
    """``K(w)`` times ``exp(w) * sqrt(2 * w / pi)``"""
    total, term, k = mpmath.mpc(1), mpmath.mpc(1), 1
    while abs(term) > mpf(10) ** -mp.dps:
        term *= mpf(4 * order**2 - (2 * k - 1) ** 2) / (8 * k * w)
        total += term
        k += 1
    return total


def besselk(order, z):
    """``K0`` or ``K1`` by their series, which take a hundredth of mpmath's time [DLMF 10.31.1, 10.31.2]"""
    term, harmonic, shifted, k = (z / 2) ** order, mpf(0), mpf(order), 0
    rising, sums = term, term * order
    while abs(term) > mpf(10) ** -mp.dps * abs(rising):
        k += 1
        term *= z * z / (4 * k * (k + order))
        harmonic, shifted = harmonic + mpf(1) / k, shifted + mpf(1) / (k + order)
        rising, sums = rising + term, sums + term * (harmonic + shifted)
    rest = (mpmath.log(z / 2) + mp.euler) * rising - sums / 2
    return 1 / z + rest if order else -rest


@cache
def falling(order, x):
    """Kelvin's function of the second kind, or its derivative, times ``exp(z) * sqrt(x)``"""
    z, factor = x * TURN, -TURN if order else 1
    if x >= FAR:
        return factor * asymptotic(order, z) * mpmath.sqrt(mp.pi / 2 / TURN)
    with mpmath.workdps(mp.dps + int(x)):
        return factor * besselk(order, z) * mpmath.exp(z) * mpmath.sqrt(x)


@cache
def rising(order, x):
    """What `falling` leaves of the function of the first kind, times ``exp(-z) * sqrt(x)``: it is that less ``1j / pi``
    times the one of the second kind. [DLMF 10.67.5]"""
    z, factor = x * TURN, TURN if order else 1
    if x >= FAR:
        return factor * asymptotic(order, -z) / mpmath.sqrt(2 * mp.pi * TURN)
    with mpmath.workdps(mp.dps + int(x)):
        rest = (-1) ** order * besselk(order, z) * 1j / mp.pi
        return factor * (mpmath.besseli(order, z) - rest) * mpmath.exp(-z) * mpmath.sqrt(x)


def beyond(function, order, part, middle):
    """Of ``1 / (x + 1) - middle``, a part of `falling` or `rising` with ``sqrt(x + 1)`` in place of ``sqrt(x)``, and
    what an error of it makes."""

    def value(t):
        inverse = t + middle
        return function(order, 1 / inverse - 1) / mpmath.sqrt(1 - inverse)

    return lambda t: getattr(value(t), part), lambda t: 1 / abs(value(t))


def first(order, x):
    z = x * TURN
    return TURN * mpmath.besseli(1, z) if order else mpmath.besseli(0, z)


@cache
def second(order, x):
    z = x * TURN
    return -TURN * besselk(1, z) if order else besselk(0, z)


def root(q):
    return mpmath.sqrt(mpmath.sqrt(q))


def near_first(order, part, power):
    """Of ``x**4``, a part of the function of the first kind per ``x**power``, and what an error of it makes: beside the
    first term of the series, or the other part."""
    first_term = {2: 0.25, 3: 0.0625}.get(power, mp.inf)

    def function(q):
        return getattr(first(order, root(q)), part) / root(q) ** power

    def weight(q):
        x = root(q)
        return x**power / min(abs(first(order, x)), first_term * x**power)

    return function, weight


def near_ber(q):
    """``(ber(x) - 1) / x**4`` of ``x**4``"""
    return sum((-1) ** k * (q / 16) ** (k - 1) / mpmath.factorial(2 * k) ** 2 for k in range(1, 40)) / 16


def near_second(order, part, power):
    """Of ``x**2``, a part of the function of the second kind without the logarithm and the pole, per ``x`` if that is a
    derivative; and what an error of it makes."""

    def function(square):
        x = mpmath.sqrt(square)
        rest = second(order, x) + mpmath.log(x) * first(order, x) + (1 / x if order else 0)
        return getattr(rest, part) / x**power

    def weight(square):
        x = mpmath.sqrt(square)
        return x**power / getattr(second(order, x), part)

    return function, weight


ALMOST_0 = mpf("1e-9")
NEAR_FIRST, NEAR_SECOND = (ALMOST_0, FIRST_TAIL**4), (ALMOST_0, SECOND_TAIL**2)
FROM_FIRST = (mpf("1e-12") - FIRST_MIDDLE, 1 / (FIRST_TAIL + 1) - FIRST_MIDDLE)
FROM_SECOND = (mpf("1e-12") - SECOND_MIDDLE, 1 / (SECOND_TAIL + 1) - SECOND_MIDDLE)


def table(name, pair, interval, degree):
    function, weight = pair
    return Polynomial(name, function, interval, (degree, None), weight)


PARTS = "real", "imag"
TABLES = [
    Polynomial("BER", near_ber, NEAR_FIRST, (8, None), lambda q: q / abs(first(0, root(q)))),
    table("BEI", near_first(0, "imag", 2), NEAR_FIRST, 8),
    table("BERP", near_first(1, "real", 3), NEAR_FIRST, 8),
    table("BEIP", near_first(1, "imag", 1), NEAR_FIRST, 8),
    table("KER", near_second(0, "real", 0), NEAR_SECOND, 7),
    table("KEI", near_second(0, "imag", 0), NEAR_SECOND, 7),
    table("KERP", near_second(1, "real", 1), NEAR_SECOND, 7),
    table("KEIP", near_second(1, "imag", 1), NEAR_SECOND, 7),
    *(
        table(f"{name}_{part.upper()}_{order}", beyond(function, order, part, middle), interval, degree)
        for name, function, middle, interval, degree in (
            ("RISING", rising, FIRST_MIDDLE, FROM_FIRST, 15),
            ("FALLING", falling, SECOND_MIDDLE, FROM_SECOND, 22),
            ("SHORT", falling, FIRST_MIDDLE, FROM_FIRST, 7),
        )
        for order in (0, 1)
        for part in PARTS
    ),
]
