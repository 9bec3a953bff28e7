"""The API from end to end: decorators, arguments, pytrees, dispatch, donation, Python scalars."""

import functools
import inspect
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import optree
import pytest

import numbagraph.numpy as xp
from numbagraph import grad, graph_jit, value_and_grad, vmap
from numbagraph.ir.op import registry
from tests.support.tally import Tally

X = np.arange(6.0).reshape(3, 2)
CAPTURED = np.array([5.0, 6.0])


def counting(function):
    """The function, and a count of how often it runs, which is when it is traced."""
    runs = Tally()

    @functools.wraps(function)
    def counted(*args, **kwargs):
        runs.step()
        return function(*args, **kwargs)

    return counted, runs


# ---- the decorator ----


def test_plain_decorator():
    @graph_jit
    def norm(x):
        """The length of a vector."""
        return np.sqrt(np.sum(x**2))

    result = norm(np.array([3.0, 4.0]))
    assert type(result) is np.float64
    assert result == 5.0
    assert norm.__name__ == "norm"
    assert norm.__doc__ == "The length of a vector."
    assert "norm" in repr(norm)
    assert inspect.signature(norm) == inspect.signature(norm.function)


def test_decorator_with_options():
    @graph_jit(backend="numpy", cache=False)
    def double(x):
        return x * 2

    np.testing.assert_array_equal(double(np.arange(3)), [0, 2, 4])


@pytest.mark.parametrize("backend", ["numba", "numpy", "jax"])
def test_backends_agree(backend):
    if backend == "jax":
        pytest.importorskip("jax")
    f = graph_jit(lambda x, n: (np.cumsum(x * n, axis=0), np.max(x)), backend=backend)
    x = np.linspace(0, 1, 6).reshape(3, 2)
    result = f(x, 3)
    assert isinstance(result, tuple)
    np.testing.assert_allclose(result[0], np.cumsum(x * 3, axis=0), rtol=1e-12)
    assert result[1] == 1.0


def test_a_partial_function_and_a_callable_object():
    class Scale:
        def __call__(self, x):
            return x * 2

    np.testing.assert_array_equal(graph_jit(functools.partial(np.add, 2.0))(np.ones(3)), 3 * np.ones(3))
    np.testing.assert_array_equal(graph_jit(Scale())(np.ones(3)), 2 * np.ones(3))


def test_an_object_keeps_its_attributes_to_itself():
    class Scaled:
        function, backend, parallel = "not the one that is compiled", "none", None

        def __init__(self):
            self.function, self.signature = np.negative, "(n)->()"

        def __call__(self, x):
            return 3.0 * x

    compiled = graph_jit(Scaled())
    assert compiled(2.0) == 6.0
    assert compiled.backend == "numba"


def test_positional_keyword_and_default_arguments():
    @graph_jit
    def f(x, y=2.0, *, z=3.0):
        return x * 100 + y * 10 + z

    x = np.array([1.0, 2.0])
    expected = f.function
    for args, kwargs in [((x,), {}), ((x, 5.0), {}), ((x,), {"y": 5.0}), ((), {"z": x, "x": x}), ((x, x), {"z": x})]:
        np.testing.assert_array_equal(f(*args, **kwargs), expected(*args, **kwargs))


def test_variadic_arguments():
    @graph_jit
    def f(first, *rest, **named):
        return first + sum(rest) + named["scale"] * 2

    x = np.arange(3.0)
    np.testing.assert_array_equal(f(x, x, x, scale=x), 5 * x)
    np.testing.assert_array_equal(f(x, scale=x), 3 * x)


