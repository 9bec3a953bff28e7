"""The loop of the method ``trust-constr``: sequential quadratic models within a trust region, and a barrier that falls.

One pass evaluates the function and the constraints at one point, which starts a subproblem, is a trial, or corrects a
trial for the curvature of the constraints. What follows is a branch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.minima.interior.canonical_constraints import (
    Canonical,
    equations,
    inequalities,
    jacobian_of,
    multipliers_of,
    normals,
    parts,
    values_of,
)
from numbagraph.library.scipy.solvers.minima.interior.curvature import Curvature, Rule, flat, learned
from numbagraph.library.scipy.solvers.minima.interior.intersections import Room, above_floor, of_segment
from numbagraph.library.scipy.solvers.minima.interior.projections import (
    Projections,
    lacks_rows,
    least_solution,
    projections_of,
    shares,
)
from numbagraph.library.scipy.solvers.minima.interior.quadratic_steps import (
    Quadratic,
    image_of,
    normal_step,
    tangential_step,
)
from numbagraph.library.scipy.solvers.minima.objective import Objective

RUNNING, LIMIT, OPTIMAL, CLOSE, VIOLATED = -1, 0, 1, 2, 4
"""SciPy's statuses."""
START, TRIAL, CORRECTION = 0, 1, 2
"""What a pass evaluates."""
ENOUGH, GOOD, VERY_GOOD = 1e-8, 0.3, 0.9
"""Ratios of the reduction to the predicted one."""
BOUNDARY = 0.995
"""The largest share of a slack that a step takes."""
DECAY = 0.2
"""The factor of the barrier and its tolerance from one subproblem to the next."""


class Limits(NamedTuple):
    """Tolerances, the largest number of iterations, and what a subproblem starts with."""

    xtol: Any
    gtol: Any
    barrier: Any
    iterations: Any
    radius: Any
    penalty: Any


class Problem(NamedTuple):
    """What is minimised: the objective, how its Hessian is known, constraints, and bounds of what may be evaluated."""

    objective: Objective
    hessian: Callable[..., Any] | None
    rule: Rule | None
    canonical: Canonical
    strict: tuple[Any, Any] | None
    n: int
    by_singular_values: bool
    limits: Limits


class Evaluated(NamedTuple):
    """The last point that was evaluated, and how often points and their slopes were asked for."""

    x: Any
    value: Any
    gradient: Any
    rows: Any
    jacobian: Any
    has_slopes: Any
    points: Any
    asks: Any


class Learning(NamedTuple):
    """Approximate Hessians of the objective and of constraints, and the point before the last, if there is one."""

    objective: Any
    groups: Any
    x: Any
    jacobian: Any
    has_point: Any


class Base(NamedTuple):
    """The best point: slacks, value and slope of the barrier problem, faults of its equations, their projections and
    multipliers, those of the constraints as given, the Hessian as far as it is given, what is reported, and whether
    rows depended on each other."""

    x: Any
    slack: Any
    barrier: Any
    slope: Any
    faults: Any
    projections: Projections
    forces: Any
    multipliers: Any
    hessian: Any
    value: Any
    gradient: Any
    rows: Any
    jacobian: Any
    hessians: Any
    was_singular: Any


class Trial(NamedTuple):
    """A step with the sizes of its two parts, the reduction that is expected of it, the penalty before it, the ratio of
    the reductions, and whether a correction stays inside."""

    step: Any
    normal: Any
    tangential: Any
    predicted: Any
    merit: Any
    penalty: Any
    count: Any
    end: Any
    ratio: Any
    is_inside: Any


class State(NamedTuple):
    """What is evaluated next and why, what was, the best point, and how the search goes on."""

    point: Any
    slack: Any
    phase: Any
    evaluated: Evaluated
    learning: Learning
    base: Base
    trial: Trial
    radius: Any
    penalty: Any
    barrier: Any
    tolerance: Any
    iterations: Any
    inner: Any
    inner_end: Any
    status: Any


def searched(problem: Problem, x: Any, barrier: Any, tolerance: Any) -> State:
    """Run the search from a point."""
    start = start_at(problem, x, barrier, tolerance)
    return while_loop(lambda state: state.status == RUNNING, lambda state: iteration(problem, state), start)


