"""Derivatives that are computed as a whole: that of Cholesky's factor."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I64, Emitter, llvm_type
from numbagraph.intrinsics.emitters.formula import Number
from numbagraph.intrinsics.emitters.lanes import Lanes, lanes_of
from numbagraph.intrinsics.emitters.linalg.triangular import clear_triangle
from numbagraph.intrinsics.emitters.matrices import Grid, Index, Matrix, Registers


def cholesky_pullback_loops(element: Element) -> None:
    """Emit the factorisation backwards, row by row from the last one: a quarter of the work of the closed form.

    Murray, Differentiation of the Cholesky decomposition (2016), section 4.2.
    """
    code, n = element.code, element["m"]
    factor, source, target = element.operand(0), element.operand(1), element.result()
    found: Grid = Registers() if n.static is not None else target
    code.loop(0, n, lambda i: code.loop(0, i + 1, lambda j: found.__setitem__((i, j), source[i, j])))
    zero, half = code.number(0.0), code.number(0.5)

    def row(k: Index) -> None:
        inverse = 1.0 / factor[k, k]
        code.loop(k + 1, n, lambda i: found.__setitem__((i, k), found[i, k] * inverse))
        rest = code.total(found[k, k], k + 1, n, lambda i: factor[i, k] * found[i, k]) * inverse
        found[k, k] = rest * half
        if n.static is None:
            Updates(element, k, rest).run()
        else:
            code.loop(0, k, lambda j: update(element, factor, found, k, j, rest))

    code.backwards(n, row)
    if isinstance(found, Registers):
        code.loop(0, n, lambda i: code.loop(0, i + 1, lambda j: target.__setitem__((i, j), found[i, j])))
    code.loop(0, n, lambda i: code.loop(i + 1, n, lambda j: target.__setitem__((i, j), zero)))


def update(element: Element, factor: Grid, found: Grid, k: Index, j: Index, rest: Number) -> None:
    """Update the element of row ``k`` in column ``j`` of the cotangent, and subtract its share from the rows behind
    it."""
    code, number, first = element.code, factor[k, j], found[k, j] - rest * factor[k, j]
    found[k, j] = code.total(first, k + 1, element["m"], lambda i: found[i, k] * factor[i, j])
    code.loop(k + 1, element["m"], lambda i: found.__setitem__((i, j), found[i, j] - found[i, k] * number))


class Updates:
    """The updates of row ``k`` for all columns before ``k``, as many at a time as vectors hold."""

    def __init__(self, element: Element, k: Index, rest: Number) -> None:
        self.element = element
        self.factor, self.found = element.operand(0), element.result()
        self.k = k
        self.rest = rest

    def run(self) -> None:
        """Update the columns in vectors that are as long as possible, and what is left in shorter ones."""
        code, builder = self.element.code, self.element.builder
        width = lanes_of(code.dtype)
        count = code.index(builder.udiv(self.k.register, ir.Constant(I64, width)))
        code.loop(0, count, lambda number: self.columns(number * width, width))
        begin = count * width
        while width > 1:
            width //= 2
            left = (self.k - begin).compare(">=", width)
            with builder.if_then(left):
                self.columns(begin, width)
            begin = code.index(builder.select(left, (begin + width).register, begin.register))

    def columns(self, j: Index, width: int) -> None:
        """Update some columns of row ``k``; the sum of what they get from all rows behind it stays in a register."""
        builder, k, n = self.element.builder, self.k, self.element["m"]
        vectors = Vectors(self.element, width)
        number = vectors.load(self.factor, k, j)
        first = vectors.load(self.found, k, j) - vectors.spread(self.rest) * number

        def step(i: ir.Value, total: ir.Value) -> list[ir.Value]:
            at = self.element.code.index(i)
            weight = vectors.spread(self.found[at, k])
            rest = vectors.number(total) - weight * vectors.load(self.factor, at, j)
            vectors.store(self.found, at, j, vectors.load(self.found, at, j) - weight * number)
            return [(at + 1).register, rest.value]

        def goes_on(i: ir.Value, _: ir.Value) -> ir.Value:
            return builder.icmp_signed("<", i, n.register)

        _, total = vectors.emitter.repeat([(k + 1).register, first.value], goes_on, step)
        vectors.store(self.found, k, j, vectors.number(total))


class Vectors:
    """Numbers that follow each other in the rows of matrices."""

    def __init__(self, element: Element, width: int) -> None:
        self.dtype = element.code.dtype
        self.builder = element.builder
        self.width = width
        self.emitter: Emitter = Lanes(element.builder, width) if width > 1 else element.emitter
        self.type = llvm_type(self.dtype) if width == 1 else ir.VectorType(llvm_type(self.dtype), width)

    def number(self, value: ir.Value) -> Number:
        return Number(self.emitter, value, self.dtype)

    def address(self, matrix: Matrix, i: Index, j: Index) -> ir.Value:
        return self.builder.bitcast(matrix.address(i, j), self.type.as_pointer())

    def load(self, matrix: Matrix, i: Index, j: Index) -> Number:
        return self.number(self.builder.load(self.address(matrix, i, j), align=self.dtype.itemsize))

    def store(self, matrix: Matrix, i: Index, j: Index, number: Number) -> None:
        self.builder.store(number.value, self.address(matrix, i, j), align=self.dtype.itemsize)

    def spread(self, number: Number) -> Number:
        """Return a vector with the same number in all lanes."""
        return self.number(self.emitter.spread(number.value)) if isinstance(self.emitter, Lanes) else number


def cholesky_pullback_by_blas(element: Element) -> None:
    """Emit the closed form (Murray's equation 10), for large matrices: BLAS takes less time than the loops.

    BLAS sees transposed matrices: the factor as an upper triangle.
    """
    code, n, fortran = element.code, element["m"], element.fortran
    factor, result, found = element.operands[0], element.results[0], element.result()
    width, one = fortran.width(n.register), fortran.number(1)
    element.copy(result, element.operands[1], n * n)
    clear_triangle(element, found, n, upper=True)
    fortran.blas("trmm", "R", "U", "T", "N", n, n, one, factor, width, result, width)
    code.loop(0, n, lambda i: code.loop(0, i, lambda j: found.__setitem__((j, i), found[i, j])))
    fortran.blas("trsm", "L", "U", "N", "N", n, n, one, factor, width, result, width)
    fortran.blas("trsm", "R", "U", "T", "N", n, n, one, factor, width, result, width)
    half = code.number(0.5)
    code.loop(0, n, lambda i: found.__setitem__((i, i), found[i, i] * half))
    clear_triangle(element, found, n, upper=True)
