"""Polynomials of the least greatest error (Remez' algorithm), and constants in parts, for `coefficients.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import mpmath
import numpy as np
from mpmath import mp, mpf

mp.dps = 50
GRID = 20
"""Points an extremum of the error is looked for on."""
ROUNDS = 12

Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Polynomial:
    """A table: the coefficients, from the lowest, of a polynomial close to ``function`` on an interval.

    The greatest error times ``weight`` is as small as the degree allows. Degrees, and intervals that differ between the
    dtypes, are pairs, for float64 and float32; without a degree there is no table for the dtype.
    """

    name: str
    function: Function
    interval: tuple[Any, Any]
    degree: tuple[int | None, int | None]
    weight: Function = lambda x: mpf(1)
    first: int = 2
    """How many of the lowest coefficients are rounded one by one, the higher ones making up for it."""

    def numbers(self, dtype: str) -> list[float]:
        degree, function, weight, found = pick(self.degree, dtype), self.function, self.weight, []
        if degree is None:
            return []
        differs = isinstance(self.interval[0], tuple)
        low, high = (mpf(each) for each in (pick(self.interval, dtype) if differs else self.interval))
        for _ in range(min(self.first, degree)):
            lowest = rounded(minimax(function, low, high, degree, weight)[0], dtype)
            found.append(lowest)
            function, weight = without(function, lowest), times_size(weight)
            degree -= 1
        return found + [rounded(each, dtype) for each in minimax(function, low, high, degree, weight)]


@dataclass(frozen=True)
class WithLogarithm:
    """A table: the coefficients of two polynomials of one degree, P and then Q. ``P(x) - log(x) * Q(x)`` is close to
    ``function`` from 0 to 1. There is none for float32.
    """

    name: str
    function: Function
    degree: int
    weight: Function

    def numbers(self, dtype: str) -> list[float]:
        if dtype == "float32":
            return []
        grid = grid_of(2 * self.degree + 3)
        places = [((1 + t) / 2) ** 2 for t in grid]  # denser at 0
        powers = [[x**k for x in places] for k in range(self.degree + 1)]
        columns = powers + [[-mpmath.log(x) * each for x, each in zip(places, row, strict=True)] for row in powers]
        values, weights = [self.function(x) for x in places], [self.weight(x) for x in places]

        def sums(found: list[Any]) -> list[Any]:
            return [mpmath.fdot(found, row) for row in zip(*columns, strict=True)]

        found = least_greatest(grid, columns, values, weights, sums)
        return [rounded(each, dtype) for each in found]


class Piece(NamedTuple):
    """What is close to ``function`` on an interval: a polynomial whose greatest error times ``weight`` is least."""

    function: Function
    interval: tuple[Any, Any]
    degree: int
    weight: Function | None = None
    """None for the greatest error beside the function."""


@dataclass(frozen=True)
class Piecewise:
    """A table: of each piece, the middle of its interval, and the coefficients of a polynomial of what a number differs
    from that by. Rows are filled up with zeros. There is none for float32.
    """

    name: str
    pieces: tuple[Piece, ...]

    def numbers(self, dtype: str) -> list[float]:
        if dtype == "float32":
            return []
        longest = max(each.degree for each in self.pieces)
        rows = [[*self.row(each), *[0.0] * (longest - each.degree)] for each in self.pieces]
        return [number for row in rows for number in row]

    def row(self, piece: Piece) -> list[float]:
        low, high = map(mpf, piece.interval)
        middle = float((low + high) / 2)
        function = cache(lambda rest: piece.function(middle + rest))
        weight = cache(
            (lambda rest: 1 / function(rest)) if piece.weight is None else (lambda rest: piece.weight(middle + rest))
        )
        of_rest = Polynomial(self.name, function, (low - middle, high - middle), (piece.degree, None), weight)
        return [middle, *of_rest.numbers("float64")]


@dataclass(frozen=True)
class Parts:
    """A table: a constant as a sum of numbers, each with so many bits."""

    name: str
    value: Callable[[], Any]
    bits: tuple[tuple[int, ...], tuple[int, ...]]

    def numbers(self, dtype: str) -> list[float]:
        rest, found = self.value(), []
        for bits in pick(self.bits, dtype):
            found.append(shortened(rest, bits))
            rest -= found[-1]
        return found


def pick(pair: tuple[Any, Any], dtype: str) -> Any:
    """What stands for a dtype in a pair."""
    return pair[dtype == "float32"]


def rounded(number: Any, dtype: str) -> float:
    """The nearest number of the dtype."""
    return float(number) if dtype == "float64" else float(np.float32(float(number)))


def shortened(number: Any, bits: int) -> float:
    """The nearest number with so many bits."""
    _, exponent = mpmath.frexp(number)
    unit = mpf(2) ** (exponent - bits)
    return float(mpmath.nint(number / unit) * unit)


def without(function: Function, lowest: float) -> Function:
    """What is left to approximate when the lowest coefficient is settled."""
    return lambda x: (function(x) - lowest) / x


def times_size(weight: Function) -> Function:
    return lambda x: weight(x) * abs(x)


def minimax(function: Function, low: Any, high: Any, degree: int, weight: Function) -> list[Any]:
    """The coefficients, from the lowest, of the polynomial whose greatest weighted error on the interval is least."""
    middle, half = (low + high) / 2, (high - low) / 2
    grid = grid_of(degree + 2)
    columns = [[t**k for t in grid] for k in range(degree + 1)]
    values = [function(middle + half * t) for t in grid]
    weights = [weight(middle + half * t) for t in grid]

    def sums(found: list[Any]) -> list[Any]:
        return [mpmath.polyval(found[::-1], t) for t in grid]

    scaled = least_greatest(grid, columns, values, weights, sums)
    return shifted(scaled, middle, half)


def grid_of(count: int) -> list[Any]:
    """Points from -1 to 1 on which ``count`` extrema of an error are looked for."""
    return [mpmath.cos(mpmath.pi * (2 * i + 1) / (2 * GRID * count)) for i in reversed(range(GRID * count))]


def least_greatest(
    grid: list[Any], columns: list[list[Any]], values: list[Any], weights: list[Any], sums: Function
) -> list[Any]:
    """The coefficients of the sum of columns whose greatest weighted error on the grid is least: Remez' algorithm.

    ``sums`` has the sum at each point of the grid.
    """
    count = len(columns) + 1
    places = [min(range(len(grid)), key=lambda i: abs(grid[i] - wanted)) for wanted in extrema(count)]
    found: list[Any] = []
    for _ in range(ROUNDS):
        rows = [[*(each[i] for each in columns), (-1) ** n / weights[i]] for n, i in enumerate(places)]
        found = list(mpmath.lu_solve(mpmath.matrix(rows), mpmath.matrix([values[i] for i in places])))[:-1]
        errors = [w * (v - each) for v, w, each in zip(values, weights, sums(found), strict=True)]
        following = alternation(errors, count)
        if following is None or following == places:
            break
        places = following
    return found


def extrema(count: int) -> list[Any]:
    """Those of a Chebyshev polynomial."""
    return [-mpmath.cos(mpmath.pi * n / (count - 1)) for n in range(count)]


def alternation(errors: list[Any], count: int) -> list[int] | None:
    """The places of the extrema of an error that changes its sign ``count - 1`` times; None if it does not."""
    places: list[int] = []
    for place, error in enumerate(errors):
        if places and (error > 0) == (errors[places[-1]] > 0):
            if abs(error) > abs(errors[places[-1]]):
                places[-1] = place
        else:
            places.append(place)
    while len(places) > count:
        places.pop(0 if abs(errors[places[0]]) < abs(errors[places[-1]]) else -1)
    return places if len(places) == count else None


def shifted(scaled: list[Any], middle: Any, half: Any) -> list[Any]:
    """The coefficients of powers of ``x`` from those of powers of ``(x - middle) / half``."""
    total = [mpf(0)] * len(scaled)
    for coefficient in reversed(scaled):
        # total = total * (x - middle) / half + coefficient
        total = [(below - middle * each) / half for below, each in zip([mpf(0), *total], total, strict=False)]
        total[0] += coefficient
    return total
