"""Loops with their checks, which a program runs where one will fail: they are made and compiled when it first does."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from llvmlite import ir

from numbagraph.emit.call import external_functions
from numbagraph.emit.runtime_calls import LOAD_CHECKED
from numbagraph.forking import new_lock
from numbagraph.intrinsics.emitters.external import FINDERS, one_by_one
from numbagraph.runtime.cached_code import linked, with_names
from numbagraph.runtime.compile import Library, compile_module
from numbagraph.runtime.interruption import keeping

if TYPE_CHECKING:
    from numbagraph.emit.checked_loops import CheckedLoop


class CheckedLoops:
    """Those of one program. Whoever has its code keeps them."""

    def __init__(self, make: Callable[[str], CheckedLoop]) -> None:
        self.make = make
        """By the symbol of its function. What is emitted now is what was when the program was compiled, maybe in
        another process: another symbol would say that it is not."""
        self.libraries: dict[str, Library] = {}
        """What is loaded, by the symbols of functions."""
        self.lock = new_lock()

    def address_of(self, symbol: str) -> int:
        """The address of the function that runs a loop."""
        with self.lock:
            if symbol not in self.libraries:
                module = ir.Module(symbol)
                self.make(symbol).define(module, symbol)
                code = with_names(external_functions(module), compile_module(str(module), opt=0))
                self.libraries[symbol] = linked(code, [symbol])
            return self.libraries[symbol].address(symbol)


programs: WeakValueDictionary[str, CheckedLoops] = WeakValueDictionary()
"""By the keys of programs."""


@ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p)
@keeping
def load_checked(name: bytes, slot: int) -> None:
    """What native code calls when it first needs a loop, by the key of its program and the symbol; it may run without
    Python's lock. Where an exception is raised, nothing is put into the slot, as where a core op is loaded."""
    program, _, symbol = name.decode().partition(":")
    ctypes.c_void_p.from_address(slot).value = programs[program].address_of(symbol)


FINDERS[LOAD_CHECKED] = one_by_one(lambda _: ctypes.cast(load_checked, ctypes.c_void_p).value or 0)
