"""Index arrays that are the same in all steps of a loop: checked before it, or, where one is outside, in each step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from numbagraph import grad, graph_jit, vmap
from tests.support.errors import error_of

RNG = np.random.default_rng(2)
ONCE = "indices are checked once before the loop"


def diffusion(x, sources, targets, steps):
    for _ in range(steps):
        flow = 0.1 * (x[sources] - x[targets])
        change = np.zeros_like(x)
        np.add.at(change, targets, flow)
        np.subtract.at(change, sources, flow)
        x = x + change
    return x


def gathered(x, sources, targets, steps):
    for i in range(steps):
        x = x * 0.5 + x[sources[: len(x)]] * i - x[targets[: len(x)]]
    return x


def assigned(x, sources, targets, steps):
    x = x.copy()
    for i in range(steps):
        x[sources] = x[targets] + i
    return x


def inside_of_a_loop(x, sources, targets, steps):
    x = x.copy()
    for i in range(steps):
        for j in range(i):
            np.add.at(x, sources, x[targets] * 0.01 * j)
    return x


def in_a_branch(x, sources, targets, steps):
    for i in range(steps):
        if i % 2:
            x = x + x[sources[: len(x)]]
        else:
            x = x - 1
    return x


def computed_once(x, sources, targets, steps):
    """Positions that follow from others, by an access that may fail itself."""
    for _ in range(steps):
        x = x + x[sources[targets][: len(x)]] * 0.1
    return x


FUNCTIONS = (diffusion, gathered, assigned, inside_of_a_loop, in_a_branch, computed_once)


def close(found: np.ndarray, expected: np.ndarray) -> None:
    """A factor is taken out of a sum from zero, which may round otherwise."""
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def arguments(nodes: int, edges: int, low: int = 0) -> tuple[Any, Any, Any]:
    places = RNG.integers(low, nodes, (2, edges)) if nodes else np.zeros((2, 0), np.int64)
    return RNG.normal(size=nodes), places[0], places[1]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_places_that_exist(function: Any, dtype: str) -> None:
    compiled: Any = graph_jit(function)
    for nodes, edges, low in ((7, 30, 0), (7, 30, -7), (1, 1, 0), (30, 30, 0), (5, 0, 0), (0, 0, 0)):
        if dtype == "uint8" and low:
            continue
        if edges < nodes and function not in (diffusion, assigned, inside_of_a_loop):
            continue
        x, sources, targets = arguments(nodes, edges, low)
        sources, targets = sources.astype(dtype), targets.astype(dtype)
        if function is computed_once:
            targets = targets % max(len(targets), 1)
        for steps in (0, 1, 4):
            given = (x, sources, targets, steps)
            close(compiled(*given), function(*given))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("place", [9, 1000, -10, 2**62, -(2**63)])
def test_places_that_do_not_exist(function: Any, place: int) -> None:
    compiled: Any = graph_jit(function)
    x, sources, targets = arguments(9, 9)
    for broken in (sources, targets):
        kept, broken[4] = broken[4], place
        for steps in (0, 1, 3):
            given = (x, sources, targets, steps)
            expected = error_of(function, given)
            if expected is None:
                close(compiled(*given), function(*given))
            else:
                with pytest.raises(IndexError, match=f"index {place} is out of bounds"):
                    compiled(*given)
        broken[4] = kept


def test_they_are_checked_once() -> None:
    x, sources, targets = arguments(9, 9)
    for function in (diffusion, assigned, inside_of_a_loop):
        text = str(graph_jit(function).explain(x, sources, targets, 4))
        assert ONCE in text
        assert "checked inside the loop" not in text


def test_they_may_be_counted_from_the_right() -> None:
    """What runs where a check fails is compiled without optimisation: it must not run for these."""
    x, sources, targets = arguments(9, 9, -9)
    compiled = graph_jit(diffusion)
    close(compiled(x, sources, targets, 4), diffusion(x, sources, targets, 4))
    assert "where" in str(compiled.explain(x, sources, targets, 4))


def test_places_that_a_loop_changes() -> None:
    def function(x, places):
        for _ in range(5):
            x = x + x[places] * 0.5
            places = (places + 1) % len(x)
        return x

    x, places, _ = arguments(8, 8)
    np.testing.assert_array_equal(graph_jit(function)(x, places), function(x, places))
    with pytest.raises(IndexError, match="index 8 is out of bounds"):
        graph_jit(function)(x, places * 0 + 8)


def test_gradients_and_batches() -> None:
    x, sources, targets = arguments(6, 20)

    def loss(x):
        return np.sum(diffusion(x, sources, targets, 3) ** 2)

    # the steps are linear: the columns of their matrix are the results for the unit vectors
    matrix = np.stack([diffusion(unit, sources, targets, 3) for unit in np.eye(6)], axis=1)
    np.testing.assert_allclose(graph_jit(grad(loss))(x), 2 * matrix.T @ (matrix @ x), rtol=1e-12)
    batch = RNG.normal(size=(4, 6))
    found = graph_jit(vmap(lambda x: diffusion(x, sources, targets, 3)))(batch)
    close(found, np.array([diffusion(each, sources, targets, 3) for each in batch]))
    several = RNG.integers(0, 6, (4, 20))
    found = graph_jit(vmap(lambda x, s: diffusion(x, s, targets, 3)))(batch, several)
    close(found, np.array([diffusion(each, own, targets, 3) for each, own in zip(batch, several, strict=True)]))
