"""Integer division in loops that LLVM vectorises: processors divide vectors of floating-point numbers alone.

A product with a rounded reciprocal gives the exact quotient where the dividend has few digits. One of 64 bits has too
many: the rest after a first quotient is divided once more.
"""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import I32, Emitter, Operand
from numbagraph.intrinsics.emitters.target import current_target

FLOAT, DOUBLE = ir.FloatType(), ir.DoubleType()
WIDE = 64


def divides_in_vectors(emitter: Emitter, x: Operand, y: Operand) -> bool:
    """Whether a division stands in a loop of vectors, and takes less time there by floating-point numbers.

    LLVM multiplies by constants where products of twice the width are instructions. Numbers of 64 bits are converted by
    instructions of AVX-512 alone.
    """
    if not emitter.in_vectors:
        return False
    is_wide = 8 * x.dtype.itemsize == WIDE
    if isinstance(y.value, ir.Constant):
        number = abs(int(y.value.constant))
        return is_wide and number & (number - 1) != 0 and has_wide_conversions()
    return not is_wide or has_wide_conversions()


def has_wide_conversions() -> bool:
    return current_target().has("avx512dq")


def floor_divmod(emitter: Emitter, x: Operand, y: Operand) -> tuple[ir.Value, ir.Value]:
    """Return the quotient, rounded towards minus infinity, and the remainder, both 0 where the divisor is 0. The least
    number divided by -1 is itself."""
    division = Division(emitter, x, y)
    if division.width < WIDE:
        quotient = division.narrow()
    else:
        quotient = division.wide_signed() if division.is_signed else division.wide_unsigned()
    builder = emitter.builder
    rest = builder.sub(x.value, builder.mul(quotient, y.value))
    return quotient, builder.select(division.is_divisor(0), division.constant(0), rest)


class Division:
    """One division of integers."""

    def __init__(self, emitter: Emitter, x: Operand, y: Operand) -> None:
        self.emitter = emitter
        self.builder = emitter.builder
        self.x, self.y = x.value, y.value
        self.is_signed = x.dtype.kind == "i"
        self.width = 8 * x.dtype.itemsize
        self.float = FLOAT if self.width <= 16 else DOUBLE  # whose 24 digits are enough for 17

    def constant(self, number: int) -> ir.Constant:
        return ir.Constant(self.x.type, number)

    def is_divisor(self, number: int) -> ir.Value:
        return self.builder.icmp_unsigned("==", self.y, self.constant(number))

    def as_float(self, number: ir.Value, *, signed: bool | None = None) -> ir.Value:
        convert = self.builder.sitofp if (self.is_signed if signed is None else signed) else self.builder.uitofp
        return convert(number, self.float)

    def reciprocal(self, divisor: ir.Value) -> ir.Value:
        return self.builder.fdiv(ir.Constant(self.float, 1.0), divisor)

    def unsigned(self, number: ir.Value, type_: ir.Type) -> ir.Value:
        return self.builder.fptoui(number, type_)  # pyright: ignore[reportAttributeAccessIssue]  not in the stubs

    def narrow(self) -> ir.Value:
        """Return the quotient as ``floor((x + 0.5) / y)`` for a positive divisor, and with ``x - 0.5`` for a negative
        one: no multiple lies between the two numerators, nor as close to either as the rounding errors are large."""
        builder, by_zero = self.builder, self.is_divisor(0)
        by_minus_one = self.is_divisor(-1) if self.is_signed else None
        unsafe = by_zero if by_minus_one is None else builder.or_(by_zero, by_minus_one)
        divisor = self.as_float(builder.select(unsafe, self.constant(1), self.y))
        half = self.emitter.intrinsic("copysign", ir.Constant(self.float, 0.5), divisor)
        moved = builder.fadd(self.as_float(self.x), half)
        floored = self.emitter.intrinsic("floor", builder.fmul(moved, self.reciprocal(divisor)))
        fits = self.is_signed or self.width < 32
        whole = builder.fptosi(floored, I32) if fits else self.unsigned(floored, I32)
        quotient = whole if self.width == 32 else builder.trunc(whole, self.x.type)
        if by_minus_one is not None:
            quotient = builder.select(by_minus_one, builder.neg(self.x), quotient)
        return builder.select(by_zero, self.constant(0), quotient)

    def wide_signed(self) -> ir.Value:
        """Return the quotient of signed 64-bit numbers. The first quotient may be wrong by 2**-51 of itself; its rest
        is no more than the divisor and 2**12."""
        builder = self.builder
        # by -1, 0 and 1 it is a product, and would be too large for a first quotient
        few = builder.icmp_unsigned("<", builder.add(self.y, self.constant(1)), self.constant(3))
        divisor = builder.select(few, self.constant(2), self.y)
        by = self.reciprocal(self.as_float(divisor))
        first = builder.fptosi(builder.fmul(self.as_float(self.x), by), self.x.type)
        quotient, rest = self.second(first, divisor, by)
        wrong = builder.icmp_signed("<", builder.xor(rest, divisor), self.constant(0))
        wrong = builder.and_(wrong, builder.icmp_signed("!=", rest, self.constant(0)))
        quotient = builder.sub(quotient, builder.zext(wrong, self.x.type))
        return builder.select(few, builder.mul(self.x, self.y), quotient)

    def wide_unsigned(self) -> ir.Value:
        """Return the quotient of unsigned 64-bit numbers. The rest after the first quotient may be below 0, and is no
        more than half of a divisor of 63 bits."""
        builder = self.builder
        few = builder.icmp_unsigned("<", self.y, self.constant(2))
        large = builder.icmp_signed("<", self.y, self.constant(0))
        divisor = builder.select(builder.or_(few, large), self.constant(2), self.y)
        by = self.reciprocal(self.as_float(divisor))
        nearest = builder.fadd(builder.fmul(self.as_float(self.x), by), ir.Constant(self.float, 0.5))
        quotient, rest = self.second(self.unsigned(nearest, self.x.type), divisor, by)
        wrong = builder.icmp_signed("<", rest, self.constant(0))
        quotient = builder.sub(quotient, builder.zext(wrong, self.x.type))
        once = builder.zext(builder.icmp_unsigned(">=", self.x, self.y), self.x.type)
        quotient = builder.select(large, once, quotient)
        return builder.select(few, builder.mul(self.x, self.y), quotient)

    def second(self, first: ir.Value, divisor: ir.Value, by: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Add the nearest quotient of the rest after a first one; it is exact, or too large by one."""
        builder = self.builder
        rest = builder.sub(self.x, builder.mul(first, divisor))
        nearest = self.emitter.intrinsic("rint", builder.fmul(self.as_float(rest, signed=True), by))
        more = builder.fptosi(nearest, self.x.type)
        return builder.add(first, more), builder.sub(rest, builder.mul(more, divisor))
