"""Index arithmetic, which never wraps; flags tell LLVM so."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import I64, Emitter, Operand
from numbagraph.ir.types import INT64

NO_WRAP = ("nsw",)


def add(emitter: Emitter, left: Operand, right: Operand) -> ir.Value:
    return emitter.builder.add(left.value, right.value, flags=NO_WRAP)


def subtract(emitter: Emitter, left: Operand, right: Operand) -> ir.Value:
    return emitter.builder.sub(left.value, right.value, flags=NO_WRAP)


def multiply(emitter: Emitter, left: Operand, right: Operand) -> ir.Value:
    return emitter.builder.mul(left.value, right.value, flags=NO_WRAP)


def divide(emitter: Emitter, left: Operand, right: Operand) -> ir.Value:
    """Return the quotient of non-negative numbers; a zero divisor counts as one, since such an array has no
    elements."""
    return emitter.builder.udiv(left.value, _at_least_one(emitter, right))


def remainder(emitter: Emitter, left: Operand, right: Operand) -> ir.Value:
    return emitter.builder.urem(left.value, _at_least_one(emitter, right))


def _at_least_one(emitter: Emitter, operand: Operand) -> ir.Value:
    if isinstance(operand.value, ir.Constant):
        return operand.value
    is_zero = emitter.builder.icmp_unsigned("==", operand.value, ir.Constant(I64, 0))
    return emitter.builder.select(is_zero, ir.Constant(I64, 1), operand.value)


def minimum(emitter: Emitter, left: Operand, right: Operand) -> ir.Value:
    is_less = emitter.builder.icmp_signed("<", left.value, right.value)
    return emitter.builder.select(is_less, left.value, right.value)


def if_at_least(emitter: Emitter, value: Operand, length: Operand, least: Operand) -> ir.Value:
    """Return ``value``, or 0 where a length is less than it should be."""
    is_enough = emitter.builder.icmp_signed(">=", length.value, least.value)
    return emitter.builder.select(is_enough, value.value, ir.Constant(I64, 0))


def previous(emitter: Emitter, index: Operand) -> ir.Value:
    """Return the index before this one; 0 has none and stays."""
    builder = emitter.builder
    following = builder.zext(builder.icmp_unsigned("!=", index.value, ir.Constant(I64, 0)), I64)
    return builder.sub(index.value, following, flags=NO_WRAP)


def widen(emitter: Emitter, index: Operand) -> ir.Value:
    """An index array's element as a 64-bit index."""
    return emitter.cast(index, INT64)


def stretch(emitter: Emitter, index: Operand, extent: Operand) -> ir.Value:
    """Return ``index``, or 0 where the operand's length is 1: broadcasting decided at run time."""
    is_one = emitter.builder.icmp_unsigned("==", extent.value, ir.Constant(I64, 1))
    return emitter.builder.select(is_one, ir.Constant(I64, 0), index.value)


def wrap(emitter: Emitter, index: Operand, extent: Operand) -> ir.Value:
    """Return ``index``, or where it is negative, the position that it counts from the other end."""
    is_negative = emitter.builder.icmp_signed("<", index.value, ir.Constant(I64, 0))
    wrapped = emitter.builder.add(index.value, extent.value, flags=NO_WRAP)
    return emitter.builder.select(is_negative, wrapped, index.value)
