"""Memory that is kept from one call to the next (``native/memory.ll``): of temporaries, and of results that are large.

C's allocator keeps what is smaller. What is larger it returns to the system, and the pages of a new result are filled
with zeros before they are written: ``x + 1`` of 10 million numbers takes 19 ms that way, and 9 ms in kept memory.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import time

from numbagraph.emit.allocation import ALIGNMENT, MEMORY
from numbagraph.intrinsics.emitters.external import FINDERS, one_by_one
from numbagraph.ir.structs import cached_property
from numbagraph.runtime.interruption import keeping
from numbagraph.runtime.native_modules import OnePerProcess, Part

DEFAULT_BYTES = 256 * 2**20

_HAS_HUGE_PAGES = hasattr(mmap, "MADV_HUGEPAGE")  # Linux

HANDLER_NAME = b"mem_handler"
"""The name that NumPy expects of such a capsule; it has to last as long as the capsule."""

LARGE_BYTES = 2**25
"""The size of results from which on the pool allocates them: the GNU C library keeps smaller memory itself."""

_CONSTANTS = {
    "MOST_BLOCKS": 32,
    "TWICE_ALIGNMENT": 2 * ALIGNMENT,
    "MINUS_ALIGNMENT": -ALIGNMENT,
    "SMALL": 2**16,
    "HUGE": 2**22 if _HAS_HUGE_PAGES else 2**63 - 1,
    "HUGE_PAGES": getattr(mmap, "MADV_HUGEPAGE", 0),
}


class Handler(ctypes.Structure):
    """``PyDataMem_Handler`` of NumPy's C-API: the functions that allocate the memory of an array, and free it."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p),
        ("calloc", ctypes.c_void_p),
        ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    )

    def in_capsule(self) -> object:
        """The handler as NumPy takes it. Both last as long as the process: arrays may live longer than modules."""
        new_capsule = ctypes.pythonapi.PyCapsule_New
        new_capsule.restype = ctypes.py_object
        new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        capsule = new_capsule(ctypes.addressof(self), HANDLER_NAME, None)
        for lasting in (self, capsule):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(lasting))
        return capsule


class MemoryPool:
    """The native pool. A process has one, once a function with temporaries has been compiled."""

    def __init__(self) -> None:
        self.part = Part("memory", _CONSTANTS, {} if _HAS_HUGE_PAGES else {"madvise": 0})
        self.after_fork = self.part.function("after_fork", None)
        self._keep_at_most = self.part.function("keep_at_most", ctypes.c_int64, ctypes.c_int64)
        self.keep_at_most(bound())

    @cached_property
    def handler(self) -> object:
        """The capsule by which NumPy knows the pool as the memory of arrays."""
        functions = {name: self.part.address(f"array_{name}") for name in ("malloc", "calloc", "realloc", "free")}
        return Handler(name=b"numbagraph", version=1, **functions).in_capsule()

    def keep_at_most(self, size: int) -> int:
        """Set the number of bytes that the pool keeps at most, and free the excess; return the number that it keeps
        now."""
        while (kept := self._keep_at_most(size)) < 0:
            time.sleep(0)  # another thread takes or gives, which is soon over
        return kept


pool = OnePerProcess(MemoryPool)
FINDERS[MEMORY] = one_by_one(lambda name: pool.get().part.address(name))


def bound() -> int:
    """The number of bytes that the pool keeps at most."""
    return int(os.environ.get("NUMBAGRAPH_POOL_BYTES") or DEFAULT_BYTES)


def kept_bytes() -> int:
    """The number of bytes that the pool keeps now."""
    return pool.made.keep_at_most(bound()) if pool.made is not None else 0


def release_memory() -> None:
    """Free the memory that compiled functions keep for the temporaries of their next calls.

    What they keep is bounded by the environment variable ``NUMBAGRAPH_POOL_BYTES``, or else by 256 MiB.

    Examples
    --------
    >>> import numbagraph
    >>> numbagraph.release_memory()
    """
    if pool.made is not None:
        pool.made.keep_at_most(0)
        pool.made.keep_at_most(bound())


@ctypes.PYFUNCTYPE(ctypes.c_void_p)
@keeping
def _handler_address() -> int:
    return id(pool.get().handler)


def handler_symbols() -> dict[str, int]:
    """The address of a function that native code calls for the capsule of the pool's handler: most processes never need
    it."""
    return {"large_memory": ctypes.cast(_handler_address, ctypes.c_void_p).value or 0}
