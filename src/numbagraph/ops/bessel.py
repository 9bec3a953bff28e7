"""Modified Bessel functions of the first kind, as they are and scaled by ``exp(-abs(x))``."""

from __future__ import annotations

from numbagraph.graph import Value
from numbagraph.intrinsics import libm
from numbagraph.ops.arithmetic import sign
from numbagraph.ops.comparison import equal
from numbagraph.ops.selection import where
from numbagraph.ops.special import special


def per(a: Value, x: Value) -> Value:
    """``a / x`` of a function that is half its argument near 0."""
    return where(equal(x, 0.0), 0.5, a / where(equal(x, 0.0), 1.0, x))


i0 = special("i0", emit=libm.i0, vjp=lambda g, y, x: (g * i1(x),), cost=60, ulp=8)
i1 = special("i1", emit=libm.i1, vjp=lambda g, y, x: (g * (i0(x) - per(y, x)),), cost=60, ulp=8)
i0e = special("i0e", emit=libm.i0e, vjp=lambda g, y, x: (g * (i1e(x) - sign(x) * y),), cost=60, ulp=8)
i1e = special("i1e", emit=libm.i1e, vjp=lambda g, y, x: (g * (i0e(x) - sign(x) * y - per(y, x)),), cost=60, ulp=8)
