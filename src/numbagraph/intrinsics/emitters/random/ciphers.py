"""Block ciphers of few rounds, from which counter-based random numbers come."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from numbagraph.intrinsics.emitters.emitter import I32, I64, Emitter, Operand
from numbagraph.intrinsics.emitters.formula import Bits

UINT32 = np.dtype(np.uint32)
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA


def threefry(first_key: Any, second_key: Any, first: Any, second: Any) -> tuple[Any, Any]:
    """Threefry-2x32 with 20 rounds, on integers of 32 bits: registers, or arrays of NumPy or JAX.

    Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (2011).
    """
    keys = (first_key, second_key, first_key ^ second_key ^ PARITY)
    first, second = first + keys[0], second + keys[1]
    for number in range(1, 6):
        for count in ROTATIONS[(number - 1) % 2]:
            first = first + second
            second = ((second << count) | (second >> (32 - count))) ^ first
        first, second = first + keys[number % 3], second + keys[(number + 1) % 3] + number
    return first, second


def emit_threefry(emitter: Emitter, first_key: Operand, second_key: Operand, counter: Operand) -> ir.Value:
    """Encipher the words of a counter of 64 bits, the upper one first; they form the result in the same order."""
    builder, half = emitter.builder, ir.Constant(I64, 32)
    words = builder.trunc(builder.lshr(counter.value, half), I32), builder.trunc(counter.value, I32)
    registers = (Bits(emitter, value, UINT32) for value in (first_key.value, second_key.value, *words))
    upper, lower = (builder.zext(each.value, I64) for each in threefry(*registers))
    return builder.or_(builder.shl(upper, half), lower)


def emit_unit_interval(emitter: Emitter, bits: Operand) -> ir.Value:
    """Convert bits to a number: the upper bits are those of a number from 1 on below 2, from which 1 is subtracted."""
    wide = bits.dtype.itemsize == 8
    fraction, one = (52, 0x3FF) if wide else (23, 0x7F)
    shifted = Bits(emitter, bits.value, bits.dtype) >> (8 * bits.dtype.itemsize - fraction)
    return ((shifted | (one << fraction)).number - 1.0).value
