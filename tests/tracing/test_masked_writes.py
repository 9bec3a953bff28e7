"""``x[mask] = values``, ``np.place``, ``np.putmask``: values are written where a mask is true, where the array lies."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from numbagraph import grad, graph_jit, vmap
from numbagraph.intrinsics.emitters.target import emitting_for, host
from numbagraph.ir.structs import replace

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
    assert is_written_in_place(compiled)


def is_written_in_place(compiled: Any) -> bool:
    ((traced,),) = (group.values() for group in compiled.versions._traced.values())
    return [each.donated for each in traced.specialisation.signature.results] == [0]


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


def place(x: Any, m: Any, v: Any) -> None:
    np.place(x, m, v)


def putmask(x: Any, m: Any, v: Any) -> None:
    np.putmask(x, m, v)


both = pytest.mark.parametrize("function", [place, putmask], ids=lambda each: each.__name__)
LENGTHS = 1, 2, 3, 10, 63, 64, 65, 100, 300


def compare(
    function: Callable[..., None], compiled: Any, x: np.ndarray, mask: Any, values: Any, view: Any = ...
) -> None:
    """What becomes of an array, and the error, are NumPy's."""
    expected, found, errors = x.copy(), x.copy(), list[Any]()
    for call, array in ((function, expected), (compiled, found)):
        try:
            call(array[view], mask, values)
        except (TypeError, ValueError) as error:
            errors.append(error)
    assert len(errors) in (0, 2), errors
    if errors:
        assert isinstance(errors[1], type(errors[0]))
        np.testing.assert_array_equal(found, x)
    np.testing.assert_array_equal(found, expected)


@both
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint16", "bool", "complex64", "complex128"])
@pytest.mark.parametrize("length", [0, 1, 5, 63, 64, 65, 200, 300])
def test_values_are_repeated(function: Callable[..., None], dtype: str, length: int) -> None:
    compiled, x = graph_jit(function), RNG.integers(0, 50, length).astype(dtype)
    for share in (0, 0.02, 0.5, 0.98, 1):
        for count in (0, *LENGTHS):
            mask, values = RNG.random(length) < share, RNG.integers(0, 50, count).astype(dtype)
            compare(function, compiled, x, mask, values)


@both
@pytest.mark.parametrize("dtype", ["float64", "int16", "complex128"])
def test_processors_without_instructions_for_masks(function: Callable[..., None], dtype: str) -> None:
    features = host().features.replace("+avx512", "-avx512")
    with emitting_for(replace(host(), features=features)):
        compiled, x = graph_jit(function, cache=False), RNG.integers(0, 50, 300).astype(dtype)
        for share in (0.02, 0.5, 0.98, 1):
            for count in LENGTHS:
                values = RNG.integers(0, 50, count).astype(dtype)
                compare(function, compiled, x, RNG.random(300) < share, values)


@both
@pytest.mark.parametrize("view", [np.s_[:], np.s_[::-1], np.s_[:, ::2], np.s_[:, :, 1], np.s_[1:3]], ids=str)
def test_layouts(function: Callable[..., None], view: Any) -> None:
    compiled, x = graph_jit(function), RNG.random((4, 9, 7))
    for share in (0.1, 0.9):
        mask = RNG.random(x[view].shape) < share
        for given in (mask, np.asfortranarray(mask), mask[::-1], mask.ravel(), mask.astype(int)):
            for values in (RNG.random(5), RNG.random((2, 3)), RNG.random(40)[::-2], RNG.random(x[view].shape)):
                compare(function, compiled, x, given, values, view)


@both
def test_special_numbers_are_written_as_they_are(function: Callable[..., None]) -> None:
    values = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324])
    for dtype in (np.float64, np.float32, np.complex128):
        expected, found = np.full((2, 150), -0.0, dtype)
        mask = RNG.random(150) < 0.8
        function(expected, mask, values.astype(dtype))
        graph_jit(function)(found, mask, values.astype(dtype))
        assert expected.tobytes() == found.tobytes()


@both
@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("shape", [(100,), (10, 10)], ids=str)
def test_they_are_written_where_the_array_lies(function: Any, shape: tuple[int, ...], parallel: bool) -> None:
    compiled, x, mask = graph_jit(function, parallel=parallel), RNG.random(shape), RNG.random(shape) < 0.5
    compare(function, compiled, x, mask, RNG.random(7))
    assert is_written_in_place(compiled)


