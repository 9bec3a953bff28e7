"""Parallel functions: the same results for any number of threads, and never more of them than were allowed."""

import ctypes
import os
import pickle

import numpy as np
import pytest

import numbagraph as ng
from numbagraph import grad, graph_jit, value_and_grad
from numbagraph.ir.op import registry
from numbagraph.ir.types import FLOAT64
from numbagraph.runtime import math_library
from numbagraph.testing import assert_same, check_op, small_chunks
from numbagraph.testing.checks import Checker
from numbagraph.testing.op_calls import accepted
from tests.support.parallel_functions import LONG, THREADS, at_most, chain, cut, model, numbers, positive, summary

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
needs_tasks = pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="the system does not list threads")
many_threads = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

# ---- values ----

MAPS = {
    "chain": (chain, numbers(1000)),
    "flattened": (lambda x: np.sqrt(np.abs(x)) + 1, numbers(1000).reshape(10, 100)),
    "strided": (lambda x: x * 2 + 1, numbers(1000).reshape(50, 20)[::2, ::3]),
    "rows": (lambda x: x - x.max(axis=1, keepdims=True), numbers(1000).reshape(50, 20)),
    "rows together": (lambda x: ng.special.softmax(x, axis=1), numbers(1000).reshape(50, 20)),
    "running along rows": (lambda x: np.cumsum(x, axis=1), numbers(1000).reshape(50, 20)),
    "running down": (lambda x: np.cumsum(x, axis=0), numbers(1000).reshape(50, 20)),
    "joined": (lambda x: np.concatenate([x, x[::-1], np.zeros(7)]), numbers(100)),
    "padded": (lambda x: np.pad(x, 3), numbers(100)),
    "gathered": (lambda x: x[np.arange(99, -1, -1)] + x, numbers(100)),
    "two results": (lambda x: (x + 1, x * 2, x > 0), numbers(1000)),
    "boolean": (lambda x: (x > 0) & (x < 1), numbers(1000)),
    "complex": (lambda x: x * (1 + 2j), numbers(1000)),
    "factors": (np.linalg.cholesky, positive(61, 3)),
    "long factors": (np.linalg.cholesky, positive(9, 20)),
    "results that nobody wants": (lambda x: np.linalg.slogdet(x)[1], positive(61, 6)),
    "calls and nests": (lambda x: np.linalg.solve(2 * x, x.sum(-1, keepdims=True)) ** 2, positive(61, 4)),
    "one of two": (lambda x: np.linalg.solve(x[0], x[:, 0, :, None] + 1), positive(31, 4)),
    "several dimensions": (lambda x: np.linalg.inv(x.reshape(3, -1, 3, 3)), positive(60, 3)),
}


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("name", MAPS)
def test_maps_give_the_bits_of_one_thread(name):
    function, x = MAPS[name]
    expected = graph_jit(function)(x)
    f = cut(function)
    for threads in THREADS:
        assert_same(at_most(threads, f, x), expected)


REDUCTIONS = {
    "summary": (summary, numbers(5000)),
    "columns": (lambda x: (x.sum(0), np.exp(x).sum(0), x.max(0), x.sum(1)), numbers(6000).reshape(300, 20)),
    "middle": (lambda x: x.sum(axis=1), numbers(6000).reshape(20, 30, 10)),
    "outer axes": (lambda x: x.sum(axis=(0, 2)), numbers(6000).reshape(20, 30, 10)),
    "strided": (lambda x: (x.sum(), x.mean(axis=0), x.min(axis=1)), numbers(6000).reshape(60, 100)[::2, ::-3]),
    "single": (lambda x: np.sum(x, keepdims=True), numbers(5000)),
    "float32": (lambda x: (x.sum(), x.sum(axis=0)), numbers(6000).astype(np.float32).reshape(300, 20)),
    "complex": (lambda x: (x.sum(), x.sum(axis=0)), (numbers(6000) + 1j * numbers(6000, 1)).reshape(300, 20)),
    "integers": (lambda x: (x.sum(), x.prod(), x.max(axis=0)), np.arange(6000).reshape(300, 20)),
    "logic": (lambda x: (np.any(x > 3), np.all(x < 9, axis=0)), numbers(6000).reshape(300, 20)),
    "statistics": (lambda x: (np.std(x), np.var(x, axis=0), np.linalg.norm(x)), numbers(6000).reshape(300, 20)),
    "none": (lambda x: (x.sum(), x.sum(axis=1)), np.zeros((0, 3))),
}


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_have_the_same_bits_for_any_number_of_threads(name):
    function, x = REDUCTIONS[name]
    f = cut(function)
    first = at_most(1, f, x)
    for threads in THREADS:
        for _ in range(5):
            assert_same(at_most(threads, f, x), first)
    assert_same(first, graph_jit(function)(x), ulp=16, scale=float(np.abs(x).sum()))


