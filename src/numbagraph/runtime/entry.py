"""The native Python entry: from the addresses of compiled programs to a builtin function.

One entry serves all compiled functions (``native/entry.ll``). It is compiled once a machine, and reads from an
`EntryPlan` what a specialisation accepts and returns. An entry emitted for each specialisation would save 30 to 60 ns a
call, but add 8 ms (one argument) to 17 ms (five) to each compilation of a function.
"""

from __future__ import annotations

import ctypes
import enum
import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from numbagraph import times
from numbagraph.ir.abi import INTERRUPTED, OUT_OF_MEMORY, ArrayLeaf, Leaf, NativeSignature, Result, leaf_of
from numbagraph.runtime.builtin import builtin
from numbagraph.runtime.calls import CallRecord, CallSlots, Handlers, call_method
from numbagraph.runtime.compile import Library, target_fingerprint
from numbagraph.runtime.failures import stop_symbols
from numbagraph.runtime.guard_records import DefinitionRecord, GuardKind, GuardRecord
from numbagraph.runtime.guards import Guards
from numbagraph.runtime.memory import LARGE_BYTES, handler_symbols
from numbagraph.runtime.native_modules import expand, load_source, read_source, with_fields
from numbagraph.runtime.objects import (
    ALIGNED,
    C_CONTIGUOUS,
    F_CONTIGUOUS,
    HEADER_SIZE,
    WRITEABLE,
    ArrayFields,
    DtypeFields,
    ObjectFields,
    canonical,
    check_layout,
    object_symbols,
    scalar_types,
)

GIL_THRESHOLD = 20_000
"""The number of loop iterations above which a program runs without the GIL: below, giving it up costs more than it is
worth."""


class Sort(enum.IntEnum):
    """The kind of an argument or a result: an array, a NumPy scalar, or a Python scalar."""

    ARRAY = 0
    RANK0 = 1
    FLOAT = 2
    COMPLEX = 3
    INT = 4
    BOOL = 5


_PYTHON_SORTS = {float: Sort.FLOAT, complex: Sort.COMPLEX, int: Sort.INT, bool: Sort.BOOL}
_DTYPE_SORTS = {"float64": Sort.FLOAT, "complex128": Sort.COMPLEX, "int64": Sort.INT, "bool": Sort.BOOL}


