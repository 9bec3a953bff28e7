"""BLAS on one thread, for calls on small matrices (``native/one_thread.ll``).

OpenBLAS starts threads for matrices of 64 rows, and lets them wait for each other in loops. Where the cores have other
things to do, be it other chains of a sampler, the inverse of such a matrix takes 30 ms instead of 0.1.
"""

from __future__ import annotations

import ctypes
from itertools import product

from numbagraph.intrinsics.emitters.extension_modules import extension_module
from numbagraph.intrinsics.emitters.external import FINDERS, one_by_one
from numbagraph.intrinsics.emitters.fortran import ONE_THREAD
from numbagraph.runtime.native_modules import OnePerProcess, Part
from numbagraph.runtime.objects import python_symbols

_LOCKS = ("PyThread_acquire_lock", "PyThread_allocate_lock", "PyThread_release_lock")
_PREFIXES, _SUFFIXES = ("scipy_", ""), ("", "64_", "_64")
"""The prefixes and suffixes of OpenBLAS's symbols in SciPy's wheels and systems' packages."""


def setting_of_blas() -> dict[str, int]:
    """The functions that get and set the number of threads of the BLAS that SciPy calls; empty if they are unknown.

    A library in which a symbol is looked up stands for those that it needs, too; not on Windows.
    """
    library = ctypes.CDLL(extension_module("scipy.linalg.cython_blas").__file__)
    for prefix, suffix in product(_PREFIXES, _SUFFIXES):
        names = {f"{verb}_threads": f"{prefix}openblas_{verb}_num_threads{suffix}" for verb in ("get", "set")}
        if all(hasattr(library, name) for name in names.values()):
            return {key: ctypes.cast(library[name], ctypes.c_void_p).value or 0 for key, name in names.items()}
    return {}


class OneThread:
    """The native functions. A process has them once it has loaded code that calls BLAS."""

    def __init__(self) -> None:
        functions = setting_of_blas()
        symbols = functions or {"get_threads": 0, "set_threads": 0}  # which nobody calls then
        self.part = Part("one_thread", {"IS_KNOWN": int(bool(functions))}, {**python_symbols(_LOCKS), **symbols})
        self._reset = self.part.function("reset", ctypes.c_bool)
        self.begin = self.part.function("begin", None)
        self.end = self.part.function("end", None)
        self.after_fork()

    def after_fork(self) -> None:
        """Restore the number of threads in a child process, though another thread of the parent was in a call."""
        if not self._reset():
            raise MemoryError("there is no memory for a lock of numbagraph's")


one_thread = OnePerProcess(OneThread)
FINDERS[ONE_THREAD] = one_by_one(lambda name: one_thread.get().part.address(name))
