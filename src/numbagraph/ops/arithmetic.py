"""Arithmetic: sums, products, quotients with and without remainder, powers and roots, and the parts of a number."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.elementwise import as_integers
from numbagraph.blockwise.kinds import decomposition, draw, elementwise
from numbagraph.blockwise.promotion import Kind, common_dtype, promote, ufunc_rule
from numbagraph.intrinsics.emitters import complexes, elementary, integer_ops, reals, scalar, vecmath
from numbagraph.intrinsics.emitters.formula import by_kind, identity
from numbagraph.intrinsics.emitters.ir import Emit
from numbagraph.ir import shapes
from numbagraph.ir.op import boxing, load
from numbagraph.ir.types import BOOL, COMPLEX64, COMPLEX128, FLOAT32, real_dtype
from numbagraph.ir.values import Constant, Node, Op, Value
from numbagraph.ops.comparison import equal, greater_equal, logical_and
from numbagraph.ops.cuts import mirrored
from numbagraph.ops.exponentials import log
from numbagraph.ops.identity import differentiated_as, with_derivative
from numbagraph.ops.rounding import rint, trunc
from numbagraph.ops.selection import where

add = elementwise(np.add, emit=scalar.add, vjp=lambda g, y, a, b: (g, g), operator="add", commutative=True)
subtract = elementwise(np.subtract, emit=scalar.subtract, vjp=lambda g, y, a, b: (g, -g), operator="sub")
multiply = elementwise(
    np.multiply, emit=scalar.multiply, vjp=lambda g, y, a, b: (g * b, g * a), operator="mul", commutative=True
)


def divide_vjp(g: Value, y: Value, a: Value, b: Value) -> tuple[Value, Value]:
    quotient = g / b
    return quotient, -(quotient * y)


divide = elementwise(
    np.divide,
    emit=scalar.divide,
    vjp=divide_vjp,
    operator="truediv",
    domain=((-3.0, 3.0), (0.5, 3.0)),
    cost=4,
)
negative = elementwise(np.negative, emit=scalar.negative, vjp=lambda g, y, x: (-g,), operator="neg")
positive = elementwise(np.positive, emit=identity, vjp=lambda g, y, x: (g,), operator="pos", cost=0)


def quotient_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    """Return operands for tests; among floats no quotient is close to an integer, where the functions jump."""
    divisor = draw(rng, dtype, (4,))
    if dtype.kind != "f":
        return [(draw(rng, dtype, (3, 4), (-30.0, 30.0)), divisor)]
    divisor += np.copysign(divisor.dtype.type(0.5), divisor)
    quotient = np.trunc(draw(rng, dtype, (3, 4), (-9.0, 9.0))) + draw(rng, dtype, (3, 4), (0.3, 0.7))
    return [(quotient * divisor, divisor)]


def floor_divide_in_jax(a: Any, b: Any) -> Any:
    """Divide with JAX, but give zero for an integer divided by zero, as NumPy does."""
    quotient = load("jax.numpy:floor_divide")(a, b)
    return quotient if quotient.dtype.kind == "f" else load("jax.numpy:where")(b == 0, 0, quotient)


floor_divide = elementwise(
    np.floor_divide,
    emit=by_kind(iu=integer_ops.floor_divide, f=reals.floor_divide),
    vjp=lambda g, y, a, b: (None, None),
    jnp=floor_divide_in_jax,
    operator="floordiv",
    samples=quotient_samples,
    cost=20,
)


def remainder_vjp(g: Value, y: Value, a: Value, b: Value) -> tuple[Value, Value]:
    """Return the cotangents of a remainder; that of ``b`` has as a factor the number of times ``b`` was taken off
    ``a``. (``floor(a / b)`` may be another number: the quotient is rounded.)"""
    return g, -(g * rint((a - y) / b))


remainder = elementwise(
    np.remainder,
    emit=by_kind(iu=integer_ops.remainder, f=reals.remainder),
    vjp=remainder_vjp,
    operator="mod",
    samples=quotient_samples,
    cost=20,
)
fmod = elementwise(
    np.fmod,
    emit=by_kind(iu=integer_ops.fmod, f=reals.fmod),
    vjp=remainder_vjp,
    samples=quotient_samples,
    cost=20,
)


@decomposition(np.divmod, samples=quotient_samples)
def divmod(x1: Any, x2: Any) -> tuple[Value, Value]:
    return floor_divide(x1, x2), remainder(x1, x2)


modf_fraction = elementwise(
    lambda x: np.modf(x)[0],
    name="modf_fraction",
    emit=reals.modf_fraction,
    dtype=lambda kinds: ufunc_rule(np.modf)(kinds)[:2],
    vjp=lambda g, y, x: (g,),
    jnp=lambda x: load("jax.numpy:modf")(x)[0],
    cost=3,
)


@decomposition(np.modf, samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4)),)])
def modf(x: Any) -> tuple[Value, Value]:
    (value,) = promote(ufunc_rule(np.modf), (x,))
    return modf_fraction(value), trunc(value)


def at_zero(x: Any) -> Any:
    return x == 0


def absolute_vjp(g: Value, y: Value, x: Value) -> tuple[Value]:
    if x.dtype.kind == "c":
        return (g * (conjugate(x) / where(equal(y, 0.0), 1.0, y)),)
    return (g * sign(x),)


absolute = elementwise(np.absolute, emit=scalar.absolute, vjp=absolute_vjp, operator="abs", kinks=at_zero)
fabs = elementwise(np.fabs, emit=scalar.absolute, vjp=absolute_vjp, kinks=at_zero)


def sign_vjp(g: Value, y: Value, x: Value) -> tuple[Value | None]:
    """Return the cotangent of a sign, which is zero for a real number. The sign of a complex number, its direction,
    turns as the number moves at right angles to it."""
    if x.dtype.kind != "c":
        return (None,)
    size = absolute(x)
    turn = (g - real(g * y) * conjugate(y)) / where(equal(size, 0.0), 1.0, size)
    return (where(equal(size, 0.0), 0.0, turn),)


sign = elementwise(np.sign, emit=scalar.sign, vjp=sign_vjp, cost=2)

square = elementwise(np.square, emit=scalar.square, vjp=lambda g, y, x: (g * (x * 2),))
reciprocal = elementwise(
    np.reciprocal, emit=scalar.reciprocal, vjp=lambda g, y, x: (-(g * (y * y)),), domain=(0.5, 3.0), cost=4
)
sqrt = elementwise(
    np.sqrt,
    emit=scalar.square_root,
    jnp=mirrored("sqrt", "imag"),
    vjp=lambda g, y, x: (g / (y * 2),),
    domain=(0.1, 5.0),
    cost=5,
)
cbrt = elementwise(
    np.cbrt, emit=vecmath.cbrt, vjp=lambda g, y, x: (g / (y * y * 3),), domain=(0.1, 5.0), cost=20, ulp=4
)


def hypot_vjp(g: Value, y: Value, a: Value, b: Value) -> tuple[Value, Value]:
    length = where(equal(y, 0.0), 1.0, y)
    return g * (a / length), g * (b / length)


hypot = elementwise(np.hypot, emit=vecmath.hypot, vjp=hypot_vjp, cost=10, ulp=2, kinks=lambda a, b: (a == 0) & (b == 0))


def power_frontend(op: Op, x: Any, y: Any, weak: bool = False) -> Value:
    """Bind a power; a constant exponent may have an op of its own, as in NumPy."""
    if weak and type(y) is int and y == 2 and not is_truth_value(x):
        return square(x, weak=True)
    base, exponent = promote(ufunc_rule(np.power), (x, y), weak=weak)
    if not isinstance(exponent, Constant):
        return op.bind(base, exponent)
    if exponent.dtype.kind == "i" and (exponent.data < 0).any():
        is_empty = shapes.compare(
            "equal", shapes.product(shapes.broadcast_shapes([base.shape, exponent.shape], "power")), 0
        )
        shapes.require(is_empty, "Integers to negative integer powers are not allowed.", ValueError)
    number = exponent.data.item() if exponent.ndim == 0 else None
    in_python = base.type.weak and number == 0.5  # Python's -0.0 ** 0.5 is 0.0, as C's pow gives it
    is_operator = weak or exponent.dtype.kind != "c"  # `np.power` of complex numbers is no square: its zeros are +0
    if number in SPECIAL_POWERS and is_operator and not in_python:
        return SPECIAL_POWERS[number].bind(base)
    return op.bind(base, exponent)


def is_truth_value(x: Any) -> bool:
    """Whether an operand is a NumPy bool scalar. Its powers are those of the ufunc, ints even for an exponent of 2; an
    array of bools has its squares instead, small ints."""
    return isinstance(x, Value) and x.dtype == BOOL and boxing(x) == "scalar"


SPECIAL_POWERS = {2: square, 0.5: sqrt, -1: reciprocal}


def refuse_negative_power(node: Node) -> Emit | None:
    exponent = node.inputs[1]
    return integer_ops.is_negative if exponent.dtype.kind == "i" and not isinstance(exponent, Constant) else None


def power_vjp(g: Value, y: Value, a: Value, b: Value) -> tuple[Value | None, Value | None]:
    if isinstance(b, Constant) and b.ndim == 0:
        number = b.data.item()
        return (None if number == 0 else g * (a ** (number - 1) * number)), None
    flat = equal(b, 0.0)
    slope = where(flat, 0.0, b * a ** where(flat, 1.0, b - 1))
    return g * differentiated_as(slope, b * a ** below(a, b)), g * times_log(y, a, b, 1)


def below(a: Value, b: Value) -> Value:
    """Return the exponent ``b - 1`` of a power's derivative; 1 for ``0**0``, whose derivative would be infinite."""
    return where(logical_and(equal(a, 0.0), equal(b, 0.0)), 1.0, b - 1)


