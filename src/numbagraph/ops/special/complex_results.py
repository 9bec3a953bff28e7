"""Functions of `scipy.special` whose results are complex, in ops of their parts. Numbers in brackets are those of the
DLMF."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import Kind, as_value, convert, promote
from numbagraph.intrinsics.emitters import hankel as hankel_functions
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64
from numbagraph.ir.values import Op, Value
from numbagraph.ops.arithmetic import absolute, complex_of, remainder
from numbagraph.ops.comparison import less, logical_and
from numbagraph.ops.exponentials import exp
from numbagraph.ops.selection import where
from numbagraph.ops.special.bessel_functions import second_slope
from numbagraph.ops.special.error_functions import own
from numbagraph.ops.special.incomplete_gamma import with_parameters
from numbagraph.ops.special.modified_bessel_functions import BY_ORDER, NOT_IN_JAX
from numbagraph.ops.special.removable_singularities import power_series
from numbagraph.ops.trigonometry import cos, sin


def kelvin(x: Any) -> tuple[Value, ...]:
    """`scipy.special.kelvin`. [10.61.1, 10.61.2]"""
    pairs = ("ber", "bei"), ("ker", "kei"), ("berp", "beip"), ("kerp", "keip")
    return tuple(complex_of(*(registry[name](x) for name in pair)) for pair in pairs)


POSITIVE = (0.5, 5.0)

FAR = 6.5
"""The number from which on the asymptotic series of the auxiliary functions have all digits."""


def in_fourths(first: int) -> list[float]:
    """Return 14 terms of an auxiliary function: every second term of the asymptotic series, from ``first`` on.
    [7.12.2]"""
    return [(-1) ** k * math.prod(range(1, 4 * k + 2 * first, 2)) / 2 ** (2 * k + first) for k in range(14)]


def part_of_hankel(result: int, name: str, alone: str, slope: Callable[..., Value]) -> Op:
    """Declare ``alone``, a Bessel function, as a part of one call of a Hankel function, which takes half as long as
    `yv`."""

    def reference(v: Any, x: Any) -> Any:
        return load(f"scipy.special:{alone}")(v, x)

    return own(
        name,
        reference,
        POSITIVE,
        emit=hankel_functions.part_of_hankel(result),
        vjp=lambda g, y, v, x: (BY_ORDER, g * slope(y, v, x)),
        jnp=NOT_IN_JAX,
        samples=with_parameters((1.0, 4.0), POSITIVE, parameters=1),
        cost=600,
        ulp=64,
        scale=1,
    )


hankel_j = part_of_hankel(0, "hankel_j", "jv", lambda y, v, x: 0.5 * (hankel_j(v - 1, x) - hankel_j(v + 1, x)))
"""[10.6.1]"""
hankel_y = part_of_hankel(1, "hankel_y", "yv", lambda y, v, x: second_slope(hankel_y, y, v, x))


def hankel(order: Any, x: Any, sign: float, *, scaled: bool) -> Value:
    """Return a Hankel function of real numbers; negative ones are on the upper side of the cut. It is NaN at 0 and
    infinities, as SciPy's. [10.4.3, 10.11.1 to 10.11.5]"""
    given = promote(hankel_dtypes, (as_value(order), as_value(x)))
    v, number = (convert(each, FLOAT64) for each in given)
    size = absolute(number)
    is_regular = logical_and(less(0.0, size), less(size, math.inf))
    inside = where(is_regular, size, 1.0)
    j, y = hankel_j(v, inside), hankel_y(v, inside)
    turn = remainder(v, 2.0) * math.pi
    c, s = cos(turn), sin(turn)
    behind = (s * y - c * j, c * y + s * j) if sign > 0 else (3.0 * c * j - s * y, s * j - c * y)
    real, imag = (where(less(number, 0.0), *each) for each in zip(behind, (j, sign * y), strict=True))
    if scaled:
        phase = where(is_regular, sign * number, 0.0)
        c, s = cos(phase), sin(phase)
        real, imag = real * c + imag * s, imag * c - real * s
    found = complex_of(*(where(is_regular, each, math.nan) for each in (real, imag)))
    return convert(found, COMPLEX64 if given[0].dtype == FLOAT32 else COMPLEX128)


