"""Formulas and emitters of complex numbers, as NumPy's loops have them."""

from __future__ import annotations

import math
from collections.abc import Callable

from llvmlite import ir

from numbagraph.intrinsics.emitters import libm, vecmath
from numbagraph.intrinsics.emitters.emitter import I1, I64, Emitter, Operand
from numbagraph.intrinsics.emitters.formula import Complex, Number, copysign, formula, intrinsic, lifted, unwrap, wrap
from numbagraph.intrinsics.emitters.formula import absolute as magnitude
from numbagraph.intrinsics.emitters.ir import Emit
from numbagraph.intrinsics.emitters.vecmath.declare import by_format
from numbagraph.ir.types import BOOL

LOG_2, LOG2_E, LOG10_E = 0.6931471805599453, 1.4426950408889634, 0.4342944819032518

_exp, _expm1, _log, _hypot = (lifted(each) for each in (vecmath.exp, vecmath.expm1, vecmath.log, vecmath.hypot))
_sin, _cos, _arctan2 = (lifted(each) for each in (vecmath.sin, vecmath.cos, vecmath.arctan2))

square_root, log = libm.complex_("sqrt"), libm.complex_("log")
sin, cos, tan = libm.complex_("sin"), libm.complex_("cos"), libm.complex_("tan")
arcsin, arccos, arctan = libm.complex_("asin"), libm.complex_("acos"), libm.complex_("atan")
sinh, cosh, tanh = libm.complex_("sinh"), libm.complex_("cosh"), libm.complex_("tanh")
arcsinh, arccosh, arctanh = libm.complex_("asinh"), libm.complex_("acosh"), libm.complex_("atanh")


def multiply(x: Complex, y: Complex) -> Complex:
    return Complex(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real)


def divide(x: Complex, y: Complex) -> Complex:
    """Divide by Smith's algorithm; a division by zero divides each part by zero."""
    wide = magnitude(y.real) >= magnitude(y.imag)
    large, small = wide.where(y.real, y.imag), wide.where(y.imag, y.real)
    ratio = small / large
    scale = 1.0 / (large + small * ratio)
    # (a + ib) / (c + id) divided through by c, or by d, whichever is larger
    real = wide.where(x.real + x.imag * ratio, x.real * ratio + x.imag) * scale
    imaginary = wide.where(x.imag - x.real * ratio, x.imag * ratio - x.real) * scale
    by_zero = wide & large.equals(0.0)
    zero = magnitude(large)
    return Complex(by_zero.where(x.real / zero, real), by_zero.where(x.imag / zero, imaginary))


def reciprocal(x: Complex) -> Complex:
    wide = magnitude(x.imag) <= magnitude(x.real)
    large, small = wide.where(x.real, x.imag), wide.where(x.imag, x.real)
    ratio = small / large
    scale = large + small * ratio
    return wide.where(Complex(1.0 / scale, -ratio / scale), Complex(ratio / scale, -1.0 / scale))


def absolute(emitter: Emitter, x: Operand) -> ir.Value:
    number = wrap(emitter, x)
    return _hypot(number.real, number.imag).value


def sign(x: Complex) -> Complex:
    """Return ``x / abs(x)``; the direction of infinity is 1, -1, i or -i when only one part is infinite."""
    size = _hypot(x.real, x.imag)
    infinite = size.equals(float("inf"))
    zero = size.equals(0.0)
    ratio = Complex(x.real / size, x.imag / size)
    return zero.where(Complex(size, size), infinite.where(_infinite_sign(x), ratio))


def _infinite_sign(x: Complex) -> Complex:
    infinity, nan = float("inf"), float("nan")
    real, imaginary = magnitude(x.real).equals(infinity), magnitude(x.imag).equals(infinity)
    both = real & imaginary

    def part(own: Number, own_infinite: Number) -> Number:
        unit = (own > 0).where(own.constant(1.0), own.constant(-1.0))
        return both.where(nan, own_infinite.where(unit, own.constant(0.0)))

    return Complex(part(x.real, real), part(x.imag, imaginary))


def compare(predicate: str) -> Callable[[Complex, Complex], Number]:
    """Compare for equality, or in lexical order: by the real parts, then by the imaginary ones. NaN is not ordered."""

    def equality(x: Complex, y: Complex) -> Number:
        if predicate == "==":
            return x.real.equals(y.real) & x.imag.equals(y.imag)
        return x.real.differs(y.real) | x.imag.differs(y.imag)

    def order(x: Complex, y: Complex) -> Number:
        first = x.real.compare(predicate[0], y.real) & ~x.imag.is_nan() & ~y.imag.is_nan()
        return first | (x.real.equals(y.real) & x.imag.compare(predicate, y.imag))

    return equality if predicate in ("==", "!=") else order


def is_nan(x: Complex) -> Number:
    return x.real.is_nan() | x.imag.is_nan()


def extremum(predicate: str) -> Callable[[Complex, Complex], Complex]:
    wins = compare(f"{predicate}=")
    return lambda x, y: (is_nan(x) | wins(x, y)).where(x, y)


def extremum_ignoring_nan(predicate: str) -> Callable[[Complex, Complex], Complex]:
    wins = compare(f"{predicate}=")
    return lambda x, y: (is_nan(y) | wins(x, y)).where(x, y)


