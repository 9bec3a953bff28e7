"""Floats as the integers that have their bits, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import draw, elementwise
from numbagraph.blockwise.promotion import Kind
from numbagraph.intrinsics.emitters import reals
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import FLOAT32, FLOAT64
from numbagraph.ir.values import Value

INTEGERS = {FLOAT32: np.dtype(np.uint32), FLOAT64: np.dtype(np.uint64)}
FLOATS = {integer: number for number, integer in INTEGERS.items()}


def to_bits_array(a: Any) -> Any:
    return np.asarray(a).view(INTEGERS[np.asarray(a).dtype])[()]


def from_bits_array(a: Any) -> Any:
    return np.asarray(a).view(FLOATS[np.asarray(a).dtype])[()]


def to_bits_rule(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
    return (FLOAT32, INTEGERS[FLOAT32]) if kinds[0] == FLOAT32 else (FLOAT64, INTEGERS[FLOAT64])


def from_bits_rule(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
    number = FLOAT32 if kinds[0] == INTEGERS[FLOAT32] else FLOAT64
    return INTEGERS[number], number


def bits_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324]
    if dtype in INTEGERS:
        return [(draw(rng, dtype, (3, 4)),), (np.array(special, dtype),)]
    return []


def number_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype not in FLOATS:
        return []
    return [(each.view(dtype),) for (each,) in bits_samples(rng, FLOATS[dtype])]


to_bits = elementwise(
    to_bits_array,
    name="to_bits",
    emit=reals.to_bits,
    dtype=to_bits_rule,
    vjp=lambda g, y, a: (None,),
    jnp=lambda a: load("jax.lax:bitcast_convert_type")(a, INTEGERS[np.dtype(a.dtype)]),
    samples=bits_samples,
)
"""The bits of floats, as unsigned integers."""

from_bits = elementwise(
    from_bits_array,
    name="from_bits",
    emit=reals.from_bits,
    dtype=from_bits_rule,
    vjp=lambda g, y, a: (None,),
    jnp=lambda a: load("jax.lax:bitcast_convert_type")(a, FLOATS[np.dtype(a.dtype)]),
    samples=number_samples,
)
"""The floats that have the bits of unsigned integers."""


def reinterpreted(value: Value, dtype: np.dtype) -> Value:
    """Reinterpret the bytes of each element as an element of a dtype of the same size."""
    if dtype.itemsize != value.dtype.itemsize or "c" in (value.dtype.kind, dtype.kind) or dtype.kind == "b":
        raise TypeError(
            f"view({dtype}) of an array of {value.dtype} is not supported in a traced function, only that of integers "
            "and floats of one size. astype() converts numbers; .real and .imag are the parts of complex ones"
        )
    if value.dtype.kind == "f":
        value = to_bits(value)
    if dtype.kind == "f":
        return from_bits(registry["cast"](value, INTEGERS[dtype]))
    return registry["cast"](value, dtype)
