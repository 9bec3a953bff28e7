"""Initial value problems of ordinary differential equations, solved by SciPy's steps."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import BDF, DOP853, LSODA, RK23, RK45, Radau
from scipy.integrate._ivp.ivp import METHODS as KNOWN
from scipy.integrate._ivp.ivp import OdeResult

from numbagraph.ir.structs import replace
from numbagraph.library.scipy.arguments import array, inexact, known_number, refuse
from numbagraph.library.scipy.ode.bdf import bdf
from numbagraph.library.scipy.ode.explicit import explicit
from numbagraph.library.scipy.ode.lsoda_method import lsoda
from numbagraph.library.scipy.ode.methods import Method
from numbagraph.library.scipy.ode.problems import problem_of, slope_of, solution_of
from numbagraph.library.scipy.ode.radau import radau
from numbagraph.library.scipy.ode.simplified_newton import jacobian_of
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solvers.ode.events import watch_of
from numbagraph.library.scipy.solvers.ode.given_jacobians import jacobian_of as banded_jacobian_of
from numbagraph.tracing.trace import as_traced

EXPLICIT = {"RK23": RK23, "RK45": RK45, "DOP853": DOP853}
IMPLICIT = {"Radau": (Radau, radau), "BDF": (BDF, bdf)}
METHODS = EXPLICIT | {name: kind for name, (kind, _) in IMPLICIT.items()} | {"LSODA": LSODA}
OPTIONS = {LSODA: ("jac", "lband", "uband", "min_step")} | dict.fromkeys((Radau, BDF), ("jac", "jac_sparsity"))
"""The arguments of methods that the explicit ones do not have."""
REACHED = "The solver successfully reached the end of the integration interval."
TOO_SHORT = "Required step size is less than spacing between numbers."
EVENT = "A termination event occurred."
FAILED = "Unexpected istate in LSODA."
EPS = 2.220446049250313e-16
REAL_ALONE = "`y0` is complex, but the chosen solver does not support integration in a complex domain."
WITHOUT_EFFECT = "The following arguments have no effect for a chosen solver: "


def solve_ivp(
    fun: Callable[..., Any],
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    vectorized: bool = False,
    args: Any = None,
    *,
    first_step: Any = None,
    max_step: Any = np.inf,
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    **extraneous: Any,
) -> Any:
    """`scipy.integrate.solve_ivp`."""
    chosen = method_of(method)
    start, end = t_span
    t0, t_end = np.float64(start), np.float64(end)
    parameters = unpacked(args)
    others = [each for each in extraneous if each not in OPTIONS.get(chosen, ())]
    if others:
        warnings.warn(WITHOUT_EFFECT + ", ".join(f"`{each}`" for each in others) + ".", stacklevel=2)
    times = None if t_eval is None else checked_times(t_eval, t0, t_end)
    y = state_of(y0)
    if chosen in (Radau, LSODA) and y.dtype.kind == "c":
        raise ValueError(REAL_ALONE)
    if max_step <= 0:
        raise ValueError("`max_step` must be positive.")
    rtol, atol = tolerances(rtol, atol, y)
    if first_step is not None:
        if first_step <= 0:
            raise ValueError("`first_step` must be positive.")
        if first_step > np.abs(t_end - t0):
            raise ValueError("`first_step` exceeds bounds.")
    slope = slope_of(fun, parameters, y, vectorized)
    watch = watch_of(events, parameters)
    steps = steps_of_lsoda(slope, y, parameters, extraneous) if chosen is LSODA else steps_of(chosen)
    problem = problem_of(steps, slope, t0, t_end, rtol, atol, max_step, watch)
    if chosen in (Radau, BDF):
        jac, pattern = extraneous.get("jac"), extraneous.get("jac_sparsity")
        jacobian, is_fixed = jacobian_of(jac, pattern, slope, parameters, y)
        problem = replace(problem, jacobian=jacobian, has_fixed_jacobian=is_fixed)
    found = solution_of(problem, t0, t_end, y, first_step, times, bool(dense_output))
    stopped = FAILED if chosen is LSODA else TOO_SHORT
    status, message = (1, EVENT) if found.ended else (0, REACHED) if found.reached else (-1, stopped)
    return result_of(
        OdeResult, t=found.t, y=found.y, sol=found.dense, t_events=found.event_times,
        y_events=found.event_states, nfev=int(found.counts.slopes), njev=int(found.counts.jacobians),
        nlu=int(found.counts.factors), status=status, message=message, success=status >= 0,
    )  # fmt: skip


def steps_of_lsoda(slope: Callable[[Any, Any], Any], y: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Method:
    """Return the steps of LSODA with its own options."""
    jac, lband, uband = options.get("jac"), options.get("lband"), options.get("uband")
    min_step = options.get("min_step", 0.0)
    count = known_number(y.shape[0], "scipy.integrate.solve_ivp with LSODA")
    if count == 0:
        raise ValueError("LSODA needs a state of one number or more: choose another method")
    if min_step < 0:
        raise ValueError("`min_step` must be nonnegative.")
    bands = None if lband is None and uband is None else (int(lband or 0), int(uband or 0))
    if jac is None:
        return lsoda(banded_jacobian_of(None, slope, count, bands), np.float64(min_step))
    traced = as_traced(jac)
    return lsoda(banded_jacobian_of(lambda t, y: traced(t, y, *args), slope, count, bands), np.float64(min_step))


def method_of(method: Any) -> type:
    """Return the class of SciPy of a method."""
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]
    if isinstance(method, type) and method in METHODS.values():
        return method
    if isinstance(method, type):
        refuse(
            f'solve_ivp with method="{method.__name__}"',
            'write method="BDF" or "Radau" for stiff equations, "DOP853" for others',
        )
    raise ValueError(f"`method` must be one of {KNOWN} or OdeSolver class.")


def steps_of(kind: type) -> Method:
    """Return the steps of a class of SciPy."""
    for known, method in IMPLICIT.values():
        if kind is known:
            return method()
    return explicit(kind)


def unpacked(args: Any) -> tuple[Any, ...]:
    if args is None:
        return ()
    try:
        return tuple(args)
    except TypeError:
        raise TypeError(
            f"Supplied 'args' cannot be unpacked. Please supply `args` as a tuple (e.g. `args=({args},)`)"
        ) from None


def state_of(y0: Any) -> Any:
    """The state at the start, of float64 or complex128."""
    y = inexact(y0)
    y = y.astype(np.complex128 if y.dtype.kind == "c" else np.float64)
    if y.ndim != 1:
        raise ValueError("`y0` must be 1-dimensional.")
    if not np.all(np.isfinite(y)):
        raise ValueError("All components of the initial state `y0` must be finite.")
    return y


def checked_times(t_eval: Any, t0: Any, t_end: Any) -> Any:
    times = inexact(t_eval)
    if times.ndim != 1:
        raise ValueError("`t_eval` must be 1-dimensional.")
    if np.any(times < np.minimum(t0, t_end)) or np.any(times > np.maximum(t0, t_end)):
        raise ValueError("Values in `t_eval` are not within `t_span`.")
    if np.any(np.diff(times) * np.where(t_end == t0, 0.0, np.where(t_end > t0, 1.0, -1.0)) < 0) or (
        t_end != t0 and np.any(np.diff(times) == 0)
    ):
        raise ValueError("Values in `t_eval` are not properly sorted.")
    return times


def tolerances(rtol: Any, atol: Any, y: Any) -> Any:
    rtol, atol = array(rtol), array(atol)
    if np.any(rtol < 100 * EPS):
        warnings.warn(
            f"At least one element of `rtol` is too small. Setting `rtol = np.maximum(rtol, {100 * EPS})`.",
            stacklevel=2,
        )
    if atol.ndim > 0 and atol.shape != y.shape:
        raise ValueError("`atol` has wrong shape.")
    if np.any(atol < 0):
        raise ValueError("`atol` must be positive.")
    return np.maximum(rtol, 100 * EPS), atol
