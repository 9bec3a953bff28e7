"""The states of random generators, read and written many times."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.intrinsics.emitters.random.bit_generators import WORDS
from numbagraph.jit.generator_memory import spans_of
from numbagraph.ops.random.generator_states import kind_of, state_of, words_of


class Memory:
    """The state of a bit generator of a kind that native code knows. The generator is kept alive."""

    __slots__ = ("bytes", "kind", "parts", "source", "words")

    def __init__(self, source: Any, kind: str) -> None:
        self.source, self.kind = source, kind
        self.words = np.zeros(WORDS[kind], np.uint64)
        """The words of the state that was read last."""
        self.bytes = self.words.data.cast("B")
        base = id(source)
        self.parts: list[tuple[memoryview, int, int]] | None = None
        """The parts of the object that hold the state, with the bytes of ``words`` that they correspond to; None if
        they are not known."""
        spans = spans_of(kind)
        if spans is not None:
            self.parts = [
                (view(base + each.offset, each.size), 8 * each.word, 8 * each.word + each.size) for each in spans
            ]

    def read(self) -> None:
        if self.parts is None:
            self.words[:] = words_of(self.source)
        else:
            for here, begin, end in self.parts:
                self.bytes[begin:end] = here

    def write(self, words: np.ndarray) -> None:
        if self.parts is None:
            self.source.state = state_of(self.kind, words)
        else:
            given = words.data.cast("B")
            for here, begin, end in self.parts:
                here[:] = given[begin:end]


def view(address: int, size: int) -> memoryview:
    """Bytes in memory, to be read and written."""
    return memoryview((ctypes.c_char * size).from_address(address)).cast("B")


def memory_of(source: Any) -> Memory | None:
    """The state of a bit generator; None if native code does not know its kind."""
    kind = kind_of(source)
    return None if kind is None else Memory(source, kind)


def memories_of(sources: Sequence[Any], before: Sequence[Memory | None]) -> list[Memory | None]:
    """The states of several bit generators, of which some may be known from the last call."""
    return [
        known if known is not None and known.source is source else memory_of(source)
        for source, known in zip(sources, before, strict=True)
    ]


class Journal:
    """The states of generators before the steps of a call."""

    def __init__(self) -> None:
        self.entries: list[tuple[Memory, np.ndarray]] = []

    def note(self, memory: Memory) -> None:
        """Note the state that was read last."""
        self.entries.append((memory, memory.words.copy()))

    def undo(self) -> None:
        """Restore the states that the generators had first."""
        while self.entries:
            memory, before = self.entries.pop()
            memory.write(before)
