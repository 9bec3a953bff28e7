"""JAX's elementwise primitives, in NumPy's functions and SciPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph import special
from numbagraph.frontend.tracing import Tracer, apply
from numbagraph.ir.op import registry
from numbagraph.jax_bridge.common import Run, dtype_of, is_constant
from numbagraph.ops.bits import reinterpreted
from numbagraph.ops.identity import differentiated_as


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The translation of a primitive that a function of its operands alone is."""
    return lambda _run, _equation, *operands: function(*operands)


def is_integer(operand: Any) -> bool:
    return np.result_type(operand.dtype if hasattr(operand, "dtype") else operand).kind in "iu"


def is_bool(operand: Any) -> bool:
    return (operand.dtype if hasattr(operand, "dtype") else np.result_type(operand)).kind == "b"


def integer_quotient(a: Any, b: Any) -> Any:
    """Rounded towards zero; by zero all bits are set."""
    safe = np.where(b == 0, np.ones_like(b), b)
    quotient = a // safe
    if a.dtype.kind == "i":
        up = (a % safe != 0) & ((a < 0) != (b < 0))
        quotient = quotient + up.astype(a.dtype)
    return np.where(b == 0, ~np.zeros_like(b), quotient)


def div(a: Any, b: Any) -> Any:
    return integer_quotient(a, b) if is_integer(a) else a / b


def rem(a: Any, b: Any) -> Any:
    """With the sign of the dividend; by zero integers are the dividend."""
    if not is_integer(a):
        return np.fmod(a, b)
    return np.where(b == 0, a, np.fmod(a, np.where(b == 0, np.ones_like(b), b)))


def one_minus_square(x: Any) -> Any:
    """Exact where x is next to 1, with a derivative, -2 x, that is exact next to 0."""
    found = (1 - x) * (1 + x)
    if is_constant(x) or is_integer(x):
        return found
    return Tracer(differentiated_as(found.value, (1 - x * x).value))


def polynomial(x: Any, *coefficients: Any) -> Any:
    """By Horner's rule, from the coefficient of the lowest power on."""
    result = coefficients[-1]
    for each in coefficients[-2::-1]:
        result = result * x + each
    return result


def integer_pow(_run: Run, equation: Any, x: Any) -> Any:
    y = equation.params["y"]
    return x**y if y >= 0 else 1.0 / x**-y


def power(a: Any, b: Any) -> Any:
    if is_integer(b) and not is_integer(a):
        return a ** b.astype(a.dtype)
    return a**b


def logical_shift(a: Any, b: Any) -> Any:
    unsigned = np.dtype(f"u{a.dtype.itemsize}")
    return (a.astype(unsigned) >> b.astype(unsigned)).astype(a.dtype)


def rounded(_run: Run, equation: Any, x: Any) -> Any:
    if int(equation.params["rounding_method"]) == 1:  # to even
        return np.rint(x)
    whole = np.trunc(x)
    return whole + np.where(np.abs(x - whole) >= 0.5, np.copysign(1.0, x), 0.0)


def select(which: Any, *cases: Any) -> Any:
    if is_bool(which):
        return np.where(which, cases[1], cases[0])
    result = cases[-1]
    for number in range(len(cases) - 2, -1, -1):
        result = np.where(which <= number, cases[number], result)
    return result


def minimum(a: Any, b: Any) -> Any:
    return a & b if is_bool(a) else np.minimum(a, b)


def maximum(a: Any, b: Any) -> Any:
    return a | b if is_bool(a) else np.maximum(a, b)


def clamp(low: Any, x: Any, high: Any) -> Any:
    return minimum(maximum(x, low), high)


def convert(_run: Run, equation: Any, x: Any) -> Any:
    """As XLA converts: of complex numbers the real part, and floats beyond the integers as the nearest of them."""
    dtype = dtype_of(equation.outvars[0])
    if x.dtype.kind == "c" and dtype.kind not in "cb":
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


def of_bits(_run: Run, equation: Any, x: Any) -> Any:
    """Integers and floats as others of their width that have their bits."""
    dtype = dtype_of(equation.outvars[0])
    if not (x.dtype.kind in "iuf" and dtype.kind in "iuf" and x.dtype.itemsize == dtype.itemsize):
        raise NotImplementedError(
            f"from_jax has no translation of JAX's primitive 'bitcast_convert_type' from {x.dtype} to {dtype}"
        )
    return x.view(dtype) if is_constant(x) else Tracer(reinterpreted(x.value, dtype))


