"""The layout of CPython's and NumPy's objects, and the addresses of their functions, for native code."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from functools import cache
from types import MemberDescriptorType

import numpy as np

HEADER_SIZE = object.__basicsize__
"""The size of the header before an object's own fields; it differs between ordinary, debug and free-threaded builds of
Python.

Python's floats and complex numbers and all NumPy scalars keep their value right after it.
"""

C_CONTIGUOUS = 0x0001
F_CONTIGUOUS = 0x0002
ALIGNED = 0x0100
WRITEABLE = 0x0400

_POINTER_SIZE = ctypes.sizeof(ctypes.c_void_p)
_OBJECT_OR_ERROR = 16
"""``Py_T_OBJECT_EX``."""


class ObjectFields(ctypes.Structure):
    """``PyObject``. Its last field is the type, whatever a build of Python puts before."""

    _fields_ = (("header", ctypes.c_char * (HEADER_SIZE - _POINTER_SIZE)), ("type", ctypes.c_void_p))


class ArrayFields(ctypes.Structure):
    """``PyArrayObject_fields`` of NumPy's C-API."""

    _fields_ = (
        ("header", ctypes.c_char * HEADER_SIZE),
        ("data", ctypes.c_void_p),
        ("ndim", ctypes.c_int),
        ("extents", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("base", ctypes.c_void_p),
        ("dtype", ctypes.c_void_p),
        ("flags", ctypes.c_int),
    )


class DtypeFields(ctypes.Structure):
    """``PyArray_Descr`` of NumPy 2's C-API."""

    _fields_ = (
        ("header", ctypes.c_char * HEADER_SIZE),
        ("scalar_type", ctypes.c_void_p),
        ("kind", ctypes.c_char),
        ("character", ctypes.c_char),
        ("byteorder", ctypes.c_char),
        ("reserved", ctypes.c_char),
        ("number", ctypes.c_int),
        ("flags", ctypes.c_uint64),
        ("itemsize", ctypes.c_ssize_t),
    )


_PYTHON_FUNCTIONS = (
    "PyComplex_FromDoubles",
    "_PyDict_GetItem_KnownHash",
    "PyErr_Clear",
    "PyErr_Fetch",
    "PyErr_NoMemory",
    "PyErr_NormalizeException",
    "PyEval_RestoreThread",
    "PyEval_SaveThread",
    "PyException_SetTraceback",
    "PyFloat_FromDouble",
    "PyLong_AsLongLongAndOverflow",
    "PyLong_FromLongLong",
    "PyMem_Free",
    "PyMem_Malloc",
    "PyObject_Vectorcall",
    "PyTuple_GetItem",
    "PyTuple_New",
    "PyTuple_SetItem",
    "PyTuple_Size",
    "Py_DecRef",
    "Py_IncRef",
)

_IN_NUMPY = {
    "PyArray_CopyInto": 50,
    "PyArray_Empty": 184,
    "PyArray_NewFromDescr": 94,
    "PyArray_Scalar": 60,
    "PyDataMem_SetHandler": 304,
    "PyDataMem_DefaultHandler": 306,
}
"""The functions by their positions in NumPy's C-API table, which never change."""

_OBJECTS = {"ndarray": np.ndarray, "None": None, "NotImplemented": NotImplemented, "True": True, "False": False}


def object_symbols() -> dict[str, int]:
    """The addresses of the functions and objects that native code names, in this process."""
    capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    capsule_pointer.restype = ctypes.c_void_p
    capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    table_address = capsule_pointer(np._core._multiarray_umath._ARRAY_API, None)  # pyright: ignore[reportAttributeAccessIssue]
    table = ctypes.cast(table_address, ctypes.POINTER(ctypes.c_size_t))
    symbols = python_symbols(_PYTHON_FUNCTIONS)
    symbols |= {name: table[position] for name, position in _IN_NUMPY.items()}
    return symbols | {name: id(thing) for name, thing in _OBJECTS.items()}


def slot_offset(descriptor: MemberDescriptorType) -> int | None:
    """The offset in an object of a slot of its class; None if the slot is no reference."""
    # PyMemberDescrObject: the header, d_type, d_name, d_qualname, d_member. PyMemberDef: name, type, offset
    member = ctypes.c_void_p.from_address(id(descriptor) + HEADER_SIZE + 3 * _POINTER_SIZE).value or 0
    is_reference = ctypes.c_int.from_address(member + _POINTER_SIZE).value == _OBJECT_OR_ERROR
    return ctypes.c_ssize_t.from_address(member + 2 * _POINTER_SIZE).value if is_reference else None


def python_symbols(names: Iterable[str]) -> dict[str, int]:
    """The addresses of functions of Python's C-API."""
    functions = {name: getattr(ctypes.pythonapi, name) for name in names}
    return {name: ctypes.cast(function, ctypes.c_void_p).value or 0 for name, function in functions.items()}


def canonical(dtype: np.dtype) -> np.dtype:
    """NumPy's own instance of a dtype, which lives for ever; an unpickled one is equal but not the same."""
    return np.dtype(dtype.type)


@cache
def scalar_types(dtype: np.dtype) -> tuple[type[np.generic], ...]:
    """The scalar types of a dtype's values: two, where C's long and long long or int are the same.

    None, if this build of NumPy does not keep their values where we would read them.
    """
    kinds = [kind for kind in np.sctypeDict.values() if np.dtype(kind) == dtype]
    samples = [kind(value) for kind in kinds for value in (0, 1, 77)]
    known = all(_memory(sample, dtype.itemsize) == sample.tobytes() for sample in samples)
    return tuple(dict.fromkeys(kinds)) if known else ()


def _memory(thing: object, size: int) -> bytes:
    return ctypes.string_at(id(thing) + HEADER_SIZE, size)


def _require(known: bool, what: str) -> None:
    if not known:
        raise RuntimeError(f"numbagraph does not know how this build of Python or NumPy lays out {what} in memory")


class _Slots:
    __slots__ = ("held",)

    def __init__(self, held: object) -> None:
        self.held = held


def check_layout() -> None:
    """Check the layout of a few known objects, so that a difference is an error here rather than a crash later."""
    _require(_POINTER_SIZE == 8, "pointers")
    array = np.arange(12, dtype=np.float32).reshape(3, 4)[:, ::2]
    found = ArrayFields.from_address(id(array))
    shape, strides = tuple(found.extents[:2]), tuple(found.strides[:2])
    fields = (found.data, found.ndim, shape, strides, found.dtype, found.flags)
    _require(fields == (array.ctypes.data, 2, (3, 2), (16, 8), id(array.dtype), array.flags.num), "arrays")
    _require(ObjectFields.from_address(id(array)).type == id(np.ndarray), "objects")
    cell, slots = (lambda: array).__closure__[0], _Slots(array)  # type: ignore[index]
    for address in (id(cell) + HEADER_SIZE, id(slots) + (slot_offset(vars(_Slots)["held"]) or 0)):
        _require(ctypes.c_void_p.from_address(address).value == id(array), "references")
    for dtype in (np.dtype(np.int16), np.dtype(">f8")):
        found = DtypeFields.from_address(id(dtype))
        fields = (found.kind.decode(), found.byteorder.decode(), found.number, found.itemsize)
        _require(fields == (dtype.kind, dtype.byteorder, dtype.num, dtype.itemsize), "dtypes")
    for value in (1.5, 1.5 - 2.5j):
        size = np.dtype(type(value)).itemsize
        _require(_memory(value, size) == np.array(value).tobytes(), type(value).__name__)
