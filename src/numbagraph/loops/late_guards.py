"""Guards on values that loop nests, calls, loops and branches compute: the program checks them as soon as these values
are known, rather than at entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from graphlib import TopologicalSorter
from itertools import pairwise

from numbagraph.ir.graph import Graph
from numbagraph.ir.values import Node, Value
from numbagraph.loops.fusion import everything, is_barrier


def late_conditions(graph: Graph) -> dict[Value, None]:
    """The conditions of those guards, in the order in which they were required."""
    if not graph.guards:
        return {}
    late: set[Value] = set()
    for value in everything(graph):
        if is_barrier(value) or (isinstance(value, Node) and not late.isdisjoint(value.inputs)):
            late.add(value)
    return dict.fromkeys(guard.condition for guard in graph.guards if guard.condition in late)


def after_checks(
    needed: Mapping[int, set[int]], checks: Sequence[int], barriers: AbstractSet[int], failing: AbstractSet[int]
) -> dict[int, set[int]]:
    """The actions that each action needs, with checks added, so that a required bound on a position is not checked
    again where an element is read.

    An action follows a check if both follow from the same loop nest or call, unless that check, or an earlier one,
    follows from the action. So no two of them wait for each other. Checks follow each other in their order, and what is
    ``failing``, a loop or a branch that may raise errors itself, follows all checks that it may.
    """
    result = {number: set(each) for number, each in needed.items()}
    if not checks:
        return result
    first: dict[int, int] = {}
    for place, check in enumerate(checks):
        stack = [check]
        while stack:
            number = stack.pop()
            if number not in first:
                first[number] = place
                stack += needed[number]
    sources: dict[int, set[int]] = {}
    for number in TopologicalSorter(needed).static_order():
        sources[number] = {source for each in needed[number] for source in sources[each] | ({each} & barriers)}
    for number, found in result.items():
        earlier = checks[: first.get(number, len(checks))]
        found.update(each for each in earlier if number in failing or sources[number] & sources[each])
    for one, following in pairwise(checks):
        result[following].add(one)
    return result