@pytest.mark.usefixtures("many")
def test_long_arrays_have_the_same_bits_for_any_number_of_threads():
    f, x = graph_jit(summary, parallel=True), numbers(LONG)
    first = at_most(1, f, x)
    for threads in THREADS:
        for _ in range(3):
            assert_same(at_most(threads, f, x), first)
    assert_same(first[2:], graph_jit(summary)(x)[2:])


@pytest.mark.repeats(but_each=5)
@pytest.mark.parametrize("name", [op.name for op in registry if op.kind not in ("elementwise", "decomposition")])
def test_ops_in_chunks(name, extent):
    """Usually core ops have arrays in C order alone: a chunk is some of the matrices, whatever their layout is."""
    op, options = registry[name], {"parallel": True, "cache": False}
    with small_chunks():
        if op.kind == "core op" and extent != "all":
            for call in accepted(op, FLOAT64):
                Checker(call, "numba", **options).check(call.arrays, "C order")
        else:
            assert check_op(op, np.float64, sparing=extent != "all", **options) >= 0


def test_the_first_of_equal_extrema_is_found():
    f = cut(lambda x: (np.argmax(x), np.argmin(x)))
    for places in ([7, 900], [900, 901], [0, 999]):
        x = np.zeros(1000)
        x[places] = 1.0
        assert f(x) == (places[0], np.argmin(x))
        x[places] = np.nan
        assert f(x) == (places[0], places[0])
    assert f(np.zeros(1000)) == (0, 0)


def test_errors_of_rounding_are_carried_across_chunks():
    """All small terms would be lost beside the large one, which the last chunk takes away again."""
    f = cut(lambda x: np.sum(x))
    x = np.zeros(4000)
    x[100:-100] = 0.1
    x[0], x[-1] = 1e17, -1e17
    assert f(x) == pytest.approx(380.0, rel=1e-14)
    assert f(x + 1j * x) == pytest.approx(380.0 + 380.0j, rel=1e-14)
    x = np.zeros(2**19)
    begin = 48 * 2**11  # of a chunk of four blocks
    x[begin + 512 : begin + 1536] = 0.1
    x[begin + 10], x[begin + 2000] = 1e17, -1e17
    assert f(x) == pytest.approx(102.4, rel=1e-14)


