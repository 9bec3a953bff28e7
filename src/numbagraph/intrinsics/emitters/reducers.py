"""Accumulators: the reduction of a stream of numbers to one, and the combination of partial results."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters import scalar
from numbagraph.intrinsics.emitters.emitter import I64, Emitter, Operand, llvm_constant
from numbagraph.intrinsics.emitters.ir import Emit
from numbagraph.ir.structs import Struct
from numbagraph.ir.types import COMPLEX128, FLOAT64, INT64

State = tuple[ir.Value, ...]


def negative_zero(dtype: np.dtype) -> Any:
    """Return the neutral element of addition, bit for bit: 0.0 + -0.0 is 0.0."""
    return complex(-0.0, -0.0) if dtype.kind == "c" else -0.0 if dtype.kind == "f" else 0


class Reducer(Struct):
    """A reduction of one accumulator. ``combine`` is associative, up to rounding."""

    name: str
    combine: Emit
    identity: Any
    """The neutral element: a number, or a function of the dtype."""
    ordered: bool = field(default=False, kw_only=True)
    """Whether the order of floating-point terms matters for more than rounding."""
    absorbing: Any = field(default=None, kw_only=True)
    """A number that stays as it is whatever follows, if there is one."""

    positional = False

    def identity_of(self, dtype: np.dtype) -> Any:
        return self.identity(dtype) if callable(self.identity) else self.identity

    def initial(self, dtype: np.dtype) -> State:
        return (llvm_constant(self.identity_of(dtype), dtype),)

    def result_dtype(self, dtype: np.dtype) -> np.dtype:
        return dtype

    def step(self, emitter: Emitter, state: State, value: Operand, extra: ir.Value | None) -> State:
        """Return the state after one more value; ``extra`` is its position, or other data that a reducer needs."""
        return (self.combine(emitter, Operand(state[0], value.dtype), value),)

    def merge(self, emitter: Emitter, first: State, second: State, dtype: np.dtype) -> State:
        """Return the state after two runs of values, from the state after each."""
        return (self.combine(emitter, Operand(first[0], dtype), Operand(second[0], dtype)),)

    def result(self, state: State) -> ir.Value:
        return state[0]

    def carried(self, emitter: Emitter, index: Operand, before: Operand) -> ir.Value:
        """Return the accumulator at ``index`` of a running reduction: the element before, or the identity at the
        first."""
        first = emitter.builder.icmp_unsigned("==", index.value, ir.Constant(I64, 0))
        return emitter.builder.select(first, self.initial(before.dtype)[0], before.value)

    def advance(self, emitter: Emitter, accumulator: Operand, value: Operand, *extra: Operand) -> ir.Value:
        """Take one step of a running reduction whose accumulator is an element in memory."""
        return self.step(emitter, (accumulator.value,), value, extra[0].value if extra else None)[0]


class LinearRecurrence(Reducer):
    """The reducer of ``y = factor * y + value``. Two steps combine into one step, but ``combine`` has no need to."""

    def step(self, emitter: Emitter, state: State, value: Operand, extra: ir.Value | None) -> State:
        assert extra is not None
        kept = scalar.multiply(emitter, Operand(extra, value.dtype), Operand(state[0], value.dtype))
        return (self.combine(emitter, Operand(kept, value.dtype), value),)


class RunningProduct(Reducer):
    """A product that begins with its first term. (One times a complex number is another one beside infinities, and
    where a part is -0.)"""

    @staticmethod
    def unit(dtype: np.dtype) -> Any:
        """Return the number that stands for no term: a one that hardly any product is."""
        return complex(1.0, -0.0) if dtype.kind == "c" else 1

    def step(self, emitter: Emitter, state: State, value: Operand, extra: ir.Value | None) -> State:
        (product,) = super().step(emitter, state, value, extra)
        if value.dtype.kind != "c":
            return (product,)
        builder, imaginary = emitter.builder, emitter.imaginary(state[0])
        integer = ir.IntType(value.dtype.itemsize * 4)
        sign_bit = ir.Constant(integer, 1 << (integer.width - 1))
        is_negative_zero = builder.icmp_unsigned("==", builder.bitcast(imaginary, integer), sign_bit)
        is_one = builder.fcmp_ordered("==", emitter.real(state[0]), ir.Constant(imaginary.type, 1.0))
        return (builder.select(builder.and_(is_one, is_negative_zero), value.value, product),)


class Sum(Reducer):
    """A sum in blocks: reordered inside a block, compensated across blocks (Knuth's TwoSum), so that the error
    does not grow with the length."""

    def blocked(self, dtype: np.dtype) -> bool:
        return dtype.kind in "fc"

    def total_dtype(self, dtype: np.dtype) -> np.dtype:
        """The dtype of totals, double precision: the errors of many blocks of float32 would not fit into one more."""
        return COMPLEX128 if dtype.kind == "c" else FLOAT64

    def add_block(self, emitter: Emitter, total: State, block: ir.Value, dtype: np.dtype) -> State:
        """Add a block's sum to the running (sum, error) pair."""
        block = emitter.cast(Operand(block, dtype), self.total_dtype(dtype))
        if dtype.kind == "c":
            parts = [
                self._two_sum(emitter, part(total[0]), part(total[1]), part(block))
                for part in (emitter.real, emitter.imaginary)
            ]
            return tuple(emitter.pair(real, imaginary) for real, imaginary in zip(*parts, strict=True))
        return self._two_sum(emitter, total[0], total[1], block)

    def merge_totals(self, emitter: Emitter, first: State, second: State, dtype: np.dtype) -> State:
        """Return the (sum, error) pair of two runs of blocks, from the pair of each."""
        wide = self.total_dtype(dtype)
        total, error = self.add_block(emitter, first, second[0], wide)
        return total, scalar.add(emitter, Operand(error, wide), Operand(second[1], wide))

    def _two_sum(self, emitter: Emitter, total: ir.Value, error: ir.Value, block: ir.Value) -> State:
        builder = emitter.builder
        combined = builder.fadd(total, block)
        shadow = builder.fsub(combined, total)
        lost = builder.fadd(builder.fsub(total, builder.fsub(combined, shadow)), builder.fsub(block, shadow))
        # inf - inf is NaN, but a sum that reached infinity has no error to carry
        finite = builder.fcmp_ordered("ord", lost, lost)
        lost = builder.select(finite, lost, ir.Constant(lost.type, 0.0))
        return combined, builder.fadd(error, lost)

    def finish(self, emitter: Emitter, total: State, dtype: np.dtype) -> ir.Value:
        if dtype.kind == "c":
            parts = [emitter.builder.fadd(part(total[0]), part(total[1])) for part in (emitter.real, emitter.imaginary)]
            result = emitter.pair(*parts)
        else:
            result = emitter.builder.fadd(total[0], total[1])
        return emitter.cast(Operand(result, self.total_dtype(dtype)), dtype)


def better(predicate: str) -> Emit:
    """Return the emitter of "``new`` takes the place of ``old``" for argmax (">") or argmin ("<"): NaN beats all but
    NaN.

    Complex numbers are compared by their real parts, and where these are equal by the imaginary ones.
    """

    def emit(emitter: Emitter, new: Operand, old: Operand) -> ir.Value:
        builder, kind = emitter.builder, new.dtype.kind
        if kind in "biu":
            compare = builder.icmp_signed if kind == "i" else builder.icmp_unsigned
            return compare(predicate, new.value, old.value)
        if kind == "f":
            old_is_number = builder.fcmp_ordered("ord", old.value, old.value)
            return builder.and_(builder.fcmp_unordered(predicate, new.value, old.value), old_is_number)
        return _better_complex(emitter, predicate, new.value, old.value)

    return emit


def _better_complex(emitter: Emitter, predicate: str, new: ir.Value, old: ir.Value) -> ir.Value:
    builder = emitter.builder
    (new_real, old_real), (new_imaginary, old_imaginary) = (
        (part(new), part(old)) for part in (emitter.real, emitter.imaginary)
    )
    tie = builder.fcmp_ordered("==", new_real, old_real)
    imaginary_wins = builder.and_(tie, builder.fcmp_ordered(predicate, new_imaginary, old_imaginary))
    wins = builder.or_(builder.fcmp_ordered(predicate, new_real, old_real), imaginary_wins)
    new_is_nan = builder.fcmp_unordered("uno", new_real, new_imaginary)
    old_is_number = builder.fcmp_ordered("ord", old_real, old_imaginary)
    return builder.and_(builder.or_(wins, new_is_nan), old_is_number)


class ArgReducer(Reducer):
    """The position of the first extremum; ``combine(emitter, new, old)`` says whether the new value is better."""

    extremum: Emit
    """The better one of two values."""
    predicate: str
    """The comparison that holds where one number is better than another."""

    positional = True
    NOWHERE = -1
    """The position before there is a value."""

    def result_dtype(self, dtype: np.dtype) -> np.dtype:
        return INT64

    def initial(self, dtype: np.dtype) -> State:
        return (llvm_constant(self.identity_of(dtype), dtype), ir.Constant(I64, self.NOWHERE))

    def step(self, emitter: Emitter, state: State, value: Operand, extra: ir.Value | None) -> State:
        assert extra is not None
        builder = emitter.builder
        wins = self.combine(emitter, value, Operand(state[0], value.dtype))
        wins = builder.or_(wins, builder.icmp_signed("<", state[1], ir.Constant(I64, 0)))
        return builder.select(wins, value.value, state[0]), builder.select(wins, extra, state[1])

    def locate(self, emitter: Emitter, state: State, value: Operand, extra: ir.Value | None) -> State:
        """Take a step towards the first position of a known extremum, from the largest unsigned number down."""
        assert extra is not None
        builder, extremum = emitter.builder, Operand(state[0], value.dtype)
        position = builder.select(self.combine(emitter, extremum, value), ir.Constant(I64, -1), extra)
        return state[0], builder.select(builder.icmp_unsigned("<", position, state[1]), position, state[1])

    def merge(self, emitter: Emitter, first: State, second: State, dtype: np.dtype) -> State:
        builder, zero = emitter.builder, ir.Constant(I64, 0)
        wins = self.combine(emitter, Operand(second[0], dtype), Operand(first[0], dtype))
        wins = builder.or_(wins, builder.icmp_signed("<", first[1], zero))
        wins = builder.and_(wins, builder.icmp_signed(">=", second[1], zero))
        return builder.select(wins, second[0], first[0]), builder.select(wins, second[1], first[1])

    def result(self, state: State) -> ir.Value:
        return state[1]
