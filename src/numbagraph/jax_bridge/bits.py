"""JAX's primitives that look at the bits of integers and floats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.jax_bridge.control import ruled
from numbagraph.jax_bridge.translation import Run, dtype_of, is_constant
from numbagraph.ops.bits import reinterpreted
from numbagraph.tracing.tracer import Tracer

MANTISSA = {4: 23, 8: 52}
"""Bits of the mantissa, by the bytes of a float."""


def unsigned_of(dtype: np.dtype) -> np.dtype:
    return np.dtype(f"u{dtype.itemsize}")


def unsigned(x: Any) -> Any:
    return x.astype(unsigned_of(x.dtype))


def seen_as(x: Any, dtype: np.dtype) -> Any:
    """The bits of each element as an element of a dtype of the same width."""
    return np.asarray(x).view(dtype)[()] if is_constant(x) else Tracer(reinterpreted(x.value, dtype))


def of_bits(_run: Run, equation: Any, x: Any) -> Any:
    """Reinterpret the bits of elements. If the widths differ, one wide element corresponds to several narrow ones along
    a last axis, the lowest bits first."""
    dtype = dtype_of(equation.outvars[0])
    if not (x.dtype.kind in "iuf" and dtype.kind in "iuf"):
        raise NotImplementedError(
            f"from_jax has no translation of JAX's primitive 'bitcast_convert_type' from {x.dtype} to {dtype}"
        )
    bits, wanted = seen_as(x, unsigned_of(x.dtype)), unsigned_of(dtype)
    shorter = min(bits.dtype.itemsize, wanted.itemsize)
    places = 8 * np.arange(max(bits.dtype.itemsize, wanted.itemsize) // shorter) * shorter
    if wanted.itemsize < bits.dtype.itemsize:
        bits = (np.expand_dims(bits, -1) >> places.astype(bits.dtype)).astype(wanted)
    elif wanted.itemsize > bits.dtype.itemsize:
        bits = np.sum(bits.astype(wanted) << places.astype(wanted), axis=-1, dtype=wanted)
    return seen_as(bits, dtype)


def reduce_precision(run: Run, equation: Any, x: Any) -> Any:
    """Round floats to fewer bits. The derivative does the same to cotangents, which have no more bits."""
    exponents, mantissa = equation.params["exponent_bits"], equation.params["mantissa_bits"]
    own = MANTISSA[x.dtype.itemsize]
    if exponents >= 8 * x.dtype.itemsize - 1 - own and mantissa >= own:
        return x
    return ruled(lambda _run, _equation, x: [shortened(x, exponents, mantissa)])(run, equation, x)


def shortened(x: Any, exponents: int, mantissa: int) -> Any:
    """Round a float to fewer bits, ties to even; beyond the range of the exponent it becomes infinite, or zero."""
    width, own = 8 * x.dtype.itemsize, MANTISSA[x.dtype.itemsize]
    own_exponents = width - 1 - own
    number = unsigned_of(x.dtype).type
    bits = seen_as(x, unsigned_of(x.dtype))
    if mantissa < own:
        last = 1 << (own - mantissa)
        odd = (bits & number(last)) >> number(own - mantissa)
        bits = (bits + odd + number(last // 2 - 1)) & ~number(last - 1)
    if exponents < own_exponents:
        bias, its_bias = (1 << (own_exponents - 1)) - 1, (1 << (exponents - 1)) - 1
        infinite = number(((1 << own_exponents) - 1) << own)
        exponent, sign = bits & infinite, bits & number(1 << (width - 1))
        bits = np.where(exponent > number((bias + its_bias) << own), sign | infinite, bits)
        bits = np.where(exponent <= number((bias - its_bias) << own), sign, bits)
    found = seen_as(bits, x.dtype)
    return np.where(np.isnan(x), x, found)


def in_order(x: Any) -> Any:
    """Convert floats to integers in the total order of floats: NaN of the sign of -1, numbers with -0 before 0, other
    NaN."""
    if x.dtype.kind != "f":
        return x
    integer = np.dtype(f"i{x.dtype.itemsize}")
    bits = seen_as(x, integer)
    return np.where(bits < 0, bits ^ integer.type(np.iinfo(integer).max), bits)


def leading_zeros(x: Any) -> Any:
    """Count leading zeros: set all bits below the highest one, and count those that are not set."""
    width = 8 * x.dtype.itemsize
    bits = unsigned(x)
    step = 1
    while step < width:
        bits = bits | (bits >> bits.dtype.type(step))
        step *= 2
    return (width - np.bitwise_count(bits)).astype(x.dtype)


def by_sign(a: Any, b: Any) -> Any:
    """Shift to the right and repeat the highest bit, of unsigned integers too."""
    signed = np.dtype(f"i{a.dtype.itemsize}")
    return (a.astype(signed) >> within(a, b).astype(signed)).astype(a.dtype)


def within(a: Any, b: Any) -> Any:
    """Bound the count of a shift, as an unsigned number, so that the highest bit remains."""
    last = 8 * a.dtype.itemsize - 1
    return np.minimum(unsigned(b), unsigned_of(b.dtype).type(last))


PLAIN: dict[str, Callable[..., Any]] = {
    "clz": leading_zeros,
    "eq_to": lambda a, b: in_order(a) == in_order(b),
    "le_to": lambda a, b: in_order(a) <= in_order(b),
    "lt_to": lambda a, b: in_order(a) < in_order(b),
    "population_count": lambda x: np.bitwise_count(unsigned(x)),
    "shift_left": lambda a, b: a << b,
    "shift_right_arithmetic": by_sign,
    "shift_right_logical": lambda a, b: (unsigned(a) >> unsigned(b)).astype(a.dtype),
}
TABLE: dict[str, Callable[..., Any]] = {"bitcast_convert_type": of_bits, "reduce_precision": reduce_precision}
