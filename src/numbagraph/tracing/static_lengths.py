"""Versions for one shape of each argument alone, for code that cannot be traced with symbolic lengths.

Lengths are symbolic, and one version serves for all of them. A function that calls one which needs numbers (a function
of JAX, whose shapes are part of its program) raises `LengthsNeeded` while it is traced; it is traced again with the
lengths of the arguments of the call, and from then on has a version for each shape. Where that is not enough, it has
one for each value of those arguments that are integers of Python's, too: a loop in which an array becomes longer from
step to step has steps that are known then.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.ir import shapes
from numbagraph.ir.values import Constant, Dim, Node, Value, extent_values, toposort
from numbagraph.runtime.arguments import Abstract, Placeholder
from numbagraph.tracing.retrace import LengthsNeeded
from numbagraph.tracing.trace import current_trace
from numbagraph.tracing.tracer import Tracer


class Known(enum.IntEnum):
    """The facts that one version alone is made for: nothing, the lengths of arguments, or these and the integers of
    Python's."""

    NOTHING = 0
    LENGTHS = 1
    NUMBERS = 2
    """The lengths, and the integers of Python's."""


def known_shape(value: Value, what: str) -> tuple[int, ...]:
    """The shape of a value, in numbers."""
    shape = tuple(map(shapes.resolve, value.shape))
    numbers = tuple(extent for extent in shape if isinstance(extent, int))
    if len(numbers) < len(shape):
        made = reversed(toposort([*extent_values(value.type), value]))
        source = next((each.source for each in made if isinstance(each, Node) and each.source is not None), None)
        place = "" if source is None else f"\n  {source.text}"
        raise LengthsNeeded(
            f"{what} needs lengths that are known before it runs, and a length of {value.type} is not: it follows "
            "from elements, or from a caller in native code. Reduce what a mask selects, and call it from Python"
            f"{place}"
        )
    return numbers


def lengths_of(leaves: Sequence[Any]) -> tuple[tuple[int, ...], ...]:
    """The shapes of arguments."""
    if any(isinstance(leaf, Placeholder) for leaf in leaves):
        raise LengthsNeeded("a function that is called with arrays of any length cannot be compiled for one of them")
    return tuple(leaf.shape if isinstance(leaf, Abstract) else np.shape(leaf) for leaf in leaves)


def with_lengths(leaves: Sequence[Any], lengths: Sequence[tuple[int | None, ...]]) -> None:
    """Require that traced arguments have known lengths, before anything is done with them. So have captured arrays, if
    all are known."""
    trace = current_trace()
    if trace is not None:
        trace.captured.have_known_lengths = all(None not in known for known in lengths)
    for leaf, known in zip(leaves, lengths, strict=True):
        if isinstance(leaf, Tracer):
            for extent, length in zip(leaf.value.shape, known, strict=True):
                if length is not None:
                    shapes.require_same(extent, length, f"an argument must have the length {length}")


Place = tuple[str, int]
"""The name of an argument, and an axis."""


def places_of(extent: Value | None) -> frozenset[Place]:
    """Return the lengths of arguments that a length is computed of; none if it follows from anything else."""
    sources = [] if extent is None else [each for each in toposort([extent]) if not isinstance(each, (Node, Constant))]
    if not all(isinstance(each, Dim) for each in sources):
        return frozenset()
    parts = (each.name.rpartition(".shape[") for each in sources if isinstance(each, Dim))
    return frozenset((name, int(axis[:-1])) for name, dot, axis in parts if dot)


def integers_of(leaves: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments that are integers of Python's, each in a tuple; None in place of others."""
    return tuple((leaf,) if type(leaf) in (bool, int) else None for leaf in leaves)
