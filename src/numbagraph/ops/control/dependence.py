"""Dependence between values, result by result: a result of a loop or a branch reads some of its operands alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numbagraph.ir.graph import Graph, guard_values
from numbagraph.ir.values import Node, Value


def independent(values: Iterable[Value], point: Value) -> bool:
    """Whether no element of some values follows from the elements of another value."""
    return point not in reached(values)


def reached(values: Iterable[Value]) -> set[Value]:
    """Return the values that ``values`` are computed from, themselves included."""
    found: set[Value] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value not in found:
            found.add(value)
            pending += operands_of(value) if isinstance(value, Node) else ()
    return found


def operands_of(node: Node) -> Sequence[Value]:
    """Return the operands from which a result follows."""
    if node.op.name == "scan":
        return [node.inputs[0], *(node.inputs[1 + number] for number in read_by_scan(node))]
    if node.op.name == "switch":
        regions = node.attrs["branches"]
        read = set().union(*(read_by(each, [node.attrs["result"]]) for each in regions))
        return [node.inputs[0], *(node.inputs[1 + number] for number in sorted(read))]
    return node.inputs


def read_by(region: Graph, outputs: Iterable[int]) -> set[int]:
    """Return the inputs of a region from which some outputs, and the requirements of the region, follow."""
    found = reached([*(region.outputs[number] for number in outputs), *guard_values(region.guards)])
    return {number for number, each in enumerate(region.inputs) if each in found}


def read_by_scan(node: Node) -> list[int]:
    """Return the operands of a loop from which a result follows, in any step."""
    attrs = node.attrs
    body, carries, result = attrs["body"], attrs["carries"], attrs["result"]
    number = result - len(body.outputs)  # of a carry, before each step
    read, outputs = ({number}, {number}) if number >= 0 else (set[int](), {result})
    while True:
        more = read | read_by(body, outputs)
        own = outputs | {each for each in more if each < carries}
        if own == outputs:
            return sorted(more | {each for each in own if each < carries})
        read, outputs = more, own