def test_wrong_arguments_are_python_errors():
    f = graph_jit(lambda x, y: x + y)
    with pytest.raises(TypeError, match="missing a required argument: 'y'"):
        f(np.ones(2))
    with pytest.raises(TypeError, match="too many positional"):
        f(np.ones(2), 1, 2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        f(np.ones(2), 1, z=2)


# ---- pytrees ----

Pair = namedtuple("Pair", ["left", "right"])


@dataclass
class Parameters:
    mean: Any
    scale: Any = 1.0


@dataclass(frozen=True)
class Frozen:
    inner: Parameters
    label: str = "plain"


def test_trees_go_in_and_out():
    @graph_jit
    def f(tree, pair, parameters):
        return {
            "sum": tree["a"] + tree["b"][0],
            "pair": Pair(pair.right, pair.left),
            "parameters": Parameters(parameters.mean * 2, parameters.scale),
            "nested": [(tree["b"][1], None), ()],
        }

    x = np.arange(3.0)
    result = f({"a": x, "b": [x * 10, 2.0]}, Pair(x, 1), Parameters(x + 1))
    assert list(result) == ["sum", "pair", "parameters", "nested"]
    np.testing.assert_array_equal(result["sum"], 11 * x)
    assert type(result["pair"]) is Pair
    assert result["pair"].left == 1
    np.testing.assert_array_equal(result["pair"].right, x)
    assert type(result["parameters"]) is Parameters
    np.testing.assert_array_equal(result["parameters"].mean, 2 * x + 2)
    assert result["parameters"].scale == 1.0
    assert result["nested"] == [(2.0, None), ()]


def test_static_leaves_are_returned_as_they_are():
    marker = object()
    f = graph_jit(lambda x: {"x": x + 1, "name": "linear", "none": None, "marker": marker, "number": 3})
    result = f(np.ones(2))
    np.testing.assert_array_equal(result["x"], [2, 2])
    assert (result["name"], result["none"], result["number"]) == ("linear", None, 3)
    assert result["marker"] is marker


def test_nothing_traced_is_returned():
    assert graph_jit(lambda x: None)(np.ones(2)) is None
    assert graph_jit(lambda x: (1, "a"))(np.ones(2)) == (1, "a")


def test_results_own_their_memory():
    x = np.arange(6.0).reshape(2, 3)
    for function in (lambda x: x, lambda x: x.T, lambda x: x[1:], lambda x: (x, x[0])):
        for backend in ("numba", "numpy"):
            result = graph_jit(function, backend=backend)(x)
            for each in result if isinstance(result, tuple) else (result,):
                assert not np.shares_memory(each, x)
                each[...] = 7
    np.testing.assert_array_equal(x, np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize("backend", ["numba", "numpy", "jax"])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x, x, x[:], x.T),
        lambda x: {"m": np.zeros_like(x), "v": [np.zeros_like(x), (x + 1, x + 1)]},
        lambda x: (xp.asarray(np.sum(x)),) * 2,
        lambda x: (np.sum(x), np.sum(x), x * 2, np.zeros(3), CAPTURED, CAPTURED),
        lambda x: (np.zeros(3), CAPTURED),
        lambda x: grad(lambda pair: np.sum(pair[0] + pair[1]))((x, x * 2)),
        value_and_grad(lambda x: np.sum(x)),
        vmap(lambda x: (x + 1, x + 1, np.zeros(2), np.zeros(2))),
    ],
)
def test_each_array_that_is_returned_has_memory_of_its_own(function, backend):
    """Whether they are equal, arguments, captured or made while the function was traced; and in each call anew."""
    if backend == "jax":
        pytest.importorskip("jax")
    f = graph_jit(function, backend=backend)
    first, second = f(X), f(X)
    arrays = [each for each in optree.tree_leaves([first, second]) if isinstance(each, np.ndarray)]
    assert len(arrays) >= 2
    for number, each in enumerate(arrays):
        for other in (*arrays[:number], X, CAPTURED):
            assert not np.shares_memory(each, other)
    for each in arrays:
        each += 1
    np.testing.assert_array_equal(CAPTURED, [5.0, 6.0])
    for each, other in zip(optree.tree_leaves(f(X)), optree.tree_leaves(first), strict=True):
        np.testing.assert_allclose(each, other - isinstance(other, np.ndarray))


