"""What a traced function may do: NumPy code as it is, arrays of the enclosing scope, assignment."""

import functools
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import numbagraph
from numbagraph import graph_jit

# ---- captured arrays ----


def test_captured_arrays_are_data():
    data = np.arange(1000.0)
    f = graph_jit(lambda x: np.sum(x * data))
    assert f(np.ones(1000)) == data.sum()
    assert "captured" in str(f.graph(np.ones(1000)))


def test_captured_arrays_are_kept_as_they_were():
    data = np.arange(3.0)
    f = graph_jit(lambda x: x + data)
    x = np.ones(3)
    np.testing.assert_array_equal(f(x), [1, 2, 3])
    data[:] = 100
    np.testing.assert_array_equal(f(x), [1, 2, 3])
    np.testing.assert_array_equal(data, [100] * 3)


def test_what_depends_on_captured_arrays_alone_is_computed_once():
    data = np.linspace(1, 2, 50)
    f = graph_jit(lambda x: x * numbagraph.numpy.sum(numbagraph.numpy.log(data)) + numbagraph.numpy.exp(data))
    x = np.ones(50)
    np.testing.assert_allclose(f(x), x * np.sum(np.log(data)) + np.exp(data), rtol=1e-14)
    text = str(f.graph(x))
    assert "log" not in text
    assert "exp" not in text


def test_folding_keeps_the_guards_of_captured_shapes():
    data = np.arange(3.0)
    f = graph_jit(lambda x: x + numbagraph.numpy.multiply(data, 2))
    with pytest.raises(ValueError, match="broadcast"):
        f(np.ones(4))
    np.testing.assert_array_equal(f(np.ones(3)), 1 + 2 * data)


def test_captured_arrays_are_captured_once():
    data = np.arange(100.0)
    f = graph_jit(lambda x: x * data + np.sum(data * x) + data)
    x = np.ones(100)
    np.testing.assert_allclose(f(x), f.function(x), rtol=1e-13)
    assert len(f.graph(x).inputs) == 2


def test_captured_views_of_any_layout():
    data = np.arange(24.0).reshape(4, 6)
    for view in (data[::2, ::-1], data.T, data.astype(">f8"), np.asfortranarray(data)):
        np.testing.assert_array_equal(graph_jit(functools.partial(lambda view, x: x + view, view))(1.0), 1.0 + view)


# ---- assignment ----


def assigned(x, v):
    x = x.copy()
    x[1:] = 0
    x += 1
    x[0] = v
    x[...] *= 2
    return x


def masked(x, v):
    y = x * 1
    y[y > 1] = v
    return y


def by_index(x, v):
    y = np.zeros_like(x)
    y[np.array([2, 0])] = v
    y[-1] -= 1
    return y


def aliased(x, v):
    y = x.copy()
    z = y
    z += v
    return y, z


@pytest.mark.parametrize("function", [assigned, masked, by_index, aliased])
def test_assignment_is_functionalised(function):
    x = np.arange(4.0)
    before = x.copy()
    expected = function(x.copy(), 7.0)
    for backend in ("numba", "numpy"):
        result = graph_jit(function, backend=backend)(x, 7.0)
        for each, wanted in zip(result, expected, strict=True):
            np.testing.assert_array_equal(each, wanted)
    np.testing.assert_array_equal(x, before)


def test_assignment_into_views_of_unknown_layout_is_refused():
    def into_view(x):
        y = x.T * 2
        y.reshape(-1)[0] = 1
        return y

    x = np.arange(4.0).reshape(2, 2)
    with pytest.raises(TypeError, match=r"copy"):
        graph_jit(into_view)(x)
    np.testing.assert_array_equal(x, np.arange(4.0).reshape(2, 2))


def test_in_place_operations_keep_dtype_and_shape():
    def wider(x):
        y = x * 1
        y += 1.5
        return y

    with pytest.raises(TypeError, match="Cannot cast ufunc 'add' output"):
        graph_jit(wider)(np.arange(3))
    assert graph_jit(wider)(np.arange(3, dtype=np.float32)).dtype == np.float32

    def larger(x):
        y = x[0] * 1
        y += x
        return y

    with pytest.raises(ValueError, match="shape"):
        graph_jit(larger)(np.ones((2, 3)))


