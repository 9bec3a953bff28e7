"""Additions at run-time positions, one after the other: ``np.add.at`` of an array that holds numbers already."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.kinds import draw
from numbagraph.ir.op import load, registry
from numbagraph.ir.values import Op, Value
from numbagraph.ops.indexing.gathering import (
    ADD,
    bounds,
    gather,
    numpy_key,
    position_samples,
    put_at_batch,
    put_at_frontend,
    put_at_pieces,
    put_at_type,
)


def add_at_array(base: Any, updates: Any, *positions: Any, axis: int, checked: tuple[bool, ...]) -> Any:
    key = numpy_key(positions, axis)
    np.asarray(base)[key]  # a position that does not exist is an error before a large array has been copied
    result = np.array(base)
    np.add.at(result, key, updates)
    return result


def add_at_vjp(
    g: Value, y: Value, base: Value, updates: Value, *positions: Value, axis: int, checked: tuple[bool, ...]
) -> tuple[Value | None, ...]:
    return (g, gather.bind(g, *positions, axis=axis, checked=checked), *[None] * len(positions))


def add_at_jnp(base: Any, updates: Any, *positions: Any, axis: int, checked: tuple[bool, ...]) -> Any:
    places = load("jax.numpy:asarray")(base).at[numpy_key(positions, axis)]
    return places.max(updates) if base.dtype == bool else places.add(updates)


add_at = registry.register(
    Op(
        name="add_at",
        kind="indexing",
        reference=add_at_array,
        infer=put_at_type,
        frontend=put_at_frontend,
        lower=lowering.Assemble(put_at_pieces, reducer=ADD),
        vjp=add_at_vjp,
        batch=put_at_batch,
        bounds=lambda node: bounds(node, 2, node.shape),
        jnp=add_at_jnp,
        samples=lambda rng, dtype: [
            (draw(rng, dtype, (4,)), position_samples(rng)[0], draw(rng, dtype, (6,))),
            (draw(rng, dtype, (3, 4, 2)), position_samples(rng)[1], draw(rng, dtype, (3, 2, 3, 2)), 1),
        ],
        zero_dim="array",
        cost=2.0,
    )
)
"""A copy of the first operand in which the updates have been added at their positions, in their order. What is added to
zeros is a `scatter_add`, which shares its loop with others."""
