"""Compiled functions in code that Numba compiles."""

import collections
import contextlib
import gc
import pickle
import subprocess
import sys
import textwrap
import threading

import numba
import numpy as np
import pytest
from numba import njit, prange
from numba.core import types
from numba.core.runtime import _nrt_python, rtsys
from scipy import special

import numbagraph
from numbagraph import intrinsics
from numbagraph.intrinsics.emitters.target import Target, emitting_for
from numbagraph.ir.op import registry
from numbagraph.ir.types import DTYPES
from numbagraph.ir.values import Unsupported
from numbagraph.testing import LAYOUTS, assert_same

NAMES = sorted(op.name for op in registry if not isinstance(op.frontend, Unsupported))

RNG = np.random.default_rng(0)
X, W, Y = RNG.normal(size=(50, 7)), RNG.normal(size=7), RNG.normal(size=50)
Pair = collections.namedtuple("Pair", "first second")


@numbagraph.graph_jit
def affine(x, y, c=2):
    return x * y + c


@numbagraph.graph_jit
def total(x):
    return np.sum(x * x)


@numbagraph.graph_jit
def loss(w, X, y):
    return np.sum((np.sum(X * w, axis=1) - y) ** 2) + np.sum(w**2)


@njit
def jitted_affine(x, y):
    return affine(x, y)


@njit
def jitted_total(x):
    return total(x)


@contextlib.contextmanager
def lost_allocations():
    """Counts what njit code allocates inside and nobody frees."""
    rtsys.initialize(numba.core.registry.cpu_target.target_context)
    _nrt_python.memsys_enable_stats()
    gc.collect()
    lost = collections.Counter()
    before = rtsys.get_allocation_stats()
    yield lost
    gc.collect()
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    lost["memory"] = after.alloc - before.alloc - after.free + before.free
    lost["arrays"] = after.mi_alloc - before.mi_alloc - after.mi_free + before.mi_free


def test_same_result_as_from_python():
    assert jitted_total(W) == total(W)
    np.testing.assert_array_equal(jitted_affine(W, W), affine(W, W))


def test_defaults_and_keywords():
    @njit
    def caller(x):
        return affine(x, x), affine(x, y=x), affine(y=x, c=5.0, x=x)

    default, keyword, all_keywords = caller(W)
    np.testing.assert_array_equal(default, W * W + 2)
    np.testing.assert_array_equal(keyword, default)
    np.testing.assert_array_equal(all_keywords, W * W + 5.0)


def test_variable_arguments():
    function = numbagraph.graph_jit(lambda *arrays, scale=1.0: sum(arrays) * scale)

    @njit
    def caller(x, y):
        both = (x, y)
        return function(x), function(*both), function(x, y, x, scale=2.0)

    expected = W, W + W, (W + W + W) * 2.0
    for found, each in zip(caller(W, W), expected, strict=True):
        np.testing.assert_allclose(found, each)


@pytest.mark.parametrize("name", sorted({*LAYOUTS} - {"unaligned"}))  # Numba takes every array to be aligned
def test_layouts(name):
    array = LAYOUTS[name](X)
    np.testing.assert_array_equal(jitted_affine(array, array), array * array + 2)


@pytest.mark.parametrize("right", [X, X[:1], X[:, :1], X[:1, :1], X[0], X[0, :1], np.array(3.0), 3.0])
@pytest.mark.parametrize("left", [X, X[:1], X[:, :1], X[:0], X[0]])
def test_broadcasting_is_decided_at_run_time(left, right):
    """Numba's types do not say which lengths are 1."""
    try:
        expected = left * right + 2
    except ValueError:
        with pytest.raises(ValueError, match="could not be broadcast"):
            jitted_affine(left, right)
        return
    np.testing.assert_array_equal(jitted_affine(left, right), expected)


