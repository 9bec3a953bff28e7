"""The memory of temporaries and of large results, which is kept from one call to the next."""

import ctypes
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from numpy._core.multiarray import get_handler_name

import numbagraph as ng
from numbagraph import graph_jit
from numbagraph.ir.op import registry
from numbagraph.runtime.memory import LARGE_BYTES, Handler, kept_bytes, pool
from numbagraph.runtime.objects import object_symbols
from numbagraph.tracing.tracer import apply


@graph_jit
def with_temporaries(x):
    return np.sum(np.cumsum(x)[::-1] * x)


def expected_sum(x):
    return pytest.approx(np.sum(np.cumsum(x)[::-1] * x), rel=1e-12)


def test_temporaries_are_kept_for_the_next_call():
    ng.release_memory()
    assert kept_bytes() == 0
    x = np.ones(100_000)
    for _ in range(3):
        assert with_temporaries(x) == expected_sum(x)
        assert kept_bytes() == x.nbytes
    assert with_temporaries(x[:70_000]) == expected_sum(x[:70_000])
    assert kept_bytes() == x.nbytes, "a block that is not much too large is taken"
    assert with_temporaries(x[:30_000]) == expected_sum(x[:30_000])
    assert kept_bytes() == x.nbytes + 8 * 30_000
    ng.release_memory()
    assert kept_bytes() == 0


scatter_add = partial(apply, registry["scatter_add"])


def scattered(values, places):
    if not isinstance(values, np.ndarray):
        return scatter_add(values, places, (values.size,))
    total = np.zeros_like(values)
    np.add.at(total, places, values)
    return total


READ_BEHIND_STORES = {
    "places": lambda steps, x: (np.tanh(x), scattered(x, np.cumsum(steps).astype(int))),
    "places that wait": lambda steps, x: (np.exp(x), scattered(np.exp(x), np.cumsum(steps).astype(int))),
    "places and values": lambda steps, x: (np.cumsum(steps) + 1, scattered(x, np.cumsum(steps).astype(int))),
    "largest": lambda steps, x: (np.cumsum(x) + 1, np.argmax(np.cumsum(x) * steps)),
    "smallest": lambda steps, x: (np.cumsum(x) + 1, np.argmin(np.cumsum(x) * x)),
}


@pytest.mark.parametrize("name", READ_BEHIND_STORES)
@pytest.mark.parametrize("length", [4, 40, 3000])
def test_a_temporary_that_is_read_behind_stores_has_memory_of_its_own(name, length):
    rng = np.random.default_rng(2)
    for _ in range(5):
        steps, x = rng.integers(0, 2, length).astype(float), rng.normal(size=length)
        steps[0] = 0
        function = READ_BEHIND_STORES[name]
        for found, expected in zip(graph_jit(function)(steps, x), function(steps, x), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_small_temporaries_are_not_kept():
    ng.release_memory()
    with_temporaries(np.ones(1000))
    assert kept_bytes() == 0


def test_the_bound_of_what_is_kept(monkeypatch):
    monkeypatch.setenv("NUMBAGRAPH_POOL_BYTES", str(2_000_000))
    ng.release_memory()
    for n in (20_000, 50_000, 110_000, 240_000, 20_000, 500_000, 110_000):
        x = np.ones(n)
        assert with_temporaries(x) == expected_sum(x)
        assert kept_bytes() <= 2_000_000
    monkeypatch.setenv("NUMBAGRAPH_POOL_BYTES", "0")
    ng.release_memory()
    with_temporaries(np.ones(100_000))
    assert kept_bytes() == 0
    monkeypatch.delenv("NUMBAGRAPH_POOL_BYTES")
    ng.release_memory()


def test_temporaries_of_many_threads():
    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(50):
            x = rng.random(int(rng.integers(1, 60_000)))
            if with_temporaries(x) != expected_sum(x):
                return False
        return True

    with ThreadPoolExecutor(6) as threads:
        assert all(threads.map(work, range(6)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning", "ignore:os.fork:RuntimeWarning")
def test_temporaries_after_fork():
    x = np.ones(100_000)
    expected = with_temporaries(x)
    child = os.fork()
    if child == 0:
        good = with_temporaries(x) == expected and kept_bytes() > 0
        ng.release_memory()
        os._exit(0 if good and kept_bytes() == 0 and with_temporaries(x) == expected else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert with_temporaries(x) == expected


PAGES = """
import resource, numpy as np, numbagraph as ng
f = ng.graph_jit({})
x = np.ones(5_000_000)
f(x)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5): f(x)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts page faults as Linux does")
@pytest.mark.parametrize("function", ["lambda x: np.sum(np.cumsum(x)[::-1] * x)", "lambda x: x + 1"])
def test_large_memory_is_not_paged_in_again(function):
    """New memory of this size costs some 10,000 page faults a call, or 20 of huge pages."""
    settings = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", PAGES.format(function)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=settings)
    assert int(done.stdout) < 50


def test_no_memory_for_temporaries():
    with pytest.raises(MemoryError):
        graph_jit(lambda x: np.sum(np.cumsum(np.broadcast_to(x, (2**44, 8)), axis=1)[::-1]))(1.0)


# ---- large results ----


@graph_jit
def twice(x):
    return x * 2, x[: x.size // 2]


LARGE = LARGE_BYTES // 8


def test_large_results_are_in_the_memory_of_the_pool():
    ng.release_memory()
    x = np.ones(LARGE + 1)
    for _ in range(3):
        large, small = twice(x)
        assert [get_handler_name(each) for each in (large, small)] == ["numbagraph", "default_allocator"]
        assert get_handler_name(np.ones(LARGE)) == "default_allocator"
        np.testing.assert_array_equal(large, 2.0)
        address = large.ctypes.data
        del large
        assert kept_bytes() == x.nbytes
    large, _ = twice(x)
    assert large.ctypes.data == address
    ng.release_memory()
    np.testing.assert_array_equal(large, 2.0)


def test_large_results_change_their_length():
    ng.release_memory()
    large, _ = twice(np.ones(LARGE))
    for n in (LARGE + 1000, 1000, LARGE):
        kept = min(n, large.size)
        large.resize(n, refcheck=False)
        np.testing.assert_array_equal(large[:kept], 2.0)
        np.testing.assert_array_equal(large[kept:], 0.0)


def test_large_results_after_the_modules_are_gone():
    code = "import numpy as np, numbagraph as ng, sys\nsys.kept = ng.graph_jit(lambda x: x * 2)(np.ones(5_000_000))"
    settings = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, env=settings)


def test_a_result_that_is_larger_than_any_memory():
    with pytest.raises((MemoryError, ValueError)):
        graph_jit(lambda x: np.broadcast_to(x, (2**44, 8)) + 1)(1.0)


def test_an_allocator_that_someone_else_has_set_is_left_alone():
    functions = {name: pool.get().part.address(f"array_{name}") for name in ("malloc", "calloc", "realloc", "free")}
    set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(object_symbols()["PyDataMem_SetHandler"])
    before = set_handler(Handler(name=b"someone's", version=1, **functions).in_capsule())
    try:
        assert get_handler_name(twice(np.ones(LARGE))[0]) == get_handler_name() == "someone's"
    finally:
        set_handler(before)
    assert get_handler_name() == "default_allocator"