def start_at(problem: Problem, x: Any, barrier: Any, tolerance: Any) -> State:
    canonical, n, zero, number = problem.canonical, problem.n, np.int64(0), np.float64(0.0)
    slacks, size = len(canonical.rows), sum(each.size for each in canonical.groups)
    count, length = len(canonical.equal) + slacks, n + slacks
    rank, nothing, no = min(count, length), np.zeros(n), np.bool_(False)
    empty = np.zeros((size, n))
    evaluated = Evaluated(np.full(n, np.nan), number, nothing, np.zeros(size), empty, no, zero, zero)
    groups = tuple(() if each.rule is None else flat(n) for each in canonical.groups)
    learning = Learning(() if problem.rule is None else flat(n), groups, nothing, empty, no)
    projections = Projections(np.zeros((count, length)), np.zeros((length, rank)), np.zeros((count, rank)))
    base = Base(
        x, np.ones(slacks), number, np.zeros(length), np.zeros(count), projections, np.zeros(count), np.zeros(size),
        np.zeros((n, n)), number, nothing, np.zeros(size), empty, tuple(np.int64(1) for _ in canonical.groups), no,
    )  # fmt: skip
    trial = Trial(np.zeros(length), number, number, np.float64(1.0), number, number, zero, zero, number, no)
    return State(
        x, np.ones(slacks), zero, evaluated, learning, base, trial, np.float64(problem.limits.radius),
        np.float64(problem.limits.penalty), np.float64(barrier), np.float64(tolerance), zero, zero, zero,
        np.int64(RUNNING),
    )  # fmt: skip


def iteration(problem: Problem, old: State) -> State:
    here, is_out = evaluated_at(problem, old)
    learning = learned_at(problem, old, here)
    slack, value, faults = barrier_at(problem, old, here, is_out)
    merit = value + old.penalty * np.linalg.norm(faults)
    ratio = (old.trial.merit - merit) / old.trial.predicted
    is_trial = old.phase == TRIAL
    is_used = is_trial | (old.trial.is_inside & (ratio >= ENOUGH))
    ratio = np.where(is_used, ratio, old.trial.ratio)
    new = old._replace(slack=slack, evaluated=here, learning=learning, trial=old.trial._replace(ratio=ratio))

    def following() -> State:
        return followed(problem, new, value, faults)

    if len(faults) == 0:
        return following()
    is_bent = is_trial & (ratio < ENOUGH) & (old.trial.normal <= 0.1 * old.trial.tangential)
    return cond(is_bent, lambda: corrected(problem, new, faults), following)


def evaluated_at(problem: Problem, old: State) -> tuple[Evaluated, Any]:
    """Evaluate at the next point, if it is within strict bounds."""
    last, point, is_out = old.evaluated, old.point, np.bool_(False)
    if problem.strict is not None:
        is_out = np.any((point < problem.strict[0]) | (point > problem.strict[1]))
        point = np.where(is_out, last.x, point)
    value, gradient = problem.objective.both(point)
    rows, jacobian = values_of(problem.canonical, point), jacobian_of(problem.canonical, point, problem.n)
    is_same = np.all(point == last.x)
    points = last.points + np.where(is_same, 0, 1)
    return Evaluated(point, value, gradient, rows, jacobian, last.has_slopes & is_same, points, last.asks), is_out


def learned_at(problem: Problem, old: State, here: Evaluated) -> Learning:
    """Update approximate Hessians by the last two points, whether or not they were accepted."""
    last, before = old.evaluated, old.learning
    is_step = (here.points > last.points) & (last.points > 0)
    step = here.x - last.x
    objective = before.objective
    if problem.rule is not None:
        objective = learned(problem.rule, objective, step, here.gradient - last.gradient, is_step)
    learning = Learning(
        objective, before.groups, np.where(is_step, last.x, before.x),
        np.where(is_step, last.jacobian, before.jacobian), before.has_point | is_step,
    )  # fmt: skip
    return of_groups(problem, learning, here, old.base.multipliers, [is_step] * len(before.groups))


def of_groups(problem: Problem, learning: Learning, here: Evaluated, multipliers: Any, asked: list[Any]) -> Learning:
    """Update approximate Hessians of constraints that are asked for."""
    canonical = problem.canonical
    jacobians, weights = parts(canonical, here.jacobian), parts(canonical, multipliers)
    earlier = parts(canonical, learning.jacobian)
    groups = tuple(
        () if each.rule is None else
        learned(each.rule, curvature, here.x - learning.x, np.dot(v, new) - np.dot(v, old), is_asked)
        for each, curvature, v, new, old, is_asked in
        zip(canonical.groups, learning.groups, weights, jacobians, earlier, asked, strict=True)
    )  # fmt: skip
    return learning._replace(groups=groups)


