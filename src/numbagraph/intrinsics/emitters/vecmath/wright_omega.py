"""Wright's omega function, the w of ``w + log(w) = x``."""

from __future__ import annotations

from typing import Any

from numbagraph.intrinsics.emitters import libm
from numbagraph.intrinsics.emitters.formula import Number, fma, wide
from numbagraph.intrinsics.emitters.vecmath.declare import at_least, at_most, math_function
from numbagraph.intrinsics.emitters.vecmath.double_double import exp_of_sum
from numbagraph.intrinsics.emitters.vecmath.exponential import exp
from numbagraph.intrinsics.emitters.vecmath.logarithm import log

LEAST, LARGEST = -50.0, 1e20
"""The bounds beyond which the function is the exponential, and the number itself."""


def near(x: Number) -> Number:
    """Return the function to a few hundredths: a Padé approximant of the exponential, or the first terms for large
    numbers."""
    exponential, positive = exp.of(at_most(x, 1.0)), at_least(x, 1.0)
    numerator = exponential * fma(exponential, 4 / 3, 1.0)
    denominator = fma(fma(exponential, 5 / 6, 7 / 3), exponential, 1.0)
    logarithm = log.of(positive)
    return (x > 1.0).where(x - logarithm + logarithm / positive, numerator / denominator)


def improved(w: Number, x: Number) -> Number:
    """Return a better approximation, whose error is the fourth power of the given one's (F. N. Fritsch, R. E. Shafer,
    W. P. Crowley, "Algorithm 443", 1973)."""
    rest, above = (x - w) - log.of(w), w + 1.0
    twice = 2.0 * above * fma(rest, 2 / 3, above)
    return fma(w, rest * (twice - rest) / (above * (twice - 2.0 * rest)), w)


def exact_wrightomega(mp: Any, x: Any) -> Any:
    """Return the function with mpmath, by Newton's method for the logarithm."""
    if x < -1000:
        return mp.exp(x)
    y = x if x < 1 else mp.log(x)
    for _ in range(12):
        w = mp.exp(y)
        y -= (w + y - x) / (w + 1)
    return mp.exp(y)


@math_function(
    libm.scipy("wrightomega"),
    exact_wrightomega,
    domain=[(-50.0, 1000.0)],
    near=(0.0, 1.0),
    ulp=3.0,
    room=2,
)
@wide
def wrightomega(x: Number) -> Number:
    bounded = at_least(at_most(x, LARGEST), LEAST)
    w = improved(improved(near(bounded), bounded), bounded)
    # Of negative numbers the logarithm is large beside w: there it is an exponential, in which an error of w is small.
    exponential = exp_of_sum(x, -(x < LEAST).where(0.0, w))
    result = (x < 0.0).where(exponential * ((w + 1.0) / (exponential + 1.0)), w)
    return (x > LARGEST).where(x, (x < LEAST).where(exponential, result))
