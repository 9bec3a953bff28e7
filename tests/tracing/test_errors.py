"""Bad input gets a clear error that names the user's line, and nothing is lost or overwritten."""

import datetime
import inspect
import math

import numpy as np
import pytest
import scipy.special

from numbagraph import grad, graph_jit
from numbagraph.linalg import lu_solve

BACKENDS = ["numba", "numpy"]


def here(offset=0):
    """This file and the caller's line, as errors name them."""
    frame = inspect.currentframe().f_back
    return f"{__file__}:{frame.f_lineno + offset}"


def error_of(kind, function, *args, **options):
    with pytest.raises(kind) as caught:
        graph_jit(function, **options)(*args)
    return str(caught.value)


def outcome(function, *args):
    try:
        return function(*args)
    except (IndexError, np.linalg.LinAlgError) as error:
        return error


def assert_untouched(arrays, copies):
    for array, original in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, original)


# ---- shapes ----


@pytest.mark.parametrize("backend", BACKENDS)
def test_lengths_that_do_not_broadcast(backend):
    def f(x, y):
        z = x * 2
        return z + y

    line = here(-2)
    x, y = np.ones((2, 3)), np.ones((2, 4))
    text = error_of(ValueError, f, x, y, backend=backend)
    assert "add" in text
    assert "(2, 3)" in text
    assert "(2, 4)" in text
    assert line in text


@pytest.mark.parametrize("backend", BACKENDS)
def test_lengths_that_stop_broadcasting(backend):
    """The function is compiled already: the guard at its entry fails."""
    f = graph_jit(lambda x, y: x * 2 + y, backend=backend)
    line = here(-1)
    f(np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="could not be broadcast") as caught:
        f(np.ones(3), np.ones(4))
    text = str(caught.value)
    assert line in text
    assert "(3,)" in text
    assert "(4,)" in text
    np.testing.assert_array_equal(f(np.ones(4), np.ones(4)), 3 * np.ones(4))


def test_static_lengths_that_do_not_broadcast():
    text = error_of(ValueError, lambda x: x + np.ones((2, 3)), np.ones((2, 2)))
    assert "(2, 3)" in text
    assert here(-2) in text


@pytest.mark.parametrize(
    ("function", "kind", "match"),
    [
        (lambda x: np.sum(x, axis=2), np.exceptions.AxisError, "axis 2 is out of bounds for array of dimension 2"),
        (lambda x: np.sum(x, axis=(0, 0)), ValueError, "duplicate value in 'axis'"),
        (lambda x: np.expand_dims(x, 5), np.exceptions.AxisError, "axis 5 is out of bounds"),
        (lambda x: np.squeeze(x, 0), ValueError, "size not equal to one"),
        (lambda x: np.broadcast_to(x, (3, 3)), ValueError, "broadcast"),
        (lambda x: x.reshape(7, 2), ValueError, "reshape"),
        (lambda x: x.reshape(-1, -1), ValueError, "one unknown"),
        (lambda x: np.transpose(x, (0, 0)), ValueError, "repeated|permutation|axes"),
        (lambda x: np.concatenate([x, np.ones((2, 4))]), ValueError, "concatenat"),
        (lambda x: np.stack([x, np.ones((2, 4))]), ValueError, "same shape"),
        (lambda x: x @ x, ValueError, "matmul"),
        (lambda x: np.dot(x, np.ones(4)), ValueError, "differ"),
        (lambda x: np.einsum("ij,jk->ik", x, x), ValueError, "einsum|broadcast|j"),
    ],
)
@pytest.mark.parametrize("backend", BACKENDS)
def test_wrong_axes_and_shapes(function, kind, match, backend):
    x = np.ones((2, 3))
    with pytest.raises((ValueError, IndexError)):
        function(x)
    with pytest.raises(kind, match=match) as caught:
        graph_jit(function, backend=backend)(x)
    assert f"{__file__}:{function.__code__.co_firstlineno}" in str(caught.value)
    np.testing.assert_array_equal(x, np.ones((2, 3)))


