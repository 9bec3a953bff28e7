"""Sorting as NumPy users meet it: lengths, methods that change their array, and what is refused."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import numbagraph.numpy as xp
from numbagraph import grad, graph_jit
from numbagraph.jit.graph_function import GraphFunction

rng = np.random.default_rng(11)


@graph_jit
def everything(x):
    ordered = np.sort(x)
    return ordered, np.argsort(x, kind="stable"), np.searchsorted(ordered, x), np.searchsorted(ordered, x, "right")


SIDES = ("left", "right")


@graph_jit
def looked_up(keys, sought):
    return np.stack([np.searchsorted(keys, sought, side) for side in SIDES])


@pytest.mark.parametrize("length", [0, 1, 2, 7, 8, 9, 15, 16, 17, 64, 1000, 4097])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.int8, np.uint8])
def test_lengths_around_those_of_runs(length, dtype):
    x = rng.integers(0, 100, length).astype(dtype)
    if np.dtype(dtype).kind == "f":
        x[::7] = np.nan
    ordered = np.sort(x)
    expected = (
        ordered, np.argsort(x, kind="stable"), np.searchsorted(ordered, x), np.searchsorted(ordered, x, "right")
    )  # fmt: skip
    for found, wanted in zip(everything(x), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 64, 100])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5, 8, 21, 1000])
def test_looking_up_many_numbers_at_a_time(length, count):
    """In keys with equal ones, infinities and NaN, of which some are sought."""
    for special in ([], [np.inf], [np.nan], [-np.inf, np.inf, np.nan, np.nan]):
        keys = np.sort(np.concatenate([rng.integers(0, 50, length), special])[-length or len(special) :])
        sought = np.concatenate([rng.integers(-5, 55, count) / 2, special, keys])
        rng.shuffle(sought)
        np.testing.assert_array_equal(looked_up(keys, sought), [np.searchsorted(keys, sought, side) for side in SIDES])


@pytest.mark.parametrize("width", [0, 1, 2, 15, 16, 17, 33])
@pytest.mark.parametrize("length", [0, 1, 2, 5, 40])
def test_columns_of_numbers_of_blocks_around_one(length, width):
    for dtype in (np.float64, np.float32, np.complex128, np.int8, bool):
        x = rng.integers(-9, 9, (length, width, 2)).astype(dtype)
        if np.dtype(dtype).kind in "fc":
            x[::3] = np.nan
        for axis in (0, 1, -3):
            for each in (x, x[::-1], x.swapaxes(0, 1)):
                np.testing.assert_array_equal(
                    graph_jit(lambda x, axis=axis: np.sort(x, axis))(each), np.sort(each, axis)
                )


def test_the_method_sorts_in_place():
    @graph_jit
    def f(x):
        y = x * 2
        y.sort(axis=0)
        return y

    x = rng.normal(size=(5, 3))
    np.testing.assert_array_equal(f(x), np.sort(x * 2, axis=0))
    with pytest.raises(TypeError, match="argument"):
        graph_jit(lambda x: x.sort(), mutates=())(x)


def test_the_derivative_goes_where_the_elements_came_from():
    x, weights = rng.permutation(np.arange(50.0)), rng.normal(size=50)
    found = grad(lambda x: np.sum(np.sort(x) * weights))(x)
    expected = np.empty(50)
    expected[np.argsort(x)] = weights
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_numbers_of_python_have_their_own_dtypes():
    edges = np.arange(5, dtype=np.int8)
    for number in (2.5, 300, True):
        found = graph_jit(lambda x, number=number: np.searchsorted(x, number))(edges)
        assert found == np.searchsorted(edges, number)
        assert type(found) is np.int64


REFUSED = {
    "complex numbers": (lambda x: np.partition(x * 1j, 1), TypeError, "complex numbers have no order here"),
    "an unknown kind": (lambda x: np.sort(x, kind="wrong"), ValueError, "sort kind must be one of"),
    "two kinds": (lambda x: np.argsort(x, kind="stable", stable=True), ValueError, "at the same time"),
    "fields": (lambda x: np.sort(x, order="a"), ValueError, "no fields"),
    "an axis": (lambda x: np.sort(x, axis=1), np.exceptions.AxisError, "axis 1 is out of bounds"),
    "a side": (lambda x: np.searchsorted(x, 1.0, side="top"), ValueError, "side must be"),
    "edges in two dimensions": (lambda x: np.searchsorted(x[None], 1.0), ValueError, "one dimension, not 2"),
    "a mode": (lambda x: np.convolve(x, x, mode="half"), ValueError, "mode must be one of"),
    "rows": (lambda x: np.convolve(x[None], x), ValueError, "too deep"),
    "nothing": (lambda x: np.convolve(x[:0], x), ValueError, "a cannot be empty"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    function, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        graph_jit(function)(np.arange(3.0))


@pytest.mark.parametrize(
    "sorter", [[-1, 0, 1], [0, 1, 3], [0, 1], [0, 1, 2, 0], [0.0, 1.0, 2.0], [[0, 1, 2]], [True] * 3]
)
def test_sorters_that_numpy_refuses(sorter):
    keys, numbers, order = np.array([2.0, 1.0, 0.0]), np.linspace(-1, 3, 9), np.array(sorter)
    with pytest.raises((ValueError, TypeError)) as wanted:
        np.searchsorted(keys, numbers, sorter=order)
    with pytest.raises(wanted.type, match=str(wanted.value)):
        graph_jit(lambda *given: np.searchsorted(*given[:2], sorter=given[2]))(keys, numbers, order)


SPECIAL = [-np.inf, 1.0, 2.0, np.inf, np.nan]
"""In the order of sorting."""
AT = np.array([-np.inf, 0.0, 1.0, 1.5, 2.0, 3.0, np.inf, np.nan])


def directed(function, *given):
    try:
        return function(*given)
    except ValueError:
        return None


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_directions_of_edges_are_those_that_numpy_finds(backend):
    """NaN differs from all edges, but none of them goes up or down to it. Where it leaves them without an order, what
    NumPy finds depends on the numbers before."""
    found = GraphFunction(np.digitize, backend=backend)
    lengths = range(5 if backend == "numba" else 6)
    for edges in (np.array(each) for length in lengths for each in product(SPECIAL[1:], repeat=length)):
        wanted = directed(np.digitize, AT, edges)
        actual = directed(found, AT, edges)
        assert (actual is None) == (wanted is None), edges
        if wanted is not None and any(
            np.array_equal(each, np.sort(each), equal_nan=True) for each in (edges, edges[::-1])
        ):
            np.testing.assert_array_equal(actual, wanted, str(edges))


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_edges_and_points_with_nan_are_those_of_numpy(backend):
    """There may be no edge, or one, between which there is no bin; NaN is behind all numbers."""
    counts, heights = GraphFunction(np.histogram, backend=backend), GraphFunction(np.interp, backend=backend)
    for length in range(5):
        for edges in map(np.array, combinations_with_replacement(SPECIAL, length)):
            np.testing.assert_array_equal(counts(AT, edges)[0], np.histogram(AT, edges)[0], str(edges))
            if length:
                with np.errstate(invalid="ignore"):
                    wanted = np.interp(AT, edges, np.arange(1.0, length + 1))
                np.testing.assert_array_equal(heights(AT, edges, np.arange(1.0, length + 1)), wanted, str(edges))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_numbers_are_in_numpy_s_order(dtype):
    """By the real part, then by the other one; behind all stand those with a part that is NaN."""
    parts = np.array([0.0, np.nan, 1.0, np.inf, -np.inf, -0.0, 1.0])
    x = np.stack(np.broadcast_arrays(parts, parts[:, None]), -1).astype(dtype(0).real.dtype).view(dtype).ravel()
    for function in (
        np.sort,
        np.sort_complex,
        lambda x: np.argsort(x, kind="stable"),
        lambda x: np.sort(x.reshape(7, 7), axis=0),
    ):
        np.testing.assert_array_equal(graph_jit(function)(x), function(x))


# As NumPy 2.5 gives them; older versions have no `descending`.
DESCENDING = [
    (np.array([2.0, np.nan, 0.5, 5.0, np.nan, 2.0]), [5.0, 2.0, 2.0, 0.5, np.nan, np.nan], [3, 0, 5, 2, 1, 4]),
    (np.array([3, 250, 0, 3, 255], np.uint8), [255, 250, 3, 3, 0], [4, 1, 0, 3, 2]),
    (np.array([-128, 127, 0, 127], np.int8), [127, 127, 0, -128], [1, 3, 2, 0]),
    (np.array([True, False, True]), [True, True, False], [0, 2, 1]),
    (
        np.array([1 + 2j, 1 + 5j, complex(np.nan, 1), 3 - 1j]),
        [3 - 1j, 1 + 5j, 1 + 2j, complex(np.nan, 1)],
        [3, 1, 0, 2],
    ),
    (np.array([], np.float32), [], []),
]


@pytest.mark.parametrize(("x", "values", "order"), DESCENDING, ids=lambda each: str(getattr(each, "dtype", "")))
def test_descending_order(x, values, order):
    @graph_jit
    def ordered(x):
        inside = x.copy()
        inside.sort(descending=True)
        columns = xp.sort(np.stack([x, x], axis=1), axis=0, descending=True)
        return xp.sort(x, descending=True, stable=True), inside, columns[:, 1], x.argsort(descending=True, stable=True)

    *found, places = ordered(x)
    for each in found:
        assert each.dtype == x.dtype
        np.testing.assert_array_equal(each, values)
    np.testing.assert_array_equal(places, order)


def test_derivatives_of_descending_order():
    x, weights = np.array([3.0, 1.0, 4.0, 2.0]), np.arange(4.0)
    np.testing.assert_array_equal(grad(lambda x: xp.sort(x, descending=True) @ weights)(x), [1.0, 3.0, 0.0, 2.0])


@pytest.mark.parametrize("descending", [True, False])
def test_a_kind_beside_descending_is_refused(descending):
    with pytest.raises(ValueError, match="can't be provided at the same time"):
        graph_jit(lambda x: xp.argsort(x, kind="stable", descending=descending))(np.arange(3.0))
