"""The threads of parallel functions: a pool of helpers, started when a loop nest first has work for them.

The pool is numbagraph's own (``native/threads.ll``), since each of Numba's threading layers lacks something that is
needed here: callers on several threads, `fork`, and no thread more than was allowed. The figures stand in
docs/decisions/thread-pool.md.
"""

from __future__ import annotations

import contextlib
import ctypes
import operator
import os
import sys
from collections.abc import Callable, Iterator

from numbagraph.emit.call import THREADS
from numbagraph.intrinsics.emitters.external import FINDERS, one_by_one
from numbagraph.ir.op import imported
from numbagraph.runtime.interruption import keeping
from numbagraph.runtime.native_modules import OnePerProcess, Part
from numbagraph.runtime.objects import python_symbols

_CORES = 1024
_CONSTANTS = {"MOST_HELPERS": 1024, "TURNS": 5000, "CORES": _CORES, "SIZE_OF_CORES": _CORES // 8}
_PYTHON_FUNCTIONS = (
    "PyDict_GetItem",
    "PyThread_acquire_lock",
    "PyThread_allocate_lock",
    "PyThread_free_lock",
    "PyThread_release_lock",
    "PyThread_start_new_thread",
)
_AFFINITY = ("pthread_setaffinity_np", "sched_getaffinity", "sched_getcpu")  # Linux
_NUMBAS_LAYER = "numba.np.ufunc.parallel"

_limits: list[int] = []


class ThreadPool:
    """The native pool. A process has one, once a parallel function has been compiled."""

    def __init__(self) -> None:
        has_affinity = sys.platform == "linux"
        symbols = {"modules": id(sys.modules), "layer": id(_NUMBAS_LAYER), **python_symbols(_PYTHON_FUNCTIONS)}
        if not has_affinity:
            symbols |= dict.fromkeys(_AFFINITY, 0)  # which nobody calls then
        self.part = Part("threads", {**_CONSTANTS, "HAS_AFFINITY": int(has_affinity)}, symbols)
        self._reset = self.part.function("reset", ctypes.c_bool)
        self.set_limit = self.part.function("set_limit", None, ctypes.c_int32)
        self._set_numba_limit = self.part.function("set_numba_limit", None, ctypes.c_void_p)
        self._set_follow_numba = self.part.function("set_follow_numba", None, ctypes.c_void_p)
        self.count_helpers = self.part.function("count_helpers", ctypes.c_int32)
        self._callback = ctypes.PYFUNCTYPE(None)(keeping(self._follow_numba))
        self._set_follow_numba(ctypes.cast(self._callback, ctypes.c_void_p))
        self.after_fork()

    def after_fork(self) -> None:
        """Reset the pool in a child process, without helpers."""
        if not self._reset():
            raise MemoryError("there is no memory for the locks of numbagraph's threads")
        self.set_limit(current_limit())

    def _follow_numba(self) -> None:
        """Respect ``numba.set_num_threads``, once Numba keeps the number that it sets for each thread."""
        layer = imported(_NUMBAS_LAYER)
        if layer is not None and layer._is_initialized:
            self._set_numba_limit(ctypes.cast(layer._get_num_threads, ctypes.c_void_p))
            self._set_follow_numba(None)


pool = OnePerProcess(ThreadPool)
FINDERS[THREADS] = one_by_one(lambda name: pool.get().part.address(name))


def threads_of_process() -> int:
    """The most threads that Numba would use: ``NUMBA_NUM_THREADS``, or as many as there are cores for this process."""
    config = imported("numba.core.config")
    if config is not None:
        return config.NUMBA_NUM_THREADS
    given = os.environ.get("NUMBA_NUM_THREADS")
    if given:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def current_limit() -> int:
    return min([threads_of_process(), *_limits])


def _change_limits(change: Callable[[int], None], limit: int) -> None:
    with pool.lock:
        change(limit)
        if pool.made is not None:
            pool.made.set_limit(current_limit())


@contextlib.contextmanager
def threads(n: int) -> Iterator[None]:
    """Let parallel functions run on at most ``n`` threads.

    The limit holds for all threads of the process while the context is open, and of several limits the lowest. There
    are never more threads than ``NUMBA_NUM_THREADS`` and ``numba.set_num_threads`` allow; without these, than there
    are cores. Results do not depend on the number of threads.

    Parameters
    ----------
    n : int
        The most threads that run a function, its caller's among them: with 1, nothing runs beside it.

    Raises
    ------
    ValueError
        If ``n`` is less than 1.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> f = numbagraph.graph_jit(lambda x: np.sum(np.exp(-(x**2))), parallel=True)
    >>> with numbagraph.threads(1):
    ...     f(np.zeros(3))
    np.float64(3.0)
    """
    limit = operator.index(n)
    if limit < 1:
        raise ValueError(f"a function runs on one thread at least, not on {limit}")
    _change_limits(_limits.append, limit)
    try:
        yield
    finally:
        _change_limits(_limits.remove, limit)
