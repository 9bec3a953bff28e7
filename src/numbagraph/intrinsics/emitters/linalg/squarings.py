"""The number of times that the approximant of a matrix's exponential is squared.

Al-Mohy and Higham, A new scaling and squaring algorithm for the matrix exponential (2009): the norms of powers measure
the size of a matrix, where its own norm would lead to so many squarings that digits are lost. The rounding errors of
the powers depend on the sizes of the elements, for which there is a guard.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.emitter import I64
from numbagraph.intrinsics.emitters.formula import Complex, Number, absolute, intrinsic, lifted
from numbagraph.intrinsics.emitters.matrices import Index, StackVariable
from numbagraph.ir.types import FLOAT64, real_dtype

LARGEST = math.log2(4.25)
"""The logarithm of the size up to which the approximant of degree 13 has the accuracy of double precision."""
POWER = 27
"""The first power in the approximant's error."""
FACTOR = -math.log2(113250775606021113483283660800000000)
"""The logarithm of the factor of that power in the error."""
MOST = 1100.0

_log2, _ceil = (lifted(intrinsic(name)) for name in ("log2", "ceil"))


class ColumnSums:
    """Sums down the columns of matrices, of the sizes of their elements times weights, in the memory of two vectors.

    They are computed row by row, so that vector code adds to all of them.
    """

    def __init__(self, element: Element, memory: Sequence[ir.Value]) -> None:
        code, dtype = element.code, real_dtype(element.code.dtype)
        self.element = element
        self.weights, self.sums = (element.matrix(each, element["m"], dtype) for each in memory)
        self.first, self.zero = code.index(0), Number(element.emitter, element.emitter.constant(0.0, dtype), dtype)
        self.fill(lambda _: self.zero.constant(1.0))

    def fill(self, weight: Callable[[Index], Number]) -> None:
        code, weights = self.element.code, self.weights
        code.loop(0, self.element["m"], lambda i: weights.__setitem__((self.first, i), weight(i)))

    def largest(self, pointer: ir.Value) -> Number:
        """Return the largest sum of a matrix; NaN where there is one among them."""
        code, n, sums, first = self.element.code, self.element["m"], self.sums, self.first
        matrix, most = self.element.matrix(pointer, n), StackVariable(self.element.emitter, self.zero.value)

        def row(i: Index) -> None:
            weight = self.weights[first, i]
            code.loop(0, n, lambda j: sums.__setitem__((first, j), sums[first, j] + size(matrix[i, j]) * weight))

        def look(j: Index) -> None:
            found, known = sums[first, j], Number(self.element.emitter, most.value, self.zero.dtype)
            most.value = ((found <= known) | known.is_nan()).where(known, found).value

        code.loop(0, n, lambda j: sums.__setitem__((first, j), self.zero))
        code.loop(0, n, row)
        code.loop(0, n, look)
        return Number(self.element.emitter, most.value, self.zero.dtype)

    def logarithm(self, pointer: ir.Value) -> Number:
        """Return the logarithm to the base 2 of the norm of a power: of the matrix of the elements' sizes, to the power
        of `POWER`."""
        emitter, code = self.element.emitter, self.element.code
        total = StackVariable(emitter, emitter.constant(0.0, FLOAT64))

        def multiply(_: Index) -> None:
            found = self.largest(pointer)
            divisor = found.equals(0.0).where(1.0, found)
            self.fill(lambda i: self.sums[self.first, i] / divisor)
            total.value = (Number(emitter, total.value, FLOAT64) + _log2(found.cast(FLOAT64))).value

        code.loop(0, code.index(ir.Constant(I64, POWER)), multiply)
        return Number(emitter, total.value, FLOAT64)


def size(number: Number | Complex) -> Number:
    """Return the size of a number as in BLAS's sums: for a complex number, the sum of the sizes of its parts."""
    return absolute(number.real) + absolute(number.imag) if isinstance(number, Complex) else absolute(number)


def squarings(
    element: Element,
    matrix: ir.Value,
    powers: tuple[ir.Value, ir.Value],
    tenth_power: Callable[[], ir.Value],
    memory: Sequence[ir.Value],
) -> tuple[Number, Number]:
    """Return the number of squarings for a matrix whose powers 6 and 8 are known, and whether these are finite.

    If not, its norm counts, with which the exponential overflows unless all eigenvalues are far on the negative side.
    The tenth power, which takes a product, is only computed where the number depends on it.
    """
    sums = ColumnSums(element, memory)

    def size_of(power: ir.Value, exponent: float) -> Number:
        """Return the logarithm of the root of a power's norm."""
        return _log2(sums.largest(power).cast(FLOAT64)) / exponent

    norm, sixth, eighth = (size_of(*each) for each in ((matrix, 1.0), (powers[0], 6.0), (powers[1], 8.0)))
    tenth = StackVariable(element.emitter, eighth.value)
    upper, lower = (_ceil(each - LARGEST) for each in (sixth, eighth))
    with element.builder.if_then(((upper > lower) & (upper > 0.0)).value):
        tenth.value = size_of(tenth_power(), 10.0).value
    last = Number(element.emitter, tenth.value, FLOAT64)
    finite = (sixth < math.inf) & (eighth < math.inf) & (last < math.inf)
    known = smaller(larger(sixth, eighth), larger(eighth, last)) - LARGEST
    digits = -math.log2(np.finfo(element.code.dtype).eps / 2)
    guard = (sums.logarithm(matrix) - norm + (FACTOR + digits)) / (POWER - 1.0)
    wanted = _ceil(finite.where(larger(guard, known), norm - LARGEST))
    wanted = (wanted > 0.0).where(wanted, 0.0)
    return (wanted < MOST).where(wanted, MOST), finite


def larger(x: Number, y: Number) -> Number:
    return (x > y).where(x, y)


def smaller(x: Number, y: Number) -> Number:
    return (x < y).where(x, y)
