"""What an enclosing loop has found out is asked in no step of the loops inside of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import numbagraph as ng
from numbagraph.ir.graph import Graph
from numbagraph.ir.values import Node, toposort
from numbagraph.loops.versions import versions


def products(a: Any, b: Any) -> Any:
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


def shortest_ways(a: Any, b: Any) -> Any:
    n = a.shape[0]
    before = np.full((n, n), -1)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if a[i, k] + b[k, j] < b[i, j]:
                    before[i, j] = before[k, j]
    return before


def sums_of_segments(a: Any, b: Any) -> Any:
    y = np.zeros((len(a) - 1, b.shape[1]))
    for i in range(len(a) - 1):
        for k in range(3):
            for j in range(b.shape[1]):
                y[i, j] += a[i, k] * b[k, j]
    return y


FUNCTIONS = [products, shortest_ways, sums_of_segments]


def regions(graph: Graph) -> Iterator[Graph]:
    """A graph and those of its loops and branches."""
    yield graph
    for node in toposort([*graph.outputs, *(each.condition for each in graph.guards)]):
        if isinstance(node, Node):
            for each in (node.attrs.get("body"), *node.attrs.get("branches", ())):
                if isinstance(each, Graph):
                    yield from regions(each)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_nothing_is_asked_in_a_step(function: Callable[..., Any]) -> None:
    a, b = np.random.default_rng(0).random((2, 5, 5))
    compiled = ng.graph_jit(function)
    np.testing.assert_allclose(compiled(a, b), function(a, b), rtol=1e-14)
    (*_, final) = compiled.stages(a, b).values()
    loops = [each for each in toposort(final.outputs) if isinstance(each, Node) and each.op.name == "scan"]
    assert any(each.guards for loop in loops for each in regions(loop.attrs["body"]))
    found = [versions(each) for each in loops]
    assert not any(each.guards for one in found if one is not None for each in regions(one.body))
    assert None not in found


@pytest.mark.parametrize(
    "shapes", [((3, 4), (4, 2)), ((4, 4), (3, 4)), ((0, 0), (0, 0)), ((1, 3), (3, 0)), ((4, 0), (4, 4))]
)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_errors_are_those_of_python(function: Callable[..., Any], shapes: Any) -> None:
    a, b = (np.random.default_rng(0).random(shape) for shape in shapes)
    try:
        expected = function(a, b)
    except (IndexError, ValueError) as error:
        with pytest.raises(type(error)):
            ng.graph_jit(function)(a, b)
    else:
        np.testing.assert_allclose(ng.graph_jit(function)(a, b), expected, rtol=1e-14)


def past_the_end(x: Any, n: int) -> Any:
    y = x + 1.0
    for i, _ in enumerate(x):
        if 0 <= n < len(y):  # noqa: SIM102  a branch within a branch gives the condition
            if np.any(np.zeros(len(x)) > x[0]):
                break
        for _ in range(n, i):
            y[len(y)] += 1.0
    return y


@pytest.mark.parametrize("n", [-1, 0, 1, 2])
@pytest.mark.parametrize("elements", [[-1.0], [1.0], [-1.0, 1.0], [1.0, 2.0, 3.0]])
def test_conditions_that_branches_give(n: int, elements: list[float]) -> None:
    x = np.array(elements)
    try:
        expected = past_the_end(x, n)
    except IndexError:
        with pytest.raises(IndexError):
            ng.graph_jit(past_the_end)(x, n)
    else:
        np.testing.assert_array_equal(ng.graph_jit(past_the_end)(x, n), expected)
