"""Factors of symmetric and Hermitian matrices that need not be definite: a triangle, and blocks of one or two rows."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I1, I64, llvm_constant
from numbagraph.intrinsics.emitters.formula import INT32, Bits, Complex
from numbagraph.intrinsics.emitters.linalg.copies import columns_of, rows_of
from numbagraph.intrinsics.emitters.linalg.spectral import BLOCK, MOST
from numbagraph.intrinsics.emitters.matrices import Code, Index, Matrix, StackVariable
from numbagraph.ir.types import INT64, real_dtype


def factors_of_blocks(element: Element) -> None:
    """Factor by Bunch and Kaufman's method. LAPACK may read beside a matrix with NaN, so it is not called for one."""
    n, builder = element["m"], element.builder
    with builder.if_else(is_not_finite(element), likely=False) as (wrong, right):
        with wrong:
            element.fill_with_nan(ir.Constant(I1, 1))
            code, order = element.code, element.result(2)
            code.loop(0, n, lambda i: order.__setitem__((code.index(0), i), as_number(code, i)))
        with right:
            factorise(element)
            Unpacked(element).run()


def is_not_finite(element: Element) -> ir.Value:
    """Return whether an element of the triangle that is read is infinite or NaN, in one of its parts."""
    n, code, parts = element["m"], element.code, 2 if element.code.dtype.kind == "c" else 1
    dtype = real_dtype(code.dtype)
    rows = Matrix(element.emitter, element.operands[0], dtype, n * parts, code.index(1))
    found = StackVariable(element.emitter, ir.Constant(I1, 0))

    def row(i: Index) -> None:
        def look(j: Index) -> None:
            number = rows[i, j]
            found.value = element.builder.or_(found.value, (number - number).is_nan().value)

        first, last = (code.index(0), i + 1) if element.attributes["lower"] else (i, n)
        code.loop(first * parts, last * parts, look)

    code.loop(0, n, row)
    return found.value


def factorise(element: Element) -> None:
    n, fortran = element["m"], element.fortran
    matrix, pivots, _, work = element.scratch
    columns_of(element, element.operand(0), matrix, n, n)
    is_hermitian = element.code.dtype.kind == "c" and element.attributes["hermitian"]
    routine, triangle = "hetrf" if is_hermitian else "sytrf", "L" if element.attributes["lower"] else "U"
    width, size = fortran.width(n.register), (n * BLOCK + 1).least(MOST)
    fortran.lapack(routine, triangle, n, matrix, width, pivots, work, size)


class Unpacked:
    """The results, made from the triangle that LAPACK leaves and from its pivots.

    Row k was exchanged with row ``pivots[k] - 1``; in a block of two rows, whose pivots are negative, it is the second
    one, of a lower triangle, or the first one, of an upper one.
    """

    def __init__(self, element: Element) -> None:
        self.element = element
        self.lower: bool = element.attributes["lower"]
        self.n = element["m"]
        self.matrix = element.matrix(element.scratch[0], self.n).transposed
        self.factor, self.blocks, self.order = (element.result(number) for number in range(3))
        self.pivots = element.matrix(element.scratch[1], self.n, INT32)
        self.positions = element.matrix(element.scratch[2], self.n, INT64)
        self.start = element.code.index(0)
        self.zero, self.one = (llvm_constant(each, element.code.dtype) for each in (0, 1))

    def run(self) -> None:
        element, code = self.element, self.element.code
        rows_of(element, element.scratch[0], self.factor, self.n, self.n)
        code.loop(0, self.n, self.begin_row)
        first = self.n - 1 if self.lower else code.index(0)
        element.emitter.repeat(
            [first.register],
            lambda k: code.index(k).compare(">=", 0) if self.lower else code.index(k).compare("<", self.n),
            lambda k: [self.block(code.index(k)).register],
        )
        code.loop(0, self.n, self.put_order)

    def begin_row(self, i: Index) -> None:
        """Write zeros beside the triangle, and the diagonal."""
        builder, code = self.element.builder, self.element.code
        first, last = (i + 1, self.n) if self.lower else (code.index(0), i)
        code.loop(first, last, lambda j: builder.store(self.zero, self.factor.address(i, j)))
        builder.store(self.one, self.factor.address(i, i))
        code.loop(0, self.n, lambda j: builder.store(self.zero, self.blocks.address(i, j)))
        builder.store(builder.load(self.matrix.address(i, i)), self.blocks.address(i, i))
        self.positions[self.start, i] = as_number(code, i)

    def block(self, k: Index) -> Index:
        """Undo the exchange of the rows of a block, and return the row that the next one begins with."""
        builder, code = self.element.builder, self.element.code
        pivot = code.index(builder.sext(self.pivots[self.start, k].value, I64))
        is_double = pivot.compare("<", 0)
        more = code.index(builder.zext(is_double, I64))
        other = code.index(builder.select(is_double, (0 - pivot).register, pivot.register)) - 1
        with builder.if_then(is_double):
            self.couple(*((k, k - 1) if self.lower else (k, k + 1)))
        with builder.if_then(other.compare("!=", k)):
            first, last = (k - more, self.n) if self.lower else (code.index(0), k + 1 + more)
            code.loop(first, last, lambda j: exchange(self.factor, (k, j), (other, j)))
            exchange(self.positions, (self.start, k), (self.start, other))
        return k - 1 - more if self.lower else k + 1 + more

    def couple(self, i: Index, j: Index) -> None:
        """Move the element beside the diagonal in a block of two rows from the triangle to the blocks."""
        element = self.element
        value = self.matrix[i, j]
        self.blocks[i, j] = value
        is_hermitian = element.code.dtype.kind == "c" and element.attributes["hermitian"]
        self.blocks[j, i] = Complex(value.real, -value.imag) if is_hermitian else value
        element.builder.store(self.zero, self.factor.address(i, j))

    def put_order(self, i: Index) -> None:
        """Write the place of a row among those of the factor."""
        code = self.element.code
        position = code.index(self.positions[self.start, i].value)
        self.order[self.start, position] = as_number(code, i)


def exchange(matrix: Matrix, one: tuple[Index, Index], other: tuple[Index, Index]) -> None:
    first, second = matrix[one], matrix[other]
    matrix[one], matrix[other] = second, first


def as_number(code: Code, index: Index) -> Bits:
    return Bits(code.emitter, index.register, INT64)
