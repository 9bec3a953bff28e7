"""Users' functions that programs call: native code that takes the GIL, and hands arrays over (``native/callbacks.ll``).

A call costs a Python call and an array for each operand and each result. The code of a function is freed with it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence

from numbagraph.intrinsics.emitters.external import FINDERS, external_symbols, one_by_one
from numbagraph.ir.abi import INTERRUPTED
from numbagraph.ops.callback import CALLBACKS, REPORT, Callback, owner_of
from numbagraph.runtime.interruption import unseen
from numbagraph.runtime.native_modules import OnePerProcess, Part, load_part
from numbagraph.runtime.objects import ArrayFields, canonical, object_symbols, python_symbols

_PYTHON_FUNCTIONS = (
    "PyErr_Occurred",
    "PyErr_WriteUnraisable",
    "PyGILState_Ensure",
    "PyGILState_GetThisThreadState",
    "PyGILState_Release",
    "PyObject_CallObject",
    "PyTuple_GetItem",
)


IN_C_ORDER = 0x501
"""NumPy's flags of contiguous, aligned memory that may be written."""


class KindRecord(ctypes.Structure):
    """The dtype and the rank of an argument."""

    _fields_ = (("ndim", ctypes.c_int64), ("itemsize", ctypes.c_int64), ("dtype", ctypes.c_void_p))


class CallbackRecord(ctypes.Structure):
    """The data of a callback for native code. Results are arguments behind the operands."""

    _fields_ = (
        ("function", ctypes.c_void_p),
        ("kinds", ctypes.c_void_p),
        ("operands", ctypes.c_int64),
        ("arguments", ctypes.c_int64),
        ("unseen", ctypes.c_void_p),
    )


class Callers:
    """The native functions that call Python functions. A process has them once it has loaded code with a callback."""

    def __init__(self) -> None:
        constants = {"INTERRUPTED": INTERRUPTED, "DATA_OF_ARRAY": ArrayFields.data.offset, "IN_C_ORDER": IN_C_ORDER}
        self.part = Part("callbacks", constants, object_symbols() | python_symbols(_PYTHON_FUNCTIONS))

    def after_fork(self) -> None:
        """Do nothing: there is no state."""


callers = OnePerProcess(Callers)


class NativeCallback:
    """A callback in the form that native code uses, with references to all that must live as long."""

    def __init__(self, callback: Callback) -> None:
        self.function = callback.checked
        self.unseen = unseen(self.function)
        kinds = (*callback.call.inputs, *callback.call.outputs)
        records = [KindRecord(each.ndim, each.dtype.itemsize, id(canonical(each.dtype))) for each in kinds]
        self.kinds = (KindRecord * len(records))(*records)
        self.record = CallbackRecord(
            id(self.function), ctypes.addressof(self.kinds), len(callback.call.inputs), len(kinds), id(self.unseen)
        )
        symbols = {"record": ctypes.addressof(self.record), "run": callers.get().part.address("run")}
        self.library = load_part("callback", {}, symbols)


def address_of(name: str, entry: str = "raising") -> int:
    """The address of the code of a callback."""
    callback = owner_of(CALLBACKS + name)
    if callback.native is None:
        callback.native = NativeCallback(callback)
    return callback.native.library.address(entry)


def symbols_for_c(names: Sequence[str]) -> dict[str, int]:
    """The addresses of external symbols, for callers that cannot raise an exception: it is printed instead."""
    found = external_symbols(names)
    return found | {each: address_of(each.removeprefix(CALLBACKS), "reporting") for each in callbacks_in(names)}


def callbacks_in(names: Iterable[str]) -> list[str]:
    return [each for each in names if each.startswith(CALLBACKS)]


FINDERS[CALLBACKS] = one_by_one(address_of)
FINDERS[REPORT.removesuffix("report")] = one_by_one(lambda name: callers.get().part.address(name))
