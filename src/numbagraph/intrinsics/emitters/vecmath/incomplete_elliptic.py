"""The incomplete elliptic integrals, by Carlson's. Numbers in brackets are those of the DLMF."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, fma, intrinsic, lifted, sqrt, wide
from numbagraph.intrinsics.emitters.vecmath.carlson import duplicated, first_kind, second_kind
from numbagraph.intrinsics.emitters.vecmath.declare import math_function
from numbagraph.intrinsics.emitters.vecmath.elliptic import ellipe_of_rest, ellipk_of_rest
from numbagraph.intrinsics.emitters.vecmath.trigonometric import cos, sin

INFINITY, NAN = math.inf, math.nan
ANGLES, PARAMETERS = (-10.0, 10.0), (-10.0, 1.0)

_round = lifted(intrinsic("rint"))


class Reduced:
    """An angle from -pi/2 to pi/2, by its sine and cosine, and the number of half turns by which it was more.
    [19.2.10]"""

    def __init__(self, phi: Number, m: Number) -> None:
        self.turns = _round(phi * (1 / math.pi))
        half = self.turns * 0.5
        odd = half.differs(_round(half))
        sine = sin.of(phi)
        self.sine = odd.where(-sine, sine)
        self.cosine = cos.of(phi)
        self.rest = 1.0 - m
        self.square = self.cosine * self.cosine
        self.delta = fma(self.sine * self.rest, self.sine, self.square)
        """``1 - m * sin(phi)**2``, of terms that are positive"""

    def with_turns(self, value: Number, whole: Number) -> Number:
        """Return the integral of the whole angle, given that of the reduced one: each half turn adds twice the complete
        integral."""
        return self.turns.equals(0.0).where(value, fma(self.turns + self.turns, whole, value))


def with_limits(value: Number, phi: Number, m: Number, least: Number) -> Number:
    """Return the integral, at infinite operands, too; ``least`` is its value where the parameter is minus infinity."""
    infinite, lowest = absolute(phi).equals(INFINITY), m.equals(-INFINITY)
    value = infinite.where(phi, lowest.where(least, value))
    return ((m <= 1.0) & ~phi.is_nan()).where(value, NAN)


def exact(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return mpmath's function where it is real, else NaN."""
    return lambda mp, phi, m: function(mp, phi, m) if m <= 1 else mp.nan


@math_function(
    libm.scipy("ellipkinc"),
    exact(lambda mp, phi, m: mp.ellipf(phi, m)),
    domain=[ANGLES, PARAMETERS],
    near=(0.0, 0.5 * math.pi),
    everywhere=False,
    ulp=6.0,
    room=3,
)
@wide
def ellipkinc(phi: Number, m: Number) -> Number:
    """Return the integral of the first kind. [19.25.5]"""
    angle = Reduced(phi, m)
    near = duplicated(angle.square, angle.delta, m.constant(1.0))
    value = angle.with_turns(angle.sine * first_kind(*near[:3]), ellipk_of_rest(angle.rest))
    value = ((absolute(phi) >= math.pi / 2) & m.equals(1.0)).where(INFINITY, value)
    at_both = absolute(phi).equals(INFINITY) & m.equals(-INFINITY)
    return at_both.where(NAN, with_limits(value, phi, m, m.constant(0.0)))


@math_function(
    libm.scipy("ellipeinc"),
    exact(lambda mp, phi, m: mp.ellipe(phi, m)),
    domain=[ANGLES, PARAMETERS],
    near=(0.0, 0.5 * math.pi),
    everywhere=False,
    ulp=6.0,
    room=3,
)
@wide
def ellipeinc(phi: Number, m: Number) -> Number:
    """Return the integral of the second kind, by terms of one sign, which are others for positive parameters.
    [19.25.9], [19.25.10]"""
    angle, positive = Reduced(phi, m), m > 0.0
    other, last = positive.where(m.constant(1.0), angle.delta), positive.where(angle.delta, 1.0)
    *near, total, weight = duplicated(angle.square, other, last)
    of_second_kind = fma(second_kind(*near), weight, total) * angle.sine * (1 / 3)
    factor = positive.where(angle.rest, 1.0)
    by_square = (m * angle.sine) * angle.sine * positive.where(angle.rest, -1.0)
    value = fma(factor * first_kind(*near), angle.sine, by_square * of_second_kind)
    root = sqrt(angle.delta)
    edge = root.equals(0.0).where(angle.sine, m * angle.sine * (absolute(angle.cosine) / root))
    value = positive.where(value + edge, value)
    value = angle.with_turns(value, ellipe_of_rest(angle.rest))
    return with_limits(value, phi, m, m.constant(INFINITY))
