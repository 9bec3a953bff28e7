"""``ufunc.at`` of arrays whose last dimensions are taken whole: one row after the other."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import numbagraph as ng
from numbagraph import graph_jit

RNG = np.random.default_rng(5)
PLACES = np.array([2, 0, 2, -1, 2])
MASK = np.array([True, False, True, True])
KEYS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "places": (lambda i: i, (5, 3, 2)),
    "a tuple of one": (lambda i: (i,), (5, 3, 2)),
    "whole slices behind": (lambda i: (i, slice(None), slice(None)), (5, 3, 2)),
    "an ellipsis behind": (lambda i: (i, ...), (5, 3, 2)),
    "an ellipsis in front": (lambda i: (..., i % 2), (4, 3, 5)),
    "two places": (lambda i: (i, i % 3), (5, 2)),
    "all dimensions": (lambda i: (i, i % 3, i % 2), (5,)),
    "a slice in front": (lambda i: (slice(1, 3), i % 3), (2, 5, 2)),
    "all in front": (lambda i: (slice(None), i % 3), (4, 5, 2)),
    "a part of each row": (lambda i: (i, slice(0, 2)), (5, 2, 2)),
    "a new dimension": (lambda i: (i, None), (5, 1, 3, 2)),
    "a table of places": (lambda i: i.reshape(5, 1), (5, 1, 3, 2)),
    "a number": (lambda i: 1, (3, 2)),
    "a list": (lambda i: [1, 1, 3], (3, 3, 2)),
    "a mask": (lambda i: MASK, (3, 3, 2)),
    "a mask that is traced": (lambda i: i[:4] == 2, (2, 3, 2)),
    "everything": (lambda i: ..., (4, 3, 2)),
    "a whole slice": (lambda i: slice(None), (4, 3, 2)),
    "a slice": (lambda i: slice(None, None, -2), (2, 3, 2)),
}
UFUNCS = [np.add, np.multiply, np.power, np.maximum, np.arctan2, np.subtract]


def updated(ufunc: np.ufunc, key: Callable[[Any], Any]) -> Callable[..., None]:
    return lambda a, i, v: ufunc.at(a, key(i), v)


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
def test_like_numpy(name: str, ufunc: np.ufunc) -> None:
    key, shape = KEYS[name]
    function, start = updated(ufunc, key), RNG.uniform(0.5, 2.0, (4, 3, 2))
    compiled = graph_jit(function)
    for lengths in (shape, shape[-1:], (*shape[:-1], 1), (), (1,)):
        update = RNG.uniform(0.5, 2.0, lengths)
        found, expected = start.copy(), start.copy()
        function(expected, PLACES, update)
        compiled(found, PLACES, update)
        np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("name", KEYS)
def test_of_one_operand(name: str) -> None:
    key, _ = KEYS[name]
    found, expected = RNG.random((2, 4, 3, 2))[0], np.empty((4, 3, 2))
    expected[:] = found
    np.negative.at(expected, key(PLACES))
    graph_jit(lambda a, i: np.negative.at(a, key(i)))(found, PLACES)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64", "complex128"])
@pytest.mark.parametrize("view", [np.s_[:], np.s_[::-1], np.s_[:, ::2], np.s_[:, :, ::-1]], ids=str)
def test_of_any_layout(dtype: str, view: Any) -> None:
    memory = np.arange(5 * 6 * 4).reshape(5, 6, 4).astype(dtype)
    expected, update = memory.copy(), RNG.integers(0, 9, (5, *memory[view].shape[1:])).astype(dtype)
    np.add.at(expected[view], PLACES, update)
    graph_jit(lambda a, i, v: np.add.at(a, i, v))(memory[view], PLACES, update)
    np.testing.assert_array_equal(memory, expected)


@pytest.mark.parametrize("shape", [(4, 0), (0, 3), (4, 3, 0)])
def test_without_elements(shape: tuple[int, ...]) -> None:
    found, nowhere = np.ones(shape), np.zeros(0, np.int64)
    compiled = graph_jit(lambda a, i, v: np.add.at(a, i, v))
    compiled(found, nowhere, 1.0)
    if shape[0]:
        compiled(found, np.array([0, 3]), 2.0)
    np.testing.assert_array_equal(found, np.ones(shape))


def test_nothing_is_written_if_a_place_does_not_exist() -> None:
    compiled = graph_jit(lambda a, i, v: np.add.at(a, i, v))
    for number in (4, -5):
        array = np.zeros((4, 3))
        with pytest.raises(IndexError, match=f"index {number} is out of bounds for axis 0 with size 4"):
            compiled(array, np.array([0, 1, number]), np.ones((3, 3)))
        np.testing.assert_array_equal(array, np.zeros((4, 3)))


@pytest.mark.parametrize("chosen", [np.s_[:4], np.s_[1:5], np.s_[3::-1], np.s_[1:2], np.s_[2]], ids=str)
def test_rows_that_are_rows_of_the_array(chosen: Any) -> None:
    """What is added is read before anything is written."""
    found = np.arange(24.0).reshape(6, 4)
    expected = found.copy()
    np.add.at(expected, [1, 0, 1, 2], found[chosen].copy())
    graph_jit(lambda a: np.add.at(a, [1, 0, 1, 2], a[chosen]))(found)
    np.testing.assert_array_equal(found, expected)


def test_an_argument_is_written_where_it_lies() -> None:
    array, update = np.zeros((4, 300)), np.ones((5, 300))
    compiled = graph_jit(lambda a, i, v: np.multiply.at(a, i, v))
    compiled(array, PLACES, update)
    assert "updates an argument where that lies" in str(compiled.explain(array, PLACES, update))


def test_steps_that_take_longer_than_a_row_ask_for_signals() -> None:
    """A simulation that keeps two states in one array may take hours."""

    def simulation(states: Any, times: Any) -> None:
        for t in range(len(times)):
            states[(t + 1) % 2] = states[t % 2] + times[t]

    compiled, states = graph_jit(simulation), np.zeros((2, 300))
    compiled(states, np.arange(5.0))
    np.testing.assert_array_equal(states[:, 0], [6.0, 10.0])
    assert "where that lies" not in str(compiled.explain(states, np.arange(5.0)))


def test_derivatives_and_batches() -> None:
    def loss(a: Any, i: Any, v: Any) -> Any:
        b = a * 1.0
        np.multiply.at(b, i, v)
        return (b**2).sum()

    a, v = RNG.uniform(0.5, 1.5, (4, 3)), RNG.uniform(0.5, 1.5, (5, 3))
    of_a, of_v = graph_jit(ng.grad(loss, argnums=(0, 2)))(a, PLACES, v)
    for given, found in ((a, of_a), (v, of_v)):
        for place in np.ndindex(given.shape):
            kept = given[place]
            values = []
            for step in (1e-6, -1e-6):
                given[place] = kept + step
                values.append(float(loss(a, PLACES, v)))
            given[place] = kept
            assert found[place] == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-6)
    many = RNG.uniform(0.5, 1.5, (3, 5, 3))
    found = graph_jit(ng.vmap(loss, in_axes=(None, None, 0)))(a, PLACES, many)
    np.testing.assert_allclose(found, [loss(a, PLACES, each) for each in many], rtol=1e-13)
