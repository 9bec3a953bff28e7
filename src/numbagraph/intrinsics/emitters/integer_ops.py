"""Emitters of integer operations: division, powers, bits. Cases that C leaves undefined are as NumPy defines them."""

from __future__ import annotations

from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import I8, I64, Emitter, Operand, width_of
from numbagraph.intrinsics.emitters.ir import Emit
from numbagraph.intrinsics.emitters.vector_division import divides_in_vectors, floor_divmod


def _constant(x: Operand, number: int) -> ir.Constant:
    return ir.Constant(x.value.type, number)


def _is(emitter: Emitter, x: Operand, number: int) -> ir.Value:
    return emitter.builder.icmp_unsigned("==", x.value, _constant(x, number))


def _safe_divisor(emitter: Emitter, y: Operand) -> tuple[ir.Value, ir.Value, ir.Value | None]:
    """Return a divisor that is neither 0 nor -1, and whether it was 0, and -1 (None: it is unsigned)."""
    by_zero = _is(emitter, y, 0)
    if y.dtype.kind == "u":
        return emitter.builder.select(by_zero, _constant(y, 1), y.value), by_zero, None
    by_minus_one = _is(emitter, y, -1)
    unsafe = emitter.builder.or_(by_zero, by_minus_one)
    return emitter.builder.select(unsafe, _constant(y, 1), y.value), by_zero, by_minus_one


