"""The compilation of a traced graph, for a layout of its arguments, to native code, by way of the cache on disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING

import llvmlite.ir as ir
import numpy as np

import numbagraph.runtime.math_library
import numbagraph.runtime.one_thread
import numbagraph.runtime.signals  # noqa: F401  binds what emitted code calls
from numbagraph import times
from numbagraph.emit.call import external_functions
from numbagraph.forking import new_lock
from numbagraph.intrinsics.emitters.ir import Buffer
from numbagraph.ir.abi import Leaf, NativeSignature, Result
from numbagraph.ir.graph import Graph, content_hash
from numbagraph.ir.later import Later
from numbagraph.ir.op import boxing
from numbagraph.ir.structs import Struct, cached_property, replace
from numbagraph.ir.values import Node, Source, Value
from numbagraph.runtime import module_text, threads
from numbagraph.runtime.cache import DiskCache, sources
from numbagraph.runtime.cached_code import linked, load, with_names
from numbagraph.runtime.checked_loops import CheckedLoops, programs
from numbagraph.runtime.compile import Library, LinkError, assembly, optimised_ir, target_fingerprint
from numbagraph.runtime.compile_jobs import compile_parts
from numbagraph.runtime.entry import GIL_THRESHOLD, EntryPlan
from numbagraph.runtime.guards import Guards
from numbagraph.runtime.module_parts import parts
from numbagraph.runtime.progress import progress
from numbagraph.version import __version__

if TYPE_CHECKING:
    from numbagraph.emit.checked_loops import CheckedLoop
    from numbagraph.emit.program import DeferredLoops
    from numbagraph.loops.ir import Program
    from numbagraph.rewrite.stages import Stages
    from numbagraph.runtime import compiler_imports as compiler
else:  # the passes take as long to import as all ops
    compiler = Later("numbagraph.runtime.compiler_imports")

compiling = new_lock()


def signature_of(
    graph: Graph, leaves: Sequence[Leaf], captured: int, single: bool, written: Sequence[int] = ()
) -> NativeSignature:
    """The binary signature of a graph whose last ``captured`` inputs are captured arrays, and whose last results are
    the contents of ``written`` arguments after the call."""
    count = len(leaves) - captured
    kept = [None] * (len(graph.outputs) - len(written))
    results = tuple(
        Result(value.dtype, value.ndim, boxing(value), written=number)
        for value, number in zip(graph.outputs, [*kept, *written], strict=True)
    )
    return NativeSignature(tuple(leaves[:count]), tuple(leaves[count:]), results, single)  # type: ignore[arg-type]


def is_control(value: Value) -> bool:
    return isinstance(value, Node) and value.op.kind == "control"


class Specialisation(Struct, frozen=False):
    """One graph, compiled for one layout of arguments. Parts that are rarely needed (the program's text, its passes)
    are made on first use: a hit in the cache needs none of them."""

    graph: Graph
    signature: NativeSignature
    captured: tuple[np.ndarray, ...] = ()
    name: str = "f"
    cache: DiskCache | None = None
    parallel: bool = False
    """Whether loop nests may run on several threads."""
    guards: Guards | None = None
    """The guards on objects that the function read when it was traced."""
    plans: list[int] = field(default_factory=list)
    """The addresses of the plans by which the native entry knows the specialisation."""
    compiled: bool = False
    """Whether the code was compiled here, rather than found on disk."""

    def accept_donations(self, arguments: Iterable[int], kept: Collection[int] = ()) -> None:
        """Let results take over the memory of arguments, where the loop nests allow it; ``kept`` are results that are
        not returned to the caller, who has the argument."""
        program, results = self.program, list(self.signature.results)
        for number in arguments:
            obstacles: dict[str, None] = {}
            for position, (result, buffer) in enumerate(zip(results, program.results, strict=True)):
                if not isinstance(buffer, Buffer) or result.donated is not None or position in kept:
                    continue
                obstacle = compiler.reuse_donated(program, number, buffer)
                if obstacle is None:
                    results[position] = replace(result, donated=number)
                    break
                obstacles[obstacle] = None
            else:
                name, reasons = self.graph.inputs[number].name, "; ".join(obstacles) or "no array is left to be there"
                program.notes.append(f"{name} is donated, but not overwritten: {reasons}")
        self.signature = replace(self.signature, results=tuple(results))

    def write_in_place(self) -> None:
        """Let arguments be written where they lie, if nothing may fail once one of them has begun to change."""
        places = {each.written: place for place, each in enumerate(self.signature.results) if each.written is not None}
        if not places:
            return
        self.program = program = self.built_in_place(places)  # type: ignore[misc]  in place of what it would be
        in_place, old = {leaf.leaf for leaf, _ in program.donations}, self.signature.results
        for number, place in places.items():
            buffer = program.results[place]
            if (
                number not in in_place
                and isinstance(buffer, Buffer)
                and compiler.reuse_donated(program, number, buffer) is None
            ):
                in_place.add(number)
        results = [replace(each, donated=each.written) if each.written in in_place else each for each in old]
        self.signature = replace(self.signature, results=tuple(results))

    def built_in_place(self, places: Mapping[int, int]) -> Program:
        """The program in which as many arguments as can be live in the memory of results."""
        outputs = self.stages.final.outputs
        # most loops may end at a signal, or at a check, after they have begun to write
        before = {number: place for number, place in places.items() if not is_control(outputs[place])}
        along = {number: place for number, place in places.items() if compiler.may_be_uninterruptible(outputs[place])}
        for given in (before | along, before) if along else (before,):
            program = self.built(given)
            if not compiler.fails_late(program):
                return program
        return self.built({})

    def copy(self) -> Specialisation:
        """A copy that may be changed before it is compiled."""
        return Specialisation(
            self.graph, self.signature, self.captured, self.name, self.cache, self.parallel, self.guards
        )

    def as_compiled(self) -> Specialisation:
        """A copy with the present program, which decides where results are."""
        copy = self.copy()
        if "program" in vars(self):
            copy.program = self.program  # type: ignore[misc]  in place of what it would be
        return copy

    @cached_property
    def stages(self) -> Stages:
        return compiler.optimise(self.graph, self.parallel)

    @cached_property
    def program(self) -> Program:
        return self.built({})

    def built(self, given: Mapping[int, int]) -> Program:
        """The program, in which some arguments may live in the memory of results."""
        graph = self.stages.final
        with times.stage("loop nests"):
            return compiler.build_program(graph, self.signature.leaves, parallel=self.parallel, given=given)

    @property
    def tiled(self) -> Program:
        """The program as it is emitted: tiling follows all decisions about memory, donations included."""
        return compiler.tiled(self.program)

    @cached_property
    def guard_subjects(self) -> list[tuple[type[Exception], str, Source | None]]:
        """For each return code of ``shapes``, from 1 on, the error of the guard that failed: its class, its text and
        its source."""
        equalities = {each.dim: each for each in self.graph.equalities}
        found: list[tuple[type[Exception], str, Source | None]] = []
        for _, _, dim in compiler.repeated_dims(self.graph.inputs):
            equality = equalities.get(dim)
            subject = equality.subject if equality is not None else f"{dim.name} does not fit the other lengths"
            found.append((ValueError, subject, equality.source if equality is not None else None))
        found += [(guard.error, guard.subject, guard.source) for guard in self.stages.final.guards]
        return (
            [*found, (ValueError, compiler.TOO_BIG, None)]
            if compiler.unbounded(self.program, self.graph.inputs)
            else found
        )

    @cached_property
    def module_text(self) -> str:
        module = self.emit(ir.Module(self.name), self.deferred_loops())
        return str(module_text.merged(module_text.parse(str(module))))

    def emit(self, module: ir.Module, deferred: DeferredLoops | None = None) -> ir.Module:
        """Add the two functions of this specialisation to a module. ``deferred`` collects the loops with checks that
        are loaded on first use."""
        emitter = partial(compiler.ProgramEmitter, deferred=deferred)
        compiler.emit_program(module, self.tiled, self.signature, self.graph.inputs, self.name, emitter)
        return module

    def deferred_loops(self) -> DeferredLoops | None:
        """A collection for the loops with checks that are loaded on first use; None if they are emitted at once."""
        return compiler.DeferredLoops(self.key, {})

    def checked_loop(self, symbol: str) -> CheckedLoop:
        """Make a loop with checks by its symbol."""
        deferred = compiler.DeferredLoops(self.key, {})
        self.emit(ir.Module(self.name), deferred)
        if symbol not in deferred.loops:
            text = "its code is not what its graph gives now: `python -m numbagraph cache clear` removes what is stored"
            raise LinkError(f"{self.name} needs a loop with checks that it has not, {symbol}; {text}")
        return deferred.loops[symbol]

    @property
    def layout(self) -> str:
        """A text of the properties, other than the graph, on which the code depends."""
        return repr((self.signature.leaves, self.signature.results, self.parallel))

    @cached_property
    def key(self) -> str:
        versions = (__version__, np.__version__)  # NumPy computes what depends on constants alone
        return content_hash(self.graph, self.name, self.layout, *versions, sources(), target_fingerprint())

    def object_code(self) -> bytes:
        """Compile the code, and return it preceded by the names of the external symbols that it needs."""
        self.compiled = True
        with progress(self.name):
            with times.stage("emission"):
                module = self.emit(ir.Module(self.name), self.deferred_loops())
                texts = parts(module_text.merged(module_text.parse(str(module))))
            with times.stage("LLVM"):
                return with_names(external_functions(module), *compile_parts(texts))

    @cached_property
    def library(self) -> Library:
        functions = [f"{self.name}.shapes", f"{self.name}.program"]
        with compiling, times.stage("cache and linker"):
            found = load(self.cache, self.key, self.object_code, lambda content: linked(content, functions))
            if found.loads_loops:
                found.keepalive = programs.setdefault(self.key, CheckedLoops(self.as_compiled().checked_loop))
        if os.environ.get("NUMBAGRAPH_DEBUG", "0") not in ("0", "times"):
            origin = "compiled here" if self.compiled else "found on disk"
            sys.stderr.write(f"# {self.name}: {origin}\n{self.stages.final}\n{self.module_text}\n")
        return found

    @cached_property
    def plan(self) -> EntryPlan:
        return self.make_plan()

    def make_plan(self, *, into: bool = False, guarded: bool = True) -> EntryPlan:
        """Make the plan for the native entry; with ``into``, arrays for the results are passed behind the arguments."""
        library = self.library
        plan = EntryPlan(
            self.signature,
            shapes=library.address(f"{self.name}.shapes"),
            program=library.address(f"{self.name}.program"),
            captured=self.captured,
            keepalive=(library, self.graph),  # the graph has the functions that are called back
            # a helper may need the GIL to load code, while the caller waits for it
            gil_threshold=0 if self.parallel else GIL_THRESHOLD,
            before=threads.pool.get().part.address("before_call") if self.parallel else 0,
            into=into,
            guards=self.guards if guarded else None,
            leaves_exceptions=library.calls_others,
        )
        self.plans.append(plan.address)
        return plan

    def llvm(self, *, optimised: bool = True) -> str:
        return optimised_ir(self.module_text) if optimised else self.module_text

    def assembly(self) -> str:
        return assembly(self.module_text)
