"""The exponential of a matrix."""

from __future__ import annotations

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.core import Element
from numbagraph.intrinsics.emitter import I64, llvm_constant
from numbagraph.intrinsics.formula import Number, absolute, intrinsic, lifted
from numbagraph.intrinsics.linalg.copies import unit
from numbagraph.intrinsics.matrices import Index, Matrix, StackVariable
from numbagraph.ir.structs import replace
from numbagraph.ir.types import real_dtype

COEFFICIENTS = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
"""Of the Padé approximant of degree 13."""
LARGEST = 5.371920351148152
"""The norm up to which the approximant has the accuracy of double precision."""
MOST_SQUARINGS = 1100.0
MATRICES = 7
"""Square matrices of scratch memory."""

_log2, _ceil, _exp2 = (lifted(intrinsic(name)) for name in ("log2", "ceil", "exp2"))


class SquareTemporaries:
    """Square matrices in C order that follow each other in memory."""

    def __init__(self, element: Element, memory: ir.Value) -> None:
        self.element = element
        self.n = element["m"]
        self.size = self.n * self.n
        self.memory = element.matrix(memory, self.n)

    def __getitem__(self, number: int) -> ir.Value:
        return self.memory.address(self.n * number, self.element.code.index(0))

    def multiply(self, left: ir.Value, right: ir.Value, target: ir.Value) -> None:
        """BLAS sees transposed matrices, whose product has the other order."""
        n, fortran = self.n, self.element.fortran
        width = fortran.width(n.register)
        one, zero = fortran.number(1), fortran.number(0)
        fortran.blas("gemm", "N", "N", n, n, n, one, right, width, left, width, zero, target, width)

    def combine(self, target: ir.Value, *terms: tuple[float, ir.Value]) -> None:
        """The sum of multiples of matrices."""
        (factor, first), *rest = terms
        self.element.copy(target, first, self.size)
        self.scale(target, self.element.fortran.number(factor))
        self.add(target, *rest)

    def add(self, target: ir.Value, *terms: tuple[float, ir.Value]) -> None:
        fortran, one = self.element.fortran, self.element.code.index(1)
        for factor, matrix in terms:
            fortran.blas("axpy", self.size, fortran.number(factor), matrix, one, target, one)

    def scale(self, target: ir.Value, factor: ir.Value) -> None:
        self.element.fortran.blas("scal", self.size, factor, target, self.element.code.index(1))


def exponential(element: Element) -> ir.Value:
    """Higham, The scaling and squaring method for the matrix exponential revisited (2005)."""
    code, n, result = element.code, element["m"], element.results[0]
    squares = SquareTemporaries(element, element.scratch[0])
    a, a2, a4, a6, odd, even, spare = (squares[number] for number in range(MATRICES))
    element.copy(a, element.operands[0], squares.size)
    count = squarings(element, element.operands[0])
    squares.scale(a, negative_power(element, count))
    squares.multiply(a, a, a2)
    squares.multiply(a2, a2, a4)
    squares.multiply(a4, a2, a6)
    b = COEFFICIENTS
    unit(element, result, n)
    squares.combine(spare, (b[13], a6), (b[11], a4), (b[9], a2))
    squares.multiply(a6, spare, even)
    squares.add(even, (b[7], a6), (b[5], a4), (b[3], a2), (b[1], result))
    squares.multiply(a, even, odd)
    squares.combine(spare, (b[12], a6), (b[10], a4), (b[8], a2))
    squares.multiply(a6, spare, even)
    squares.add(even, (b[6], a6), (b[4], a4), (b[2], a2), (b[0], result))
    squares.combine(spare, (1.0, even), (-1.0, odd))
    squares.combine(result, (1.0, even), (1.0, odd))
    width = element.fortran.width(n.register)
    info = element.fortran.lapack("gesv", n, n, spare, width, element.scratch[1], result, width)

    def square(_: Index) -> None:
        element.copy(spare, result, squares.size)
        squares.multiply(spare, spare, result)

    code.loop(0, code.index(element.builder.fptosi(count.value, I64)), square)
    return element.positive(info)


def squarings(element: Element, pointer: ir.Value) -> Number:
    """How often the approximant of a scaled matrix is squared, by the largest sum of a row's sizes."""
    code, dtype = element.code, real_dtype(element.code.dtype)
    width = element["m"] * (2 if element.code.dtype.kind == "c" else 1)
    parts = Matrix(element.emitter, pointer, dtype, width, code.index(1))
    zero = element.emitter.constant(0.0, dtype)
    largest, total = StackVariable(element.emitter, zero), StackVariable(element.emitter, zero)

    def add(i: Index, j: Index) -> None:
        total.value = (Number(element.emitter, total.value, dtype) + absolute(parts[i, j])).value

    def row(i: Index) -> None:
        total.value = zero
        code.loop(0, width, lambda j: add(i, j))
        known, found = (Number(element.emitter, each.value, dtype) for each in (largest, total))
        largest.value = (found > known).where(found, known).value

    code.loop(0, element["m"], row)
    norm = Number(element.emitter, largest.value, dtype).cast(np.dtype(np.float64))
    wanted = _ceil(_log2(norm / LARGEST))
    wanted = (wanted > 0.0).where(wanted, 0.0)
    return (wanted < MOST_SQUARINGS).where(wanted, MOST_SQUARINGS)


def negative_power(element: Element, count: Number) -> ir.Value:
    """The address of two to the power of minus ``count``."""
    dtype = element.code.dtype
    number = element.emitter.cast(_exp2(-count).operand, dtype)
    return element.fortran.slot(number)


def derivative(element: Element) -> ir.Value:
    """A block of the exponential of the matrix that has the operand twice on its diagonal, and the direction beside."""
    code, n = element.code, element["m"]
    block, found = element.scratch[2:]
    whole, result = (element.matrix(each, n * 2) for each in (block, found))
    source, direction, target = element.operand(0), element.operand(1), element.result()
    clear(element, whole)

    def put(i: Index, j: Index) -> None:
        copy_number(element, source, (i, j), whole, (i, j))
        copy_number(element, source, (i, j), whole, (i + n, j + n))
        copy_number(element, direction, (i, j), whole, (i, j + n))

    code.each(n, n, put)
    inner = replace(element, operands=[block], results=[found], scratch=element.scratch[:2], lengths={"m": n * 2})
    failed = exponential(inner)
    code.each(n, n, lambda i, j: copy_number(element, result, (i, j + n), target, (i, j)))
    return failed


def clear(element: Element, matrix: Matrix) -> None:
    zero, n = llvm_constant(0, matrix.dtype), element["m"] * 2
    element.code.each(n, n, lambda i, j: element.builder.store(zero, matrix.address(i, j)) and None)


def copy_number(
    element: Element, source: Matrix, index: tuple[Index, Index], target: Matrix, to: tuple[Index, Index]
) -> None:
    element.builder.store(element.builder.load(source.address(*index)), target.address(*to))
