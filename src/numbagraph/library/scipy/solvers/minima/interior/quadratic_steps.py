"""Byrd's and Omojokun's two steps within a trust region: towards linear equations, and along their solutions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.minima.interior.intersections import (
    Room,
    inside,
    inside_of_line,
    is_above,
)
from numbagraph.library.scipy.solvers.minima.interior.projections import (
    Projections,
    least_solution,
    orthogonal_part,
)
from numbagraph.library.scipy.solvers.minima.minpack_step import chosen

TINY = 1e-25
AT_LIMIT, AT_BOUNDARY, CONCAVE, SMALL = 1, 2, 3, 4
"""Why conjugate gradients end, in SciPy's numbers."""


def normal_step(projections: Projections, right: Any, room: Room) -> Any:
    """Return a step within a room that makes ``matrix @ step + right`` small: Newton's one, or one along a dogleg."""
    matrix = projections.matrix
    newton = -least_solution(projections, right)
    is_inside = is_above(newton, room.floor) & (np.linalg.norm(newton) <= room.radius)
    slope = np.dot(matrix.T, right)
    image = np.dot(matrix, slope)
    cauchy = -np.dot(slope, slope) / np.dot(image, image) * slope
    origin = np.zeros(len(cauchy))
    starts, moves = np.stack((cauchy, origin, origin)), np.stack((newton - cauchy, cauchy, newton))
    found = inside(starts, moves, room)
    bent, short, straight = starts + found.end[:, None] * moves
    dogleg = np.where(found.is_there[0], bent, short)
    is_lower = np.linalg.norm(np.dot(matrix, dogleg) + right) < np.linalg.norm(np.dot(matrix, straight) + right)
    return np.where(is_inside, newton, np.where(is_lower, dogleg, straight))


class Quadratic(NamedTuple):
    """Half a quadratic form and a linear one: the form is a matrix of the first variables and a diagonal of others."""

    hessian: Any
    diagonal: Any
    slope: Any


def image_of(quadratic: Quadratic, x: Any) -> Any:
    n = quadratic.hessian.shape[0]
    return np.concatenate((np.dot(quadratic.hessian, x[:n]), quadratic.diagonal * x[n:]))


class Step(NamedTuple):
    """A step, how many iterations it took and why they ended."""

    step: Any
    count: Any
    end: Any


class Search(NamedTuple):
    """The state of conjugate gradients, with the last point on a step that was above the floor.

    A pass starts with the projection of the residual."""

    x: Any
    residual: Any
    direction: Any
    square: Any
    tolerance: Any
    inner: Any
    count: Any
    passes: Any
    end: Any


def tangential_step(quadratic: Quadratic, projections: Projections, room: Room, most: int) -> Step:
    """Minimise a quadratic function along the null space of a matrix by at most ``most`` conjugate gradients."""

    def step(old: Search) -> Search:
        g = orthogonal_part(projections, old.residual)
        square = np.linalg.norm(g) ** 2
        is_first = old.passes == 0
        start = np.fmax(np.minimum(0.01 * np.sqrt(square), 0.1 * square), TINY)
        tolerance = np.where(is_first, start, old.tolerance)
        p = np.where(is_first, -g, -g + square / old.square * old.direction)
        image = image_of(quadratic, p)
        curvature = np.dot(p, image)
        is_small, is_concave = square < tolerance, curvature <= 0.0
        length = square / curvature
        ahead = old.x + length * p
        move = np.where(is_concave, p, length * p)
        segment = inside(old.x, move, room)
        stretch = chosen(is_concave, inside_of_line(old.x, move, room), segment)
        to_wall = np.where(stretch.is_there, old.x + stretch.end * move, old.x)
        to_wall = np.maximum(to_wall, room.floor)
        is_far = np.linalg.norm(ahead) >= room.radius
        is_low = ~is_above(ahead, room.floor)
        is_at_wall = is_concave | is_far
        x = np.where(is_small, old.x, np.where(is_at_wall, to_wall, ahead))
        end = np.where(is_small, SMALL, np.where(is_concave, CONCAVE, np.where(is_far, AT_BOUNDARY, 0)))
        return Search(
            x, g + length * image, p, square, tolerance,
            np.where(~is_small & ~is_at_wall & is_low & segment.is_there, to_wall, old.inner),
            old.count + np.where(is_small, 0, 1), old.passes + 1, end,
        )  # fmt: skip

    zero, number = np.int64(0), np.float64(0.0)
    nothing = np.zeros(len(quadratic.slope))
    is_filled = room.radius < TINY
    start = Search(
        nothing, quadratic.slope, nothing, number, number, nothing, zero, zero,
        np.where(is_filled, np.int64(AT_BOUNDARY), zero),
    )  # fmt: skip
    found = while_loop(lambda state: (state.end == 0) & (state.passes < most), step, start)
    x = np.where(is_above(found.x, room.floor) | is_filled, found.x, found.inner)
    return Step(x, found.count, np.where(found.end == 0, np.int64(AT_LIMIT), found.end))
