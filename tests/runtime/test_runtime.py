"""Compiled functions among threads and processes, over many calls, and with any cache directory."""

import contextlib
import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
import warnings
import weakref
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from numbagraph import grad, graph_jit
from numbagraph.runtime.cache import CacheWarning
from tests.support.tally import Tally

X = np.linspace(0.1, 1, 20)

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
many_threads = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


@graph_jit
def model(x, scale=2.0):
    return np.sum(np.exp(-((x / scale) ** 2)))


def expected_model(x, scale=2.0):
    return np.sum(np.exp(-((x / scale) ** 2)))


# ---- threads ----


def racer(attempt):
    traced = Tally()

    def function(x):
        traced.step()
        return x * attempt + np.sum(x)

    return graph_jit(function), traced


def run_together(f, barrier, number):
    barrier.wait()
    return f(np.arange(2.0, 10 + number))


def test_the_first_call_races():
    """Every thread makes the first call of every function; each is traced and compiled once a version."""
    for attempt in range(5):
        f, traced = racer(attempt)
        barrier = threading.Barrier(8)
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda number: run_together(f, barrier, number), range(8)))  # noqa: B023
        for number, result in enumerate(results):
            x = np.arange(2.0, 10 + number)
            np.testing.assert_array_equal(result, x * attempt + np.sum(x))
        assert len(traced) == 1


def test_threads_call_one_function_with_many_keys():
    f = graph_jit(lambda x, y: x * 2 + y)
    failures = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(300):
            dtype = rng.choice(["f4", "f8", "i4", "c16"])
            shape = tuple(rng.integers(0, 4, rng.integers(0, 3)))
            x, y = rng.random(shape).astype(dtype), np.float32(rng.random())
            if not np.array_equal(f(x, y), x * 2 + y):
                failures.append((dtype, shape))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_long_calls_release_the_gil():
    """Another thread makes progress while a call runs; in a call that held the GIL it could not."""
    f = graph_jit(lambda x: np.sum(np.sin(np.exp(np.cos(x * x)))))
    x = np.random.default_rng(0).random(3_000_000)
    f(x)
    ticks, running = 0, True

    def count():
        nonlocal ticks
        while running:
            ticks += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # no one is made to give the GIL away
    try:
        thread.start()
        before = ticks
        for _ in range(100):  # a busy machine may not give the other thread a core at once
            f(x)
            if ticks - before > 10:
                break
        progress = ticks - before
    finally:
        running = False
        sys.setswitchinterval(interval)
        thread.join()
    assert progress > 10


# ---- processes ----


def run_model(x):
    return float(model(x))


@needs_fork
@many_threads
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
def test_compiled_functions_survive_fork():
    f = graph_jit(lambda x: x + 1)
    f(X)
    child = os.fork()
    if child == 0:
        new = graph_jit(lambda x: x * 3 + 1)
        good = (
            np.array_equal(f(X), X + 1) and np.array_equal(f(X[::2]), X[::2] + 1) and np.array_equal(new(X), X * 3 + 1)
        )
        os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    np.testing.assert_array_equal(f(X), X + 1)


@many_threads
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_functions_travel_to_other_processes(method):
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert pool.submit(model, X).result() == pytest.approx(expected_model(X), rel=1e-14)
        assert pool.submit(run_model, X).result() == pytest.approx(expected_model(X), rel=1e-14)


def python(code, **environment):
    """What a new Python process prints."""
    settings = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)} | environment
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=settings)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


FORK_DURING_IMPORT = """
import os, sys, threading, time
import numbagraph
import numbagraph.intrinsics
from numbagraph.ir.op import load, registry

module, expression = sys.argv[1:]
assert module not in sys.modules
begun, code = threading.Event(), compile(expression, "expression", "eval")

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            begun.set()
            time.sleep(0.2)

sys.meta_path.insert(0, Slow())
thread = threading.Thread(target=eval, args=(code, globals()))
thread.start()
assert begun.wait(30)
child = os.fork()
if not child:
    eval(code)
    os._exit(0)
thread.join()
for _ in range(1000):
    found, status = os.waitpid(child, os.WNOHANG)
    if found:
        sys.exit(os.waitstatus_to_exitcode(status))
    time.sleep(0.01)
os.kill(child, 9)
sys.exit("the child hangs")
"""


