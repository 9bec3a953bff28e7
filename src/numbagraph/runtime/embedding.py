"""A graph inside other native code, whose callers know neither Python nor which lengths are 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from numbagraph.emit.c_function import emit_c_function, fixed_address
from numbagraph.emit.call import Address, LinkedVersion, ProgramCall, bind_externals
from numbagraph.intrinsics.emitters.external import external_symbols
from numbagraph.ir.shapes import ShapeError
from numbagraph.ir.structs import Struct, cached_property
from numbagraph.ir.values import Source
from numbagraph.runtime.callbacks import symbols_for_c
from numbagraph.runtime.compile import Library, compile_module
from numbagraph.runtime.specialise import Specialisation, compiler, compiling

C_FUNCTION = "call"

FAILURES = (ArithmeticError, LookupError, NotImplementedError, TypeError, ValueError)
"""The exceptions that tracing a function may raise."""


class Failure(Struct):
    """An exception that an embedded graph raises."""

    error: type[Exception]
    message: str


class Embedding(Struct, eq=False):
    """A function, traced for arguments of which any length may be 1.

    NumPy's broadcasting then has to be decided when the function runs, and that costs. So where it makes a difference
    there are two versions, the first for arguments without a length of 1.
    """

    versions: tuple[Specialisation, ...]
    refuses_one: bool
    """Whether there is no version for lengths of 1."""
    order: tuple[int, ...]
    """For each leaf, the number of the caller's argument that it is."""
    outputs: Any
    described: str

    @cached_property
    def failures(self) -> tuple[Failure, ...]:
        """The exceptions by the number that `ProgramCall.prepare` returns, from 1 on."""
        found = [self._failure(*each) for version in self.versions for each in version.guard_subjects]
        if self.refuses_one:
            text = "a length is 1, and might broadcast, for which there is no native code: call it from Python"
            found.append(Failure(ValueError, f"{self.described}: {text}"))
        return tuple(found)

    def _failure(self, error: type[Exception], subject: str, source: Source | None) -> Failure:
        where = f"\n  {source.text}" if source is not None else ""
        kind = ValueError if issubclass(error, ShapeError) else error
        return Failure(kind, f"{self.described}: {subject}{where}")

    @cached_property
    def c_library(self) -> Library:
        """The function for callers from C, compiled."""
        module, first = ir.Module(C_FUNCTION), self.versions[0].signature
        emit_c_function(
            module,
            C_FUNCTION,
            first.arguments,
            len(first.results),
            lambda builder: self.call(builder, fixed_address, symbols_for_c),
        )
        with compiling:
            return Library(compile_module(str(module)), {})

    @property
    def c_address(self) -> int:
        """The address of the function for callers from C, valid as long as this object lives."""
        return self.c_library.address(C_FUNCTION)

    def call(
        self,
        builder: ir.IRBuilder,
        address: Address,
        symbols: Callable[[list[str]], dict[str, int]] = external_symbols,
    ) -> ProgramCall:
        """Begin to emit a call at the builder's position; ``symbols`` finds the addresses of external ones."""
        versions = [emit_version(builder.module, version) for version in self.versions]
        bind_externals(builder.module, symbols, address)
        return ProgramCall(builder, versions, address, refuses_one=self.refuses_one)


def emit_version(module: ir.Module, special: Specialisation) -> LinkedVersion:
    """Emit the functions of a specialisation into ``module``, unless they are there already."""
    if f"{special.name}.program" not in module.globals:
        special.emit(module)
    shapes, program = (module.globals[f"{special.name}.{part}"] for part in ("shapes", "program"))
    assert isinstance(shapes, ir.Function)
    assert isinstance(program, ir.Function)
    for function in (shapes, program):
        function.linkage = "internal"
        if all(isinstance(step, compiler.Compute) for step in special.program.body.steps):
            function.attributes.add("alwaysinline")
    return LinkedVersion(special.signature, shapes, program, special.captured, len(special.guard_subjects))
