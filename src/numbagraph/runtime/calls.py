"""Methods of classes that are native code: how Python calls compiled functions (``native/calls.ll``).

A method in Python takes 130 ns for what native code does in 30.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from types import MemberDescriptorType
from typing import Any, NamedTuple

from numbagraph.ir.blocks import Blocks, blocks
from numbagraph.runtime.builtin import METH_FASTCALL, METH_KEYWORDS, MethodDefinition
from numbagraph.runtime.compile import Library
from numbagraph.runtime.objects import slot_offset


class CallRecord(ctypes.Structure):
    """The data that native code needs to call a function: Python objects, and the offsets of slots."""

    _fields_ = (
        ("bind", ctypes.c_void_p),
        ("refused", ctypes.c_void_p),
        ("explain", ctypes.c_void_p),
        ("block_count", ctypes.c_void_p),
        ("zero", ctypes.c_void_p),
        ("none", ctypes.c_void_p),
        ("tuple", ctypes.c_void_p),
        ("out", ctypes.c_void_p),
        ("versions_offset", ctypes.c_int64),
        ("parameters_offset", ctypes.c_int64),
        ("writers_offset", ctypes.c_int64),
        ("into_array_offset", ctypes.c_int64),
        ("into_tuple_offset", ctypes.c_int64),
    )


class Handlers(NamedTuple):
    """Methods in Python, for what native code does not do itself."""

    bind: Callable[..., Any]
    """``bind(self, *args, **kwargs)``: a call with other names, or in a block of code that has chosen something."""
    refused: Callable[..., Any]
    """``refused(self, *args, **kwargs)``: a call that no version took."""
    explain: Callable[..., Any]
    """``explain(self, error, *args)`` raises an error that a version raised."""


class CallSlots(NamedTuple):
    """The slots of objects that native code reads."""

    versions: MemberDescriptorType
    """The slot for a tuple of functions that return a result or NotImplemented."""
    parameters: MemberDescriptorType
    """The slot for a tuple: the names of positional arguments."""
    writers: MemberDescriptorType
    """The slot for an object that holds functions which write into arrays."""
    into_array: MemberDescriptorType
    """The slot of that object with a tuple of functions that write into an array, their last argument."""
    into_tuple: MemberDescriptorType
    """The slot of that object with a tuple of functions that write into several arrays, their last arguments; a caller
    passes these as one tuple."""


def call_method(library: Library, owner: type, slots: CallSlots, handlers: Handlers) -> Any:
    """A method ``__call__`` of ``owner``, for as long as the process lives; ``library`` has one at most.

    It returns what the first of the functions in a slot gives for its arguments, if that is not NotImplemented. All
    else is left to the handlers.
    """
    record = CallRecord.from_address(library.address("call_record"))
    record.zero, record.none, record.tuple, record.out = map(id, (0, None, tuple, _OUT))
    record.block_count = id(blocks) + _offset(vars(Blocks)["count"])
    for name, handler in handlers._asdict().items():
        setattr(record, name, id(handler))
    for name, slot in slots._asdict().items():
        setattr(record, f"{name}_offset", _offset(slot))
    definition = MethodDefinition(b"__call__", library.address("call"), METH_FASTCALL | METH_KEYWORDS, _DOCUMENTATION)
    for used in (library, definition, blocks, *handlers):  # calls may come until the process ends
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(used))
    new_method = ctypes.pythonapi.PyDescr_NewMethod
    new_method.restype = ctypes.py_object
    new_method.argtypes = [ctypes.py_object, ctypes.c_void_p]
    return new_method(owner, ctypes.addressof(definition))


_OUT = sys.intern("out")
_DOCUMENTATION = b"__call__($self, /, *args, **kwargs)\n--\n\nCall the function."


def _offset(slot: MemberDescriptorType) -> int:
    offset = slot_offset(slot)
    if offset is None:
        raise RuntimeError(f"numbagraph does not know how this build of Python lays out {slot!r} in memory")
    return offset
