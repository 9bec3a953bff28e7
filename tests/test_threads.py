"""Parallel functions: the same results for any number of threads, and never more of them than were allowed."""

import ctypes
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import dask
import joblib
import numpy as np
import pytest

import numbagraph as ng
from numbagraph import grad, graph_jit, value_and_grad
from numbagraph.op import registry
from numbagraph.runtime.threads import pool
from numbagraph.testing import assert_same, check_op, small_chunks

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
needs_tasks = pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="the system does not list threads")
many_threads = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

LONG = 300_000
THREADS = (1, 2, 3, 8)


def chain(x):
    return np.exp(-(x**2)) * np.tanh(x) + np.log1p(x * x)


def summary(x):
    return np.sum(chain(x)), np.mean(x), np.max(x), np.argmin(np.sin(x))


@graph_jit(parallel=True)
def model(x):
    return np.sum(chain(x)), chain(x)


def numbers(n, seed=0):
    return np.random.default_rng(seed).normal(size=n)


@pytest.fixture
def many():
    """As many threads as the tests ask for, on any machine, and new ones: those that there are wait for ever."""
    made = pool.get()
    made.after_fork()
    made._set_follow_numba(None)  # another test may have started Numba's threads, of which there are as many as cores
    made._set_numba_limit(None)
    made.set_limit(max(THREADS))
    yield
    made.after_fork()
    made._set_follow_numba(ctypes.cast(made._callback, ctypes.c_void_p))


def at_most(threads, f, *args):
    with ng.threads(threads):
        pool.get().set_limit(threads)
        return f(*args)


def cut(function, **options):
    """A parallel function whose loops are cut as finely as can be."""
    f = graph_jit(function, parallel=True, cache=False, **options)

    def call(*args, **kwargs):
        with small_chunks():
            return f(*args, **kwargs)

    return call


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


@pytest.mark.parametrize("name", [op.name for op in registry if op.kind not in ("elementwise", "composite")])
def test_ops_in_chunks(name):
    with small_chunks():
        assert check_op(registry[name], np.float64, parallel=True, cache=False) >= 0


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

    assert Model().energy.parallel
    assert Model().energy(np.ones(3)) == 6.0
    assert pickle.loads(pickle.dumps(model)).parallel
    assert not graph_jit(chain).parallel


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
    embedding = next(iter(f._embedded.values()))
    assert not any(version.parallel for version in embedding.versions)


def test_limits():
    for wrong, error in ((0, ValueError), (-1, ValueError), (1.5, TypeError), ("2", TypeError)):
        with pytest.raises(error), ng.threads(wrong):
            pass
    with ng.threads(np.int64(2)):
        pass


# ---- the pool ----


class Meeting:
    """Runs a task that waits until it is on a given number of threads at the same time."""

    def __init__(self, threads):
        self.barrier = threading.Barrier(threads)
        self.met = []
        self.task = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.attend)
        self.run = pool.get().part.function("run", None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)

    def attend(self, _):
        self.met.append(threading.get_ident())
        self.barrier.wait(60)

    def hold(self, parts):
        self.run(ctypes.cast(self.task, ctypes.c_void_p), None, parts)
        return self.met


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("threads", [1, 2, 5, 8])
def test_as_many_threads_as_there_may_be(threads):
    with ng.threads(threads):
        pool.get().set_limit(threads)
        for _ in range(20):
            met = Meeting(threads).hold(100)
            assert len(set(met)) == len(met) == threads
    assert pool.get().count_helpers() == threads - 1


@pytest.mark.usefixtures("many")
def test_no_more_threads_than_there_are_chunks():
    assert len(Meeting(3).hold(3)) == 3
    assert pool.get().count_helpers() == 2


@pytest.mark.usefixtures("many")
def test_a_lower_limit_holds_for_helpers_that_exist():
    assert len(Meeting(8).hold(100)) == 8
    for _ in range(50):
        pool.get().set_limit(2)
        assert len(Meeting(2).hold(100)) == 2


@pytest.mark.usefixtures("many")
def test_helpers_that_come_late_are_no_more_than_may_be():
    """The first region of each round is over before its helpers have woken."""
    for _ in range(100):
        pool.get().set_limit(8)
        region, met = Meeting(1), []
        region.hold(100)
        pool.get().set_limit(2)
        region.task = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: met.append(time.sleep(0.001)))  # noqa: B023
        region.hold(100)
        assert len(met) <= 2


@pytest.mark.usefixtures("many")
def test_a_region_inside_of_a_region_has_one_thread():
    inner, met = [], Meeting(4)
    pool.get().set_limit(4)

    def attend(_):
        met.barrier.wait(60)
        inner.append((threading.get_ident(), Meeting(1).hold(100)))

    met.task = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(attend)
    met.hold(100)
    assert len(inner) == 4
    assert all(found == [ident] for ident, found in inner)


@pytest.mark.usefixtures("many")
def test_callers_on_several_threads():
    """One has the helpers; the others go on alone, and nobody waits for another."""
    f, x = cut(summary), numbers(3000)
    expected, failures = f(x), []
    start = threading.Barrier(6)

    def work():
        start.wait()
        for _ in range(200):
            if f(x) != expected:
                failures.append(threading.get_ident())

    callers = [threading.Thread(target=work) for _ in range(6)]
    with small_chunks():
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
    assert not failures
    assert pool.get().count_helpers() == max(THREADS) - 1


# ---- processes ----


def python(code, **environment):
    """What a new Python process prints."""
    settings = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)} | environment
    command = [sys.executable, "-W", "error", "-c", "import os, sys, numpy as np, numbagraph as ng\n" + code]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=settings, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


