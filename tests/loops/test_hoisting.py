"""What is the same in each step of a loop is computed before it, unless only a step requires what that needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import numbagraph as ng
from numbagraph.ir.values import Node


def exponential(a: Any, b: Any) -> Any:
    s = 0.0
    for x in b:
        s += np.exp(a).sum() * x + a[0]
    return s


def last_element(a: Any, b: Any) -> Any:
    s = 0.0
    for _ in b:
        p = np.exp(a)
        p[-1] = 3.0
        s = p.sum()
    return a * s


def first_row(a: Any, b: Any) -> Any:
    s = 0.0
    for x in b:
        s += (a.reshape(-1, 2)[1] * 2.0).sum() * x
    return s


def unequal(a: Any, b: Any) -> Any:
    s = 0.0
    for x in b:
        s += np.exp(a[1:] + a[:2]).sum() * x
    return s


def until(a: Any, b: Any) -> Any:
    s, k = 0.0, 0
    while k < len(b):
        p = np.exp(a)
        p[1] = 0.0
        s += p.sum()
        k += 1
    return s


CASES = (exponential, last_element, first_row, unequal, until)


def hoisted(function: Any) -> set[str]:
    compiled: Any = ng.graph_jit(function)
    graph = compiled.graph(np.ones(4), np.ones(2))
    return {each.op.name for each in graph.order if isinstance(each, Node)}


@pytest.mark.parametrize("function", CASES, ids=lambda each: each.__name__)
def test_nothing_outside_of_an_array_is_computed_before_a_loop(function: Any) -> None:
    names = hoisted(function)
    assert names.isdisjoint({"set_slice", "slice", "pick"})
    assert ("exp" in names) == (function is not unequal and function is not first_row)


@pytest.mark.parametrize("steps", [0, 1, 3])
@pytest.mark.parametrize("length", range(5))
@pytest.mark.parametrize("function", CASES, ids=lambda each: each.__name__)
def test_a_loop_requires_what_its_steps_do(function: Any, length: int, steps: int) -> None:
    arguments = np.arange(length) / 4.0, np.arange(steps) + 1.0
    compiled: Any = ng.graph_jit(function)
    try:
        expected = function(*arguments)
    except (IndexError, ValueError) as error:
        with pytest.raises(type(error)):
            compiled(*arguments)
    else:
        np.testing.assert_allclose(compiled(*arguments), expected, rtol=1e-13)
