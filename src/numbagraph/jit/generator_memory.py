"""The words of a bit generator's state in memory, for calls that have no time for its ``state`` property.

Their place is not part of NumPy's interface: so it is looked for once in a process for each kind, with a new generator.
Where the words found are not the state, the property is used.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from numbagraph.ops.random.generator_states import words_of
from numbagraph.runtime.drawing import Span


def address_in(base: int) -> int:
    """Read the address that is stored at another one."""
    return ctypes.c_size_t.from_address(base).value


def expected(kind: str, state: int) -> list[tuple[int, int, int]]:
    """The expected place of a state: addresses, words and sizes, in the order of the words."""
    match kind:
        case "SFC64":
            return [(state, 0, 40)]
        case "MT19937":
            return [(state, 0, 2496), (state + 2496, 312, 4)]
        case "Philox":
            inner = [(address_in(state), 0, 32), (address_in(state + 8), 4, 16)]
            return [*inner, (state + 24, 6, 32), (state + 16, 10, 4), (state + 56, 11, 8)]
        case _:
            return [(address_in(state), 0, 32), (state + 8, 4, 8)]


def read(source: Any, spans: Sequence[Span]) -> bytes:
    """Read the words of an object's state. Words that are shorter there are filled with zeros."""
    parts = [ctypes.string_at(id(source) + each.offset, each.size) for each in spans]
    return b"".join(part + bytes(-len(part) % 8) for part in parts)


def write(source: Any, spans: Sequence[Span], words: np.ndarray) -> None:
    """Write words into an object's state."""
    for each in spans:
        ctypes.memmove(id(source) + each.offset, words[each.word :].tobytes(), each.size)


@cache
def spans_of(kind: str) -> tuple[Span, ...] | None:
    """The places of the words of a kind in an object, or None."""
    probe = getattr(np.random, kind)(1)
    np.random.Generator(probe).integers(0, 2**32, dtype=np.uint32)
    base = id(probe)
    end = base + type(probe).__basicsize__
    state: int = probe.ctypes.state_address
    if not base <= state <= end - 16:
        return None
    found = expected(kind, state)
    if not all(base <= address and address + size <= end for address, _, size in found):
        return None
    spans = tuple(Span(address - base, word, size) for address, word, size in found)
    if read(probe, spans) != words_of(probe).tobytes():
        return None
    other = getattr(np.random, kind)(2)
    np.random.Generator(other).random(5, np.float32)
    write(probe, spans, words_of(other))
    return spans if repr(probe.state) == repr(other.state) else None
