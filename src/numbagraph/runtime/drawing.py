"""Calls with a generator of random numbers among the arguments, whose state becomes an array argument
(``native/drawing.ll``). In Python, taking the lock and copying the state to and fro would take 5 µs of a call."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from numbagraph.runtime.builtin import builtin
from numbagraph.runtime.compile import Library
from numbagraph.runtime.native_modules import load_part
from numbagraph.runtime.objects import ArrayFields, ObjectFields, canonical, object_symbols, python_symbols

_PYTHON_FUNCTIONS = (
    "PyErr_Fetch",
    "PyErr_Restore",
    "PyObject_CallFunctionObjArgs",
    "PyObject_GetAttr",
    "PyObject_Vectorcall",
    "PyObject_VectorcallMethod",
)
_NAMES = {name: sys.intern(name) for name in ("trace", "bit_generator", "lock", "acquire", "release")}


class Span(NamedTuple):
    """A span of bytes in an object, and the word of the state at which they begin."""

    offset: int
    word: int
    size: int


class SpanRecord(ctypes.Structure):
    """A `Span` as native code reads it."""

    _fields_ = tuple((name, ctypes.c_int64) for name in Span._fields)


class DrawingRecord(ctypes.Structure):
    """The data of `drawing` for native code: Python objects, and the spans in which a bit generator has its state."""

    _fields_ = (
        ("run", ctypes.c_void_p),
        ("raise_drawn", ctypes.c_void_p),
        ("active", ctypes.c_void_p),
        ("generator_type", ctypes.c_void_p),
        ("source_type", ctypes.c_void_p),
        ("dtype", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in _NAMES),
        ("spans", ctypes.c_void_p),
        ("span_count", ctypes.c_int64),
        ("word_count", ctypes.c_int64),
        ("number", ctypes.c_int64),
    )


@cache
def _draw() -> tuple[Library, int]:
    """The native code in this process, from the disk cache if it is there."""
    structures = {
        "ArrayFields": ArrayFields,
        "ObjectFields": ObjectFields,
        "Drawing": DrawingRecord,
        "Span": SpanRecord,
    }
    symbols = object_symbols() | python_symbols(_PYTHON_FUNCTIONS) | {"None": id(None)}
    library = load_part("drawing", {"SIZE_OF_SPAN": ctypes.sizeof(SpanRecord)}, symbols, structures)
    return library, library.address("draw")


def drawing(
    run: Callable[..., Any],
    number: int,
    source_type: type,
    spans: Sequence[Span],
    word_count: int,
    active: object,
    raise_drawn: Callable[[Any], Any],
) -> Callable[..., Any]:
    """Wrap ``run``, whose argument ``number`` is a generator, for bit generators whose state lies in ``spans``. The
    wrapper returns NotImplemented for other arguments, and where ``active.trace`` is not None. It calls ``raise_drawn``
    with a bit generator that has been drawn from elsewhere during the call."""
    library, address = _draw()
    records = (SpanRecord * len(spans))(*spans)
    owned = (run, raise_drawn, active, np.random.Generator, source_type, canonical(np.dtype(np.uint64)))
    record = DrawingRecord(
        *map(id, (*owned, *_NAMES.values())), ctypes.addressof(records), len(spans), word_count, number
    )
    return builtin("drawing", address, record, library, records, owned)
