"""Cubic functions on triangles whose slopes are continuous: those of Clough and Tocher.

[P. Alfeld, A trivariate Clough-Tocher scheme for tetrahedral data, 1984; G. Farin, Triangular Bernstein-Bézier patches,
1986; G. Nielson, A method for interpolating scattered data based upon a minimum norm network, 1983]
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import known, refuse

MOST_POINTS = 2000
"""For how many points slopes are one product with a matrix, of twice the square of the number."""


@lru_cache(64)
def transition(triangulation: Any) -> np.ndarray:
    """For each side of each triangle, where the line between the centres of the triangle and of its neighbour crosses
    it. The slope across the side is linear along this direction, so that both triangles have the same one."""
    points, neighbors = triangulation.points, triangulation.neighbors
    centres = points[triangulation.simplices[np.maximum(neighbors, 0)]].mean(axis=-2)
    transform = triangulation.transform
    first = np.einsum("tij,tkj->tki", transform[:, :2], centres - transform[:, None, 2])
    c = np.concatenate([first, 1 - first.sum(axis=-1, keepdims=True)], axis=-1)
    found = np.empty(neighbors.shape)
    for side, (one, two) in enumerate(((2, 1), (0, 2), (1, 0))):
        with np.errstate(all="ignore"):
            share = (2 * c[:, side, one] + c[:, side, two] - 1) / (2 - 3 * c[:, side, one] - 3 * c[:, side, two])
        found[:, side] = np.where(neighbors[:, side] < 0, -0.5, share)
    return found


def cubic_values(points: Any, f: Any, slopes: Any, b: Any, g: Any) -> Any:
    """The values at barycentric coordinates, of triangles with these corners, values and slopes there.

    The triangle is three smaller ones, which meet in its centre; a coefficient is named by the powers of the
    coordinates of three corners and of the centre.
    """
    sides = [points[..., (n + 1) % 3, :] - points[..., n, :] for n in range(3)]

    def along(corner: int, side: int, sign: float) -> Any:
        """A third of the slope at a corner along a side."""
        gradient = slopes[..., corner, :, :]
        return sign * np.sum(gradient * np.expand_dims(sides[side], -2), axis=-1) / 3

    c3000, c0300, c0030 = (f[..., n, :] for n in range(3))
    c2100, c2010 = c3000 + along(0, 0, 1.0), c3000 + along(0, 2, -1.0)
    c0210, c1200 = c0300 + along(1, 1, 1.0), c0300 + along(1, 0, -1.0)
    c1020, c0120 = c0030 + along(2, 2, 1.0), c0030 + along(2, 1, -1.0)
    c2001, c0201, c0021 = (c2100 + c2010 + c3000) / 3, (c1200 + c0300 + c0210) / 3, (c1020 + c0120 + c0030) / 3
    g0, g1, g2 = (g[..., n, None] for n in range(3))
    c0111 = inner(g0, c0300, c0210, c0120, c0030, c0021, c0201)
    c1011 = inner(g1, c0030, c1020, c2010, c3000, c2001, c0021)
    c1101 = inner(g2, c3000, c2100, c1200, c0300, c2001, c0201)
    c1002, c0102, c0012 = (c1101 + c1011 + c2001) / 3, (c1101 + c0111 + c0201) / 3, (c1011 + c0111 + c0021) / 3
    c0003 = (c1002 + c0102 + c0012) / 3
    least = np.min(b, axis=-1, keepdims=True)
    b1, b2, b3 = (b[..., n, None] - least for n in range(3))
    b4 = 3 * least
    return (
        b1**3 * c3000 + b2**3 * c0300 + b3**3 * c0030 + b4**3 * c0003
        + 3 * b1**2 * (b2 * c2100 + b3 * c2010 + b4 * c2001)
        + 3 * b2**2 * (b1 * c1200 + b3 * c0210 + b4 * c0201)
        + 3 * b3**2 * (b1 * c1020 + b2 * c0120 + b4 * c0021)
        + 3 * b4**2 * (b1 * c1002 + b2 * c0102 + b3 * c0012)
        + 6 * b4 * (b1 * b2 * c1101 + b1 * b3 * c1011 + b2 * b3 * c0111)
    )  # fmt: skip


def inner(g: Any, one: Any, near: Any, far: Any, two: Any, from_two: Any, from_one: Any) -> Any:
    """The coefficient beside a side, from those along it and the two next to its ends."""
    return (g * (two - one + 3 * near - 3 * far) + 2 * near - one - far + from_two + from_one) / 2


def slopes_of(triangulation: Any, values: Any) -> Any:
    """The slopes at points for which the bending of all sides is least."""
    if len(triangulation.points) > MOST_POINTS:
        refuse(
            f"scipy.interpolate.CloughTocher2DInterpolator of more than {MOST_POINTS} traced values",
            "make it outside, or scipy.interpolate.LinearNDInterpolator",
        )
    count = known(values, "the values of an interpolant")[1]
    found = slope_matrix(triangulation) @ values
    return np.swapaxes(found.reshape((-1, 2, count)), -1, -2)


@lru_cache(16)
def slope_matrix(triangulation: Any) -> np.ndarray:
    """The matrix that gives slopes, x and y in turn, of values."""
    points = triangulation.points
    starts, others = triangulation.vertex_neighbor_vertices
    own = np.repeat(np.arange(len(points)), np.diff(starts))
    edges = points[others] - points[own]
    cubes = np.sum(edges**2, axis=-1) ** 1.5
    left, right = np.zeros((len(points), 2, len(points), 2)), np.zeros((len(points), 2, len(points)))
    products = 2 * np.einsum("ei,ej->eij", edges, edges) / cubes[:, None, None]
    beside: Any = (own, slice(None), others)
    itself: Any = (own, slice(None), own)
    np.add.at(left, beside, products)
    np.add.at(left, itself, 2 * products)
    pull = 6 * edges / cubes[:, None]
    np.add.at(right, beside, pull)
    np.add.at(right, itself, -pull)
    size = 2 * len(points)
    return np.linalg.solve(left.reshape(size, size), right.reshape(size, -1))