def floor_divide(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
    """Divide and round towards minus infinity; by zero it is 0, and the least number divided by -1 is itself."""
    builder = emitter.builder
    if divides_in_vectors(emitter, x, y):
        return floor_divmod(emitter, x, y)[0]
    divisor, by_zero, by_minus_one = _safe_divisor(emitter, y)
    if by_minus_one is None:
        return builder.select(by_zero, _constant(x, 0), builder.udiv(x.value, divisor))
    quotient, rest = builder.sdiv(x.value, divisor), builder.srem(x.value, divisor)
    floored = builder.sub(quotient, builder.zext(_wrong_side(emitter, rest, divisor), x.value.type))
    floored = builder.select(by_minus_one, builder.neg(x.value), floored)
    return builder.select(by_zero, _constant(x, 0), floored)


def _wrong_side(emitter: Emitter, rest: ir.Value, divisor: ir.Value) -> ir.Value:
    """Return whether C's remainder is not 0 and has another sign than the divisor."""
    builder, zero = emitter.builder, ir.Constant(rest.type, 0)
    signs_differ = builder.icmp_signed("<", builder.xor(rest, divisor), zero)
    return builder.and_(signs_differ, builder.icmp_signed("!=", rest, zero))


def fmod(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
    """Return C's remainder, with the sign of the dividend; 0 when the divisor is 0."""
    builder = emitter.builder
    if divides_in_vectors(emitter, x, y):
        rest = floor_divmod(emitter, x, y)[1]
        if x.dtype.kind == "u":
            return rest
        return builder.select(_wrong_side(emitter, rest, x.value), builder.sub(rest, y.value), rest)
    divisor, by_zero, by_minus_one = _safe_divisor(emitter, y)
    rest = builder.urem(x.value, divisor) if by_minus_one is None else builder.srem(x.value, divisor)
    return builder.select(by_zero, _constant(x, 0), rest)


def remainder(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
    """Return Python's remainder, with the sign of the divisor; 0 when the divisor is 0."""
    builder = emitter.builder
    if divides_in_vectors(emitter, x, y):
        return floor_divmod(emitter, x, y)[1]
    rest = fmod(emitter, x, y)
    if x.dtype.kind == "u":
        return rest
    return builder.select(_wrong_side(emitter, rest, y.value), builder.add(rest, y.value), rest)


def power(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
    """Return a power by repeated squaring, modulo the word. The exponent is not negative."""
    if isinstance(y.value, ir.Constant) and isinstance(y.value.constant, int) and 0 <= y.value.constant <= 64:
        return _constant_power(emitter, x, y.value.constant)
    return emitter.define("power", _power, x, y)


def _constant_power(emitter: Emitter, x: Operand, exponent: int) -> ir.Value:
    result, square = _constant(x, 1), x.value
    while exponent:
        if exponent & 1:
            result = emitter.builder.mul(result, square)
        exponent >>= 1
        square = emitter.builder.mul(square, square)
    return result


def is_negative(emitter: Emitter, _: Operand, y: Operand) -> ir.Value:
    """Return 1 where an exponent is negative, as an index."""
    return emitter.builder.zext(emitter.builder.icmp_signed("<", y.value, _constant(y, 0)), I64)


def _power(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
    builder, type_ = emitter.builder, x.value.type
    zero, one = ir.Constant(type_, 0), ir.Constant(type_, 1)

    def goes_on(rest: ir.Value, *_: ir.Value) -> ir.Value:
        return builder.icmp_unsigned("!=", rest, zero)

    def step(rest: ir.Value, result: ir.Value, square: ir.Value) -> list[ir.Value]:
        odd = builder.trunc(rest, ir.IntType(1))
        product = builder.select(odd, builder.mul(result, square), result)
        return [builder.lshr(rest, one), product, builder.mul(square, square)]

    return emitter.repeat([y.value, one, x.value], goes_on, step)[1]


def gcd(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
    return emitter.define("gcd", _gcd, x, y)


def lcm(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
    return emitter.define("lcm", _lcm, x, y)


def _magnitude(emitter: Emitter, x: Operand) -> ir.Value:
    """The absolute value, to be read as unsigned."""
    if x.dtype.kind == "u":
        return x.value
    is_negative = emitter.builder.icmp_signed("<", x.value, _constant(x, 0))
    return emitter.builder.select(is_negative, emitter.builder.neg(x.value), x.value)


def _euclid(emitter: Emitter, x: Operand, y: Operand) -> tuple[ir.Value, ir.Value]:
    """Run Euclid's algorithm, and return the last dividend and its last divisor. If the divisor is 1, it is the
    greatest common divisor; else it is 0, and the dividend is. The first division is by the first number, which chains
    carry, and there is none if that is 0 or 1."""
    builder = emitter.builder

    def goes_on(_: ir.Value, divisor: ir.Value) -> ir.Value:
        return builder.icmp_unsigned(">", divisor, _constant(x, 1))

    def step(dividend: ir.Value, divisor: ir.Value) -> list[ir.Value]:
        return [divisor, builder.urem(dividend, divisor)]

    dividend, divisor = emitter.repeat([_magnitude(emitter, y), _magnitude(emitter, x)], goes_on, step)
    return dividend, divisor


def _gcd(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
    dividend, divisor = _euclid(emitter, x, y)
    return emitter.builder.select(_is_zero(emitter, divisor), dividend, divisor)


def _lcm(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
    """Return the least common multiple. The quotient depends on x only through branches, so that in a chain no step
    waits for its division."""
    builder = emitter.builder
    dividend, divisor = _euclid(emitter, x, y)
    second, one = _magnitude(emitter, y), _constant(x, 1)
    quotient = builder.udiv(second, builder.select(_is_zero(emitter, dividend), one, dividend))
    quotient = builder.select(_is_zero(emitter, divisor), quotient, second)
    return builder.mul(_magnitude(emitter, x), quotient)


def _is_zero(emitter: Emitter, value: ir.Value) -> ir.Value:
    return emitter.builder.icmp_unsigned("==", value, ir.Constant(value.type, 0))


def left_shift(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
    """Shift to the left; the result is 0 when all bits are shifted out."""
    amount, fits = _shift_amount(emitter, y)
    if emitter.chained:
        return chained_left_shift(emitter, x, amount, fits)
    return emitter.builder.select(fits, emitter.builder.shl(x.value, amount), _constant(x, 0))


def chained_left_shift(emitter: Emitter, x: Operand, amount: ir.Value, fits: ir.Value) -> ir.Value:
    """Shift to the left with a branch that is predicted: the next step of a loop waits for the shift alone. From an
    empty block, LLVM would make a select."""
    builder = emitter.builder
    with builder.if_else(fits, likely=True) as (all_bits, none):
        with all_bits:
            shifted, before = builder.shl(x.value, amount), builder.block
        with none:
            builder.call(emitter.function("llvm.sideeffect", ir.VoidType(), [], pure=False), [])
            after = builder.block
    result = builder.phi(x.value.type)
    result.add_incoming(shifted, before)
    result.add_incoming(_constant(x, 0), after)
    return result


def right_shift(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
    """Shift to the right; the result is 0, or -1 for negative numbers, when all bits are shifted out."""
    builder = emitter.builder
    amount, fits = _shift_amount(emitter, y)
    if x.dtype.kind == "u":
        return builder.select(fits, builder.lshr(x.value, amount), _constant(x, 0))
    most = _constant(x, width_of(x.value) - 1)
    return builder.ashr(x.value, builder.select(fits, amount, most))


def _shift_amount(emitter: Emitter, y: Operand) -> tuple[ir.Value, ir.Value]:
    """Return an amount that LLVM can shift by, and whether it is the given one (a negative one is not)."""
    fits = emitter.builder.icmp_unsigned("<", y.value, _constant(y, width_of(y.value)))
    return emitter.builder.select(fits, y.value, _constant(y, 0)), fits


def bit_count(emitter: Emitter, x: Operand) -> ir.Value:
    """Return the number of ones in the absolute value, as uint8."""
    count = emitter.intrinsic("ctpop", _magnitude(emitter, x))
    return emitter.builder.trunc(count, I8) if width_of(count) > I8.width else count


def fits(instruction: str) -> Emit:
    """Whether a signed addition, subtraction or multiplication does not overflow."""

    def emit(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
        found = getattr(emitter.builder, f"{instruction}_with_overflow")(x.value, y.value)
        return emitter.builder.not_(emitter.builder.extract_value(found, 1))

    return emit