def _exponential(x: Complex) -> Complex:
    """Return the exponential as in the C library. Where the exponential of the real part is too large, parts of the
    result need not be."""
    limit, half = by_format(x.real, 700.0, 80.0), by_format(x.real, 400.0, 55.0)
    large = x.real > limit
    size = _exp(large.where(x.real - 2.0 * half, x.real))
    factor = large.where(x.real.constant(math.exp(half)), 1.0)
    real, imaginary = (each * factor * size * factor for each in (_cos(x.imag), _sin(x.imag)))
    imaginary = x.imag.equals(0.0).where(x.imag, imaginary)
    no_angle = magnitude(x.real).equals(math.inf) & (x.imag - x.imag).is_nan()
    left = (x.real < 0.0).where(copysign(x.real.constant(0.0), x.imag), math.nan)
    return no_angle.where(Complex(size, left), Complex(real, imaginary))


def exp(emitter: Emitter, x: Operand) -> ir.Value:
    """Emit an exponential: in loops a formula, which LLVM makes vectors of; for one number a call of the C library,
    which is faster then."""
    return (libm.complex_("exp") if emitter.inlining is None else formula(_exponential))(emitter, x)


def log1p(x: Complex) -> Complex:
    real = x.real + 1.0
    return Complex(_log(_hypot(real, x.imag)), _arctan2(x.imag, real))


def expm1(x: Complex) -> Complex:
    half = _sin(x.imag / 2.0)
    return Complex(_expm1(x.real) * _cos(x.imag) - 2.0 * half * half, _exp(x.real) * _sin(x.imag))


def _times(x: Complex, factor: float) -> Complex:
    return Complex(x.real * factor, x.imag * factor)


def log_to_base(factor: float) -> Emit:
    """Return a logarithm to another base; ``factor`` is that of e."""

    def emit(emitter: Emitter, x: Operand) -> ir.Value:
        return unwrap(emitter, _times(wrap(emitter, Operand(log(emitter, x), x.dtype)), factor))

    return emit


log2, log10 = log_to_base(LOG2_E), log_to_base(LOG10_E)


def exp2(emitter: Emitter, x: Operand) -> ir.Value:
    return exp(emitter, Operand(unwrap(emitter, _times(wrap(emitter, x), LOG_2)), x.dtype))


def sinc(emitter: Emitter, x: Operand) -> ir.Value:
    number = wrap(emitter, x)
    zero = number.real.equals(0.0) & number.imag.equals(0.0)
    angle = _times(Complex(zero.where(1e-20, number.real), number.imag), math.pi)
    sine = sin(emitter, Operand(unwrap(emitter, angle), x.dtype))
    return unwrap(emitter, divide(wrap(emitter, Operand(sine, x.dtype)), angle))


def power(emitter: Emitter, x: Operand, y: Operand) -> ir.Value:
    """Return a power: integer exponents below 100 by multiplication, as in NumPy; all others by the C library."""
    return emitter.define("power", _power, x, y)


def _power(emitter: Emitter, base: Operand, exponent: Operand) -> ir.Value:
    x, y = wrap(emitter, base), wrap(emitter, exponent)
    count = lifted(intrinsic("trunc"))(y.real)
    few = y.imag.equals(0.0) & (magnitude(y.real) < 100.0) & count.equals(y.real)
    result = emitter.choose(
        few.value,
        lambda: unwrap(emitter, _integer_power(emitter, x, y.real)),
        lambda: _general_power(emitter, base, exponent),
    )
    zero, one, nan = x.real.constant(0.0), x.real.constant(1.0), x.real.constant(float("nan"))
    number = wrap(emitter, Operand(result, base.dtype))
    base_is_zero = x.real.equals(0.0) & x.imag.equals(0.0)
    number = base_is_zero.where((y.real > 0.0).where(Complex(zero, zero), Complex(nan, nan)), number)
    number = (y.real.equals(0.0) & y.imag.equals(0.0)).where(Complex(one, zero), number)
    return unwrap(emitter, number)


def _integer_power(emitter: Emitter, x: Complex, exponent: Number) -> Complex:
    """Return an integer power by repeated squaring."""
    builder = emitter.builder
    count = builder.fptosi(magnitude(exponent).value, I64)
    dtype, one, zero = x.real.dtype, x.real.constant(1.0), x.real.constant(0.0)

    def numbers(*values: ir.Value) -> list[Number]:
        return [Number(emitter, value, dtype) for value in values]

    def goes_on(remaining: ir.Value, *_: ir.Value) -> ir.Value:
        return builder.icmp_unsigned("!=", remaining, ir.Constant(I64, 0))

    def step(remaining: ir.Value, *parts: ir.Value) -> list[ir.Value]:
        real, imag, power_real, power_imag = numbers(*parts)
        result, power = Complex(real, imag), Complex(power_real, power_imag)
        odd = Number(emitter, builder.trunc(remaining, I1), BOOL)
        first = result.real.equals(1.0) & result.imag.equals(0.0)
        product = first.where(power, multiply(result, power))
        result, power = odd.where(product, result), multiply(power, power)
        rest = builder.lshr(remaining, ir.Constant(I64, 1))
        return [rest, result.real.value, result.imag.value, power.real.value, power.imag.value]

    start = [count, one.value, zero.value, x.real.value, x.imag.value]
    real, imag = numbers(*emitter.repeat(start, goes_on, step)[1:3])
    result = Complex(real, imag)
    return (exponent < 0.0).where(divide(Complex(one, zero), result), result)


def _general_power(emitter: Emitter, base: Operand, exponent: Operand) -> ir.Value:
    return libm.complex_("pow")(emitter, base, exponent)
