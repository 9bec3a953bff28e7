"""Trigonometric and hyperbolic functions, and their inverses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import decomposition, draw, elementwise
from numbagraph.blockwise.promotion import as_value, inexact_rule
from numbagraph.intrinsics.emitters import complexes, elementary, reals, vecmath
from numbagraph.intrinsics.emitters.formula import by_kind
from numbagraph.ir.values import Value
from numbagraph.ops import cuts
from numbagraph.ops.arithmetic import absolute, imag, real, sqrt
from numbagraph.ops.cuts import mirrored
from numbagraph.ops.identity import with_derivative
from numbagraph.ops.selection import where

sin = elementwise(
    np.sin,
    emit=by_kind(f=vecmath.sin, c=complexes.sin),
    jnp=mirrored("sin", "real"),
    vjp=lambda g, y, x: (g * cos(x),),
    cost=20,
    ulp=4,
)
cos = elementwise(
    np.cos, emit=by_kind(f=vecmath.cos, c=complexes.cos), vjp=lambda g, y, x: (-(g * sin(x)),), cost=20, ulp=4
)
tan = elementwise(
    np.tan,
    emit=by_kind(f=vecmath.tan, c=complexes.tan),
    jnp=mirrored("tan", "real"),
    vjp=lambda g, y, x: (g * (y * y + 1),),
    cost=25,
    ulp=4,
)
# Of slopes that are infinite at an edge, the derivatives are written in products: quotients would be NaN there.
_arcsin_slope = with_derivative("arcsin_slope", lambda g, y, value, x: (None, g * (x * y * y * y)))
_arccosh_slope = with_derivative(
    "arccosh_slope", lambda g, y, value, x: (None, -(g * _arccosh_bend.bind(x * y * y * y, x, y)))
)
_arccosh_bend = with_derivative(
    "arccosh_bend", lambda g, y, value, x, slope: (None, -(g * ((x * x * 2 + 1) * slope**5)), None)
)
_arctanh_slope = with_derivative("arctanh_slope", lambda g, y, value, x: (None, g * (x * 2 * y * y)))


def arcsin_slope(x: Value) -> Value:
    return _arcsin_slope.bind(1 / sqrt((1 - x) * (x + 1)), x)


arcsin = elementwise(
    np.arcsin,
    emit=by_kind(f=vecmath.arcsin, c=complexes.arcsin),
    jnp=mirrored("arcsin", "imag"),
    vjp=lambda g, y, x: (g * arcsin_slope(x),),
    domain=(-0.9, 0.9),
    cost=20,
    ulp=4,
)
arccos = elementwise(
    np.arccos,
    emit=by_kind(f=vecmath.arccos, c=complexes.arccos),
    jnp=mirrored("arccos", "imag"),
    vjp=lambda g, y, x: (-(g * arcsin_slope(x)),),
    domain=(-0.9, 0.9),
    cost=20,
    ulp=4,
)
arctan = elementwise(
    np.arctan,
    emit=by_kind(f=vecmath.arctan, c=complexes.arctan),
    jnp=mirrored("arctan", "imag", below=True),
    vjp=lambda g, y, x: (g / (x * x + 1),),
    cost=20,
    ulp=4,
)


def arctan2_vjp(g: Value, y: Value, a: Value, b: Value) -> tuple[Value, Value]:
    scaled = g / (a * a + b * b)
    return scaled * b, -(scaled * a)


arctan2 = elementwise(
    np.arctan2, emit=vecmath.arctan2, vjp=arctan2_vjp, cost=25, ulp=4, kinks=lambda a, b: (b <= 0) & (a == 0)
)

sinh = elementwise(
    np.sinh, emit=by_kind(f=vecmath.sinh, c=complexes.sinh), vjp=lambda g, y, x: (g * cosh(x),), cost=20, ulp=4
)
cosh = elementwise(
    np.cosh, emit=by_kind(f=vecmath.cosh, c=complexes.cosh), vjp=lambda g, y, x: (g * sinh(x),), cost=20, ulp=4
)
tanh = elementwise(
    np.tanh,
    emit=by_kind(f=vecmath.tanh, c=complexes.tanh),
    jnp=mirrored("tanh", "imag"),
    vjp=lambda g, y, x: (g * ((1 - y) * (y + 1)),),
    cost=20,
    ulp=4,
)
arcsinh = elementwise(
    np.arcsinh,
    emit=by_kind(f=vecmath.arcsinh, c=complexes.arcsinh),
    jnp=mirrored("arcsinh", "real"),
    vjp=lambda g, y, x: (g / sqrt(x * x + 1),),
    cost=20,
    ulp=4,
)
arccosh = elementwise(
    np.arccosh,
    emit=by_kind(f=vecmath.arccosh, c=complexes.arccosh),
    jnp=cuts.arccosh,
    vjp=lambda g, y, x: (g * _arccosh_slope.bind(1 / (sqrt(x - 1) * sqrt(x + 1)), x),),
    domain=(1.1, 5.0),
    cost=20,
    ulp=4,
)
arctanh = elementwise(
    np.arctanh,
    emit=by_kind(f=vecmath.arctanh, c=complexes.arctanh),
    jnp=mirrored("arctanh", "real"),
    vjp=lambda g, y, x: (g * _arctanh_slope.bind(1 / ((1 - x) * (x + 1)), x),),
    domain=(-0.9, 0.9),
    cost=20,
    ulp=4,
)

degrees = elementwise(
    np.degrees, emit=reals.degrees, vjp=lambda g, y, x: (g * (180 / math.pi),), implements=(np.rad2deg,), ulp=1
)
radians = elementwise(
    np.radians, emit=reals.radians, vjp=lambda g, y, x: (g * (math.pi / 180),), implements=(np.deg2rad,), ulp=1
)


def sinc_vjp(g: Value, y: Value, x: Value) -> tuple[Value]:
    """Return the cotangent of `sinc`; near zero by the first terms of the series, since the formula's two parts would
    cancel there."""
    near = absolute(x) < 0.1
    safe, series = where(near, 1.0, x), 1.0
    squared = x * x * math.pi**2
    for number in (130, 88, 54, 28, 10):
        series = 1 - squared / number * series
    series = x * (math.pi**2 / -3) * series
    return (g * where(near, series, (cos(safe * math.pi) - y) / safe),)


sinc = elementwise(
    np.sinc,
    emit=by_kind(f=elementary.sinc, c=complexes.sinc),
    dtype=inexact_rule,
    vjp=sinc_vjp,
    cost=25,
    ulp=4,
)


def angle_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    return [(draw(rng, dtype, (3, 4)),), (draw(rng, dtype, (3, 4)), True)] if dtype.kind != "b" else []


@decomposition(np.angle, samples=angle_samples, ulp=4)
def angle(z: Any, deg: bool = False) -> Value:
    value = as_value(z)
    result = arctan2(imag(value), real(value)) if value.dtype.kind == "c" else arctan2(0, value)
    return result * (180 / math.pi) if deg else result