# ---- NumPy's protocols ----


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.add.reduce(x),
        lambda x: np.add.reduce(x, axis=1),
        lambda x: np.maximum.reduce(x, axis=None),
        lambda x: np.add.accumulate(x, axis=1),
        lambda x: x.sum(axis=0),
        lambda x: x.mean(),
        lambda x: x.T @ x,
        lambda x: x.reshape(-1),
        lambda x: x.clip(0.2, 0.7),
        lambda x: np.shape(x)[0] + x,
        lambda x: x.size * x.ndim + np.size(x) + x,
        lambda x: abs(-x) + x % 0.3 + divmod(x, 0.4)[1],
        lambda x: np.multiply(x, 2, dtype=np.float32),
        lambda x: x.astype(np.int8),
        lambda x: (x > 0.5) & ~(x > 0.8),
        lambda x: (x == x) != (x < 0.5),
        lambda x: np.where(x > 0.5, x, 0),
        lambda x: x[..., None, 0] + x[None, ::-1][0],
        lambda x: np.concatenate([x, np.ones((2, 3))]),
        lambda x: 2**x + 2 // (x + 1) - 1 / (x + 1),
        lambda x: np.ones(3) * x,
        lambda x: x @ np.arange(3.0),
    ],
)
def test_unchanged_numpy_code(function):
    x = np.random.default_rng(0).random((4, 3))
    expected = function(x)
    for backend in ("numba", "numpy"):
        result = graph_jit(function, backend=backend)(x)
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(result, expected, rtol=1e-13)


def test_scipy_special_functions_are_traced():
    special = pytest.importorskip("scipy.special")
    x = np.linspace(0.5, 3, 7)
    function = lambda x: special.gammaln(x) + special.expit(x) * special.erf(x)  # noqa: E731
    np.testing.assert_allclose(graph_jit(function)(x), function(x), rtol=1e-12)
    ours = graph_jit(lambda x: numbagraph.special.logsumexp(x) + numbagraph.special.softmax(x))
    np.testing.assert_allclose(ours(x), special.logsumexp(x) + special.softmax(x), rtol=1e-12)


def test_creation_with_lengths_that_are_not_known_yet():
    xp = numbagraph.numpy
    f = graph_jit(lambda x: xp.arange(x.shape[0]) * x + xp.ones(x.shape[0]) + xp.zeros(x.shape))
    for n in (0, 2, 5):
        x = np.arange(float(n)) + 1
        np.testing.assert_array_equal(f(x), np.arange(n) * x + 1)


def test_the_namespace_serves_arrays_as_well():
    xp = numbagraph.numpy
    x = np.array([1.0, 3.0, 2.0])
    np.testing.assert_array_equal(xp.cummax(x), [1, 3, 3])
    np.testing.assert_array_equal(graph_jit(xp.cummax)(x), [1, 3, 3])
    assert xp.sum(x) == 6
    assert xp.pi == np.pi
    assert xp.float32 is np.float32
    assert "exp" in dir(xp)
    with pytest.raises(AttributeError, match="no function 'nothing'"):
        xp.nothing  # noqa: B018


def test_array_namespace():
    def function(x):
        xp = x.__array_namespace__()
        return xp.sum(xp.exp(x)) + xp.pi

    x = np.linspace(0, 1, 5)
    np.testing.assert_allclose(graph_jit(function)(x), np.sum(np.exp(x)) + np.pi, rtol=1e-14)


def test_elements_of_a_result_may_be_used_for_another():
    """A scalar between two loop nests: they must not become one."""

    def f(x):
        y = x * 2
        return y, x * y[0], x * (y[0] + y[-1]).reshape(1), np.sum(y) * y[1]

    x = np.arange(3.0) + 1
    for each, wanted in zip(graph_jit(f)(x), f(x), strict=True):
        np.testing.assert_array_equal(each, wanted)
    for n in (1, 4):
        first, second = graph_jit(lambda x: (x[..., None], x[..., None].reshape(-1)))(np.ones((1, n)))
        assert (first.shape, second.shape) == ((1, n, 1), (n,))


def test_equal_short_arrays_are_captured_once():
    f = graph_jit(lambda x: x @ np.eye(3) + np.ones(20) @ x @ np.eye(3) + np.eye(3, dtype=np.float32)[0])
    x = np.arange(60.0).reshape(20, 3)
    np.testing.assert_allclose(f(x), f.function(x))
    assert len([each for each in f.graph(x).inputs if each.name.startswith("captured")]) <= 3


