"""Formulas that have no value at one place: quotients of functions that are both 0 there, and sums of infinities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numbagraph.ir.values import Value
from numbagraph.ops.arithmetic import absolute
from numbagraph.ops.comparison import equal, less
from numbagraph.ops.identity import differentiated_as
from numbagraph.ops.selection import where

NEAR = 0.05
"""The distance from 0 within which a series of 16 terms, whose coefficients do not grow, has all digits of a value."""

INSIDE = 0.5
"""A number inside of every domain that has an edge here: the value computed for it is not used."""


def power_series(x: Value, terms: Sequence[Value | float]) -> Value:
    """Return ``sum(terms[n] * x**n)``, of 16 terms where ``x`` is at most `NEAR`."""
    total: Value | float = terms[-1]
    for each in reversed(terms[:-1]):
        total = total * x + each
    assert isinstance(total, Value)
    return total


def near_zero(x: Value, terms: Sequence[Value | float], quotient: Callable[[Value], Value]) -> Value:
    """Return the series ``sum(terms[n] * x**n)`` where ``x`` is small, and elsewhere a quotient.

    The digits of the quotient cancel near 0, so it is only given numbers to divide by that are not small. All
    derivatives are those of the series, or of the quotient.
    """
    is_near = less(absolute(x), NEAR)
    return where(is_near, power_series(x, terms), quotient(where(is_near, 1.0, x)))


def at_edge(
    x: Value,
    edge: float,
    leading: Callable[[Value], Value],
    formula: Callable[[Value, Value], Value],
    function: Callable[[Value], Any],
    y: Value,
) -> Value:
    """Return a derivative that is infinite at the edge of a domain, as are those after it: the formula has infinities
    of both signs there. At the edge it is the leading term of its expansion; elsewhere ``formula(x, y)``, where ``y``
    is the value of ``function``."""
    return where_infinite(equal(x, edge), x, leading, formula, function, y)


def where_infinite(
    at: Value,
    x: Value,
    leading: Callable[[Value], Value],
    formula: Callable[[Value, Value], Value],
    function: Callable[[Value], Any],
    y: Value,
) -> Value:
    """Return the derivative that `at_edge` describes, for an edge that is given by a mask."""
    value = where(at, leading(x), formula(x, y))
    inside = where(at, INSIDE, x)
    return differentiated_as(value, where(at, leading(where(at, x, INSIDE)), formula(inside, function(inside))))
