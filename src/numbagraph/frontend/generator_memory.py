"""The words of a bit generator's state where they lie, for calls that have no time for its ``state`` property.

Where they lie is not part of NumPy's interface: so it is looked at once in a process for each kind, with a generator
that nobody else has. Where what is found is not the state, the property is used.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from numbagraph.ops.bit_generators import words_of


class Span(NamedTuple):
    """Bytes of an object, and the word that they begin."""

    offset: int
    word: int
    size: int


class Piece(NamedTuple):
    """Bytes of the state, among all words and in a block of memory, and zeros that follow in either."""

    words: slice
    block: int
    bytes: slice
    missing: bytes
    """Behind these bytes, up to a whole word."""
    unused: bytes
    """Behind them in the block, up to the next piece."""


class Memory(NamedTuple):
    """Where an object has its state: blocks of bytes, each with an offset and a size, and the pieces in them."""

    blocks: tuple[tuple[int, int], ...]
    by_word: tuple[Piece, ...]
    by_block: tuple[tuple[Piece, ...], ...]


def address_in(base: int) -> int:
    """The address that stands at another one."""
    return ctypes.c_size_t.from_address(base).value


def expected(kind: str, state: int) -> list[tuple[int, int, int]]:
    """Where the state should lie: addresses, words and sizes, in the order of the words."""
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


def memory_of(spans: Sequence[Span]) -> Memory:
    """Spans, of which those that lie side by side are read and written at once."""
    blocks: list[tuple[int, int]] = []
    pieces: list[list[Piece]] = []
    for offset, word, size in sorted(spans):
        gap = offset - sum(blocks[-1]) if blocks else 8
        if 0 <= gap < 8:  # nothing else fits in between
            start = blocks[-1][1] + gap
            blocks[-1] = (blocks[-1][0], start + size)
            pieces[-1][-1] = pieces[-1][-1]._replace(unused=bytes(gap))
        else:
            start = 0
            blocks.append((offset, size))
            pieces.append([])
        words = slice(8 * word, 8 * word + size)
        pieces[-1].append(Piece(words, len(blocks) - 1, slice(start, start + size), bytes(-size % 8), b""))
    by_word = sorted((each for group in pieces for each in group), key=lambda piece: piece.words.start)
    return Memory(tuple(blocks), tuple(by_word), tuple(map(tuple, pieces)))


def blocks_of(source: Any, memory: Memory) -> list[bytes]:
    """The blocks of an object."""
    base = id(source)
    return [ctypes.string_at(base + offset, size) for offset, size in memory.blocks]


def words_in(blocks: list[bytes], memory: Memory) -> bytearray:
    """The words in blocks. Of one that is shorter in the object, the rest is zero."""
    return bytearray(b"").join([blocks[block][place] + missing for _, block, place, missing, _ in memory.by_word])


def write(source: Any, memory: Memory, words: bytearray) -> None:
    """Put words into an object: all of them, since nothing in between asks for signals."""
    base, data = id(source), bytes(words)
    targets = [base + offset for offset, _ in memory.blocks]
    parts = [b"".join([data[place] + unused for place, _, _, _, unused in pieces]) for pieces in memory.by_block]
    deque(map(ctypes.memmove, targets, parts, map(len, parts)), maxlen=0)


@cache
def spans_of(kind: str) -> tuple[Span, ...] | None:
    """Where the words of a kind lie in an object, or None."""
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
    memory = memory_of(spans)
    if words_in(blocks_of(probe, memory), memory) != words_of(probe).tobytes():
        return None
    other = getattr(np.random, kind)(2)
    np.random.Generator(other).random(5, np.float32)
    write(probe, memory, bytearray(words_of(other)))
    return spans if repr(probe.state) == repr(other.state) else None


@cache
def memory_of_kind(kind: str) -> Memory | None:
    """The same as it is read and written."""
    spans = spans_of(kind)
    return None if spans is None else memory_of(spans)
