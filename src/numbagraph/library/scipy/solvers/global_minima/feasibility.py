"""How much points of a population violate SciPy's constraints, and which of two points is the better one then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

Function = Callable[..., Any]


class Standing(NamedTuple):
    """The value of a point, infinite if it is not allowed, whether it is, and how much each constraint is exceeded.

    Of a population these are arrays, with a row for each member."""

    value: Any
    is_allowed: Any
    excess: Any


def listed(constraints: Any) -> Sequence[Any]:
    return tuple(constraints) if hasattr(constraints, "__len__") else (constraints,)


def excesses(constraints: Sequence[Any]) -> Function:
    """Return the function that gives for each constraint by how much a point exceeds it."""
    functions = [(function_of(each), each.lb, each.ub) for each in constraints]

    def all_excesses(x: Any) -> list[Any]:
        found = []
        for function, lower, upper in functions:
            value = function(x)
            found.append(np.maximum(lower - value, 0.0) + np.maximum(value - upper, 0.0))
        return found

    return all_excesses


def function_of(constraint: Any) -> Function:
    if isinstance(constraint, NonlinearConstraint):
        return lambda x: np.atleast_1d(np.asarray(constraint.fun(x), dtype=np.float64))
    if isinstance(constraint, LinearConstraint):
        matrix = np.atleast_2d(np.asarray(constraint.A, dtype=np.float64))
        return lambda x: np.dot(matrix, x)
    if isinstance(constraint, Bounds):
        return lambda x: x
    raise ValueError("`constraint` of an unknown type is passed.")


def is_better(new: Standing, old: Standing) -> Any:
    """Return whether a point takes the place of another: allowed ones by their values, others by all excesses."""
    is_lower = new.value <= old.value
    is_nearer = np.all(new.excess <= old.excess, axis=-1)
    return np.where(new.is_allowed, ~old.is_allowed | is_lower, is_nearer)


def best_of(population: Standing) -> Any:
    """Return the place of the best member: the lowest that is allowed, or the one that exceeds constraints least."""
    lowest = np.argmin(np.where(population.is_allowed, population.value, np.inf))
    first = np.argmax(population.is_allowed)  # all values may be infinite
    is_lowest = population.is_allowed[lowest]
    nearest = np.argmin(np.sum(population.excess, axis=1))
    return np.where(np.any(population.is_allowed), np.where(is_lowest, lowest, first), nearest)
