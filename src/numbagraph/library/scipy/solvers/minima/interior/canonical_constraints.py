"""Constraints of SciPy's method ``trust-constr``: as they are given, and as equations and inequalities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import LinearConstraint, NonlinearConstraint
from scipy.optimize._hessian_update_strategy import HessianUpdateStrategy
from scipy.sparse import issparse

from numbagraph.api.differentiation import grad
from numbagraph.api.jacobians import jacfwd
from numbagraph.blockwise.promotion import as_value
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.arguments import known_number
from numbagraph.library.scipy.canonical_rows import (
    Sides,
    is_strict,
    known_sides,
    rows_of,
    sides_of,
    sides_of_bounds,
    stacked_sides,
)
from numbagraph.library.scipy.solvers.minima.constraints import listed, matrix_of, vector_of
from numbagraph.library.scipy.solvers.minima.interior.curvature import Rule, rule_of
from numbagraph.tracing.tracer import to_value

Function = Callable[..., Any]


class Group(NamedTuple):
    """One constraint as given: values, their Jacobian, the Hessian of their sum with multipliers or a rule by which it
    is learned, or neither where they are linear, and what bounds them."""

    values: Function
    jacobian: Function
    hessian: Function | None
    rule: Rule | None
    size: int
    sides: Sides
    is_counted: bool
    counts_hessian: bool = False


class Canonical(NamedTuple):
    """All groups as equations ``values[equal] = lower`` and inequalities ``signs * (values[rows] - sides) <= 0``.

    Inequalities with an infinite side, which could not be known, are masked by ``is_bound``."""

    groups: tuple[Group, ...]
    equal: np.ndarray
    rows: np.ndarray
    signs: np.ndarray
    keep: np.ndarray
    lower: Any
    upper: Any
    sides: Any
    is_bound: Any


def canonical_of(given: Any, bounds: Group | None, x: Any, n: int) -> Canonical:
    """Return SciPy's argument ``constraints``, and bounds, as equations and inequalities."""
    groups = [group_of(number, one, x, n) for number, one in enumerate(listed(given))]
    groups += [] if bounds is None else [bounds]
    for group in groups:
        require_feasible(group, x)
    rows = rows_of([each.sides for each in groups])
    lower, upper = stacked_sides([each.sides for each in groups])
    if not (is_traced(lower) or is_traced(upper)):
        sides, is_bound = known_sides(rows, lower, upper), None
    else:
        sides = np.where(rows.signs > 0, upper[rows.rows], lower[rows.rows])
        is_bound = np.isfinite(sides)
        sides = np.where(is_bound, sides, 0.0)
    return Canonical(tuple(groups), rows.equal, rows.rows, rows.signs, rows.keep, lower, upper, sides, is_bound)


def values_of(canonical: Canonical, x: Any) -> Any:
    return np.concatenate([np.zeros(0), *(each.values(x) for each in canonical.groups)])


def jacobian_of(canonical: Canonical, x: Any, n: int) -> Any:
    return np.concatenate([np.zeros((0, n)), *(each.jacobian(x) for each in canonical.groups)])


def equations(canonical: Canonical, values: Any) -> Any:
    return values[canonical.equal] - canonical.lower[canonical.equal]


def inequalities(canonical: Canonical, values: Any) -> Any:
    found = canonical.signs * (values[canonical.rows] - canonical.sides)
    return found if canonical.is_bound is None else np.where(canonical.is_bound, found, -1.0)


def normals(canonical: Canonical, jacobian: Any) -> tuple[Any, Any]:
    """Return the Jacobians of equations and inequalities."""
    found = canonical.signs[:, None] * jacobian[canonical.rows]
    if canonical.is_bound is not None:
        found = np.where(canonical.is_bound[:, None], found, 0.0)
    return jacobian[canonical.equal], found


def multipliers_of(canonical: Canonical, of_equations: Any, of_inequalities: Any) -> Any:
    """Return multipliers of values: those of upper sides count positive, those of lower sides negative."""
    size = sum(each.size for each in canonical.groups)
    spread, signed = np.eye(size)[canonical.equal], canonical.signs[:, None] * np.eye(size)[canonical.rows]
    if canonical.is_bound is not None:
        of_inequalities = np.where(canonical.is_bound, of_inequalities, 0.0)
    return np.dot(of_equations, spread) + np.dot(of_inequalities, signed)


