"""Calls of SciPy's BLAS and LAPACK, which take every argument by its address, and matrices column by column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import reduce

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import F64, I1, I8, I32, I64, POINTER, Emitter, llvm_constant
from numbagraph.intrinsics.emitters.external import BLAS, LAPACK
from numbagraph.intrinsics.emitters.matrices import Index
from numbagraph.ir.types import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64

LETTERS = {FLOAT32: "s", FLOAT64: "d", COMPLEX64: "c", COMPLEX128: "z"}
LONGEST = 2**31 - 1
"""The greatest length: the integers of BLAS and LAPACK have 32 bits."""

ONE_THREAD = "numbagraph.one_thread."
"""The prefix of external symbols that are functions to keep BLAS to one thread."""

SMALL = 512
"""The length below which products are kept to one thread: several threads save some milliseconds at best, and where
cores are busy, a thread that waits for others loses hundreds."""

UNITARY = {"syevd": "heevd", "orghr": "unghr", "orgqr": "ungqr", "ormqr": "unmqr"}
"""LAPACK's names of routines for complex numbers, where these differ in more than the first letter."""


Argument = ir.Value | Index | str | complex
"""An argument of a routine: an address; or a letter, a length or a number, which is stored so as to have one."""


class Fortran:
    """Calls of the routines for one dtype."""

    def __init__(self, emitter: Emitter, dtype: np.dtype) -> None:
        self.emitter = emitter
        self.dtype = dtype

    def slot(self, value: ir.Value) -> ir.Value:
        """Store a value, and return its address."""
        with self.emitter.builder.goto_entry_block():
            slot = self.emitter.builder.alloca(value.type)
        self.emitter.builder.store(value, slot)
        return slot

    def length(self, value: ir.Value) -> ir.Value:
        """Store a length, and return its address."""
        return self.slot(self.emitter.builder.trunc(value, I32))

    def width(self, extent: ir.Value) -> ir.Value:
        """Store the distance of columns, and return its address; it must be positive even where columns are empty."""
        builder = self.emitter.builder
        empty = builder.icmp_signed("<", extent, ir.Constant(I64, 1))
        return self.length(builder.select(empty, ir.Constant(I64, 1), extent))

    def number(self, value: complex) -> ir.Value:
        """Store a number, and return its address."""
        return self.slot(llvm_constant(value, self.dtype))

    def character(self, letter: str) -> ir.Value:
        return self.slot(ir.Constant(I8, ord(letter)))

    def blas(self, routine: str, *arguments: Argument) -> None:
        self.call(f"{BLAS}{LETTERS[self.dtype]}{routine}", arguments)

    def lapack(self, routine: str, *arguments: Argument) -> ir.Value:
        """Call a routine whose last argument is ``info``, and return that."""
        info = self.slot(ir.Constant(I32, 0))
        routine = UNITARY.get(routine, routine) if self.dtype.kind == "c" else routine
        self.call(f"{LAPACK}{LETTERS[self.dtype]}{routine}", (*arguments, info))
        return self.emitter.builder.load(info)

    def call(self, name: str, arguments: tuple[Argument, ...]) -> None:
        addresses = [self.emitter.builder.bitcast(self.address(each), POINTER) for each in arguments]
        function = self.emitter.function(name, ir.VoidType(), [POINTER] * len(addresses), pure=False)
        self.emitter.builder.call(function, addresses)

    def address(self, argument: Argument) -> ir.Value:
        if isinstance(argument, str):
            return self.character(argument)
        if isinstance(argument, Index):
            return self.length(argument.register)
        if isinstance(argument, (int, float, complex)):
            return self.number(argument)
        return argument


@contextmanager
def one_thread(emitter: Emitter, lengths: Iterable[ir.Value]) -> Iterator[None]:
    """Emit calls inside the context so that BLAS makes them on one thread if the geometric mean of some lengths is
    small: their product is the amount of work."""
    builder = emitter.builder
    numbers = [builder.sitofp(each, F64) for each in lengths]
    small = builder.fcmp_ordered("<", reduce(builder.fmul, numbers), ir.Constant(F64, SMALL ** len(numbers)))

    def tell(step: str) -> None:
        with builder.if_then(small):
            builder.call(emitter.function(f"{ONE_THREAD}{step}", ir.VoidType(), [], pure=False), [])

    tell("begin")
    yield
    tell("end")


def too_long(emitter: Emitter, lengths: Iterable[ir.Value]) -> ir.Value:
    """Return whether any of the lengths is more than Fortran's integers hold. Guards refuse such arguments, but do not
    know of batches that are merged."""
    builder, result = emitter.builder, ir.Constant(I1, 0)
    for length in lengths:
        result = builder.or_(result, builder.icmp_signed(">", length, ir.Constant(I64, LONGEST)))
    return result
