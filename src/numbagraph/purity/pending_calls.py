"""Calls that Python is about to make, read from the stack of a frame: all calls in 3.11, and in 3.12 those of methods
with unpacked arguments. `sys.monitoring` reports all others."""

from __future__ import annotations

import ctypes
import dis
import functools
import itertools
from types import CodeType, FrameType
from typing import Any

_HEADER = object.__basicsize__
_POINTER = ctypes.sizeof(ctypes.c_void_p)
_CALL, _CALL_UNPACKED = dis.opmap.get("PRECALL"), dis.opmap["CALL_FUNCTION_EX"]
_STACK_SIZE, _LOCALS = 8, 9
"""The offsets, in pointers, of the number of objects and of the objects in ``_PyInterpreterFrame`` of these
versions."""
_LEAVING = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "INTERPRETER_EXIT"}


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


def called_unpacked(frame: FrameType, offset: int) -> tuple[Any, Any] | None:
    """The function that the next instruction, at an offset, calls with unpacked arguments, and the first argument; None
    if it unpacks none. Python 3.12 does not keep the number of objects on the stack while code runs, but it follows
    from the bytecode."""
    size = unpacking_calls(frame.f_code).get(offset)
    if size is None:
        return None
    function, arguments = _top(frame, 2 + (frame.f_code.co_code[offset + 1] & 1), size)[:2]
    return function, arguments[0] if isinstance(arguments, tuple) and arguments else None


@functools.lru_cache(1024)
def unpacking_calls(code: CodeType) -> dict[int, int]:
    """The number of objects that a frame has at each offset where arguments are unpacked."""
    if _CALL_UNPACKED not in code.co_code[::2]:
        return {}
    instructions = list(dis.get_instructions(code))
    following = {one.offset: other.offset for one, other in itertools.pairwise(instructions)}
    by_offset = {each.offset: each for each in instructions}
    sizes: dict[int, int] = {}
    pending = [(each.target, each.depth + each.lasti + 1) for each in dis._parse_exception_table(code)]  # type: ignore[attr-defined]
    pending.append((0, 0))
    while pending:
        offset, size = pending.pop()
        if offset in sizes:
            continue
        sizes[offset] = size
        one = by_offset[offset]
        argument = one.arg if one.opcode >= dis.HAVE_ARGUMENT else None
        if one.opcode in dis.hasjrel:
            pending.append((one.argval, size + dis.stack_effect(one.opcode, argument, jump=True)))
        is_jump = one.opname.startswith("JUMP_")
        if not is_jump and one.opname not in _LEAVING and offset in following:
            effect = dis.stack_effect(one.opcode, argument, jump=False)
            pending.append((following[offset], size + (1 if one.opname == "RETURN_GENERATOR" else effect)))
    variables = len({*code.co_varnames, *code.co_cellvars}) + len(code.co_freevars)
    return {at: variables + size for at, size in sizes.items() if by_offset[at].opcode == _CALL_UNPACKED}


def _top(frame: FrameType, count: int, size: int | None = None) -> list[Any]:
    """The last ``count`` of the ``size`` objects on a frame's stack; None for an empty place."""
    # PyFrameObject: the header, f_back, f_frame
    address = ctypes.c_void_p.from_address(id(frame) + _HEADER + _POINTER).value or 0
    if size is None:
        size = ctypes.c_int.from_address(address + _POINTER * _STACK_SIZE).value
    words = (ctypes.c_void_p * count).from_address(address + _POINTER * (_LOCALS + size - count))
    return [None if word is None else ctypes.cast(word, ctypes.py_object).value for word in words]
