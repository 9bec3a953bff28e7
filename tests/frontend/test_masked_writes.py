"""``x[mask] = values``: the values are written at the positions that the mask selects, where the array lies."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from numbagraph import graph_jit

RNG = np.random.default_rng(11)
SHAPE = (4, 5, 3)
WAYS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "all dimensions": (lambda m: m, SHAPE),
    "the first": (lambda m: m, SHAPE[:1]),
    "the first two": (lambda m: m, SHAPE[:2]),
    "the last": (lambda m: (..., m), SHAPE[2:]),
    "the last two": (lambda m: (slice(None), m), SHAPE[1:]),
    "the middle": (lambda m: (slice(None), m), SHAPE[1:2]),
    "of a part": (lambda m: (slice(1, 3), m), SHAPE[1:2]),
}


def assign(key: Callable[[Any], Any]) -> Callable[..., None]:
    def function(x: Any, m: Any, v: Any) -> None:
        x[key(m)] = v

    return function


def masks(shape: tuple[int, ...]) -> list[np.ndarray]:
    found = [RNG.random(shape) < share for share in (0.5, 0.1, 0.9)]
    return [*found, np.zeros(shape, np.bool_), np.ones(shape, np.bool_)]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "bool", "complex128"])
@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("view", [np.s_[:], np.s_[::-1], np.s_[:, :, ::-1]], ids=str)
def test_like_numpy(name: str, dtype: str, view: Any) -> None:
    key, shape = WAYS[name]
    compiled = graph_jit(assign(key))
    for mask in masks(shape):
        start = RNG.integers(0, 50, SHAPE).astype(dtype)
        expected, found = start.copy(), start.copy()
        selected = expected[view][key(mask)]
        values = RNG.integers(0, 50, selected.shape).astype(dtype)
        expected[view][key(mask)] = values
        compiled(found[view], mask, values)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", WAYS)
def test_as_many_values_as_are_selected(name: str) -> None:
    """Or one; nothing is written where there is another number of them."""
    key, shape = WAYS[name]
    compiled, mask = graph_jit(assign(key)), np.zeros(shape, np.bool_)
    mask.flat[::2] = True
    start = RNG.random(SHAPE)
    selected = start[key(mask)]
    axis = next(axis for axis, length in enumerate(selected.shape) if length != start.shape[axis] or mask.ndim > 1)
    for count in (0, 1, selected.shape[axis] - 1, selected.shape[axis] + 1, 40):
        values = RNG.random((*selected.shape[:axis], count, *selected.shape[axis + 1 :]))
        expected, found = start.copy(), start.copy()
        try:
            expected[key(mask)] = values
        except ValueError:
            with pytest.raises(ValueError, match=r"mask|shape"):
                compiled(found, mask, values)
        else:
            compiled(found, mask, values)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", WAYS)
def test_values_of_too_many_dimensions(name: str) -> None:
    key, shape = WAYS[name]
    mask, x = np.ones(shape, np.bool_), np.ones(SHAPE)
    values = np.ones((2, *x[key(mask)].shape))
    with pytest.raises((TypeError, ValueError)) as expected:
        x[key(mask)] = values
    with pytest.raises(expected.type, match=r"dimensions|shape mismatch"):
        graph_jit(assign(key))(x, mask, values)


def test_the_argument_is_written_where_it_lies() -> None:
    """Not copied first: a check of how many values there are comes before the first is written."""
    x, values = RNG.random(100_000), RNG.random(5)
    mask = np.zeros(len(x), np.bool_)
    mask[[3, 50, 777, 5_000, 99_999]] = True
    compiled = graph_jit(assign(lambda m: m))
    expected = x.copy()
    expected[mask] = values
    compiled(x, mask, values)
    np.testing.assert_array_equal(x, expected)
    report = str(compiled.explain(x, mask, values))
    assert "reads: temporary1, v" in report
    assert "reads: x" not in report


def test_what_fails_later_leaves_the_argument() -> None:
    def function(x: Any, m: Any, v: Any, i: Any) -> None:
        x[m] = v
        x[i] = 0.0

    compiled, x = graph_jit(function), RNG.random(10)
    start, mask = x.copy(), x > 0
    for values, places in ((np.ones(10), np.array([1, 10])), (np.ones(9), np.array([1, 2]))):
        with pytest.raises((IndexError, ValueError)):
            compiled(x, mask, values, places)
        np.testing.assert_array_equal(x, start)
    compiled(x, mask, np.ones(10), np.array([1, 2]))
    assert x.sum() == 8


def test_masks_and_values_that_are_made_of_the_array() -> None:
    def function(x: Any, v: Any) -> Any:
        x[x > 0.5] = x[::-1][: len(v)] + v
        x[x < 0.2] = 2.0
        return x[x > 1]

    compiled = graph_jit(function)
    for _ in range(10):
        x = RNG.random(30)
        expected, values = x.copy(), RNG.random(int((x > 0.5).sum()))
        wanted = function(expected, values)
        np.testing.assert_array_equal(compiled(x, values), wanted)
        np.testing.assert_array_equal(x, expected)
