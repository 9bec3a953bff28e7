"""Steps and branches with lengths that follow from their own inner loops and branches.

A program knows all of its lengths before it runs. Where one follows from what an inner loop gives (``x[i:j].sum()``,
after a loop has found ``j``), whatever needs it becomes a region: a program of its own, which starts when the number
is known. It is the single branch of a `switch` node.
"""

from __future__ import annotations

from collections.abc import Callable

from numbagraph.ir.graph import Graph, Guard, guard_values
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Draft, close_together
from numbagraph.ir.structs import replace
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import Node, Value, constant
from numbagraph.loops.fusion import everything, extents_of
from numbagraph.loops.lengths import ComputedLengths


def with_the_rest_apart(graph: Graph) -> Graph | None:
    """Outline all values whose shape depends on an inner loop into one region. Return None if there are none, or if an
    output is among them."""
    rest = needing_lengths(graph)
    if not rest or any(map(has_computed_length(), graph.outputs)):
        return None
    outputs = [number for number, each in enumerate(graph.outputs) if each in rest]
    guards = [number for number, each in enumerate(graph.guards) if not rest.isdisjoint(guard_values([each]))]
    has_run = constant(True, dtype=BOOL)
    draft = Draft(
        "rest", [*(graph.outputs[number] for number in outputs), has_run], [graph.guards[number] for number in guards]
    )
    (region,), captures = close_together((), [draft], lambda node: node not in rest)
    first, bind = constant(0, dtype=INT64), registry["switch"].bind
    *results, ran = [bind(first, *captures, branches=(region,), result=number) for number in range(len(region.outputs))]
    replaced = dict(zip(outputs, results, strict=True))
    checked = set(guards)
    return graph.with_outputs(
        [replaced.get(number, each) for number, each in enumerate(graph.outputs)],
        [has_passed(each, ran) if number in checked else each for number, each in enumerate(graph.guards)],
    )


def needing_lengths(graph: Graph) -> set[Value]:
    """The arrays with lengths that inner loops compute, and the values that follow from these arrays."""
    is_late = has_computed_length()
    found: set[Value] = set()
    for value in everything(graph):
        if isinstance(value, Node) and (is_late(value) or not found.isdisjoint(value.inputs)):
            found.add(value)
    return found


def has_computed_length() -> Callable[[Value], bool]:
    """Return a predicate that tells whether an array has a length that an inner loop computes."""
    lengths = ComputedLengths()
    return lambda value: any(map(lengths.is_computed, extents_of(value)))


def has_passed(guard: Guard, ran: Value) -> Guard:
    """The guard that stands for a check which a region makes itself: it holds once the region has run."""
    return replace(guard, condition=ran, arguments=())
