"""Systems of equations between tensors, and numbers that are evenly spaced by their logarithms."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import Keywords, decomposition, draw
from numbagraph.blockwise.promotion import as_strong, as_value, convert, inexact_rule, promote
from numbagraph.ir import shapes
from numbagraph.ir.types import canonical_dtype
from numbagraph.ir.values import Value
from numbagraph.ops.arithmetic import power, sign
from numbagraph.ops.comparison import equal, greater, logical_and, not_equal
from numbagraph.ops.creation import iota, linspace
from numbagraph.ops.exponentials import log10
from numbagraph.ops.linalg.solutions import inv, solve
from numbagraph.ops.reduction import all
from numbagraph.ops.selection import where
from numbagraph.ops.shape import broadcast_value, expand_at, move, ravel, reshape_value


def inverse_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind not in "fc":
        return []
    matrix = draw(rng, dtype, (6, 6)) + 8 * np.eye(6, dtype=dtype)
    return [(matrix.reshape(6, 2, 3), 1), (matrix.reshape(2, 3, 6), 2)]


@decomposition(np.linalg.tensorinv, samples=inverse_samples, ulp=256)
def tensorinv(a: Any, ind: int = 2) -> Value:
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    value = as_strong(a)
    if not value.ndim:
        raise TypeError("tensorinv takes an array of at least one dimension")
    first, rest = value.shape[:ind], value.shape[ind:]
    count = shapes.product(rest)
    some = shapes.compare("greater", count, 0)  # NumPy divides the number of elements by this one
    shapes.require(some, f"tensorinv: there are no elements along the dimensions from {ind} on", ValueError)
    matrix = reshape_value(value, (shapes.product(first), count))
    return reshape_value(inv(matrix), (*rest, *first))


def solve_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    return [(tensor, draw(rng, dtype, tensor.shape[:ind])) for tensor, ind in inverse_samples(rng, dtype)]


@decomposition(np.linalg.tensorsolve, samples=solve_samples, ulp=256)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Value:
    value, right = as_strong(a), as_strong(b)
    if axes is not None:
        places = [shapes.normalise_axis(axis, value.ndim) + value.ndim for axis in axes]
        value = move(value, places, range(value.ndim - len(places), value.ndim))
    rest = value.shape[right.ndim :]
    matrix = reshape_value(value, (shapes.product(value.shape[: right.ndim]), shapes.product(rest)))
    return reshape_value(solve(matrix, ravel(right)), rest)


def log_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind != "f":
        return []
    ends = draw(rng, dtype, (2,), (0.0, 2.0))
    return [(ends[:1], 2.0, 5), (ends, ends[::-1].copy(), 4, False), (ends[:1], 1.0, Keywords(num=3, base=2.0))]


@decomposition(np.logspace, samples=log_samples, ulp=16)
def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Value:
    scale = as_value(base)
    if scale.ndim:
        start, stop = as_value(start), as_value(stop)
        shape = shapes.broadcast_shapes([start.shape, stop.shape, scale.shape], "logspace")
        start, scale = broadcast_value(start, shape), broadcast_value(scale, shape)
        scale = expand_at(scale, (shapes.normalise_axis(axis, scale.ndim + 1) + scale.ndim + 1,))
    exponents = linspace(start, stop, num, endpoint, axis=axis)
    found = power(scale, exponents)
    return found if dtype is None else convert(found, canonical_dtype(dtype))


def geometric_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind != "f":
        return []
    ends = draw(rng, dtype, (2,), (1.0, 9.0))
    return [
        (ends, 20.0, 5),
        (-ends, -ends[::-1].copy(), 4, False),
        (ends, 3.0, 1),
        (1.0, ends, Keywords(axis=-1, num=3)),
    ]


@decomposition(np.geomspace, samples=geometric_samples, ulp=32)
def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Value:
    first, last, _ = promote(inexact_rule, (start, stop, np.zeros((), dtype)))
    for each in (first, last):
        some = not_equal(each, 0)
        shapes.require(all(some) if some.ndim else some, "Geometric sequence cannot include zero", ValueError)
    direction = sign(first)
    first, last = first / direction, last / direction
    found = logspace(log10(first), log10(last), num, endpoint)
    count = found.shape[0]
    number = expand_at(iota(count), range(1, found.ndim))
    if endpoint:
        is_last = logical_and(equal(number, shapes.as_value(count) - 1), greater(number, 0))
        found = where(is_last, last, found)
    found = where(equal(number, 0), first, found) * direction
    place = shapes.normalise_axis(axis, found.ndim) + found.ndim
    found = move(found, [0], [place])
    return found if dtype is None else convert(found, canonical_dtype(dtype))