def barrier_at(problem: Problem, old: State, here: Evaluated, is_out: Any) -> tuple[Any, Any, Any]:
    """Return slacks, the value of the barrier problem, and the faults of its equations.

    Inequalities that must stay feasible have the slacks that they leave."""
    canonical = problem.canonical
    faults, rest = equations(canonical, here.rows), inequalities(canonical, here.rows)
    value, slack = here.value, old.slack
    if problem.strict is not None:
        value = np.where(is_out, np.inf, value)
        faults, rest = np.where(is_out, 0.0, faults), np.where(is_out, 0.0, rest)
    if len(canonical.rows) == 0:
        return slack, value, faults
    slack = np.where(old.evaluated.points == 0, np.fmax(-1.5 * rest, 1.0), slack)
    slack = np.where(canonical.keep, -rest, slack)
    is_positive = slack > 0.0
    logarithms = np.where(is_positive, np.log(np.where(is_positive, slack, 1.0)), -np.inf)
    return slack, value - old.barrier * np.sum(logarithms), np.concatenate((faults, rest + slack))


def floor_of(problem: Problem) -> Any:
    return np.concatenate((np.full(problem.n, -np.inf), np.full(len(problem.canonical.rows), -BOUNDARY)))


def corrected(problem: Problem, state: State, faults: Any) -> State:
    """Go to the trial's correction."""
    base, trial = state.base, state.trial
    shift = -least_solution(base.projections, faults)
    stretch = of_segment(above_floor(trial.step, shift, floor_of(problem)))
    state = moved(problem, state, trial.step + stretch.end * shift)
    return state._replace(phase=np.int64(CORRECTION), trial=trial._replace(is_inside=stretch.is_there))


def moved(problem: Problem, state: State, step: Any) -> State:
    base, n = state.base, problem.n
    return state._replace(point=base.x + step[:n], slack=base.slack + base.slack * step[n:])


def resized(radius: Any, ratio: Any, length: Any) -> Any:
    """Return the radius after a step."""
    share = (1.0 - ENOUGH) / (1.0 - np.where(ratio < ENOUGH, ratio, 0.0)) * length
    less = np.where(share >= 0.5 * radius, 0.5 * radius, np.where(share >= 0.1 * radius, share, 0.1 * radius))
    more = np.where(ratio >= VERY_GOOD, 7.0, 2.0) * length
    return np.where(ratio >= GOOD, np.fmax(more, radius), np.where(ratio < ENOUGH, less, radius))


def followed(problem: Problem, state: State, value: Any, faults: Any) -> State:
    """Accept the point or not, look whether that is enough, and propose the next one."""
    trial, limits = state.trial, problem.limits
    is_start = state.phase == START
    is_accepted = is_start | (trial.ratio >= ENOUGH)
    radius = np.where(is_start, state.radius, resized(state.radius, trial.ratio, np.linalg.norm(trial.step)))
    base, learning, here = cond(
        is_accepted,
        lambda: accepted(problem, state, value, faults),
        lambda: (state.base, state.learning, state.evaluated),
    )
    iterations = state.iterations + 1
    is_met = (optimality(base) < limits.gtol) & (violation(problem.canonical, base.rows) < limits.gtol)
    is_close, is_solved = radius < limits.xtol, np.bool_(False)
    if len(problem.canonical.rows):
        residual = base.slope + np.dot(base.forces, base.projections.matrix)
        is_small = np.max(np.abs(residual)) < state.tolerance
        is_solved = (is_small & (np.max(np.abs(base.faults)) < state.tolerance)) | is_close
        is_close = is_close & (state.barrier < limits.barrier)
    is_late = iterations >= limits.iterations
    status = np.where(is_met, OPTIMAL, np.where(is_close, CLOSE, np.where(is_late, LIMIT, RUNNING)))
    new = state._replace(
        evaluated=here, learning=learning, base=base, radius=radius, status=np.int64(status), iterations=iterations,
        penalty=np.where(is_accepted, state.penalty, trial.penalty),
        inner=state.inner + np.where(is_start, 0, trial.count), inner_end=np.where(is_start, 0, trial.end),
    )  # fmt: skip
    is_over = status != RUNNING
    return cond(
        is_over | is_solved, lambda: restarted(new, limits, is_over), lambda: proposed(problem, new)
    )  # fmt: skip


def restarted(state: State, limits: Limits, is_over: Any) -> State:
    """Start the next subproblem, with a lower barrier, from the best point, unless all is over."""
    factor = np.where(is_over, 1.0, DECAY)
    return state._replace(
        point=state.base.x, slack=state.base.slack, phase=np.int64(START),
        radius=np.where(is_over, state.radius, np.fmax(limits.radius, 5.0 * state.radius)),
        penalty=np.where(is_over, state.penalty, limits.penalty),
        barrier=state.barrier * factor, tolerance=state.tolerance * factor,
    )  # fmt: skip


