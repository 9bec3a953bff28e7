"""BLAS on one thread while it works on small matrices, and on as many as before afterwards."""

import ctypes
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.runtime.one_thread import one_thread, setting_of_blas

SETTING = setting_of_blas()
pytestmark = pytest.mark.skipif(not SETTING, reason="this BLAS is not OpenBLAS, or its library cannot be asked")

if SETTING:
    get_threads = ctypes.CFUNCTYPE(ctypes.c_int32)(SETTING["get_threads"])
    set_threads = ctypes.CFUNCTYPE(None, ctypes.c_int32)(SETTING["set_threads"])


@pytest.fixture(autouse=True)
def two_threads():
    before = get_threads()
    set_threads(2)
    yield
    set_threads(before)


def is_seen(threads, function, *arguments, seconds):
    """Whether BLAS may have so many threads at any time while a function, which gives up the GIL, is called again and
    again: a call of a few milliseconds may well be over before this thread runs once."""
    stop, seen = threading.Event(), False

    def call_on():
        while not stop.is_set():
            function(*arguments)

    worker, end = threading.Thread(target=call_on), time.monotonic() + seconds
    worker.start()
    while not seen and time.monotonic() < end:
        seen = get_threads() == threads
    stop.set()
    worker.join()
    return seen


@pytest.mark.parametrize("name", ["matmul", "eigvalsh", "solve"])
def test_small_matrices_are_for_one_thread(name):
    matrices = np.random.default_rng(0).normal(size=(60, 100, 100))
    matrices = matrices + np.swapaxes(matrices, 1, 2) + 40 * np.eye(100)
    function = {
        "matmul": lambda x: x @ x,
        "eigvalsh": np.linalg.eigvalsh,
        "solve": lambda x: np.linalg.solve(x, x),
    }[name]
    compiled = graph_jit(function, cache=False)
    np.testing.assert_allclose(compiled(matrices), function(matrices), rtol=1e-10, atol=1e-8)
    assert is_seen(1, compiled, matrices, seconds=60)
    assert get_threads() == 2


def test_large_ones_are_left_to_blas():
    matrix = np.ones((700, 700))
    compiled = graph_jit(lambda x: x @ x, cache=False)
    compiled(matrix)
    assert not is_seen(1, compiled, matrix, seconds=0.3)
    assert get_threads() == 2


def test_the_last_that_ends_restores():
    native = one_thread.get()
    for step, expected in ((native.begin, 1), (native.begin, 1), (native.end, 1), (native.end, 2)):
        step()
        assert get_threads() == expected


def test_in_many_threads_at_once():
    native = one_thread.get()

    def work():
        for _ in range(2000):
            native.begin()
            inside.append(get_threads())
            native.end()

    inside: list[int] = []
    workers = [threading.Thread(target=work) for _ in range(8)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert set(inside) == {1}
    assert get_threads() == 2


IN_A_CHILD = """
import ctypes, os
from numbagraph.runtime.one_thread import one_thread, setting_of_blas

setting = setting_of_blas()
get_threads = ctypes.CFUNCTYPE(ctypes.c_int32)(setting["get_threads"])
ctypes.CFUNCTYPE(None, ctypes.c_int32)(setting["set_threads"])(2)
native = one_thread.get()
native.begin()
child = os.fork()
if not child:
    before = get_threads()
    native.begin()
    inside = get_threads()
    native.end()
    os._exit(0 if (before, inside, get_threads()) == (2, 1, 2) else 1)
raise SystemExit(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_of_fork_has_begun_nothing():
    """In a process of its own: others import libraries that warn of forks."""
    subprocess.run([sys.executable, "-c", IN_A_CHILD], check=True)