def test_special_values_in_sums():
    f = cut(lambda x: np.sum(x))
    for values, expected in (((np.inf,), np.inf), ((np.inf, -np.inf), np.nan), ((np.nan,), np.nan)):
        x = np.ones(1000)
        x[:: 1000 // len(values)] = values
        assert_same(f(x), np.float64(expected))


def test_products_are_taken_in_order():
    """A partial product of the second half alone would be 0."""
    f = cut(np.prod)
    x = np.concatenate([np.full(100, 1e3), np.full(180, 1e-3)])
    assert f(x) == np.prod(x) > 0
    assert "a prod is taken in order" in graph_jit(np.prod, parallel=True).explain(x)


def test_what_may_not_be_cut():
    def scattered(x, i):
        y = x.copy()
        y[i] = x
        return y

    x, i = numbers(100), np.zeros(100, np.int64)
    assert "several iterations may write to one element" in graph_jit(scattered, parallel=True).explain(x, i)
    assert cut(scattered)(x, i)[0] == x[-1]
    note = "each iteration goes on from the one before"
    assert note in graph_jit(lambda x: np.cumsum(x), parallel=True).explain(x)
    note = "an iteration reads what another one has written"
    assert note in graph_jit(lambda x: np.cumsum(x, axis=0), parallel=True).explain(x.reshape(10, 10))


def test_lengths_change_without_recompilation():
    f = cut(lambda x: np.sum(x * x))
    for n in (0, 2, 3, 63, 64, 65, 511, 512, 513, 4000):
        x = np.arange(float(n))
        assert f(x) == np.sum(x * x)


def test_an_index_out_of_bounds():
    f = cut(lambda x, i: np.sum(x[i] * 2))
    x, i = numbers(100), np.arange(5000) % 100
    assert f(x, i) == pytest.approx(np.sum(x[i] * 2))
    for place in (0, 2500, 4999):
        wrong = i.copy()
        wrong[place] = 100
        with pytest.raises(IndexError, match="index 100 is out of bounds for axis 0 with size 100"):
            f(x, wrong)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("length", [3, 20])
def test_a_singular_matrix(length):
    f, matrices = cut(np.linalg.cholesky), positive(61, length)
    matrices[57, 0, 0] = -1.0
    for threads in THREADS:
        with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
            at_most(threads, f, matrices)
        assert_same(at_most(threads, f, matrices[:57]), graph_jit(np.linalg.cholesky)(matrices[:57]))


def test_calls_that_have_nothing_in_common_are_cut_each_by_itself():
    def function(x, y):
        return np.linalg.cholesky(x), np.linalg.cholesky(y), (x + y)[0, 0, 0]

    f, x = graph_jit(function, parallel=True), positive(61, 3)
    lines = f.llvm(x, x, optimised=False).splitlines()
    assert len([line for line in lines if line.startswith("define") and '.rows"' in line]) == 2


@pytest.mark.usefixtures("many")
def test_core_ops_are_loaded_by_any_thread(monkeypatch):
    """The caller waits for helpers, of which each may need Python's lock to load code."""
    monkeypatch.setattr(math_library.core_ops, "by_target", {})
    f, matrices = cut(lambda x: np.linalg.inv(x) + np.linalg.cholesky(x)), positive(600, 5)
    assert_same(at_most(8, f, matrices), graph_jit(lambda x: np.linalg.inv(x) + np.linalg.cholesky(x))(matrices))


def test_donated_memory():
    f = cut(lambda x, y: x * 2 + y, donate_argnames="x")
    x, y = numbers(1000), numbers(1000, 1)
    expected = x * 2 + y
    assert f(x, y) is x
    np.testing.assert_array_equal(x, expected)


# ---- options ----


def test_derivatives_and_functions_inside_of_others():
    inner = graph_jit(lambda x: np.sum(np.tanh(x) ** 2), parallel=True)
    outer = graph_jit(value_and_grad(lambda x: inner(x) * 2), parallel=True)
    x = numbers(LONG)
    value, gradient = outer(x)
    assert value == pytest.approx(2 * np.sum(np.tanh(x) ** 2), rel=1e-13)
    np.testing.assert_allclose(gradient, 4 * np.tanh(x) * (1 - np.tanh(x) ** 2), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(grad(inner)(x), gradient / 2, rtol=1e-13)


def test_methods_and_pickles_stay_parallel():
    class Model:
        scale = 2.0

        @graph_jit(parallel=True)
        def energy(self, x):
            return np.sum(x * self.scale)

    assert Model().energy.definition.parallel
    assert Model().energy(np.ones(3)) == 6.0
    assert pickle.loads(pickle.dumps(model)).definition.parallel
    assert not graph_jit(chain).definition.parallel


def test_explain_says_what_runs_on_threads():
    x = numbers(10)
    note = "several threads run parts of i0"
    assert note in graph_jit(chain, parallel=True).explain(x)
    assert note not in graph_jit(chain).explain(x)


def test_only_parallel_functions_call_the_pool():
    x = numbers(10)
    assert "numbagraph.threads" in graph_jit(chain, parallel=True).llvm(x)
    assert "numbagraph.threads" not in graph_jit(chain).llvm(x)


def test_callers_in_native_code_have_one_thread():
    """What they run their loops on is theirs to say."""
    f = graph_jit(lambda x: np.sum(x * 2), parallel=True)
    x, result = numbers(1000), np.empty(())
    prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
    assert prototype(f.address(x))(x.ctypes.data, 1000, result.ctypes.data) == 0
    assert result == pytest.approx(np.sum(x * 2))
    embedding = next(iter(f.native_callers.embedded.values()))
    assert not any(version.parallel for version in embedding.versions)


def test_limits():
    for wrong, error in ((0, ValueError), (-1, ValueError), (1.5, TypeError), ("2", TypeError)):
        with pytest.raises(error), ng.threads(wrong):
            pass
    with ng.threads(np.int64(2)):
        pass
