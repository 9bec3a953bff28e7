"""Loops that Python runs while a function is traced: each step adds what it computes to the graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from numbagraph.ir.sources import Source
from numbagraph.tracing.errors import user_source
from numbagraph.tracing.retrace import UnrolledLoop
from numbagraph.tracing.trace import active

MOST_STEPS = 8
"""The number of steps up to which a loop is traced step by step."""
FEWEST_AROUND = 3
"""The number of steps from which on a loop around other loops is not copied: each copy would hold copies of those."""
FEW_CALLS = 64
"""The number of calls of NumPy's functions up to which nobody asks for loops: their copies cost little."""
MOST_CALLS = 20_000
"""The number of calls behind which a function is not traced any more, where its loops cannot be regions."""


class Calls:
    """The calls of NumPy's functions while a function is traced as it is."""

    def __init__(self, fewest: int) -> None:
        self.fewest = fewest
        """The number of calls from which on a loop of many steps is a fault."""
        self.number = 0
        self.by_place: dict[tuple[int, ...], int] = {}
        """The number of calls by one instruction that the same instructions have led to."""

    def note(self, source: Source) -> None:
        """Note a call. Raise if a loop has taken many steps."""
        self.number += 1
        place = tuple([each for code, position in source.frames for each in (id(code), position)])
        count = self.by_place[place] = self.by_place.get(place, 0) + 1
        if count > MOST_STEPS and self.number > self.fewest:
            raise UnrolledLoop(source)


def source_of_call() -> Source | None:
    """The line of the user's code that calls one of NumPy's functions. The call is noted where loops are looked for."""
    source = user_source()
    if active.calls is not None and source is not None:
        active.calls.note(source)
    return source


@contextmanager
def long_loops_rolled() -> Iterator[None]:
    """Let the block trace one step of whatever loops, also of those that may need the numbers behind them."""
    around, active.rolls = active.rolls, True
    try:
        yield
    finally:
        active.rolls = around


@contextmanager
def long_loops_found(fewest: int | None) -> Iterator[None]:
    """Let the block raise `UnrolledLoop` for a loop of many steps, if it makes more calls than the fewest."""
    around, active.calls = active.calls, None if fewest is None else Calls(fewest)
    try:
        yield
    finally:
        active.calls = around
