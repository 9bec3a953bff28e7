"""Matrices for tests: well-conditioned, positive definite, triangular; alone and in batches, small and large."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import Keywords, draw

Shape = tuple[int, ...]
SQUARES: tuple[Shape, ...] = ((3, 3), (1, 1), (2, 1, 5, 5), (20, 20))
__all__ = [
    "SQUARES",
    "Keywords",
    "dominant",
    "draw",
    "inexact",
    "moderate",
    "of",
    "positive",
    "regular",
    "separated",
    "systems",
]

Make = Callable[["np.random.Generator", np.dtype, Shape], np.ndarray]  # quoted: 8 ms to import


def regular(rng: np.random.Generator, dtype: np.dtype, shape: Shape) -> np.ndarray:
    """Return well-conditioned matrices whose rows have to be exchanged."""
    return np.roll(dominant(rng, dtype, shape), 1, axis=-2)


def dominant(rng: np.random.Generator, dtype: np.dtype, shape: Shape) -> np.ndarray:
    """Return matrices with a large diagonal."""
    unit = np.eye(*shape[-2:], dtype=dtype)
    if dtype == np.bool_:
        return np.broadcast_to(unit, shape).copy()
    return draw(rng, dtype, shape, (-1.0, 1.0)) + (2 * shape[-1] * unit).astype(dtype)


def positive(rng: np.random.Generator, dtype: np.dtype, shape: Shape) -> np.ndarray:
    """Return positive definite matrices."""
    matrices = dominant(rng, dtype, shape)
    lower = np.tril(matrices, -1)
    real = matrices * np.eye(*shape[-2:], dtype=dtype)
    real = np.real(real).astype(dtype)
    return (lower + np.swapaxes(lower.conj(), -1, -2) + real).astype(dtype)


def separated(rng: np.random.Generator, dtype: np.dtype, shape: Shape) -> np.ndarray:
    """Return matrices whose eigenvalues, and singular values, are far from each other.

    A matrix of truth values is that of a path with a loop at one end: its eigenvalues are
    ``2 cos((2k - 1) pi / (2n + 1))``.
    """
    if dtype == np.bool_:
        beside = np.eye(*shape[-2:], k=1, dtype=dtype) | np.eye(*shape[-2:], k=-1, dtype=dtype)
        beside[0, 0] = True
        return np.broadcast_to(beside, shape).copy()
    weights = (2 * np.arange(1, shape[-1] + 1)).astype(dtype)
    return draw(rng, dtype, shape, (-0.5, 0.5)) + np.eye(*shape[-2:], dtype=dtype) * weights


def moderate(rng: np.random.Generator, dtype: np.dtype, shape: Shape) -> np.ndarray:
    """Return matrices without structure, with elements of a moderate size."""
    return draw(rng, dtype, shape, (-1.0, 1.0))


def of(make: Make, *shapes: Shape, options: Sequence[tuple[Any, ...]] = ()) -> Callable[..., Any]:
    """Return samples of one matrix (or stack): of all shapes, and the first shape with each of some further
    arguments."""

    def samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
        shapes_ = shapes or SQUARES
        calls = [(make(rng, dtype, shape),) for shape in shapes_]
        return calls + [(make(rng, dtype, shapes_[0]), *each) for each in options]

    return samples


def inexact(samples: Callable[..., Any]) -> Callable[..., Any]:
    """Return samples without integers, of which SciPy's functions make float32 or float64, depending on the
    function."""
    return lambda rng, dtype: samples(rng, dtype) if dtype.kind in "fc" else []


def systems(make: Make, *pairs: tuple[Shape, Shape], options: Sequence[tuple[Any, ...]] = ()) -> Callable[..., Any]:
    """Return samples of a matrix and a right-hand side: of all pairs of shapes, and the first pair with each of some
    further arguments."""

    def samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
        calls = [(make(rng, dtype, left), draw(rng, dtype, right)) for left, right in pairs]
        left, right = pairs[0]
        return calls + [(make(rng, dtype, left), draw(rng, dtype, right), *each) for each in options]

    return samples
