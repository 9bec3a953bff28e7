"""The exponential integrals."""

from __future__ import annotations

from typing import Any

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, fma, wide
from numbagraph.intrinsics.emitters.vecmath.declare import (
    at_least,
    at_most,
    coefficients_of,
    constant_of,
    math_function,
)
from numbagraph.intrinsics.emitters.vecmath.double_double import exp_of_sum
from numbagraph.intrinsics.emitters.vecmath.logarithm import log
from numbagraph.intrinsics.emitters.vecmath.piecewise_polynomials import piecewise
from numbagraph.intrinsics.emitters.vecmath.tables.exponential_integrals import EXP1, EXPI, EXPI_ROOT, EXPI_ROOT_LOG

MIDDLE = 2.0
"""The zero of the variable of the polynomial for `exp1` without its exponential."""
AROUND_ROOT = 0.25, 0.55
SMALL, MEDIUM = 6.0, 16.0
"""Two limits: up to the first one `expi` is a logarithm and a polynomial; beyond it, an exponential and one of two
polynomials of the inverse, before and beyond the second limit."""
LARGEST = 760.0
"""The number from which on exponentials are zero and infinite."""


def exp1_of(mp: Any, x: Any) -> Any:
    """Return the integral with mpmath, which has no exponential of large numbers."""
    return (mp.e1(x) if x < 1e4 else mp.mpf(0)) if x >= 0 else mp.nan


def expi_of(mp: Any, x: Any) -> Any:
    return -exp1_of(mp, -x) if x < 0 else mp.ei(x) if x < 1e4 else mp.inf


@math_function(libm.scipy("exp1"), exp1_of, domain=[(0.0, 740.0)], near=(0.0, 1.0), ulp=4.0, room=3)
@wide
def exp1(x: Number) -> Number:
    large = x > 1.0
    inverse = 1.0 / (x + MIDDLE)
    value = piecewise(large.where(fma(inverse, -2.0 * MIDDLE, 1.0), x), EXP1, large)
    tail = exp_of_sum(-at_most(x, LARGEST), x.constant(0.0), value * inverse)
    return large.where(tail, value - log.of(x))


@math_function(
    libm.scipy("expi"),
    expi_of,
    domain=[(-740.0, 716.0)],
    near=(0.0, -1.0, EXPI_ROOT["float64"][0], *AROUND_ROOT, SMALL, MEDIUM),
    ulp=4.0,
    room=4,
)
@wide
def expi(x: Number) -> Number:
    """Return the integral: for negative numbers as `exp1`, and near the root as a polynomial times the distance from
    that."""
    low, high = AROUND_ROOT
    negative, around_root = x < 0.0, (x > low) & (x < high)
    below, medium, large = x < -1.0, x > SMALL, x > MEDIUM
    tail = below | medium
    root, root_error = coefficients_of(EXPI_ROOT, x)
    distance = (x - root) - root_error
    bounded = at_least(at_most(x, LARGEST), -LARGEST)
    inverse = 1.0 / below.where(MIDDLE - bounded, bounded)
    variable = tail.where(below.where(fma(inverse, -2.0 * MIDDLE, 1.0), inverse), x)
    value = piecewise(variable, EXPI, around_root, negative, below, medium, large)
    logarithm = log.of(absolute(x))
    near = fma(distance, value, logarithm - constant_of(EXPI_ROOT_LOG, x))
    near = negative.where(logarithm + value, around_root.where(distance * value, near))
    far = exp_of_sum(bounded, x.constant(0.0), value * below.where(-inverse, inverse))
    return tail.where(far, near)
