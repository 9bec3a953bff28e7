"""Imported graphs as native functions of one vector, for samplers and for Python."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir

from numbagraph.emit.flat_point import (
    UNHEARD,
    HeldArgument,
    PointLayout,
    VectorPart,
    emit_entry,
    emit_run,
    emit_sampled,
)
from numbagraph.ir.abi import ArrayLeaf, NativeSignature, Result
from numbagraph.ir.structs import cached_property, replace
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import Input, Value
from numbagraph.pymc_bridge.importer import ImportedGraph
from numbagraph.pymc_bridge.sampling.failures import Failures
from numbagraph.runtime.cache import default_cache
from numbagraph.runtime.entry import EntryPlan, make_callable
from numbagraph.runtime.garbage_collection import collector_at_rest
from numbagraph.runtime.interruption import take_unseen
from numbagraph.runtime.specialise import Specialisation, signature_of
from numbagraph.tracing.tracebacks import for_users
from numbagraph.transforms.interpret import evaluate

if TYPE_CHECKING:
    from numbagraph.emit.program import DeferredLoops


class VectorSpecialisation(Specialisation, frozen=False):
    """A graph whose arguments are parts of one vector, and the functions that take that vector."""

    vectors: PointLayout = None  # type: ignore[assignment]

    @property
    def layout(self) -> str:
        return f"{super().layout} {self.vectors}"

    def emit(self, module: ir.Module, deferred: DeferredLoops | None = None) -> ir.Module:
        super().emit(module, deferred)
        run = emit_run(module, self.name, self.signature, self.vectors)
        emit_sampled(module, self.name, run, self.vectors)
        if not self.vectors.with_point:
            emit_entry(module, self.name, run, self.vectors)
        return module


def names_of(graph: ImportedGraph) -> list[str]:
    """The names of a graph's captured arrays in a record."""
    return [f"{graph.name} {number}" for number in range(len(graph.captured))]


class Record:
    """A table of the arrays that native code reads: the address, the size and the lengths of each, in nutpie's
    layout."""

    def __init__(self, arrays: Mapping[str, np.ndarray]) -> None:
        names = list(arrays)
        fields: list[Any] = [
            ("data", [(name, np.uintp) for name in names]),
            ("size", [(name, np.uintp) for name in names]),
            ("shape", [(name, np.uint64, (arrays[name].ndim,)) for name in names]),
        ]
        self.memory = np.zeros((), dtype=np.dtype([("shared", fields)]))
        self.arrays: dict[str, np.ndarray] = {}
        for name, array in arrays.items():
            self.put(name, array)

    def put(self, name: str, array: np.ndarray) -> None:
        """Let code read ``array`` from now on."""
        self.arrays[name] = array
        shared = self.memory["shared"]
        shared["data"][name], shared["size"][name] = array.ctypes.data, array.size
        shared["shape"][name] = array.shape

    def held(self, name: str) -> HeldArgument:
        """The place of an array in the record."""
        fields: Any = self.memory.dtype["shared"].fields
        (addresses, at_address, *_), (lengths, at_lengths, *_) = fields["data"], fields["shape"]
        shape = self.arrays[name].shape
        return HeldArgument(at_address + addresses.fields[name][1], at_lengths + lengths.fields[name][1], shape)

    @property
    def address(self) -> int:
        return self.memory.ctypes.data


def parts_of(shapes: Sequence[tuple[int, ...]], vector: int = 0, begin: int = 0) -> list[VectorPart]:
    """Arrays of these shapes, one after the other."""
    parts = []
    for shape in shapes:
        parts.append(VectorPart(vector, begin, shape))
        begin += parts[-1].size
    return parts


def distinct(
    outputs: Sequence[Value], parts: Sequence[VectorPart]
) -> tuple[list[Value], list[VectorPart], list[tuple[VectorPart, VectorPart]]]:
    """Each output once, with its part; and for repeated outputs, pairs of the part to copy and the part to fill."""
    first: dict[Value, VectorPart] = {}
    copies = []
    for output, part in zip(outputs, parts, strict=True):
        if output in first:
            copies.append((first[output], part))
        else:
            first[output] = part
    return list(first), list(first.values()), copies


WATCHER = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int32, ctypes.c_uint64, ctypes.c_void_p)
"""The function that native code calls if it fails where its caller is not Python: it takes the code and the point."""


