"""The choice of steps of loops that leave a record where they fail (`Tables.record`), for
`numbagraph.runtime.failures`."""

from __future__ import annotations

from collections.abc import Iterator

from numbagraph.ir.graph import Graph, guard_values
from numbagraph.ir.values import Node, Value, toposort
from numbagraph.loops.buffers import fails_late
from numbagraph.loops.control_steps import Region
from numbagraph.loops.early_exits import region_fails
from numbagraph.ops.control.operands import may_fail


def leaves_record(region: Region) -> bool:
    """Whether the operands of a step are intact when it fails, as far as they decide whether and how it fails: an array
    that the loop updates in place may have been overwritten by then."""
    if not region_fails(region):
        return False
    overwritten = {region.graph.inputs[leaf.leaf] for leaf, _ in region.program.donations if leaf.leaf is not None}
    return not fails_late(region.program) or overwritten.isdisjoint(toposort(decisive(region.graph)))


def decisive(graph: Graph) -> Iterator[Value]:
    """The values that decide whether and how a region fails."""
    yield from guard_values(graph.guards)
    for value in graph.order:
        if isinstance(value, Node) and may_fail(value):
            positions = [value.inputs[number] for number, _ in value.op.bounds(value)]
            yield from positions or value.inputs
