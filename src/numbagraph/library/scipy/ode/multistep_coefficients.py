"""Coefficients of Adams' and the backward differentiation formulas, for histories in Nordsieck's form."""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial

import numpy as np

ADAMS, BACKWARD = 1, 2
MOST_ORDERS = {ADAMS: 12, BACKWARD: 5}
ROWS = MOST_ORDERS[ADAMS] + 1
"""The number of derivatives that a history has room for, with the state itself."""

STABLE = np.array([1.0, 0.5, 0.575, 0.55, 0.45, 0.35, 0.25, 0.20, 0.15, 0.10, 0.075, 0.050, 0.025])
"""How long steps of Adams' formulas may be beside the slope's Lipschitz constant, by order."""

Polynomial = list[Fraction]


def times_shifted(polynomial: Polynomial, shift: int) -> Polynomial:
    """Return a polynomial times ``x + shift``. Coefficients begin with the constant."""
    zero = Fraction(0)
    return [shift * low + high for low, high in zip([*polynomial, zero], [zero, *polynomial], strict=True)]


def integral(polynomial: Polynomial) -> Fraction:
    """Return the integral from -1 to 0."""
    return sum(
        (-each * Fraction(-1) ** (power + 1) / (power + 1) for power, each in enumerate(polynomial)), Fraction(0)
    )


def shifted_product(first: int, last: int) -> Polynomial:
    """Return ``(x + first) ... (x + last)``."""
    found = [Fraction(1)]
    for shift in range(first, last + 1):
        found = times_shifted(found, shift)
    return found


def corrections(method: int, order: int) -> Polynomial:
    """Return by how much of a correction each derivative changes: the coefficients of the generating polynomial."""
    if method == BACKWARD:
        product = shifted_product(1, order)
        return [each / product[1] for each in product]
    slope = shifted_product(1, order - 1)
    scale = factorial(order - 1)
    return [integral(slope) / scale, *(each / (power + 1) / scale for power, each in enumerate(slope))]


def error_of_adams(order: int) -> Fraction:
    return -integral([Fraction(0), *shifted_product(1, order - 1)]) / factorial(order)


def tests(method: int, order: int) -> tuple[Fraction, Fraction, Fraction]:
    """Return what errors are divided by, of the order below, of this one, and of the one above."""
    if method == BACKWARD:
        first = corrections(method, order)[0]
        return Fraction(1, factorial(order - 1)), (order + 1) / first, (order + 2) / first
    below = Fraction(0) if order == 1 else 1 / (error_of_adams(order - 1) * factorial(order))
    above = Fraction(0) if order == MOST_ORDERS[ADAMS] else 1 / error_of_adams(order + 1)
    return below, 1 / error_of_adams(order), above


def tables() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return corrections, tests, and the constants of errors, by method and order."""
    found = np.zeros((3, ROWS, ROWS)), np.zeros((3, ROWS, 3)), np.ones((3, ROWS))
    for method, most in MOST_ORDERS.items():
        for order in range(1, most + 1):
            row, test = corrections(method, order), tests(method, order)
            found[0][method, order, : order + 1] = [float(each) for each in row]
            found[1][method, order] = [float(each) for each in test]
            found[2][method, order] = float(test[1] * row[-1])
    return found


CORRECTIONS, TESTS, ERRORS = tables()
PASCAL = np.array([[comb(column, row) for column in range(ROWS)] for row in range(ROWS)], np.float64)
"""What takes a history to the next time."""
