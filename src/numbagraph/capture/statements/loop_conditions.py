"""Conditions of loops that change state: an array that they write, or the state that numbers are drawn from.

What such a condition does in the end, when it is false, belongs to the loop. So it is a part of the steps:
``while test(): body()`` is ``goes_on = test()``, and then ``while goes_on: body(); goes_on = test()``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from numbagraph.capture.values.written_arrays import Journal
from numbagraph.ir.values import Value
from numbagraph.tracing.retrace import ConditionWrites
from numbagraph.tracing.tracer import Tracer

NAME = "the condition of the loop"


@contextmanager
def unwritten(journal: Journal, carried: Iterable[Tracer]) -> Iterator[None]:
    """Raise `ConditionWrites` if arrays that a region may write have changed inside the block."""
    own = list(carried)

    def values() -> dict[int, Value]:
        outside = (root for root, _ in journal.roots.values())
        return {id(each): each.value for each in (*outside, *own)}

    before = values()
    yield
    after = values()
    if after.keys() != before.keys() or any(value is not before[key] for key, value in after.items()):
        raise ConditionWrites


def tested_in_steps(
    names: Sequence[str], first: Any, state: Sequence[Any], step: Any, test: Callable[[Sequence[Any]], list[Any]]
) -> tuple[list[str], list[Any], Any]:
    """Return a loop whose first variable says whether it goes on, with ``first`` before the first step. ``test`` is the
    condition, before the variables, which it may change."""

    def body(number: Any, variables: Sequence[Any]) -> list[Any]:
        return test(step.body(number, variables[1:]))

    made = step._replace(body=body, goes_on=lambda number, variables: variables[0])
    return [NAME, *names], [first, *state], made
