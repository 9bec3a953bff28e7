"""The checks of the C library's allocator, for processes that are about to start."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from numbagraph.runtime.compile import Library

LIBRARY = "libc_malloc_debug.so.0"
"""Since glibc 2.34 the checks are in this library, which must be there before the process allocates."""
TUNABLES = ("glibc.malloc.check=3", "glibc.malloc.perturb=165")
"""A write past the end of a block ends the process when the block is freed; new and freed memory is not zero."""


def checks_available() -> bool:
    """Whether the C library has its library of checks."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        ctypes.CDLL(LIBRARY)
    except OSError:
        return False
    return True


@contextmanager
def allocator_checks() -> Iterator[None]:
    """Processes that start within check their heap, where the C library can do so."""
    if not checks_available():
        yield
        return
    additions = {"LD_PRELOAD": (" ", (LIBRARY,)), "GLIBC_TUNABLES": (":", TUNABLES)}
    before = {name: os.environ.get(name) for name in additions}
    for name, (separator, values) in additions.items():
        os.environ[name] = separator.join(filter(None, (before[name], *values)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def check_compiled_code() -> None:
    """Let code that is compiled in this process allocate as Python does. Its linker looks the C library's functions up
    by their names alone, and so finds those that the library of checks stands in front of."""
    load = Library.__init__
    checked = {"malloc": _address_of("PyMem_RawMalloc"), "free": _address_of("PyMem_RawFree")}

    def load_checked(self: Library, object_code: bytes, symbols: Mapping[str, int]) -> None:
        load(self, object_code, {**symbols, **checked})

    Library.__init__ = load_checked


def _address_of(name: str) -> int:
    address = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    assert address is not None
    return address
