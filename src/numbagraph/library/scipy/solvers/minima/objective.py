"""The function that is minimised, with its gradient, and the counts that SciPy keeps of both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.differentiation import grad, jvp, value_and_grad
from numbagraph.library.scipy.arguments import refuse
from numbagraph.library.scipy.solvers.minima import differences

Function = Callable[..., Any]

PRECISION = float(np.finfo(np.float64).eps)
SCHEMES = {"2-point": 1, "3-point": 2}


class Objective(NamedTuple):
    """A function of one vector: value, gradient, and both.

    ``calls`` is the number of values that a gradient by differences takes: none, or some for each variable."""

    value: Function
    gradient: Function
    both: Function
    exact: Function
    calls: int


class Evaluation(NamedTuple):
    """The last point at which the function was evaluated, and how often that was.

    Value and gradient are computed together. SciPy asks for them one by one, and counts what it asks for."""

    x: Any
    value: Any
    gradient: Any
    has_gradient: Any
    values: Any
    gradients: Any


def scalar(value: Any) -> Any:
    """Return a result of an objective as a number."""
    found = np.asarray(value, dtype=np.float64)
    if found.ndim > 0:
        if found.size != 1:
            raise ValueError("The user-provided objective function must return a scalar value.")
        return found.reshape(-1)[0]
    return np.float64(value)


def objective_of(
    fun: Function, args: tuple[Any, ...], jac: Any, step: Any = None, lower: Any = None, upper: Any = None
) -> Objective:
    """Return the objective of SciPy's arguments ``fun``, ``args`` and ``jac``."""
    if jac is True:
        return pair(fun, args)

    def value(x: Any) -> Any:
        return scalar(fun(x, *args))

    exact = grad(value)
    if callable(jac):

        def given(x: Any) -> Any:
            return np.atleast_1d(np.asarray(jac(x, *args), dtype=np.float64))

        return Objective(value, given, lambda x: (value(x), given(x)), given, 0)
    if jac == "cs":
        refuse("jac='cs'", "leave jac out, which takes the exact gradient")
    if jac in SCHEMES:

        def both(x: Any) -> Any:
            middle = value(x)
            return middle, differences.gradient(value, x, middle, jac, step, lower, upper)

        return Objective(value, lambda x: both(x)[1], both, exact, SCHEMES[jac])
    return Objective(value, exact, value_and_grad(value), exact, 0)


def pair(fun: Function, args: tuple[Any, ...]) -> Objective:
    """The objective of a function that returns its gradient, too."""

    def both(x: Any) -> Any:
        value, gradient = fun(x, *args)
        return scalar(value), np.atleast_1d(np.asarray(gradient, dtype=np.float64))

    def gradient(x: Any) -> Any:
        return both(x)[1]

    return Objective(lambda x: both(x)[0], gradient, both, gradient, 0)


def first(objective: Objective, x: Any) -> Evaluation:
    value, gradient = objective.both(x)
    values, gradients = np.int64(1) + np.int64(objective.calls) * len(x), np.int64(1)
    return Evaluation(x, value, gradient, np.bool_(True), values, gradients)


def evaluated(objective: Objective, x: Any, last: Evaluation) -> Evaluation:
    """Evaluate at a point. A point that is asked twice in a row counts once."""
    value, gradient = objective.both(x)
    is_same = np.all(x == last.x)
    values = last.values + np.where(is_same, 0, 1)
    return Evaluation(x, value, gradient, last.has_gradient & is_same, values, last.gradients)


def asked(objective: Objective, last: Evaluation, is_asked: Any) -> Evaluation:
    """Count the gradient of the last point if it is asked, and was not before."""
    count = np.where(is_asked & ~last.has_gradient, 1, 0)
    values = last.values + count * (objective.calls * len(last.x))
    return last._replace(
        has_gradient=last.has_gradient | is_asked, values=values, gradients=last.gradients + count
    )  # fmt: skip


def size_of(x: Any, order: Any) -> Any:
    """The norm of a vector."""
    if order == np.inf:
        return np.max(np.abs(x))
    if order == -np.inf:
        return np.min(np.abs(x))
    return np.sum(np.abs(x) ** order) ** (1.0 / order)


def product_of(objective: Objective, hessp: Function | None, args: tuple[Any, ...]) -> Function:
    """Return the product of the Hessian at a point with a vector: the given one, or the exact one."""
    if callable(hessp):
        return lambda x, p: np.asarray(hessp(x, p, *args), dtype=np.float64)
    return lambda x, p: jvp(objective.exact, (x,), (p,))[1]
