"""Polynomials in pieces: one chain, whose coefficients are chosen by the piece that contains the number."""

from __future__ import annotations

from collections.abc import Sequence

from numbagraph.intrinsics.emitters.formula import Number, fma


def chosen(x: Number, numbers: Sequence[float], beyond: Sequence[Number]) -> Number:
    """Return the first of the numbers, or the one of the last truth value that holds."""
    found = x.constant(numbers[0])
    for holds, number in zip(beyond, numbers[1:], strict=True):
        found = holds.where(number, found)
    return found


def piecewise(x: Number, table: dict[str, tuple[float, ...]], *beyond: Number) -> Number:
    """Return the value at ``x`` of the first polynomial of a `Piecewise` table, or of the last one whose truth value
    holds."""
    numbers = table["float64"]
    length = len(numbers) // (len(beyond) + 1)
    columns = [chosen(x, numbers[place::length], beyond) for place in range(length)]
    rest = x - columns[0]
    square = rest * rest
    return fma(chain(square, columns[2::2]), rest, chain(square, columns[1::2]))


def chain(x: Number, coefficients: Sequence[Number]) -> Number:
    total = coefficients[-1]
    for each in reversed(coefficients[:-1]):
        total = fma(total, x, each)
    return total
