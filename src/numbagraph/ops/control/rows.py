"""Sums into some elements of an array: in a loop, the pullback of reading ``x[i]`` or ``x[i, j]`` adds to a cotangent
an array that is zero but for these elements. As an assignment, this costs only what is read, and not the whole array,
since the loop's memory is updated in place."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TypeGuard

from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Constant, Node, Value
from numbagraph.ops.creation import is_zero, is_zeros
from numbagraph.ops.indexing.gathering import all_different
from numbagraph.ops.indexing.slicing import lies_in_zeros
from numbagraph.transforms.autodiff import sum_of


class Spot(Struct):
    """An array that is zero but for one position along each of some axes (counted from the right, ascending), where it
    is ``content``."""

    content: Value
    positions: tuple[Value, ...]
    axes: tuple[int, ...]
    checked: tuple[bool, ...]
    """Whether each position is checked. Nothing else may look at a position: what is read there need not be known for
    its derivative."""


def added_by_rows(terms: Sequence[Value]) -> Value | None:
    """Return a sum of arrays, of which those that are zero but for some elements are added to these elements of the
    others; None where one of the two kinds is missing."""
    whole, spots = parted(terms)
    has_parts = spots or (len(whole) > 1 and any(map(lies_in_zeros, whole)))
    return spots_added(added(whole), spots) if whole and has_parts else None


def added(terms: Sequence[Value]) -> Value:
    return functools.reduce(sum_of, terms)


def spots_added(result: Value, spots: Sequence[Spot]) -> Value:
    """Return an array with the contents of spots added in their places: first to elements that were just replaced."""
    for spot in sorted(spots, key=lambda each: not replaces(result, each)):
        result = spot_added(result, spot)
    return result


def spot_added(array: Value, spot: Spot) -> Value:
    """Return an array with the content of a spot added. Content that a step takes away and gives back stays where it
    is."""
    rest = {"axis": spot.axes[0], "checked": spot.checked}
    content = spot.content
    if replaces(array, spot) and is_zeros(array.inputs[1]):
        array = array.inputs[0]
        if content is registry["gather"].bind(array, *spot.positions, **rest):
            return array
    else:
        content = registry["add"].bind(registry["gather"].bind(array, *spot.positions, **rest), content)
    return registry["put_at"].bind(array, content, *spot.positions, **rest)


def replaces(array: Value, spot: Spot) -> TypeGuard[Node]:
    """Whether the elements of a spot are those that an assignment has just replaced."""
    return is_op(array, "put_at") and array.attrs["axis"] == spot.axes[0] and array.inputs[2:] == spot.positions


def parted(terms: Sequence[Value]) -> tuple[list[Value], list[Spot]]:
    """Split the terms of a sum into those that may be nonzero everywhere, and spots."""
    whole, spots = [], []
    for term in terms:
        found = spots_of(term)
        if found is None:
            whole.append(term)
        else:
            spots += found
    return whole, spots


def spots_of(value: Value) -> list[Spot] | None:
    """Return the elements that a value consists of, if it is zero elsewhere."""
    row = row_of(value)
    if row is None:
        return scattered(value)
    (axis,) = row.axes
    whole, inner = parted(terms_of(row.content))
    found = [replace(row, content=added(whole))] if whole else []
    for spot in inner:
        axes = (axis, *(each if each > axis else each - 1 for each in spot.axes))
        order = sorted(range(len(axes)), key=axes.__getitem__)
        if axes[order[-1]] - axes[order[0]] != len(axes) - 1:  # there is an axis between them
            return [row]
        positions, checked = (*row.positions, *spot.positions), (*row.checked, *spot.checked)
        found.append(
            Spot(
                spot.content,
                tuple(positions[place] for place in order),
                tuple(axes[place] for place in order),
                tuple(checked[place] for place in order),
            )
        )
    return found


def scattered(value: Value) -> list[Spot] | None:
    """Return the elements that `scatter_add` has written, if none was written twice."""
    if not is_op(value, "scatter_add"):
        return None
    axis, count = value.attrs["axis"], value.attrs["count"]
    positions = value.inputs[1 : 1 + count]
    if not all_different(positions):
        return None
    return [Spot(value.inputs[0], positions, tuple(range(axis, axis + count)), value.attrs["checked"])]


def terms_of(value: Value) -> list[Value]:
    """Return the operands of a sum of sums, in order."""
    found, stack = [], [value]
    while stack:
        top = stack.pop()
        if isinstance(top, Node) and top.op.name == "add" and not top.type.weak:
            stack += reversed(top.inputs)
        else:
            found.append(top)
    return found


def row_of(value: Value) -> Spot | None:
    """Return the row that a value consists of, if it is a choice by position, as the derivative of ``pick`` writes
    it."""
    if not is_op(value, "where") or not is_zero(value.inputs[2]) or not is_op(value.inputs[1], "expand_dims"):
        return None
    here, content = value.inputs[0], value.inputs[1]
    axes = content.attrs["axes"]
    while is_op(here, "expand_dims"):
        here = here.inputs[0]
    if len(axes) != 1 or not is_op(here, "equal") or not is_op(here.inputs[0], "iota") or here.inputs[1].ndim:
        return None
    if content.inputs[0].ndim + 1 != value.ndim or content.inputs[0].dtype != value.dtype:
        return None
    position = uncast(as_written(here.inputs[1]))
    return Spot(content.inputs[0], (position,), (axes[0],), (not isinstance(position, Constant),))


def as_written(position: Value) -> Value:
    """Return a position as it was before the derivative of ``pick`` replaced it by one that counts from the start. A
    position that counts from the end and lies before the start must not come to lie inside."""
    if not is_op(position, "where"):
        return position
    condition, _, original = position.inputs
    is_from_end = is_op(condition, "less") and condition.inputs[0] is original and is_zero(condition.inputs[1])
    return original if is_from_end else position


def uncast(position: Value) -> Value:
    """Return a position as it was before a cast, if it was int64 already."""
    return position.inputs[0] if is_op(position, "cast") and position.inputs[0].dtype == INT64 else position


def is_op(value: Value, name: str) -> TypeGuard[Node]:
    return isinstance(value, Node) and value.op.name == name
