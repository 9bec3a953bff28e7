"""Exponentials and logarithms."""

from __future__ import annotations

import math

import numpy as np

from numbagraph.blockwise.kinds import elementwise
from numbagraph.intrinsics.emitters import complexes, vecmath
from numbagraph.intrinsics.emitters.formula import by_kind, formula
from numbagraph.ir.op import registry
from numbagraph.ir.values import Value
from numbagraph.ops.comparison import equal
from numbagraph.ops.cuts import mirrored
from numbagraph.ops.identity import differentiated_as
from numbagraph.ops.selection import where

LOG_2, LOG_10 = math.log(2), math.log(10)

exp = elementwise(
    np.exp,
    emit=by_kind(f=vecmath.exp, c=complexes.exp),
    jnp=mirrored("exp", "imag"),
    vjp=lambda g, y, x: (g * y,),
    cost=15,
    ulp=4,
)
exp2 = elementwise(
    np.exp2,
    emit=by_kind(f=vecmath.exp2, c=complexes.exp2),
    jnp=mirrored("exp2", "imag"),
    vjp=lambda g, y, x: (g * y * LOG_2,),
    cost=15,
    ulp=4,
)
expm1 = elementwise(
    np.expm1,
    emit=by_kind(f=vecmath.expm1, c=formula(complexes.expm1)),
    vjp=lambda g, y, x: (g * (y + 1),),
    cost=20,
    ulp=4,
)
log = elementwise(
    np.log,
    emit=by_kind(f=vecmath.log, c=complexes.log),
    vjp=lambda g, y, x: (g / x,),
    domain=(0.1, 5.0),
    logarithm_of=(0,),
    cost=15,
    ulp=4,
)
log2 = elementwise(
    np.log2,
    emit=by_kind(f=vecmath.log2, c=complexes.log2),
    vjp=lambda g, y, x: (g / (x * LOG_2),),
    domain=(0.1, 5.0),
    logarithm_of=(0,),
    cost=15,
    ulp=4,
)
log10 = elementwise(
    np.log10,
    emit=by_kind(f=vecmath.log10, c=complexes.log10),
    vjp=lambda g, y, x: (g / (x * LOG_10),),
    domain=(0.1, 5.0),
    logarithm_of=(0,),
    cost=20,
    ulp=4,
)
log1p = elementwise(
    np.log1p,
    emit=by_kind(f=vecmath.log1p, c=formula(complexes.log1p)),
    vjp=lambda g, y, x: (g / (x + 1),),
    domain=(-0.9, 5.0),
    cost=20,
    ulp=4,
)


def share_of_sum(g: Value, a: Value, b: Value, scale: float = 1.0) -> tuple[Value, Value]:
    """The cotangents of ``log(exp(a) + exp(b))``: each operand's part of the sum, which is half when they are equal."""
    difference = differentiated_as(where(equal(a, b), 0.0, a - b), a - b) * scale  # infinite ones are equal, too
    return g * registry["expit"](difference), g * registry["expit"](-difference)


logaddexp = elementwise(
    np.logaddexp,
    emit=vecmath.logaddexp,
    vjp=lambda g, y, a, b: share_of_sum(g, a, b),
    commutative=True,
    cost=40,
    ulp=4,
)
logaddexp2 = elementwise(
    np.logaddexp2,
    emit=vecmath.logaddexp2,
    vjp=lambda g, y, a, b: share_of_sum(g, a, b, LOG_2),
    commutative=True,
    cost=40,
    ulp=4,
    scale=1,
)
