"""Vertices: the points at which as many constraints hold with equality as there are variables."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.library.scipy.solution import solved


class Facets(NamedTuple):
    """Rows of a matrix, what their products with the point are, and which of them hold with equality."""

    matrix: Any
    sides: Any
    are_active: Any


def joined(*parts: Facets) -> Facets:
    matrix, sides, masks = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Facets(matrix, sides, masks & np.isfinite(sides))


def active_rows(facets: Facets) -> Any:
    """The matrix with zeros in rows that are not active."""
    return np.where(facets.are_active[:, np.newaxis], facets.matrix, 0.0)


def has_one_point(facets: Facets) -> Any:
    """Whether the active facets meet in one point."""
    sizes = np.linalg.svd(active_rows(facets), compute_uv=False)
    return sizes[-1] > 1e-12 * sizes[0]


def with_all(facets: Facets, is_valid: Any) -> Facets:
    """Return facets of which all are active where the point is not valid: its derivatives by all of them are NaN then,
    not 0."""
    return facets._replace(are_active=facets.are_active | (~is_valid & np.isfinite(facets.sides)))


def vertex(facets: Facets, costs: Any, x: Any, is_valid: Any) -> Any:
    """Return the point where facets meet, with the derivatives that follow from it."""
    used = with_all(facets, is_valid)
    rows, sides = active_rows(used), np.where(used.are_active, used.sides, 0.0)
    unmoved = 0.0 * costs  # costs do not move a point, but choose between points that are as good
    return solved(lambda z: np.dot(rows.T, np.dot(rows, z) - sides) + unmoved, x, is_valid)


def weights_of(facets: Facets, costs: Any, weights: Any, is_valid: Any) -> Any:
    """Return the weights of active rows whose sum is the vector of costs, with the derivatives that follow from it."""
    used = with_all(facets, is_valid)
    rows = active_rows(used)

    def equation(y: Any) -> Any:
        return np.where(used.are_active, np.dot(rows, np.dot(rows.T, y) - costs), y)

    return solved(equation, weights, is_valid)
