"""What a step of a pullback adds to a sum goes to the elements that it is about, and nothing is passed on unread."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import numbagraph as ng
from numbagraph.ir.graph import Graph
from numbagraph.ir.regions import regions_of
from numbagraph.ir.values import Node

RNG = np.random.default_rng(7)


def convolution(image: Any, kernel: Any) -> Any:
    """Two sums, in a branch, in a loop, in a branch, in two loops."""
    height, width = image.shape
    total = 0.0
    for i in range(height):
        for j in range(width):
            part = 0.0
            for p in range(kernel.shape[0]):
                y = i + p - 1
                if y < 0 or y >= height:
                    continue
                for q in range(kernel.shape[1]):
                    x = j + q - 1
                    if 0 <= x < width:
                        part += image[y, x] * kernel[p, q]
            total += part**2
    return total


def products(a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            part = 0.0
            for k in range(a.shape[1]):
                part += a[i, k] * b[k, j]
            total += np.sin(part)
    return total


def chosen(a: Any, b: Any) -> Any:
    """Each of two branches adds to both, one of them twice to one of them."""
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > b[j, i]:
                total += a[i, j] * b[j, i] * a[0, j]
            else:
                total += np.sin(a[i, j]) + b[j, i] ** 2
    return total


def nearest(a: Any, b: Any) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        best = np.inf
        for j in range(b.shape[0]):
            distance = 0.0
            for k in range(a.shape[1]):
                distance += (a[i, k] - b[j, k % b.shape[1]]) ** 2
            best = min(best, distance)
        total += best
    return total


def crossed(a: Any, b: Any) -> Any:
    """What is added to one sum follows from the other operand, and the other way round."""
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            x, y = a[i, j % a.shape[1]], b[i % b.shape[0], j]
            if x * y > 0:
                total += x**2 * y
            total -= b[0, j] * x
    return total


FUNCTIONS = [convolution, products, chosen, nearest, crossed]


def differences(function: Any, *arrays: np.ndarray, step: float = 1e-6) -> list[np.ndarray]:
    found = []
    for number, each in enumerate(arrays):
        slopes = np.empty_like(each)
        for place in np.ndindex(each.shape):
            values = []
            for sign in (1, -1):
                moved = [array.copy() for array in arrays]
                moved[number][place] += sign * step
                values.append(function(*moved))
            slopes[place] = (values[0] - values[1]) / (2 * step)
        found.append(slopes)
    return found


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("shape", [(4, 3), (2, 2), (3, 5)])
def test_gradients(function: Any, shape: tuple[int, int]) -> None:
    a, b = RNG.normal(size=shape), RNG.normal(size=shape[::-1])
    found = ng.graph_jit(ng.grad(function, argnums=(0, 1)))(a, b)
    for slopes, expected in zip(found, differences(function, a, b), strict=True):
        np.testing.assert_allclose(slopes, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("function", [convolution, chosen])
def test_second_derivatives(function: Any) -> None:
    a, b = RNG.normal(size=(3, 2)), RNG.normal(size=(2, 3))
    slope = ng.graph_jit(ng.grad(lambda a, b: np.sum(np.sin(ng.grad(function, argnums=1)(a, b)))))
    inner = ng.graph_jit(lambda a, b: np.sum(np.sin(ng.grad(function, argnums=1)(a, b))))
    np.testing.assert_allclose(slope(a, b), differences(lambda a: inner(a, b), a)[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_step_makes_or_adds_a_whole_array(function: Any) -> None:
    """Each would take time in proportion to the array, in each step."""
    gradient = ng.graph_jit(ng.grad(function, argnums=(0, 1)))
    graph = gradient.graph(RNG.normal(size=(4, 3)), RNG.normal(size=(3, 4)))
    inner = [value for region in innermost(graph) for value in region.order if isinstance(value, Node) and value.ndim]
    assert inner, "there are loops"
    assert {each.op.name for each in inner} <= {"put_at", "pick", "gather", "scan", "switch", "alias"}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_array_is_stored_for_each_step(function: Any) -> None:
    graph = ng.graph_jit(ng.value_and_grad(function, argnums=(0, 1))).graph(np.ones((4, 3)), np.ones((3, 4)))
    assert all(value.ndim <= 2 for value in graph.values)
    assert all(value.ndim <= 2 for region in innermost(graph) for value in region.order)


def by_rows(data: Any, rows: Any, size: int) -> Any:
    """The pullback reads nothing of the integers that the loops carry along."""
    starts = np.zeros(size + 1, dtype=np.int64)
    for k in range(rows.size):
        starts[rows[k] + 1] += 1
    for i in range(size):
        starts[i + 1] += starts[i]
    columns, found = np.empty_like(rows), np.empty_like(data)
    for k in range(rows.size):
        place = starts[rows[k]]
        found[place] = data[k] * k
        columns[place] = k
        starts[rows[k]] += 1
    return np.sum(found**2)


def test_what_a_pullback_does_not_read_is_not_stored() -> None:
    data, rows = RNG.normal(size=9), RNG.integers(0, 4, 9)
    gradient = ng.graph_jit(ng.grad(by_rows))
    np.testing.assert_allclose(gradient(data, rows, 4), 2 * data * np.arange(9.0) ** 2, rtol=1e-12)
    assert all(value.ndim < 2 for value in gradient.graph(data, rows, 4).values)


def innermost(graph: Graph) -> Iterator[Graph]:
    """The regions inside of other regions."""
    for region in (region for value in graph.values for region in regions_of(value)):
        inside = [each for value in region.order for each in regions_of(value)]
        yield from inside
        yield from innermost(region)
