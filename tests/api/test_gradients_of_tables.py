"""Gradients of loops that fill tables row by row in loops of their own: no step stores or copies a whole table."""

from typing import Any

import numpy as np
import pytest

import numbagraph as ng
from numbagraph.ir import shapes
from numbagraph.ir.values import Dim, toposort
from tests.api.test_accumulated_cotangents import differences

RNG = np.random.default_rng(11)


def likelihood(moves: Any, seen: Any) -> Any:
    """Of a hidden Markov model: what is read of the row before is multiplied."""
    score = np.zeros(seen.shape)
    for s in range(seen.shape[1]):
        score[0, s] = seen[0, s]
    for t in range(1, seen.shape[0]):
        for s in range(seen.shape[1]):
            total = 0.0
            for r in range(seen.shape[1]):
                total += score[t - 1, r] * moves[r, s]
            score[t, s] = total * seen[t, s]
    return np.log(np.sum(score[-1] ** 2))


def best_way(moves: Any, seen: Any) -> Any:
    """Only comparisons are about what is read."""
    score = np.empty(seen.shape)
    for s in range(seen.shape[1]):
        score[0, s] = seen[0, s]
    for t in range(1, seen.shape[0]):
        for s in range(seen.shape[1]):
            best = -np.inf
            for r in range(seen.shape[1]):
                way = score[t - 1, r] + moves[r, s] ** 2
                best = max(best, way)
            score[t, s] = best + seen[t, s]
    return np.max(score[-1])


def columns(moves: Any, seen: Any) -> Any:
    """Recurrences there and back along each row, read again afterwards."""
    out, right = np.zeros(seen.shape), np.zeros(seen.shape[1])
    largest = 0.0
    for t in range(seen.shape[0]):
        right[0] = seen[t, 0]
        for k in range(1, seen.shape[1]):
            right[k] = seen[t, k] * moves[0, k] + right[k - 1] ** 2
        out[t, seen.shape[1] - 1] = right[-1]
        for k in range(seen.shape[1] - 2, -1, -1):
            out[t, k] = right[k] - 0.3 * right[k] * out[t, k + 1]
        for k in range(seen.shape[1]):
            largest = max(largest, abs(out[t, k] - seen[t, k]))
    return largest + np.sum(out * out)


def in_place(moves: Any, seen: Any) -> Any:
    """What is read was overwritten in the same step."""
    table = seen.copy()
    for t in range(1, seen.shape[0]):
        for s in range(seen.shape[1]):
            table[t, s] = np.sin(table[t, s]) + table[t - 1, s]
            for r in range(seen.shape[1]):
                table[t, s] += 0.1 * np.cos(moves[s, r] * table[t - 1, r] * table[t, s])
    return np.sum(table**2)


def with_branches(moves: Any, seen: Any) -> Any:
    """What is read is read in a branch."""
    table = np.zeros(seen.shape)
    for t in range(1, seen.shape[0]):
        for s in range(seen.shape[1]):
            for r in range(seen.shape[1]):
                if r != s:
                    table[t, s] += moves[s, r] * table[t - 1, r] ** 2
                else:
                    table[t, s] += seen[t, r]
    return np.sum(table * seen)


def scaled(moves: Any, seen: Any) -> Any:
    """What is overwritten, and read, has as many elements as an array's content says."""
    table, factor = seen.copy(), moves[0, 0]
    first = np.where(moves[0] > 2, 0, 1)
    for t in range(seen.shape[0]):
        table[first[0] :, 0] *= factor
        factor += 0.3 * np.sin(seen[t, -1]) + table[-1, 0] * np.sum(table[: first[-1] + 1, 1])
    return np.sum(np.sin(table)) + factor


FUNCTIONS = [likelihood, best_way, columns, in_place, with_branches, scaled]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("shape", [(5, 3), (2, 2), (1, 3)])
def test_gradients(function: Any, shape: tuple[int, int]) -> None:
    moves, seen = RNG.uniform(0.2, 0.8, (shape[1], shape[1])), RNG.uniform(0.2, 0.8, shape)
    value, found = ng.graph_jit(ng.value_and_grad(function, argnums=(0, 1)))(moves, seen)
    np.testing.assert_allclose(value, function(moves, seen), rtol=1e-13)
    for slopes, expected in zip(found, differences(function, moves, seen), strict=True):
        np.testing.assert_allclose(slopes, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("function", [likelihood, columns, in_place])
def test_second_derivatives(function: Any) -> None:
    moves, seen = RNG.uniform(0.2, 0.8, (2, 2)), RNG.uniform(0.2, 0.8, (3, 2))

    def slope(moves: Any) -> Any:
        return np.sum(np.sin(ng.grad(function, argnums=1)(moves, seen)))

    found, inner = ng.graph_jit(ng.grad(slope))(moves), ng.graph_jit(slope)
    np.testing.assert_allclose(found, differences(inner, moves)[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("function", [likelihood, best_way, columns])
def test_memory_grows_with_the_number_of_rows_alone(function: Any) -> None:
    moves, seen = np.ones((3, 3)), np.ones((7, 3))
    graph = ng.graph_jit(ng.value_and_grad(function, argnums=(0, 1))).graph(moves, seen)
    rows = shapes.resolve(graph.inputs[1].shape[0])
    assert isinstance(rows, Dim)
    for value in graph.values:
        assert sum(rows in toposort([shapes.as_value(each)]) for each in value.shape) <= 1, value