def test_captured_arrays_are_returned_as_they_were_at_the_first_call():
    data = np.arange(3.0)
    f = graph_jit(lambda x: (x + data, data))
    f(np.zeros(3))
    data += 1
    np.testing.assert_array_equal(f(np.zeros(3)), [[0, 1, 2], [0, 1, 2]])


# ---- dispatch ----


def test_new_lengths_do_not_retrace():
    counted, runs = counting(lambda x, y: np.sum(x * y, axis=0))
    counted.__signature__ = inspect.signature(lambda x, y: None)
    f = graph_jit(counted)
    for rows, columns in [(2, 3), (3, 2), (0, 5), (5, 0), (100, 7), (0, 0)]:
        x = np.random.default_rng(0).random((rows, columns))
        np.testing.assert_allclose(f(x, x[:1].copy() if rows == 1 else x), np.sum(x * x, axis=0), rtol=1e-14)
    assert len(runs) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.ones((2, 3)), np.ones((2, 1))),
        (np.ones((2, 3)), np.ones((2, 3), np.float32)),
        (np.ones((2, 3)), np.ones(3)),
        (np.ones((2, 3)), np.ones((2, 6))[:, ::2]),
        (1, 1.0),
        (np.float64(1), 1.0),
        ([np.ones(2)], (np.ones(2),)),
    ],
    ids=["a length of 1", "dtype", "rank", "layout", "Python type", "NumPy scalar", "tree"],
)
def test_a_new_key_is_a_new_version(first, second):
    counted, runs = counting(lambda x: x)
    counted.__signature__ = inspect.signature(lambda x: None)
    f = graph_jit(counted)
    for _ in range(2):
        f(first)
        f(second)
    assert len(runs) == 2


def test_broadcasting_of_ones_is_exact():
    f = graph_jit(lambda x, y: x + y)
    arrays = [np.arange(6.0).reshape(2, 3), np.ones((1, 3)), np.ones((2, 1)), np.ones((1, 1)), np.ones(1), np.ones(3)]
    for x in arrays:
        for y in arrays:
            np.testing.assert_array_equal(f(x, y), x + y)
            assert f(x, y).shape == (x + y).shape


def test_many_versions_at_once():
    f = graph_jit(lambda x: x + 1)
    dtypes = [np.int8, np.uint16, np.float32, np.float64, np.complex64]
    arrays = [np.ones(shape, dtype) for dtype in dtypes for shape in ((), (1,), (3,), (2, 2))]
    for _ in range(2):
        for array in arrays:
            result = f(array)
            assert result.dtype == array.dtype
            np.testing.assert_array_equal(result, array + array.dtype.type(1))


# ---- Python scalars ----


@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.float32, np.float64, np.complex64])
@pytest.mark.parametrize("scalar", [2, 2.5, 1j, True])
@pytest.mark.parametrize("literal", [True, False], ids=["literal", "argument"])
def test_weak_scalars_take_the_array_s_dtype(dtype, scalar, literal):
    x = np.arange(4).astype(dtype)
    expected = x * scalar + x
    result = graph_jit(lambda x: x * scalar + x)(x) if literal else graph_jit(lambda x, s: x * s + x)(x, scalar)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


def test_weak_scalars_stay_weak_through_python_s_operators():
    f = graph_jit(lambda x, a, b: x * (a + b * 2))
    x = np.arange(3, dtype=np.float32)
    assert f(x, 1, 2).dtype == np.float32
    assert f(x, 1.5, 2).dtype == np.float32
    np.testing.assert_array_equal(f(x, 1.5, 2), x * np.float32(5.5))


@pytest.mark.parametrize("literal", [True, False], ids=["literal", "argument"])
def test_python_integers_that_do_not_fit(literal):
    x = np.ones(3, np.uint8)
    f = (lambda s: graph_jit(lambda x: x + s)(x)) if literal else (lambda s: graph_jit(lambda x, s: x + s)(x, s))
    for scalar in (256, -1, 2**40):
        with pytest.raises(OverflowError, match=r"out of bounds for uint8"):
            x + scalar
        with pytest.raises(OverflowError, match=r"out of bounds for uint8"):
            f(scalar)
    np.testing.assert_array_equal(f(255), x + 255)
    with pytest.raises(OverflowError):
        graph_jit(lambda x, s: x + s)(x, 2**70)


