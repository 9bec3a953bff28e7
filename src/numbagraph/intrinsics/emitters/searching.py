"""Search in sorted vectors, for many numbers at a time.

Halving has a step for each bit of the length, whatever the number that is sought. So all lanes of a vector take it
together, and no branch depends on elements.
"""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I32, llvm_type
from numbagraph.intrinsics.emitters.matrices import Index
from numbagraph.intrinsics.emitters.selections import Row, each_few, spread
from numbagraph.intrinsics.emitters.sorting import comes_before
from numbagraph.ir.types import INT64

LANES = 32
"""The number of numbers that are searched for together: reads for one of them wait while those for others are under
way."""


def read(row: Row, positions: ir.Value, lanes: int) -> ir.Value:
    """Load the element at a position for each lane."""
    element, builder = row.element, row.element.builder
    if lanes == 1:
        return row.load(element.code.index(positions))
    vector: ir.Value = ir.Constant(ir.VectorType(llvm_type(row.dtype), lanes), ir.Undefined)
    for lane in range(lanes):
        number = ir.Constant(I32, lane)
        one = row.load(element.code.index(builder.extract_element(positions, number)))
        vector = builder.insert_element(vector, one, number)
    return vector


def search(element: Element) -> None:
    """Write the number of elements of a sorted vector that stand before each number, or that do not stand behind it
    ("right")."""
    code, builder, emitter = element.code, element.builder, element.emitter
    dtype = element.dtypes[0]
    keys, numbers = (Row.at(element, pointer, dtype) for pointer in element.operands)
    target = Row.at(element, element.results[0], INT64)
    one, right = code.index(1), element.attributes["right"]

    def look_up(k: Index, lanes: int) -> list[ir.Value]:
        sought = numbers.load(k, lanes)

        def halve(left: ir.Value, first: ir.Value) -> list[ir.Value]:
            """Take a step of the search. Elements before the first position stand before the number; the ``left`` ones
            from there on may."""
            half = builder.lshr(left, one.register)
            other = read(keys, builder.add(first, spread(element, half, lanes)), lanes)
            if right:
                behind = builder.not_(comes_before(builder, sought, other, dtype))
            else:
                behind = comes_before(builder, other, sought, dtype)
            beyond = builder.add(first, spread(element, builder.sub(left, half), lanes))
            return [half, builder.select(behind, beyond, first)]

        def goes_on(left: ir.Value, _first: ir.Value) -> ir.Value:
            return code.index(left).compare(">", code.index(0))

        none = spread(element, code.index(0).register, lanes)
        _, found = emitter.repeat([element["n"].register, none], goes_on, halve)
        target.store(found, k, lanes)
        return []

    each_few(element, element["m"], LANES, [], look_up)
