"""Arrays with memory of their own: a result that is returned a second time, and filled arrays that a loop updates."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numbagraph.ir.graph import Graph
from numbagraph.ir.op import registry
from numbagraph.ir.values import Node, Value, toposort
from numbagraph.rewrite.substitutions import with_inputs


def with_distinct_outputs(graph: Graph) -> Graph:
    """The graph with a copy of each array that is returned a second time: every result has memory of its own."""
    outputs: list[Value] = []
    seen: set[Value] = set()
    for number, value in enumerate(graph.outputs):
        repeated = value.ndim and value in seen
        outputs.append(registry["alias"].bind(value, number=number) if repeated else value)
        seen.add(value)
    return graph.with_outputs(outputs)


def with_distinct_starts(graph: Graph) -> Graph:
    """The graph, in which no two arrays that a loop carries start from one array that only repeats a number: to fill
    each where it will be updated takes less time than to copy it there."""
    if not any(isinstance(each, Node) and starts_alike(each) for each in graph.order):
        return graph
    return graph.transformed(distinct)


def distinct(roots: Sequence[Value]) -> list[Value]:
    return with_other_operands(roots, starts_alike, lambda value, place: registry["alias"].bind(value, number=place))


def with_other_operands(
    roots: Sequence[Value], places: Callable[[Node], Sequence[int]], other: Callable[[Value, int], Value]
) -> list[Value]:
    """Values, with other operands at those places of each node that ``places`` gives."""
    mapped: dict[Value, Value] = {}
    for value in toposort(roots):
        mapped[value] = value
        if isinstance(value, Node):
            inputs = [mapped[each] for each in value.inputs]
            for place in places(value):
                inputs[place] = other(inputs[place], place)
            mapped[value] = with_inputs(value, inputs)
    return [mapped[each] for each in roots]


def starts_alike(node: Node) -> list[int]:
    """The operands of a loop that are filled arrays which another carried array starts from, too."""
    if node.op.name != "scan":
        return []
    places = range(1, 1 + node.attrs["carries"])
    filled = [place for place in places if is_filled(node.inputs[place])]
    return [place for place in filled if node.inputs[place] in node.inputs[1:place]]


def is_filled(value: Value) -> bool:
    return isinstance(value, Node) and value.ndim > 0 and value.op.name == "full"
