"""Lengths that users give, and the lengths of what they cut out of arrays: NumPy's arithmetic, on symbols as well.

Equal lengths should come out as equal expressions, for that is how fusion knows that two arrays have the same shape.
So a length is written in one way: ``x[1:]`` and ``x[:-1]`` both have ``maximum(n - 1, 0)`` elements.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex

import numpy as np

from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import BOOL, INT64, UINT64
from numbagraph.ir.values import BatchElement, Constant, Dim, Extent, Node, Value, constant

MOST = 2**63 - 1
"""The largest length."""


def as_extent(size: Value | SupportsIndex, what: str = "a length") -> Extent:
    """Return a number that a user gave as an extent: an int, or a rank-0 integer value."""
    if not isinstance(size, Value):
        return operator.index(size)
    if size.ndim or size.dtype.kind not in "iu":
        raise TypeError(f"{what} must be an integer, not {size.type}")
    if size.dtype == UINT64:  # beyond the other integers is beyond any length, too
        size = registry["minimum"].bind(size, constant(2**63 - 1, dtype=UINT64))
    if size.dtype != INT64 or not size.type.weak:
        size = registry["cast"].bind(size, dtype=INT64, weak=True) if not isinstance(size, Constant) else size
    return shapes.resolve(size)


def as_length(size: Value | SupportsIndex) -> Extent:
    """Return a number that a user gave as a length, and require that it is not negative."""
    extent = as_extent(size)
    if isinstance(extent, int) and extent > MOST:
        raise ValueError("Maximum allowed dimension exceeded")
    if not is_nonnegative(extent):
        shapes.require(shapes.compare("greater_equal", extent, 0), "negative dimensions are not allowed")
    return extent


def as_shape(shape: Any) -> shapes.Shape:
    """A shape that a user gave: a length, or a sequence of them."""
    return tuple(map(as_length, shape if isinstance(shape, (tuple, list)) else (shape,)))


def is_nonnegative(extent: Extent) -> bool:
    """Whether an extent is known not to be negative."""
    stack, seen = [shapes.resolve(extent)], set[Extent]()
    while stack:
        each = stack.pop()
        if each in seen:
            continue
        seen.add(each)
        if isinstance(each, int):
            if each < 0:
                return False
        elif isinstance(each, Node):
            operands = [shapes.resolve(operand) for operand in each.inputs]
            if each.op.name == "maximum":
                operands = [operand for operand in operands if isinstance(operand, int)]
                if not any(number >= 0 for number in operands):
                    return False
            elif each.op.name == "count_true":
                continue
            elif each.op.name in ("minimum", "add", "multiply", "floor_divide"):
                stack.extend(operands)
            else:
                return False
        elif not isinstance(each, Dim):
            return False
    return True


def split_offset(extent: Extent) -> tuple[Extent, int]:
    """Split an extent into another extent plus a number."""
    offset, extent = 0, shapes.resolve(extent)
    while isinstance(extent, Node) and extent.op.name in ("add", "subtract"):
        left, right = (shapes.resolve(operand) for operand in extent.inputs)
        if isinstance(right, int):
            offset += right if extent.op.name == "add" else -right
            extent = left
        elif isinstance(left, int) and extent.op.name == "add":
            offset, extent = offset + left, right
        else:
            break
    return (0, offset + extent) if isinstance(extent, int) else (extent, offset)


def plus(extent: Extent, number: int) -> Extent:
    """``extent + number``."""
    base, offset = split_offset(extent)
    if isinstance(base, int):
        return offset + number
    number += offset
    return shapes.add(base, number) if number >= 0 else shapes.subtract(base, -number)


def less(extent: Extent, number: int) -> Extent:
    """``maximum(extent - number, 0)``: what is left of a dimension without ``number`` elements."""
    extent = shapes.resolve(extent)
    if number == 0:
        return extent
    number = min(number, MOST)
    clipped = _operands("maximum", extent)
    if clipped is not None and isinstance(clipped[1], int) and clipped[1] == 0:
        extent = clipped[0]
    return shapes.maximum(plus(extent, -number), 0)


def at_most(extent: Extent, number: int) -> Extent:
    """``minimum(extent, number)``: the length of the first ``number`` elements of a dimension."""
    if number == 0:
        return 0
    clipped = _operands("minimum", extent)
    if clipped is not None and isinstance(clipped[1], int):
        extent, number = clipped[0], min(number, clipped[1])
    return shapes.minimum(extent, number)


def _operands(name: str, extent: Extent) -> tuple[Extent, ...] | None:
    extent = shapes.resolve(extent)
    if isinstance(extent, Node) and extent.op.name == name:
        return tuple(map(shapes.resolve, extent.inputs))
    return None


def ceil_divide(extent: Extent, number: int) -> Extent:
    return shapes.floor_divide(plus(extent, number - 1), number) if number != 1 else extent


def factors_of(extents: Iterable[Extent]) -> tuple[int, list[Value]]:
    """Split a product of extents into a number and its symbolic factors."""
    number, symbols = 1, []
    stack = list(extents)[::-1]
    while stack:
        extent = shapes.resolve(stack.pop())
        if isinstance(extent, int):
            number *= extent
        elif (factors := _operands("multiply", extent)) is not None:
            stack.extend(reversed(factors))
        else:
            symbols.append(extent)
    return number, symbols


def count_of(extents: Iterable[Extent]) -> tuple[int, frozenset[tuple[Value, int]]]:
    """The product of extents, in a form that is equal for equal products."""
    number, symbols = factors_of(extents)
    return number, frozenset(Counter(symbols).items()) if number else frozenset()


def quotient(extents: Sequence[Extent], known: Sequence[Extent]) -> Extent:
    """``product(extents) // product(known)``, where ``known`` holds no 0; what is in both is not computed."""
    (above, symbols), (below, others) = factors_of(extents), factors_of(known)
    divisor = math.gcd(above, below) or 1
    rest = []
    for other in others:
        if other in symbols:
            symbols.remove(other)
        else:
            rest.append(other)
    return shapes.floor_divide(shapes.product([above // divisor, *symbols]), shapes.product([below // divisor, *rest]))


def matching_groups(source: Sequence[Extent], target: Sequence[Extent]) -> list[tuple[list[int], list[int]]]:
    """Runs of dimensions of two shapes that have the same number of elements, as short as can be proven.

    Dimensions of length 1 belong to no run.
    """
    left = [axis for axis, extent in enumerate(source) if shapes.resolve(extent) != 1]
    right = [axis for axis, extent in enumerate(target) if shapes.resolve(extent) != 1]
    groups = []
    while left and right and shapes.same(source[left[-1]], target[right[-1]]):
        groups.append(([left.pop()], [right.pop()]))
    ends = {count_of(source[axis] for axis in left[: size + 1]): size + 1 for size in reversed(range(len(left)))}
    start = begin = 0
    for size in range(1, len(right) + 1):
        end = ends.get(count_of(target[axis] for axis in right[:size]))
        if end is not None and end > start:
            groups.append((left[start:end], right[begin:size]))
            start, begin = end, size
    if start < len(left) or begin < len(right):
        groups.append((left[start:], right[begin:]))
    return groups


class Bound(Struct):
    """An end of a slice, clipped to a dimension: ``number`` elements from its left or right end, or ``position``."""

    length: Extent
    number: int = 0
    right: bool = False
    position: Extent | None = None

    @property
    def extent(self) -> Extent:
        if self.position is not None:
            return self.position
        return less(self.length, self.number) if self.right else self.counted

    @property
    def begin(self) -> Extent:
        """The position at which a slice begins. It is left unclipped: a slice for which clipping would change it has no
        elements."""
        return self.number if self.position is None and not self.right else self.extent

    @property
    def end(self) -> Extent:
        """The position behind the first element of a slice that is read backwards. It is left unclipped: a slice for
        which clipping would change it has no elements."""
        return plus(self.length, -self.number) if self.position is None and self.right else self.extent

    @property
    def counted(self) -> Extent:
        """``number``, or the whole dimension where it has fewer elements."""
        return at_most(self.length, self.number)


def bound_of(end: Value | SupportsIndex | None, length: Extent, default: Bound, shift: int = 0) -> Bound:
    """Return an end of a slice, read as NumPy does. ``shift`` is 1 where a step is negative: ends are then one to the
    left."""
    if end is None:
        return default
    end = as_extent(end, "an end of a slice")
    if isinstance(end, int):
        end = max(-MOST, min(end, MOST - 1))  # beyond any length, as the numbers that follow have 64 bits
        return Bound(length, end + shift) if end >= 0 else Bound(length, -end - shift, right=True)
    base, offset = split_offset(end)
    if shapes.same(base, length) and -_smallest(length) <= offset <= 0:
        return Bound(length, -offset - shift, right=True) if offset + shift <= 0 else Bound(length, right=True)
    if not is_nonnegative(end):
        negative = registry["less"].bind(end, shapes.as_value(0))
        end = shapes.resolve(registry["where"].bind(negative, shapes.as_value(shapes.add(end, length)), end))
    position = plus(shapes.minimum(end, length), shift) if shift else end  # the largest integer has none behind it
    position = position if is_nonnegative(position) else shapes.maximum(position, 0)
    return Bound(length, position=shapes.minimum(position, length))


def _smallest(length: Extent) -> int:
    """Return the distance below ``length`` down to which a computed end need not be taken for one that counts from the
    right.

    A negative end is counted from the right. Of an argument's length, ``n - 1`` is only negative where n is 0, and
    ``n - 2`` too, since n is not 1: both then give an empty slice, as they do when read as ends.
    """
    return 2 if isinstance(length, Dim) and shapes.not_one(length) else 1


def span(low: Bound, high: Bound) -> Extent:
    """The number of elements between two ends of one dimension."""
    length = low.length
    if low.position is None and high.position is None:
        match low.right, high.right:
            case False, True:
                return less(length, low.number + high.number)
            case False, False:
                return less(high.extent, low.number) if low.number < high.number else 0
            case True, True:
                return less(low.counted, high.number) if low.number > high.number else 0
    return shapes.maximum(shapes.subtract(high.extent, low.extent), 0)


class Cut(Struct):
    """The part of one dimension that a slice selects: ``length`` elements from ``start`` on, ``step`` apart."""

    start: Extent
    step: int
    length: Extent

    def whole(self, length: Extent) -> bool:
        return self.step == 1 and self.start == 0 and shapes.same(self.length, length)


def cut(key: slice, length: Extent) -> Cut:
    """Return the part of a dimension of ``length`` elements that ``key`` selects, by NumPy's rules."""
    length = shapes.resolve(length)
    step = 1 if key.step is None else as_extent(key.step, "the step of a slice")
    if not isinstance(step, int):
        raise TypeError("the step of a slice must be known when the function is traced: name it in static_argnames")
    if step == 0:
        raise ValueError("slice step cannot be zero")
    step = max(-(2**62), min(step, 2**62))  # beyond any length, and so that a sum with one is an integer
    first, last = Bound(length), Bound(length, right=True)
    if step > 0:
        low, high = bound_of(key.start, length, first), bound_of(key.stop, length, last)
        return Cut(low.begin, step, ceil_divide(span(low, high), step))
    low, high = bound_of(key.stop, length, first, 1), bound_of(key.start, length, last, 1)
    return Cut(plus(high.end, -1), step, ceil_divide(span(low, high), -step))


def is_known_at_entry(value: Value) -> bool:
    """Whether a rank-0 value follows from scalars and lengths alone, so that it can be checked before any work."""
    seen: set[Value] = set()
    stack = [value]
    while stack:
        each = stack.pop()
        if each.ndim or isinstance(each, BatchElement):
            return False
        if each not in seen and isinstance(each, Node):
            seen.add(each)
            stack.extend(each.inputs)
    return True


def both(left: Value | bool, right: Value | bool, name: str = "logical_and") -> Value | bool:
    """The conjunction (or another connection) of two conditions."""
    if isinstance(left, bool) and isinstance(right, bool):
        return bool(getattr(np, name)(left, right))
    operands = [each if isinstance(each, Value) else constant(each, dtype=BOOL) for each in (left, right)]
    return registry[name].bind(*operands)