@needs_fork
@pytest.mark.parametrize(
    ("module", "expression"),
    [
        ("api.loops", "numbagraph.scan"),
        ("api.jacobians", "numbagraph.hessian"),
        ("random", "numbagraph.random"),
        ("ops.control.scan", "registry['scan']"),
        ("emit.timed", "load('numbagraph.emit.timed:__name__')"),
        ("intrinsics.emitters.special_formulas", "numbagraph.intrinsics.emitters.special_formulas"),
    ],
)
def test_a_child_imports_what_a_thread_was_importing(module, expression):
    """Python leaves such a module locked in the child."""
    call = [sys.executable, "-W", "ignore", "-c", FORK_DURING_IMPORT, f"numbagraph.{module}", expression]
    done = subprocess.run(call, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


PROGRAM = """
import numpy as np
from numbagraph import graph_jit, value_and_grad
def f(x, y):
    return np.sum(np.exp(x) * y)
g = graph_jit(value_and_grad(f))
x = np.arange(4.0)
value, gradient = g(x, 3.0)
assert np.allclose(gradient, 3 * np.exp(x))
info = g.cache_info()
print(info.compiled, info.found)
"""


def test_a_second_process_compiles_nothing(tmp_path):
    directory = str(tmp_path / "cache")
    assert python(PROGRAM, NUMBAGRAPH_CACHE_DIR=directory) == "1 0"
    assert python(PROGRAM, NUMBAGRAPH_CACHE_DIR=directory) == "0 1"
    renamed = PROGRAM.replace("(x, y)", "(data, factor)").replace("np.exp(x) * y", "np.exp(data) * factor")
    assert python(renamed, NUMBAGRAPH_CACHE_DIR=directory) == "0 1", "names of arguments do not matter"
    other = PROGRAM.replace("3.0", "3").replace("np.exp(x) * y", "np.exp(x) * y * 1")
    assert python(other, NUMBAGRAPH_CACHE_DIR=directory) == "1 0", "the types of arguments do"


def test_hash_seeds_do_not_matter(tmp_path):
    directory = str(tmp_path / "cache")
    found = [python(PROGRAM, NUMBAGRAPH_CACHE_DIR=directory, PYTHONHASHSEED=seed) for seed in ("1", "2", "3")]
    assert found == ["1 0", "0 1", "0 1"]


def test_processes_that_start_together_share_a_cache(tmp_path):
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: python(PROGRAM, NUMBAGRAPH_CACHE_DIR=str(tmp_path / "cache")), range(4)))
    assert set(found) <= {"1 0", "0 1"}
    assert not list(tmp_path.rglob("*.part"))


# ---- the cache directory ----


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    directory = tmp_path / "cache"
    monkeypatch.setenv("NUMBAGRAPH_CACHE_DIR", str(directory))
    return directory


def fresh():
    return graph_jit(lambda x: np.sum(x * 1.25))


def test_a_damaged_cache_is_repaired(own_cache):
    fresh()(X)
    for path in own_cache.glob("*.bin"):
        path.write_bytes(path.read_bytes()[:-3])
    with pytest.warns(CacheWarning, match="damaged") as caught:
        assert fresh()(X) == np.sum(X * 1.25)
    assert len(caught) == 1
    f = fresh()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(X)
    assert f.cache_info().found == 1


def test_a_cache_that_cannot_be_written_is_done_without(own_cache):
    own_cache.write_text("a file in the way")
    f = fresh()
    with pytest.warns(CacheWarning):
        assert f(X) == np.sum(X * 1.25)
    assert f.cache_info().compiled == 1


