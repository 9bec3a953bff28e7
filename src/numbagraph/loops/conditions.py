"""The condition under which a loop runs without checks, as a value of the graph around it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from numbagraph.ir.op import registry
from numbagraph.ir.structs import replace
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Dim, Value, constant
from numbagraph.loops.implications import LARGEST, LARGEST_FACTOR, Implication, truth, without_implied
from numbagraph.loops.polynomials import Polynomial
from numbagraph.loops.versions import Versions


def condition_of(found: Versions, order: Sequence[Value]) -> Value:
    """Return a value that is true if all conditions of ``found`` hold and no number is too large for their computation.
    The factors of products are sorted by ``order``, so that the code is the same in each process.

    A loop without steps may run in either version: so conditions that matter only if there is a step are checked in any
    case.
    """
    position = {value: number for number, value in enumerate(order)}
    needed = without_implied(
        replace(each, premises=tuple(premise for premise in each.premises if premise != found.trips))
        for each in found.needed
    )
    polynomials = [number for each in needed for number in (*each.premises, each.goal, each.magnitude)]
    factors = {value for each in polynomials for term in each.terms if len(term) > 1 for value in term}
    values = dict.fromkeys(value for each in polynomials for value in each.values() if value.dtype == INT64)
    goals = [each.goal for each in needed if not each.premises and truth(each.goal) is None]
    above, below = set(ends(goals, 1)) - factors, set(ends(goals, -1)) - factors
    more: list[Value] = []
    for first, last in ranges(found.trips):
        if first in above and last in below and is_asked(first, goals):
            below.add(first)
            above.add(last)
            more.append(last)
    parts = [failing(each, position) for each in needed if truth(each.goal) is None]
    parts += more
    for value in sorted(values, key=lambda each: position.get(each, len(position))):
        largest = constant(LARGEST_FACTOR if value in factors else LARGEST, dtype=INT64)
        if value not in below:
            parts.append(registry["subtract"](largest, value))
        if value not in above and not isinstance(value, Dim):
            parts.append(registry["add"](value, largest))
    whole = registry["greater_equal"](joined("bitwise_or", [constant(0, dtype=INT64), *parts]), 0)
    return joined("logical_and", [whole, *(given(each, position) for each in needed if truth(each.goal) is not None)])


def joined(name: str, parts: Iterable[Value]) -> Value:
    first, *others = dict.fromkeys(parts)
    for each in others:
        first = registry[name](first, each)
    return first


def ends(goals: Iterable[Polynomial], sign: int) -> Iterable[Value]:
    """Values that are not too small (``sign`` 1), or not too large (-1), if goals are not negative.

    Such a goal is the value, or a length less the value and 0 or 1; a length may be added to the value. Modulo 2**64 it
    is negative wherever it is, whatever the value is.
    """
    for goal in goals:
        terms = {factors[0]: count for factors, count in goal.terms.items() if len(factors) == 1}
        values = [each for each in terms if not isinstance(each, Dim)]
        lengths = [count for each, count in terms.items() if isinstance(each, Dim)]
        rest = goal.terms.get((), 0)
        is_sum = len(terms) + bool(rest) == len(goal.terms) and len(values) == 1 and lengths in ([], [1])
        if is_sum and terms[values[0]] == sign and (rest == 0 or rest == sign == -1):
            yield values[0]


def ranges(trips: Polynomial) -> Iterable[tuple[Value, Value]]:
    """The first number and the end of a range, of which a loop has the steps."""
    ordered = sorted(trips.terms.items(), key=lambda each: each[1])
    if [(len(factors), count) for factors, count in ordered] == [(1, -1), (1, 1)]:
        yield ordered[0][0][0], ordered[1][0][0]


def is_asked(value: Value, goals: Iterable[Polynomial]) -> bool:
    """Whether one of the goals is that a value is not negative."""
    return Polynomial({(value,): 1}) in goals


def failing(needed: Implication, position: Mapping[Value, int]) -> Value:
    """A number that is negative where something needed does not hold: LLVM takes long to look at many conditions that
    are joined, but not to look at numbers."""
    opposites = [registry["negative"](each.value(position)) for each in dict.fromkeys(needed.premises)]
    return joined("bitwise_and", [needed.goal.value(position), *opposites])


def given(needed: Implication, position: Mapping[Value, int]) -> Value:
    """Whether a condition is true, or a premise is not."""
    found = truth(needed.goal)
    assert found is not None
    missing = (registry["less_equal"](each.value(position), 0) for each in dict.fromkeys(needed.premises))
    return joined("logical_or", [found, *missing])