@pytest.mark.parametrize("reduction", [np.max, np.min, np.argmax, np.argmin])
@pytest.mark.parametrize("backend", BACKENDS)
def test_reductions_of_nothing(reduction, backend):
    f = graph_jit(lambda x: reduction(x, axis=0), backend=backend)
    line = here(-1)
    f(np.ones((2, 3)))
    for x in (np.ones((0, 3)), np.ones((0, 0))):
        with pytest.raises(ValueError, match=r"zero-size|empty") as expected:
            reduction(x, axis=0)
        with pytest.raises(ValueError, match=str(expected.value)[:30]) as caught:
            f(x)
        assert line in str(caught.value)
    assert f(np.ones((3, 0))).shape == (0,)


# ---- indices ----


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("index", [5, -6, 10**15, -(10**15)])
def test_an_index_out_of_bounds(index, backend):
    def f(x, i):
        y = x * 2
        return y[i] + 1

    line = here(-2)
    f = graph_jit(f, backend=backend)
    x, i = np.arange(5.0), np.array([0, 1, index])
    np.testing.assert_array_equal(f(x, np.array([0, -1, 4])), [1, 9, 9])
    with pytest.raises(IndexError, match=rf"index {index} is out of bounds for axis 0 with size 5") as caught:
        f(x, i)
    assert line in str(caught.value)
    assert_untouched((x, i), (np.arange(5.0), [0, 1, index]))


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_index_out_of_bounds_of_an_empty_array(backend):
    f = graph_jit(lambda x, i: x[i], backend=backend)
    with pytest.raises(IndexError, match="out of bounds for axis 0 with size 0"):
        f(np.ones(0), np.array([0, 0]))
    assert f(np.ones(0), np.array([], np.int64)).shape == (0,)


@pytest.mark.parametrize("position", [3, -4])
def test_a_static_index_out_of_bounds(position):
    f = graph_jit(lambda x: x[position])
    line = here(-1)
    assert f(np.arange(4.0)) == np.arange(4.0)[position]
    with pytest.raises(IndexError, match=f"index {position} is out of bounds for axis 0 with size 3") as caught:
        f(np.ones(3))
    assert line in str(caught.value)


def test_pivots_that_are_no_rows():
    factors = np.diag([2.0, 3.0, 4.0])
    f = graph_jit(lambda pivots: lu_solve((factors, pivots), np.ones(3)))
    for bad in (3, 10**6, -4, -(10**6)):
        with pytest.raises(IndexError, match="out of bounds"):
            f(np.array([0, bad, 2], np.int32))
    np.testing.assert_allclose(f(np.array([0, 1, 2], np.int32)), [1 / 2, 1 / 3, 1 / 4])


def test_out_of_bounds_scatter_writes_nothing_outside():
    buffer = np.zeros(30)
    x = buffer[10:20]

    def f(x, i):
        y = x.copy()
        y[i] = 1.0
        return y

    with pytest.raises(IndexError, match="out of bounds"):
        graph_jit(f)(x, np.array([0, 12]))
    assert not buffer.any()


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda x: x[0, 0, 0], "too many indices"),
        (lambda x: x["name"], "indices|index"),
        (lambda x: x[1.5], "indices|index"),
        (lambda x: x[..., ...], "ellipsis|Ellipsis"),
    ],
)
def test_wrong_kinds_of_index(function, match):
    with pytest.raises((IndexError, TypeError), match=match) as caught:
        graph_jit(function)(np.ones((2, 3)))
    assert f"{__file__}:{function.__code__.co_firstlineno}" in str(caught.value)


# ---- dtypes and kinds of argument ----


