"""Values that are repeated, written where a mask is true (`np.putmask`, `np.place`), and the transposed op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import align_batches, core_op, draw
from numbagraph.blockwise.promotion import as_value
from numbagraph.intrinsics.emitters import repeated_values
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import BOOL
from numbagraph.ir.values import Cotangents, Op, Value
from numbagraph.ops.creation import filled, number_as, zeros_as

LONGEST = 2**62
"""The longest vector. It is longer than LAPACK's lengths allow, since NumPy's own functions write it."""


def of_one_batch(xp: Any, *arrays: Any) -> list[Any]:
    batch = np.broadcast_shapes(*(each.shape[:-1] for each in arrays))
    return [xp.broadcast_to(each, (*batch, each.shape[-1])) for each in arrays]


def put_array(x: Any, mask: Any, values: Any, *, packed: bool) -> Any:
    x, mask, values = of_one_batch(np, x, mask, values)
    result, write = x.copy(), np.place if packed else np.putmask
    if values.shape[-1]:
        for row in np.ndindex(result.shape[:-1]):
            write(result[row], mask[row], values[row])
    return result


def numbers_of(xp: Any, mask: Any, count: int, packed: bool) -> Any:
    """Return for each position the number of the value that is written there: its own number, or, if ``packed``, the
    number of values written before."""
    numbers = xp.cumsum(mask, -1) - 1 if packed else xp.broadcast_to(xp.arange(mask.shape[-1]), mask.shape)
    return xp.maximum(numbers, 0) % max(count, 1)


def put_jnp(x: Any, mask: Any, values: Any, *, packed: bool) -> Any:
    jnp = load("jax:numpy")
    x, mask, values = of_one_batch(jnp, x, mask, values)
    if not values.shape[-1]:
        return x
    numbers = numbers_of(jnp, mask, values.shape[-1], packed)
    return jnp.where(mask, jnp.take_along_axis(values, numbers, -1), x)


def written(mask: Value, values: Value) -> Value:
    """Return a mask of the positions that are written to: none, if there are no values."""
    return registry["logical_and"](mask, shapes.compare("not_equal", values.shape[-1], 0))


def put_vjp(g: Value, y: Value, x: Value, mask: Value, values: Value, *, packed: bool) -> Cotangents:
    room = filled(number_as(0, BOOL), values.shape[-1:])
    return registry["where"](written(mask, values), 0, g), None, sum_repeated.bind(g, mask, room, packed=packed)


def put_batch(op: Op, inputs: Sequence[Value], batched: Sequence[bool], *, packed: bool) -> Value:
    """Batch an assignment under a mask. If all vectors share mask and values, the values are laid out once, and chosen
    in each vector."""
    x, mask, values = align_batches(inputs, batched, (1, 1, 1))
    if any(batched[1:]):
        return op.bind(x, mask, values, packed=packed)
    nothing = filled(number_as(0, x.dtype), mask.shape[-1:])
    return registry["where"](written(mask, values), op.bind(nothing, mask, values, packed=packed), x)


def samples_with(rng: np.random.Generator, dtype: np.dtype, *lengths: int) -> list[tuple[Any, ...]]:
    found = []
    for n, share in ((40, 0.5), (130, 0.9), (200, 1.0), (70, 0.0), (0, 0.0)):
        mask = rng.random(n) < share
        found += [(draw(rng, dtype, (n,)), mask, m, packed) for m in lengths for packed in (True, False)]
    return found


def put_frontend(op: Op, x: Any, mask: Any, values: Any, packed: bool) -> Value:
    return op.bind(as_value(x), as_value(mask), as_value(values), packed=packed)


put_repeated = core_op(
    None,
    "(n),(n),(m)->(n)",
    name="put_repeated",
    evaluate=put_array,
    library=repeated_values.put_repeated,
    threaded=False,
    in_place=True,
    fails_first=True,
    frontend=put_frontend,
    vjp=put_vjp,
    batched=put_batch,
    longest=LONGEST,
    jnp=put_jnp,
    samples=lambda rng, dtype: [
        (x, mask, draw(rng, dtype, (m,)), packed) for x, mask, m, packed in samples_with(rng, dtype, 3, 70)
    ],
)
"""A vector, with values where a mask is true: those of the positions, or one after the other; after the last one
follows the first. Without any, nothing is written."""


def places_of(xp: Any, mask: Any, count: int, packed: bool) -> tuple[Any, ...]:
    """Return the place at which each element is added, in an array of the values of a batch."""
    rows = np.ogrid[tuple(map(slice, mask.shape[:-1]))]
    return (*(each[..., None] for each in rows), numbers_of(xp, mask, count, packed))


def sum_array(g: Any, mask: Any, room: Any, *, packed: bool) -> Any:
    g, mask, room = of_one_batch(np, g, mask, room)
    found = np.zeros(room.shape, g.dtype)
    if room.shape[-1]:
        np.add.at(found, places_of(np, mask, room.shape[-1], packed), np.where(mask, g, 0))
    return found


def sum_jnp(g: Any, mask: Any, room: Any, *, packed: bool) -> Any:
    jnp = load("jax:numpy")
    g, mask, room = of_one_batch(jnp, g, mask, room)
    places = places_of(jnp, mask, room.shape[-1], packed)
    return jnp.zeros(room.shape, g.dtype).at[places].add(jnp.where(mask, g, 0))


def sum_vjp(g: Value, y: Value, x: Value, mask: Value, room: Value, *, packed: bool) -> Cotangents:
    return put_repeated.bind(zeros_as(x), mask, g, packed=packed), None, None


def sum_frontend(op: Op, x: Any, mask: Any, count: Any, packed: bool) -> Value:
    return op.bind(as_value(x), as_value(mask), filled(number_as(0, BOOL), (count,)), packed=packed)


sum_repeated = core_op(
    None,
    "(n),(n),(m)->(m)",
    name="sum_repeated",
    evaluate=sum_array,
    library=repeated_values.sum_repeated,
    threaded=False,
    frontend=sum_frontend,
    vjp=sum_vjp,
    longest=LONGEST,
    jnp=sum_jnp,
    samples=lambda rng, dtype: samples_with(rng, dtype, 3, 70) if dtype.kind in "fc" else [],
)
"""For each value, the sum of the elements at the positions where `put_repeated` writes it."""
