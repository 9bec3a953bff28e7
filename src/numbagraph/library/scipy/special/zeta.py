"""The zeta functions of Riemann and Hurwitz."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from numbagraph.api.branches import cond
from numbagraph.blockwise.promotion import promote
from numbagraph.library.scipy.arguments import array, bound, called, differentiated, refuse
from numbagraph.ops.special.riemann_zeta import BERNOULLI, STEPS
from numbagraph.ops.special.scipy_kernels import dtype_rule
from numbagraph.tracing.tracer import Tracer, to_value


def zeta(x: Any, q: Any = None, out: Any = None) -> Any:
    """`scipy.special.zeta`."""
    if out is not None:
        refuse("scipy.special.zeta with out=", "assign the result")
    value = array(x)
    if value.dtype.kind == "c" or (q is not None and array(q).dtype.kind == "c"):
        refuse("scipy.special.zeta of complex numbers", "numbagraph.pure_callback calls it from compiled code")
    if q is not None:
        return of_two(x, q)
    return cond(np.any(value < 0), of_both_signs, at_right, value) if value.ndim else of_both_signs(value)


# ---- Hurwitz's, of two numbers ----


def of_two(x: Any, q: Any) -> Any:
    """The zeta function of two operands. SciPy's own function serves where some second operands are not positive: it
    has values for whole first ones."""
    values = promote(dtype_rule("scipy.special._ufuncs:_zeta"), map(to_value, (x, q)))
    number, shift = map(array, map(Tracer, values))
    wide = number.astype(np.float64), shift.astype(np.float64)
    return cond(np.any(shift <= 0), by_scipy, of_positive, *wide).astype(number.dtype)


def by_scipy(x: Any, q: Any) -> Any:
    x, q = np.broadcast_arrays(x, q)
    return called(
        bound("scipy.special:zeta"), x, x, q, vjp=lambda g, _, x, q: (g * np.nan, -g * x * of_two(x + 1.0, q))
    )


def of_positive(x: Any, q: Any) -> Any:
    regular = x > 1
    found = hurwitz(np.where(regular, x, 2.0), q)
    return np.where(regular, found, np.where((x == 1) & ~np.isnan(q), np.inf, np.nan))


def hurwitz(x: Any, q: Any) -> Any:
    """Hurwitz's zeta function, for a first operand above 1 and a positive second one. [DLMF 25.11.28, 2.10.1]"""
    a, total = q + STEPS, q**-x
    for k in range(1, STEPS):
        total = total + (q + k) ** -x
    integral = a ** (1.0 - x)
    last = integral / a
    term, rest = 0.5 * last * x / a, 0.5 * last
    for number, each in enumerate(BERNOULLI, start=1):
        rest = rest + each * term
        term = term * (x + (2 * number - 1)) / a * (x + 2 * number) / a / ((2 * number + 1) * (2 * number + 2))
    return total + (rest + integral / (x - 1.0))


# ---- Riemann's; below 0 by the reflection formula [DLMF 25.4.1] ----


def at_right(x: Any) -> Any:
    return special.zetac(x) + 1.0


def of_both_signs(x: Any) -> Any:
    """Riemann's zeta function, by reflection for negative numbers. Its derivatives are those of the kernel, which is
    less accurate near zeros: the reflected form has none there."""
    below = x < 0
    found = at_right(np.where(below, 2.0, x))
    found = np.where(below, reflected(x), found).astype(found.dtype)
    return differentiated(found, at_right(x))


def reflected(x: Any) -> Any:
    """Riemann's zeta function of negative numbers; for even ones it is zero."""
    below = x < 0
    other = np.where(below, 1.0 - x, 2.0)
    turn = np.where(np.mod(x, 2.0) == 0.0, 0.0, np.sin(0.5 * np.pi * np.mod(x, 4.0)))
    power = np.pi ** (
        0.5 * (x - 1.0)
    )  # by the duplication formula of gammas [5.5.5], which do not overflow before zeta
    scale = (power * special.gamma(0.5 * other)) * (power * special.gamma(0.5 * other + 0.5)) / np.sqrt(np.pi)
    scale = scale * (special.zetac(other) + 1.0)
    return np.where(turn == 0.0, 0.0, scale * turn)
