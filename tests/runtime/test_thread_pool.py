"""Threads: never more of them than were allowed, in any thread or process."""

import ctypes
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import dask
import joblib
import pytest

import numbagraph as ng
from numbagraph.runtime.threads import pool
from numbagraph.testing import assert_same, small_chunks
from tests.support.parallel_functions import LONG, THREADS, Meeting, call_model, cut, numbers, summary

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
needs_tasks = pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="the system does not list threads")
many_threads = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


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
