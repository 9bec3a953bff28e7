"""Bounds of lengths that the data decide: whether one exceeds another, and what it cannot exceed."""

from __future__ import annotations

from collections.abc import Callable, Collection

from numbagraph.blockwise.lengths import is_nonnegative
from numbagraph.ir import shapes
from numbagraph.ir.values import Constant, Extent, Node, Value
from numbagraph.ops.indexing.masks import is_count
from numbagraph.rewrite.engine import is_length
from numbagraph.tracing.regions import is_recomputed

IsKnown = Callable[[Value], bool]


def known_by(values: Collection[Value]) -> IsKnown:
    """Return a predicate that tells whether an integer is one of some values, or arithmetic on these and on lengths."""

    def is_known(value: Value) -> bool:
        if value in values or not isinstance(value, Node) or is_recomputed(value):
            return True
        is_arithmetic = is_length(value) and value.op.kind != "control" and not any(each.ndim for each in value.inputs)
        return is_arithmetic and all(map(is_known, value.inputs))

    return is_known


def is_at_most(extent: Extent, limit: Extent) -> bool:
    """Whether a length is known not to exceed another one."""
    extent, limit = shapes.resolve(extent), shapes.resolve(limit)
    if shapes.same(extent, limit) or (isinstance(extent, int) and extent == 0):
        return True
    if isinstance(extent, int) and isinstance(limit, int):
        return extent <= limit
    limits = limit.inputs if isinstance(limit, Node) and limit.op.name == "maximum" else ()
    if any(is_at_most(extent, each) for each in limits):
        return True
    if not isinstance(extent, Node):
        return False
    first, *others = extent.inputs
    if is_count(extent):
        return first.ndim == 1 and is_at_most(first.shape[0], limit)
    match extent.op.name:
        case "minimum":
            return any(is_at_most(each, limit) for each in extent.inputs)
        case "maximum":
            return all(is_at_most(each, limit) for each in extent.inputs)
        case "where":
            return all(is_at_most(each, limit) for each in others)
        case "subtract":
            return is_nonnegative(others[0]) and is_at_most(first, limit)
        case "floor_divide":
            return is_positive(others[0]) and is_at_most(first, limit)
        case "cast":
            return is_at_most(first, limit)
    return False


def bound(extent: Extent, is_known: IsKnown) -> Extent | None:
    """Return a known length that another one cannot exceed; None where there is none."""
    extent = shapes.resolve(extent)
    if not isinstance(extent, Value) or is_known(extent):
        return extent
    if not isinstance(extent, Node):
        return None
    if is_count(extent):
        found = [bound(each, is_known) for each in extent.inputs[0].shape]
        return None if None in found else shapes.product([each for each in found if each is not None])
    bounds = [None if each.ndim else bound(each, is_known) for each in extent.inputs]
    known = [each for each in bounds if each is not None]
    match extent.op.name:
        case "minimum" if known:
            return shapes.minimum(*known) if len(known) > 1 else known[0]
        case "maximum" if len(known) == len(bounds):
            return shapes.maximum(*known)
        case "where" if len(known) == len(bounds):
            return shapes.maximum(*known[1:])
        case "add" if len(known) == len(bounds):
            return shapes.add(*known)
        case "subtract" if is_nonnegative(extent.inputs[1]):
            return bounds[0]
        case "floor_divide" if is_positive(extent.inputs[1]):
            return bounds[0]
        case "cast":
            return bounds[0]
    return None


def is_positive(value: Value) -> bool:
    return isinstance(value, Constant) and int(value.data) > 0
