"""Products of matrices, by SciPy's BLAS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitter import I8, I32, I64, Emitter, llvm_constant, llvm_type
from numbagraph.intrinsics.external import BLAS
from numbagraph.types import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64

LETTERS = {FLOAT32: "s", FLOAT64: "d", COMPLEX64: "c", COMPLEX128: "z"}
LONGEST = 2**31 - 1
"""What a length of BLAS can be: its integers have 32 bits."""

Extents = Sequence[ir.Value]


def matmul(
    emitter: Emitter,
    addresses: Sequence[ir.Value],
    extents: Sequence[Extents],
    dtypes: Sequence[np.dtype],
    *,
    transposed: tuple[bool, bool],
) -> None:
    """``(..., m, k), (..., k, n) -> (..., m, n)``; ``transposed`` says whose last two dimensions stand in reverse.

    BLAS counts along columns: to it, each of our matrices is its transpose, and it computes right times left.
    """
    *left_batch, first, second = extents[0]
    *right_batch, _, _ = extents[1]
    *batch, rows, columns = extents[2]
    inner = first if transposed[0] else second
    if not right_batch and not transposed[0]:
        # one matrix on the right serves all on the left: their rows are the rows of one tall matrix
        rows, left_batch, batch = _product(emitter, (*batch, rows)), [], []
    gemm = Gemm(emitter, dtypes[0], transposed, rows, inner, columns)
    sides = (left_batch, rows, inner), (right_batch, inner, columns), (batch, rows, columns)
    steps = [_batch_steps(emitter, own, batch, emitter.builder.mul(m, n)) for own, m, n in sides]
    _for_each(emitter, batch, steps, addresses, dtypes[0], gemm.call)


class Gemm:
    """Calls of BLAS that differ in their addresses only. Fortran takes all arguments by address."""

    def __init__(
        self, emitter: Emitter, dtype: np.dtype, transposed: tuple[bool, bool], m: ir.Value, k: ir.Value, n: ir.Value
    ) -> None:
        self.emitter = emitter
        self.dtype = dtype
        left, right = (self._slot(ir.Constant(I8, ord("T" if each else "N"))) for each in transposed)
        self.first = [right, left, *map(self._length, (n, m, k)), self._slot(llvm_constant(1, dtype))]
        self.widths = [self._width(each) for each in (m if transposed[0] else k, k if transposed[1] else n, n)]
        self.zero = self._slot(llvm_constant(0, dtype))

    def _slot(self, value: ir.Value) -> ir.Value:
        slot = self.emitter.builder.alloca(value.type)
        self.emitter.builder.store(value, slot)
        return slot

    def _length(self, extent: ir.Value) -> ir.Value:
        return self._slot(self.emitter.builder.trunc(extent, I32))

    def _width(self, extent: ir.Value) -> ir.Value:
        """How far rows are apart, which BLAS wants to be positive even where there are none."""
        builder = self.emitter.builder
        empty = builder.icmp_signed("<", extent, ir.Constant(I64, 1))
        return self._length(builder.select(empty, ir.Constant(I64, 1), extent))

    def call(self, left: ir.Value, right: ir.Value, result: ir.Value) -> None:
        number = llvm_type(self.dtype).as_pointer()
        left, right, result = (self.emitter.builder.bitcast(each, number) for each in (left, right, result))
        arguments = [*self.first, right, self.widths[1], left, self.widths[0], self.zero, result, self.widths[2]]
        name, types = f"{BLAS}{LETTERS[self.dtype]}gemm", [each.type for each in arguments]
        self.emitter.builder.call(self.emitter.function(name, ir.VoidType(), types, pure=False), arguments)


def _product(emitter: Emitter, factors: Sequence[ir.Value]) -> ir.Value:
    return reduce(emitter.builder.mul, factors, ir.Constant(I64, 1))


def _batch_steps(emitter: Emitter, own: Extents, batch: Extents, size: ir.Value) -> list[ir.Value]:
    """How far an operand's matrix is from the next along each batch dimension; 0 where it is repeated."""
    builder, zero = emitter.builder, ir.Constant(I64, 0)
    steps: list[ir.Value] = [zero] * (len(batch) - len(own))
    for number, extent in enumerate(own):
        repeated = builder.icmp_unsigned("==", extent, ir.Constant(I64, 1))
        steps.append(builder.select(repeated, zero, _product(emitter, (size, *own[number + 1 :]))))
    return steps


def _for_each(
    emitter: Emitter,
    batch: Extents,
    steps: Sequence[Sequence[ir.Value]],
    addresses: Sequence[ir.Value],
    dtype: np.dtype,
    call: Callable[..., None],
) -> None:
    """Call on the addresses of the matrices at each position of the batch dimensions."""
    if not batch:
        call(*addresses)
        return
    builder, width = emitter.builder, ir.Constant(I64, dtype.itemsize)
    distances = [builder.mul(step[0], width) for step in steps]

    def goes_on(index: ir.Value, *_: ir.Value) -> ir.Value:
        return builder.icmp_signed("<", index, batch[0])

    def step(index: ir.Value, *current: ir.Value) -> list[ir.Value]:
        _for_each(emitter, batch[1:], [each[1:] for each in steps], current, dtype, call)
        moved = [builder.gep(address, [distance]) for address, distance in zip(current, distances, strict=True)]
        return [builder.add(index, ir.Constant(I64, 1)), *moved]

    emitter.repeat([ir.Constant(I64, 0), *addresses], goes_on, step)
