"""Positions that branches choose, such as that of the smallest element so far, are checked before the loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbagraph as ng
from numbagraph.ir.graph import Graph
from numbagraph.ir.values import Node, toposort
from numbagraph.loops.versions import versions


def smallest(a: Any, x: Any) -> Any:
    best = 0
    for i in range(len(a)):
        if a[i] < a[best]:
            best = i
    return best


def two_smallest(a: Any, x: Any) -> Any:
    first = second = 0
    for i in range(len(a)):
        if a[i] < a[first]:
            second = first
            first = i
        elif a[i] < a[second]:
            second = i
    return first, second


def in_rows(a: Any, x: Any) -> Any:
    table = a.reshape(2, -1)
    found = np.zeros(2, dtype=np.int64)
    for i in range(2):
        best = 0
        for j in range(1, table.shape[1]):
            best = j if table[i, j] > table[i, best] else best
        found[i] = best
    return found


def in_table(a: Any, x: Any) -> Any:
    table, row, column = a.reshape(2, -1), 0, 0
    for i in range(2):
        for j in range(table.shape[1]):
            if table[i, j] < table[row, column]:
                row, column = i, j
    return row, column


def before_the_first(a: Any, x: Any) -> Any:
    last, s = -1, 0.0
    for i in range(len(a)):
        if a[i] > 0.5:
            last = i
        s += x[last]
    return s


def beyond(a: Any, x: Any) -> Any:
    last, s = 0, 0.0
    for i in range(len(a)):
        if a[i] > 0.5:
            last = i + 3
        s += x[last]
    return s


def set_before_it_is_used(a: Any, x: Any) -> Any:
    """When it is used, the step is at least the fifth; when it was set, it need not have been."""
    last, s = 0, 0.0
    for i in range(len(a)):
        if i >= 5:
            s += x[last - 5]
        if a[i] >= 0.0:
            last = i
    return s


FUNCTIONS = [smallest, two_smallest, in_rows, in_table, before_the_first, beyond, set_before_it_is_used]


def outcome(function: Any, *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except (IndexError, ValueError) as error:
        return type(error)


@pytest.mark.parametrize("function", FUNCTIONS, ids=[each.__name__ for each in FUNCTIONS])
def test_results_and_errors_are_those_of_python(function: Any) -> None:
    rng, compiled = np.random.default_rng(0), ng.graph_jit(function)
    for length in (0, 2, 6, 8, 40):
        for other in (0, 1, 5, 9, 40, 43):
            a, x = rng.random(length), rng.random(other)
            found, expected = outcome(compiled, a, x), outcome(function, a, x)
            assert type(found) is type(expected) or not isinstance(expected, type), (length, other)
            np.testing.assert_array_equal(found, expected)


def is_checked(graph: Graph) -> bool:
    """Whether something in a graph or its regions checks a position."""
    nodes = [each for each in toposort(graph.outputs) if isinstance(each, Node)]
    regions = [region for each in nodes for region in (each.attrs.get("body"), *each.attrs.get("branches", ()))]
    flags = [each.attrs.get("checked", False) for each in nodes]
    return any(map(np.any, flags)) or any(is_checked(each) for each in regions if each is not None)


@pytest.mark.parametrize("function", [smallest, two_smallest, in_rows, before_the_first])
def test_positions_are_checked_before_the_loop(function: Any) -> None:
    a = np.random.default_rng(1).random(40)
    (*_, final) = ng.graph_jit(function).stages(a, a).values()
    loops = {each for each in toposort(final.outputs) if isinstance(each, Node) and each.op.name == "scan"}
    found = [versions(each) for each in loops]
    assert found
    assert all(is_checked(each.attrs["body"]) for each in loops)
    assert None not in found
    assert not any(is_checked(each.body) for each in found if each is not None)
