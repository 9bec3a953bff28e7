"""Projections to the rows of a matrix and to what is orthogonal to them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.minima.limited_memory import triangular_solution

SMALLEST = 1e-15
"""The singular value below which a direction counts as missing."""
ORTHOGONAL, REFINEMENTS = 1e-12, 3


class Projections(NamedTuple):
    """A matrix, orthonormal vectors that span its rows, as columns, and the inverse that belongs to them: coefficients
    of rows are ``inverse @ basis.T @ x``."""

    matrix: Any
    basis: Any
    inverse: Any


def projections_of(matrix: Any, by_singular_values: bool) -> Projections:
    """Factorise by QR, and by singular values where rows depend on each other, or if asked."""
    count = matrix.shape[0]
    if count == 0:
        return Projections(matrix, matrix.T, np.zeros((0, 0)))
    if by_singular_values:
        return of_singular_values(matrix)
    basis, triangle = np.linalg.qr(matrix.T)

    def regular() -> Projections:
        return Projections(matrix, basis, triangular_solution(triangle, np.eye(count), lower=False))

    return cond(is_singular(triangle), lambda: of_singular_values(matrix), regular)


def is_singular(triangle: Any) -> Any:
    return np.min(np.abs(np.diagonal(triangle))) < SMALLEST


def of_singular_values(matrix: Any) -> Projections:
    u, sizes, vt = np.linalg.svd(matrix, full_matrices=False)
    are_there = sizes > SMALLEST
    return Projections(matrix, vt.T, u * np.where(are_there, 1.0 / np.where(are_there, sizes, 1.0), 0.0))


def lacks_rows(projections: Projections) -> Any:
    """Whether directions were left out, since rows depend on each other."""
    return np.any(np.all(projections.inverse == 0.0, axis=0))


def shares(projections: Projections, x: Any) -> Any:
    """Return the coefficients of rows whose combination is nearest to ``x``."""
    return np.dot(projections.inverse, np.dot(projections.basis.T, x))


def least_solution(projections: Projections, right: Any) -> Any:
    """Return the least ``x`` with ``matrix @ x = right``."""
    return np.dot(projections.basis, np.dot(projections.inverse.T, right))


class Refinement(NamedTuple):
    """A vector that becomes orthogonal to all rows, and how often it was refined."""

    vector: Any
    count: Any


def orthogonal_part(projections: Projections, x: Any) -> Any:
    """Return the part of ``x`` that is orthogonal to all rows, refined against rounding errors."""
    matrix = projections.matrix
    if matrix.shape[0] == 0:
        return x
    size = np.sqrt(np.sum(matrix * matrix))

    def without_rows(vector: Any) -> Any:
        return vector - np.dot(matrix.T, shares(projections, vector))

    def goes_on(state: Refinement) -> Any:
        rest = np.linalg.norm(np.dot(matrix, state.vector))
        bound = ORTHOGONAL * size * np.linalg.norm(state.vector)
        return (state.count <= REFINEMENTS) & ((state.count == 0) | (rest > bound))

    def refined(state: Refinement) -> Refinement:
        return Refinement(without_rows(state.vector), state.count + 1)

    return while_loop(goes_on, refined, Refinement(x, np.int64(0))).vector
