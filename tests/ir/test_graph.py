"""Graphs: orders of values, and where lengths stand among the inputs."""

from typing import Any

import numpy as np

import numbagraph
from numbagraph.ir.graph import id_of
from numbagraph.ir.values import Dim, Node, toposort


class NeverCopied(dict[Any, Any]):
    def __iter__(self) -> Any:
        raise AssertionError("a graph of n values is walked in n parts, each of which knows those before it")


def graph_of(function: Any, *args: Any) -> Any:
    compiled: Any = numbagraph.graph_jit(function)
    return compiled.stages(*args)["traced"]


def test_an_order_of_values_ends_at_known_ones_and_does_not_copy_them():
    graph = graph_of(lambda x, y: np.sin(x * y) + np.cos(x), np.ones(3), np.ones(3))
    order = toposort(graph.outputs)
    inner = next(each for each in order if isinstance(each, Node) and each.op.name == "sin")
    rest = toposort(graph.outputs, known=NeverCopied({inner: ""}))
    assert inner not in rest
    assert rest == toposort(graph.outputs, known=[inner]) == toposort(graph.outputs, known={inner})
    assert set(rest) < set(order)
    assert toposort([inner], known=NeverCopied({inner: ""})) == []


def test_lengths_are_named_by_the_first_input_that_has_them():
    graph = graph_of(lambda x, y: (x + y).sum() + x.T.sum(), np.ones((3, 2)), np.ones((3, 2)))
    for position, value in enumerate(graph.inputs):
        for axis, extent in enumerate(value.shape):
            first = next(
                f"{number}.{place}"
                for number, other in enumerate(graph.inputs)
                for place, length in enumerate(other.shape)
                if length is extent
            )
            assert id_of(extent, graph) == first, (position, axis)
    assert id_of(Dim("elsewhere"), graph) == "computed"
