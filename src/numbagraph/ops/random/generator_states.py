"""The states of NumPy's bit generators as words of 64 bits, in the order that `numbagraph.intrinsics` draws from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.intrinsics.emitters.random.bit_generators import WORDS

_MASK = 2**64 - 1


def kind_of(bit_generator: Any) -> str | None:
    """Return the name of a bit generator if native code can draw its numbers; else None."""
    kind = type(bit_generator)
    return kind.__name__ if kind.__module__.startswith("numpy.random.") and kind.__name__ in WORDS else None


def words_of(bit_generator: Any) -> np.ndarray:
    """Return the state of a bit generator as a new array."""
    state = bit_generator.state
    inner = state["state"]
    match state["bit_generator"]:
        case "MT19937":
            key: np.ndarray = inner["key"]
            return np.concatenate([key.view(np.uint64), np.array([inner["pos"]], np.uint64)])
        case "SFC64":
            first: Sequence[Any] = [*inner["state"]]
        case "Philox":
            first = [*inner["counter"], *inner["key"], *state["buffer"], state["buffer_pos"]]
        case _:
            first = [part for each in ("state", "inc") for part in (inner[each] & _MASK, inner[each] >> 64)]
    return np.array([*first, state["has_uint32"] | state["uinteger"] << 32], np.uint64)


def state_of(kind: str, words: np.ndarray) -> dict[str, Any]:
    """Return the state of a bit generator in NumPy's form, from its words."""
    if kind == "MT19937":
        inner: dict[str, Any] = {"key": words[:-1].view(np.uint32), "pos": int(words[-1])}
        return {"bit_generator": kind, "state": inner}
    numbers = words.tolist()
    found = {"bit_generator": kind, "has_uint32": numbers[-1] & 1, "uinteger": numbers[-1] >> 32}
    match kind:
        case "SFC64":
            inner = {"state": words[:4]}
        case "Philox":
            inner = {"counter": words[:4], "key": words[4:6]}
            found |= {"buffer": words[6:10], "buffer_pos": numbers[10]}
        case _:
            inner = {"state": numbers[0] | numbers[1] << 64, "inc": numbers[2] | numbers[3] << 64}
    return found | {"state": inner}


def generator_of(kind: str, words: np.ndarray) -> np.random.Generator:
    """Return a generator of NumPy in a given state."""
    if words.shape != (WORDS[kind],):
        raise ValueError(f"a state of {kind} has {WORDS[kind]} words, and not the shape {words.shape}")
    bit_generator = getattr(np.random, kind)(0)
    bit_generator.state = state_of(kind, np.ascontiguousarray(words, np.uint64))
    return np.random.Generator(bit_generator)
