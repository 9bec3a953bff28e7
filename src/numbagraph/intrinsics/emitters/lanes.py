"""Several elements of a batch at a time: each is a lane of vector registers, and code for one runs in all lanes.

An element's numbers follow each other in memory, so vectors are loaded along the elements, and transposed in
registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import I32, I64, Emitter, llvm_constant, llvm_type
from numbagraph.intrinsics.emitters.formula import Complex, FormulaValue
from numbagraph.intrinsics.emitters.matrices import Index, Matrix, number_of
from numbagraph.intrinsics.emitters.target import current_target

LEAST_BYTES = 16
"""The width of vector registers that every processor has."""


def lanes_of(dtype: np.dtype) -> int:
    """Return the number of elements of a dtype that a vector register holds."""
    return (current_target().vector_bytes or LEAST_BYTES) // dtype.itemsize


def lane_count(vector: ir.Value) -> int:
    """Return the number of lanes of a vector."""
    assert isinstance(vector.type, ir.VectorType)
    return vector.type.count


class LaneAddresses(NamedTuple):
    """The addresses of the elements in the lanes."""

    lanes: Sequence[ir.Value]
    apart: ir.Value
    """Whether the lanes have memory of their own; results that are not read have none."""


class Lanes(Emitter):
    """An emitter whose operations work on vectors."""

    def __init__(self, builder: ir.IRBuilder, count: int) -> None:
        super().__init__(builder)
        self.count = count

    def constant(self, value: complex | np.generic | np.ndarray, dtype: np.dtype) -> ir.Constant:
        """Return a vector with the same number in all lanes."""
        number = llvm_constant(value, dtype)
        return ir.Constant(ir.VectorType(number.type, self.count), [number] * self.count)

    def any(self, truths: ir.Value) -> ir.Value:
        """Return whether a truth value holds in any lane."""
        bits = ir.IntType(self.count)
        return self.builder.icmp_unsigned("!=", self.builder.bitcast(truths, bits), ir.Constant(bits, 0))

    def addresses(self, first: ir.Value, step: ir.Value, last: ir.Value) -> LaneAddresses:
        """Return the addresses of elements ``step`` bytes apart, from the first to the last; lanes behind the last have
        its address, too."""
        builder, zero, lanes = self.builder, ir.Constant(I64, 0), []
        for lane in range(self.count):
            number = ir.Constant(I64, lane)
            element = builder.select(builder.icmp_signed("<", number, last), number, last)
            lanes.append(builder.gep(first, [builder.mul(element, step)]))
        single = builder.icmp_signed("==", last, zero)
        return LaneAddresses(lanes, builder.or_(single, builder.icmp_signed("!=", step, zero)))

    def gather(self, addresses: Sequence[ir.Value]) -> ir.Value:
        """Load the vector of the numbers at one address for each lane."""
        pointer = addresses[0].type
        assert isinstance(pointer, ir.PointerType)
        vector: ir.Value = ir.Constant(ir.VectorType(pointer.pointee, self.count), ir.Undefined)
        for lane, address in enumerate(addresses):
            vector = self.builder.insert_element(vector, self.builder.load(address), ir.Constant(I32, lane))
        return vector

    def scatter(self, vector: ir.Value, addresses: Sequence[ir.Value]) -> None:
        for lane, address in enumerate(addresses):
            self.builder.store(self.builder.extract_element(vector, ir.Constant(I32, lane)), address)

    def spread(self, number: ir.Value) -> ir.Value:
        """Return a vector with a number in all lanes."""
        empty = ir.Constant(ir.VectorType(number.type, self.count), ir.Undefined)
        first = self.builder.insert_element(empty, number, ir.Constant(I32, 0))
        return self.shuffled(first, first, [0] * self.count)

    def transposed(self, rows: Sequence[ir.Value]) -> list[ir.Value]:
        """Return the columns of a matrix, one after the other, in registers that are full: of rows of equal length.

        The number of rows is a power of two. The halves are interleaved, then those of the result, and so on.
        """
        parts = [[row] for row in rows]
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [self._interleaved(*pair) for pair in zip(parts[:half], parts[half:], strict=True)]
        return parts[0]

    def _interleaved(self, first: list[ir.Value], second: list[ir.Value]) -> list[ir.Value]:
        result = []
        for one, other in zip(first, second, strict=True):
            count = lane_count(one)
            order = [position + side for position in range(count) for side in (0, count)]
            size = min(2 * count, self.count)
            result += [self.shuffled(one, other, order[begin : begin + size]) for begin in range(0, 2 * count, size)]
        return result

    def shuffled(self, first: ir.Value, second: ir.Value, order: Sequence[int]) -> ir.Value:
        """Return the numbers of two vectors at some positions."""
        mask = ir.Constant(ir.VectorType(I32, len(order)), [ir.Constant(I32, position) for position in order])
        return self.builder.shuffle_vector(first, second, mask)


class LaneMemory:
    """Numbers that follow each other, of each lane. Where their count is known, they are loaded together when the first
    of them is read, and stored together in the end."""

    def __init__(self, lanes: Lanes, addresses: LaneAddresses, dtype: np.dtype, size: int | None) -> None:
        self.lanes = lanes
        self.pointers = [lanes.builder.bitcast(each, llvm_type(dtype).as_pointer()) for each in addresses.lanes]
        self.apart = addresses.apart
        self.dtype = dtype
        self.size = size
        self.known: dict[int, ir.Value] = {}
        self.written = False

    def addresses(self, offset: ir.Value) -> list[ir.Value]:
        return [self.lanes.builder.gep(each, [offset], inbounds=True) for each in self.pointers]

    def read(self, offset: Index) -> ir.Value:
        if self.size is None or offset.static is None:
            return self.lanes.gather(self.addresses(offset.register))
        if offset.static not in self.known:
            begin, count = next(part for part in self.parts() if offset.static < sum(part))
            self.known |= zip(range(begin, begin + count), self.load(begin, count), strict=True)
        return self.known[offset.static]

    def write(self, offset: Index, value: ir.Value) -> None:
        if self.size is None or offset.static is None:
            self.lanes.scatter(value, self.addresses(offset.register))
        else:
            self.known[offset.static] = value
            self.written = True

    def parts(self) -> Iterator[tuple[int, int]]:
        """Yield the beginnings and the lengths of the parts that are vectors."""
        begin, count = 0, self.lanes.count
        while begin < (self.size or 0):
            while begin + count > (self.size or 0):
                count //= 2
            yield begin, count
            begin += count

    def vectors(self, begin: int, count: int) -> list[ir.Value]:
        """Return the addresses of such a part."""
        type_ = ir.VectorType(llvm_type(self.dtype), count).as_pointer()
        return [self.lanes.builder.bitcast(each, type_) for each in self.addresses(ir.Constant(I64, begin))]

    def load(self, begin: int, count: int) -> list[ir.Value]:
        if count == 1:
            return [self.lanes.gather(self.addresses(ir.Constant(I64, begin)))]
        rows = [self.lanes.builder.load(each, align=self.dtype.itemsize) for each in self.vectors(begin, count)]
        return self.lanes.transposed(rows)

    def flush(self) -> None:
        """Store what was written."""
        if self.written:
            with self.lanes.builder.if_then(self.apart, likely=True):
                for begin, count in self.parts():
                    self.store(begin, [self.known[begin + number] for number in range(count)])

    def store(self, begin: int, values: Sequence[ir.Value]) -> None:
        if len(values) == 1:
            self.lanes.scatter(values[0], self.addresses(ir.Constant(I64, begin)))
            return
        found, count = self.lanes.transposed(values), len(values)
        for lane, address in enumerate(self.vectors(begin, count)):
            number, first = divmod(lane * count, self.lanes.count)
            row = self.lanes.shuffled(found[number], found[number], range(first, first + count))
            self.lanes.builder.store(row, address, align=self.dtype.itemsize)


class LaneMatrix(Matrix):
    """A matrix of each lane."""

    def __init__(self, memory: LaneMemory, row: Index, column: Index) -> None:
        super().__init__(memory.lanes, memory.pointers[0], memory.dtype, row, column)
        self.memory = memory

    @property
    def transposed(self) -> LaneMatrix:
        return LaneMatrix(self.memory, self.column, self.row)

    def __getitem__(self, index: tuple[Index, Index]) -> Any:
        return number_of(self.emitter, self.memory.read(self.offset(*index)), self.dtype)

    def __setitem__(self, index: tuple[Index, Index], number: FormulaValue | Complex) -> None:
        assert isinstance(number, FormulaValue)
        self.memory.write(self.offset(*index), number.value)
