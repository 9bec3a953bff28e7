"""Elements that take long to compute are computed where they are chosen.

A choice, `np.where`, is a select of two elements: LLVM widens it, and both have been computed. What only one of them
needs, if that calls a function that is not vector code, stands in a branch instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field

from numbagraph.intrinsics.emitters import scalar
from numbagraph.intrinsics.emitters.ir import Apply, CheckedIndex, Scalar, walk
from numbagraph.intrinsics.emitters.vecmath.declare import has_formulas
from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct

LONG = 50.0
"""The cost of an operation, in additions, from which on a branch pays. A branch that is mispredicted takes 15 to 20
cycles."""
DEEPEST = 16
"""The depth of nested branches. A choice further inside is computed with the code around it."""

Way = tuple[Scalar, int]
"""A choice, and the number of one of its two elements."""


class Ways(Struct):
    """The scalars that are computed in the branches of choices."""

    inside: frozenset[Scalar] = frozenset()
    """All scalars that are computed in a branch."""
    members: dict[Way, list[Scalar]] = field(default_factory=dict)
    """The scalars of each branch, operands first, without those of branches further inside."""

    def are_of(self, choice: Scalar) -> bool:
        """Whether a choice has a branch."""
        return (choice, 1) in self.members or (choice, 2) in self.members


def is_choice(each: Scalar) -> bool:
    return isinstance(each, Apply) and each.emit is scalar.where


def is_long(each: Scalar) -> bool:
    """Whether a scalar is computed by a call that takes much longer than a branch."""
    if not isinstance(each, Apply) or has_formulas(each.name) or each.name not in registry:
        return False
    return registry[each.name].cost >= LONG


def ways_of(roots: Sequence[Scalar], level: Callable[[Scalar], int]) -> Ways:
    """Find the scalars that only one element of a choice needs, for the choices of which one element is long.

    ``level`` says in which loop a scalar is computed: what the loop of the choice does not change stays before it.
    """
    order = list(walk(roots))
    if not any(map(is_choice, order)) or not any(map(is_long, order)):
        return Ways()
    inside = worth_it(owners_in(order, roots, level))
    members: dict[Way, list[Scalar]] = {}
    for each in order:
        if each in inside:
            members.setdefault(inside[each], []).append(each)
    return Ways(frozenset(inside), members)


def owners_in(order: Sequence[Scalar], roots: Iterable[Scalar], level: Callable[[Scalar], int]) -> dict[Scalar, Way]:
    """The innermost way around all that needs a scalar, where there is one."""
    uses: dict[Scalar, list[Way | None]] = {each: [None] for each in roots}
    owners: dict[Scalar, Way] = {}
    depths: dict[Way | None, int] = {None: 0}
    for each in reversed(order):
        way = common(uses.get(each, [None]), owners, depths)
        if way is not None and may_move(each) and level(each) == level(way[0]):
            owners[each] = way
        else:
            way = None
        opens = is_choice(each) and depths[way] < DEEPEST
        for number, operand in enumerate(each.operands):
            inner = (each, number) if opens and number else way
            depths[inner] = depths[way] + (inner is not way)
            uses.setdefault(operand, []).append(inner)
    return owners


def common(ways: Sequence[Way | None], owners: Mapping[Scalar, Way], depths: Mapping[Way | None, int]) -> Way | None:
    """The innermost way that some ways are, or are in."""
    found, *others = ways
    for other in others:
        while found != other:
            if depths[found] < depths[other]:
                found, other = other, found
            found = owners.get(found[0]) if found is not None else None
    return found


def may_move(each: Scalar) -> bool:
    """Whether a scalar is nothing but a value. A check of an index says that it has failed."""
    return isinstance(each, Apply) and not any(isinstance(operand, CheckedIndex) for operand in each.operands)


def worth_it(inside: dict[Scalar, Way]) -> dict[Scalar, Way]:
    """Keep only the ways in which something long is computed, directly or further inside."""
    wanted: set[Way] = set()
    for each in inside:
        way = inside.get(each) if is_long(each) else None
        while way is not None and way not in wanted:
            wanted.add(way)
            way = inside.get(way[0])
    found: dict[Scalar, Way] = {}
    for each, way in inside.items():
        around: Way | None = way
        while around is not None and around not in wanted:
            around = inside.get(around[0])
        if around is not None:
            found[each] = around
    return found
