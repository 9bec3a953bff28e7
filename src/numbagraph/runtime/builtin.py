"""Builtin functions of Python that are native code, which reads a table."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np


class MethodDefinition(ctypes.Structure):
    """``PyMethodDef`` of Python's C-API."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


METH_KEYWORDS = 0x2
METH_FASTCALL = 0x80


class _Bound(np.ndarray):
    """The object that a builtin function is bound to: its table, with references to all that must live as long."""

    definition: MethodDefinition
    owned: tuple[Any, ...]


def builtin(name: str, address: int, table: ctypes.Structure, *owned: object) -> Callable[..., Any]:
    """Make a builtin function of native code, which gets an array whose memory is a copy of ``table``."""
    definition = MethodDefinition(name.encode(), address, METH_FASTCALL, None)
    # CPython promises that a function's method definition may be owned by the object that it is bound to. Where both
    # are garbage, it is read once more after that one's attributes are gone: so it lies in the array's own memory.
    records = (table, definition)
    bound = np.frombuffer(bytearray(b"".join(map(bytes, records))), dtype=np.uint8).copy().view(_Bound)
    bound.definition = definition
    bound.owned = (table, *owned)
    new_function = ctypes.pythonapi.PyCFunction_NewEx
    new_function.restype = ctypes.py_object
    new_function.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return new_function(bound.ctypes.data + ctypes.sizeof(table), bound, None)
