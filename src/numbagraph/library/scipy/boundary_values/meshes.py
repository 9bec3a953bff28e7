"""Meshes for boundary value problems, which become finer where the residuals are large."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.arguments import zeros
from numbagraph.library.scipy.boundary_values.collocation import Equations, coefficients, rms_residuals
from numbagraph.library.scipy.boundary_values.damped_steps import solved_on_mesh

MOST_MESHES = 10
GOES_ON, CONVERGED, TOO_FINE, SINGULAR, NO_BOUNDARY = -1, 0, 1, 2, 3


class Mesh(NamedTuple):
    """The last mesh and what was found on it, in arrays with room for the finest one."""

    x: Any
    y: Any
    slopes: Any
    count: Any
    """The number of its points."""
    p: Any
    errors: Any
    """The errors on its intervals."""
    largest: Any
    """The largest error of a boundary condition."""
    status: Any
    number: Any


def refined(equations: Equations, given: Any, room: Any, limits: tuple[Any, Any, Any]) -> Mesh:
    """Solve on one mesh after the other, each of which has more points where the residuals of the last one are
    large."""
    x, y, p = given
    count = x.shape[0]
    tol, bc_tol, max_nodes = limits
    all_x, all_y = zeros((room,), x.dtype), zeros((y.shape[0], room), y.dtype)
    slopes = np.zeros_like(all_y)
    all_x[:count], all_y[:, :count] = x, y
    zero, none = np.float64(0.0), np.int64(0)
    start = Mesh(all_x, all_y, slopes, none + count, p, zeros((room,), x.dtype), zero, np.int64(GOES_ON), none)

    def following(mesh: Mesh) -> Mesh:
        count, number = mesh.count, mesh.number + 1
        x = mesh.x[:count]
        y, p, found, is_singular = solved_on_mesh(equations, x, mesh.y[:, :count], mesh.p, tol, bc_tol)
        cubics = coefficients(x, y, found.f)
        errors = rms_residuals(equations, x, p, cubics, found)
        largest = np.max(np.abs(found.boundary))
        added = np.where(errors >= 100 * tol, 2, np.where(errors > tol, 1, 0))
        total = np.sum(added)
        status = np.where(number >= MOST_MESHES, NO_BOUNDARY, GOES_ON)
        status = np.where(largest <= bc_tol, CONVERGED, status)
        status = np.where(total > 0, GOES_ON, status)
        status = np.where(count + total > max_nodes, TOO_FINE, status)
        status = np.where(is_singular, SINGULAR, status)
        all_y, slopes, all_errors = mesh.y.copy(), mesh.slopes.copy(), mesh.errors.copy()
        all_y[:, :count], slopes[:, :count], all_errors[: count - 1] = y, found.f, errors
        new_x, new_y = with_points(mesh.x, cubics, added, count)
        grows = (status == GOES_ON) & (total > 0)
        return Mesh(
            np.where(grows, new_x, mesh.x), np.where(grows, new_y, all_y), slopes,
            np.where(grows, count + total, count), p, all_errors, largest, status, number,
        )  # fmt: skip

    found: Mesh = while_loop(lambda mesh: mesh.status == GOES_ON, following, start)
    return found


def with_points(x: Any, cubics: Any, added: Any, count: Any) -> tuple[Any, Any]:
    """Return the mesh with points added to its intervals, and the solution there."""
    places = np.cumsum(np.ones_like(x, dtype=np.int64)) - 1
    starts = np.cumsum(added + 1) - added - 1
    interval = np.minimum(np.searchsorted(starts, places, side="right") - 1, count - 2)
    within, inside = places - starts[interval], added[interval]
    low, high = x[interval], x[interval + 1]
    first = np.where(inside == 1, 0.5 * (low + high), (2 * low + high) / 3)
    point = np.where(within == 1, first, (low + 2 * high) / 3)
    point = np.where(within == 0, low, np.where(within > inside, high, point))
    c3, c2, c1, c0 = (each[interval].T for each in cubics)
    distance = point - low
    return point, ((c3 * distance + c2) * distance + c1) * distance + c0
