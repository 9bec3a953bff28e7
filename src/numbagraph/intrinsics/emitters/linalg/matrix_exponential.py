"""The exponential of a matrix."""

from __future__ import annotations

import math

from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I64, llvm_constant
from numbagraph.intrinsics.emitters.formula import Number, intrinsic, lifted
from numbagraph.intrinsics.emitters.linalg.copies import unit
from numbagraph.intrinsics.emitters.linalg.squarings import ColumnSums, size, squarings
from numbagraph.intrinsics.emitters.matrices import Index, Matrix, StackVariable
from numbagraph.ir.structs import replace
from numbagraph.ir.types import FLOAT64, real_dtype

COEFFICIENTS = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip
"""The coefficients of the Padé approximant of degree 13."""
MATRICES = 7
"""The number of square matrices in scratch memory."""

_exp2, _log2, _floor = (lifted(intrinsic(name)) for name in ("exp2", "log2", "floor"))


class SquareTemporaries:
    """Square matrices in C order that follow each other in memory."""

    def __init__(self, element: Element, memory: ir.Value) -> None:
        self.element = element
        self.n = element["m"]
        self.size = self.n * self.n
        self.memory = element.matrix(memory, self.n)

    def __getitem__(self, number: int) -> ir.Value:
        return self.memory.address(self.n * number, self.element.code.index(0))

    def matrix(self, pointer: ir.Value) -> Matrix:
        return self.element.matrix(pointer, self.n)

    def multiply(self, left: ir.Value, right: ir.Value, target: ir.Value) -> None:
        """Multiply two matrices. BLAS sees them transposed, so it multiplies in the other order."""
        n, fortran = self.n, self.element.fortran
        width = fortran.width(n.register)
        one, zero = fortran.number(1), fortran.number(0)
        fortran.blas("gemm", "N", "N", n, n, n, one, right, width, left, width, zero, target, width)

    def combine(self, target: ir.Value, *terms: tuple[float, ir.Value]) -> None:
        """Write the sum of multiples of matrices."""
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
    """Compute the exponential: Higham, The scaling and squaring method for the matrix exponential revisited (2005); see
    also `squarings`."""
    code, n, result = element.code, element["m"], element.results[0]
    squares = SquareTemporaries(element, element.scratch[0])
    a, a2, a4, a6, odd, even, spare = (squares[number] for number in range(MATRICES))
    element.copy(a, element.operands[0], squares.size)
    turned = is_larger_above(element, squares.matrix(a))
    with element.builder.if_then(turned):
        turn(element, squares.matrix(a))
    count = scaled_powers(squares, a, (a2, a4, a6), (odd, even), (spare, result))
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
    with element.builder.if_then(turned):
        turn(element, squares.matrix(result))
    return element.positive(info)


def is_larger_above(element: Element, matrix: Matrix) -> ir.Value:
    """Return whether the elements above the diagonal are larger than those below. Such a matrix is transposed: LAPACK,
    which sees the transpose, then has the large elements above the diagonal, where it does not take them for pivots."""
    code, n = element.code, element["m"]
    zero = Number(element.emitter, element.emitter.constant(0.0, real_dtype(code.dtype)), real_dtype(code.dtype))
    difference = StackVariable(element.emitter, zero.value)

    def row(i: Index) -> None:
        known = Number(element.emitter, difference.value, zero.dtype)
        below = code.total(known, 0, i, lambda j: size(matrix[i, j]))
        difference.value = (-code.total(-below, i + 1, n, lambda j: size(matrix[i, j]))).value

    code.loop(0, n, row)
    return (Number(element.emitter, difference.value, zero.dtype) > 0.0).value


def turn(element: Element, matrix: Matrix) -> None:
    """Transpose a square matrix."""

    def swap(i: Index, j: Index) -> None:
        one, other = matrix[i, j], matrix[j, i]
        matrix[i, j], matrix[j, i] = other, one

    element.code.loop(0, element["m"], lambda i: element.code.loop(0, i, lambda j: swap(i, j)))