def hankel_dtypes(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
    """Return the dtypes of the order, of the number, which SciPy makes complex, and of the result."""
    of_order = load("scipy.special:hankel1").resolve_dtypes((*kinds, None))[0]
    return of_order, of_order, of_order


def hankel1(v: Any, z: Any) -> Value:
    """`scipy.special.hankel1`."""
    return hankel(v, z, 1.0, scaled=False)


def hankel2(v: Any, z: Any) -> Value:
    """`scipy.special.hankel2`."""
    return hankel(v, z, -1.0, scaled=False)


def hankel1e(v: Any, z: Any) -> Value:
    """`scipy.special.hankel1e`."""
    return hankel(v, z, 1.0, scaled=True)


def hankel2e(v: Any, z: Any) -> Value:
    """`scipy.special.hankel2e`."""
    return hankel(v, z, -1.0, scaled=True)


def wofz(z: Any) -> Value:
    """`scipy.special.wofz` of real numbers. [7.5.1]"""
    given = as_value(z)
    number = convert(given, FLOAT64)
    found = complex_of(exp(-number * number), 2 / math.sqrt(math.pi) * registry["dawsn"](number))
    return convert(found, load("scipy.special:wofz").resolve_dtypes((given.dtype, None))[1])


def loop_dtypes(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
    """Return the dtypes of the operand and of a result."""
    return load("scipy.special:modfresnelp").resolve_dtypes((*kinds, None, None))[:2]


def modified_fresnel(x: Any, sign: float) -> tuple[Value, Value]:
    """Return the integral of ``exp(sign * 1j * t**2)`` from ``x`` to infinity, and its factor beside the oscillation.
    [7.2.6]

    Up to `FAR` they are made of Fresnel's integrals, and beyond of the auxiliary functions [7.5.3, 7.5.4]. An
    integral up to an infinite number is its limit, as is one whose phase overflows.
    """
    (given,) = promote(loop_dtypes, (as_value(x),))
    number = convert(given, FLOAT64)
    size, square, is_negative = absolute(number), number * number, less(number, 0.0)
    is_far, c, s = less(FAR, size), cos(square), sin(square)

    several: Any = registry["fresnel"]
    sine, cosine = several(where(is_far, 0.0, number) * math.sqrt(2 / math.pi))
    together, apart = 1.0 - cosine - sine, cosine - sine
    near = 0.5 - cosine, 0.5 - sine, together * c + apart * s, apart * c - together * s

    inverse = 1.0 / where(is_far, size, FAR)
    per_square = inverse * inverse
    fourth, scale = per_square * per_square, inverse / math.sqrt(2 * math.pi)
    f = scale * power_series(fourth, in_fourths(0))
    g = scale * per_square * power_series(fourth, in_fourths(1))
    has_phase = less(square, math.inf)
    a, b = where(has_phase, g * c - f * s, 0.0), where(has_phase, f * c + g * s, 0.0)
    mirrored = 1.0 - a, 1.0 - b, 2.0 * c - (f + g), -2.0 * s - (f - g)
    far = [where(is_negative, *each) for each in zip(mirrored, (a, b, f + g, f - g), strict=True)]

    scales = (math.sqrt(math.pi / 2),) * 2 + (0.5,) * 2
    parts = [where(is_far, *each) * scale for *each, scale in zip(far, near, scales, strict=True)]
    dtype = COMPLEX64 if given.dtype == FLOAT32 else COMPLEX128
    integral, smooth = (complex_of(parts[k], sign * parts[k + 1]) for k in (0, 2))
    return convert(integral, dtype), convert(smooth, dtype)


def modfresnelp(x: Any) -> tuple[Value, Value]:
    """`scipy.special.modfresnelp`."""
    return modified_fresnel(x, 1.0)


def modfresnelm(x: Any) -> tuple[Value, Value]:
    """`scipy.special.modfresnelm`."""
    return modified_fresnel(x, -1.0)
