"""Helpers that the ops of linear algebra share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial, wraps
from typing import Any

import numpy as np

from numbagraph.blockwise.core import batch_of_cores
from numbagraph.blockwise.promotion import common_rule, promote
from numbagraph.blockwise.signature import parse
from numbagraph.ir.op import quiet, registry
from numbagraph.ir.values import Op, Value, Vjp
from numbagraph.ops.arithmetic import conjugate, multiply
from numbagraph.ops.creation import eye, tri
from numbagraph.ops.identity import with_derivative
from numbagraph.ops.product import matrix_product, transposed_matrix
from numbagraph.ops.selection import where


def adjoint(value: Value) -> Value:
    """The conjugate of the transposed matrix."""
    return transposed_matrix(conj(value))


def conj(value: Value) -> Value:
    return conjugate(value) if value.dtype.kind == "c" else value


def product(*factors: Value) -> Value:
    """The product of matrices, from the left to the right."""
    result, *rest = promote(common_rule(), factors)
    for each in rest:
        result = matrix_product(result, each)
    return result


def masked(value: Value, k: int = 0, *, upper: bool = False) -> Value:
    """The elements on and below diagonal ``k`` (or on and above it), and zeros elsewhere."""
    rows, columns = value.shape[-2:]
    inside = tri(rows, columns, k - 1 if upper else k, bool)
    zero = number(0, value)
    return where(inside, zero, value) if upper else where(inside, value, zero)


def number(value: complex, like: Value) -> Any:
    return np.asarray(value, like.dtype)[()]


def half_diagonal(value: Value) -> Value:
    """Return the lower triangle, with half of the diagonal."""
    weight = tri(value.shape[-2], value.shape[-1], 0, value.dtype) - number(0.5, value) * unit(value)
    return multiply(value, weight)


def unit(value: Value) -> Value:
    """The unit matrix of the same length and dtype."""
    return eye(value.shape[-1], dtype=value.dtype)


def triangular_solution(
    a: Value, b: Value, *, trans: int = 0, lower: bool = True, unit_diagonal: bool = False, on_error: str = "ignore"
) -> Value:
    """Return the solution for the columns of ``b``; the matrix is a factor from another op, which has checked its
    diagonal."""
    bind = registry["solve_triangular"].bind
    return bind(a, b, trans=trans, lower=lower, unit_diagonal=unit_diagonal, on_error=on_error)


def factored_solution(
    a: Value, factors: Value, pivots: Value, b: Value, *, trans: int = 0, on_error: str = "ignore"
) -> Value:
    """Return the solution for the columns of ``b``, by the factors of the matrix ``a``."""
    return registry["solve_factored"].bind(a, factors, pivots, b, trans=trans, on_error=on_error)


def computed(name: str, signature: str, vjp: Vjp, jnp: Callable[..., Any]) -> Op:
    """Declare an op that gives its first operand, which was computed from the others: derivatives follow from how it
    depends on them, rather than from how it was computed."""
    return with_derivative(name, vjp, jnp, batch_of_cores(parse(signature)))


def reference(
    signature: str, *, stacks: bool = False, like: int | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that makes the reference of a core op from a function of single matrices, or of ``stacks``.

    The reference takes ``on_error``, if it is given: where `numpy.linalg.LinAlgError` is raised, the results are NaN
    instead. Their shapes and dtypes are found with the unit matrix, or are those of the operand ``like``.
    """
    parsed = parse(signature)

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*arrays: Any, on_error: str = "raise", **attrs: Any) -> Any:
            arrays = tuple(map(np.asarray, arrays))
            if stacks and on_error == "raise":
                return quiet(function, *arrays, **attrs)
            ranks = [a.ndim - len(names) for a, names in zip(arrays, parsed.inputs, strict=True)]
            batch = np.broadcast_shapes(*[a.shape[:rank] for a, rank in zip(arrays, ranks, strict=True)])
            spread = [np.broadcast_to(a, (*batch, *a.shape[rank:])) for a, rank in zip(arrays, ranks, strict=True)]
            single = partial(quiet, function, **attrs)
            example = single if like is None else partial(zeros_like_one, like)
            return stacked(single if on_error == "raise" else partial(or_nan, single, example), spread, batch, example)

        return call

    return declare


def zeros_like_one(number: int, *arrays: np.ndarray) -> np.ndarray:
    return np.zeros_like(arrays[number])


def or_nan(function: Callable[..., Any], example: Callable[..., Any], *arrays: np.ndarray) -> Any:
    """Return the results for one matrix, or NaN where it has none."""
    try:
        return function(*arrays)
    except np.linalg.LinAlgError:
        found = example(*stand_ins(arrays))
        filled = tuple(
            np.full_like(each, np.nan) if np.asarray(each).dtype.kind in "fc" else each for each in results(found)
        )
        return filled if isinstance(found, tuple) else filled[0]


def stand_ins(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return arrays of the same shapes for which every factorisation and solution exists."""
    rng = np.random.default_rng(0)
    return [stand_in(each, rng) for each in arrays]


def stand_in(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if array.ndim == 2:
        return np.eye(*array.shape, dtype=array.dtype)
    return (rng.random(array.shape) if array.dtype.kind in "fc" else np.arange(array.size)).astype(array.dtype)


def stacked(
    function: Callable[..., Any], arrays: list[np.ndarray], batch: tuple[int, ...], example: Callable[..., Any]
) -> Any:
    """Return the results for each matrix, put together."""
    if not batch:
        return function(*arrays)
    if 0 in batch:
        found = [example(*stand_ins([np.empty(a.shape[len(batch) :], a.dtype) for a in arrays]))]
    else:
        found = [function(*[a[index] for a in arrays]) for index in np.ndindex(batch)]
    columns = zip(*map(results, found), strict=True)
    count = 0 if 0 in batch else len(found)
    joined = [np.stack(column)[:count].reshape(*batch, *np.shape(column[0])) for column in columns]
    return tuple(joined) if isinstance(found[0], tuple) else joined[0]


def results(found: Any) -> Iterator[Any]:
    return iter(found if isinstance(found, tuple) else (found,))