def optimality(base: Base) -> Any:
    """The largest slope of the Lagrangian."""
    return np.max(np.abs(base.gradient + np.dot(base.multipliers, base.jacobian)))


def violation(canonical: Canonical, rows: Any) -> Any:
    if len(rows) == 0:
        return np.float64(0.0)
    return np.maximum(0.0, np.maximum(np.max(canonical.lower - rows), np.max(rows - canonical.upper)))


def accepted(problem: Problem, state: State, value: Any, faults: Any) -> tuple[Base, Learning, Evaluated]:
    """Return what is known at the point that was evaluated last, when it becomes the best one."""
    canonical, here, count = problem.canonical, state.evaluated, len(problem.canonical.equal)
    slacks = len(canonical.rows)
    slope = np.concatenate((here.gradient, np.full(slacks, -1.0) * state.barrier))
    across, inner = normals(canonical, here.jacobian)
    upper = np.concatenate((across, np.zeros((count, slacks))), axis=1)
    lower = np.concatenate((inner, np.diag(state.slack)), axis=1)
    projections = projections_of(np.concatenate((upper, lower)), problem.by_singular_values)
    found = -shares(projections, slope)
    multipliers = multipliers_of(canonical, found[:count], found[count:])
    old, new = parts(canonical, state.base.multipliers), parts(canonical, multipliers)
    is_changed = [np.any(one != other) for one, other in zip(old, new, strict=True)]
    asked = [each & state.learning.has_point for each in is_changed]
    learning = of_groups(problem, state.learning, here, multipliers, asked)
    hessian = np.zeros((problem.n, problem.n))
    if problem.hessian is not None:
        hessian = hessian + problem.hessian(here.x)
    for each, v in zip(canonical.groups, new, strict=True):
        if each.hessian is not None:
            hessian = hessian + each.hessian(here.x, v)
    is_due = ~here.has_slopes & (here.asks > 0)
    hessians = tuple(
        counted + np.where(is_due | changed, 1, 0)
        for counted, changed in zip(state.base.hessians, is_changed, strict=True)
    )
    base = Base(
        here.x, state.slack, value, slope, faults, projections, found, multipliers, hessian, here.value, here.gradient,
        here.rows, here.jacobian, hessians, state.base.was_singular | lacks_rows(projections),
    )  # fmt: skip
    asks = here.asks + np.where(here.has_slopes, 0, 1)
    return base, learning, here._replace(has_slopes=np.bool_(True), asks=asks)


def hessian_of(state: State) -> Any:
    """The Hessian of the Lagrangian: what is given at the best point, and what was learned since."""
    learning = [state.learning.objective, *state.learning.groups]
    return state.base.hessian + sum(each.matrix for each in learning if isinstance(each, Curvature))


def proposed(problem: Problem, state: State) -> State:
    """Go to the next trial: the step towards the constraints, and the one along them."""
    base, barrier, radius = state.base, state.barrier, state.radius
    matrix, faults, floor = base.projections.matrix, base.faults, floor_of(problem)
    of_rows = base.forces[len(problem.canonical.equal) :]
    diagonal = np.where(of_rows > 0.0, of_rows * base.slack, barrier)
    form = Quadratic(hessian_of(state), diagonal, base.slope)
    normal = np.zeros(len(floor))
    if len(faults):
        normal = normal_step(base.projections, faults, Room(0.8 * radius, 0.5 * floor))
    length = np.linalg.norm(normal)
    model = form._replace(slope=image_of(form, normal) + base.slope)
    room = Room(np.sqrt(radius**2 - length**2), floor - normal)
    most = max(problem.n - len(problem.canonical.equal), 0)
    found = tangential_step(model, base.projections, room, most)
    step = normal + found.step
    change = 0.5 * np.dot(image_of(form, step), step) + np.dot(base.slope, step)
    size = np.linalg.norm(faults)
    gain = np.fmax(1e-16, size - np.linalg.norm(np.dot(matrix, step) + faults))
    penalty = np.where(change > 0.0, np.fmax(state.penalty, change / (0.7 * gain)), state.penalty)
    trial = Trial(
        step, length, np.linalg.norm(found.step), -change + penalty * gain, base.barrier + penalty * size,
        state.penalty, found.count, found.end, np.float64(0.0), np.bool_(False),
    )  # fmt: skip
    return moved(problem, state, step)._replace(phase=np.int64(TRIAL), penalty=penalty, trial=trial)
