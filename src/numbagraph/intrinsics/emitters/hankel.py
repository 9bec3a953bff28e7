"""Bessel functions of the first and of the second kind together: the parts of a Hankel function.

Numbers in brackets are those of the DLMF.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from llvmlite import ir

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.emitter import F64, I32, Emitter, Operand
from numbagraph.intrinsics.emitters.external import SCIPY
from numbagraph.intrinsics.emitters.formula import Number, absolute, copysign, lifted, sqrt, wrap
from numbagraph.intrinsics.emitters.ir import Emit
from numbagraph.ir.types import FLOAT64

PAIR = ir.LiteralStructType([F64, F64])
SMALL = 0.125
"""The size of the first kind relative to the second below which it is computed on its own: the error of SciPy's Hankel
function is relative to the size of the whole."""

FAR = 25.0
"""The number from which on, and from half the square of the order on, the asymptotic series has all digits."""
LARGEST = 2.0**30
"""The number from which on SciPy's function may be 0 in both parts: these are then `jv` and `yv`."""
LEAST_TERM = 2.0**-56

_jv, _yv, _sin, _cos = lifted(libm.jv), lifted(libm.scipy("yv")), lifted(libm.sin), lifted(libm.cos)


def part_of_hankel(result: int) -> Emit:
    """Return ``jv(order, x)``, or ``yv(order, x)``, from one call of SciPy's function for both if x is positive."""

    def emit(emitter: Emitter, order: Operand, x: Operand) -> ir.Value:
        values = [emitter.cast(each, FLOAT64) for each in (order, x)]
        pair = emitter.builder.call(_both(emitter), values)
        return emitter.cast(Operand(emitter.builder.extract_value(pair, result), FLOAT64), x.dtype)

    return emit


def _both(emitter: Emitter) -> ir.Function:
    """Call a pure function that is not inlined for both parts: LLVM makes one call of two for the same operands."""
    name = "numbagraph.results.hankel"
    found = emitter.module.globals.get(name)
    if not isinstance(found, ir.Function):
        found = emitter.function(name, PAIR, [F64, F64])
        found.linkage = "internal"
        set.add(found.attributes, "noinline")
        inside = Emitter(ir.IRBuilder(found.append_basic_block("entry")))
        inside.builder.ret(_parts(inside, *(wrap(inside, Operand(each, FLOAT64)) for each in found.args)))
    return found


def _parts(emitter: Emitter, order: Number, x: Number) -> ir.Value:
    """Return both parts: by the asymptotic series, where it has all digits; else by SciPy's function, which is NaN
    where it overflows, and for negative numbers by another one."""
    size = absolute(order)

    def of_size(real: Number, imag: Number) -> ir.Value:
        return emitter.choose(
            (order < 0.0).value,
            lambda: _turned(emitter, real, imag, size),
            lambda: emitter.pair(real.value, imag.value),
        )

    def near() -> ir.Value:
        pair = emitter.call(
            f"{SCIPY}hankel1.dD.D", PAIR, size.value, x.value, ir.Constant(F64, 0.0), ir.Constant(I32, 0)
        )
        real, imag = _numbers(emitter, pair)

        def apart() -> ir.Value:
            return emitter.pair(_jv(order, x).value, _yv(order, x).value)

        def together() -> ir.Value:
            is_small = (x < size) & (absolute(real) < absolute(imag) * SMALL)
            first = emitter.choose(is_small.value, lambda: _jv(size, x).value, lambda: real.value)
            return of_size(wrap(emitter, Operand(first, FLOAT64)), imag)

        is_usual = (x >= 0.0) & (x < LARGEST) & (real + imag).equals(real + imag)
        return emitter.choose(is_usual.value, together, apart)

    is_far = (x >= FAR) & (x < LARGEST) & (x >= size * size * 0.5)
    return emitter.choose(is_far.value, lambda: of_size(*_asymptotic(emitter, size, x)), near)


def _numbers(emitter: Emitter, pair: ir.Value) -> tuple[Number, Number]:
    real, imag = (wrap(emitter, Operand(emitter.builder.extract_value(pair, each), FLOAT64)) for each in range(2))
    return real, imag


def _asymptotic(emitter: Emitter, size: Number, x: Number) -> tuple[Number, Number]:
    """Return the asymptotic series [10.17.5], in two terms a step: every second one is imaginary, and signs change
    after two."""
    square = size * size * 4.0

    def wrapped(values: Sequence[ir.Value]) -> list[Number]:
        return [wrap(emitter, Operand(each, FLOAT64)) for each in values]

    def goes_on(*state: ir.Value) -> ir.Value:
        return (absolute(wrapped(state)[1]) > LEAST_TERM).value

    def step(*state: ir.Value) -> list[ir.Value]:
        k, term, real, imag = wrapped(state)

        def factor(k: Number) -> Number:
            odd = k * 2.0 - 1.0
            return (square - odd * odd) / (k * 8.0) / x

        across = term * factor(k)
        along = -(across * factor(k + 1.0))
        return [each.value for each in (k + 2.0, along, real + along, imag + across)]

    one, zero = x.constant(1.0), x.constant(0.0)
    _, _, real, imag = wrapped(emitter.repeat([each.value for each in (one, one, one, zero)], goes_on, step))
    behind = (size % 4.0 * 0.5 + 0.25) * math.pi
    c, s, cosine, sine = _cos(x), _sin(x), _cos(behind), _sin(behind)
    along, across = c * cosine + s * sine, s * cosine - c * sine
    amplitude = math.sqrt(2 / math.pi) / sqrt(x)
    return amplitude * (real * along - imag * across), amplitude * (real * across + imag * along)


def _turned(emitter: Emitter, real: Number, imag: Number, size: Number) -> ir.Value:
    """Return the parts for the opposite order, by a factor of which no part is almost zero. [10.4.6]"""
    turns = size % 2.0 - 1.0
    rest = absolute(turns)
    cosine = _sin((rest - 0.5) * math.pi)
    sine = -copysign(_sin((0.5 - absolute(rest - 0.5)) * math.pi), turns)
    return emitter.pair((cosine * real - sine * imag).value, (sine * real + cosine * imag).value)
