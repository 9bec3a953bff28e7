"""Trials of explicit Runge-Kutta methods: steps that are accepted or, where the error is too large, rejected."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.differentiation import stop_gradient
from numbagraph.library.scipy.arguments import differentiated
from numbagraph.library.scipy.ode.methods import Problem, at_least, at_most, integer, norm, squares
from numbagraph.library.scipy.ode.tableaus import Tableau, combination

SAFETY, LEAST, GREATEST = 0.9, 0.2, 10.0


class Step(NamedTuple):
    """The last step that was accepted."""

    t: Any
    y: Any
    """Time and state at its start."""
    stages: Any


class State(NamedTuple):
    """What a trial starts from."""

    t: Any
    y: Any
    slope: Any
    size: Any
    """The magnitude of the step that is tried next."""
    was_rejected: Any
    failed: Any
    trials: Any
    steps: Any
    last: Step | None
    """The step that has led here; None where nobody asks for it."""


def first_state(tableau: Tableau, problem: Problem, t: Any, y: Any, slope: Any, size: Any, with_last: bool) -> State:
    """Return the state before the first trial."""
    held = stop_gradient(t)
    last = Step(t, y, rows_like(tableau, slope)) if with_last else None
    size = problem.fitted(held, stop_gradient(size))
    failed = size < problem.shortest(held)
    return State(t, y, slope, size, np.asarray(False), failed, integer(0), integer(0), last)


def trial(tableau: Tableau, problem: Problem, state: State) -> State:
    """Return the state after one more trial. The derivative is that of a step of this length: through the choice of
    the length it would grow without bound. Trials that are rejected have none, as slopes may be NaN there."""
    t, y = state.t, state.y
    held = stop_gradient(t)
    after = held + stop_gradient(state.size) * problem.direction
    after = np.where(problem.direction * (after - problem.end) > 0, problem.end, after)
    h = after - held
    size = np.abs(h)
    t_new = differentiated(after, t)
    new, slope, stages = stepped(tableau, problem, t, y, state.slope, h, t_new)
    scale = problem.atol + np.maximum(np.abs(y), np.abs(new)) * problem.rtol
    error = stop_gradient(error_of(tableau, stages, scale, size))
    accepted = error < 1
    factor = SAFETY * error ** (-1 / (tableau.order + 1))
    greatest = np.where(state.was_rejected, 1.0, GREATEST)
    factor = np.where(accepted, at_most(factor, greatest), at_least(factor, LEAST))
    t_next = np.where(accepted, after, held)
    size = size * factor
    size = np.where(accepted, problem.fitted(t_next, size), size)
    before, now = (y, state.slope), (new, slope)
    last = state.last
    if last is not None:
        before, now = (*before, last.stages), (*now, stages if not isinstance(stages, list) else np.stack(stages))

    def of_step() -> tuple[Any, ...]:
        new, slope, stages = stepped(tableau, problem, t, y, state.slope, h, t_new)
        rows = stages if not isinstance(stages, list) else np.stack(stages)
        return (new, slope) if last is None else (new, slope, rows)

    forms = cond(accepted, of_step, lambda: before)
    y_next, slope_next, *rows_next = (
        differentiated(np.where(accepted, *each), form) for *each, form in zip(now, before, forms, strict=True)
    )
    if last is not None:
        last = Step(np.where(accepted, t, last.t), np.where(accepted, y, last.y), rows_next[0])
    return State(
        np.where(accepted, t_new, t), y_next, slope_next, stop_gradient(size), np.logical_not(accepted),
        size < problem.shortest(t_next), state.trials + 1, state.steps + accepted, last,
    )  # fmt: skip


def stepped(tableau: Tableau, problem: Problem, t: Any, y: Any, slope: Any, h: Any, after: Any) -> tuple[Any, Any, Any]:
    """Return state and slope after a step, and its stages."""
    stages, new = stages_of(tableau, problem, t, y, slope, h)
    end = problem.slope(after, new)
    return new, end, put(stages, end)


def stages_of(tableau: Tableau, problem: Problem, t: Any, y: Any, slope: Any, h: Any) -> tuple[Any, Any]:
    """Return the stages of a step, with room for the slope at its end, and the state there."""
    if tableau.is_written_out:
        stages = [slope]
        for number in range(1, tableau.stages):
            found = combination(tableau.weights[number, :number], stages)
            stages.append(problem.slope(t + float(tableau.nodes[number]) * h, y + h * found))
        return stages, y + h * combination(tableau.solution, stages)
    rows = rows_like(tableau, slope)
    for number in range(1, tableau.stages):
        found = tableau.weights[number, :number] @ rows[:number]
        rows[number] = problem.slope(t + float(tableau.nodes[number]) * h, y + h * found)
    return rows, y + h * (tableau.solution @ rows[: tableau.stages])


def rows_like(tableau: Tableau, slope: Any) -> Any:
    """An array with a row for each stage, whose first row is the slope at the start."""
    return np.stack([slope, *[np.zeros_like(slope)] * tableau.stages])


def put(stages: Any, slope: Any) -> Any:
    """Put the slope at the end of a step behind its stages."""
    if isinstance(stages, list):
        return [*stages, slope]
    stages[-1] = slope
    return stages


def error_of(tableau: Tableau, stages: Any, scale: Any, size: Any) -> Any:
    """The estimate of the error in units of the tolerance."""
    if len(tableau.errors) == 1:
        return size * norm(combination(tableau.errors[0], stages) / scale)
    fifth, third = (squares((weights @ stages) / scale) for weights in tableau.errors)
    total = fifth + 0.01 * third
    found = size * fifth / np.sqrt(np.where(total == 0, 1.0, total) * scale.size)
    return np.where(total == 0, 0.0, found)