@pytest.mark.parametrize(
    "array",
    [
        np.array([None, 1], object),
        np.array(["a", "b"]),
        np.array([b"a"]),
        np.array(["2020-01-01"], "datetime64[D]"),
        np.array([1], "timedelta64[s]"),
        np.zeros(2, [("a", float)]),
        np.zeros(2, np.float16),
        np.zeros(2, np.longdouble),
    ],
    ids=lambda array: str(array.dtype),
)
@pytest.mark.parametrize("place", ["argument", "captured"])
def test_dtypes_that_are_not_supported(array, place):
    function = (lambda x: x) if place == "argument" else (lambda x: x + array)
    text = error_of(TypeError, function, array if place == "argument" else np.ones(2))
    assert f"dtype {array.dtype} is not supported" in text
    assert "float64" in text
    if place == "argument":
        assert "argument x" in text
    else:
        assert __file__ in text


@pytest.mark.parametrize(
    "thing",
    [object(), datetime.date(2020, 1, 1), {1, 2}],
    ids=lambda thing: type(thing).__name__,
)
def test_arguments_that_are_no_arrays(thing):
    text = error_of(TypeError, lambda x, y: x, np.ones(2), {"deep": [thing]})
    assert "argument y['deep'][0]" in text
    assert type(thing).__name__ in text
    assert "static_argnames" in text


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("kind", [np.ma.masked_array, np.asmatrix])
def test_masked_arrays_and_matrices_from_outside(kind):
    """They are not taken for plain arrays."""
    captured = kind(np.eye(3))
    for function in (lambda x: x * captured, lambda x: captured @ x, lambda x: np.sum(np.stack([x, captured]))):
        with pytest.raises(TypeError, match="from outside of the traced function is a ma"):
            graph_jit(function)(np.ones((3, 3)))


def test_masked_arrays():
    text = error_of(TypeError, lambda x: x, np.ma.masked_array([1.0, 2.0], [True, False]))
    assert "mask" in text
    assert "argument x" in text


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x & 1,
        lambda x: ~x,
        lambda x: np.left_shift(x, 1),
        lambda x: np.subtract(x > 0, x > 1),
        lambda x: -(x > 0),
        lambda x: np.gcd(x, 2),
        lambda x: x + "a",
        lambda x: x + None,
    ],
)
def test_operations_that_do_not_take_the_dtype(function):
    x = np.ones(2)
    with pytest.raises(TypeError):
        function(x)
    with pytest.raises(TypeError) as caught:
        graph_jit(function)(x)
    assert f"{__file__}:{function.__code__.co_firstlineno}" in str(caught.value)


def test_arrays_of_traced_numbers():
    text = error_of(TypeError, lambda x: np.array([x[0], x[1]]), np.ones(2), convert=False)
    assert "np.stack" in text
    assert here(-2) in text
    text = error_of(OverflowError, lambda x: x + 2**63, np.ones(2, int))
    assert "9223372036854775808 out of bounds" in text


def test_python_integers_that_do_not_fit_name_the_argument():
    text = error_of(OverflowError, lambda x, n: x * n, np.ones(2), 2**70)
    assert "argument n" in text
    assert str(2**70) in text


# ---- Python's control flow ----


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (lambda x: 1 if x[0] > 0 else 2, "truth"),
        (lambda x: x[0] and x[1], "truth"),
        (lambda x: not x[0], "truth"),
        (lambda x: 0 < x[0] < 1, "truth"),
        (lambda x: max(x[0], x[1]), "truth"),
        (lambda x: list(map(np.sin, x)), "iteration"),
        (lambda x: int(x[0]), "int()"),
        (lambda x: float(x[0]), "float()"),
        (lambda x: complex(x[0]), "complex()"),
        (lambda x: round(x[0]), "round()"),
        (lambda x: math.exp(x[0]), "float()"),
        (lambda x: list(range(x[0].astype(int))), "integer"),
        (lambda x: np.ones(x.shape[0]), "integer"),
        (lambda x: [0, 1][x[0].astype(int)], "integer"),
        (lambda x: x[0].item(), "item()"),
        (lambda x: x.tolist(), "tolist()"),
        (lambda x: len(x), "len()"),
        (lambda x: 1.0 in x, "in"),
    ],
)
def test_python_control_flow_on_traced_values(function, what):
    with pytest.raises(TypeError) as caught:
        graph_jit(function, convert=False)(np.ones(2))
    text = str(caught.value)
    assert what in text
    if "expected a sequence of integers" in text:  # of NumPy's own making, which drops ours
        return
    assert f"{__file__}:{function.__code__.co_firstlineno}" in text
    assert any(each in text for each in ("numbagraph.", "static_argnames", "x.shape[0]"))
    if what == "truth":
        assert "numpy.where" in text
        assert "static_argnames" in text


