"""The elements that a mask selects, in order, and where they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import core_op, draw
from numbagraph.intrinsics.emitters import compaction
from numbagraph.ir.op import load
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import Op, Unsupported, Value
from numbagraph.ops.creation import filled, number_as
from numbagraph.ops.indexing.gathering import scatter
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


OTHER_LENGTHS = Unsupported("the length of a result would differ from element to element")

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
    batched=OTHER_LENGTHS,
    samples=samples,
)
"""The positions of true elements, up to the length of an operand; if there are fewer, zeros follow."""


def elements(x: np.ndarray, mask: np.ndarray, room: np.ndarray) -> np.ndarray:
    found = np.zeros(room.shape, x.dtype)
    chosen = x[mask][: len(room)]
    found[: len(chosen)] = chosen
    return found


def element_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    return [(draw(rng, dtype, mask.shape), mask, int(np.count_nonzero(mask))) for mask, _ in samples(rng, BOOL)]


def elements_vjp(g: Value, y: Value, x: Value, mask: Value, room: Value, **_: Any) -> tuple[Value | None, ...]:
    chosen = true_positions.bind(mask, room)
    return scatter(g, [chosen], x.shape, -1, (False,)), None, None


def elements_jnp(x: Any, mask: Any, room: Any) -> Any:
    return x[load("jax.numpy:nonzero")(mask, size=room.shape[-1])[0]]


true_elements = core_op(
    None,
    "(n),(n),(m)->(m)",
    name="true_elements",
    evaluate=elements,
    library=compaction.true_elements,
    threaded=False,
    frontend=lambda op, x, mask, count: op.bind(x, mask, filled(number_as(0, BOOL), (count,))),
    vjp=elements_vjp,
    jnp=elements_jnp,
    batched=OTHER_LENGTHS,
    samples=element_samples,
)
"""The elements of a vector where a mask is true, up to the length of the third operand; if there are fewer, zeros
follow."""
