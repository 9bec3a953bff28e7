"""Lists that the steps of a loop append to: each step as often as the others or, in branches, less often."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import convert, weak_constant
from numbagraph.capture.statements.branches import Ending
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.append_log import MISSING, Appended, Several
from numbagraph.capture.values.containers import made
from numbagraph.capture.values.loop_state import Kind, fitted, is_same, joined, kind, kind_of, shown, value_of
from numbagraph.capture.values.optional import Exposed, Possibly, elements_of
from numbagraph.capture.values.stacked_list import Stacked
from numbagraph.capture.values.strings import Leaf
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL
from numbagraph.ir.values import Input, Value
from numbagraph.tracing.regions import dependents
from numbagraph.tracing.retrace import LengthsNeeded
from numbagraph.tracing.tracer import Tracer, user_source


def is_missing(element: Any) -> bool:
    """Whether an element is appended on some paths only."""
    return isinstance(element, Possibly) and element.absent is MISSING


class Growing:
    """A list to which the steps of a loop append."""

    def __init__(self, name: str, before: list[Any]) -> None:
        self.name = name
        self.is_inner = isinstance(before, Appended)
        """Whether an outer loop collects the appended elements."""
        self.to = before.to if isinstance(before, Appended) else None
        self.before = elements_of(before)
        """The elements before the loop."""
        self.are_pythons = False
        """Whether the elements are numbers of Python's alone."""
        self.are_several: list[bool] = []
        """For each element that a step appends, whether it stands for several of an inner loop."""

    def empty(self) -> Appended:
        """Return the placeholder for the list in the body, before a step appends to it."""
        return Appended((), self)

    def own(self, variable: Any) -> Appended:
        """Return the elements that a step has appended. Raise where the step has bound the variable to another list."""
        if not isinstance(variable, Appended) or variable.to is not self:
            raise CaptureError(
                f"{shown(self.name)} is bound to another list in a loop that appends to it: append in one way, or "
                f"assign to the elements of an array\n  at {user_source()}"
            )
        return variable

    def grown_to(self, after: Any) -> bool:
        """Whether a list after a step is this one, with more elements at its end."""
        held = self.before
        if type(after) is Stacked and after.kept.begins is not None:
            return len(held) == len(after.kept.begins) and all(map(is_same, held, after.kept.begins))
        return type(after) is list and len(after) > len(held) and all(map(is_same, held, after))

    def columns(self, end: Ending, parameters: Sequence[Input]) -> list[Value]:
        """Return the elements that a step with such parameters appends, in one type, followed, if some may be missing,
        by flags for those that are present."""
        held = end.tree()
        before = [] if self.is_inner else [value_of(each, self.name) for each in self.before]
        kinds = [kind(each.type) for each in before]
        values, present = [], []
        elements = elements_of(held)
        self.are_several = [isinstance(each, Leaf) and isinstance(each.object, Several) for each in elements]
        for each in elements:
            if isinstance(each, Leaf) and isinstance(each.object, Several):
                several = each.object
                self.require_as_often(several, parameters)
                values.append(several.array)
                kinds.append(Kind(values[-1].dtype, several.are_pythons))
                present.append(rows_present(several))
                continue
            leaf, flag = (each.value, each.present.value) if isinstance(each, Exposed) else (each, weak_constant(True))
            if not isinstance(leaf, Leaf) or leaf.value is None:
                what = kind_of(leaf.object) if isinstance(leaf, Leaf) else "a tree, or None on some paths"
                raise CaptureError(
                    f"{shown(self.name)} is a list to which a loop on traced values appends something that is {what}: "
                    f"numbers and arrays can be\n  at {user_source()}"
                )
            self.require_one_length(leaf.value, parameters)
            values.append(leaf.value)
            kinds.append(kind(leaf.value.type))
            present.append(convert(flag, BOOL))
        target = functools.reduce(joined, kinds)
        self.are_pythons, strong = target.weak, Kind(target.dtype, False)
        lengths = [each.shape for each in before]
        lengths += [each.shape[several:] for each, several in zip(values, self.are_several, strict=True)]
        found = [
            fitted(each, strong, (*each.shape[:several], *lengths[0]), self.name)
            for each, several in zip(values, self.are_several, strict=True)
        ]
        some_missing = any(
            isinstance(each, Exposed) or (several and each.object.mask is not None)
            for each, several in zip(elements, self.are_several, strict=True)
        )
        return [*found, *present] if some_missing else found

    def require_one_length(self, array: Value, parameters: Sequence[Input]) -> None:
        """Raise where steps append arrays of several lengths."""
        lengths = [each for each in map(shapes.resolve, array.shape) if isinstance(each, Value)]
        if not dependents(parameters, lengths).isdisjoint(lengths):
            raise LengthsNeeded(
                f"the steps of a loop append arrays of several lengths to {shown(self.name)}: put all elements into "
                f"one list, and where each array begins into another\n  at {user_source()}"
            )

    def require_as_often(self, several: Several, parameters: Sequence[Input]) -> None:
        """Raise where an inner loop appends arrays, or more often in one step than in another."""
        if several.array.ndim > 1:
            raise CaptureError(
                f"an inner loop appends arrays to {shown(self.name)}: numbers can be; assign to the rows of an array "
                f"that is long enough\n  at {user_source()}"
            )
        lengths = [each for each in map(shapes.resolve, several.array.shape) if isinstance(each, Value)]
        if not dependents(parameters, lengths).isdisjoint(lengths):
            raise CaptureError(
                f"an inner loop appends to {shown(self.name)} as often as a step of the outer loop says: loop as often "
                f"in each step, and append under a condition\n  at {user_source()}"
            )

    def after(self, columns: list[Value]) -> Any:
        """Return the list after the loop: the elements before the loop, and then those that each step has appended."""
        count = len(self.are_several)
        whole: Any = self.in_order(columns[:count])
        mask: Any = None
        if len(columns) > count:
            mask = self.in_order(columns[count:])
        if self.is_inner:
            several = Several(whole.value, None if mask is None else mask.value, self.are_pythons)
            return made(Appended([*self.before, several], self.to))
        if mask is not None:
            whole = whole[mask]
        if self.before:
            first = np.stack([Tracer(value_of(each, self.name)) for each in self.before])
            whole = np.concatenate([first, whole])
        found = Stacked(whole, are_pythons=self.are_pythons)
        found.kept.begins = tuple(self.before)
        return made(found)

    def in_order(self, columns: list[Value]) -> Any:
        """Interleave the columns of several appends per step to one array, in the order of the steps."""
        rows: list[Any] = [
            Tracer(each) if several else Tracer(each)[:, None]
            for each, several in zip(columns, self.are_several, strict=True)
        ]
        if len(rows) == 1 and not self.are_several[0]:
            return rows[0][:, 0]
        whole: Any = np.concatenate(rows, axis=1)
        return np.reshape(whole, (whole.shape[0] * whole.shape[1], *whole.shape[2:]))


def rows_present(several: Several) -> Value:
    """A mask of the rows that an inner loop appends and that are present."""
    if several.mask is not None:
        return several.mask
    return registry["full"](several.array.shape[0], True)
