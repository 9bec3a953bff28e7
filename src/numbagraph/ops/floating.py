"""Operations on the parts of floating-point numbers."""

from __future__ import annotations

import numpy as np

from numbagraph.blockwise.kinds import elementwise
from numbagraph.intrinsics import reals
from numbagraph.ops.arithmetic import sign
from numbagraph.ops.comparison import equal, signbit
from numbagraph.ops.selection import where

copysign = elementwise(
    np.copysign,
    emit=reals.copy_sign,
    vjp=lambda g, y, a, b: (g * sign(a) * where(signbit(b), -1.0, 1.0), None),
    kinks=lambda a, b: a == 0,
)
nextafter = elementwise(np.nextafter, emit=reals.next_after, vjp=lambda g, y, a, b: (g, None), cost=10)
spacing = elementwise(np.spacing, emit=reals.spacing, vjp=lambda g, y, x: (None,), cost=10)
heaviside = elementwise(
    np.heaviside, emit=reals.heaviside, vjp=lambda g, y, x, at_zero: (None, where(equal(x, 0.0), g, 0.0))
)
ldexp = elementwise(
    np.ldexp,
    emit=reals.ldexp,
    vjp=lambda g, y, x, exponent: (ldexp(g, exponent), None),
    cost=5,
)