def test_an_array_that_changes_while_a_function_is_traced_is_captured_as_it_was():
    def f(x, length):
        total = np.zeros(length)
        found = []
        for number in range(3):
            found.append(x + total)
            total += number
            total[0] = np.nan
        return found

    for length in (3, 1000):
        x = np.ones(length)
        np.testing.assert_array_equal(graph_jit(f, static_argnames="length")(x, length), f(x, length))


def put_first(x, i):
    y = x.copy()
    y[i * 0] = 1.0
    return y


SAME_POSITIONS = {
    "vector": (lambda x, i: x[i * 0], (0,), (0,)),
    "columns": (lambda x, i: x[:, i * 0], (3, 0), (0,)),
    "no rows": (lambda x, i: x[:, i * 0], (0, 3), (2,)),
    "pairs": (lambda x, i: x[i * 0, i * 0], (0, 0), (0,)),
    "along an axis": (lambda x, i: np.take_along_axis(x, i * 0, axis=0), (0, 3), (0, 3)),
    "assigned": (put_first, (0,), (0,)),
    "out of bounds, but none": (lambda x, i: x[i * 0 + 5], (3,), (0,)),
    "out of bounds": (lambda x, i: x[i * 0 + 5], (3,), (2,)),
    "of nothing": (lambda x, i: x[i * 0], (0,), (2,)),
}


@pytest.mark.parametrize("name", SAME_POSITIONS)
def test_positions_that_are_all_the_same(name):
    """They are known without a loop, but where there are none, none of them is out of bounds."""
    function, shape, count = SAME_POSITIONS[name]
    arguments = np.ones(shape), np.zeros(count, dtype=int)
    try:
        expected = function(*arguments)
    except IndexError:
        with pytest.raises(IndexError, match="out of bounds"):
            graph_jit(function)(*arguments)
    else:
        np.testing.assert_array_equal(graph_jit(function)(*arguments), expected)


SAME_ELEMENTS = {
    "of a number": lambda x, i: np.ones_like(x)[i],
    "after arithmetic": lambda x, i: (2 * np.zeros_like(x) + x.sum())[i],
    "summed": lambda x, i: np.full(x.shape, x[0])[i].sum(),
    "repeated columns": lambda x, i: np.broadcast_to(x[:, None], (3, 3))[:, i],
    "of pairs": lambda x, i: np.ones((3, 4))[i, i],
    "of one row": lambda x, i: np.take(x[None, :1] + np.zeros((3, 1)), i, axis=0),
    "along an axis": lambda x, i: np.take_along_axis(np.full_like(x, 2), i, axis=0),
    "of an array of one element": lambda x, i: x[:1][i - 2],
    "in a condition": lambda x, i: np.where(x[: i.size] > 5, np.ones_like(x)[i], 0.0),
}


@pytest.mark.parametrize("position", [2, 3, -4])
@pytest.mark.parametrize("name", SAME_ELEMENTS)
def test_positions_in_arrays_of_one_number(name, position):
    """They are checked, too, although the element is the same at each of them."""
    function, arguments = SAME_ELEMENTS[name], (np.array([1.0, 2.0, 3.0]), np.array([2, position]))
    if position == 2:
        np.testing.assert_array_equal(graph_jit(function)(*arguments), function(*arguments))
    else:
        with pytest.raises(IndexError, match="out of bounds"):
            graph_jit(function)(*arguments)


def test_lengths_from_arrays_that_have_memory():
    """The numbers are computed a second time, before the loops."""

    def f(x, i):
        counts = i * np.array([2, 3, 1])
        return x[: counts[0]] * 2, np.cumsum(counts), counts[::-1], counts

    arguments = np.arange(5.0), np.array([1, 2, 3])
    for found, expected in zip(graph_jit(f)(*arguments), f(*arguments), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_short_lengths_of_captured_arrays_are_known():
    short, long = np.arange(8.0), np.arange(9.0)
    assert graph_jit(lambda x: x + short).graph(short).outputs[0].shape == (8,)
    assert graph_jit(lambda x: x + long).graph(long).outputs[0].shape != (9,)
    with pytest.raises(ValueError, match=r"8.*9|9.*8"):
        graph_jit(lambda x: x + short)(long)


def test_errors_name_the_line_that_called_a_library():
    with pytest.raises(TypeError, match=Path(__file__).name):
        graph_jit(lambda x: stats.mstats.rankdata(x))(np.ones(3))
