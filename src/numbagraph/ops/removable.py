"""Quotients of functions that are both 0 at one place, where they have a power series."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numbagraph.ir.values import Value
from numbagraph.ops.arithmetic import absolute
from numbagraph.ops.comparison import less
from numbagraph.ops.selection import where

NEAR = 0.05
"""How far from 0 a series of 16 terms, whose coefficients do not grow, has all digits of a value."""


def power_series(x: Value, terms: Sequence[Value | float]) -> Value:
    """``sum(terms[n] * x**n)``, of 16 terms where ``x`` is at most `NEAR`."""
    total: Value | float = terms[-1]
    for each in reversed(terms[:-1]):
        total = total * x + each
    assert isinstance(total, Value)
    return total


def near_zero(x: Value, terms: Sequence[Value | float], quotient: Callable[[Value], Value]) -> Value:
    """The series ``sum(terms[n] * x**n)`` where ``x`` is small, and elsewhere a quotient, whose digits cancel there.

    All derivatives are those of the series, or of the quotient: that is given numbers to divide by that are not small.
    """
    is_near = less(absolute(x), NEAR)
    return where(is_near, power_series(x, terms), quotient(where(is_near, 1.0, x)))
