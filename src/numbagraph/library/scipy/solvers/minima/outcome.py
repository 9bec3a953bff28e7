"""Results of minimisers: messages, what is printed or warned of, and derivatives at the minimum."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, OptimizeWarning

from numbagraph.library.scipy.arguments import differentiated_number
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solution import solved
from numbagraph.library.scipy.solvers.minima.objective import Objective

SUCCESS = "Optimization terminated successfully."
CALLS = "Maximum number of function evaluations has been exceeded."
ITERATIONS = "Maximum number of iterations has been exceeded."
PRECISION_LOSS = "Desired error not necessarily achieved due to precision loss."
NOT_A_NUMBER = "NaN result encountered."
OUT_OF_BOUNDS = "The result is outside of the provided bounds."


def minimum(
    objective: Objective, x: Any, success: Any, lower: Any = None, upper: Any = None, reach: Any = 0.0
) -> Any:  # fmt: skip
    """Return a minimiser with the derivatives that follow from the gradient, which is zero there.

    Variables within ``reach`` of a bound that holds them move with it."""
    if lower is None:
        return solved(objective.exact, x, success)
    slopes = objective.exact(x)
    is_low = (x <= lower + reach) & ((slopes > 0) | (lower == upper))
    is_high = (x >= upper - reach) & (slopes < 0)

    def equation(point: Any) -> Any:
        return np.where(is_low, point - lower, np.where(is_high, point - upper, objective.exact(point)))

    return solved(equation, x, success)


def with_minimum(objective: Objective, x: Any, value: Any, **fields: Any) -> Any:
    """Return a result. Its value is differentiated as the function at the minimiser.

    The attribute ``nit`` comes last, as it does in SciPy."""
    iterations = fields.pop("nit")
    value = differentiated_number(value, objective.value(x))
    return result_of(OptimizeResult, fun=value, **fields, x=x, nit=iterations)


def ended(objective: Objective, state: Any, size: Any, maxiter: Any, disp: Any, **fields: Any) -> Any:
    """Return the result of a method that stops where the norm of the gradient is small."""
    is_nan = np.isnan(size) | np.isnan(state.value) | np.any(np.isnan(state.x))
    status = np.where(state.status == 2, 2, np.where(state.iterations >= maxiter, 1, np.where(is_nan, 3, 0)))
    messages = SUCCESS, ITERATIONS, PRECISION_LOSS, NOT_A_NUMBER
    message = message_of(status, *messages)
    lines = {
        "Current function value": state.value, "Iterations": state.iterations,
        "Function evaluations": state.last.values, "Gradient evaluations": state.last.gradients,
    }  # fmt: skip
    report(disp, status, messages, lines)
    success = status == 0
    return with_minimum(
        objective, minimum(objective, state.x, success), state.value, jac=state.gradient, **fields,
        nfev=state.last.values, njev=state.last.gradients, status=status, success=success, message=message,
        nit=state.iterations,
    )  # fmt: skip


def message_of(status: Any, *messages: str) -> Any:
    """Return the message of a status."""
    found = messages[0]
    for number, message in enumerate(messages):
        if status == number:
            found = message
    return found


def report(
    disp: Any, status: Any, messages: tuple[str, ...], lines: dict[str, Any], kind: type[Warning] = OptimizeWarning
) -> None:
    """Print the end of a search, or warn of it, if asked."""
    if not disp:
        return
    for number, message in enumerate(messages):
        if status == number:
            if number == 0:
                print(message)  # noqa: T201
            else:
                warnings.warn(message, kind, stacklevel=2)
    for text, count in lines.items():
        if text == "Current function value":
            print(f"         {text}: {count:f}")  # noqa: T201
        else:
            print(f"         {text}: {count:d}")  # noqa: T201
