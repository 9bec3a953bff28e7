"""Values with others in place of some of them, and the same for the values of regions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph
from numbagraph.ir.opaque import opaque_values
from numbagraph.ir.values import Node, Value, at_source, make_node, toposort


def rebuilt(roots: Sequence[Value], replacements: Mapping[Value, Value]) -> list[Value]:
    """Values with some of them replaced, also in what the replacements of others are computed from."""
    with shapes.collect_guards():  # of lengths that have been compared
        return _rebuilt(roots, replacements)


def _rebuilt(roots: Sequence[Value], replacements: Mapping[Value, Value]) -> list[Value]:
    done: dict[Value, Value] = {each: each for each in opaque_values()}
    stack = list(roots)
    while stack:
        value = stack[-1]
        other = replacements.get(value)
        if other is value:
            other = None
        waiting = [other] if other is not None else value.inputs if isinstance(value, Node) else ()
        missing = [each for each in waiting if each not in done]
        if value in done or not missing:
            stack.pop()
            if value not in done:
                done[value] = value if other is None else done[other]
                if other is None and isinstance(value, Node):
                    done[value] = with_inputs(value, [done[each] for each in value.inputs])
        else:
            stack += missing
    return [done[each] for each in roots]


def with_inputs(node: Node, inputs: Sequence[Value]) -> Node | Value:
    """Apply the operation of a node, with its attributes, to other operands."""
    if all(map(operator.is_, inputs, node.inputs)):
        return node
    with at_source(node.source):
        return node.op.bind(*inputs, **node.attrs)


def with_regions(values: Sequence[Value], function: Callable[[list[Value]], Sequence[Value]]) -> list[Value]:
    """Values, with the results of regions transformed by a function."""
    known: dict[int, Graph] = {}

    def inner(item: object) -> object:
        if type(item) is tuple:
            return tuple(map(inner, item))
        if not isinstance(item, Graph):
            return item
        if id(item) not in known:  # each result of a loop is a node that holds its regions
            known[id(item)] = item.transformed(function)
        return known[id(item)]

    found: dict[Value, Value] = {}
    for each in toposort(values, known=opaque_values()):
        if isinstance(each, Node) and each.op.kind == "control":
            attributes = tuple((name, inner(item)) for name, item in each.attributes)
            if attributes != each.attributes:
                with at_source(each.source):
                    found[each] = make_node(each.op, each.inputs, attributes, lambda type=each.type: type)
    return rebuilt(values, found) if found else list(values)
