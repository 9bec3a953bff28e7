"""Signals while native code runs: long loops poll for them, so that Ctrl-C ends them (``native/signals.ll``)."""

from __future__ import annotations

from numbagraph.emit.signals import SIGNALS
from numbagraph.intrinsics.emitters.external import FINDERS, one_by_one
from numbagraph.runtime.native_modules import OnePerProcess, Part
from numbagraph.runtime.objects import python_symbols

_FUNCTIONS = ("PyErr_CheckSignals", "PyGILState_Ensure", "PyGILState_Release")


class Signals:
    """The native functions that poll for signals. A process has them once it has loaded code with a loop."""

    def __init__(self) -> None:
        self.part = Part("signals", {"NO_CONSTANT": 0}, python_symbols(_FUNCTIONS))

    def after_fork(self) -> None:
        """Do nothing: there is no state."""


signals = OnePerProcess(Signals)
FINDERS[SIGNALS] = one_by_one(lambda name: signals.get().part.address(name))
