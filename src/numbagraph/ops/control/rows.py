"""Sums into one row of an array: what the pullback of reading ``x[i]`` in a loop adds to a cotangent is zero but for
that row. As an assignment it costs a row, since the loop's memory is updated where it lies, and not the whole array."""

from __future__ import annotations

from typing import TypeGuard

from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Constant, Node, Value


class Row(Struct):
    """Zeros but for one position of an axis (counted from the right), where ``content`` is."""

    content: Value
    position: Value
    axis: int


def added_by_rows(value: Value) -> Value:
    """A sum of arrays, of which those with one row are added to that row of the others."""
    terms = terms_of(value)
    rows = [(term, row_of(term)) for term in terms]
    whole = [term for term, row in rows if row is None]
    if not whole or len(whole) == len(terms):
        return value
    result = whole[0]
    for term in whole[1:]:
        result = registry["add"].bind(result, term)
    for _, row in rows:
        if row is not None:
            # nothing else may look at the position: what is read there need not be known for its derivative
            check = not isinstance(row.position, Constant)
            before = registry["pick"].bind(result, row.position, axis=row.axis, checked=check)
            now = registry["add"].bind(before, row.content)
            result = registry["put_at"].bind(result, now, row.position, axis=row.axis, checked=(check,))
    return result


def terms_of(value: Value) -> list[Value]:
    """The operands of a sum of sums, in order."""
    found, stack = [], [value]
    while stack:
        top = stack.pop()
        if isinstance(top, Node) and top.op.name == "add" and not top.type.weak:
            stack += reversed(top.inputs)
        else:
            found.append(top)
    return found


def row_of(value: Value) -> Row | None:
    """The row that a value consists of: as the derivative of ``pick`` writes it, a choice by position."""
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
    return Row(content.inputs[0], as_written(here.inputs[1]), axes[0])


def as_written(position: Value) -> Value:
    """A position as it was before the derivative of ``pick`` made one that counts from the start of it: one that counts
    from the end and goes beyond the start must not come to lie inside."""
    if not is_op(position, "where"):
        return position
    condition, _, original = position.inputs
    is_from_end = is_op(condition, "less") and condition.inputs[0] is original and is_zero(condition.inputs[1])
    return original if is_from_end else position


def is_op(value: Value, name: str) -> TypeGuard[Node]:
    return isinstance(value, Node) and value.op.name == name


def is_zero(value: Value) -> bool:
    return isinstance(value, Constant) and not value.ndim and not value.data
