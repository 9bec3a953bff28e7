"""Simplifications of a log-density that PyTensor makes, too: of conversions to and fro between the parameters that a
distribution may be given by, and of products with a factor of 0."""

from __future__ import annotations

from numbagraph.ir.values import Value
from numbagraph.rewrite.engine import RuleSet, rule
from numbagraph.rewrite.facts import floating, is_op
from numbagraph.rewrite.patterns import Pattern, absolute, power, sign


def deviation(precision: Pattern, magnitude: Pattern) -> Pattern:
    """A standard deviation, with the sign of the precision, as `get_tau_sigma` makes it."""
    return power(magnitude, -0.5) * sign(precision)


def precision(deviation: Pattern) -> Pattern:
    """A precision, with the sign of the deviation."""
    return power(deviation, -2) * sign(deviation)


def never_negative(x: Value) -> bool:
    """Whether PyTensor 3 would leave out the absolute value of a value."""
    return floating(x) and is_op(x, "exp", "expit", "square")


PARAMETRISATIONS = RuleSet(
    "parametrisations",
    [
        # at 0 and infinity the detour gives NaN, which fails the same checks of parameters
        rule(lambda x: precision(deviation(x, absolute(x))), lambda x: x, where=floating),
        rule(lambda x: precision(deviation(x, x)), lambda x: x, where=never_negative),
    ],
    exact=False,
)
"""Rules that remove two functions which undo each other, before other rules apply to either alone."""


CANCELLATIONS = RuleSet(
    "cancellations",
    [
        # a rate as the reciprocal of a mean, which is the reciprocal of a rate: infinite where that is 0
        rule(lambda x, y: y / (1 / x), lambda x, y: y * x, where=floating),
        rule(lambda x: x * 0, lambda x: 0, where=floating),
        rule(lambda x: 0 / x, lambda x: 0, where=floating),
    ],
    exact=False,
)
"""Cancellations that PyTensor makes, too, once functions are in their canonical form.

Where a factor is known to be 0, it does not ask if the other one is infinite, as at the ends of a support:
``(alpha - 1) * log(x)`` of an exponential distribution, given as one of Weibull's.
"""