def times_log(power: Value, a: Value, b: Value, times: int) -> Value:
    """Return ``a**b * log(a)**times``, given the power; 0 for the power of 0, however small the exponent."""
    if not times:
        return power
    at_zero = equal(a, 0.0)
    if a.dtype.kind != "c":
        at_zero = logical_and(at_zero, greater_equal(b, 0.0))
    logarithm = log(where(at_zero, 1.0, a))
    value = logarithm * power
    for _ in range(times - 1):
        value = value * logarithm
    return _times_log.bind(value, a, b, times=times)


def times_log_vjp(g: Value, y: Value, value: Value, a: Value, b: Value, *, times: int) -> tuple[Value | None, ...]:
    less = below(a, b)
    lower = a**less
    by_base = b * times_log(lower, a, less, times) + times * times_log(lower, a, less, times - 1)
    return None, g * by_base, g * times_log(a**b, a, b, times + 1)


_times_log = with_derivative("times_log", times_log_vjp)


def power_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    exponents = (0.0, 4.0) if dtype.kind in "biu" else (-2.0, 3.0)
    base = draw(rng, dtype, (3, 4), (0.2, 3.0) if dtype.kind == "f" else (-3.0, 3.0))
    return [(base, draw(rng, dtype, (4,), exponents)), (base, 2), (base, 3), (base, 0.5)]


