"""Operations on the parts of floating-point numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.common import flat
from numbagraph.blockwise.kinds import decomposition, draw, elementwise
from numbagraph.blockwise.promotion import promote, ufunc_rule
from numbagraph.intrinsics.emitters import frexp as parts
from numbagraph.intrinsics.emitters import reals
from numbagraph.ir.op import load
from numbagraph.ir.values import Value
from numbagraph.ops.arithmetic import sign
from numbagraph.ops.comparison import equal, signbit
from numbagraph.ops.selection import DISCRETE, where

copysign = elementwise(
    np.copysign,
    emit=reals.copy_sign,
    vjp=lambda g, y, a, b: (g * sign(a) * where(signbit(b), -1.0, 1.0), None),
    kinks=lambda a, b: a == 0,
)
nextafter = elementwise(np.nextafter, emit=reals.next_after, vjp=lambda g, y, a, b: (g, None), cost=4)
spacing = elementwise(np.spacing, emit=reals.spacing, vjp=flat, cost=4)
heaviside = elementwise(
    np.heaviside, emit=reals.heaviside, vjp=lambda g, y, x, at_zero: (None, where(equal(x, 0.0), g, 0.0))
)
ldexp = elementwise(
    np.ldexp,
    emit=reals.ldexp,
    vjp=lambda g, y, x, exponent: (ldexp(g, exponent), None),
    cost=5,
)

BETWEEN_POWERS = (1.05, 1.95)
"""An interval between powers of 2, at which a mantissa jumps."""

frexp_mantissa = elementwise(
    lambda x: np.frexp(x)[0],
    name="frexp_mantissa",
    emit=parts.mantissa,
    dtype=lambda kinds: ufunc_rule(np.frexp)(kinds)[:2],
    vjp=lambda g, y, x: (ldexp(g, -frexp_exponent(x)),),
    domain=BETWEEN_POWERS,
    jnp=lambda x: load("jax.numpy:frexp")(x)[0],
    cost=5,
)
frexp_exponent = elementwise(
    lambda x: np.frexp(x)[1],
    name="frexp_exponent",
    emit=parts.exponent,
    dtype=lambda kinds: ufunc_rule(np.frexp)(kinds)[::2],
    vjp=DISCRETE,
    jnp=lambda x: load("jax.numpy:frexp")(x)[1],
    samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4)),)] if dtype.kind == "f" else [],
    cost=5,
)


@decomposition(np.frexp, samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4), BETWEEN_POWERS),)])
def frexp(x: Any) -> tuple[Value, Value]:
    (value,) = promote(ufunc_rule(np.frexp), (x,))
    return frexp_mantissa(value), frexp_exponent(value)
