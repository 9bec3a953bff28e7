"""Where the elements are that a mask selects, in order."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import core_op
from numbagraph.intrinsics import compaction
from numbagraph.ir.op import load
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import Op, Unsupported, Value
from numbagraph.ops.creation import filled, number_as
from numbagraph.ops.selection import DISCRETE


def positions(mask: np.ndarray, room: np.ndarray) -> np.ndarray:
    found = np.zeros(room.shape, np.int64)
    chosen = np.flatnonzero(mask)[: room.shape[-1]]
    found[: len(chosen)] = chosen
    return found


def frontend(op: Op, mask: Value, count: Any) -> Value:
    return op.bind(mask, filled(number_as(0, BOOL), (count,)))


def samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype != BOOL:
        return []
    masks = [rng.random(length) < share for length, share in ((40, 0.5), (9, 0.9), (5, 0.0), (33, 1.0), (0, 0.0))]
    return [(mask, int(np.count_nonzero(mask)) + surplus) for mask in masks for surplus in (0, 3)]


true_positions = core_op(
    None,
    "(n),(m)->(m)",
    name="true_positions",
    evaluate=positions,
    library=compaction.true_positions,
    threaded=False,
    frontend=frontend,
    vjp=DISCRETE,
    jnp=lambda mask, room: load("jax.numpy:nonzero")(mask, size=room.shape[-1])[0],
    dtypes=lambda dtype, *_: (INT64,),
    batched=Unsupported("the length of a result would differ from element to element"),
    samples=samples,
)
"""The positions of as many true elements as there is room for, and zeros where there are fewer."""
