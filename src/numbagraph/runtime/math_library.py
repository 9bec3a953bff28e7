"""Mathematical functions, and core ops on batches, which are compiled once a machine: each on first use, and then kept
on disk."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from functools import cache, partial

from llvmlite import ir

from numbagraph.emit.call import external_functions
from numbagraph.intrinsics.emitters.core import CORE, LOAD, BatchedCall
from numbagraph.intrinsics.emitters.external import FINDERS, one_by_one
from numbagraph.intrinsics.emitters.target import Target, current_target
from numbagraph.intrinsics.emitters.vecmath.calls import MATH
from numbagraph.intrinsics.emitters.vecmath.library import define
from numbagraph.runtime.cache import default_cache, sources
from numbagraph.runtime.cached_code import checked, found, linked, with_names
from numbagraph.runtime.compile import Library, compile_module, target_fingerprint
from numbagraph.runtime.interruption import keeping
from numbagraph.version import __version__


class Shelf:
    """Functions of one kind, by their symbols, which begin with a prefix."""

    def __init__(self, prefix: str, define: Callable[[ir.Module, str], ir.Function]) -> None:
        self.prefix = prefix
        self.define = define
        self.by_target: dict[Target, dict[str, Library]] = {}
        """The libraries of each target. They are never freed, since any code may call them."""

    @property
    def libraries(self) -> dict[str, Library]:
        """The loaded libraries by the symbols of their functions, for the current target and its length of vectors."""
        return self.by_target.setdefault(current_target(), {})

    def addresses_of(self, names: list[str]) -> list[int]:
        """The addresses of functions, by their symbols without the prefix.

        What is neither loaded nor on disk is compiled in one module: each module takes 3 ms beside what is in it.
        """
        symbols, libraries = [self.prefix + name for name in names], self.libraries
        stored = default_cache()
        missing = []
        for symbol in symbols:
            if symbol not in libraries:
                library = found(stored, key_of(symbol), partial(loaded, symbol))
                if library is None:
                    missing.append(symbol)
                else:
                    libraries.setdefault(symbol, library)
        if missing:
            content = self.compile(missing)
            for symbol in missing:
                libraries.setdefault(symbol, loaded(symbol, content))
                if stored:
                    stored.put(key_of(symbol), content)
        return [libraries[symbol].address(symbol) for symbol in symbols]

    def compile(self, symbols: list[str]) -> bytes:
        """Compile functions to object code, preceded by the names of the functions that it calls."""
        module = ir.Module("library")
        for symbol in symbols:
            self.define(module, symbol)
        return with_names(external_functions(module), compile_module(str(module)))


load_once = cache(linked)
"""Functions that were compiled together are stored under each one's key, but loaded once."""


def loaded(symbol: str, content: bytes) -> Library:
    """Load the library that has the function of a symbol."""
    return checked(load_once(content), [symbol])


def key_of(symbol: str) -> str:
    return hashlib.sha256(repr((symbol, __version__, sources(), target_fingerprint())).encode()).hexdigest()


math_functions = Shelf(MATH, define)
FINDERS[MATH] = math_functions.addresses_of
core_ops = Shelf(CORE, BatchedCall.define)


@ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p)
@keeping
def load_core(name: bytes, slot: int) -> None:
    """Load a core op on behalf of native code, on first use, by its whole name. The caller need not hold Python's lock.

    Where an exception is raised, nothing is put into the slot: the program then ends with a code, and its caller
    raises the exception.
    """
    (address,) = core_ops.addresses_of([name.decode().removeprefix(CORE)])
    ctypes.c_void_p.from_address(slot).value = address


FINDERS[LOAD] = one_by_one(lambda name: ctypes.cast(load_core, ctypes.c_void_p).value or 0)
