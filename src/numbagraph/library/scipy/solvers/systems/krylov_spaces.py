"""Solutions of linear systems in Krylov spaces: GMRES, and LGMRES with vectors of earlier systems, as SciPy has them.

A method asks for the product of the matrix with one vector after the other. The caller computes these, so that what the
matrix is made of is evaluated at one place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from numbagraph.api.branches import cond
from numbagraph.api.loops import fori_loop
from numbagraph.ops.linalg.singular import on_linalg_error

Function = Callable[..., Any]

PRECISION = float(np.finfo(np.float64).eps)
ROUNDING = 1e-12
"""How small a pivot is, beside the largest, from which on the solution is the shortest one of least squares."""


class Method(NamedTuple):
    """An empty memory; ``begin(memory, right, tolerance)``; and ``advance(memory, product)``.

    A memory has the vector whose product is asked for next, whether the system is solved, and the solution."""

    memory: Any
    begin: Function
    advance: Function


class Space(NamedTuple):
    """Orthonormal vectors in rows, the directions whose products they span, and the triangle between both.

    Columns of the triangle are rows here, and what is behind the first ``count`` is masked where it is read.
    ``cosines`` and ``sines`` are rotations that made the triangle, ``sides`` the rotated right side. ``kept`` are
    directions of earlier systems."""

    vector: Any
    is_done: Any
    solution: Any
    basis: Any
    directions: Any
    triangle: Any
    cosines: Any
    sines: Any
    sides: Any
    count: Any
    limit: Any
    tolerance: Any
    scale: Any
    is_extra: Any
    kept: Any
    kept_count: Any


class Column(NamedTuple):
    """A vector without its parts along the basis, its column of the triangle, and the element that is not rotated."""

    rest: Any
    column: Any
    last: Any


def space_of(n: Any, rows: int, kept: int) -> Space:
    """Return an empty memory for so many directions, of which some may be of earlier systems."""
    zero, count, no = np.float64(0.0), np.int64(0), np.bool_(False)
    nothing, steps = np.zeros(n), np.zeros(rows)
    return Space(
        nothing, no, nothing, np.zeros((rows + 1, n)), np.zeros((rows, n)), np.zeros((rows, rows)), steps, steps,
        np.zeros(rows + 1), count, count, zero, zero, no, np.zeros((max(kept, 1), n)), count,
    )  # fmt: skip


def lgmres(n: Any, inner_m: int = 30, outer_k: int = 10, rtol: Any = None, atol: Any = 0.0) -> Method:
    """One round of LGMRES. Solutions of the last systems are the first directions of the next."""
    rows = inner_m + outer_k

    def begin(old: Space, right: Any, tolerance: Any) -> Space:
        size = np.linalg.norm(right)
        relative = tolerance if rtol is None else rtol
        first = (1.0 / size) * right
        direction = np.where(old.kept_count > 0, old.kept[0], first)
        level = np.minimum(1.0, np.maximum(atol, relative * size) / size)
        return begun(old, first, direction, np.float64(1.0), inner_m + old.kept_count, level, size)

    def advance(old: Space, product: Any) -> Space:
        rest, column, sides, size = extended(old, product)
        is_broken = ~(size > PRECISION * np.linalg.norm(product))
        inverse = 1.0 / size
        new = grown(old, np.where(np.isfinite(inverse), inverse * rest, rest), column, sides)
        is_last = (np.abs(new.sides[new.count]) < new.tolerance) | is_broken | (new.count == new.limit)

        def ended() -> Space:
            found = new.scale * combined(new)
            found = np.where(np.all(np.isfinite(found)), found, 0.0)
            return kept_with(new, found, outer_k)._replace(solution=found, is_done=np.bool_(True))

        def continued() -> Space:
            at = np.where(new.count > new.kept_count, new.count, 0)
            direction = np.where(new.count < new.kept_count, new.kept[new.count % len(new.kept)], new.basis[at])
            return asked(new, direction)

        return cond(is_last, ended, continued)

    return Method(space_of(n, rows, outer_k), begin, advance)


def gmres(n: Any, restart: int = 20, rtol: Any = None, atol: Any = 0.0) -> Method:
    """One round of GMRES, and the product with its solution, which SciPy computes to see how good it is."""

    def begin(old: Space, right: Any, tolerance: Any) -> Space:
        size = np.linalg.norm(right)
        relative = tolerance if rtol is None else rtol
        level = size * np.minimum(1.0, np.maximum(atol, relative * size) / size)
        first = right * (1.0 / size)
        return begun(old, first, first, size, np.minimum(restart, n), level, np.float64(1.0))

    def advance(old: Space, product: Any) -> Space:
        def following() -> Space:
            rest, column, sides, size = extended(old, product)
            is_broken = size <= PRECISION * np.linalg.norm(product)
            scale = np.where(is_broken, 1.0, 1.0 / np.where(is_broken, 1.0, size))
            new = grown(old, scale * rest, column, sides)
            is_last = (np.abs(new.sides[new.count]) <= new.tolerance) | is_broken | (new.count == new.limit)

            def ended() -> Space:
                found = combined(new)
                return new._replace(solution=found, vector=found, is_extra=np.bool_(True))

            return cond(is_last, ended, lambda: asked(new, new.basis[new.count]))

        return cond(old.is_extra, lambda: old._replace(is_done=np.bool_(True)), following)

    return Method(space_of(n, restart, 0), begin, advance)


def begun(old: Space, first: Any, direction: Any, side: Any, limit: Any, tolerance: Any, scale: Any) -> Space:
    """Begin with a first vector of the basis and a first direction."""
    no = np.bool_(False)
    new = old._replace(
        is_done=no, is_extra=no, basis=placed(old.basis, 0, first), count=np.int64(0), limit=np.int64(0) + limit,
        tolerance=np.float64(0.0) + tolerance, scale=scale, sides=np.where(np.arange(len(old.sides)) == 0, side, 0.0),
    )  # fmt: skip
    return asked(new, direction)


def asked(space: Space, direction: Any) -> Space:
    return space._replace(vector=direction, directions=placed(space.directions, space.count, direction))


def placed(rows: Any, at: Any, row: Any) -> Any:
    """Return a matrix with another row."""
    found = rows.copy()
    found[at] = row
    return found


def extended(space: Space, product: Any) -> tuple[Any, Any, Any, Any]:
    """Return what of a product is not along the basis, its column of the triangle with its rotation, the rotated right
    side, and the size of the first."""
    places = np.arange(len(space.triangle))

    def step(i: Any, old: Column) -> Column:
        share = np.dot(space.basis[i], old.rest)
        before = np.maximum(i - 1, 0)
        cosine, sine = space.cosines[before], space.sines[before]
        is_first = i == 0
        rotated = np.where((places == i - 1) & (i > 0), cosine * old.last + sine * share, old.column)
        last = np.where(is_first, share, -sine * old.last + cosine * share)
        return Column(old.rest - share * space.basis[i], rotated, last)

    start = Column(product, np.zeros(len(space.triangle)), np.float64(0.0))
    found = fori_loop(0, space.count + 1, step, start)
    size = np.linalg.norm(found.rest)
    radius = np.hypot(found.last, size)
    is_zero = radius == 0
    cosine = np.where(is_zero, 1.0, found.last / np.where(is_zero, 1.0, radius))
    sine = np.where(is_zero, 0.0, size / np.where(is_zero, 1.0, radius))
    column = np.where(places == space.count, radius, found.column)
    return found.rest, (column, cosine, sine), rotated_sides(space, cosine, sine), size


def rotated_sides(space: Space, cosine: Any, sine: Any) -> Any:
    numbers = np.arange(len(space.sides))
    side = space.sides[space.count]
    here = np.where(numbers == space.count, cosine * side, space.sides)
    return np.where(numbers == space.count + 1, -sine * side, here)


def grown(space: Space, vector: Any, found: tuple[Any, Any, Any], sides: Any) -> Space:
    column, cosine, sine = found
    is_here = np.arange(len(space.cosines)) == space.count
    return space._replace(
        basis=placed(space.basis, space.count + 1, vector), triangle=placed(space.triangle, space.count, column),
        cosines=np.where(is_here, cosine, space.cosines), sines=np.where(is_here, sine, space.sines), sides=sides,
        count=space.count + 1,
    )  # fmt: skip


def combined(space: Space) -> Any:
    """Return the combination of directions that leaves least of the right side."""
    numbers = np.arange(len(space.triangle))
    is_used = numbers < space.count
    known = is_used[:, np.newaxis] & is_used[np.newaxis, :]
    matrix = np.where(known, space.triangle.T, 0.0)
    sides = np.where(is_used, space.sides[:-1], 0.0)
    pivots = np.abs(np.diagonal(matrix))
    is_singular = np.min(np.where(is_used, pivots, np.inf)) <= ROUNDING * np.max(pivots)

    def shortest() -> Any:
        with on_linalg_error("nan"):
            return np.linalg.lstsq(matrix, sides, rcond=PRECISION)[0]

    def only() -> Any:
        regular = np.where(np.diag(~is_used), 1.0, matrix)
        with on_linalg_error("nan"):
            return solve_triangular(regular, sides, check_finite=False)

    return np.dot(cond(is_singular, shortest, only), space.directions)


def kept_with(space: Space, solution: Any, most: int) -> Space:
    """Return the memory with the direction of one more solution, without the oldest if there are too many."""
    size = np.linalg.norm(solution)
    if most == 0:
        return space
    is_full = space.kept_count == most
    rows = np.where(is_full, np.roll(space.kept, -1, axis=0), space.kept)
    at = np.minimum(space.kept_count, most - 1)
    is_new = size > 0
    return space._replace(
        kept=np.where(is_new, placed(rows, at, solution / np.where(is_new, size, 1.0)), space.kept),
        kept_count=np.where(is_new, at + 1, space.kept_count),
    )
