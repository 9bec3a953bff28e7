"""``np.nditer`` of one traced array: its elements one after the other, as views of no dimension, and where they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.capture.builtins.replacements import traced_range
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.iterables import Generated
from numbagraph.ir import shapes
from numbagraph.tracing import memory_layout
from numbagraph.tracing.tracer import Tracer, for_reading, user_source

Nested = Callable[..., Generated]
"""A function that makes a generator of nested loops (`iteration.nested`)."""
FLAGS = frozenset({"multi_index", "zerosize_ok", "refs_ok"})
INSTEAD = "for position, v in np.ndenumerate(x): x[position] = ..."


def refused(what: str, instead: str) -> CaptureError:
    return CaptureError(f"np.nditer of traced arrays with {what}: {instead}\n  at {user_source()}")


class Visited(Generated):
    """The iterator of ``np.nditer``. A step of a loop over it sets the place of its element."""

    kind = "an np.nditer"

    def __init__(self, array: Tracer, nested: Nested, *, writes: bool, has_positions: bool) -> None:
        levels = [lambda _, axis=axis: traced_range(length_of(array, axis)) for axis in range(array.ndim)]
        found = nested(levels, self._visit)
        super().__init__(found.iterable, found.element, None, found.is_nested)
        self._array = array
        self._writes = writes
        self._has_positions = has_positions
        self._place: tuple[Any, ...] | None = None

    def _visit(self, chosen: tuple[Any, ...]) -> Any:
        self._place = chosen
        found = self._array[(*chosen, ...)]
        return found if self._writes else for_reading(found, self._array)

    @property
    def multi_index(self) -> tuple[Any, ...]:
        if not self._has_positions:
            raise ValueError("Iterator is not tracking a multi-index")
        if self._place is None:
            raise refused("multi_index outside of a loop over it", "for v in it: ... it.multi_index")
        return self._place

    def __enter__(self) -> Visited:
        return self

    def __exit__(self, *_: object) -> None:
        self._place = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.nditer, name):
            raise AttributeError(name)
        raise refused(f".{name}", f"write a loop, `for v in it`, or {INSTEAD}")

    def __getitem__(self, _: Any) -> Any:
        raise refused("it[0]", f"write a loop, `for v in it`, or {INSTEAD}")


def length_of(array: Tracer, axis: int) -> Any:
    extent = shapes.resolve(array.value.shape[axis])
    return extent if isinstance(extent, int) else Tracer(extent)


def visiting(nested: Nested) -> Callable[[Any], Callable[..., Any]]:
    """``np.nditer``."""

    def replacement_of(_: Any) -> Callable[..., Any]:
        def function(
            op: Any,
            flags: Any = None,
            op_flags: Any = None,
            *rest: Any,
            order: Any = "K",
            **others: Any,
        ) -> Any:
            if not is_traced(op, rest, others):
                return np.nditer(op, flags, op_flags, *rest, order=order, **others)
            if not isinstance(op, Tracer) or not op.ndim:
                raise refused("several operands or numbers", "loop over zip(x.flat, y.flat) of arrays of one shape")
            if rest or others:
                raise refused("dtypes, axes, a shape or buffers", "convert the array before, x.astype(dtype)")
            asked = set(flags or ())
            if asked - FLAGS:
                raise refused(f"the flags {sorted(asked - FLAGS)}", f"loop over x.flat, or write {INSTEAD}")
            if order != "C" and (order not in ("K", "A") or op._layout is not memory_layout.Layout.C):
                raise refused(
                    f"order={order!r} where the array's own order in memory is not known to be C",
                    'give order="C", in which x.flat goes',
                )
            if "zerosize_ok" not in asked:
                text = f"Iteration of zero-sized operands is not enabled\n  at {user_source()}"
                shapes.require(shapes.compare("not_equal", shapes.product(op.value.shape), 0), text, ValueError)
            writes = any(each in ("readwrite", "writeonly") for each in flat(op_flags))
            return Visited(op, nested, writes=writes, has_positions="multi_index" in asked)

        return function

    return replacement_of


def flat(op_flags: Any) -> list[str]:
    """The flags of one operand, which may be in a list of their own."""
    return [name for each in op_flags or () for name in ([each] if isinstance(each, str) else each)]
