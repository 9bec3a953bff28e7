"""Adaptive quadrature of arrays, by the steps of `scipy.integrate.quad_vec`: many intervals are bisected at once.

One loop takes the steps: the first one evaluates the intervals of the start, each as the right half of one, and each
further one both halves of those with the largest errors, so that the integrand stands in the program once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.integrals.extrapolation import repeated
from numbagraph.library.scipy.solvers.integrals.vector_rules import ArrayEstimate, ArrayRule, Form, estimated

Function = Callable[..., Any]

CONVERGED, NOT_CONVERGED, ROUNDING, NOT_FINITE = 0, 1, 2, 3
AT_ONCE = 128
"""How many intervals may be bisected in a step."""


class Options(NamedTuple):
    rule: ArrayRule
    each: Function
    """The function that evaluates another one at several points."""
    form: Form
    epsabs: Any
    epsrel: Any
    limit: int


class Parts(NamedTuple):
    """The subintervals with their estimates, in arrays of as many places as there may be."""

    lefts: Any
    rights: Any
    errors: Any
    values: Any

    def with_one(self, place: Any, left: Any, right: Any, found: ArrayEstimate) -> Parts:
        lefts, rights, errors, values = (each.copy() for each in self)
        lefts[place], rights[place], errors[place], values[place] = left, right, found.error, found.value
        return Parts(lefts, rights, errors, values)


class State(NamedTuple):
    parts: Parts
    count: Any
    """The number of subintervals."""
    value: Any
    error: Any
    rounding: Any
    calls: Any
    status: Any
    is_first: Any


def integrated(f: Function, edges: Any, pieces: Any, size: int, options: Options) -> State:
    """Integrate a function that gives rows of ``size`` numbers, over an interval that is cut at its first edges."""
    most = max(options.limit, edges.shape[0]) + AT_ONCE
    lefts, rights, errors = np.empty(most), np.empty(most), np.empty(most)
    lefts[: edges.shape[0] - 1], rights[: edges.shape[0] - 1] = edges[:-1], edges[1:]
    parts = Parts(lefts, rights, errors, np.empty((most, size)))
    zero = np.float64(0.0)
    state = State(parts, np.int64(0), np.zeros(size), zero, zero, np.int64(0), np.int64(NOT_CONVERGED), np.bool_(True))

    def goes_on(state: State) -> Any:
        return state.is_first | ((state.status == NOT_CONVERGED) & (state.count < options.limit))

    found: State = while_loop(goes_on, lambda state: following(f, state, pieces, options), state)
    return found


def following(f: Function, state: State, pieces: Any, options: Options) -> State:
    """Bisect the intervals with the largest errors."""
    errors, chosen, olds, count = largest(state, pieces, options)
    start = state._replace(parts=state.parts._replace(errors=errors))

    def bisect(number: Any, state: State) -> State:
        known = np.minimum(number, AT_ONCE - 1)
        place = np.where(state.is_first, number, chosen[known])
        return with_halves(f, state, place, np.where(state.is_first, 0.0, olds[known]), options)

    state = repeated(count, bisect, start)
    wanted = tolerance(state, options) / 8
    is_small, is_limited = state.error < wanted, state.error < state.rounding
    status = np.where(is_small, CONVERGED, np.where(is_limited, ROUNDING, NOT_CONVERGED))
    status = np.where((state.count >= 2) & ~state.is_first, status, NOT_CONVERGED)
    is_finite = np.isfinite(state.error) & np.isfinite(state.rounding)
    status = np.where((status == NOT_CONVERGED) & ~is_finite & ~state.is_first, NOT_FINITE, status)
    return state._replace(status=status, is_first=np.bool_(False))


def tolerance(state: State, options: Options) -> Any:
    return np.fmax(options.epsabs, options.epsrel * options.form.size(state.value))


def largest(state: State, pieces: Any, options: Options) -> tuple[Any, Any, Any, Any]:
    """Return the errors without the largest ones, the places of these and themselves, and their number: those that make
    up all but an eighth of the tolerance."""
    bound = state.error - tolerance(state, options) / 8
    most = np.where(state.is_first, 0, np.minimum(AT_ONCE, state.count))

    def takes_more(found: Any) -> Any:
        _, _, _, number, total = found
        return (number < most) & ((number == 0) | ~(total > bound))

    def take(found: Any) -> Any:
        errors, chosen, olds, number, total = found
        place = place_of_largest(errors, state.parts.lefts, state.count)
        error = errors[place]
        errors, chosen, olds = errors.copy(), chosen.copy(), olds.copy()
        chosen[number], olds[number] = place, error
        errors[place] = -1.0
        return errors, chosen, olds, number + 1, total + error

    start = state.parts.errors, np.zeros(AT_ONCE, dtype=np.int64), np.zeros(AT_ONCE), np.int64(0), np.float64(0.0)
    errors, chosen, olds, number, _ = while_loop(takes_more, take, start)
    return errors, chosen, olds, np.where(state.is_first, pieces, number)


def place_of_largest(errors: Any, lefts: Any, count: Any) -> Any:
    """Return the place of the largest error, of equal ones that of the interval on the left."""

    def seek(number: Any, best: Any) -> Any:
        is_better = (errors[number] > errors[best]) | ((errors[number] == errors[best]) & (lefts[number] < lefts[best]))
        return np.where(is_better, number, best)

    return repeated(count, seek, np.int64(0))


def with_halves(f: Function, state: State, place: Any, old_error: Any, options: Options) -> State:
    """Return the state with both halves of an interval in its place and in a new one."""
    parts, is_first = state.parts, state.is_first
    a, b = parts.lefts[place], parts.rights[place]
    middle = np.where(is_first, a, 0.5 * (a + b))
    size = parts.values.shape[1]
    nothing = ArrayEstimate(np.zeros(size), np.float64(0.0), np.float64(0.0))

    def half(number: Any, carried: Any) -> Any:
        low, high = np.where(number == 0, a, middle), np.where(number == 0, middle, b)
        points = 0.5 * (low + high) + 0.5 * (high - low) * options.rule.nodes
        return carried[1], estimated(options.each(f)(points), low, high, options.rule, options.form)

    left, right = repeated(np.int64(2), half, (nothing, nothing), np.where(is_first, 1, 0))
    old_value = np.where(is_first, 0.0, parts.values[place])
    new = np.where(is_first, place, state.count)
    parts = parts.with_one(place, a, middle, left).with_one(new, middle, b, right)
    calls = np.where(is_first, len(options.rule.nodes), options.rule.calls)
    return State(
        parts, state.count + 1, state.value + (left.value + right.value - old_value),
        state.error + (left.error + right.error - old_error), state.rounding + (left.rounding + right.rounding),
        state.calls + calls, state.status, is_first,
    )  # fmt: skip
