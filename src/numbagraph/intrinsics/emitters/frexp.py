"""The two parts of a floating-point number: a mantissa of at least a half and below 1, and a power of 2."""

from __future__ import annotations

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import I32, Emitter, Operand, llvm_constant


def parts(emitter: Emitter, x: Operand) -> tuple[ir.Value, ir.Value]:
    """Return the mantissa and the exponent; zeros, infinities and NaN are mantissas, and their exponent is 0."""
    builder, limits = emitter.builder, np.finfo(x.dtype)
    digits, type_ = limits.nmant, ir.IntType(8 * x.dtype.itemsize)
    size = emitter.intrinsic("fabs", x.value)
    small = builder.fcmp_ordered("<", size, llvm_constant(limits.smallest_normal, x.dtype))
    larger = builder.fmul(x.value, llvm_constant(2.0 ** (digits + 1), x.dtype))
    bits = builder.bitcast(builder.select(small, larger, x.value), type_)
    mask = (1 << (type_.width - 1 - digits)) - 1
    power = builder.and_(builder.lshr(bits, ir.Constant(type_, digits)), ir.Constant(type_, mask))
    bias = mask // 2 - 1
    own = builder.and_(bits, ir.Constant(type_, ~(mask << digits)))
    half = builder.bitcast(builder.or_(own, ir.Constant(type_, bias << digits)), x.value.type)
    whole = builder.or_(
        builder.fcmp_ordered("==", size, llvm_constant(0.0, x.dtype)),
        builder.icmp_unsigned("==", power, ir.Constant(type_, mask)),
    )
    scale = builder.select(small, ir.Constant(type_, bias + digits + 1), ir.Constant(type_, bias))
    exponent = builder.select(whole, ir.Constant(type_, 0), builder.sub(power, scale))
    narrow = exponent if type_ == I32 else builder.trunc(exponent, I32)
    return builder.select(whole, x.value, half), narrow


def mantissa(emitter: Emitter, x: Operand) -> ir.Value:
    return parts(emitter, x)[0]


def exponent(emitter: Emitter, x: Operand) -> ir.Value:
    return parts(emitter, x)[1]