class VectorFunction:
    """A graph of parts of a vector, compiled."""

    def __init__(
        self,
        graph: ImportedGraph,
        shapes: Sequence[tuple[int, ...]],
        results: Sequence[VectorPart],
        sizes: Sequence[int],
        record: Record,
        names: Sequence[str],
        *,
        with_point: bool = False,
        failures: Failures | None = None,
    ) -> None:
        """The first inputs are the parts of the vector, and the others the arrays of the record with these names.

        ``failures`` records calls that fail.
        """
        self.failures = failures
        self.record = record
        self.names = tuple(names)
        arguments, held = parts_of(shapes), tuple(map(record.held, names))
        outputs, own, copies = distinct(graph.outputs, results)
        self.graph = graph = replace(graph, outputs=tuple(outputs))
        self.size = sum(each.size for each in arguments)
        varying = [number for number, each in enumerate(outputs) if not all(isinstance(n, int) for n in each.shape)]
        self.vectors = PointLayout(
            self.size, (*arguments, *held), tuple(own), tuple(sizes), tuple(copies), with_point, tuple(varying)
        )
        signature = signature_of(graph, [leaf_of(each) for each in graph.inputs], 0, False)
        cache = default_cache()
        self.special = VectorSpecialisation(graph, signature, name=graph.name, cache=cache, vectors=self.vectors)

    @property
    def arrays(self) -> list[np.ndarray]:
        """The values of the inputs behind the parts of the vector."""
        return [self.record.arrays[name] for name in self.names]

    @cached_property
    @for_users
    def library(self) -> Any:
        with collector_at_rest:
            library = self.special.library
        self.watcher = WATCHER(self.told)
        words = {"record": self.record.address, "watcher": ctypes.cast(self.watcher, ctypes.c_void_p).value}
        for name, word in words.items():
            ctypes.c_void_p.from_address(library.address(f"{self.special.name}.{name}")).value = word
        return library

    def told(self, code: int, size: int, address: int) -> int:
        """Handle a failed call, on the thread of the call, and return how the sampler proceeds.

        Without a sampler, `ctypes` prints the exception, if there is one.
        """
        error = take_unseen()
        x = np.array((ctypes.c_double * size).from_address(address)) if size else np.zeros(0)
        of_draws = self.vectors.with_point
        answer = UNHEARD
        if self.failures is not None:
            answer = self.failures.hear(error, code, lambda: self.evaluate(x), of_draws=of_draws)
        if answer == UNHEARD and error is not None:
            raise error
        return answer

    def evaluate(self, x: np.ndarray) -> list[Any]:
        """Compute the results at a point by NumPy, which raises the error of a failure there."""
        parts = [x[each.begin : each.begin + each.size].reshape(each.shape) for each in self.own_parts]
        with np.errstate(all="ignore"):
            return evaluate(self.graph, [*parts, *self.arrays])

    @property
    def own_parts(self) -> list[VectorPart]:
        """The parts of the vector that are arguments."""
        return [each for each in self.vectors.arguments if isinstance(each, VectorPart)]

    @property
    def address(self) -> int:
        """The address of the function that a sampler calls."""
        return self.library.address(f"{self.special.name}.sampled")

    @cached_property
    def entry(self) -> Callable[[np.ndarray], Any]:
        """The function for calls from Python, which returns NotImplemented for arguments that it does not take."""
        ones = (self.size == 1,)
        vectors = tuple(Result(FLOAT64, 1) for _ in self.vectors.sizes[1:])
        results = (Result(FLOAT64, 0, "scalar"), *vectors)
        plan = EntryPlan(
            NativeSignature((ArrayLeaf(FLOAT64, ones),), (), results, single=not vectors),
            shapes=self.library.address(f"{self.special.name}.vector.shapes"),
            program=self.library.address(f"{self.special.name}.vector.program"),
            keepalive=(self.library, self.record, self.graph),  # which has the functions that are called back
        )
        return make_callable([plan], self.special.name)


def leaf_of(value: Input) -> ArrayLeaf:
    """The layout in which native code takes an input: in C order, with the lengths of the input's own type."""
    return ArrayLeaf(value.dtype, tuple(extent == 1 for extent in value.shape))
