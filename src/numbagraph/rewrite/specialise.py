"""Cheaper forms of the same value, up to a few units in the last place. They are made late, so that other rules need
not recognise them."""

from __future__ import annotations

from numbagraph.ir.values import Constant, constant
from numbagraph.rewrite.engine import RuleSet, rule
from numbagraph.rewrite.facts import floating, number, power_of_two
from numbagraph.rewrite.joined_arrays import SUMS
from numbagraph.rewrite.patterns import power, square


def reciprocal_of(c: Constant) -> Constant:
    return constant(1 / c.data, weak=c.type.weak)


POWERS = (
    rule(lambda x: power(x, 3), lambda x: x * square(x), where=number),
    rule(lambda x: power(x, 4), lambda x: square(square(x)), where=number),
    rule(lambda x: power(x, -2), lambda x: square(1 / x), where=floating),
    rule(lambda x: power(x, -3), lambda x: (1 / x) * square(1 / x), where=floating),
)

QUOTIENTS = (rule(lambda x, c: x / c, lambda x, c: x * reciprocal_of(c), where=lambda c: power_of_two(c)),)

SPECIALISE = RuleSet("specialise", [*POWERS, *QUOTIENTS, *SUMS])