def test_no_cache(own_cache, monkeypatch):
    f = graph_jit(lambda x: x * 1.75, cache=False)
    np.testing.assert_array_equal(f(X), X * 1.75)
    monkeypatch.setenv("NUMBAGRAPH_CACHE", "0")
    np.testing.assert_array_equal(graph_jit(lambda x: x * 1.5)(X), X * 1.5)
    assert not list(own_cache.glob("*.bin"))


# ---- checks that the environment asks for ----


@pytest.mark.parametrize("level", ["1", "2"])
def test_checked_runs(level, monkeypatch):
    monkeypatch.setenv("NUMBAGRAPH_CHECK", level)
    monkeypatch.setenv("NUMBAGRAPH_CACHE", "0")
    f = graph_jit(grad(lambda x: np.sum(np.log(1 + np.exp(x)) * x) / np.mean(x)))
    for n in (5, 6):
        assert f(X[:n]).shape == (n,)


# ---- memory ----


def leaking(function, *arguments, calls):
    """Blocks of memory that Python gains over many calls."""

    def call():
        with contextlib.suppress(ValueError, IndexError, TypeError):
            function(*arguments)

    for _ in range(300):  # NumPy and Python keep a few hundred blocks for later
        call()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(calls):
        call()
    gc.collect()
    return sys.getallocatedblocks() - before


PATHS = {
    "success": (lambda x: x + 1, (X,), {}),
    "tree": (lambda x: {"a": x[0] + 1, "b": [x[1]]}, ([X, 2.0],), {}),
    "static": (lambda x, n: x * n, (X, 3000), {"static_argnames": "n"}),  # of small integers there is one for all tests
    "captured": (lambda x: x + X, (X,), {}),
    "guard": (lambda x, y: x + y, (X, X[:5]), {}),
    "index": (lambda x, i: x[i], (X, np.array([0, 99])), {}),
    "refused": (lambda x: x + 1, (np.array(["a"]),), {}),
    "failing trace": (lambda x: float(x[0]), (X,), {}),
    "interpreted": (lambda x: x + 1, (X,), {"backend": "numpy"}),
}


@pytest.mark.repeats(but_each=4)
@pytest.mark.parametrize("path", PATHS)
def test_calls_do_not_leak(path):
    function, arguments, options = PATHS[path]
    compiled = graph_jit(function, **options)
    counts = [sys.getrefcount(each) for each in arguments]
    assert leaking(compiled, *arguments, calls=1500) < 750  # a leak would be 1500 or more
    for each, count in zip(arguments, counts, strict=True):
        assert abs(sys.getrefcount(each) - count) < 10


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no measure of resident memory on this system")
def test_a_million_calls_stay_in_memory():
    f = graph_jit(lambda x, i: (x * 2 + 1, np.sum(x[i])))
    x, good, bad = np.ones(1000), np.arange(5), np.array([5000])

    def fail():
        with pytest.raises(IndexError):
            f(x, bad)

    for _ in range(200):
        f(x, good)
        fail()
    before = resident()
    for _ in range(1_000_000):
        f(x, good)
    for _ in range(1000):
        fail()
    assert resident() - before < 4 * 2**20


def test_functions_are_freed():
    def make():
        data = np.ones(1000)
        f = graph_jit(lambda x: x + data)
        f(np.ones(1000))
        return weakref.ref(f), weakref.ref(data)

    references = make()
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_arguments_are_not_kept():
    f = graph_jit(lambda x: {"y": x * 2})
    x = np.ones(10)
    reference = weakref.ref(x)
    f(x)
    del x
    assert reference() is None


def test_instances_are_freed_with_their_methods():
    class Model:
        def __init__(self):
            self.data = np.ones(10)

        @graph_jit
        def predict(self, x):
            return x + self.data

    instance = Model()
    np.testing.assert_array_equal(instance.predict(np.ones(10)), 2 * np.ones(10))
    reference = weakref.ref(instance)
    del instance
    gc.collect()
    assert reference() is None


def test_versions_of_a_pickled_function_are_found_on_disk(own_cache):
    model(X)
    again = pickle.loads(pickle.dumps(model))
    assert again(X) == pytest.approx(expected_model(X), rel=1e-14)