def test_while_on_a_traced_value():
    def f(x):
        while x[0] > 0:
            x = x - 1
        return x

    text = error_of(TypeError, f, np.ones(2), convert=False)
    assert here(-5) in text
    assert "static_argnames" in text


# ---- functions ----


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: np.array_repr(x), "numpy.array_repr"),
        (lambda x: scipy.special.wofz(x * 1j), "scipy.special.wofz"),
        (lambda x: np.frompyfunc(lambda a: a, 1, 1)(x), "<lambda> (vectorized)"),
    ],
)
def test_functions_that_are_not_supported(function, name):
    with pytest.raises(TypeError, match="not supported") as caught:
        graph_jit(function)(np.ones((2, 2)))
    text = str(caught.value)
    assert name in text
    assert "supported in a traced function: " in text
    assert f"{__file__}:{function.__code__.co_firstlineno}" in text


def test_options_that_are_not_supported():
    x, out = np.ones(3), np.zeros(3)
    for function in (
        lambda x: np.sum(x, out=out),
        lambda x: np.add(x, 1, where=x > 0),
    ):
        with pytest.raises(TypeError, match=r"out=|where=") as caught:
            graph_jit(function)(x)
        assert __file__ in str(caught.value)
    np.testing.assert_array_equal(out, np.zeros(3))


def test_errors_of_the_user_s_own_code_pass_through():
    class Mine(Exception):
        pass

    def f(x):
        raise Mine("mine")

    with pytest.raises(Mine, match=r"^mine$"):
        graph_jit(f)(np.ones(2))


# ---- options ----


def test_wrong_options():
    def f(x, n):
        return x

    with pytest.raises(ValueError, match="static_argnames names 'm'") as caught:
        graph_jit(f, static_argnames="m")
    assert f"{__file__}:{f.__code__.co_firstlineno}" in str(caught.value)
    assert "x, n" in str(caught.value)
    with pytest.raises(ValueError, match="donate_argnames names 'm'"):
        graph_jit(f, donate_argnames=("x", "m"))
    with pytest.raises(ValueError, match="backend must be one of"):
        graph_jit(f, backend="cuda")
    with pytest.raises(TypeError, match="functions"):
        graph_jit(3)
    with pytest.raises(TypeError, match="unexpected keyword"):
        graph_jit(f, fastmath=True)
    with pytest.raises(ValueError, match="parallel=True is for backend='numba'"):
        graph_jit(f, parallel=True, backend="jax")


def test_a_static_argument_that_cannot_be_hashed():
    text = error_of(TypeError, lambda x, n: x, np.ones(2), [1, 2], static_argnames="n")
    assert "static argument 'n'" in text
    assert "list" in text
    assert "hash" in text
    text = error_of(TypeError, lambda x, n: x, np.ones(2), np.ones(2), static_argnames="n")
    assert "ndarray" in text


# ---- after an error ----


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_works_after_errors(backend):
    f = graph_jit(lambda x, i: np.sum(x[i] * x), backend=backend)
    x = np.arange(3.0)
    for _ in range(3):
        with pytest.raises(IndexError):
            f(x, np.array([0, 1, 7]))
        with pytest.raises(ValueError, match="broadcast"):
            f(x, np.array([0, 1]))
        with pytest.raises(TypeError):
            f(x, np.array(["a"]))
        assert f(x, np.array([0, 1, 2])) == np.sum(x * x)


def test_errors_in_gradients_name_the_line_of_the_function():
    def f(x, y):
        return np.sum(x * y)

    line = here(-2)
    with pytest.raises(ValueError, match="broadcast") as caught:
        grad(f)(np.ones(3), np.ones(4))
    assert line in str(caught.value)
