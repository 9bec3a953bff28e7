"""The memory of the method ``L-BFGS-B``: the last moves and changes of the gradient, in their compact form."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from numbagraph.ops.linalg.singular import on_linalg_error


class Memory(NamedTuple):
    """Changes of the gradient in the first half of ``rows``, moves in the other, the oldest first.

    Only the first ``count`` of each half are used: what else is there is masked where it is read, so that to forget all
    is to set two numbers. ``gram`` has the products of rows, ``middle`` is the matrix between them in the form
    ``theta * I - W @ middle @ W.T`` of the Hessian, where W has the rows as columns, moves times ``theta``.
    """

    rows: Any
    gram: Any
    middle: Any
    theta: Any
    count: Any


def empty(size: int, n: Any) -> Memory:
    square = np.zeros((2 * size, 2 * size))
    return Memory(np.zeros((2 * size, n)), square, square, np.float64(1.0), np.int64(0))


def size_of(memory: Memory) -> int:
    return memory.gram.shape[0] // 2


def cleared(memory: Memory, condition: Any) -> Memory:
    """Forget all if the condition holds."""
    return memory._replace(
        theta=np.where(condition, 1.0, memory.theta), count=np.where(condition, np.int64(0), memory.count)
    )


def is_used(memory: Memory) -> Any:
    return np.arange(2 * size_of(memory)) % size_of(memory) < memory.count


def scales(memory: Memory) -> Any:
    return np.where(np.arange(2 * size_of(memory)) < size_of(memory), 1.0, memory.theta)


def coordinates(memory: Memory, vector: Any) -> Any:
    """The products of a vector with all rows, those of moves times theta."""
    return np.where(is_used(memory), scales(memory) * np.dot(memory.rows, vector), 0.0)


def combination(memory: Memory, weights: Any) -> Any:
    """The sum of rows with weights."""
    return np.dot(np.where(is_used(memory), weights, 0.0), memory.rows)


def through_middle(memory: Memory, weights: Any) -> Any:
    return np.where(is_used(memory), np.dot(memory.middle, weights), 0.0)


def triangular_solution(factor: Any, right: Any, lower: bool = True) -> Any:
    with on_linalg_error("nan"):
        return solve_triangular(factor, right, lower=lower, check_finite=False)


def cholesky_factor(matrix: Any) -> Any:
    """Return the lower Cholesky factor: NaN if the matrix is not positive definite."""
    with on_linalg_error("nan"):
        return np.linalg.cholesky(matrix)


class Blocks(NamedTuple):
    """The products of changes, of moves with changes, and of moves, zero where rows are not used."""

    yy: Any
    sy: Any
    ss: Any


def blocks_of(memory: Memory, gram: Any) -> Blocks:
    size, used = size_of(memory), is_used(memory)
    known = np.where(used[:, np.newaxis] & used[np.newaxis, :], gram, 0.0)
    return Blocks(known[:size, :size], known[size:, :size], known[size:, size:])


def unused(memory: Memory) -> Any:
    """The diagonal matrix that is 1 for rows that are not used."""
    return np.diag(np.where(is_used(memory)[: size_of(memory)], 0.0, 1.0))


def updated(memory: Memory, move: Any, change: Any, product: Any) -> Memory:
    """Return the memory with one more move. ``product`` is that of the move with the change."""
    size = size_of(memory)
    places = np.arange(2 * size)
    is_full = memory.count == size
    order = np.where(is_full & (places % size < size - 1), places + 1, places)
    at = np.minimum(memory.count, size - 1)
    is_change, is_move = places == at, places == size + at
    rows = memory.rows[order]
    rows = np.where(is_change[:, np.newaxis], change, np.where(is_move[:, np.newaxis], move, rows))
    products = np.dot(rows, np.stack((change, move), axis=1))
    gram = memory.gram[order][:, order]
    gram = np.where(is_change[:, np.newaxis], products[:, 0], np.where(is_move[:, np.newaxis], products[:, 1], gram))
    by_columns = np.where(is_move, products[:, 1:], gram)
    gram = np.where(is_change, products[:, :1], by_columns)
    is_product = (is_change[:, np.newaxis] & is_move) | (is_move[:, np.newaxis] & is_change)
    gram = np.where(is_product, product, gram)
    new = Memory(rows, gram, memory.middle, np.dot(change, change) / product, np.minimum(memory.count + 1, size))
    middle = middle_of(new)
    return cleared(new._replace(middle=middle), ~np.all(np.isfinite(middle)))


def middle_of(memory: Memory) -> Any:
    _, sy, ss = blocks_of(memory, memory.gram)
    size = size_of(memory)
    diagonal = np.diagonal(sy + unused(memory))
    below = np.tril(sy, -1) / diagonal
    matrix = memory.theta * ss + np.dot(below * diagonal, below.T) + unused(memory)
    half = triangular_solution(cholesky_factor(matrix), np.concatenate((below, np.eye(size)), axis=1))
    return np.dot(half.T, half) - np.diag(np.concatenate((1.0 / diagonal, np.zeros(size))))