def test_python_results_for_python_numbers():
    f = graph_jit(lambda a, b: (a + b, a * b, -a))
    for args in [(2, 3), (2.0, 3), (2, 3j), (-0.0, 1.0)]:
        expected = f.function(*args)
        result = f(*args)
        assert [type(each) for each in result] == [type(each) for each in expected]
        assert list(map(repr, result)) == list(map(repr, expected))


def test_numpy_functions_of_python_numbers_give_numpy_scalars():
    result = graph_jit(lambda a: (np.sqrt(a), np.add(a, 1)))(4.0)
    assert [type(each) for each in result] == [np.float64, np.float64]
    assert type(graph_jit(lambda a: np.add(a, 1))(4)) is np.int64


def test_numpy_scalars_and_0d_arrays():
    f = graph_jit(lambda x, y: x + y)
    for x in (np.float32(2), np.array(2, np.float32)):
        for y in (np.float32(3), np.array(3, np.float32), 3, 3.0):
            result = f(x, y)
            assert type(result) is np.float32
            assert result == 5


# ---- nested functions ----


def test_nested_compiled_functions_are_one_graph():
    counted, runs = counting(lambda x: x * 2)
    inner = graph_jit(counted)
    outer = graph_jit(lambda x: inner(x) + inner(x + 1))
    x = np.arange(3.0)
    np.testing.assert_array_equal(outer(x), 4 * x + 2)
    assert len(runs) == 2
    assert str(outer.graph(x)).count("def ") == 1


# ---- what can be asked of a compiled function ----


def test_inspection():
    f = graph_jit(lambda x: np.sum(np.exp(x) * 2))
    x = np.linspace(0, 1, 5)
    assert "exp" in str(f.graph(x))
    assert next(iter(f.stages(x))) == "traced"
    assert "exp" in f.explain(x)
    assert "define" in f.llvm(x)
    assert f.asm(x).strip()


def test_graphs_print_as_python_that_runs():
    f = graph_jit(lambda x: np.sum(np.exp(x) * 2, axis=0))
    x = np.linspace(0, 1, 6).reshape(2, 3)
    text = str(f.graph(x))
    compile(text, "printed", "exec")


def test_cache_info_and_warmup(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", str(tmp_path))
    counted, runs = counting(lambda x: x * 12345.0)
    counted.__signature__ = inspect.signature(lambda x: None)
    f = graph_jit(counted)
    f.warmup(np.ones(3))
    assert len(runs) == 1
    np.testing.assert_array_equal(f(np.ones(5)), 12345.0 * np.ones(5))
    assert len(runs) == 1
    assert f.cache_info() is not None


def test_tracers_do_not_leak_into_results():
    kept = []

    @graph_jit
    def f(x):
        kept.append(x)
        return x + 1

    with pytest.raises(TypeError, match="'kept' of an enclosing function was changed"):
        f(np.ones(2))
    assert not kept


def test_numpys_functions_have_numpys_names():
    functions = {each for op in registry for each in op.implements if callable(each)}
    names = {each.__name__ for each in functions if getattr(np, each.__name__, None) is each}
    assert names >= {"amax", "amin", "max", "exp"}
    assert [name for name in sorted(names) if not hasattr(xp, name)] == []


def test_a_second_name_of_a_function():
    x = np.arange(12.0).reshape(3, 4) % 7
    assert graph_jit(lambda x: xp.amax(x, axis=0))(x).tolist() == np.amax(x, axis=0).tolist()
    assert graph_jit(lambda x: np.amin(x, axis=1, initial=2.0))(x).tolist() == np.amin(x, axis=1, initial=2.0).tolist()
    assert xp.amax(x) == 6.0
