"""Elements at places of a sorted vector, and vectors that are parted there: the uses of selection."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I64, llvm_constant
from numbagraph.intrinsics.emitters.matrices import Index, StackVariable
from numbagraph.intrinsics.emitters.selections import (
    Found,
    Pairs,
    Row,
    Selection,
    append,
    at_least,
    count,
    each_few,
    lanes_for,
    spread,
)
from numbagraph.intrinsics.emitters.sorting import comes_before
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import INT64

PAIRS = 5
"""The number of pieces of scratch memory for a `Selection`: two of keys and positions each, and one of keys."""


def place_of(element: Element, k: Index) -> Index:
    """Return a wanted place, clipped to the vector."""
    place = Index(element.emitter, Row.at(element, element.operands[1], INT64).load(k))
    return at_least(place, element.code.index(0)).least(element["n"] - 1)


def select(element: Element) -> None:
    """Write the elements at some places, and their positions; zeros for an empty vector."""
    builder, dtype = element.builder, element.dtypes[0]
    keys, positions = Row.at(element, element.results[0], dtype), Row.at(element, element.results[1], INT64)
    selection = Selection(element, element.scratch[:PAIRS])

    def one(k: Index) -> None:
        found = selection.find(place_of(element, k))
        keys.store(found.key, k)
        positions.store(found.position, k)

    def nothing(k: Index) -> None:
        keys.store(llvm_constant(0, dtype), k)
        positions.store(llvm_constant(0, INT64), k)

    with builder.if_else(element["n"].compare(">", 0)) as (some, none):
        with some:
            element.code.loop(0, element["m"], one)
        with none:
            element.code.loop(0, element["m"], nothing)


def part(element: Element) -> None:
    """Write the elements in two or more parts, before, between and behind some places, where each part keeps its
    order."""
    divide(element, places=False)


def argpart(element: Element) -> None:
    """Write the positions of the elements that `part` gives."""
    divide(element, places=True)


Choose = Callable[[ir.Value, ir.Value], ir.Value]
"""``choose(key, position)``: the one of the two that is written."""


def key_of(key: ir.Value, position: ir.Value) -> ir.Value:
    return key


def position_of(key: ir.Value, position: ir.Value) -> ir.Value:
    return position


def divide(element: Element, *, places: bool) -> None:
    """Write the elements, or their positions."""
    builder, dtype = element.builder, INT64 if places else element.dtypes[0]
    with builder.if_then(element["n"].compare(">", 0)):
        selection = Selection(element, element.scratch[:PAIRS])
        result = Row.at(element, element.results[0], dtype)
        with builder.if_else(element["m"].compare("==", 1)) as (one, several):
            with one:
                place = place_of(element, element.code.index(0))
                pivot = selection.find(place)
                rest, choose = rows_of(selection.second)[places], (key_of, position_of)[places]
                split(element, selection.source, element["n"], place, pivot, [Target(result, rest, choose)])
            with several:
                found = divide_often(element, selection)
                element.copy(result.pointer, rows_of(found)[places].pointer, element["n"], dtype)


def rows_of(pairs: Pairs) -> tuple[Row, Row]:
    assert pairs.positions is not None
    return pairs.keys, pairs.positions


class Target(Struct):
    """A row that is parted, and one for the elements behind the place, which are collected there first: memory behind
    the last element of the row may be overwritten."""

    row: Row
    rest: Row
    choose: Choose


def split(element: Element, given: Pairs, n: Index, place: Index, pivot: Found, targets: Sequence[Target]) -> None:
    """Split the first ``n`` elements into two parts beside the one at a place. A target may be where they are."""
    builder, zero = element.builder, ir.Constant(I64, 0)

    def body(k: Index, lanes: int, *sizes: ir.Value) -> list[ir.Value]:
        key, position = given.load(k, lanes)
        parts = sides(element, key, position, pivot, lanes)
        for target in targets:
            value = target.choose(key, position)
            for row, size, part in zip((target.row, target.rest), sizes, parts, strict=True):
                append(element, row, Index(element.emitter, size), value, part, lanes)
        return [builder.add(size, count(element, part, lanes)) for size, part in zip(sizes, parts, strict=True)]

    dtypes = {given.keys.dtype, *(each.row.dtype for each in targets)}
    each_few(element, n, lanes_for(*dtypes), [zero, zero], body)
    for target in targets:
        target.row.store(target.choose(pivot.key, pivot.position), place)
        behind = n - place - 1
        element.copy(target.row.place(place + 1), target.rest.pointer, behind, target.row.dtype)


def sides(element: Element, key: ir.Value, position: ir.Value, pivot: Found, lanes: int) -> tuple[ir.Value, ir.Value]:
    """Return whether elements stand before or behind another one; equal ones are told apart by their positions."""
    builder, dtype = element.builder, element.dtypes[0]
    other, place = spread(element, pivot.key, lanes), spread(element, pivot.position, lanes)
    less, greater = comes_before(builder, key, other, dtype), comes_before(builder, other, key, dtype)
    earlier = builder.and_(builder.not_(greater), builder.icmp_signed("<", position, place))
    later = builder.and_(builder.not_(less), builder.icmp_signed(">", position, place))
    return builder.or_(less, earlier), builder.or_(greater, later)


def divide_often(element: Element, selection: Selection) -> Pairs:
    """Split into several parts: at the last place first, then what stands before it. Places are in order."""
    builder, code, n, m = element.builder, element.code, element["n"], element["m"]
    keys = Row.at(element, element.scratch[PAIRS], element.dtypes[0])
    positions = Row.at(element, element.scratch[PAIRS + 1], INT64)

    def find(k: Index) -> None:
        pivot = selection.find(place_of(element, k))
        keys.store(pivot.key, k)
        positions.store(pivot.position, k)

    code.loop(0, m, find)
    given, rest = selection.first, selection.second
    own, spare = rows_of(given), rows_of(rest)
    code.loop(0, n, lambda k: own[1].store(k.register, k))
    element.copy(own[0].pointer, element.operands[0], n)
    targets = [Target(*each) for each in zip(own, spare, (key_of, position_of), strict=True)]
    end = StackVariable(element.emitter, n.register)

    def one(k: Index) -> None:
        place, last = place_of(element, k), Index(element.emitter, end.value)
        with builder.if_then(place.compare("<", last)):  # not twice at one place
            split(element, given, last, place, Found(keys.load(k), positions.load(k)), targets)
        end.value = place.register

    code.backwards(m, one)
    return given
