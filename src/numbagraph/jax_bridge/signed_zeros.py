"""Zeros of both signs, which JAX's functions distinguish otherwise than NumPy's: extrema order them, and most functions
of complex numbers treat both as one zero, so that there is one side of a branch cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.ir.op import registry
from numbagraph.jax_bridge.translation import derived_as, is_constant
from numbagraph.tracing.tracer import apply


def kind_of(x: Any) -> str:
    return (x.dtype if hasattr(x, "dtype") else np.result_type(x)).kind


def complex_of(real: Any, imaginary: Any) -> Any:
    if not is_constant(real, imaginary):
        return apply(registry["complex_of"], real, imaginary)
    real, imaginary = np.broadcast_arrays(real, imaginary)
    found = np.empty(real.shape, np.result_type(real, np.complex64))
    found.real, found.imag = real, imaginary
    return found[()]


def kept_zeros(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make an odd function keep the sign of zero."""

    def of(x: Any) -> Any:
        found = function(x)
        return derived_as(np.where(x == 0, x, found), found)

    return of


def unsigned(x: Any) -> Any:
    """Convert -0 to 0, as the sum of both zeros is."""
    return x + 0.0


def without_real_sign(x: Any) -> Any:
    return complex_of(unsigned(x.real), x.imag)


def without_imaginary_sign(x: Any) -> Any:
    return complex_of(x.real, unsigned(x.imag))


def below_the_axis(x: Any) -> Any:
    return complex_of(x.real, -unsigned(-x.imag))


def without_signs(x: Any) -> Any:
    return complex_of(unsigned(x.real), unsigned(x.imag))


def same(x: Any) -> Any:
    return x


def seeing(function: Callable[..., Any], before: Callable[..., Any], after: Callable[..., Any] = same) -> Any:
    """Wrap a function of complex numbers, changing the zeros of its argument and of its result."""
    return lambda x: after(function(before(x))) if kind_of(x) == "c" else function(x)


def cosine(x: Any) -> Any:
    """The cosine. Where the real part of the argument is 0, the imaginary part of the result, a product with its sine,
    is 0 and not -0."""
    found = np.cos(x)
    if kind_of(x) != "c":
        return found
    return complex_of(found.real, np.where(x.real == 0, unsigned(found.imag), found.imag))


def reciprocal_root(x: Any) -> Any:
    found = 1.0 / np.sqrt(x)
    if kind_of(x) != "c":
        return found
    imaginary = np.where(found.imag == 0, -x.imag, found.imag)
    return derived_as(complex_of(found.real, imaginary), found)


def quotient(a: Any, b: Any) -> Any:
    """The quotient. By a complex zero, its parts are those of the dividend times infinity of the sign of the divisor's
    real part."""
    found = a / b
    if kind_of(found) != "c":
        return found
    infinite = np.copysign(np.inf, b.real)
    at_zero = complex_of(infinite * a.real, infinite * a.imag)
    return derived_as(np.where(b == 0, at_zero, found), found)


def sign_of_zeros(x: Any) -> float | None:
    """1 or -1 for a constant all of whose zeros have that sign; 0 if it has no zeros, None for a value that is not
    known."""
    if not is_constant(x):
        return None
    zeros = np.asarray(x)[np.asarray(x) == 0]
    signs = np.unique(np.copysign(1.0, zeros))
    return 0.0 if not signs.size else signs[0] if signs.size == 1 else None


def extremum(ufunc: np.ufunc, sign: float) -> Callable[..., Any]:
    """Make a maximum or minimum that prefers, of two zeros, the one of this sign, and of equal complex numbers the
    second.

    NumPy's function takes the second of two zeros, which is right where a constant stands at the proper place.
    """

    def of(a: Any, b: Any) -> Any:
        kind = kind_of(a)
        if kind != "f":
            return (a | b if sign > 0 else a & b) if kind == "b" else ufunc(b, a) if kind == "c" else ufunc(a, b)
        first, second = sign_of_zeros(a), sign_of_zeros(b)
        if 0.0 in (first, second) or second == sign or first == -sign:
            return ufunc(a, b)
        if first == sign or second == -sign:
            return ufunc(b, a)
        found = ufunc(a, b)
        zero = a + b if sign > 0 else -(-a - b)
        return derived_as(np.where((a == 0) & (b == 0), zero, found), found)

    return of


maximum, minimum = extremum(np.maximum, 1.0), extremum(np.minimum, -1.0)

PLAIN: dict[str, Callable[..., Any]] = {
    "acos": seeing(np.arccos, without_imaginary_sign),
    "acosh": seeing(np.arccosh, without_imaginary_sign),
    "asin": seeing(np.arcsin, without_imaginary_sign),
    "asinh": seeing(np.arcsinh, without_real_sign),
    "atan": seeing(np.arctan, below_the_axis),
    "atanh": seeing(np.arctanh, without_real_sign),
    "clamp": lambda low, x, high: minimum(maximum(x, low), high),
    "complex": complex_of,
    "cos": cosine,
    "cosh": seeing(np.cosh, same, without_signs),
    "exp": seeing(np.exp, without_imaginary_sign),
    "exp2": seeing(np.exp2, without_imaginary_sign),
    "expm1": seeing(np.expm1, without_imaginary_sign, without_real_sign),
    "max": maximum,
    "min": minimum,
    "rsqrt": reciprocal_root,
    "sign": kept_zeros(np.sign),
    "sin": seeing(np.sin, without_real_sign),
    "sinh": seeing(np.sinh, same, without_signs),
    "sqrt": seeing(np.sqrt, without_imaginary_sign),
    "tan": seeing(np.tan, without_real_sign),
    "tanh": seeing(np.tanh, without_imaginary_sign),
}
