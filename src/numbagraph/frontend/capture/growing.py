"""Lists that the steps of a loop append to, each step as often as the others or, in branches, less often."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import convert, weak_constant
from numbagraph.frontend.capture.appended import MISSING
from numbagraph.frontend.capture.branches import Ending
from numbagraph.frontend.capture.lists import Stacked
from numbagraph.frontend.capture.possibly import Exposed, Possibly, elements_of
from numbagraph.frontend.capture.source import CaptureError
from numbagraph.frontend.capture.state import Kind, fitted, joined, kind, kind_of, shown, value_of
from numbagraph.frontend.capture.texts import Leaf
from numbagraph.frontend.tracing import Tracer, user_source
from numbagraph.ir.types import BOOL
from numbagraph.ir.values import Value


def is_missing(element: Any) -> bool:
    """Whether an element may not be appended."""
    return isinstance(element, Possibly) and element.absent is MISSING


class Growing:
    """One list."""

    def __init__(self, name: str, before: list[Any]) -> None:
        self.name = name
        self.before = before
        """What it holds before the loop."""
        self.are_pythons = False
        """Whether these are numbers of Python's alone."""
        self.count = 0
        """How many elements a step appends at most."""

    def columns(self, end: Ending) -> list[Value]:
        """What a step appends, in one type, and then, if some of it may be missing, what is not."""
        held = end.tree()
        before = [value_of(each, self.name) for each in self.before]
        values, present = [], []
        elements = elements_of(held)
        for each in elements:
            leaf, flag = (each.value, each.present.value) if isinstance(each, Exposed) else (each, weak_constant(True))
            if not isinstance(leaf, Leaf) or leaf.value is None:
                what = kind_of(leaf.object) if isinstance(leaf, Leaf) else "a tree, or None on some paths"
                raise CaptureError(
                    f"{shown(self.name)} is a list to which a loop on traced values appends something that is {what}: "
                    f"numbers and arrays can be\n  at {user_source()}"
                )
            values.append(leaf.value)
            present.append(convert(flag, BOOL))
        target = functools.reduce(joined, [kind(each.type) for each in (*before, *values)])
        self.are_pythons, self.count = target.weak, len(values)
        strong, shape = Kind(target.dtype, False), (*before, *values)[0].shape
        found = [fitted(each, strong, shape, self.name) for each in values]
        return [*found, *present] if any(isinstance(each, Exposed) for each in elements) else found

    def stacked(self, columns: list[Value]) -> Stacked:
        """The list after the loop: what it held before, and then what each step has appended."""
        whole: Any = in_order(columns[: self.count])
        if len(columns) > self.count:
            whole = whole[in_order(columns[self.count :])]
        if self.before:
            first = np.stack([Tracer(value_of(each, self.name)) for each in self.before])
            whole = np.concatenate([first, whole])
        return Stacked(whole, are_pythons=self.are_pythons)


def in_order(columns: list[Value]) -> Any:
    """What several appends of each step make together."""
    whole: Any = np.stack([Tracer(each) for each in columns], axis=1)
    return np.reshape(whole, (-1, *whole.shape[2:])) if len(columns) > 1 else whole[:, 0]
