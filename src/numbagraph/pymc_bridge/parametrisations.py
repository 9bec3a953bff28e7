"""What PyMC computes to and fro between the parameters that a distribution may be given by."""

from __future__ import annotations

from numbagraph.rewrite.engine import RuleSet, rule
from numbagraph.rewrite.facts import floating
from numbagraph.rewrite.patterns import Pattern, absolute, power, sign


def deviation(precision: Pattern) -> Pattern:
    """A standard deviation, with the sign of the precision, as `get_tau_sigma` makes it."""
    return power(absolute(precision), -0.5) * sign(precision)


PARAMETRISATIONS = RuleSet(
    "parametrisations",
    [
        # at 0 and infinity the detour gives NaN, which fails the same checks of parameters
        rule(lambda x: power(deviation(x), -2) * sign(deviation(x)), lambda x: x, where=floating),
    ],
    exact=False,
)
"""Two functions that undo each other, before other rules look at either alone."""