def reduce_precision(_run: Run, equation: Any, x: Any) -> Any:
    wanted = equation.params["exponent_bits"], equation.params["mantissa_bits"]
    if wanted != {4: (8, 23), 8: (11, 52)}[x.dtype.itemsize]:
        raise NotImplementedError("from_jax has no translation of JAX's primitive 'reduce_precision' to other formats")
    return x


def before(a: Any, b: Any) -> Any:
    """The total order of floats: -0 before 0, NaN last."""
    if a.dtype.kind != "f":
        return a < b
    zeros = (a == 0) & (b == 0) & np.signbit(a) & ~np.signbit(b)
    return (a < b) | zeros | (np.isnan(b) & ~np.isnan(a))


def complex_of(real: Any, imaginary: Any) -> Any:
    if is_constant(real, imaginary):
        return np.asarray(real) + 1j * np.asarray(imaginary)
    return apply(registry["complex_of"], real, imaginary)


def stop_gradient(x: Any) -> Any:
    return apply(registry["stop_gradient"], x) if isinstance(x, Tracer) else x


def same(x: Any) -> Any:
    return x


def multiply(a: Any, b: Any) -> Any:
    return a & b if is_bool(a) else a * b


def polygamma(order: Any, x: Any) -> Any:
    if isinstance(order, Tracer) or len(orders := np.unique(order)) != 1:
        raise NotImplementedError("from_jax has no translation of JAX's primitive 'polygamma' of more than one order")
    return special.polygamma(int(orders[0]), x)


def leading_zeros(x: Any) -> Any:
    """All bits below the highest one are set, and those that are not are counted."""
    width = 8 * x.dtype.itemsize
    bits = x.astype(np.dtype(f"u{x.dtype.itemsize}"))
    step = 1
    while step < width:
        bits = bits | (bits >> bits.dtype.type(step))
        step *= 2
    return (width - np.bitwise_count(bits)).astype(x.dtype)


PLAIN: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "add": lambda a, b: a | b if is_bool(a) else a + b,
    "add_any": lambda a, b: a + b,
    "and": lambda a, b: a & b,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "bessel_i0e": special.i0e,
    "bessel_i1e": special.i1e,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "clamp": clamp,
    "clz": leading_zeros,
    "complex": complex_of,
    "conj": np.conj,
    "copy": same,
    "copy_p": same,
    "cos": np.cos,
    "cosh": np.cosh,
    "digamma": special.digamma,
    "div": div,
    "eq": lambda a, b: a == b,
    "eq_to": lambda a, b: ~before(a, b) & ~before(b, a),
    "erf": special.erf,
    "erf_inv": special.erfinv,
    "erfc": special.erfc,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "floor": np.floor,
    "ge": lambda a, b: a >= b,
    "gt": lambda a, b: a > b,
    "igamma": special.gammainc,
    "igamma_grad_a": lambda a, x: apply(registry["gammainc_by_a"], a, x),
    "igammac": special.gammaincc,
    "imag": lambda x: x.imag,
    "is_finite": np.isfinite,
    "le": lambda a, b: a <= b,
    "le_to": lambda a, b: ~before(b, a),
    "lgamma": special.gammaln,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "logistic": special.expit,
    "lt": lambda a, b: a < b,
    "lt_to": before,
    "max": maximum,
    "min": minimum,
    "mul": multiply,
    "name": same,
    "ne": lambda a, b: a != b,
    "neg": lambda x: -x,
    "nextafter": np.nextafter,
    "not": lambda x: ~x,
    "one_minus_square": one_minus_square,
    "or": lambda a, b: a | b,
    "polygamma": polygamma,
    "polynomial": polynomial,
    "population_count": np.bitwise_count,
    "pow": power,
    "pvary": same,
    "real": lambda x: x.real,
    "regularized_incomplete_beta": special.betainc,
    "rem": rem,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "select_n": select,
    "shift_left": lambda a, b: a << b,
    "shift_right_arithmetic": lambda a, b: a >> b,
    "shift_right_logical": logical_shift,
    "sign": np.sign,
    "sin": np.sin,
    "sinh": np.sinh,
    "sqrt": np.sqrt,
    "square": lambda x: x * x,
    "stop_gradient": stop_gradient,
    "sub": lambda a, b: a - b,
    "tan": np.tan,
    "tanh": np.tanh,
    "xor": lambda a, b: a ^ b,
}

TABLE: dict[str, Callable[..., Any]] = {
    **{name: plain(function) for name, function in PLAIN.items()},
    "bitcast_convert_type": of_bits,
    "convert_element_type": convert,
    "integer_pow": integer_pow,
    "reduce_precision": reduce_precision,
    "round": rounded,
}
