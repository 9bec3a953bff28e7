"""Modified Bessel functions, as they are and scaled by exponentials, and the one of the first kind of any order."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.vecmath import modified_bessel
from numbagraph.ir.values import Op, Unsupported, Value, nowhere
from numbagraph.ops.arithmetic import at_zero, sign
from numbagraph.ops.comparison import equal
from numbagraph.ops.identity import differentiated_as, with_derivative
from numbagraph.ops.selection import where
from numbagraph.ops.special.error_functions import special
from numbagraph.ops.special.incomplete_gamma import with_parameters

BY_ORDER = Unsupported("there is no derivative by the order")
NOT_IN_JAX = Unsupported("JAX has no such Bessel function")


def per(a: Value, x: Value) -> Value:
    """Return ``a / x`` of a function that is half its argument near 0."""
    return where(equal(x, 0.0), 0.5, a / where(equal(x, 0.0), 1.0, x))


i0 = special("i0", emit=modified_bessel.i0, vjp=lambda g, y, x: (g * i1(x),), cost=60, ulp=8, implements=(np.i0,))
i1 = special(
    "i1",
    emit=modified_bessel.i1,
    vjp=lambda g, y, x: (g * differentiated_as(i0(x) - per(y, x), 0.5 * (i0(x) + iv(2.0, x))),),
    cost=60,
    ulp=8,
)
i0e = special(
    "i0e", emit=modified_bessel.i0e, vjp=lambda g, y, x: (g * (i1e(x) - sign(x) * y),), cost=60, ulp=8, kinks=at_zero
)
i1e = special(
    "i1e",
    emit=modified_bessel.i1e,
    vjp=lambda g, y, x: (g * (differentiated_as(i0e(x) - per(y, x), 0.5 * (i0e(x) + ive(2.0, x))) - sign(x) * y),),
    cost=60,
    ulp=8,
    kinks=at_zero,
)


def of_any_order(name: str, derivative: Callable[..., Value], kinks: Callable[..., Any] = nowhere) -> Op:
    """Declare a function of an order and a number; ``derivative(y, order, x)`` is that by the number."""
    return special(
        name,
        emit=getattr(libm, name),
        vjp=lambda g, y, v, x: (BY_ORDER, g * derivative(y, v, x)),
        jnp=NOT_IN_JAX,
        samples=with_parameters((1.0, 4.0), (0.5, 5.0), parameters=1),
        kinks=kinks,
        cost=200,
        ulp=64,
    )


jv = of_any_order("jv", lambda y, v, x: 0.5 * (jv(v - 1, x) - jv(v + 1, x)))
iv = of_any_order("iv", lambda y, v, x: 0.5 * (iv(v - 1, x) + iv(v + 1, x)))
ive = of_any_order("ive", lambda y, v, x: 0.5 * (ive(v - 1, x) + ive(v + 1, x)) - sign(x) * y, lambda v, x: x == 0)


def kve_derivative(v: Value, x: Value, order: int) -> Value:
    """Return the derivative of `kve` of an order, a difference of neighbours: signs alternate, and all are infinite at
    0."""
    count = 2 * order
    total = sum((-1) ** j * math.comb(count, j) * kve(v + order - j, x) for j in range(count + 1))
    value = where(equal(x, 0.0), (-1) ** order * math.inf, total * (-0.5) ** order)
    return _kve_derivative.bind(value, v, x, order=order)


kve = of_any_order("kve", lambda y, v, x: kve_derivative(v, x, 1))
_kve_derivative = with_derivative(
    "kve_derivative", lambda g, y, value, v, x, *, order: (None, BY_ORDER, g * kve_derivative(v, x, order + 1))
)