@both
def test_what_fails_leaves_the_array(function: Callable[..., None]) -> None:
    def and_then(x: Any, m: Any, v: Any, i: Any) -> None:
        function(x, m, v)
        x[i] = 0.0

    compiled, x, mask = graph_jit(and_then), RNG.random(10), np.ones(10, np.bool_)
    start = x.copy()
    with pytest.raises(IndexError):
        compiled(x, mask, np.ones(3), np.array([1, 10]))
    np.testing.assert_array_equal(x, start)
    with pytest.raises(ValueError, match=r"the same size|same shape|must have the same"):
        compiled(x, mask[:9], np.ones(3), np.array([1]))
    np.testing.assert_array_equal(x, start)
    compiled(x, mask, np.ones(3), np.array([1, 2]))
    assert x.sum() == 8


@pytest.mark.parametrize("shape", [(10,), (2, 5)], ids=str)
def test_nothing_is_placed_from_an_empty_array(shape: tuple[int, ...]) -> None:
    compiled, x, nothing = graph_jit(place), RNG.random(shape), np.zeros(0)
    start = x.copy()
    with pytest.raises(ValueError, match="cannot insert from an empty array"):
        compiled(x, np.ones(shape, np.bool_), nothing)
    compiled(x, np.zeros(shape, np.bool_), nothing)
    np.testing.assert_array_equal(x, start)


@both
def test_values_of_the_array_itself_are_read_before_it_is_written(function: Callable[..., None]) -> None:
    for part in (np.s_[1:4], np.s_[:], np.s_[::-1], np.s_[::3]):

        def itself(x: Any, m: Any, part: Any = part) -> None:
            function(x, m, x[part])

        x = RNG.random(150)
        expected, mask = x.copy(), x > 0.3
        function(expected, mask, x[part].copy())
        graph_jit(itself)(x, mask)
        np.testing.assert_array_equal(x, expected)


@both
def test_the_mask_itself_is_written(function: Callable[..., None]) -> None:
    def itself(m: Any) -> None:
        function(m, m, m[2:5])

    mask = RNG.random(200) < 0.6
    expected = mask.copy()
    function(expected, mask, mask[2:5].copy())
    graph_jit(itself)(mask)
    np.testing.assert_array_equal(mask, expected)


@both
def test_one_call_after_the_other(function: Callable[..., None]) -> None:
    def several(x: Any, m: Any, v: Any) -> Any:
        function(x, m, v)
        total = x.sum()
        function(x, x > 0.5, v + 1)
        return total, x * 2

    for shape in ((150,), (5, 30)):
        x, mask, values = RNG.random(shape), RNG.random(shape) < 0.5, RNG.random(7)
        expected = x.copy()
        wanted, found = several(expected, mask, values), graph_jit(several)(x, mask, values)
        np.testing.assert_allclose(found[0], wanted[0], rtol=1e-14)
        np.testing.assert_array_equal(found[1], wanted[1])
        np.testing.assert_array_equal(x, expected)


@both
def test_lengths_that_masks_decide(function: Callable[..., None]) -> None:
    def of_values(x: Any, m: Any, y: Any) -> Any:
        function(x, m, y[y > 0.5])
        return x.sum()

    def of_the_array(x: Any, m: Any, y: Any) -> Any:
        chosen = x[m]
        function(chosen, chosen > 0.5, y)
        return chosen * 2

    x, mask, y = RNG.random(150), RNG.random(150) < 0.7, RNG.random(20)
    for program in (of_values, of_the_array):
        expected, found = x.copy(), x.copy()
        wanted = program(expected, mask, y)
        np.testing.assert_allclose(graph_jit(program)(found, mask, y), wanted, rtol=1e-14)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("by_argument", [True, False])
def test_derivatives_and_batches_of_no_values(by_argument: bool) -> None:
    """Nothing is written, so that each element stays what it is."""

    def put(x: Any, mask: Any, values: Any) -> Any:
        x = x.copy()
        np.putmask(x, mask, values if by_argument else np.zeros(0))
        return x

    x, mask, none = np.arange(1.0, 7.0).reshape(2, 3), np.array([True, False, True]), np.zeros(0)
    gradient = graph_jit(grad(lambda x, mask, values: np.sum(put(x, mask, values) ** 2)))(x[0], mask, none)
    np.testing.assert_array_equal(gradient, 2 * x[0])
    for axes, masks in (((0, None, None), mask), ((0, 0, None), np.stack([mask, ~mask]))):
        np.testing.assert_array_equal(graph_jit(vmap(put, in_axes=axes))(x, masks, none), x)
