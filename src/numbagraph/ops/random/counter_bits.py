"""Bits of counters and keys, and numbers from bits: the base of the random numbers of `numbagraph.random`."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import elementwise
from numbagraph.blockwise.promotion import Kind
from numbagraph.intrinsics.emitters.random import ciphers
from numbagraph.ir.op import load
from numbagraph.ir.types import FLOAT32, FLOAT64, UINT64
from numbagraph.ops.selection import DISCRETE

UINT32 = ciphers.UINT32


def words_and_counter(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
    if tuple(kinds) != (UINT32, UINT32, UINT64):
        raise TypeError(f"threefry2x32 takes words of uint32 and a counter of uint64, not {', '.join(map(str, kinds))}")
    return UINT32, UINT32, UINT64, UINT64


def threefry2x32_reference(first_key: Any, second_key: Any, counter: Any) -> Any:
    counter = np.asarray(counter, UINT64)
    words = (counter >> np.uint64(32)).astype(UINT32), counter.astype(UINT32)
    with np.errstate(over="ignore"):  # of numbers; arrays wrap without a word
        upper, lower = ciphers.threefry(np.asarray(first_key, UINT32), np.asarray(second_key, UINT32), *words)
    return (upper.astype(UINT64) << np.uint64(32) | lower.astype(UINT64))[()]


def threefry2x32_in_jax(first_key: Any, second_key: Any, counter: Any) -> Any:
    if not load("jax:config").jax_enable_x64:
        raise NotImplementedError(
            "numbers that follow from keys are made of 64-bit integers, and JAX has none: write "
            "jax.config.update('jax_enable_x64', True), or numbagraph.to_jax(f, native=True)"
        )
    words = (counter >> 32).astype(UINT32), counter.astype(UINT32)
    upper, lower = ciphers.threefry(first_key, second_key, *words)
    return upper.astype(UINT64) << 32 | lower.astype(UINT64)


def cipher_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype != UINT64:
        return []
    keys = [rng.integers(2**32, size=shape, dtype=UINT32) for shape in ((3, 1), (4,))]
    edges = np.array([0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1], UINT64)
    return [
        (*keys, rng.integers(2**64 - 1, size=(3, 4), dtype=UINT64)),
        (UINT32.type(0), UINT32.type(2**32 - 1), edges),
    ]


threefry2x32 = elementwise(
    threefry2x32_reference,
    name="threefry2x32",
    emit=ciphers.emit_threefry,
    dtype=words_and_counter,
    vjp=DISCRETE,
    jnp=threefry2x32_in_jax,
    samples=cipher_samples,
    cost=30,
)
"""The cipher Threefry-2x32 of a key of two words and of a counter of 64 bits."""


def float_of_bits(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
    if kinds[0] not in (UINT32, UINT64):
        raise TypeError(f"unit_interval takes bits as uint32 or uint64, not {kinds[0]}")
    return (UINT32, FLOAT32) if kinds[0] == UINT32 else (UINT64, FLOAT64)


def unit_interval_reference(bits: Any) -> Any:
    dtype, dropped, scale = (FLOAT64, 12, 2.0**-52) if bits.dtype == UINT64 else (FLOAT32, 9, 2.0**-23)
    return (bits >> bits.dtype.type(dropped)).astype(dtype) * dtype.type(scale)


def bit_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype not in (UINT32, UINT64):
        return []
    most = int(np.iinfo(dtype).max)
    return [(rng.integers(most, size=(3, 4), dtype=dtype),), (np.array([0, 1, most // 2, most], dtype),)]


unit_interval = elementwise(
    unit_interval_reference,
    name="unit_interval",
    emit=ciphers.emit_unit_interval,
    dtype=float_of_bits,
    vjp=DISCRETE,
    jnp=unit_interval_reference,
    samples=bit_samples,
    cost=3,
)
"""The upper 52 or 23 bits as a number from 0 on and below 1."""