def test_lengths_of_one_that_do_not_broadcast():
    """A reduction of an argument of length 1 is of one element, whatever it is broadcast to elsewhere."""
    function = numbagraph.graph_jit(lambda x, y: np.sum(x) + np.sum(x * y))

    @njit
    def caller(x, y):
        return function(x, y)

    for left, right in ((W, W), (W[:1], W), (W, W[:1]), (W[:1], W[:1])):
        np.testing.assert_allclose(caller(left, right), np.sum(left) + np.sum(left * right))


def test_gradients_with_lengths_of_one():
    function = numbagraph.graph_jit(numbagraph.grad(lambda x, y: np.sum(np.sin(x * y) + x), argnums=(0, 1)))

    @njit
    def caller(x, y):
        return function(x, y)

    for left, right in ((W, W), (W[:1], W), (W, W[:1]), (W[:1], W[:1])):
        for found, expected in zip(caller(left, right), function(left, right), strict=True):
            np.testing.assert_allclose(found, expected)


def test_an_axis_that_must_have_length_one():
    function = numbagraph.graph_jit(lambda x: np.squeeze(x, -1))

    @njit
    def caller(x):
        return function(x)

    np.testing.assert_array_equal(caller(X[:, :1]), X[:, 0])
    with pytest.raises(ValueError, match="size not equal to one"):
        caller(X)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype):
    array = np.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
    assert_same(jitted_affine(array, array), array * array + 2)
    found = jitted_affine(array[0, 1], array[0, 1])  # a scalar argument; Numba returns Python's numbers
    assert found == array[0, 1] * array[0, 1] + 2


def test_python_scalars_are_weak():
    single = W.astype(np.float32)
    assert jitted_affine(single, 2.0).dtype == np.float32
    assert jitted_affine(single, np.float32(2)).dtype == np.float32
    assert jitted_affine(single, np.int32(2)).dtype == np.float64
    small = np.ones(3, np.uint8)
    assert jitted_affine(small, 3).dtype == np.uint8
    with pytest.raises(OverflowError, match="out of bounds for uint8"):
        jitted_affine(small, 300)


def test_trees():
    function = numbagraph.graph_jit(lambda p, q: (Pair(p.first + 1, p.second * q[0]), (q[1], None, 3), [q[1], q[2]]))

    @njit
    def caller(p, q):
        return function(p, q)

    pair, (array, nothing, number), (again, flag) = caller(Pair(W, 2.0), (3.0, Y, True))
    assert type(pair).__name__ == "Pair"
    np.testing.assert_array_equal(pair.first, W + 1)
    assert (pair.second, nothing, number, flag) == (6.0, None, 3, True)
    np.testing.assert_array_equal(array, Y)
    np.testing.assert_array_equal(again, Y)
    assert not any(np.shares_memory(*each) for each in ((array, again), (array, Y), (again, Y)))


def test_a_result_that_numba_has_no_type_for():
    function = numbagraph.graph_jit(lambda x: {"a": x})
    with pytest.raises(numba.TypingError, match="result of type dict is not supported in njit code"):
        njit(lambda x: function(x))(W)


def test_gradient_descent():
    value_and_grad = numbagraph.graph_jit(numbagraph.value_and_grad(loss))

    @njit
    def fit(w, X, y, steps):
        value = 0.0
        for _ in range(steps):
            value, gradient = value_and_grad(w, X, y)
            w = w - 1e-3 * gradient
        return value, w

    found, expected = fit(W, X, Y, 10), fit.py_func(W, X, Y, 10)
    np.testing.assert_allclose(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1])


def test_parallel_loop():
    function = numbagraph.graph_jit(lambda row: np.sum(np.exp(row)))

    @njit(parallel=True)
    def caller(rows):
        result = np.empty(rows.shape[0])
        for i in prange(rows.shape[0]):
            result[i] = function(rows[i])
        return result

    np.testing.assert_allclose(caller(X), np.exp(X).sum(axis=1))


