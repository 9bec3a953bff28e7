"""Random indices of all kinds that NumPy has."""

from __future__ import annotations

import numpy as np


def index_of(shape: tuple[int, ...], rng: np.random.Generator, positions: list[str], *, write: bool) -> str:
    """The source of an index into an array. ``positions`` are names of arrays of integers, ``write`` says whether it is
    assigned to: then it may be a mask."""
    if write and shape and rng.random() < 0.1:
        mask = rng.random(shape[: int(rng.integers(1, len(shape) + 1))]) < 0.5
        return f"np.array({mask.tolist()}, bool)"
    chosen = rng.permutation(len(shape))[:1] if rng.random() < 0.3 else []
    parts = [_one(length, rng, positions, advanced=axis in chosen) for axis, length in enumerate(shape)]
    parts = parts[: int(rng.integers(1, len(parts) + 1))] if parts else ["..."]
    if rng.random() < 0.25:
        parts.insert(int(rng.integers(len(parts) + 1)), "None")
    if rng.random() < 0.25 and "..." not in parts:
        parts.insert(0 if rng.random() < 0.5 else len(parts), "...")
    return ", ".join(parts)


def _one(length: int, rng: np.random.Generator, positions: list[str], *, advanced: bool) -> str:
    """The source of an index into one axis."""
    if advanced:
        if positions and rng.random() < 0.5:
            return str(rng.choice(positions))
        return f"np.array({rng.integers(-length, max(length, 1), int(rng.integers(0, 4))).tolist()}, int)"
    if rng.random() < 0.3:
        return str(rng.integers(-length, length) if length else 0)
    ends = [str(rng.integers(-length - 2, length + 3)) if rng.random() < 0.6 else "" for _ in range(2)]
    return f"{ends[0]}:{ends[1]}:{rng.choice([-3, -2, -1, 1, 2, 3])}"