def parts(canonical: Canonical, stacked: Any) -> list[Any]:
    """Return the rows of each group."""
    found, start = [], 0
    for each in canonical.groups:
        found.append(stacked[start : start + each.size])
        start += each.size
    return found


def group_of(number: int, given: Any, x: Any, n: int) -> Group:
    if isinstance(given, LinearConstraint):
        matrix: Any = given.A
        A = matrix.toarray() if issparse(matrix) else np.asarray(matrix, dtype=np.float64)
        return with_sides(given, lambda point: np.dot(A, point), lambda point: A, None, None, A.shape[0], False)
    return of_function(given if isinstance(given, NonlinearConstraint) else of_dictionary(number, given), x, n)


def of_function(given: Any, x: Any, n: int) -> Group:
    """Return a constraint of a function. A Jacobian that is not given is exact, and so is a Hessian for which
    differences are asked."""

    def values(point: Any) -> Any:
        return vector_of(given.fun(point))

    exact = jacfwd(values)
    jacobian = (lambda point: matrix_of(given.jac(point))) if callable(given.jac) else exact
    size = known_number(values(x).shape[0], "minimize with constraints")
    if isinstance(given.hess, HessianUpdateStrategy):
        return with_sides(given, values, jacobian, None, rule_of(given.hess, n), size, True)
    if callable(given.hess):
        hessian = lambda point, v: matrix_of(given.hess(point, v))  # noqa: E731
    else:
        hessian = lambda point, v: jacfwd(grad(lambda at: np.dot(v, values(at))))(point)  # noqa: E731
    found = with_sides(given, values, jacobian, hessian, None, size, True)
    return found._replace(counts_hessian=callable(given.hess))


def with_sides(
    given: Any, values: Function, jacobian: Function, hessian: Any, rule: Any, size: int, is_counted: bool
) -> Group:
    lower, upper = (np.zeros(size) + each if is_traced(each) else each for each in (given.lb, given.ub))
    if is_traced(given.lb) and is_traced(given.ub) and as_value(to_value(given.lb)) is as_value(to_value(given.ub)):
        upper = lower
    return Group(values, jacobian, hessian, rule, size, sides_of(lower, upper, given.keep_feasible, size), is_counted)


def of_dictionary(number: int, given: Any) -> Any:
    """Return a dictionary as an object."""
    if not isinstance(given, dict):
        raise TypeError("Constraints must be a sequence of dictionaries.")
    if "type" not in given:
        raise KeyError(f"Constraint {number} has no type defined.")
    if not isinstance(given["type"], str):
        raise TypeError("Constraint's type must be a string.")
    kind = given["type"].lower()
    if kind not in ("eq", "ineq"):
        raise ValueError(f"Unknown constraint type '{given['type']}'.")
    if "fun" not in given:
        raise ValueError(f"Constraint {number} has no function defined.")
    args, fun, jac = given.get("args", ()), given["fun"], given.get("jac")
    slopes: Any = (lambda x: jac(x, *args)) if callable(jac) else "2-point"
    return NonlinearConstraint(lambda x: fun(x, *args), 0.0, 0.0 if kind == "eq" else np.inf, slopes)


def of_bounds(bounds: Any, lower: Any, upper: Any, n: int) -> Group:
    """Return bounds as a constraint."""
    sides = sides_of_bounds(bounds, lower, upper, n)
    return Group(lambda x: x, lambda x: np.eye(n), None, None, n, sides, False)


def require_feasible(group: Group, x: Any) -> None:
    sides = group.sides
    if not is_strict(sides):
        return
    values = group.values(x)
    is_beyond = (values < sides.lower.values) | (values > sides.upper.values)
    if np.any(is_beyond & sides.keep & ~sides.is_equal):
        raise ValueError(
            "`x0` is infeasible with respect to some inequality constraint with `keep_feasible` set to True."
        )


def strict_bounds(bounds: Group | None) -> tuple[Any, Any] | None:
    """Return the bounds of the variables beyond which nothing may be evaluated, if there may be any."""
    if bounds is None or not is_strict(bounds.sides):
        return None
    keep, sides = bounds.sides.keep, bounds.sides
    return np.where(keep, sides.lower.values, -np.inf), np.where(keep, sides.upper.values, np.inf)