def test_threads_without_the_gil():
    @njit(nogil=True)
    def caller(x, count):
        result = 0.0
        for _ in range(count):
            result += total(x) + np.sum(affine(x, x))
        return result

    expected = caller(W, 1000)
    results = []
    threads = [threading.Thread(target=lambda: results.append(caller(W, 1000))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8


def test_as_an_argument():
    @njit
    def apply(function, x):
        return function(x)

    assert apply(total, W) == total(W)
    assert apply(total, W) == total(W)
    assert len(apply.signatures) == 1


def test_static_arguments_are_literals():
    function = numbagraph.graph_jit(
        lambda x, axis=0, keep=False: np.sum(x, axis=axis, keepdims=keep), static_argnames=("axis", "keep")
    )

    @njit
    def caller(x):
        return function(x), function(x, 1), function(x, axis=-1, keep=True), function(x, (0, 1))

    expected = X.sum(0), X.sum(1), X.sum(-1, keepdims=True), X.sum()
    for found, each in zip(caller(X), expected, strict=True):
        np.testing.assert_allclose(found, each)
    with pytest.raises(numba.TypingError, match="static argument 'axis' must be known"):
        njit(lambda x, axis: function(x, axis))(X, 1)
    np.testing.assert_allclose(njit(lambda x, axis: function(x, numba.literally(axis)))(X, 1), X.sum(1))


def test_captured_arrays_are_those_of_the_first_call():
    data = W.copy()
    function = numbagraph.graph_jit(lambda x: x * data)

    @njit
    def caller(x):
        return function(x)

    np.testing.assert_allclose(caller(X), X * W)
    data[:] = 0
    gc.collect()
    np.testing.assert_allclose(caller(X), X * W)


def test_functions_of_scipy():
    function = numbagraph.graph_jit(lambda x: special.erfinv(x) + special.digamma(x))

    @njit
    def caller(x):
        return function(x)

    inside = np.abs(np.tanh(W))
    with emitting_for(Target("x86_64-unknown-linux-gnu", "x86-64-v2")):  # without FMA, where they are SciPy's own
        np.testing.assert_allclose(caller(inside), special.erfinv(inside) + special.digamma(inside))


def test_wrong_arguments():
    with pytest.raises(numba.TypingError, match="too many positional arguments"):
        njit(lambda x: total(x, x))(W)
    with pytest.raises(numba.TypingError, match="unicode_type is not supported"):
        njit(lambda: total("a"))()
    function = numbagraph.graph_jit(lambda x: x, backend="numpy")
    with pytest.raises(numba.TypingError, match="backend='numpy'"):
        njit(lambda x: function(x))(W)


def test_errors_of_tracing_are_errors_of_typing():
    function = numbagraph.graph_jit(lambda x: x if x > 0 else -x, convert=False)
    with pytest.raises(numba.TypingError, match="the truth of a traced array"):
        njit(lambda x: function(x))(1.0)


def test_errors_at_run_time():
    with pytest.raises(ValueError, match=r"affine .*operands could not be broadcast(.|\n)*test_njit.py:\d+"):
        jitted_affine(W, W[:2])
    take = numbagraph.graph_jit(lambda x, i: (x * 2, x[i] * 2))

    @njit
    def caller(x, i):
        return take(x, i)

    np.testing.assert_array_equal(caller(W, np.array([1, -1]))[1], W[[1, -1]] * 2)
    count = 10
    with lost_allocations() as lost:
        for _ in range(count):
            with pytest.raises(IndexError, match="out of bounds"):
                caller(W, np.array([1, 7]))
    # Numba itself forgets references to the two arguments when an error leaves a function; the results are freed.
    assert max(lost.values()) <= 2 * count


def test_errors_can_be_caught():
    @njit
    def caller(x, y):
        try:
            return affine(x, y)
        except Exception:  # noqa: BLE001  Numba knows no other
            return np.zeros(1)

    np.testing.assert_array_equal(caller(W, W[:2]), np.zeros(1))


def test_memory_is_freed():
    both = numbagraph.graph_jit(lambda x: (x + 1, (x * 2, x * 2), np.sum(x)))

    @njit
    def caller(x, count):
        result = 0.0
        for _ in range(count):
            first, (second, third), number = both(x)
            result += first[0] + second[0] + third[0] + number
        return result

    caller(W, 1)
    with lost_allocations() as lost:
        caller(W, 1000)
    assert not any(lost.values())


def test_type():
    assert numba.typeof(total) is numba.typeof(total)
    assert numba.typeof(total) != numba.typeof(affine)
    assert isinstance(numba.typeof(total), types.Callable)
    assert pickle.loads(pickle.dumps(numba.typeof(intrinsics.expm1))) != numba.typeof(total)


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=300)


def test_numba_is_not_imported():
    result = run("-c", "import sys, numbagraph; assert not [each for each in sys.modules if each == 'numba']")
    assert result.returncode == 0, result.stderr


def test_what_numba_keeps_follows_from_other_files(tmp_path):
    """A caller on disk is compiled anew when the file of a graph function has changed, or that of what it calls."""
    caller = """
        import numba, numpy as np
        from graphs import f

        @numba.njit(cache=True)
        def inner(x):
            return f(x)

        @numba.njit(cache=True)
        def outer(x):
            return inner(x)

        print(outer(np.ones(3)), len(outer.stats.cache_hits))
        """
    graphs = (
        "import numbagraph\nfrom helpers import total\n@numbagraph.graph_jit\ndef f(x):\n    return total(x) * {}\n"
    )
    helpers = "import numpy as np\ndef total(x):\n    return np.sum(x) + {}\n"

    def outcome(factor, added):
        for name, text in (("graphs", graphs.format(factor)), ("helpers", helpers.format(added))):
            path = tmp_path / f"{name}.py"
            if not path.exists() or path.read_text() != text:
                path.write_text(text)
        found = run(str(tmp_path / "caller.py"))
        assert found.returncode == 0, found.stderr
        return found.stdout.split()

    (tmp_path / "caller.py").write_text(textwrap.dedent(caller))
    assert outcome("2.0", 0) == ["6.0", "0"]
    assert outcome("2.0", 0) == ["6.0", "1"]
    assert outcome("30.0", 0) == ["90.0", "0"]
    assert outcome("30.0", 100) == ["3090.0", "0"]
    assert outcome("30.0", 100) == ["3090.0", "1"]


def test_caching_by_numba(tmp_path):
    """Code with a graph in it can be kept on disk. Code with an address in it cannot: Numba says so and goes on."""
    module = """
        import warnings
        import numba, numpy as np, numbagraph

        data = np.arange(3.0)
        plain = numbagraph.graph_jit(lambda x: np.sum(x * x))
        captures = numbagraph.graph_jit(lambda x: np.sum(x * data))
        external = numbagraph.graph_jit(lambda x: np.max(np.outer(x, x) @ np.outer(x, x)))

        @numba.njit(cache=True)
        def cached(x):
            return plain(x), numbagraph.intrinsics.expm1(x[0])

        @numba.njit(cache=True)
        def with_data(x):
            return captures(x)

        @numba.njit(cache=True)
        def with_address(x):
            return external(x)

        @numba.njit(cache=True)
        def with_argument(function, x):
            return function(x)

        x = np.full(3, 0.5)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            results = cached(x), with_data(x), with_address(x), with_argument(plain, x)
        hits = [len(each.stats.cache_hits) for each in (cached, with_data, with_address, with_argument)]
        refused = [name for name in ("with_data", "with_address", "with_argument")
                   if any(f'"{name}" as it uses dynamic globals' in str(each.message) for each in caught)]
        print(results, hits, refused)
        """
    path = tmp_path / "module.py"
    path.write_text(textwrap.dedent(module))
    first, second = run(str(path)), run(str(path))
    refused = "['with_data', 'with_address', 'with_argument']"
    assert first.stdout.endswith(f"[0, 0, 0, 0] {refused}\n"), first.stderr
    assert second.stdout.endswith(f"[1, 0, 0, 0] {refused}\n"), second.stderr
    assert first.stdout.split("[")[0] == second.stdout.split("[")[0]