def scaled_powers(
    squares: SquareTemporaries,
    a: ir.Value,
    powers: tuple[ir.Value, ir.Value, ir.Value],
    unused: tuple[ir.Value, ir.Value],
    memory: tuple[ir.Value, ir.Value],
) -> Number:
    """Return the powers 2, 4 and 6 of a matrix that is divided by a power of two, and the number of squarings that this
    takes."""
    (a2, a4, a6), (eighth, tenth) = powers, unused

    def multiply() -> None:
        squares.multiply(a, a, a2)
        squares.multiply(a2, a2, a4)
        squares.multiply(a4, a2, a6)

    def multiply_to_tenth() -> ir.Value:
        squares.multiply(a4, a6, tenth)
        return tenth

    multiply()
    squares.multiply(a4, a4, eighth)
    count, finite = squarings(squares.element, a, (a6, eighth), multiply_to_tenth, memory)
    for power, matrix in zip((1.0, 2.0, 4.0, 6.0), (a, *powers), strict=True):
        squares.scale(matrix, negative_power(squares.element, count * power))
    with squares.element.builder.if_then((~finite).value, likely=False):
        multiply()
    return count


def negative_power(element: Element, count: Number) -> ir.Value:
    """Return the address of two to the power of minus ``count``."""
    dtype = element.code.dtype
    number = element.emitter.cast(_exp2(-count).operand, dtype)
    return element.fortran.slot(number)


def derivative(element: Element) -> ir.Value:
    """Compute the derivative in a direction, as a block of the exponential of a larger matrix.

    That matrix has the operand twice on its diagonal, and the direction beside.
    The direction's norm is made small, so that no squarings are due to it; and the operand is turned so that its large
    elements are on the direction's side.
    """
    code, n = element.code, element["m"]
    block, found = element.scratch[2:]
    whole, result = (element.matrix(each, n * 2) for each in (block, found))
    source, direction, target = element.operand(0), element.operand(1), element.result()
    norm = ColumnSums(element, (block, found)).largest(element.operands[1]).cast(FLOAT64)
    exponent = ((norm > 1.0) & (norm < math.inf)).where(_floor(_log2(norm)), 0.0)
    turned = is_larger_above(element, source.transposed)
    clear(element, whole)

    def put(i: Index, j: Index) -> None:
        place = chosen(turned, j, i), chosen(turned, i, j)
        copy_number(element, source, place, whole, (i, j))
        copy_number(element, source, place, whole, (i + n, j + n))
        copy_number(element, direction, place, target, (i, j))

    code.each(n, n, put)
    length, one = n * n, code.index(1)
    element.fortran.blas("scal", length, negative_power(element, exponent), element.results[0], one)
    code.each(n, n, lambda i, j: copy_number(element, target, (i, j), whole, (i, j + n)))
    inner = replace(element, operands=[block], results=[found], scratch=element.scratch[:2], lengths={"m": n * 2})
    failed = exponential(inner)
    code.each(n, n, lambda i, j: copy_number(element, result, (i, j + n), target, (i, j)))
    element.fortran.blas("scal", length, negative_power(element, -exponent), element.results[0], one)
    with element.builder.if_then(turned):
        turn(element, target)
    return failed


def chosen(condition: ir.Value, first: Index, second: Index) -> Index:
    return Index(first.emitter, first.emitter.builder.select(condition, first.register, second.register))


def clear(element: Element, matrix: Matrix) -> None:
    zero, n = llvm_constant(0, matrix.dtype), element["m"] * 2
    element.code.each(n, n, lambda i, j: element.builder.store(zero, matrix.address(i, j)) and None)


def copy_number(
    element: Element, source: Matrix, index: tuple[Index, Index], target: Matrix, to: tuple[Index, Index]
) -> None:
    element.builder.store(element.builder.load(source.address(*index)), target.address(*to))
