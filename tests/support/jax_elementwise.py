"""Cases of JAX's elementwise primitives: every pair of special numbers, in each dtype that JAX has them for."""

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from jax import lax
from jax import numpy as jnp

Case = tuple[Any, ...]
"""A function of JAX, and its arguments."""

FLOATS = [0.0, 1.0, 0.5, 1.5, 2.0, 2.5, 3.0, 0.9999, 20.0, 33.5, 171.6, 1e10, 1e30, np.inf, np.nan]
FEW = [0.0, 1.0, 0.5, 1.5, 2.0, 3.0, 40.0, np.inf, np.nan]
COMPLEX = [0.0, 1.0, 0.5, 2.5]
REAL = ("float64", "float32")
INTEGERS = ("int8", "int32", "int64", "uint8", "uint32", "uint64")
ORDERED = (*REAL, *INTEGERS)
COMPLEXES = ("complex128", "complex64")
NUMBERS = (*ORDERED, *COMPLEXES)
LOGICAL = (*INTEGERS, "bool")


def specials(dtype: str, few: bool = False) -> np.ndarray:
    """Numbers of a dtype at which functions are special: zeros, infinities and NaN of both signs, extreme integers."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([False, True])
    if kind in "iu":
        info = np.iinfo(dtype)
        low = [0, 1, 2, 3, 7, 31, 33, info.max // 2, info.max - 1, info.max]
        return np.array(low + ([info.min, info.min + 1, -1, -2, -3, -7] if kind == "i" else []), dtype)
    parts = np.array([*(FEW if few else FLOATS)] if kind == "f" else COMPLEX)
    parts = np.concatenate([parts, np.negative(parts)])
    if kind == "f":
        return parts.astype(dtype)
    found = np.empty((len(parts), len(parts)), dtype)
    found.real, found.imag = parts[:, None], parts
    return found.ravel()


def grid(dtypes: Sequence[str], few: bool = False) -> list[np.ndarray]:
    """Every combination of special numbers, an array for each operand."""
    numbers = [specials(dtype, few or len(dtypes) > 1) for dtype in dtypes]
    places = np.indices([len(each) for each in numbers]).reshape(len(numbers), -1)
    return [each[place] for each, place in zip(numbers, places, strict=True)]


def of(function: Callable[..., Any], count: int, dtypes: Sequence[str]) -> list[Case]:
    """A function of several operands of one dtype."""
    return [(function, *grid([dtype] * count)) for dtype in dtypes]


def between(dtype: str, other: str) -> Case:
    return (lambda x: lax.convert_element_type(x, other), specials(dtype))


def bits_of(dtype: str, other: str) -> Case:
    numbers = specials(dtype)
    wider = np.dtype(other).itemsize // np.dtype(dtype).itemsize
    if wider > 1:
        numbers = numbers[: len(numbers) // wider * wider].reshape(-1, wider)
    return (lambda x: lax.bitcast_convert_type(x, other), numbers)


KINDS = ("bool", "int8", "int32", "int64", "uint8", "uint64", "float32", "float64", "complex64", "complex128")
HAVE_BITS = ("int8", "uint8", "int16", "int32", "uint32", "float32", "int64", "uint64", "float64")
FORMATS = ((8, 23), (11, 52), (5, 10), (8, 7), (4, 3), (5, 2), (2, 1), (11, 23), (8, 0), (3, 30))
HORNER = [1.5, -2.0, 0.25]
UNARY = {
    "abs": (lax.abs, ("float64", "float32", "int8", "int32", "int64", *COMPLEXES)),
    "cbrt": (lax.cbrt, REAL),
    "ceil": (lax.ceil, REAL),
    "clz": (lax.clz, INTEGERS),
    "conj": (lax.conj, COMPLEXES),
    "copy": (jnp.copy, (*NUMBERS, "bool")),
    "digamma": (lax.digamma, REAL),
    "erf": (lax.erf, REAL),
    "erf_inv": (lax.erf_inv, REAL),
    "erfc": (lax.erfc, REAL),
    "floor": (lax.floor, REAL),
    "imag": (lax.imag, COMPLEXES),
    "is_finite": (lax.is_finite, REAL),
    "bessel_i0e": (lax.bessel_i0e, REAL),
    "bessel_i1e": (lax.bessel_i1e, REAL),
    "lgamma": (lax.lgamma, REAL),
    "neg": (lax.neg, NUMBERS),
    "not": (lax.bitwise_not, LOGICAL),
    "population_count": (lax.population_count, INTEGERS),
    "real": (lax.real, COMPLEXES),
    "sign": (lax.sign, NUMBERS),
    "square": (lax.square, NUMBERS),
    "stop_gradient": (lax.stop_gradient, REAL),
} | {
    name: (getattr(lax, name), (*REAL, *COMPLEXES))
    for name in (
        *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "exp2", "expm1", "log", "log1p"),
        *("logistic", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh"),
    )
}
BINARY = {
    "add": (lax.add, NUMBERS),
    "and": (lax.bitwise_and, LOGICAL),
    "atan2": (lax.atan2, REAL),
    "complex": (lax.complex, REAL),
    "div": (lax.div, NUMBERS),
    "eq": (lax.eq, (*NUMBERS, "bool")),
    "ge": (lax.ge, ORDERED),
    "gt": (lax.gt, ORDERED),
    "igamma": (lax.igamma, REAL),
    "igamma_grad_a": (lax.igamma_grad_a, REAL),
    "igammac": (lax.igammac, REAL),
    "le": (lax.le, ORDERED),
    "lt": (lax.lt, ORDERED),
    "max": (lax.max, (*NUMBERS, "bool")),
    "min": (lax.min, (*NUMBERS, "bool")),
    "mul": (lax.mul, NUMBERS),
    "ne": (lax.ne, (*NUMBERS, "bool")),
    "nextafter": (lax.nextafter, REAL),
    "or": (lax.bitwise_or, LOGICAL),
    "pow": (lax.pow, (*REAL, *COMPLEXES)),
    "rem": (lax.rem, ORDERED),
    "shift_left": (lax.shift_left, INTEGERS),
    "shift_right_arithmetic": (lax.shift_right_arithmetic, INTEGERS),
    "shift_right_logical": (lax.shift_right_logical, INTEGERS),
    "sub": (lax.sub, NUMBERS),
    "xor": (lax.bitwise_xor, LOGICAL),
    "zeta": (lax.zeta, REAL),
} | {name: (getattr(lax, f"{name}_p").bind, REAL) for name in ("eq_to", "le_to", "lt_to")}


def selected(dtype: str) -> Case:
    numbers = specials(dtype)
    return (
        lambda which, x: lax.select_n(which, x, lax.neg(x), lax.mul(x, x)),
        np.arange(len(numbers), dtype=np.int32) - 3,
        numbers,
    )


def polygamma_of(order: float) -> Case:
    """JAX's has no digits at numbers below -9 that are not whole."""
    numbers = specials("float64")
    return (
        lambda x: lax.polygamma(jnp.full_like(x, order), x),
        numbers[~(numbers < -9) | (numbers == np.floor(numbers))],
    )


