"""Captured arrays: values that depend on them alone are computed once, when a function is bound to them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, guard_values, substitute
from numbagraph.ir.structs import replace
from numbagraph.ir.values import ArrayType, Constant, Dim, Extent, Input, Node, Value, toposort
from numbagraph.ops.product import is_thin, matmul
from numbagraph.ops.shape import permute
from numbagraph.transforms.interpret import evaluate

CALLED = ("callback", "effect")
"""Kinds of op that call Python each time that the program runs."""

LEAST_WORK = 16.0
"""The cost an element, in additions, above which a value is computed once though it is larger than the values that it
depends on."""

LARGEST = 2**22
"""The largest size of such a value in bytes: larger ones would come from memory, not from a cache."""

NARROW = 31
"""The number of columns up to which a matrix that multiplies vectors is stored column by column. Rows of 32 numbers are
vectors themselves, and are read once for a product and its gradient."""


def fold_captured(graph: Graph, captured: Sequence[np.ndarray]) -> tuple[Graph, tuple[np.ndarray, ...]]:
    """Replace values that depend on the captured arrays (the last inputs) alone by their results, captured in turn.

    A value is folded when it is no larger than what it is computed from, or expensive to compute and not very large:
    binding does not trade a pass over small arrays for memory and a pass over a large one. Arrays are stored in the
    order in which they are read.
    """
    own = graph.inputs[len(graph.inputs) - len(captured) :]
    arrays = dict(zip(own, captured, strict=True))
    frontier = _frontier(graph, arrays) if arrays else []
    if not frontier:
        return stored_by_columns(graph, captured)
    results = evaluate(Graph(own, tuple(frontier)), captured)
    folded: dict[Value, Value] = {}
    for number, (node, result) in enumerate(zip(frontier, results, strict=True)):
        new = Input(ArrayType(node.dtype, node.shape), f"folded{number}")
        folded[node] = new
        arrays[new] = np.require(np.asarray(result), requirements=["C", "A"])
    replaced = _replaced(graph, folded)
    arguments = graph.inputs[: len(graph.inputs) - len(captured)]
    kept = _still_needed(_results(replaced), arguments, arrays)
    rebound = replace(replaced, inputs=(*arguments, *kept))
    return stored_by_columns(rebound, [arrays[each] for each in kept])


def stored_by_columns(graph: Graph, captured: Sequence[np.ndarray]) -> tuple[Graph, tuple[np.ndarray, ...]]:
    """Let narrow matrices that are only multiplied with vectors lie in memory column by column.

    Rows of a few numbers are short for vectors, and so are their sums; columns are long.
    """
    first = len(graph.inputs) - len(captured)
    arrays = dict(zip(graph.inputs[first:], captured, strict=True))
    narrow = [each for each, array in arrays.items() if _is_narrow(each, array) and _multiplies_vectors(each, graph)]
    if not narrow:
        return graph, tuple(captured)
    moved = {each: Input(ArrayType(each.dtype, each.shape[::-1]), each.name) for each in narrow}
    graph = _replaced(graph, {each: permute(new, (1, 0)) for each, new in moved.items()})
    columns = {moved[each]: np.require(arrays[each].T, requirements=["C", "A"]) for each in narrow}
    inputs = [moved.get(each, each) for each in arrays]
    return replace(graph, inputs=(*graph.inputs[:first], *inputs)), tuple((arrays | columns)[each] for each in inputs)


def _is_narrow(value: Input, array: np.ndarray) -> bool:
    columns = shapes.resolve(value.shape[1]) if value.ndim == 2 else None
    return isinstance(columns, int) and 1 < columns <= NARROW and array.shape[0] > columns


def _multiplies_vectors(value: Input, graph: Graph) -> bool:
    """Whether a matrix is used in products with vectors, and in nothing else."""
    users = [each for each in graph.order if isinstance(each, Node) and value in each.inputs]
    return bool(users) and all(map(_is_thin_product, users)) and value not in _results(graph)


def _is_thin_product(node: Node) -> bool:
    return node.op is matmul and is_thin(node.inputs[0], node.inputs[1], node.attrs["transposed"])


def _results(graph: Graph) -> list[Value]:
    return [*graph.outputs, *guard_values(graph.guards)]


def _replaced(graph: Graph, values: Mapping[Value, Value]) -> Graph:
    """The graph with other values in the place of some; its inputs stay what they are."""
    return graph.transformed(lambda results: substitute(results, dict(values)))


def _frontier(graph: Graph, arrays: Mapping[Input, np.ndarray]) -> list[Node]:
    """The outermost values that depend on captured arrays alone and are worth computing ahead."""
    below: dict[Value, frozenset[Input]] = {}
    mixed: set[Value] = set()
    for value in graph.order:
        if isinstance(value, Node):
            below[value] = frozenset().union(*(below[source] for source in value.inputs))
            if any(source in mixed for source in value.inputs) or not below[value] or value.op.kind in CALLED:
                mixed.add(value)
        elif isinstance(value, Input) and value in arrays:
            below[value] = frozenset((value,))
        else:
            below[value] = frozenset()
            if not isinstance(value, Constant):
                mixed.add(value)
    sizes = {
        shapes.resolve(extent): length
        for value, array in arrays.items()
        for extent, length in zip(value.shape, array.shape, strict=True)
    }
    users = [source for value in graph.order if isinstance(value, Node) and value in mixed for source in value.inputs]
    found: dict[Node, None] = {}
    stack = [*users, *graph.outputs]
    while stack:
        value = stack.pop()
        if not isinstance(value, Node) or value in mixed or value in found:
            continue
        if _worth_folding(value, sizes, max(*(arrays[each].size for each in below[value]), 1)):
            found[value] = None
        else:
            stack.extend(value.inputs)
    return list(found)


def _worth_folding(node: Node, sizes: Mapping[Extent, int], largest: int) -> bool:
    count = _size(node, sizes)
    if node.op.kind == "view" or node.type.weak or count is None:
        return False
    return count <= largest or (count * node.dtype.itemsize <= LARGEST and _work(node, sizes) >= LEAST_WORK * count)


def _size(value: Value, sizes: Mapping[Extent, int]) -> int | None:
    """The number of elements of a value, if it follows from the shapes of arrays."""
    lengths = [each if isinstance(each, int) else sizes.get(each) for each in map(shapes.resolve, value.shape)]
    known = [each for each in lengths if each is not None]
    return math.prod(known) if len(known) == len(lengths) else None


def _work(node: Node, sizes: Mapping[Extent, int]) -> float:
    """The cost of computing a value from arrays."""
    nodes = [each for each in toposort([node]) if isinstance(each, Node)]
    return sum(each.op.cost * max(_size(part, sizes) or 0 for part in (each, *each.inputs)) for each in nodes)


def _still_needed(
    outputs: Sequence[Value], arguments: Sequence[Input], arrays: Mapping[Input, np.ndarray]
) -> list[Input]:
    """Arrays that are read, and those whose shapes are the only place where some length is known from."""
    reached = set(toposort(outputs))
    known = {shapes.resolve(extent) for value in arguments for extent in value.shape}
    kept = [each for each in arrays if each in reached]
    known.update(shapes.resolve(extent) for value in kept for extent in value.shape)
    for each in arrays:
        lengths = {extent for extent in map(shapes.resolve, each.shape) if isinstance(extent, Dim)}
        if each not in kept and not lengths <= known:
            kept.append(each)
            known.update(lengths)
    return kept
