"""What Python 3.11 is about to call, read from the stack of a frame. Later versions tell it (`sys.monitoring`)."""

from __future__ import annotations

import ctypes
import dis
from types import FrameType
from typing import Any

_HEADER = object.__basicsize__
_POINTER = ctypes.sizeof(ctypes.c_void_p)
_CALL, _CALL_UNPACKED = (dis.opmap.get(name) for name in ("PRECALL", "CALL_FUNCTION_EX"))
_STACK_SIZE, _LOCALS = 8, 9
"""Where ``_PyInterpreterFrame`` of Python 3.11 keeps how many objects it has, and these, counted in pointers."""


def called(frame: FrameType) -> tuple[Any, Any] | None:
    """The function that the next instruction calls, and the first argument; None if it calls nothing."""
    code = frame.f_code.co_code
    operation, count = code[frame.f_lasti], code[frame.f_lasti + 1]
    if operation == _CALL:
        before = frame.f_lasti - 2
        if before >= 0 and code[before] == dis.EXTENDED_ARG:
            count |= code[before + 1] << 8
        method, function, *arguments = _top(frame, count + 2)
        return (function, arguments[0] if arguments else None) if method is None else (method, function)
    if operation == _CALL_UNPACKED:
        function, arguments = _top(frame, 2 + (count & 1))[:2]
        return function, arguments[0] if isinstance(arguments, tuple) and arguments else None
    return None


def _top(frame: FrameType, count: int) -> list[Any]:
    """The last objects on the stack; None stands for none."""
    # PyFrameObject: the header, f_back, f_frame
    address = ctypes.c_void_p.from_address(id(frame) + _HEADER + _POINTER).value or 0
    size = ctypes.c_int.from_address(address + _POINTER * _STACK_SIZE).value
    words = (ctypes.c_void_p * count).from_address(address + _POINTER * (_LOCALS + size - count))
    return [None if word is None else ctypes.cast(word, ctypes.py_object).value for word in words]
