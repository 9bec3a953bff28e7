"""What a call pays for each guard: a global, a closure cell or an attribute that the function reads.

``python -m asv_benchmarks.guards`` prints nanoseconds, from calls that are interleaved with those of a function that
reads nothing.
"""

from __future__ import annotations

import sys
import timeit
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

COUNT = 16
"""Guards of a function, so that a timer's resolution does not matter."""
CALLS = 2000
ROUNDS = 400
NAMES = [sys.intern(f"k{number}") for number in range(COUNT)]  # as names in programs are

PROGRAMS = {
    "none": "def f(x): return x * {numbers}",
    "global": "{assignments}\ndef f(x): return x * ({names})",
    "cell": "def make():\n    {assignments}\n    return lambda x: x * ({names})\nf = make()",
    "attribute": "def f(x): return x * ({attributes})",
    "slot": "def f(x): return x * ({slots})",
}
"""All compute the same."""


class Slots:
    __slots__ = NAMES

    def __init__(self) -> None:
        for name in NAMES:
            setattr(self, name, 1.0)


def compiled(kind: str) -> tuple[Callable[..., Any], int]:
    """The function as one native entry, and how many guards it has."""
    from numbagraph.jit.graph_function import GraphFunction  # asv sets the number of threads before

    program = PROGRAMS[kind].format(
        numbers=float(COUNT),
        assignments="; ".join(f"{name} = 1.0" for name in NAMES),
        names=" + ".join(NAMES),
        attributes=" + ".join(f"settings.{name}" for name in NAMES),
        slots=" + ".join(f"slots.{name}" for name in NAMES),
    )
    space = {"settings": SimpleNamespace(**dict.fromkeys(NAMES, 1.0)), "slots": Slots(), "__name__": "program"}
    exec(program, space)
    function = GraphFunction(space["f"])
    assert function(3.0) == 3.0 * COUNT
    (run,) = function._flat_calls
    (traced,) = function.versions._traced.values()
    assert traced.specialisation is not None
    return run, traced.specialisation.plan.record.guard_count


def nanoseconds_a_guard() -> dict[str, float]:
    """By the kind of place; "none" is the time of a whole call."""
    functions = {kind: compiled(kind) for kind in PROGRAMS}
    times = dict.fromkeys(PROGRAMS, np.inf)
    for _ in range(ROUNDS):
        for kind, (run, _) in functions.items():
            seconds = timeit.timeit("run(x)", globals={"run": run, "x": 3.0}, number=CALLS)
            times[kind] = min(times[kind], seconds / CALLS * 1e9)
    none = times["none"]
    return {kind: (times[kind] - none) / count if count else times[kind] for kind, (_, count) in functions.items()}


if __name__ == "__main__":
    for kind, found in nanoseconds_a_guard().items():
        print(f"{kind:10} {found:6.2f} ns {'a call' if kind == 'none' else 'a guard'}")
