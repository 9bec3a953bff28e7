"""Operations on the bits and the divisors of integers."""

from __future__ import annotations

import numpy as np

from numbagraph.blockwise.kinds import elementwise
from numbagraph.intrinsics import integer_ops
from numbagraph.intrinsics.formula import instruction
from numbagraph.ops.selection import DISCRETE

bitwise_and = elementwise(np.bitwise_and, emit=instruction("and_"), vjp=DISCRETE, operator="and", commutative=True)
bitwise_or = elementwise(np.bitwise_or, emit=instruction("or_"), vjp=DISCRETE, operator="or", commutative=True)
bitwise_xor = elementwise(np.bitwise_xor, emit=instruction("xor"), vjp=DISCRETE, operator="xor", commutative=True)
invert = elementwise(np.invert, emit=instruction("not_"), vjp=DISCRETE, operator="invert")
left_shift = elementwise(np.left_shift, emit=integer_ops.left_shift, vjp=DISCRETE, operator="lshift", domain=(0.0, 5.0))
right_shift = elementwise(
    np.right_shift, emit=integer_ops.right_shift, vjp=DISCRETE, operator="rshift", domain=(0.0, 5.0)
)
bitwise_count = elementwise(np.bitwise_count, emit=integer_ops.bit_count, vjp=DISCRETE)
gcd = elementwise(np.gcd, emit=integer_ops.gcd, vjp=DISCRETE, commutative=True, domain=(-60.0, 60.0), cost=40)
lcm = elementwise(np.lcm, emit=integer_ops.lcm, vjp=DISCRETE, commutative=True, domain=(-6.0, 6.0), cost=45)
