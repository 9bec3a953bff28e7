"""Calls that fail or are interrupted leave their arguments as they were."""

import subprocess
import sys

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from numbagraph import graph_jit
from numbagraph.errors import InternalError
from numbagraph.transforms import interpret
from tests.jit.test_mutated_arguments import check

BACKENDS = pytest.mark.parametrize("backend", ["numba", "numpy", "jax"])


def outcome(function, *args):
    try:
        return function(*args)
    except (IndexError, np.linalg.LinAlgError, ValueError) as error:
        return error


@BACKENDS
@pytest.mark.parametrize(
    ("function", "good", "bad"),
    [
        (lambda x, i: (x.fill(1.0), x.__setitem__(i, 7.0)), 2, 9),
        (lambda x, i: x.__setitem__(0, np.take(x, i)[0]), [2], [9]),
        (lambda x, i: (x.__imul__(2), np.linalg.inv(np.eye(2) * i))[1], 1.0, 0.0),
        (lambda x, i: x.__iadd__(i), [1.0] * 5, [1.0] * 4),
    ],
)
def test_failed_calls_leave_arguments(function, good, bad, backend):
    compiled, good, bad = graph_jit(function, backend=backend), np.array(good), np.array(bad)
    if backend == "jax" and bad.dtype == float:
        pytest.skip("JAX has no error for singular matrices")
    for _ in range(2):
        check(function, compiled, np.arange(5.0), good)
        x = np.arange(5.0)
        assert isinstance(outcome(compiled, x, bad), Exception)
        np.testing.assert_array_equal(x, np.arange(5.0))


def test_a_result_for_which_there_is_no_memory():
    def function(x, n):
        x += 1
        return n[:, None] + n + x[0]

    compiled, x = graph_jit(function), np.ones(10)
    for _ in range(2):
        with pytest.raises(MemoryError):
            compiled(x, np.broadcast_to(1.0, 2**25))
        np.testing.assert_array_equal(x, np.ones(10))


INTERRUPTED = """
import os, signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background ignores it
import numpy as np
import numbagraph as ng

def long(x, y):
    x += 1
    y[0] = ng.fori_loop(0, 10**13, lambda i, s: np.tanh(s) + 0.1, x[0])

x, y = np.zeros(3), np.zeros(3)
threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    ng.graph_jit(long, cache=False)(x, y)
except KeyboardInterrupt:
    print("interrupted", x.sum(), y.sum(), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="it has no os.kill for SIGINT")
def test_ctrl_c_leaves_arguments():
    process = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120, check=False
    )
    assert process.stdout.split() == ["interrupted", "0.0", "0.0"], process.stderr


def strided(rng):
    """An array over random strides, its memory, and how many elements lie on each byte of that."""
    shape = tuple(int(each) for each in rng.integers(0, 4, rng.integers(1, 4)))
    strides = tuple(8 * int(each) for each in rng.integers(-6, 7, len(shape)))
    memory, middle = np.zeros(100), 50
    covered = np.zeros(100, int)
    for index in np.ndindex(shape):
        covered[middle + sum(each * step // 8 for each, step in zip(index, strides, strict=True))] += 1
    return as_strided(memory[middle:], shape, strides), memory, covered


@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_arrays_whose_elements_share_memory_are_refused(backend):
    @graph_jit(backend=backend)
    def increment(v):
        v += 1

    rng = np.random.default_rng(4)
    refused = 0
    for _ in range(400):
        array, memory, covered = strided(rng)
        if covered.max() > 1:
            refused += 1
            with pytest.raises(ValueError, match="some of its elements share memory"):
                increment(array)
            assert not memory.any()
        else:
            increment(array)
            np.testing.assert_array_equal(memory, covered)
    assert 20 < refused < 380


def test_an_index_that_another_thread_changes_is_no_fault(monkeypatch):
    """An index is out of bounds when native code reads it, and no longer when NumPy looks for the error."""
    compiled, x, index = graph_jit(lambda x, i: x[i] * 2), np.arange(5.0), np.array([1, 2])
    np.testing.assert_array_equal(compiled(x, index), [2.0, 4.0])
    original = interpret.check_sizes

    def check_sizes(graph, arrays):
        index[1] = 3
        original(graph, arrays)

    monkeypatch.setattr(interpret, "check_sizes", check_sizes)
    index[1] = 9
    np.testing.assert_array_equal(compiled(x, index), [2.0, 6.0])


def test_a_check_that_fails_with_what_numpy_takes_is_a_fault():
    graph = graph_jit(lambda x, i: x[i] * 2).graph(np.arange(5.0), np.array([1, 2]))
    arrays = [np.arange(5.0), np.array([1, 2])]
    with pytest.raises(InternalError, match="f: compiled code failed a check that the NumPy interpreter passes"):
        interpret.after_failure(graph, arrays, "f", lambda kept: all(map(np.array_equal, kept, arrays)))
    (found,) = interpret.after_failure(graph, arrays, "f", lambda kept: any(map(np.shares_memory, kept, arrays)))
    np.testing.assert_array_equal(found, [2.0, 4.0])
