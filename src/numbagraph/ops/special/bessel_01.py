"""Bessel functions of the orders 0 and 1. Numbers in brackets are those of the DLMF."""

from __future__ import annotations

from numbagraph.intrinsics.emitters.vecmath import bessel
from numbagraph.ops.arithmetic import power
from numbagraph.ops.identity import differentiated_as
from numbagraph.ops.special.modified_bessel_functions import jv, per
from numbagraph.ops.special.removable_singularities import at_edge
from numbagraph.ops.special.scipy_kernels import kernel

NUMBERS, POSITIVE = (-3.0, 3.0), (0.3, 5.0)

j0 = kernel("j0", [NUMBERS], lambda y, x: -j1(x), cost=60, emit=bessel.j0, ulp=8, scale=1)
j1 = kernel(
    "j1",
    [NUMBERS],
    lambda y, x: differentiated_as(j0(x) - per(y, x), 0.5 * (j0(x) - jv(2.0, x))),
    cost=60,
    emit=bessel.j1,
    ulp=8,
    scale=1,
)
y0 = kernel("y0", [POSITIVE], lambda y, x: -y1(x), cost=60, emit=bessel.y0, ulp=8, scale=1)
"""[10.6.3]"""
y1 = kernel(
    "y1",
    [POSITIVE],
    lambda y, x: at_edge(x, 0.0, lambda x: power(x, -2.0), lambda x, y: y0(x) - y / x, y1, y),
    cost=60,
    emit=bessel.y1,
    ulp=8,
    scale=1,
)
"""[10.6.2]"""
