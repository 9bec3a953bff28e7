"""Scans without what some of their results do not need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from numbagraph.ir.graph import substitute
from numbagraph.ir.regions import interned
from numbagraph.ir.structs import replace
from numbagraph.ir.values import Input, Node, Value, toposort
from numbagraph.ops.control.scan import Loop, loop_of, reading_less


def narrowed(values: Sequence[Value]) -> list[Value]:
    """The same values, where scans carry only what is asked of them.

    A scan gives all of its results from one loop, so that each depends on all operands. One that is linear in some of
    them is not seen to be, if it adds up something else on the way.
    """
    found = list(values)
    while True:
        loops: defaultdict[Loop, list[Node]] = defaultdict(list)
        for each in toposort(found):
            if isinstance(each, Node) and each.op.name == "scan":
                loops[as_loop(each)].append(each)
        smaller: dict[Value, Value] = {}
        for loop, nodes in loops.items():
            smaller = with_carries(loop, nodes)
            if smaller:
                break
        if not smaller:
            return found
        found = list(substitute(found, smaller))


def as_loop(node: Node) -> Loop:
    return loop_of(*node.inputs, **{name: each for name, each in node.attrs.items() if name != "result"})


def with_carries(loop: Loop, nodes: Sequence[Node]) -> dict[Value, Value]:
    """The results of a loop as those of a smaller one; nothing, if there is none."""
    asked = {node: node.attrs["result"] for node in nodes}
    stacked = sorted({each for each in asked.values() if loop.carries <= each < loop.outputs})
    own = {each if each < loop.carries else each - loop.outputs for each in asked.values() if each not in stacked}
    carries = needed_carries(loop, own, stacked)
    if len(carries) == loop.carries or loop.body.guards:
        return {}
    chosen = (*carries, *stacked)
    kept = [*carries, *range(loop.carries, len(loop.operands))]
    inputs = tuple(loop.body.inputs[number] for number in kept)
    body = interned(replace(loop.body, inputs=inputs, outputs=tuple(loop.body.outputs[each] for each in chosen)))
    operands = tuple(loop.operands[number] for number in kept)
    smaller = reading_less(replace(loop, operands=operands, body=body, carries=len(carries)))
    places = {number: place for place, number in enumerate(chosen)}
    places |= {loop.outputs + number: smaller.outputs + place for place, number in enumerate(carries)}
    return {node: smaller.result(places[number]) for node, number in asked.items()}


def needed_carries(loop: Loop, own: Collection[int], stacked: Sequence[int]) -> list[int]:
    """The carries that some of the carries, and some of what is stacked, follow from."""
    positions = {each: number for number, each in enumerate(loop.body.inputs)}
    needed, pending = set(own), [*own, *stacked]
    while pending:
        reached = toposort([loop.body.outputs[pending.pop()]])
        used = {positions[each] for each in reached if isinstance(each, Input) and each in positions}
        more = {number for number in used if number < loop.carries} - needed
        needed |= more
        pending += more
    return sorted(needed)
