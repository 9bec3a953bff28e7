"""Systems whose matrix has one number along each diagonal, by Levinson's recursion.

Two vectors solve the leading systems of each length for the next column and for the next row; with them, the solution
of one system follows from that of the one before it. [Golub and Van Loan, Matrix Computations, 2013, section 4.7.7]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llvmlite import ir

from numbagraph.intrinsics.emitters.core import Element
from numbagraph.intrinsics.emitters.formula import Number
from numbagraph.intrinsics.emitters.matrices import Code, Index, Matrix, StackVariable


def differences(
    code: Code, firsts: Sequence[Number], stop: Index, terms: Callable[[Index], Sequence[Number]]
) -> list[Number]:
    """Return several numbers, each less the terms of a sum, computed in one loop."""

    def step(k: ir.Value, *totals: ir.Value) -> list[ir.Value]:
        found = terms(code.index(k))
        rest = [Number(code.emitter, one, each.dtype) - each for one, each in zip(totals, found, strict=True)]
        return [(code.index(k) + 1).register, *(each.value for each in rest)]

    state = [code.index(0).register, *(each.value for each in firsts)]
    _, *results = code.emitter.repeat(state, lambda k, *_: code.index(k).compare("<", stop), step)
    return [Number(code.emitter, each, first.dtype) for each, first in zip(results, firsts, strict=True)]


class Vector:
    """A row of a matrix."""

    def __init__(self, matrix: Matrix, zero: Index) -> None:
        self.matrix = matrix
        self.zero = zero

    def __getitem__(self, k: Index) -> Number:
        return self.matrix[self.zero, k]

    def __setitem__(self, k: Index, number: Number) -> None:
        self.matrix[self.zero, k] = number


class Levinson:
    """The recursion: ``forwards`` belongs to the next row, and ``backwards`` to the next column."""

    def __init__(self, element: Element) -> None:
        self.element = element
        self.code = element.code
        self.column, self.row = (Vector(element.operand(k), self.code.index(0)) for k in range(2))
        self.right, self.result = element.operand(2), element.result()
        memory = (element.memory(k, ("m",), self.code.dtype) for k in range(2))
        self.forwards, self.backwards = (Vector(each, self.code.index(0)) for each in memory)
        self.failed = StackVariable(element.emitter, self.code.false)

    def divisor(self, number: Number) -> Number:
        """Return a divisor, and note a failure if it is zero: then a leading matrix is singular."""
        builder = self.element.builder
        self.failed.value = builder.or_(self.failed.value, number.equals(0.0).value)
        return number

    def solve(self) -> ir.Value:
        code, builder, count, columns = self.code, self.element.builder, self.element["m"], self.element["n"]
        zero, one = code.index(0), code.index(1)
        with builder.if_then(builder.and_(count.compare(">", 0), columns.compare(">", 0))):
            corner = self.divisor(self.column[zero])
            code.loop(0, columns, lambda c: self.result.__setitem__((zero, c), self.right[zero, c] / corner))
            with builder.if_then(count.compare(">", 1)):
                self.forwards[zero] = self.row[one] / corner
                self.backwards[zero] = self.column[one] / corner
                code.loop(1, count, self.step)
        return self.failed.value

    def step(self, size: Index) -> None:
        """Extend the solution of the first ``size`` equations by one more equation."""
        zero = self.code.index(0)
        corner = self.column[zero]
        below, rest = differences(
            *(self.code, [corner, self.right[size, zero]], size),
            lambda j: [self.column[size - j] * each for each in (self.forwards[size - 1 - j], self.result[j, zero])],
        )
        divisor = self.divisor(below)
        self.extend(size, zero, rest / divisor)
        self.code.loop(1, self.element["n"], lambda c: self.extend(size, c, self.rest(size, c) / divisor))
        with self.element.builder.if_then((size + 1).compare("<", self.element["m"])):
            self.turn(size, corner, divisor)

    def rest(self, size: Index, c: Index) -> Number:
        """Return the residual of the next equation."""
        terms = (self.code, [self.right[size, c]], size, lambda j: [self.column[size - j] * self.result[j, c]])
        return differences(*terms)[0]

    def extend(self, size: Index, c: Index, last: Number) -> None:
        result = self.result
        result[size, c] = last
        self.code.loop(0, size, lambda j: result.__setitem__((j, c), result[j, c] - last * self.forwards[size - 1 - j]))

    def turn(self, size: Index, corner: Number, divisor: Number) -> None:
        """Extend both vectors to one equation more."""
        forwards, backwards = self.forwards, self.backwards
        ahead, behind, other = differences(
            *(self.code, [self.row[size + 1], self.column[size + 1], corner], size),
            lambda j: [
                self.row[size - j] * forwards[j],
                self.column[size - j] * backwards[j],
                self.row[size - j] * backwards[size - 1 - j],
            ],
        )
        first, second = ahead / self.divisor(other), behind / divisor
        forwards[size], backwards[size] = first, second

        def exchange(j: Index) -> None:
            k = size - 1 - j
            ends = [(each[j], each[k]) for each in (forwards, backwards)]
            (near, far), (other_near, other_far) = ends
            forwards[j], forwards[k] = near - first * other_far, far - first * other_near
            backwards[j], backwards[k] = other_near - second * far, other_far - second * near

        half = self.code.index(self.element.builder.lshr((size + 1).register, self.code.index(1).register))
        self.code.loop(0, half, exchange)


def solve(element: Element) -> ir.Value:
    return Levinson(element).solve()
