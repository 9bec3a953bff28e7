"""Inequalities between polynomials that must hold for checks to be left out, and what a condition requires.

Inequalities are between polynomials over the integers, programs compute modulo 2**64. So no number may be so large that
the two differ: each inequality comes with the magnitude of what the program compares, and polynomials whose
coefficients are large are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import combinations

from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import Dim, Node, Value
from numbagraph.loops.polynomials import Polynomial, as_polynomial, polynomial

LARGEST = 2**40
LARGEST_FACTOR = 2**25
"""The magnitude of values up to which no sum, and no sum of products of two, exceeds 2**62, if coefficients are as
small as here."""
COEFFICIENTS = 2**10
"""The largest sum of the magnitudes of the coefficients of products of two values. Coefficients of single values may be
larger."""
COEFFICIENTS_OF_VALUES = 2**19
MOST_FACTORS = 3
FITS = 2**62


class Implication(Struct):
    """An inequality that must hold: ``goal >= 0`` wherever all premises are at least 1. ``magnitude`` bounds the
    numbers that the program compares."""

    premises: tuple[Polynomial, ...]
    goal: Polynomial
    magnitude: Polynomial = field(default_factory=Polynomial)

    @property
    def holds(self) -> bool:
        """Whether the inequality holds for all values."""
        return self.is_true and self.magnitude.known is not None

    def with_values_of(self, other: Implication) -> Implication:
        """The implication, with the values of ``other`` added to its magnitude, so that these must not be too large
        either."""
        own = {value for each in (*self.premises, self.goal, self.magnitude) for value in each.values()}
        more = (value for each in (other.goal, other.magnitude) for value in each.values() if value not in own)
        magnitude = self.magnitude + Polynomial(dict.fromkeys(((value,) for value in more), 1))
        return replace(self, magnitude=magnitude)

    @property
    def fits(self) -> bool:
        """Whether the implication only states that no number is too large."""
        return self.goal.terms.get((), 0) >= FITS // 2

    @property
    def is_small(self) -> bool:
        """Whether no number can be too large, since each is a length or known."""
        rest = self.magnitude.terms.get((), 0)
        lengths = [count for factors, count in self.magnitude.terms.items() if factors]
        is_length = all(
            len(factors) < 2 and all(isinstance(each, Dim) for each in factors) for factors in self.magnitude.terms
        )
        return is_length and sum(lengths) <= 1 and rest <= FITS

    @property
    def is_true(self) -> bool:
        """Whether the inequality holds for all values that are not too large."""
        if self.fits or any(each.known is not None and each.known < 1 for each in self.premises):
            return True
        given = [premise - 1 for premise in dict.fromkeys(self.premises)]
        sums = (sum(each, Polynomial()) for count in range(3) for each in combinations(given, count))
        return any((self.goal - each).is_never_negative for each in sums)

    def follows_from(self, other: Implication) -> bool:
        """Whether the implication follows from another one, if no number is too large."""
        if other.goal.beside_lengths != self.goal.beside_lengths or not set(other.premises) <= set(self.premises):
            return False
        return replace(self, goal=self.goal - other.goal).is_true


def without_implied(conditions: Iterable[Implication]) -> tuple[Implication, ...]:
    """The conditions without those that follow from another one, since lengths are not negative. That one then says
    which values the program compares with any of them, since none of these may be large."""
    groups: dict[object, list[Implication]] = {}
    for each in conditions:
        stronger = groups.setdefault((frozenset(each.premises), each.goal.beside_lengths), [])
        for place, other in enumerate(stronger):
            difference = each.goal - other.goal
            if difference.is_never_negative or (-difference).is_never_negative:
                first, second = (other, each) if difference.is_never_negative else (each, other)
                stronger[place] = first.with_values_of(second)
                break
        else:
            stronger.append(each)
    return tuple(each for group in groups.values() for each in group)


TOGETHER = {
    False: ("logical_and", "bitwise_and", "cast", "logical_not", "invert"),
    True: ("logical_or", "bitwise_or", "cast", "logical_not", "invert"),
}
"""The ops of conditions that hold, or do not, where all of their parts do."""
ORDERS = ("less", "less_equal", "greater", "greater_equal")
COMPARISONS = (*ORDERS, "not_equal", "sum_fits", "difference_fits", "product_fits")
"""The ops that compare two numbers. Conditions that a branch or a loop returns have any number of operands."""


class TooHard(Exception):
    """A condition that is not linear in the steps, or that numbers could make too large."""


def implications(condition: Value, *, negated: bool = False, given: bool = False) -> Iterator[Implication]:
    """Yield the inequalities that are required for a condition to hold or, if ``negated``, not to hold. If the
    condition is ``given``, yield the inequalities that follow from it."""
    if not isinstance(condition, Node):
        if negated or given or condition.dtype != BOOL or condition.ndim:
            raise TooHard
        yield Implication((), polynomial(condition) - 1, as_polynomial(1))
        return
    name, parts = condition.op.name, condition.inputs
    if name == "all" and not (negated or given or condition.ndim):  # of the elements of an array
        yield Implication((), polynomial(condition) - 1, as_polynomial(1))
        return
    if name in TOGETHER[negated] and parts[0].dtype != INT64:
        for each in parts:
            yield from implications(each, negated=negated != (name in ("logical_not", "invert")), given=given)
        return
    if name not in (ORDERS if negated else COMPARISONS) or any(each.dtype != INT64 or each.ndim for each in parts):
        raise TooHard
    left, right = map(polynomial, parts)
    for goal in goals(condition, left, right, given):
        yield Implication((), bounded(-goal - 1 if negated else goal), bounded(left.magnitude + right.magnitude))


def without_captured_conditions(needed: Iterable[Implication]) -> Iterator[Implication]:
    """The implications, in which each captured condition is replaced by the inequalities that it requires."""
    for each in needed:
        value = truth(each.goal)
        if isinstance(value, Node) and value.op.name != "all":
            for part in implications(value):
                yield Implication((*each.premises, *part.premises), part.goal, bounded(each.magnitude + part.magnitude))
        else:
            yield each


def truth(goal: Polynomial) -> Value | None:
    """The condition that must be true, if the goal states just that."""
    found = [each for each in goal.values() if each.dtype == BOOL]
    return found[0] if found else None


def goals(comparison: Node, left: Polynomial, right: Polynomial, given: bool) -> tuple[Polynomial, ...]:
    """The polynomials that must not be negative for a comparison to hold."""
    match comparison.op.name:
        case "less":
            return (right - left - 1,)
        case "less_equal":
            return (right - left,)
        case "greater":
            return (left - right - 1,)
        case "greater_equal":
            return (left - right,)
        case "not_equal" if right.known == 0 and (isinstance(comparison.inputs[0], Dim) or not given):
            return (left - 1,)
        case "sum_fits":
            return fits(left + right)
        case "difference_fits":
            return fits(left - right)
        case "product_fits":
            return fits(left * right)
    raise TooHard


def fits(number: Polynomial) -> tuple[Polynomial, Polynomial]:
    return number + FITS, -number + FITS


def bounded(number: Polynomial) -> Polynomial:
    """The polynomial itself, if its value fits into 63 bits whenever no value is too large; raise `TooHard`
    otherwise."""
    counts = [0] * (MOST_FACTORS + 1)
    for factors, count in number.terms.items():
        counts[min(len(factors), MOST_FACTORS)] += abs(count)
    if counts[3] or counts[2] > COEFFICIENTS or counts[1] > COEFFICIENTS_OF_VALUES:
        raise TooHard
    if abs(number.terms.get((), 0)) > 2 * FITS - 2**61:
        raise TooHard
    return number


def total(numbers: Iterable[Polynomial]) -> Polynomial:
    return bounded(sum(numbers, Polynomial()))
