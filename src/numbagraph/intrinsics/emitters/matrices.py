"""Code over matrices: indices, loops that are unrolled where their bounds are known, elements in memory or registers.

An algorithm that is written with these serves matrices of any length, and those of a static length without a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import I64, Emitter, Operand, llvm_type
from numbagraph.intrinsics.emitters.formula import Bits, Complex, FormulaValue, Number, unwrap, wrap
from numbagraph.ir.types import BOOL


class Index:
    """A length or a position: a Python integer where it is known, else a register. Arithmetic folds what is known."""

    __slots__ = ("emitter", "value")

    def __init__(self, emitter: Emitter, value: int | ir.Value) -> None:
        self.emitter = emitter
        self.value = value.constant if isinstance(value, ir.Constant) else value

    @property
    def static(self) -> int | None:
        return self.value if isinstance(self.value, int) else None

    @property
    def register(self) -> ir.Value:
        return ir.Constant(I64, self.value) if isinstance(self.value, int) else self.value

    def _other(self, other: int | Index) -> Index:
        return other if isinstance(other, Index) else Index(self.emitter, other)

    def _apply(self, method: str, fold: Callable[[int, int], int], other: int | Index) -> Index:
        other = self._other(other)
        if self.static is not None and other.static is not None:
            return Index(self.emitter, fold(self.static, other.static))
        builder = getattr(self.emitter.builder, method)
        return Index(self.emitter, builder(self.register, other.register, flags=("nsw",)))

    def __add__(self, other: int | Index) -> Index:
        return self if other == 0 else self._apply("add", lambda x, y: x + y, other)

    def __radd__(self, other: int) -> Index:
        return self + other

    def __rmul__(self, other: int) -> Index:
        return self * other

    def __sub__(self, other: int | Index) -> Index:
        return self._apply("sub", lambda x, y: x - y, other)

    def __rsub__(self, other: int) -> Index:
        return self._other(other) - self

    def __mul__(self, other: int | Index) -> Index:
        return self._apply("mul", lambda x, y: x * y, other)

    def compare(self, predicate: str, other: int | Index) -> ir.Value:
        return self.emitter.builder.icmp_signed(predicate, self.register, self._other(other).register)

    def least(self, other: int | Index) -> Index:
        """Return the smaller of two indices."""
        other = self._other(other)
        if self.static is not None and other.static is not None:
            return self if self.static < other.static else other
        chosen = self.emitter.builder.select(self.compare("<", other), self.register, other.register)
        return Index(self.emitter, chosen)


class StackVariable:
    """A register that can be assigned to. (It is memory on the stack, of which LLVM makes registers.)"""

    def __init__(self, emitter: Emitter, initial: ir.Value) -> None:
        self.emitter = emitter
        with emitter.builder.goto_entry_block():
            self.slot = emitter.builder.alloca(initial.type)
        self.value = initial

    @property
    def value(self) -> ir.Value:
        return self.emitter.builder.load(self.slot)

    @value.setter
    def value(self, value: ir.Value) -> None:
        self.emitter.builder.store(value, self.slot)


class Grid(Protocol):
    """An object that has an element at each pair of indices."""

    def __getitem__(self, index: tuple[Index, Index]) -> Number: ...
    def __setitem__(self, index: tuple[Index, Index], number: Number) -> None: ...


class Matrix:
    """A matrix in memory, with the distances, in elements, of its rows and of its columns."""

    def __init__(self, emitter: Emitter, pointer: ir.Value, dtype: np.dtype, row: Index, column: Index) -> None:
        self.emitter = emitter
        self.pointer = emitter.builder.bitcast(pointer, llvm_type(dtype).as_pointer())
        self.dtype = dtype
        self.row = row
        self.column = column

    @property
    def transposed(self) -> Matrix:
        return Matrix(self.emitter, self.pointer, self.dtype, self.column, self.row)

    def from_(self, i: Index, j: Index) -> Matrix:
        """Return the part of the matrix from an element on."""
        return Matrix(self.emitter, self.address(i, j), self.dtype, self.row, self.column)

    def offset(self, i: Index, j: Index) -> Index:
        return i * self.row + j * self.column

    def address(self, i: Index, j: Index) -> ir.Value:
        return self.emitter.builder.gep(self.pointer, [self.offset(i, j).register], inbounds=True)

    def __getitem__(self, index: tuple[Index, Index]) -> Any:
        return number_of(self.emitter, self.emitter.builder.load(self.address(*index)), self.dtype)

    def __setitem__(self, index: tuple[Index, Index], number: FormulaValue | Complex) -> None:
        self.emitter.builder.store(unwrap(self.emitter, number), self.address(*index))


def number_of(emitter: Emitter, value: ir.Value, dtype: np.dtype) -> Any:
    """Return a register as a floating-point number, a complex one, or an integer."""
    return Bits(emitter, value, dtype) if dtype.kind == "i" else wrap(emitter, Operand(value, dtype))


class Registers(dict[tuple[int, int], Any]):
    """A matrix in registers. All indices are static."""

    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(static(index))

    def __setitem__(self, index: Any, number: FormulaValue | Complex) -> None:
        super().__setitem__(static(index), number)


def static(index: tuple[Index, Index]) -> tuple[int, int]:
    i, j = (each.static for each in index)
    assert i is not None
    assert j is not None
    return i, j


Body = Callable[[Index], object]


class Code:
    """Loops and sums at the emitter's position."""

    def __init__(self, emitter: Emitter, dtype: np.dtype) -> None:
        self.emitter = emitter
        self.dtype = dtype

    def index(self, value: int | ir.Value) -> Index:
        return Index(self.emitter, value)

    def number(self, value: float) -> Number:
        return Number(self.emitter, self.emitter.constant(value, self.dtype), self.dtype)

    @property
    def false(self) -> ir.Constant:
        return self.emitter.constant(False, BOOL)

    def loop(self, start: int | Index, stop: Index, body: Body) -> None:
        """Emit ``for k in range(start, stop): body(k)``; unrolled where both are static."""
        start = start if isinstance(start, Index) else self.index(start)
        if start.static is not None and stop.static is not None:
            for k in range(start.static, stop.static):
                body(self.index(k))
            return

        def step(k: ir.Value) -> list[ir.Value]:
            body(self.index(k))
            return [(self.index(k) + 1).register]

        self.emitter.repeat([start.register], lambda k: self.index(k).compare("<", stop), step)

    def backwards(self, stop: Index, body: Body) -> None:
        """Emit ``for k in reversed(range(stop)): body(k)``."""
        self.loop(0, stop, lambda k: body(stop - 1 - k))

    def total(self, first: Number, start: int | Index, stop: Index, term: Callable[[Index], Number]) -> Number:
        """Return ``first`` minus the terms from ``start`` to ``stop``."""
        start = start if isinstance(start, Index) else self.index(start)
        if start.static is not None and stop.static is not None:
            for k in range(start.static, stop.static):
                first = first - term(self.index(k))
            return first

        def step(k: ir.Value, total: ir.Value) -> list[ir.Value]:
            rest = Number(self.emitter, total, first.dtype) - term(self.index(k))
            return [(self.index(k) + 1).register, rest.value]

        state = [start.register, first.value]
        _, result = self.emitter.repeat(state, lambda k, _: self.index(k).compare("<", stop), step)
        return Number(self.emitter, result, first.dtype)

    def grid(self, matrix: Matrix, rows: Index, columns: Index, *, read: bool = True) -> Grid:
        """Return the elements in registers, where both lengths are static; else the matrix itself."""
        if rows.static is None or columns.static is None:
            return matrix
        found = Registers()
        if read:
            self.each(rows, columns, lambda i, j: found.__setitem__((i, j), matrix[i, j]))
        return found

    def each(self, rows: Index, columns: Index, body: Callable[[Index, Index], object]) -> None:
        """Call ``body`` for every pair of indices."""
        self.loop(0, rows, lambda i: self.loop(0, columns, lambda j: body(i, j)))
