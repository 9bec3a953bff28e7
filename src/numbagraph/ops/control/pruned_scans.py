"""Scans without the parts that none of their used results needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from numbagraph.ir import shapes
from numbagraph.ir.graph import guard_values, substitute
from numbagraph.ir.opaque import below_opaque
from numbagraph.ir.regions import interned, with_lengths
from numbagraph.ir.structs import replace
from numbagraph.ir.values import Input, Node, Value, toposort
from numbagraph.ops.control.loop import Loop, loop_of
from numbagraph.ops.control.scan import reading_less


def narrowed(values: Sequence[Value]) -> list[Value]:
    """Return the values, with scans that carry and stack only what is used of them, also inside their steps.

    A scan gives all of its results from one loop, so that each depends on all operands. One that is linear in some of
    them is not seen to be, if it adds up something else on the way.
    """
    found = list(values)
    done: set[Loop] = set()
    below = below_opaque()
    while True:
        loops: defaultdict[Loop, list[Node]] = defaultdict(list)
        for each in toposort(found):
            if isinstance(each, Node) and each.op.name == "scan":
                loops[as_loop(each)].append(each)
        smaller: dict[Value, Value] = {}
        for loop, nodes in loops.items():
            if loop not in done and below.isdisjoint(nodes):
                done.add(loop)
                smaller = narrower(loop, nodes)
                if smaller:
                    break
        if not smaller:
            return found
        found = list(substitute(found, smaller))


def as_loop(node: Node) -> Loop:
    return loop_of(*node.inputs, **{name: each for name, each in node.attrs.items() if name != "result"})


def narrower(loop: Loop, nodes: Sequence[Node]) -> dict[Value, Value]:
    """Return the results of a loop as those of a smaller loop; nothing if all that it gives and reads is needed."""
    asked = {node: node.attrs["result"] for node in nodes}
    stacked = sorted({each for each in asked.values() if loop.carries <= each < loop.outputs})
    own = {each if each < loop.carries else each - loop.outputs for each in asked.values() if each not in stacked}
    carries = needed_carries(loop, own, stacked)
    while for_lengths := set(carrying_lengths(loop, [*carries, *stacked])) - set(carries):
        carries = needed_carries(loop, for_lengths.union(carries), stacked)
    chosen = (*carries, *stacked)
    kept = [*carries, *range(loop.carries, len(loop.operands))]
    with shapes.collect_guards():  # the loop requires the same
        outputs = tuple(narrowed([loop.body.outputs[each] for each in chosen]))
    inputs = tuple(loop.body.inputs[number] for number in kept)
    body = interned(replace(loop.body, inputs=inputs, outputs=outputs))
    operands = tuple(loop.operands[number] for number in kept)
    smaller = reading_less(replace(loop, operands=operands, body=body, carries=len(carries)))
    if smaller == loop:
        return {}
    places = {number: place for place, number in enumerate(chosen)}
    places |= {loop.outputs + number: smaller.outputs + place for place, number in enumerate(carries)}
    return {node: smaller.result(places[number]) for node, number in asked.items()}


def carrying_lengths(loop: Loop, outputs: Sequence[int]) -> list[int]:
    """Return the carries that some outputs of a loop's step are computed from, or take lengths from."""
    reached = set(toposort([*(loop.body.outputs[each] for each in outputs), *guard_values(loop.body.guards)]))
    used = [number for number, each in enumerate(loop.body.inputs) if each in reached or number in outputs]
    return [number for number in with_lengths(loop.body.inputs, used, reached) if number < loop.carries]


def needed_carries(loop: Loop, own: Collection[int], stacked: Sequence[int]) -> list[int]:
    """Return the carries from which some of the carries, some of the stacked outputs, and the requirements of each step
    follow."""
    positions = {each: number for number, each in enumerate(loop.body.inputs)}
    needed = set(own)
    pending: list[Value] = [loop.body.outputs[each] for each in (*own, *stacked)] + guard_values(loop.body.guards)
    while pending:
        reached = toposort([pending.pop()])
        used = {positions[each] for each in reached if isinstance(each, Input) and each in positions}
        more = {number for number in used if number < loop.carries} - needed
        needed |= more
        pending += [loop.body.outputs[each] for each in more]
    return sorted(needed)
