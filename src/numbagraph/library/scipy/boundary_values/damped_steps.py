"""Newton's method for collocation, with shorter steps where full ones do not help.

One loop takes the steps of SciPy's: each one either evaluates the equations at a trial state or factors the Jacobian,
and solves the linear system that follows, so that the equations stand in the program once. The first one evaluates the
state of the start.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.arguments import zeros
from numbagraph.library.scipy.boundary_values.collocation import Equations, Residuals, blocks, residuals
from numbagraph.library.scipy.boundary_values.condensation import Factors, Sizes, factors, no_factors, solution

MOST_JACOBIANS, MOST_ITERATIONS, MOST_HALVINGS = 4, 8, 4
IMPROVEMENT = 0.2
"""The part of what a step promises that it must bring (Armijo)."""


class Step(NamedTuple):
    y: Any
    p: Any
    cost: Any


class Search(NamedTuple):
    y: Any
    p: Any
    found: Residuals
    """The residuals of the last state that was tried."""
    factors: Factors
    step: Step
    alpha: Any
    halvings: Any
    iterations: Any
    jacobians: Any
    needs_factors: Any
    is_first: Any
    goes_on: Any


def solved_on_mesh(equations: Equations, x: Any, y: Any, p: Any, tol: Any, bc_tol: Any) -> tuple[Any, Any, Any, Any]:
    """Return the states and the parameters, their residuals, and whether a Jacobian was singular."""
    sizes = Sizes(equations.n, equations.k)
    reach = 2 / 3 * np.diff(x) * 5e-2 * tol

    def is_small(found: Residuals) -> Any:
        return np.all(np.abs(found.collocation) < reach * (1 + np.abs(found.f_middle))) & np.all(
            np.abs(found.boundary) < bc_tol
        )

    def following(state: Search) -> Search:
        y, p = tried(equations, state)
        found, known = cond(
            state.needs_factors,
            lambda: (state.found, factors(blocks(equations, x, state.y, state.p, state.found.middle), sizes)),
            lambda: (residuals(equations, x, y, p), state.factors),
        )
        step = step_of(known, found, sizes)
        return after(state._replace(found=found, factors=known), y, p, step, is_small(found))

    end: Search = while_loop(lambda state: state.goes_on, following, at_start(y, p, sizes))
    return end.y, end.p, end.found, end.factors.is_singular


def at_start(y: Any, p: Any, sizes: Sizes) -> Search:
    none, yes, no = np.int64(0), np.bool_(True), np.bool_(False)
    inner, boundary = np.zeros_like(y[:, 1:]), zeros((sizes.n + sizes.k,), y.dtype)
    found = Residuals(inner, np.zeros_like(y), inner, inner, boundary)
    step = Step(np.zeros_like(y), np.zeros_like(p), y.dtype.type(0))
    known = no_factors(sizes, y.shape[1], y.dtype)
    return Search(y, p, found, known, step, np.float64(1.0), none, none, none, no, yes, yes)


def tried(equations: Equations, state: Search) -> tuple[Any, Any]:
    """Return the next state and parameters to try."""
    y = state.y - state.alpha * state.step.y
    if equations.term is not None:
        y = np.concatenate([(equations.term.projection @ y[:, 0])[:, np.newaxis], y[:, 1:]], axis=1)
        y = np.where(state.is_first, state.y, y)
    return y, state.p - state.alpha * state.step.p


def step_of(known: Factors, found: Residuals, sizes: Sizes) -> Step:
    y, p = solution(known, found.collocation, found.boundary, sizes)
    return Step(y, p, np.sum(y * y) + np.sum(p * p))


def is_less(one: Any, other: Any) -> Any:
    """Whether a number is less than another one; complex ones in NumPy's order."""
    if one.dtype.kind != "c":
        return one < other
    return (one.real < other.real) | ((one.real == other.real) & (one.imag < other.imag))


def after(state: Search, y: Any, p: Any, step: Step, is_small: Any) -> Search:
    """Return the search after an evaluation, or after new factors."""
    is_new, is_first = state.needs_factors, state.is_first
    helps = is_less(step.cost, (1 - 2 * state.alpha * IMPROVEMENT) * state.step.cost)
    ends = ~is_new & ~is_first & (helps | (state.halvings == MOST_HALVINGS))
    is_full = ends & (state.alpha == 1.0)
    iterations, jacobians = state.iterations + ends, state.jacobians + is_new
    is_done = ends & ((jacobians == MOST_JACOBIANS) | is_small | (iterations == MOST_ITERATIONS))
    halves = ~is_new & ~is_first & ~ends
    takes = is_new | is_full
    return Search(
        np.where(ends, y, state.y), np.where(ends, p, state.p), state.found, state.factors,
        Step(*(np.where(takes, new, old) for new, old in zip(step, state.step, strict=True))),
        np.where(halves, 0.5 * state.alpha, 1.0), np.where(halves, state.halvings + 1, 0), iterations, jacobians,
        is_first | (ends & ~is_full), np.bool_(False) & is_first, ~(is_done | state.factors.is_singular),
    )  # fmt: skip