ELEMENTWISE: dict[str, list[Case]] = {
    **{name: of(function, 1, dtypes) for name, (function, dtypes) in UNARY.items()},
    **{name: of(function, 2, dtypes) for name, (function, dtypes) in BINARY.items()},
    "bitcast_convert_type": [bits_of(*pair) for pair in itertools.product(HAVE_BITS, HAVE_BITS)],
    "clamp": [(lax.clamp, *grid([dtype] * 3, few=True)) for dtype in ("float64", "float32")],
    "convert_element_type": [between(*pair) for pair in itertools.product(KINDS, KINDS)],
    "integer_pow": [
        (partial(lax.integer_pow, y=y), specials(dtype))
        for y in (0, 1, 2, 3, 7, -1, -2, -3)
        for dtype in NUMBERS
        if y >= 0 or np.dtype(dtype).kind in "fc"
    ],
    "pow": [
        *of(lax.pow, 2, (*REAL, *COMPLEXES)),
        (lax.pow, *grid(["float64", "int32"])),
        (lax.pow, np.repeat(specials("complex128"), 15), np.tile(np.arange(-7, 8, dtype=np.int32), 64)),
    ],
    "polygamma": [
        *(polygamma_of(order) for order in (0.0, 1.0, 2.0, 3.0, -1.0, 0.5)),
        (lax.polygamma, *grid(["float64"] * 2)),
    ],
    "reduce_precision": [
        (partial(lax.reduce_precision, exponent_bits=exponents, mantissa_bits=mantissa), specials(dtype))
        for exponents, mantissa in FORMATS
        for dtype in REAL
    ],
    "regularized_incomplete_beta": [(lax.betainc, *grid(["float64"] * 3, few=True))],
    "round": [
        (partial(lax.round, rounding_method=method), specials(dtype)) for method in lax.RoundingMethod for dtype in REAL
    ],
    "select_n": [selected(dtype) for dtype in NUMBERS],
}
