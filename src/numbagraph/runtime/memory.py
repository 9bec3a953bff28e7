"""Memory for the temporaries of programs, kept from one call to the next (``native/memory.ll``)."""

from __future__ import annotations

import ctypes
import mmap
import os
import time

from numbagraph.intrinsics.external import FINDERS
from numbagraph.intrinsics.memory import ALIGNMENT, MEMORY

from .handwritten import OnePerProcess, Part

DEFAULT_BYTES = 256 * 2**20

_HAS_HUGE_PAGES = hasattr(mmap, "MADV_HUGEPAGE")  # Linux

_CONSTANTS = {
    "MOST_BLOCKS": 32,
    "TWICE_ALIGNMENT": 2 * ALIGNMENT,
    "MINUS_ALIGNMENT": -ALIGNMENT,
    "SMALL": 2**16,
    "HUGE": 2**22 if _HAS_HUGE_PAGES else 2**63 - 1,
    "HUGE_PAGES": getattr(mmap, "MADV_HUGEPAGE", 0),
}


class Pool:
    """The native pool. A process has one, once a function with temporaries has been compiled."""

    def __init__(self) -> None:
        self.part = Part("memory", _CONSTANTS, {} if _HAS_HUGE_PAGES else {"madvise": 0})
        self.after_fork = self.part.function("after_fork", None)
        self._keep_at_most = self.part.function("keep_at_most", ctypes.c_int64, ctypes.c_int64)
        self.keep_at_most(bound())

    def keep_at_most(self, size: int) -> int:
        """Set how many bytes are kept, and free what is too much; gives how many are kept now."""
        while (kept := self._keep_at_most(size)) < 0:
            time.sleep(0)  # another thread takes or gives, which is soon over
        return kept


pool = OnePerProcess(Pool)
FINDERS[MEMORY] = lambda name: pool.get().part.address(name)


def bound() -> int:
    """How many bytes are kept at most."""
    return int(os.environ.get("NUMBAGRAPH_POOL_BYTES") or DEFAULT_BYTES)


def kept_bytes() -> int:
    """How many bytes are kept."""
    return pool.made.keep_at_most(bound()) if pool.made is not None else 0


def release_memory() -> None:
    """Free the memory that compiled functions keep for the temporaries of their next calls.

    What they keep is bounded by the environment variable ``NUMBAGRAPH_POOL_BYTES``, or else by 256 MiB.
    """
    if pool.made is not None:
        pool.made.keep_at_most(0)
        pool.made.keep_at_most(bound())
