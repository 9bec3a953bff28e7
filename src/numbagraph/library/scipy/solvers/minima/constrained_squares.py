"""Least squares with equations and inequalities: equations by their null space, the rest by the least vector within
half-spaces."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.library.scipy.solvers.minima.least_distance import FOUND, least_vector
from numbagraph.library.scipy.solvers.minima.limited_memory import triangular_solution
from numbagraph.library.scipy.solvers.minima.objective import PRECISION

SINGULAR_SQUARES, SINGULAR_EQUATIONS, RANK_DEFICIENT = 5, 6, 7


class Rows(NamedTuple):
    """Inequalities ``matrix @ x >= sides``, of which some are not there. They do not depend on ``spare`` variables."""

    matrix: Any
    sides: Any
    are_there: Any
    spare: Any


class Solution(NamedTuple):
    """A point, multipliers of equations and inequalities, and a status."""

    x: Any
    of_equations: Any
    of_rows: Any
    mode: Any


class Plane(NamedTuple):
    """Orthonormal vectors across and along the points that fulfil equations, one of these points, the triangle that
    belongs to the first, and whether the equations are independent."""

    across: Any
    along: Any
    point: Any
    triangle: Any
    is_regular: Any


def plane_of(E: Any, f: Any) -> Plane:
    """Return the points with ``E x = f``. The last equation comes first, as in RQ factors."""
    count = len(f)
    q, r = np.linalg.qr(E[::-1].T, mode="complete")
    triangle = r[:count]
    is_regular = np.all(np.abs(np.diagonal(triangle)) >= PRECISION)
    shares = triangular_solution(triangle.T, f[::-1])
    return Plane(q[:, :count], q[:, count:], np.dot(q[:, :count], shares), triangle, is_regular)


def constrained(A: Any, b: Any, E: Any, f: Any, rows: Rows, has_equations: bool, has_rows: bool) -> Solution:
    """Return the ``x`` with the least ``A x - b`` that fulfils ``E x = f`` and inequalities."""
    if not has_equations:
        return bounded(A, b, rows, has_rows)
    plane = plane_of(E, f)
    inside = rows._replace(matrix=np.dot(rows.matrix, plane.along), sides=rows.sides - np.dot(rows.matrix, plane.point))
    found = bounded(np.dot(A, plane.along), b - np.dot(A, plane.point), inside, has_rows)
    x = plane.point + np.dot(plane.along, found.x)
    force = np.dot(A.T, np.dot(A, x) - b) - np.dot(found.of_rows, rows.matrix)
    multipliers = triangular_solution(plane.triangle, np.dot(force, plane.across), lower=False)[::-1]
    mode = np.where(plane.is_regular, found.mode, SINGULAR_EQUATIONS)
    return Solution(x, multipliers, found.of_rows, mode)


def bounded(A: Any, b: Any, rows: Rows, has_rows: bool) -> Solution:
    """Return the ``x`` with the least ``A x - b`` that fulfils inequalities."""
    q, r = np.linalg.qr(A)
    right = np.dot(b, q)
    if not has_rows:
        sizes = np.linalg.svd(r, compute_uv=False)
        mode = np.where(sizes[-1] > PRECISION**0.5 * sizes[0], FOUND, RANK_DEFICIENT)
        return Solution(triangular_solution(r, right, lower=False), np.zeros(0), rows.sides, mode)
    is_regular = np.all(np.abs(np.diagonal(r)) >= PRECISION)
    G = triangular_solution(r.T, rows.matrix.T).T
    sides, room = rows.sides - np.dot(G, right), len(right) - rows.spare
    move, multipliers, mode = least_vector(G, sides, rows.are_there, room)
    x = triangular_solution(r, move + right, lower=False)
    return Solution(x, np.zeros(0), multipliers, np.where(is_regular, mode, SINGULAR_SQUARES))
