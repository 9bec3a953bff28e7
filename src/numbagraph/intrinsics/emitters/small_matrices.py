"""The product of two small matrices, by vectors along the rows: a call of BLAS takes longer than to compute it.

It is one function for all lengths, which a loop calls; LLVM knows the lengths where all calls have the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import CONTRACT, I1, I32, I64, Emitter, llvm_type
from numbagraph.intrinsics.emitters.target import current_target

MOST = 1000
"""The number of products of elements up to which this takes less time than a call."""
LEAST_BYTES = 32
"""The width of AVX's registers: narrower ones have no instructions for a part of a vector."""


def has_small_product(emitter: Emitter, transposed: tuple[bool, bool]) -> bool:
    """Return whether there is such a function, which is for loops: code that runs once is compiled faster without it.
    There is none for other processors, nor for two operands that are both transposed."""
    wide = (current_target().vector_bytes or 0) >= LEAST_BYTES
    return emitter.inlining is not None and wide and transposed != (True, True)


def is_small(emitter: Emitter, lengths: Sequence[ir.Value]) -> ir.Value:
    """Return whether matrices of these lengths are to be multiplied so. None of them is more than 32 bits."""
    builder = emitter.builder
    few = builder.icmp_unsigned("<=", builder.mul(lengths[0], lengths[1]), ir.Constant(I64, MOST))
    least = builder.select(few, builder.mul(lengths[0], lengths[1]), ir.Constant(I64, MOST + 1))
    return builder.icmp_unsigned("<=", builder.mul(least, lengths[2]), ir.Constant(I64, MOST))


