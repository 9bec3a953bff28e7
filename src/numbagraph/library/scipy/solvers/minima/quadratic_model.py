"""Quadratic models with a factored matrix ``L D L'``: their updates, and their minima within linear constraints."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.minima.constrained_squares import SINGULAR_EQUATIONS, Rows, constrained
from numbagraph.library.scipy.solvers.minima.least_distance import INCOMPATIBLE
from numbagraph.library.scipy.solvers.minima.limited_memory import triangular_solution
from numbagraph.library.scipy.solvers.minima.objective import PRECISION


class Model(NamedTuple):
    """The factors ``L``, with ones on the diagonal, and ``D``."""

    lower: Any
    diagonal: Any


class Linear(NamedTuple):
    """Values and Jacobian of constraints, how many of them are equations, and the distances to both bounds."""

    values: Any
    normals: Any
    equations: int
    to_lower: Any
    to_upper: Any
    has_bounds: bool


class Minimum(NamedTuple):
    """A step, multipliers of constraints and of bounds, how much of the constraints the step fulfils, whether they are
    inconsistent, and a status."""

    step: Any
    multipliers: Any
    of_lower: Any
    of_upper: Any
    share: Any
    is_relaxed: Any
    mode: Any


class Attempt(NamedTuple):
    """The minimum so far, with the weight of the variable that relaxes the constraints, and whether to go on."""

    found: Minimum
    weight: Any
    attempts: Any
    goes_on: Any


def identity(size: Any) -> Model:
    return Model(np.eye(size), np.ones(size))


def product(model: Model, x: Any) -> Any:
    return np.dot(model.lower, model.diagonal * np.dot(x, model.lower))


def updated(model: Model, z: Any, sigma: Any) -> Model:
    """Return the factors of the matrix plus ``sigma z z'``, by Fletcher's and Powell's composite rule."""
    lower, diagonal = model
    p = triangular_solution(lower, z)
    shares = p * p / diagonal
    sums = 1.0 / sigma + np.cumsum(shares)
    last = np.where((sigma < 0) & (sums[-1] >= 0), PRECISION / sigma, sums[-1])
    behind = np.cumsum(shares[::-1])[::-1] - shares  # a negative update goes from the last sum to the front
    after = np.where(sigma < 0, last - behind, sums)
    before = np.where(sigma < 0, after - shares, np.concatenate((np.ones(1) / sigma, sums[:-1])))
    ratio, beta = after / before, p / diagonal / after
    below = np.tril(lower, -1)
    rests = z[:, np.newaxis] - np.cumsum(below * p, axis=1)  # of z, after each column
    plain = below + beta * rests
    scaled = before / after * below + beta * (rests + below * p)
    new = np.tril(np.where(ratio <= 4.0, plain, scaled), -1) + np.eye(len(z))
    return Model(new, ratio * diagonal)


def minimum(model: Model, gradient: Any, linear: Linear) -> Minimum:
    """Return the step to the least value of the model within constraints.

    Where they are inconsistent, one more variable relaxes them, at a cost that grows in each attempt."""
    n, m = len(gradient), len(linear.values)
    has_rows = m > linear.equations or linear.has_bounds
    if not has_rows and linear.equations < n:
        return solved_once(model, gradient, linear, np.bool_(False), np.float64(1.0), False)

    def attempt(old: Attempt) -> Attempt:
        is_relaxed = old.attempts > 0
        found = solved_once(model, gradient, linear, is_relaxed, old.weight, True)
        mode = found.mode
        if linear.equations == n:
            mode = np.where((mode == SINGULAR_EQUATIONS) & ~is_relaxed, INCOMPATIBLE, mode)
        goes_on = (mode == INCOMPATIBLE) & (old.attempts < 6)
        weight = np.where(is_relaxed, 10.0 * old.weight, 100.0)
        return Attempt(found._replace(mode=mode), weight, old.attempts + 1, goes_on)

    nothing = Minimum(np.zeros(n), np.zeros(m), np.zeros(n), np.zeros(n), np.float64(1.0), np.bool_(False), np.int64(0))
    start = Attempt(nothing, np.float64(1.0), np.int64(0), np.bool_(True))
    return while_loop(lambda state: state.goes_on, attempt, start).found


def solved_once(model: Model, gradient: Any, linear: Linear, is_relaxed: Any, weight: Any, may_relax: bool) -> Minimum:
    """Minimise the model. The variable that relaxes is at zero where it is not used."""
    n, me = len(gradient), linear.equations
    m = len(linear.values)
    roots = np.sqrt(model.diagonal)
    A = roots[:, np.newaxis] * model.lower.T
    b = -triangular_solution(model.lower, gradient) / roots
    E, f = linear.normals[:me], -linear.values[:me]
    G, h = linear.normals[me:], -linear.values[me:]
    lowest, highest = linear.to_lower, linear.to_upper
    if may_relax:
        A = np.concatenate((A, np.zeros((1, n))))
        A = np.concatenate((A, np.where(np.arange(n + 1) == n, weight, 0.0)[:, np.newaxis]), axis=1)
        b = np.concatenate((b, np.zeros(1)))
        E = with_column(E, np.where(is_relaxed, f, 0.0))
        G = with_column(G, np.where(is_relaxed, np.maximum(h, 0.0), 0.0))
        end = np.where(is_relaxed, np.array([0.0, 1.0]), np.nan)
        lowest, highest = np.concatenate((lowest, end[:1])), np.concatenate((highest, end[1:]))
    rows = Rows(G, h, np.ones(m - me, dtype=bool), np.where(is_relaxed, 0, 1))
    if may_relax:
        units = np.eye(n + 1)
        rows = rows._replace(
            matrix=np.concatenate((G, units, -units)), sides=np.concatenate((h, lowest, -highest)),
            are_there=np.concatenate((rows.are_there, np.isfinite(lowest), np.isfinite(highest))),
        )  # fmt: skip
    if me == n:
        rows = rows._replace(are_there=rows.are_there & is_relaxed)  # the equations alone decide, as in SciPy
    rows = rows._replace(sides=np.where(rows.are_there, rows.sides, 0.0))
    found = constrained(A, b, E, f, rows, me > 0, may_relax)
    multipliers = np.concatenate((found.of_equations, found.of_rows[: m - me]))
    step = found.x[:n]
    step = np.where(step < linear.to_lower, linear.to_lower, np.where(step > linear.to_upper, linear.to_upper, step))
    if not may_relax:
        return Minimum(step, multipliers, np.zeros(n), np.zeros(n), np.float64(1.0), np.bool_(False), found.mode)
    of_lower, of_upper = found.of_rows[m - me : m - me + n], found.of_rows[m - me + n + 1 : m - me + 2 * n + 1]
    share = np.where(is_relaxed, 1.0 - found.x[n], 1.0)
    return Minimum(step, multipliers, of_lower, of_upper, share, is_relaxed, found.mode)


def with_column(matrix: Any, column: Any) -> Any:
    return np.concatenate((matrix, column[:, np.newaxis]), axis=1)
