"""JAX's elementwise primitives, in NumPy's functions and SciPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.ir.op import registry
from numbagraph.jax_bridge import bits, signed_zeros, special
from numbagraph.jax_bridge.translation import Run, derived_as, dtype_of
from numbagraph.tracing.tracer import Tracer, apply


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make the translation of a primitive from a function of its operands alone."""
    return lambda _run, _equation, *operands: function(*operands)


def is_integer(operand: Any) -> bool:
    return np.result_type(operand.dtype if hasattr(operand, "dtype") else operand).kind in "iu"


def is_bool(operand: Any) -> bool:
    return (operand.dtype if hasattr(operand, "dtype") else np.result_type(operand)).kind == "b"


def integer_quotient(a: Any, b: Any) -> Any:
    """Divide integers, rounding towards zero; a quotient by zero has all bits set."""
    safe = np.where(b == 0, np.ones_like(b), b)
    quotient = a // safe
    if a.dtype.kind == "i":
        up = (a % safe != 0) & ((a < 0) != (b < 0))
        quotient = quotient + up.astype(a.dtype)
    return np.where(b == 0, ~np.zeros_like(b), quotient)


def div(a: Any, b: Any) -> Any:
    return integer_quotient(a, b) if is_integer(a) else signed_zeros.quotient(a, b)


def rem(a: Any, b: Any) -> Any:
    """The remainder, with the sign of the dividend; integers modulo zero are the dividend."""
    if not is_integer(a):
        return np.fmod(a, b)
    return np.where(b == 0, a, np.fmod(a, np.where(b == 0, np.ones_like(b), b)))


def one_minus_square(x: Any) -> Any:
    """``1 - x**2``, exact where x is next to 1, with a derivative, -2 x, that is exact next to 0."""
    found = (1 - x) * (1 + x)
    return found if is_integer(x) else derived_as(found, 1 - x * x)


def polynomial(x: Any, *coefficients: Any) -> Any:
    """Evaluate a polynomial by Horner's rule, from the coefficient of the lowest power on."""
    result = coefficients[-1]
    for each in coefficients[-2::-1]:
        result = result * x + each
    return result


def integer_pow(_run: Run, equation: Any, x: Any) -> Any:
    y = equation.params["y"]
    if x.dtype.kind == "c":
        found = by_squares(x, abs(y))
        return found if y >= 0 else signed_zeros.quotient(np.ones_like(found), found)
    return x**y if y >= 0 else 1.0 / x**-y


def by_squares(x: Any, y: int) -> Any:
    """A whole power by products, from the lowest bit of the exponent on."""
    found = None
    while y:
        if y & 1:
            found = x if found is None else found * x
        y >>= 1
        x = x * x if y else x
    return np.ones_like(x) if found is None else found


def power(a: Any, b: Any) -> Any:
    if is_integer(b) and not is_integer(a):
        return a ** b.astype(a.dtype)
    if a.dtype.kind != "c":
        return a**b
    return np.where((a == 0) & (b.imag != 0), complex(np.nan, np.nan), a**b)


def rounded(_run: Run, equation: Any, x: Any) -> Any:
    if int(equation.params["rounding_method"]) == 1:  # to even
        return np.rint(x)
    whole = np.trunc(x)
    return whole + np.copysign(np.where(np.abs(x - whole) >= 0.5, 1.0, 0.0), x)


def select(which: Any, *cases: Any) -> Any:
    if is_bool(which):
        return np.where(which, cases[1], cases[0])
    result = cases[-1]
    for number in range(len(cases) - 2, -1, -1):
        result = np.where(which <= number, cases[number], result)
    return result


def convert(_run: Run, equation: Any, x: Any) -> Any:
    """Convert as XLA does: of complex numbers the real part, and floats beyond the integers as the nearest of them."""
    dtype = dtype_of(equation.outvars[0])
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = x.real
    if dtype.kind == "b":
        return x != 0
    if x.dtype.kind != "f" or dtype.kind not in "iu":
        return x.astype(dtype)
    info = np.iinfo(dtype)
    low, high = float(info.min), float(info.max)  # the latter of 64 bits is one more
    inside = (x > low) & (x < high)
    found = np.where(inside, x, 0.0).astype(dtype)
    found = np.where(x >= high, dtype.type(info.max), found)
    return np.where(x <= low, dtype.type(info.min), found)


def stop_gradient(x: Any) -> Any:
    return apply(registry["stop_gradient"], x) if isinstance(x, Tracer) else x


def same(x: Any) -> Any:
    return x


def multiply(a: Any, b: Any) -> Any:
    return a & b if is_bool(a) else a * b


PLAIN: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "add": lambda a, b: a | b if is_bool(a) else a + b,
    "add_any": lambda a, b: a + b,
    "and": lambda a, b: a & b,
    "atan2": np.arctan2,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "conj": np.conj,
    "copy": same,
    "copy_p": same,
    "div": div,
    "eq": lambda a, b: a == b,
    "floor": np.floor,
    "ge": lambda a, b: a >= b,
    "gt": lambda a, b: a > b,
    "imag": lambda x: x.imag,
    "is_finite": np.isfinite,
    "le": lambda a, b: a <= b,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "lt": lambda a, b: a < b,
    "mul": multiply,
    "name": same,
    "ne": lambda a, b: a != b,
    "neg": lambda x: -x,
    "nextafter": np.nextafter,
    "not": lambda x: ~x,
    "one_minus_square": one_minus_square,
    "or": lambda a, b: a | b,
    "polynomial": polynomial,
    "pow": power,
    "pvary": same,
    "real": lambda x: x.real,
    "rem": rem,
    "select_n": select,
    "square": lambda x: x * x,
    "stop_gradient": stop_gradient,
    "sub": lambda a, b: a - b,
    "xor": lambda a, b: a ^ b,
}

TABLE: dict[str, Callable[..., Any]] = {
    **{name: plain(each) for name, each in {**PLAIN, **bits.PLAIN, **signed_zeros.PLAIN, **special.PLAIN}.items()},
    **bits.TABLE,
    "convert_element_type": convert,
    "integer_pow": integer_pow,
    "round": rounded,
}
