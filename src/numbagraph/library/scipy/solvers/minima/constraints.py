"""Constraints of SciPy's minimisers: dictionaries and objects, as one function of equations and inequalities."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import LinearConstraint, NonlinearConstraint, OptimizeWarning

from numbagraph.api.jacobians import jacfwd
from numbagraph.blockwise.promotion import as_value
from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.library.scipy.arguments import known_number, refuse
from numbagraph.library.scipy.sides import Sides, known_sides
from numbagraph.tracing.tracer import to_value

Function = Callable[..., Any]


class Constraint(NamedTuple):
    """A function of a point that is zero, or not negative, with its Jacobian if it is given."""

    kind: str
    fun: Function
    jac: Function | None


class Constraints(NamedTuple):
    """Values of equations and then of inequalities, their Jacobian, and how many there are of both."""

    values: Function
    jacobian: Function
    equations: int
    inequalities: int


def constraints_of(given: Any, x: Any) -> Constraints:
    """Return the constraints of SciPy's argument ``constraints``."""
    found = [each for number, one in enumerate(listed(given)) for each in forms_of(number, one, x)]
    ordered = [each for kind in ("eq", "ineq") for each in found if each.kind == kind]

    def values(point: Any) -> Any:
        return np.concatenate([np.zeros(0), *(each.fun(point) for each in ordered)])

    def jacobian(point: Any) -> Any:
        rows = [jacfwd(each.fun)(point) if each.jac is None else each.jac(point) for each in ordered]
        return np.concatenate([np.zeros((0, len(point))), *rows])

    counts = [sum(length_of(each, x) for each in ordered if each.kind == kind) for kind in ("eq", "ineq")]
    return Constraints(values, jacobian, *counts)


def length_of(constraint: Constraint, x: Any) -> int:
    return known_number(constraint.fun(x).shape[0], "minimize with constraints")


def listed(given: Any) -> Sequence[Any]:
    if given is None:
        return ()
    return (given,) if isinstance(given, (dict, LinearConstraint, NonlinearConstraint)) else tuple(given)


def forms_of(number: int, given: Any, x: Any) -> list[Constraint]:
    if isinstance(given, (LinearConstraint, NonlinearConstraint)):
        return of_object(given, x)
    if not isinstance(given, dict):
        raise TypeError("Constraints must be defined using a dictionary.")
    if "type" not in given:
        raise KeyError(f"Constraint {number} has no type defined.")
    if not isinstance(given["type"], str):
        raise TypeError("Constraint's type must be a string.")
    kind = given["type"].lower()
    if kind not in ("eq", "ineq"):
        raise ValueError(f"Unknown constraint type '{given['type']}'.")
    if "fun" not in given:
        raise ValueError(f"Constraint {number} has no function defined.")
    args = given.get("args", ())
    fun, jac = given["fun"], given.get("jac")
    if jac is not None and not callable(jac):
        refuse("a constraint whose jac is no function", "leave jac out, which takes the exact Jacobian")
    rows = None if jac is None else lambda point: matrix_of(jac(point, *args))
    return [Constraint(kind, lambda point: vector_of(fun(point, *args)), rows)]


def vector_of(found: Any) -> Any:
    return np.asarray(found, dtype=np.float64).reshape(-1)


def matrix_of(found: Any) -> Any:
    return np.atleast_2d(np.asarray(found, dtype=np.float64))


def of_object(given: Any, x: Any) -> list[Constraint]:
    """Return an object of SciPy as equations and inequalities: both, if it has both."""
    warn_of_ignored(given)
    if isinstance(given, LinearConstraint):
        A = np.asarray(given.A, dtype=np.float64)
        fun, jac = lambda point: np.dot(A, point), lambda point: A
    else:
        fun = lambda point: vector_of(given.fun(point))  # noqa: E731
        jac = (lambda point: matrix_of(given.jac(point))) if callable(given.jac) else None
    sides = known_sides(given.lb, given.ub, known_number(fun(x).shape[0], "minimize with constraints"))
    if sides is None:
        return of_traced_sides(given, fun, jac)
    if sides.has_open:
        message = "At least one constraint is unbounded above and below. Such constraints are ignored."
        warnings.warn(message, OptimizeWarning, stacklevel=4)
    of_equal = Constraint("eq", lambda point: fun(point)[sides.equal] - sides.lower[sides.equal], None)
    of_bounds = Constraint("ineq", lambda point: between(fun(point), sides), None)
    if jac is not None:
        of_equal = of_equal._replace(jac=lambda point: jac(point)[sides.equal])
        of_bounds = of_bounds._replace(
            jac=lambda point: np.concatenate((jac(point)[sides.low], -jac(point)[sides.high]))
        )
    if len(sides.equal) == 0:
        return [of_bounds] if len(sides.low) + len(sides.high) else []
    if len(sides.low) + len(sides.high) == 0:
        return [of_equal]
    message = (
        "Equality and inequality constraints are specified in the same element of the constraint list. For efficient "
        "use with this method, equality and inequality constraints should be specified in separate elements of the "
        "constraint list. "
    )
    warnings.warn(message, OptimizeWarning, stacklevel=4)
    return [of_equal, of_bounds]


def between(values: Any, sides: Sides) -> Any:
    above = values[sides.low] - sides.lower[sides.low]
    return np.concatenate((above, sides.upper[sides.high] - values[sides.high]))


def of_traced_sides(given: Any, fun: Function, jac: Function | None) -> list[Constraint]:
    """Return a constraint whose sides are known when it runs: equations if both are the same value, else inequalities,
    of which those with an infinite side always hold."""
    lower, upper = given.lb, given.ub
    if as_value(to_value(lower)) is as_value(to_value(upper)):
        return [Constraint("eq", lambda point: fun(point) - lower, jac)]
    found = []
    for side, sign in ((lower, 1.0), (upper, -1.0)):
        if not is_traced(side) and np.all(np.isinf(side)):
            continue
        found.append(Constraint("ineq", lambda point, side=side, sign=sign: beyond(fun(point), side, sign), None))
    return found


def beyond(values: Any, side: Any, sign: float) -> Any:
    is_bound = np.isfinite(side)
    return np.where(is_bound, sign * (values - np.where(is_bound, side, 0.0)), 1.0)


def warn_of_ignored(given: Any) -> None:
    if isinstance(given, LinearConstraint):
        if np.any(given.keep_feasible):
            message = "Constraint option `keep_feasible` is ignored by this method."
            warnings.warn(message, OptimizeWarning, stacklevel=5)
    elif given.finite_diff_jac_sparsity is not None or given.finite_diff_rel_step is not None or given.keep_feasible:
        message = (
            "Constraint options `finite_diff_jac_sparsity`, `finite_diff_rel_step`, `keep_feasible`, and `hess`are "
            "ignored by this method."
        )
        warnings.warn(message, OptimizeWarning, stacklevel=5)
