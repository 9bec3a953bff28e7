"""Emitters of exact floating-point operations: division with remainder, rounding, and the parts of a number."""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import I32, I64, Emitter, Operand
from numbagraph.intrinsics.emitters.formula import (
    Number,
    absolute,
    copysign,
    floor,
    fma,
    formula,
    instruction,
    intrinsic,
    lifted,
    wrap,
)
from numbagraph.intrinsics.emitters.target import current_target
from numbagraph.intrinsics.emitters.vecmath.rare import by_call, only_where
from numbagraph.ir.types import FLOAT32, FLOAT64

INFINITY, NAN = math.inf, math.nan
LARGE = {FLOAT32: 2.0**23, FLOAT64: 2.0**52}
"""The number from which on all numbers are whole, by dtype."""

copy_sign = intrinsic("copysign")

_divided = instruction("frem")
_whole = lifted(intrinsic("trunc"))


def fmod(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
    """Return C's remainder, with the sign of the dividend; it is always exact."""
    if not current_target().has_fma:
        return _divided(emitter, x, y)
    return _fmod_in_vectors(emitter, x, y) if emitter.in_vectors else emitter.define("fmod", _fmod_of_number, x, y)


def _fmod_of_number(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
    """Return the remainder of one pair of numbers. The C library's function goes bit by bit, which takes a microsecond
    where the quotient is huge."""
    dividend, divisor = absolute(wrap(emitter, x)), absolute(wrap(emitter, y))
    usual = (dividend < INFINITY) & (divisor >= float(np.finfo(x.dtype).tiny)) & (divisor < INFINITY)

    def divided() -> ir.Value:
        return emitter.choose(
            usual.value, lambda: _rest_in_steps(emitter, dividend, divisor), lambda: _divided(emitter, x, y)
        )

    rest = emitter.choose((dividend < divisor).value, lambda: x.value, divided)
    return copysign(Number(emitter, rest, x.dtype), wrap(emitter, x)).value


def _rest_in_steps(emitter: Emitter, dividend: Number, divisor: Number) -> ir.Value:
    """Return the remainder of a positive dividend by quotients of as many digits as a number has, each of which leaves
    an exact rest: the divisor is first multiplied by a power of two."""
    dtype, digits = dividend.dtype, np.finfo(dividend.dtype).nmant

    def goes_on(rest: ir.Value) -> ir.Value:
        return (Number(emitter, rest, dtype) >= divisor).value

    def step(value: ir.Value) -> list[ir.Value]:
        rest = Number(emitter, value, dtype)
        excess = (rest.bits >> digits) - (divisor.bits >> digits) - (digits - 1)
        doublings = excess.compare(">", 0).where(excess, 0)
        scaled = (divisor.bits + (doublings << digits)).number
        left = fma(-_whole(rest / scaled), scaled, rest)
        return [(left < 0.0).where(left + scaled, left).value]

    return emitter.repeat([dividend.value], goes_on, step)[0]


@formula
def _fmod_in_vectors(x: Number, y: Number) -> Number:
    """Return the dividend less the divisor times a whole quotient. As long as the quotient has fewer digits than a
    number, rounding makes it too large by at most one; the rest then has the other sign."""
    quotient = x / y
    rare = (absolute(quotient) >= LARGE[x.dtype]) & (absolute(x) < INFINITY) & y.differs(0.0)
    of_rare = only_where(rare, by_call("fmod", _fmod_of_number), x, y)
    rest = fma(-_whole(quotient), y, x)
    rest = (rest.differs(0.0) & ((rest < 0.0) ^ (x < 0.0))).where(rest + copysign(y, x), rest)
    rest = (absolute(y).equals(INFINITY) & (absolute(x) < INFINITY)).where(x, copysign(rest, x))
    return rare.where(of_rare, rest)


_fmod = lifted(fmod)


def _remainder(x: Number, y: Number) -> tuple[Number, Number]:
    """Return C's remainder, and whether it has another sign than the divisor."""
    rest = _fmod(x, y)
    return rest, rest.differs(0.0) & ((y < 0.0) ^ (rest < 0.0))


@formula
def remainder(x: Number, y: Number) -> Number:
    """Return Python's remainder, with the sign of the divisor."""
    rest, wrong = _remainder(x, y)
    return rest.differs(0.0).where(wrong.where(rest + y, rest), copysign(x.constant(0.0), y))


@formula
def floor_divide(x: Number, y: Number) -> Number:
    """Return the integer nearest to the exact quotient, less one where the remainder has another sign than the
    divisor."""
    rest, wrong = _remainder(x, y)
    quotient = (x - rest) / y
    quotient = wrong.where(quotient - 1.0, quotient)
    rounded = floor(quotient)
    rounded = (quotient - rounded > 0.5).where(rounded + 1.0, rounded)
    signed_zero = copysign(x.constant(0.0), x / y)
    result = quotient.differs(0.0).where(rounded, signed_zero)
    return y.equals(0.0).where(x / y, result)


@formula
def modf_fraction(x: Number) -> Number:
    """Return the fraction, with the sign of the number; that of infinity is zero."""
    fraction = x - lifted(intrinsic("trunc"))(x)
    return copysign(absolute(x).equals(INFINITY).where(0.0, fraction), x)


@formula
def next_after(x: Number, y: Number) -> Number:
    """Return the number beside ``x`` on the side of ``y``. Numbers of one sign are in the order of their bits."""
    grows = (x < y) ^ (x < 0.0)
    moved = grows.where((x.bits + 1).number, (x.bits - 1).number)
    smallest = copysign((x.constant(0.0).bits + 1).number, y)
    moved = x.equals(0.0).where(smallest, moved)
    return (x.is_nan() | y.is_nan()).where(x + y, x.equals(y).where(y, moved))


@formula
def spacing(x: Number) -> Number:
    """Return the distance to the next number away from zero, with the sign of the number."""
    size = absolute(x)
    distance = (size.bits + 1).number - size
    return size.equals(INFINITY).where(NAN, (x < 0.0).where(-distance, distance))


@formula
def heaviside(x: Number, at_zero: Number) -> Number:
    if x.emitter.chained:
        return chained_heaviside(x, at_zero)
    step = (x > 0.0).where(x.constant(1.0), x.constant(0.0))
    return ((x > 0.0) | (x < 0.0)).where(step, x.equals(0.0).where(at_zero, x))


def chained_heaviside(x: Number, at_zero: Number) -> Number:
    """Return the step function by a branch that is predicted: the next step of a loop waits for comparisons, but not
    for the 1 behind it. The result is its own step, so chains stay there."""
    builder = x.emitter.builder
    with builder.if_else((x > 0.0).value, likely=True) as (positive, others):
        with positive:
            above = builder.block
        with others:
            rest = (x < 0.0).where(0.0, x.equals(0.0).where(at_zero, x))
            below = builder.block
    result = builder.phi(x.value.type)
    result.add_incoming(x.constant(1.0).value, above)
    result.add_incoming(rest.value, below)
    return Number(x.emitter, result, x.dtype)


def ldexp(emitter: Emitter, x: Operand, exponent: Operand) -> ir.Value:
    """Return ``x * 2 ** exponent``; an exponent beyond 32 bits is as good as one of 16."""
    builder, count = emitter.builder, exponent.value
    if count.type == I64:
        limit = ir.Constant(I64, 2**16)
        count = builder.select(builder.icmp_signed("<", count, limit), count, limit)
        count = builder.select(builder.icmp_signed(">", count, builder.neg(limit)), count, builder.neg(limit))
        count = builder.trunc(count, I32)
    return emitter.call("ldexpf" if x.dtype == FLOAT32 else "ldexp", x.value.type, x.value, count)


def sign_bit(emitter: Emitter, x: Operand) -> ir.Value:
    bits = ir.IntType(8 * x.dtype.itemsize)
    return emitter.builder.icmp_signed("<", emitter.builder.bitcast(x.value, bits), ir.Constant(bits, 0))


# In the precision of the operand, as NumPy: 180 / pi is not the same number in float32.
degrees = formula(lambda x: x * (x.constant(180.0) / x.constant(math.pi)))
radians = formula(lambda x: x * (x.constant(math.pi) / x.constant(180.0)))


def to_bits(emitter: Emitter, x: Operand) -> ir.Value:
    return _as_type(emitter, x, ir.IntType(8 * x.dtype.itemsize))


def from_bits(emitter: Emitter, x: Operand) -> ir.Value:
    return _as_type(emitter, x, ir.FloatType() if x.dtype.itemsize == 4 else ir.DoubleType())


def _as_type(emitter: Emitter, x: Operand, type_: ir.Type) -> ir.Value:
    own = x.value.type
    return emitter.builder.bitcast(
        x.value, ir.VectorType(type_, own.count) if isinstance(own, ir.VectorType) else type_
    )
