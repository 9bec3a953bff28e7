"""Fourier transforms of long rows in four steps (Bailey 1990, "FFTs in external or hierarchical memory").

The numbers of a row are a matrix of ``rows`` by ``columns``, about as many of the one as of the other. Its columns are
transformed, its elements turned by ``w**(row * column)``, where ``w`` is a root of unity of the row's length, and its
rows transformed; what results is the transform, column by column. So all transforms are of lengths that fit into the
first caches, and their plans serve many of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from llvmlite import ir

from numbagraph.intrinsics.emitters import fourier
from numbagraph.intrinsics.emitters.complexes import multiply
from numbagraph.intrinsics.emitters.core import Algorithm, Element
from numbagraph.intrinsics.emitters.emitter import F64, I1, I64, llvm_type
from numbagraph.intrinsics.emitters.formula import Complex, Number, lifted
from numbagraph.intrinsics.emitters.fourier import half_loop, inverse_loop, scale, whole_loop
from numbagraph.intrinsics.emitters.libm import real
from numbagraph.intrinsics.emitters.matrices import Index, Matrix
from numbagraph.intrinsics.emitters.transposition import in_blocks, transpose
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import BOOL, COMPLEX64, COMPLEX128, FLOAT64, real_dtype

LEAST_LONG = 1 << 15
"""The length from which on rows are long."""
LEAST_OF_SEVERAL = 600_000
"""The length from which on rows are long where there are several. These share the plan of NumPy's loop, which for a
single row takes as long as the transform."""
LEAST_ROWS = 4
"""The least number of rows of the matrix. With fewer, each row is nearly as long as the whole, and takes its share of
the time."""
BLOCK = 16
"""The number of columns that are transformed at once: a row of their elements fills some lines of the cache."""
PADDING = 4
"""The number of complex numbers between rows: rows of a power of two would share sets of the first cache."""
NEAR = 32
"""The number of elements of a row for which one power is computed: theirs is that one times a power of a table."""

_sin, _cos = lifted(real("sin")), lifted(real("cos"))


def divided(index: Index, other: int | Index) -> Index:
    """The quotient of two lengths."""
    divisor = ir.Constant(I64, other) if isinstance(other, int) else other.register
    return Index(index.emitter, index.emitter.builder.udiv(index.register, divisor))


def root_of(element: Element) -> Index:
    """Return the root of the length, rounded down."""
    builder = element.builder
    length = builder.sitofp(element["n"].register, F64)
    return element.code.index(builder.fptosi(element.emitter.intrinsic("sqrt", length), I64))


def number_of_rows(element: Element) -> Index:
    """Return the largest divisor of the length that is not more than its root."""
    builder, length = element.builder, element["n"].register

    def goes_on(divisor: ir.Value) -> ir.Value:
        return builder.icmp_unsigned("!=", builder.urem(length, divisor), ir.Constant(I64, 0))

    root = root_of(element).register
    (found,) = element.emitter.repeat([root], goes_on, lambda each: [builder.sub(each, ir.Constant(I64, 1))])
    return element.code.index(found)


class Powers(Struct):
    """The powers of a root of unity, as products of two: of the lower and of the upper bits of an exponent."""

    element: Element
    lower: Matrix
    upper: Matrix
    bits: ir.Value

    @classmethod
    def of(cls, element: Element, sign: int) -> Powers:
        """Return the powers of ``exp(sign * 2j * pi / n)``, tabulated."""
        builder, code, zero = element.builder, element.code, element.code.index(0)
        zeros = element.emitter.function("llvm.ctlz.i64", I64, [I64, I1], pure=False)
        leading = builder.call(zeros, [root_of(element).register, ir.Constant(I1, 1)])
        bits = builder.sub(ir.Constant(I64, 64), leading)
        count = code.index(builder.shl(ir.Constant(I64, 1), bits))
        lower = element.matrix(element.scratch[0], count, COMPLEX128)
        found = cls(element, lower, lower.from_(code.index(1), zero), bits)

        def tabulate(table: Matrix, length: Index, step: Index) -> None:
            code.loop(0, length, lambda k: table.__setitem__((zero, k), found.computed(k * step, sign)))

        tabulate(lower, count, code.index(1))
        tabulate(found.upper, code.index(builder.lshr(element["n"].register, bits)) + 1, count)
        return found

    def computed(self, exponent: Index, sign: int) -> Complex:
        """Compute a power by sine and cosine of an angle of at most an eighth of a turn, from the nearest quarter."""
        emitter, builder, length = self.element.emitter, self.element.builder, self.element["n"]
        quarters = divided(exponent * 8 + length, length * 2)
        rest, whole = (
            Number(emitter, builder.sitofp(each.register, F64), FLOAT64)
            for each in (exponent * 4 - quarters * length, length)
        )
        angle = rest * (math.pi / 2) / whole
        cosine, sine = _cos(angle), _sin(angle)
        odd, opposite = (
            Number(emitter, builder.trunc(each.register, I1), BOOL) for each in (quarters, divided(quarters, 2))
        )
        one, other = odd.where(-sine, cosine), odd.where(cosine, sine)
        power = opposite.where(Complex(-one, -other), Complex(one, other))
        return power if sign > 0 else conjugate(power)

    def __getitem__(self, exponent: Index) -> Complex:
        """Return the power of an exponent that is less than the length."""
        builder, zero = self.element.builder, self.element.code.index(0)
        above = builder.lshr(exponent.register, self.bits)
        below = builder.xor(exponent.register, builder.shl(above, self.bits))
        return multiply(
            self.lower[zero, self.element.code.index(below)], self.upper[zero, self.element.code.index(above)]
        )


class Steps(Struct):
    """A row as a matrix, and the memory for its transforms."""

    element: Element
    rows: Index
    columns: Index
    powers: Powers
    near: Matrix
    work: Matrix

    @classmethod
    def of(cls, element: Element, rows: Index, sign: int) -> Steps:
        columns, builder = divided(element["n"], rows), element.builder
        with builder.goto_entry_block():
            pointer = builder.alloca(llvm_type(COMPLEX128), NEAR)
        near = element.matrix(pointer, element.code.index(NEAR), COMPLEX128)
        dtype = COMPLEX64 if element.dtypes[0] in fourier.SINGLE else COMPLEX128
        work = element.matrix(element.scratch[1], columns + PADDING, dtype)
        return cls(element, rows, columns, Powers.of(element, sign), near, work)

    @property
    def half(self) -> Index:
        """The number of rows without those that are the conjugates of others."""
        return divided(self.rows, 2) + 1

    @property
    def one(self) -> ir.Constant:
        return ir.Constant(F64, 1.0)

    def block(self, rows: Index, length: Index) -> Matrix:
        """Return the memory behind some rows for a block of columns."""
        return self.element.matrix(self.work.address(rows, self.zero), length + PADDING, self.work.dtype)

    @property
    def zero(self) -> Index:
        return self.element.code.index(0)

    @property
    def middle(self) -> Index:
        """The column from which on the elements are the conjugates of others."""
        return divided(self.columns + 1, 2)

    def each_of_rest(self, width: Index, body: Callable[[Index, Index], object]) -> None:
        """Call ``body(column, row)`` for all elements of a block of rows from `middle` on."""
        code = self.element.code
        code.loop(self.middle, self.columns, lambda i: code.loop(0, width, lambda j: body(i, j)))

    def turn(self, row: Index) -> None:
        """Multiply the elements of a row by the powers of the root whose exponents are multiples of its number."""
        code, near, work, zero = self.element.code, self.near, self.work, self.zero
        code.loop(0, self.columns.least(NEAR), lambda k: near.__setitem__((zero, k), self.powers[row * k]))

        def some(number: Index) -> None:
            first = number * NEAR
            far = self.powers[row * first]

            def one(k: Index) -> None:
                power = Complex(*(each.cast(real_dtype(work.dtype)) for each in multiply(far, near[zero, k])))
                work[row, first + k] = multiply(work[row, first + k], power)

            code.loop(0, (self.columns - first).least(NEAR), one)

        code.loop(0, divided(self.columns + (NEAR - 1), NEAR), some)


Row = Callable[[Steps, Index], None]
"""``row(steps, k)``: a function that transforms the row of number k."""


def in_steps(row: Row, sign: Callable[[Element], int], otherwise: Algorithm) -> Algorithm:
    """Emit the transforms of long rows, and those of lengths that have no suitable divisor."""

    def algorithm(element: Element) -> None:
        builder, rows = element.builder, number_of_rows(element)
        alone = builder.or_(element["k"].compare("==", 1), element["n"].compare(">=", LEAST_OF_SEVERAL))
        with builder.if_else(builder.and_(alone, rows.compare(">=", LEAST_ROWS))) as branches:
            with branches[0]:
                steps = Steps.of(element, rows, sign(element))
                element.code.loop(0, element["k"], lambda k: row(steps, k))
            with branches[1]:
                otherwise(element)

    return algorithm


def whole_row(steps: Steps, k: Index) -> None:
    element, work, rows, columns = steps.element, steps.work, steps.rows, steps.columns
    code, zero, forward = element.code, steps.zero, element.attributes["forward"]
    source = element.matrix(element.operand(0).address(k, zero), columns)
    result = element.matrix(element.result().address(k, zero), rows)
    of_columns, of_rows = (whole_loop(element, each, forward) for each in (rows, columns))
    block, factor = steps.block(rows, rows), scale(element)

    def transform_columns(first: Index, width: Index) -> None:
        transpose(code, source.from_(zero, first), block, rows, width, ahead=True)
        of_columns(width, block, block, steps.one)
        transpose(code, block, work.from_(zero, first), width, rows)

    def transform_rows(first: Index, width: Index) -> None:
        code.loop(first, first + width, steps.turn)
        some = work.from_(first, zero)
        of_rows(width, some, some, factor)
        transpose(code, some, result.from_(zero, first), width, columns)

    in_blocks(element, columns, BLOCK, transform_columns)
    in_blocks(element, rows, BLOCK, transform_rows)


def half_row(steps: Steps, k: Index) -> None:
    """Transform a row of real numbers. Half of the matrix's rows is enough: the elements of the other half are
    conjugates of those in the last columns."""
    element, work, rows, columns, half = steps.element, steps.work, steps.rows, steps.columns, steps.half
    code, zero = element.code, steps.zero
    source = element.matrix(element.operand(0).address(k, zero), columns)
    result = element.matrix(element.result().address(k, zero), rows, work.dtype)
    of_columns, of_rows = half_loop(element, rows, half), whole_loop(element, columns, True)
    after, factor = steps.block(half, half), scale(element)
    before = element.matrix(after.address(code.index(BLOCK), zero), rows + 2 * PADDING)

    def transform_columns(first: Index, width: Index) -> None:
        transpose(code, source.from_(zero, first), before, rows, width, ahead=True)
        of_columns(width, before, after, steps.one)
        transpose(code, after, work.from_(zero, first), width, half)

    def transform_rows(first: Index, width: Index) -> None:
        code.loop(first, first + width, steps.turn)
        some = work.from_(first, zero)
        of_rows(width, some, some, factor)
        transpose(code, some, result.from_(zero, first), width, steps.middle)
        steps.each_of_rest(
            width, lambda i, j: result.__setitem__((columns - i, zero - first - j), conjugate(some[j, i]))
        )

    in_blocks(element, columns, BLOCK, transform_columns)
    in_blocks(element, half, BLOCK, transform_rows)
    for row, column, holds in real_elements(steps):
        with element.builder.if_then(holds):
            result[column, row] = real_part(result[column, row])


def inverse_row(steps: Steps, k: Index) -> None:
    """Transform half of a row back to real numbers."""
    element, work, rows, columns, half = steps.element, steps.work, steps.rows, steps.columns, steps.half
    code, zero = element.code, steps.zero
    source = element.matrix(element.operand(0).address(k, zero), rows)
    result = element.matrix(element.result().address(k, zero), columns, real_dtype(work.dtype))
    of_columns, of_rows = inverse_loop(element, rows, half), whole_loop(element, columns, False)
    before, factor = steps.block(half, half), scale(element)
    after = element.matrix(before.address(code.index(BLOCK), zero), rows + 2 * PADDING, result.dtype)

    def transform_rows(first: Index, width: Index) -> None:
        some = work.from_(first, zero)
        transpose(code, source.from_(zero, first), some, steps.middle, width, ahead=True)
        steps.each_of_rest(
            width, lambda i, j: some.__setitem__((j, i), conjugate(source[columns - i, zero - first - j]))
        )
        for row, column, holds in real_elements(steps):
            inside = element.builder.and_(row.compare(">=", first), row.compare("<", first + width))
            with element.builder.if_then(element.builder.and_(holds, inside)):
                work[row, column] = real_part(work[row, column])
        of_rows(width, some, some, steps.one)
        code.loop(first, first + width, steps.turn)

    def transform_columns(first: Index, width: Index) -> None:
        transpose(code, work.from_(zero, first), before, half, width, ahead=True)
        of_columns(width, before, after, factor)
        transpose(code, after, result.from_(zero, first), width, rows)

    in_blocks(element, half, BLOCK, transform_rows)
    in_blocks(element, columns, BLOCK, transform_columns)


def real_elements(steps: Steps) -> list[tuple[Index, Index, ir.Value]]:
    """Yield the row and the column of each element that has no conjugate, and whether there is such an element: the
    first number of a half and, if the length is even, the last."""
    builder, (rows, columns) = steps.element.builder, (steps.rows, steps.columns)
    odd_rows, odd_columns = (builder.trunc(each.register, I1) for each in (rows, columns))
    row = builder.select(odd_columns, divided(rows, 2).register, steps.zero.register)
    last = (steps.element.code.index(row), divided(columns, 2), builder.not_(builder.and_(odd_rows, odd_columns)))
    return [(steps.zero, steps.zero, ir.Constant(I1, 1)), last]


def real_part(number: Complex) -> Complex:
    return Complex(number.real, number.imag.constant(0.0))


def conjugate(number: Complex) -> Complex:
    return Complex(number.real, -number.imag)


def forwards(element: Element) -> int:
    return -1 if element.attributes["forward"] else 1


whole = in_steps(whole_row, forwards, fourier.transform)
half = in_steps(half_row, lambda _: -1, fourier.half_transform)
inverse = in_steps(inverse_row, lambda _: 1, fourier.inverse_of_half)
