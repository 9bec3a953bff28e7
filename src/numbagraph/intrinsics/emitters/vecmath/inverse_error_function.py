"""The inverses of the error function, of its complement, and of the normal distribution."""

from __future__ import annotations

import math
from typing import Any

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, absolute, copysign, fma, sqrt
from numbagraph.intrinsics.emitters.vecmath.declare import by_format, coefficients_of, math_function, polynomial
from numbagraph.intrinsics.emitters.vecmath.logarithm import log1p_of_rest, split_any
from numbagraph.intrinsics.emitters.vecmath.tables.exponential import LOG_2_PARTS
from numbagraph.intrinsics.emitters.vecmath.tables.inverse_error_function import ERFCINV, ERFCINV_SHORT, ERFINV

INFINITY = math.inf
MIDDLE = 2.5, 1.25
"""The zero, in float64 and float32, of the variable of the polynomial for tails.

The smaller it is, the less its rounding error counts where tails begin, and the longer is the polynomial.
"""


def log_of(x: Number) -> tuple[Number, Number]:
    """Return the logarithm, and most of its error."""
    log_2, log_2_rest = coefficients_of(LOG_2_PARTS, x)
    fraction, exponent = split_any(x)
    rest = fma(exponent, log_2_rest, log1p_of_rest(fraction - 1.0))
    log = fma(exponent, log_2, rest)
    return log, fma(exponent, log_2, -log) + rest


def inverse(x: Number, tail: Number, factor: float = 1.0) -> Number:
    """Return ``y * sqrt(factor)`` for the y for which ``erf(y) = x`` and ``erfc(abs(y)) = tail``.

    Either is exact: x up to 1/2, or the tail. Twice and half a number are exact, too, so the factor is a power of two.
    """
    return inverse_by_log(x, tail, *log_of(tail), factor)


def inverse_by_log(x: Number, tail: Number, log: Number, error: Number, factor: float) -> Number:
    """Return the value of `inverse`, given the tail's logarithm as a sum. The tail itself does not count where it is
    small."""
    root_of_factor = math.sqrt(factor)
    lowest, *higher = (root_of_factor * each for each in coefficients_of(ERFINV, x))
    slope = float(x.dtype.type(lowest))
    near = fma(x, slope, x * polynomial(x * x, (lowest - slope, *higher)))
    square, middle = log * -factor, by_format(x, *MIDDLE) * root_of_factor
    root = sqrt(square)
    root_error = fma(error, -factor, fma(-root, root, square)) * (0.5 / root)
    rest = polynomial((root - middle) / (root + middle), coefficients_of(by_format(x, ERFCINV, ERFCINV_SHORT), x))
    far = fma(root, 0.5, fma(root, rest, root_error))
    far = tail.equals(0.0).where(INFINITY, far)
    return (tail >= 0.5).where(near, copysign(far, x))


def exact_erfcinv(mp: Any, x: Any) -> Any:
    """Return the inverse with mpmath; for small numbers by Newton's method on the logarithm, since they would be lost
    beside 1."""
    if x > 1:
        return -exact_erfcinv(mp, 2 - x)
    if x <= 0 or x > 0.1:
        return mp.erfinv(1 - x)
    log = mp.log(x)
    y = mp.sqrt(-log)
    for _ in range(20):
        tail = mp.erfc(y)
        y += (mp.log(tail) - log) * tail * mp.exp(y * y) * mp.sqrt(mp.pi) / 2
    return y


@math_function(libm.erfinv, lambda mp, x: mp.erfinv(x), domain=[(-1.0, 1.0)], near=(0.0, 0.5), ulp=2.5, room=4)
def erfinv(x: Number) -> Number:
    return inverse(x, 1.0 - absolute(x)) + 0.0  # of -0.0, SciPy's is 0.0


@math_function(libm.erfcinv, exact_erfcinv, domain=[(0.0, 2.0)], near=(1.0, 0.5), ulp=2.5, room=4)
def erfcinv(x: Number) -> Number:
    result = -inverse(x - 1.0, (x > 1.0).where(2.0 - x, x))
    # SciPy's is infinite where half of the number is zero in double precision.
    return x.equals(by_format(x, 5e-324, 0.0)).where(INFINITY, result)


@math_function(
    libm.ndtri,
    lambda mp, x: -mp.sqrt(2) * exact_erfcinv(mp, 2 * x),
    domain=[(0.0, 1.0)],
    near=(0.5, 0.25),
    ulp=2.5,
    room=4,
)
def ndtri(x: Number) -> Number:
    tail = (x > 0.5).where(1.0 - x, x)
    return inverse(2.0 * x - 1.0, tail + tail, 2.0)
