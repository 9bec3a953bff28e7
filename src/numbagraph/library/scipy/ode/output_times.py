"""Solutions at times as ODEPACK's LSODA gives them: by the history after the first step that has reached the time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.differentiation import stop_gradient
from numbagraph.api.loops import scan, while_loop
from numbagraph.library.scipy.arguments import lifted
from numbagraph.library.scipy.ode.lsoda import first_size, first_state, piece_of, trial, value_at
from numbagraph.library.scipy.ode.methods import integer
from numbagraph.library.scipy.ode.multistep_state import EPS, MISPOSED, Equations, State

NOTHING, DONE, TOO_MANY = 1, 2, -1
"""Statuses, as ODEPACK numbers them."""


class Account(NamedTuple):
    """What is known of the steps to a time, in the order and by the names of SciPy's dict."""

    hu: Any
    tcur: Any
    tolsf: Any
    tsw: Any
    nst: Any
    nfe: Any
    nje: Any
    nqu: Any
    mused: Any


class Output(NamedTuple):
    """What is known at a time."""

    state: State
    value: Any
    status: Any
    critical: Any
    """The number of the critical time ahead."""
    account: Account


class Limits(NamedTuple):
    """What steps keep to."""

    first_step: Any
    """0 where the solver chooses it."""
    most_steps: Any
    """How many there may be to each time."""
    critical: Any
    """Times that no step crosses; None where there are none."""
    is_legal: Any


def outputs(equations: Equations, y: Any, times: Any, limits: Limits) -> tuple[Any, Any, Any, Account]:
    """Return the solution at times, the status, the number of the worst element, and accounts of all times but the
    first."""
    start = times[0]
    held = stop_gradient(times)
    others = held != held[0]
    first_other = held[np.argmax(others)]
    slope = equations.slope(start, y)
    chosen = first_size(equations, held[0], first_other, stop_gradient(y), stop_gradient(slope))
    is_own = limits.first_step != 0
    span, latest = first_other - held[0], np.fmax(np.abs(first_other), np.abs(held[0]))
    is_legal = limits.is_legal & np.where(is_own, span * limits.first_step >= 0, np.abs(span) >= 2.0 * EPS * latest)
    h = np.where(is_own, limits.first_step, np.where(is_legal, chosen, 1.0))
    if limits.critical is not None:
        bound = critical_time(limits, integer(0), first_other)[1]
        is_legal = is_legal & np.logical_not((bound - first_other) * span < 0)
        h = np.where(is_own & ((held[0] + h - bound) * h > 0), bound - held[0], h)
    state = first_state(equations, start, y, slope, h, False)
    state = state._replace(status=np.where(is_legal, state.status, MISPOSED))
    zero, none = np.float64(0.0), integer(0)
    account = Account(zero, zero, zero, zero, none, none, none, none, none)
    first = Output(state, y, integer(NOTHING), none, account)

    def to(last: Output, time: Any) -> tuple[Output, Any]:
        is_due = (last.status > 0) & ((last.status == DONE) | (stop_gradient(time) != held[0]))
        found = reached(equations, last, time, limits, is_due)
        value = np.where(is_due, found.value, np.where(last.status < 0, np.nan, last.value))
        found = found._replace(
            status=np.where(is_due, found.status, last.status), value=value,
            account=Account(*(np.where(is_due, *each) for each in zip(found.account, last.account, strict=True))),
        )  # fmt: skip
        return found, (value, found.account)

    last, (values, accounts) = scan(to, first, times[1:])
    is_worst = (last.status == -4) | (last.status == -5)
    worst = np.where(is_worst, last.state.worst, -1)
    return np.concatenate([y[None], values]), last.status, worst, accounts


def critical_time(limits: Limits, number: Any, time: Any) -> tuple[Any, Any]:
    """Return the number of the critical time ahead of a time, and that time, which is infinite behind the last one."""
    count = limits.critical.shape[0]
    table = lifted(limits.critical)
    known = table[np.fmin(number, count - 1)]
    number = np.where((number < count) & (time > known), number + 1, number)
    return number, np.where(number < count, table[np.fmin(number, count - 1)], np.nan)


def reached(equations: Equations, last: Output, time: Any, limits: Limits, is_due: Any) -> Output:
    """Return what is known at a time."""
    held, before = stop_gradient(time), last.state.tally.steps
    number, bound, is_legal = last.critical, None, np.bool_(True)
    if limits.critical is not None:
        number, bound = critical_time(limits, number, held)
        t, h = stop_gradient(last.state.t), last.state.h
        is_wrong = ((t - bound) * h > 0) | ((bound - held) * h < 0)
        is_legal = np.logical_not(is_wrong) | (last.status == NOTHING)

    def is_short(state: State) -> Any:
        t = stop_gradient(state.t)
        found = (t - held) * state.h < 0
        if bound is not None:
            hits = (state.tally.steps > 0) & (np.abs(t - bound) <= 100.0 * EPS * (np.abs(t) + np.abs(state.h)))
            found = found & np.logical_not(hits)
        return found

    state = while_loop(
        lambda it: is_due & is_legal & is_short(it) & (it.status == 0) & (it.tally.steps - before < limits.most_steps),
        lambda it: trial(equations, it, bound), last.state,
    )  # fmt: skip
    arrived = is_legal & np.logical_not(is_short(state)) & (state.status != MISPOSED)
    is_stopped = (state.status == -4) | (state.status == -5) | (state.status == MISPOSED)
    is_many = (state.tally.steps - before >= limits.most_steps) & np.logical_not(is_stopped)
    status = np.where(is_legal, np.where(is_many, TOO_MANY, state.status), MISPOSED)
    status = np.where(arrived, DONE, status)
    piece, tally = piece_of(state), state.tally
    value = piece.base + value_at(piece.rows, (time - piece.origin) / piece.unit)
    value = np.where(status == DONE, value, np.where(status == MISPOSED, last.value, state.y))
    account = Account(
        tally.size, stop_gradient(state.t), np.where(status == -2, state.excess, 0.0), tally.switch, tally.steps,
        tally.slopes, tally.jacobians, tally.order, tally.method,
    )  # fmt: skip
    account = Account(*(np.where(status == MISPOSED, old, new) for old, new in zip(last.account, account, strict=True)))
    return Output(state, value, status, number, account)