def small_product(
    emitter: Emitter,
    dtype: np.dtype,
    transposed: tuple[bool, bool],
    addresses: Sequence[ir.Value],
    lengths: Sequence[ir.Value],
) -> None:
    """Emit ``(m, k), (k, n) -> (m, n)`` for lengths ``m, k, n``; ``transposed`` says which operand is transposed."""
    flags = "".join("nt"[each] for each in transposed)
    name = f"numbagraph.small_product.{flags}.{dtype.name}"
    function = emitter.module.globals.get(name)
    if function is None:
        types = [each.type for each in (*addresses, *lengths)]
        function = ir.Function(emitter.module, ir.FunctionType(ir.VoidType(), types), name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        inside = SmallProduct(Emitter(ir.IRBuilder(function.append_basic_block("entry"))), dtype, function)
        inside.by_dots() if transposed[1] else inside.by_rows(reverse=transposed[0])
        inside.builder.ret_void()
    emitter.builder.call(function, [*addresses, *lengths])


class SmallProduct:
    """The code inside of the function for small products."""

    def __init__(self, emitter: Emitter, dtype: np.dtype, function: ir.Function) -> None:
        self.emitter, self.builder = emitter, emitter.builder
        self.number = llvm_type(dtype)
        self.count = LEAST_BYTES // dtype.itemsize
        self.vector = ir.VectorType(self.number, self.count)
        *addresses, self.m, self.k, self.n = function.args
        for each in addresses:
            each.add_attribute("noalias")
        pointer = self.number.as_pointer()
        self.left, self.right, self.result = (self.builder.bitcast(each, pointer) for each in addresses)
        self.suffix = f"v{self.count}f{8 * dtype.itemsize}"

    def by_rows(self, *, reverse: bool) -> None:
        """Compute rows of the result as sums of rows on the right."""

        def block(i: ir.Value, j: ir.Value) -> None:
            mask = self.mask(j, self.n)

            def step(p: ir.Value, total: ir.Value) -> ir.Value:
                factor = self.at(self.left, p, self.m, i) if reverse else self.at(self.left, i, self.k, p)
                row = self.load(self.at(self.right, p, self.n, j), mask)
                return self.plus(total, self.repeated(self.builder.load(factor)), row)

            total = self.sum(self.k, 1, step)
            self.store(total, self.at(self.result, i, self.n, j), mask)

        self.each(self.m, 1, lambda i: self.each(self.n, self.count, lambda j: block(i, j)))

    def by_dots(self) -> None:
        """Compute elements of the result as products of a row on the left and one on the right, which is transposed."""

        def element(i: ir.Value, j: ir.Value) -> None:
            def step(p: ir.Value, total: ir.Value) -> ir.Value:
                mask = self.mask(p, self.k)
                left = self.load(self.at(self.left, i, self.k, p), mask)
                return self.plus(total, left, self.load(self.at(self.right, j, self.k, p), mask))

            total = self.sum(self.k, self.count, step)
            add = self.emitter.function(
                f"llvm.vector.reduce.fadd.{self.suffix}", self.number, [self.number, self.vector], pure=False
            )
            zero = ir.Constant(self.number, -0.0)
            found = self.builder.call(add, [zero, total], fastmath=("reassoc",))
            self.builder.store(found, self.at(self.result, i, self.n, j))

        self.each(self.m, 1, lambda i: self.each(self.n, 1, lambda j: element(i, j)))

    def each(self, length: ir.Value, by: int, body: Callable[[ir.Value], None]) -> None:
        """Emit a loop; ``body`` is given the position."""

        def step(position: ir.Value) -> list[ir.Value]:
            body(position)
            return [self.builder.add(position, ir.Constant(I64, by))]

        self.emitter.repeat(
            [ir.Constant(I64, 0)], lambda position: self.builder.icmp_signed("<", position, length), step
        )

    def sum(self, length: ir.Value, by: int, step: Callable[[ir.Value, ir.Value], ir.Value]) -> ir.Value:
        """Emit a loop with a vector of sums."""

        def following(position: ir.Value, total: ir.Value) -> list[ir.Value]:
            return [self.builder.add(position, ir.Constant(I64, by)), step(position, total)]

        start = [ir.Constant(I64, 0), ir.Constant(self.vector, [0.0] * self.count)]
        return self.emitter.repeat(
            start, lambda position, _: self.builder.icmp_signed("<", position, length), following
        )[1]

    def at(self, pointer: ir.Value, row: ir.Value, width: ir.Value, column: ir.Value) -> ir.Value:
        return self.builder.gep(pointer, [self.builder.add(self.builder.mul(row, width), column)], inbounds=True)

    def repeated(self, number: ir.Value) -> ir.Value:
        empty = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(empty, number, ir.Constant(I32, 0))
        order = ir.Constant(ir.VectorType(I32, self.count), [0] * self.count)
        return self.builder.shuffle_vector(first, empty, order)

    def plus(self, total: ir.Value, x: ir.Value, y: ir.Value) -> ir.Value:
        """Return ``total + x * y``, rounded once where that is an instruction."""
        return self.builder.fadd(total, self.builder.fmul(x, y, flags=CONTRACT), flags=CONTRACT)

    def mask(self, position: ir.Value, length: ir.Value) -> ir.Value:
        """Return a mask of the lanes from a position on that are before the end."""
        integers = ir.VectorType(I64, self.count)
        left = self.builder.sub(length, position)
        empty = ir.Constant(integers, ir.Undefined)
        first = self.builder.insert_element(empty, left, ir.Constant(I32, 0))
        order = ir.Constant(ir.VectorType(I32, self.count), [0] * self.count)
        lanes = ir.Constant(integers, list(range(self.count)))
        return self.builder.icmp_signed("<", lanes, self.builder.shuffle_vector(first, empty, order))

    def load(self, pointer: ir.Value, mask: ir.Value) -> ir.Value:
        address = self.builder.bitcast(pointer, self.vector.as_pointer())
        types = [address.type, I32, ir.VectorType(I1, self.count), self.vector]
        name = f"llvm.masked.load.{self.suffix}.p0"
        function = self.emitter.function(name, self.vector, types, pure=False)
        zeros = ir.Constant(self.vector, [0.0] * self.count)
        return self.builder.call(function, [address, ir.Constant(I32, 1), mask, zeros])

    def store(self, value: ir.Value, pointer: ir.Value, mask: ir.Value) -> None:
        address = self.builder.bitcast(pointer, self.vector.as_pointer())
        types = [self.vector, address.type, I32, ir.VectorType(I1, self.count)]
        name = f"llvm.masked.store.{self.suffix}.p0"
        function = self.emitter.function(name, ir.VoidType(), types, pure=False)
        self.builder.call(function, [value, address, ir.Constant(I32, 1), mask])
