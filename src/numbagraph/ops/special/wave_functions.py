"""Mathieu's, spheroidal and parabolic cylinder functions: each ufunc gives a value and its derivative.

That of the derivative follows from the differential equation. Numbers in brackets are those of the DLMF.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from numbagraph.ir.values import Op, Value
from numbagraph.ops.special.scipy_kernels import BY_PARAMETER, Domain, kernel, kernels
from numbagraph.ops.trigonometry import cos, cosh

ORDERS = range(1, 3)
Bend = Callable[..., Value]
"""The second derivative, ``bend(value, slope, *operands)``."""


def wave(name: str, operands: Sequence[Domain], bend: Bend, unit: float = 1.0) -> Op:
    """Declare a function of parameters and a number, which is in some unit."""
    parameters = [BY_PARAMETER] * (len(operands) - 1)

    def slope(ys: tuple[Value, ...], *_: Value) -> Value:
        return ys[1] * unit

    def second(ys: tuple[Value, ...], *inputs: Value) -> Value:
        return bend(*ys, *inputs) * unit

    return kernels(name, operands, [[*parameters, slope], [*parameters, second]])


# ---- Mathieu's functions [28.2.1], [28.20.1]; SciPy has their angles in degrees ----

mathieu_a = kernel("mathieu_a", [ORDERS, (0.1, 2.0)])
mathieu_b = kernel("mathieu_b", [ORDERS, (0.1, 2.0)])


def mathieu(name: str, characteristic: Callable[..., Value], modified: bool) -> Op:
    if modified:
        return wave(
            name,
            [ORDERS, ORDERS, (0.2, 1.5)],
            lambda y, slope, m, q, x: (characteristic(m, q) - 2 * q * cosh(2 * x)) * y,
        )
    degree = math.pi / 180
    return wave(
        name,
        [ORDERS, ORDERS, (10.0, 80.0)],
        lambda y, slope, m, q, x: (2 * q * cos(2 * degree * x) - characteristic(m, q)) * y,
        degree,
    )


mathieu_cem = mathieu("mathieu_cem", mathieu_a, False)
mathieu_sem = mathieu("mathieu_sem", mathieu_b, False)
mathieu_modcem1 = mathieu("mathieu_modcem1", mathieu_a, True)
mathieu_modcem2 = mathieu("mathieu_modcem2", mathieu_a, True)
mathieu_modsem1 = mathieu("mathieu_modsem1", mathieu_b, True)
mathieu_modsem2 = mathieu("mathieu_modsem2", mathieu_b, True)

# ---- spheroidal functions [30.2.1], [30.2.7] ----

pro_cv = kernel("pro_cv", [range(2), range(2, 4), (0.5, 2.0)])
obl_cv = kernel("obl_cv", [range(2), range(2, 4), (0.5, 2.0)])


def spheroidal(y: Value, slope: Value, m: Value, c: Value, characteristic: Value, x: Value, sign: int) -> Value:
    """Return the second derivative by the equation of prolate functions (``sign`` 1), or of angular oblate ones
    (-1)."""
    rest = 1 - x * x
    return (2 * x * slope - (characteristic - sign * c * c * x * x - m * m / rest) * y) / rest


def oblate_radial(y: Value, slope: Value, m: Value, c: Value, characteristic: Value, x: Value, sign: int) -> Value:
    rest = 1 + x * x
    return ((characteristic - c * c * x * x - m * m / rest) * y - 2 * x * slope) / rest


def both_forms(name: str, of: Domain, equation: Callable[..., Value], sign: int) -> tuple[Op, Op]:
    """Declare a function that computes its characteristic value, and the one that is given it."""
    characteristic: Any = pro_cv if sign > 0 else obl_cv
    first = [range(2), range(2, 4), range(1, 3)]
    plain = wave(
        name,
        [*first, of],
        lambda y, slope, m, n, c, x: equation(y, slope, m, c, characteristic(m, n, c), x, sign),
    )
    given = wave(
        f"{name}_cv",
        [*first, characteristic, of],
        lambda y, slope, m, n, c, known, x: equation(y, slope, m, c, known, x, sign),
    )
    return plain, given


pro_ang1, pro_ang1_cv = both_forms("pro_ang1", (-0.7, 0.7), spheroidal, 1)
obl_ang1, obl_ang1_cv = both_forms("obl_ang1", (-0.7, 0.7), spheroidal, -1)
pro_rad1, pro_rad1_cv = both_forms("pro_rad1", (1.2, 2.0), spheroidal, 1)
pro_rad2, pro_rad2_cv = both_forms("pro_rad2", (2.2, 2.6), spheroidal, 1)
obl_rad1, obl_rad1_cv = both_forms("obl_rad1", (0.5, 2.0), oblate_radial, -1)
obl_rad2, obl_rad2_cv = both_forms("obl_rad2", (3.2, 3.6), oblate_radial, -1)

# ---- parabolic cylinder functions [12.2.4], [12.14.1] ----

pbdv = wave("pbdv", [ORDERS, (0.2, 2.0)], lambda y, slope, v, x: (0.25 * x * x - v - 0.5) * y)
pbvv = wave("pbvv", [ORDERS, (0.2, 2.0)], lambda y, slope, v, x: (0.25 * x * x - v - 0.5) * y)
pbwa = wave("pbwa", [ORDERS, (0.2, 2.0)], lambda y, slope, a, x: (a - 0.25 * x * x) * y)