class ArgumentRecord(ctypes.Structure):
    """The data of an argument for the native entry."""

    _fields_ = (
        ("sort", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("flags_that_matter", ctypes.c_int32),
        ("flags", ctypes.c_int32),
        ("ones", ctypes.c_uint64),
        ("any_length", ctypes.c_uint64),
        ("type", ctypes.c_void_p),
        ("second_type", ctypes.c_void_p),
        ("dtype", ctypes.c_void_p),
        ("strided", ctypes.c_int64),
        ("rows", ctypes.c_int64),
        ("meta_begin", ctypes.c_int64),
    )


class ResultRecord(ctypes.Structure):
    """The data of a result for the native entry. ``donor`` and ``written`` are arguments, or -1."""

    _fields_ = (
        ("boxing", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("donor", ctypes.c_int64),
        ("written", ctypes.c_int64),
        ("dtype", ctypes.c_void_p),
        ("extents_begin", ctypes.c_int64),
    )


class PlanRecord(ctypes.Structure):
    """The data of a specialisation for the native entry. Fields named ``..._begin`` count in words of the call's
    frame."""

    _fields_ = (
        ("shapes", ctypes.c_void_p),
        ("program", ctypes.c_void_p),
        ("before", ctypes.c_void_p),
        ("arguments", ctypes.c_void_p),
        ("results", ctypes.c_void_p),
        ("captured_pointers", ctypes.c_void_p),
        ("captured_meta", ctypes.c_void_p),
        ("captured_spans", ctypes.c_void_p),
        ("targets", ctypes.c_void_p),
        ("guards", ctypes.c_void_p),
        ("guard_count", ctypes.c_int64),
        ("definitions", ctypes.c_void_p),
        ("definition_count", ctypes.c_int64),
        ("given_count", ctypes.c_int64),
        ("argument_count", ctypes.c_int64),
        ("captured_count", ctypes.c_int64),
        ("captured_meta_begin", ctypes.c_int64),
        ("captured_meta_count", ctypes.c_int64),
        ("result_count", ctypes.c_int64),
        ("written_count", ctypes.c_int64),
        ("single", ctypes.c_int64),
        ("leaves_exceptions", ctypes.c_int64),
        ("gil_threshold", ctypes.c_int64),
        ("scalars_begin", ctypes.c_int64),
        ("meta_begin", ctypes.c_int64),
        ("extents_begin", ctypes.c_int64),
        ("work_begin", ctypes.c_int64),
        ("pointers_begin", ctypes.c_int64),
        ("made_begin", ctypes.c_int64),
        ("values_begin", ctypes.c_int64),
    )


class TableRecord(ctypes.Structure):
    """The plans of a function, in the order in which the entry tries them."""

    _fields_ = (("plan_count", ctypes.c_int64), ("frame_size", ctypes.c_int64), ("plans", ctypes.c_void_p))


_STRUCTURES: dict[str, type[ctypes.Structure]] = {
    "Argument": ArgumentRecord,
    "Result": ResultRecord,
    "Plan": PlanRecord,
    "Table": TableRecord,
    "Guard": GuardRecord,
    "Definition": DefinitionRecord,
    "Call": CallRecord,
    "ArrayFields": ArrayFields,
    "DtypeFields": DtypeFields,
    "ObjectFields": ObjectFields,
}


_CONSTANTS = {
    **{sort.name: int(sort) for sort in Sort},
    **{f"GUARD_{kind.name}": int(kind) for kind in GuardKind},
    "HEADER_SIZE": HEADER_SIZE,
    "LARGE_BYTES": LARGE_BYTES,
    "INTERRUPTED": INTERRUPTED,
    "OUT_OF_MEMORY": OUT_OF_MEMORY,
    "CALL_WORDS": ctypes.sizeof(CallRecord) // 8,
    "SIZE_OF_GUARD": ctypes.sizeof(GuardRecord),
    "SIZE_OF_DEFINITION": ctypes.sizeof(DefinitionRecord),
    "SIZE_OF_ARGUMENT": ctypes.sizeof(ArgumentRecord),
    "SIZE_OF_RESULT": ctypes.sizeof(ResultRecord),
    "C_CONTIGUOUS": C_CONTIGUOUS,
    "WRITEABLE": WRITEABLE,
}


def _expand(source: str) -> str:
    """The entry's LLVM IR for this build of Python."""
    return expand(with_fields(source, _STRUCTURES), _CONSTANTS)


def _cache_key(source: str) -> str:
    """Everything on which the entry's object code depends."""
    fields = [
        (name, declared[0], getattr(structure, declared[0]).offset, getattr(structure, declared[0]).size)
        for name, structure in _STRUCTURES.items()
        for declared in structure._fields_
    ]
    return hashlib.sha256(repr((target_fingerprint(), source, fields, _CONSTANTS)).encode()).hexdigest()


@cache
def _entry() -> tuple[Library, int]:
    """The entry in this process, from the disk cache if it is there."""
    check_layout()
    source = read_source("entry", "arguments", "calls", "guards", "results", "writes")
    symbols = object_symbols() | handler_symbols() | stop_symbols()
    library = load_source(_cache_key(source), source, lambda: _expand(source), symbols)
    return library, library.address("entry")


def _argument_record(leaf: Leaf, meta_begin: int) -> ArgumentRecord:
    if not isinstance(leaf, ArrayLeaf):
        return ArgumentRecord(sort=_PYTHON_SORTS[leaf.kind], type=id(leaf.kind))
    # A scalar type that NumPy does not have, or keeps elsewhere, is never matched: null is nobody's type.
    types = (np.ndarray,) if leaf.ndim else scalar_types(leaf.dtype)
    return ArgumentRecord(
        sort=Sort.ARRAY if leaf.ndim else Sort.RANK0,
        ndim=leaf.ndim,
        flags_that_matter=ALIGNED | C_CONTIGUOUS | (0 if leaf.contiguous else F_CONTIGUOUS),
        flags=ALIGNED | (C_CONTIGUOUS if leaf.contiguous else F_CONTIGUOUS if leaf.fortran else 0),
        ones=sum(1 << axis for axis, one in enumerate(leaf.ones) if one),
        any_length=sum(1 << axis for axis, one in enumerate(leaf.ones) if one is None),
        type=id(types[0]) if types else 0,
        second_type=id(types[1]) if len(types) > 1 else 0,
        dtype=id(canonical(leaf.dtype)),
        strided=leaf.strided,
        rows=leaf.rows,
        meta_begin=meta_begin,
    )


def _result_record(result: Result, extents_begin: int) -> ResultRecord:
    boxing = Sort.ARRAY
    if result.ndim == 0 and result.boxed == "scalar":
        boxing = Sort.RANK0
    elif result.ndim == 0 and result.boxed == "python":
        if result.dtype.name not in _DTYPE_SORTS:
            raise ValueError(f"dtype {result.dtype} has no Python scalar that stands for it")
        boxing = _DTYPE_SORTS[result.dtype.name]
    donor = -1 if result.donated is None else result.donated
    written = -1 if result.written is None else result.written
    return ResultRecord(boxing, result.ndim, donor, written, id(canonical(result.dtype)), extents_begin)


def _check_captured(leaf: ArrayLeaf, array: np.ndarray) -> None:
    if leaf_of(array) != leaf or not array.flags.aligned:
        raise ValueError(f"a captured array of dtype {array.dtype} and shape {array.shape} does not fit {leaf}")


class EntryPlan:
    """One specialisation, ready to be called: its signature, its native code, and the arrays that it captured."""

    def __init__(
        self,
        signature: NativeSignature,
        *,
        shapes: int,
        program: int,
        captured: Sequence[np.ndarray] = (),
        keepalive: object = None,
        gil_threshold: int = GIL_THRESHOLD,
        before: int = 0,
        into: bool = False,
        guards: Guards | None = None,
        leaves_exceptions: bool = True,
    ) -> None:
        """Take the addresses of the two functions; ``keepalive`` is what owns them.

        ``before`` is the address of a function that is called before a program gives up the GIL. With ``into``, arrays
        for the results are given behind the arguments. Where a guard does not hold, the plan fits no call.
        ``leaves_exceptions``: whether functions that the program calls may leave one of Python's, as SciPy's do where
        `scipy.special.errstate` asks for it.
        """
        self.signature = signature
        self.captured = tuple(captured)
        self.keepalive = keepalive
        for leaf, array in zip(signature.captured, self.captured, strict=True):
            _check_captured(leaf, array)
        self.record = PlanRecord(shapes=shapes, program=program, gil_threshold=gil_threshold, before=before)
        self.record.leaves_exceptions = leaves_exceptions
        self.guards = guards
        if guards is not None:
            self.record.guards, self.record.guard_count = ctypes.addressof(guards.table), len(guards.table)
            self.record.definitions = ctypes.addressof(guards.definitions)
            self.record.definition_count = len(guards.definitions)
        self.frame_size = 0
        self._owned: list[Any] = []
        self._describe_signature()
        if into:
            self._describe_targets()
        self._describe_captured()
        self._lay_out_frame()

    @property
    def address(self) -> int:
        return ctypes.addressof(self.record)

    def _own(self, memory: Any) -> int:
        """The address of memory that lives as long as the plan."""
        self._owned.append(memory)
        return memory.ctypes.data if isinstance(memory, np.ndarray) else ctypes.addressof(memory)

    def _describe_signature(self) -> None:
        signature, record = self.signature, self.record
        arguments = [_argument_record(leaf, signature.meta_offsets[k]) for k, leaf in enumerate(signature.arguments)]
        begins = np.cumsum([0, *(result.ndim for result in signature.results)]).tolist()
        results = [_result_record(result, begin) for result, begin in zip(signature.results, begins, strict=False)]
        record.arguments = self._own((ArgumentRecord * len(arguments))(*arguments))
        record.results = self._own((ResultRecord * len(results))(*results))
        record.argument_count = record.given_count = len(arguments)
        record.result_count = len(results)
        record.written_count = sum(result.written is not None for result in signature.results)
        record.single = signature.single

    def _describe_targets(self) -> None:
        flags = ALIGNED | C_CONTIGUOUS | WRITEABLE
        targets = [
            ArgumentRecord(ndim=each.ndim, flags_that_matter=flags, flags=flags, dtype=id(canonical(each.dtype)))
            for each in self.signature.results
        ]
        self.record.targets = self._own((ArgumentRecord * len(targets))(*targets))
        self.record.given_count += len(targets)

    def _describe_captured(self) -> None:
        offsets, first = self.signature.meta_offsets, len(self.signature.arguments)
        meta: list[int] = []
        for leaf, array in zip(self.signature.captured, self.captured, strict=True):
            meta += array.shape + array.strides if leaf.strided else array.shape
        pointers = [array.ctypes.data for array in self.captured]
        spans = [np.lib.array_utils.byte_bounds(array) for array in self.captured]
        self.record.captured_pointers = self._own(np.array(pointers, dtype=np.uint64))
        self.record.captured_meta = self._own(np.array(meta, dtype=np.int64))
        self.record.captured_spans = self._own(np.array(spans, dtype=np.uint64))
        self.record.captured_count = len(pointers)
        self.record.captured_meta_begin = offsets[first]
        self.record.captured_meta_count = offsets[-1] - offsets[first]

    def _lay_out_frame(self) -> None:
        """Assign an offset in a call's frame to each part; data pointers stand at the beginning."""
        signature, record = self.signature, self.record
        results = len(signature.results)
        begin = len(signature.leaves)
        for name, size in (
            ("scalars", len(signature.arguments)),
            ("meta", signature.meta_offsets[-1]),
            ("extents", sum(result.ndim for result in signature.results)),
            ("work", 1),
            ("pointers", results),
            ("made", results),
            ("values", 2 * results),
        ):
            setattr(record, f"{name}_begin", begin)
            begin += size
        self.frame_size = begin


def make_callable(plans: Sequence[EntryPlan], name: str) -> Callable[..., Any]:
    """Make a builtin function that runs the first plan that its arguments fit, or else returns ``NotImplemented``."""
    with times.stage("entry"):
        library, address = _entry()
    times.report(name)
    addresses = np.array([plan.address for plan in plans], dtype=np.uint64)
    table = TableRecord(len(plans), max((plan.frame_size for plan in plans), default=0), addresses.ctypes.data)
    return builtin(name, address, table, library, addresses, tuple(plans))


def method_of(owner: type, slots: CallSlots, handlers: Handlers) -> Any:
    """A method ``__call__`` that is native code, as `call_method` says."""
    return call_method(_entry()[0], owner, slots, handlers)
