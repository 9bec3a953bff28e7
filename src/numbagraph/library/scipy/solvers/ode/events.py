"""Events of initial value problems: arguments, and the search of a zero within a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.library.scipy.ode.methods import UNLIMITED, Watch
from numbagraph.library.scipy.solution import solved
from numbagraph.library.scipy.solvers.roots.results import CONVERGED, MAXITER, RUNNING
from numbagraph.library.scipy.solvers.roots.steps import SEARCHES
from numbagraph.tracing.trace import as_traced

TOLERANCE = 4 * 2.220446049250313e-16
WRONG_LIMIT = "The `terminal` attribute of each event must be a boolean or positive integer."


def watch_of(events: Any, args: tuple[Any, ...]) -> Watch | None:
    """Return the events that are watched."""
    if events is None:
        return None
    each = (events,) if callable(events) else tuple(events)
    if not each:
        return None
    directions = np.stack([np.float64(getattr(event, "direction", 0)) for event in each])
    functions = tuple(as_event(event, args) for event in each)
    return Watch(functions, tuple(limit_of(event) for event in each), directions, as_traced(root_between))


def as_event(event: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[Any, Any], Any]:
    traced = as_traced(event)
    return lambda t, y: traced(t, y, *args)


def limit_of(event: Any) -> int:
    """How often an event may occur."""
    limit = getattr(event, "terminal", None)
    if limit is None or limit == 0:
        return UNLIMITED
    if int(limit) != limit or limit < 0:
        raise ValueError(WRONG_LIMIT)
    return int(limit)


def root_between(f: Callable[[Any], Any], start: Any, end: Any) -> Any:
    """Return the time between two others at which a function is zero."""
    value = lambda t: np.float64(f(t))  # noqa: E731
    a, b = np.float64(start), np.float64(end)
    fa, fb = value(a), value(b)
    brackets = np.signbit(fa) != np.signbit(fb)
    goes_on = brackets & (fa != 0) & (fb != 0)
    status = np.where(goes_on, RUNNING, CONVERGED)
    x, _, _, status = SEARCHES["brentq"](value, (a, b, fa, fb), status, TOLERANCE, TOLERANCE, MAXITER)
    x = np.where(goes_on, x, np.where(np.abs(fa) <= np.abs(fb), a, b))
    return solved(value, x, status == CONVERGED)