PROGRAM = """
def threads(): return len(os.listdir("/proc/self/task"))
before = threads()
f = ng.graph_jit(lambda x: np.sum(np.sqrt(x * x + 1)), parallel={parallel})
x = np.ones(1_000_000)
f(x[:100])
short = threads() - before
{setting}
    for _ in range(5): f(x)
print(short, threads() - before, "numba" in sys.modules)
"""


@needs_tasks
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"NUMBA_NUM_THREADS": "3"}, "0 2 False"),
        ({"NUMBA_NUM_THREADS": "1"}, "0 0 False"),
        ({"NUMBA_NUM_THREADS": "4", "setting": "with ng.threads(2):"}, "0 1 False"),
        ({"NUMBA_NUM_THREADS": "4", "setting": "with ng.threads(2), ng.threads(3):"}, "0 1 False"),
        ({"NUMBA_NUM_THREADS": "2", "setting": "with ng.threads(5):"}, "0 1 False"),
        ({"NUMBA_NUM_THREADS": "4", "parallel": False}, "0 0 False"),
    ],
)
def test_threads_of_a_process(settings, expected):
    code = {"setting": "if True:", "parallel": True} | settings
    number = code.pop("NUMBA_NUM_THREADS")
    assert python(PROGRAM.format(**code), NUMBA_NUM_THREADS=number, OPENBLAS_NUM_THREADS="1") == expected


NUMBA = """
f = ng.graph_jit(lambda x: np.sum(np.sqrt(x * x + 1)), parallel=True)
x = np.ones(1_000_000)
from numbagraph.runtime.threads import pool
if {before}: f(x[:100])
import numba
numba.set_num_threads({count})
for _ in range(5): f(x)
print(pool.get().count_helpers())
"""


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_numbas_mask_is_respected(before, count):
    code = NUMBA.format(before=before, count=count)
    settings = {"NUMBA_NUM_THREADS": "4", "NUMBA_THREADING_LAYER": "workqueue"}
    assert python(code, **settings) == str(count - 1)


BESIDE_NUMBA = """
import threading, numba
@numba.njit(parallel=True, nogil=True)
def total(x):
    result = 0.0
    for i in numba.prange(len(x)):
        result += x[i]
    return result
f = ng.graph_jit(lambda x: np.sum(np.sqrt(x * x + 1)), parallel=True)
x = np.ones(500_000)
total(x), f(x)
def repeat():
    for _ in range(30): total(x)
other = threading.Thread(target=repeat)
other.start()
while other.is_alive(): f(x)
print("fine")
"""


def test_beside_parallel_code_of_numba():
    """Numba's own threads, which two callers must not use at the same time with this layer, are none of ours."""
    assert python(BESIDE_NUMBA, NUMBA_NUM_THREADS="2", NUMBA_THREADING_LAYER="workqueue") == "fine"


NO_THREADS = """
import resource
f = ng.graph_jit(lambda x: np.sum(np.sqrt(x * x + 1)), parallel=True)
x = np.ones(1_000_000)
with ng.threads(1): expected = f(x)
resource.setrlimit(resource.RLIMIT_AS, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,) * 2)
from numbagraph.runtime.threads import pool
print(f(x) == expected, pool.get().count_helpers())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
def test_where_no_thread_can_be_started():
    """A thread needs memory for its stack."""
    assert python(NO_THREADS, NUMBA_NUM_THREADS="4") == "True 0"


def test_parallel_and_other_functions_have_entries_of_their_own_in_the_cache(tmp_path):
    code = """
f = ng.graph_jit(lambda x: np.sum(x * x), parallel={0})
f(np.ones(10))
print(*f.cache_info()[1:])
"""
    settings = {"NUMBAGRAPH_CACHE_DIR": str(tmp_path / "cache")}
    for parallel in (False, True):
        assert python(code.format(parallel), **settings) == "1 0"
        assert python(code.format(parallel), **settings) == "0 1"


@needs_fork
@many_threads
@pytest.mark.usefixtures("many")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
def test_children_of_fork_have_threads_of_their_own():
    f, x = cut(summary), numbers(3000)
    expected = f(x)
    stop = threading.Event()

    def keep_calling():
        while not stop.is_set():
            f(x)

    other = threading.Thread(target=keep_calling)
    other.start()  # a child may be forked in the middle of a region
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                pool.get().set_limit(4)
                good = pool.get().count_helpers() == 0 and f(x) == expected and len(Meeting(4).hold(9)) == 4
                os._exit(0 if good and f(x) == expected else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert f(x) == expected
    finally:
        stop.set()
        other.join()


def call_model(n):
    return model(numbers(n))


@many_threads
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_parallel_functions_travel_to_other_processes(method):
    expected = call_model(LONG)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as processes:
        for found in processes.map(call_model, [LONG] * 4):
            assert_same(found, expected)


@many_threads
@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
def test_joblib(backend):
    expected = call_model(LONG)
    for found in joblib.Parallel(n_jobs=4, backend=backend)(joblib.delayed(call_model)(LONG) for _ in range(8)):
        assert_same(found, expected)


@many_threads
@pytest.mark.parametrize("scheduler", ["threads", "processes", "synchronous"])
def test_dask(scheduler):
    expected = call_model(LONG)
    for found in dask.compute(*[dask.delayed(call_model)(LONG) for _ in range(8)], scheduler=scheduler):
        assert_same(found, expected)


def test_thread_pools():
    with ThreadPoolExecutor(8) as callers:
        expected = call_model(LONG)
        for found in callers.map(call_model, [LONG] * 16):
            assert_same(found, expected)
