"""`scipy.integrate.odeint`: the steps of ODEPACK's LSODA."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import ODEintWarning

from numbagraph.library.scipy.arguments import double, known_number
from numbagraph.library.scipy.ode.multistep_coefficients import MOST_ORDERS
from numbagraph.library.scipy.ode.multistep_state import Equations
from numbagraph.library.scipy.ode.output_times import Limits, outputs
from numbagraph.library.scipy.solvers.ode.given_jacobians import jacobian_of
from numbagraph.tracing.trace import as_traced

ADAMS, BACKWARD = 1, 2
TOLERANCE = 1.49012e-8
MOST_STEPS = 500
MESSAGES = {
    2: "Integration successful.",
    1: "Nothing was done; the integration time was 0.",
    -1: "Excess work done on this call (perhaps wrong Dfun type).",
    -2: "Excess accuracy requested (tolerances too small).",
    -3: "Illegal input detected (internal error).",
    -4: "Repeated error test failures (internal error).",
    -5: "Repeated convergence failures (perhaps bad Jacobian or tolerances).",
    -6: "Error weight became zero during problem.",
}
FOR_MORE = "Run with full_output = 1 to get quantitative information."
NOT_MONOTONIC = (
    "The values in t must be monotonically increasing or monotonically decreasing; repeated values are allowed."
)
WRONG_TOLERANCE = "Tolerances must be an array of the same length as the\n     number of equations or a scalar."


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    args: Any = (),
    Dfun: Any = None,
    col_deriv: Any = 0,
    full_output: Any = 0,
    ml: Any = None,
    mu: Any = None,
    rtol: Any = None,
    atol: Any = None,
    tcrit: Any = None,
    h0: Any = 0.0,
    hmax: Any = 0.0,
    hmin: Any = 0.0,
    ixpr: Any = 0,  # noqa: ARG001
    mxstep: Any = 0,
    mxhnil: Any = 0,  # noqa: ARG001
    mxordn: Any = 12,
    mxords: Any = 5,
    printmessg: Any = 0,
    tfirst: bool = False,
) -> Any:
    """`scipy.integrate.odeint`."""
    y, times = double(y0), double(t)
    if y.ndim > 1:
        raise ValueError("Initial condition y0 must be one-dimensional.")
    if times.ndim > 1:
        raise ValueError("Output times t must be one-dimensional.")
    y, times = np.atleast_1d(y), np.atleast_1d(times)
    count = known_number(y.shape[0], "scipy.integrate.odeint")
    if count == 0:
        raise ValueError("Initial condition y0 must have one element or more.")
    steps = np.diff(times)
    if not (np.all(steps >= 0) or np.all(steps <= 0)):
        raise ValueError(NOT_MONOTONIC)
    rtol, atol = tolerance(rtol, count), tolerance(atol, count)
    below, above = width(ml), width(mu)
    is_banded = below >= 0 or above >= 0
    below, above = max(below, 0), max(above, 0)
    slope = slope_of(func, args, count, tfirst)
    bands = (below, above) if is_banded else None
    given = None if Dfun is None else in_order(Dfun, args, tfirst)
    jacobian = jacobian_of(given, slope, count, bands, bool(col_deriv))
    is_legal = np.all(rtol >= 0) & np.all(atol >= 0) & (hmax >= 0) & (hmin >= 0) & (mxstep >= 0)
    is_legal = is_legal & (not is_banded or (below < count and above < count))
    equations = Equations(
        slope, jacobian, rtol, atol, np.float64(hmin), np.where(hmax > 0, 1.0 / np.where(hmax > 0, hmax, 1.0), 0.0),
        most_order(mxordn, ADAMS), most_order(mxords, BACKWARD),
    )  # fmt: skip
    most_steps = np.where(np.int64(mxstep) == 0, MOST_STEPS, np.int64(mxstep))
    critical = None if tcrit is None else np.atleast_1d(double(tcrit))
    values, status, worst, accounts = outputs(
        equations, y, times, Limits(np.float64(h0), most_steps, critical, is_legal)
    )
    for number, text in MESSAGES.items():
        if status == number and number < 0:
            warnings.warn(f"{text} {FOR_MORE}", ODEintWarning, stacklevel=2)
        elif status == number and printmessg:
            warnings.warn(text, ODEintWarning, stacklevel=2)
    if not full_output:
        return values
    return values, information(accounts, worst, message_of(status), count, bands, mxordn, mxords)


def tolerance(given: Any, count: Any) -> Any:
    if given is None:
        return np.float64(TOLERANCE)
    found = double(given)
    if found.ndim and found.shape[0] != count:
        raise ValueError(WRONG_TOLERANCE)
    return found


def width(given: Any) -> int:
    """How many diagonals are given on a side; negative where none are."""
    return -1 if given is None else int(given)


def most_order(given: Any, method: int) -> Any:
    most = MOST_ORDERS[method]
    number = np.int64(given)
    return np.where((number <= 0) | (number > most), most, number)


def slope_of(func: Callable[..., Any], args: tuple[Any, ...], count: Any, tfirst: bool) -> Callable[[Any, Any], Any]:
    """Return the right-hand side as a function of time and state."""
    ordered = in_order(func, args, tfirst)

    def slope(t: Any, y: Any) -> Any:
        found = double(ordered(t, y))
        if found.ndim > 1:
            raise RuntimeError(f"The array returned by func must be one-dimensional, but got ndim={found.ndim}.")
        found = np.atleast_1d(found)
        if found.shape[0] != count:
            raise RuntimeError(
                f"The size of the array returned by func ({found.shape[0]}) does not match the size of y0 ({count})."
            )
        return found

    return slope


def in_order(func: Callable[..., Any], args: tuple[Any, ...], tfirst: bool) -> Callable[[Any, Any], Any]:
    """Return a function of the user as one of time and state."""
    traced = as_traced(func)
    return lambda t, y: traced(t, y, *args) if tfirst else traced(y, t, *args)


def message_of(status: Any) -> Any:
    message = MESSAGES[2]
    for number, text in MESSAGES.items():
        if status == number:
            message = text
    return message


def information(accounts: Any, worst: Any, message: Any, count: Any, bands: Any, mxordn: Any, mxords: Any) -> Any:
    """Return SciPy's dict."""
    below, above = (0, 0) if bands is None else bands
    matrix = count * count + 2 if bands is None else (2 * below + above + 1) * count + 2
    most = most_order(mxordn, ADAMS), most_order(mxords, BACKWARD)
    length = np.fmax(20 + (most[0] + 1) * count, 20 + (most[1] + 1) * count + matrix) + 3 * count
    return {
        "hu": accounts.hu, "tcur": accounts.tcur, "tolsf": accounts.tolsf, "tsw": accounts.tsw,
        "nst": accounts.nst.astype(np.int32), "nfe": accounts.nfe.astype(np.int32),
        "nje": accounts.nje.astype(np.int32), "nqu": accounts.nqu.astype(np.int32), "imxer": int(worst),
        "lenrw": int(length), "leniw": int(20 + count), "mused": accounts.mused.astype(np.int32), "message": message,
    }  # fmt: skip