power = elementwise(
    np.power,
    emit=by_kind(iu=integer_ops.power, f=elementary.power, c=complexes.power),
    refuse=refuse_negative_power,
    frontend=power_frontend,
    vjp=power_vjp,
    samples=power_samples,
    operator="pow",
    cost=40,
    ulp=16,
    kinks=lambda a, b: a == 0,
)
float_power = elementwise(
    np.float_power,
    emit=by_kind(f=elementary.power, c=complexes.power),
    vjp=power_vjp,
    domain=((0.2, 3.0), (-2.0, 3.0)),
    cost=40,
    ulp=16,
    kinks=lambda a, b: a == 0,
)

conjugate = elementwise(np.conjugate, emit=scalar.conjugate, vjp=lambda g, y, x: (conjugate(g),))


def part_rule(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
    return kinds[0], real_dtype(np.dtype(kinds[0]))


def part_frontend(op: Op, val: Any) -> Value:
    """Bind the part of a number: that of a Python number is a Python number, that of a truth value is an integer."""
    return op.bind(*promote(part_rule, as_integers((val,)), weak=True))


real = elementwise(
    np.real,
    emit=scalar.real_part,
    dtype=part_rule,
    frontend=part_frontend,
    vjp=lambda g, y, x: (g,),
    cost=0,
    zero_dim="operand",
    view_of=lambda val: val,
)
imag = elementwise(
    np.imag,
    emit=scalar.imaginary_part,
    dtype=part_rule,
    frontend=part_frontend,
    vjp=lambda g, y, x: (g * -1j if x.dtype.kind == "c" else None,),
    cost=0,
    zero_dim="operand",
    view_of=lambda val: val if np.iscomplexobj(val) else None,
)


def combine(real: Any, imag: Any) -> np.ndarray:
    """Return the complex array with the given parts. (``real + 1j * imag`` would lose the signs of zeros.)"""
    if np.result_type(real, imag).kind == "c":
        raise TypeError("the parts of a complex number are real")
    result = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), np.result_type(real, imag, np.complex64))
    result.real, result.imag = real, imag
    return result[()]


def complex_rule(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
    part = common_dtype((*kinds, FLOAT32))
    if part.kind == "c":
        raise TypeError("the parts of a complex number are real")
    return part, part, COMPLEX64 if part == FLOAT32 else COMPLEX128


def part_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    return [(draw(rng, dtype, (3, 4)), draw(rng, dtype, (4,)))] if dtype.kind == "f" else []


complex_of = elementwise(
    combine,
    name="complex_of",
    emit=lambda emitter, x, y: emitter.pair(x.value, y.value),
    dtype=complex_rule,
    vjp=lambda g, y, a, b: (real(g), -imag(g)),
    jnp=lambda a, b: load("jax.lax:complex")(*load("jax.numpy:broadcast_arrays")(a, b)),
    samples=part_samples,
    cost=0,
)
