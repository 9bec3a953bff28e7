"""Loops with their checks, which a program runs where one will fail: they are emitted and compiled on first use."""

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
    """The loops with checks of one program. The library with its code keeps them alive."""

    def __init__(self, make: Callable[[str], CheckedLoop]) -> None:
        self.make = make
        """Makes a loop by the symbol of its function. The loop that it makes now is the one for which the program was
        compiled, maybe in another process: otherwise its symbol would differ."""
        self.libraries: dict[str, Library] = {}
        """The loaded libraries, by the symbols of their functions."""
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
"""The loops with checks by the keys of their programs."""


@ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p)
@keeping
def load_checked(name: bytes, slot: int) -> None:
    """Load a loop on behalf of native code, on first use, by the key of its program and its symbol. The caller need not
    hold Python's lock. Where an exception is raised, the slot stays empty, as where a core op is loaded."""
    program, _, symbol = name.decode().partition(":")
    ctypes.c_void_p.from_address(slot).value = programs[program].address_of(symbol)


FINDERS[LOAD_CHECKED] = one_by_one(lambda _: ctypes.cast(load_checked, ctypes.c_void_p).value or 0)
