"""Loop fission: what the steps of a loop stack is computed behind the loop, for all steps in vectors, where the steps
that follow do not need it.

A recurrence is computed one number after the other, whatever its steps compute beside it; a logarithm in each of them
takes six times as long as one in a vector.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, Guard, guard_values, substitute
from numbagraph.ir.opaque import below_opaque
from numbagraph.ir.regions import close, opened, opened_guards
from numbagraph.ir.structs import Struct, cached_property, replace
from numbagraph.ir.values import BatchElement, Constant, Input, Node, Value, at_source, toposort
from numbagraph.ops.control.loop import Loop
from numbagraph.ops.control.operands import may_fail, stand_ins
from numbagraph.ops.control.pruned_scans import as_loop
from numbagraph.ops.control.scan import reading_less
from numbagraph.transforms.batching import batch, spread
from numbagraph.transforms.interpret import call_of

WORTH = 15.0
"""The least cost, in additions, of a computation that moves behind the loop: that of an exponential."""

FEW = 2**17
"""The number of steps for which an array of one number each takes a megabyte."""


def divided_loops(graph: Graph) -> Graph:
    """The graph with such loops, and vectors behind them."""
    return graph.transformed(divided_values)


def divided_values(values: Sequence[Value]) -> list[Value]:
    """Values with such loops divided."""
    values, seen, below = list(values), set[object](), below_opaque()
    while True:
        order = toposort(values)
        calls: dict[object, list[Node]] = {}
        for each in order:
            if isinstance(each, Node) and each.op.name == "scan":
                calls.setdefault(call_of(each), []).append(each)
        left = transformed_again(order) if calls else set()
        found: dict[Value, Value] = {}
        for call, nodes in calls.items():
            if call not in seen and left.isdisjoint(nodes) and below.isdisjoint(nodes):
                seen.add(call)
                found = divided(nodes)
                if found:
                    break
        if not found:
            return values
        values = substitute(values, found)


def transformed_again(order: Sequence[Value]) -> set[Value]:
    """The values that will be batched, so that the steps of a loop are computed in vectors already, and those that are
    differentiated twice, for which fission would store more numbers for each step than it saves."""
    found: set[Value] = set()
    aliased: set[Value] = set()
    for value in order:
        if isinstance(value, BatchElement):
            found.add(value)
        elif isinstance(value, Node):
            inside = not aliased.isdisjoint(value.inputs)
            if not found.isdisjoint(value.inputs) or (inside and value.op.name == "alias"):
                found.add(value)
            if inside or value.op.name == "alias":
                aliased.add(value)
    return found


def divided(nodes: Sequence[Node]) -> dict[Value, Value]:
    """Replacements for the results of a loop; empty if the loop stays as it is."""
    loop = as_loop(nodes[0])
    asked = sorted({each.attrs["result"] for each in nodes})
    stacked = [each for each in asked if loop.carries <= each < loop.outputs]
    numbers = [each for each in range(loop.carries) if is_number(loop.initial[each])] if is_bounded(loop) else []
    if not numbers and not any(is_number(loop.body.outputs[each]) for each in stacked):
        return {}
    points = stand_ins(loop.in_step(), "point")
    whole = Whole(loop, points, opened(loop.body, points), opened_guards(loop.body, points), stacked)
    with at_source(nodes[0].source):
        found = without_stacked(whole) or next(filter(None, (without_carry(whole, each) for each in numbers)), None)
        if found is None:
            return {}
        results: dict[Value, Value] = {node: found.result(node.attrs["result"]) for node in nodes}
    return {} if whole.guards and not found.rest.is_part_of(results.values()) else results


def is_bounded(loop: Loop) -> bool:
    """Whether the terms that steps add to a carry may be stored for all steps: there is an array of as many numbers
    already, or they are few. A product of lengths may be larger than any array."""
    length = shapes.resolve(loop.length)
    if isinstance(length, int):
        return length <= FEW
    if any(not (isinstance(each, Node) and each.op.name == "iota") for each in loop.xs):
        return True
    is_product = any(isinstance(each, Node) and each.op.name == "multiply" for each in toposort([length]))
    return shapes.follows_from_lengths(length) and not is_product


class Whole(Struct, eq=False):
    """A loop that may be divided, and its step in terms of stand-ins for the region's inputs."""

    loop: Loop
    points: list[Input]
    outputs: list[Value]
    guards: Sequence[Guard]
    stacked: Sequence[int]
    """The numbers of the stacked results that are used."""

    @property
    def captures(self) -> list[Input]:
        return self.points[self.loop.carries + self.loop.sequences :]

    @cached_property
    def constant(self) -> set[Value]:
        """The values that are the same in each step and can be computed outside of the steps: a guard of a step may be
        the condition under which arrays have the elements that it reads."""
        found: set[Value] = set(self.captures)
        for each in toposort(self.outputs):
            if isinstance(each, Constant) or (
                isinstance(each, Node)
                and found.issuperset(each.inputs)
                and (may_move(each) or not (self.guards or may_fail(each)))
            ):
                found.add(each)
        return found

    def needed(self, carries: Sequence[int]) -> set[Value]:
        """The values from which some carries, and the guards of each step, are computed."""
        return set(toposort([*(self.outputs[each] for each in carries), *guard_values(self.guards)]))

    def rest(self, carries: Sequence[int], stays: Sequence[int], ends: Iterable[Value]) -> Rest:
        """The loop with the given carries and stacked results, which also stacks ``ends``."""
        loop, points = self.loop, self.points
        more = [each for each in dict.fromkeys(ends) if each not in points]
        parameters = [*(points[each] for each in carries), *points[loop.carries :]]
        kept = [*(self.outputs[each] for each in (*carries, *stays)), *more]
        closed = close(parameters, kept, name=loop.body.name, guards=self.guards)
        operands = (*(loop.operands[each] for each in carries), *loop.operands[loop.carries :], *closed.captures)
        rest = reading_less(replace(loop, operands=operands, body=closed.region, carries=len(carries)))
        places = {number: place for place, number in enumerate((*carries, *stays))}
        places |= {loop.outputs + number: rest.outputs + place for place, number in enumerate(carries)}
        rows = {value: rest.result(len(carries) + len(stays) + place) for place, value in enumerate(more)}
        rows |= {points[number]: rest.before(place) for place, number in enumerate(carries)}
        rows |= dict(zip(points[loop.carries :], loop.xs, strict=False))
        return Rest(rest, places, rows, dict(zip(self.captures, loop.captures, strict=True)))


class Rest(Struct, eq=False):
    """The part of a loop that stays a loop."""

    loop: Loop
    places: dict[int, int]
    """The numbers of its results, by their numbers in the whole loop."""
    rows: dict[Value, Value]
    """The values of some values of a step in all steps, as arrays."""
    fixed: dict[Value, Value]
    """The captures, by the stand-ins for them."""

    def is_part_of(self, values: Iterable[Value]) -> bool:
        """Whether some values are computed from results of this loop, so that the guards of its steps are checked."""
        scans = (each for each in toposort(values) if isinstance(each, Node) and each.op.name == "scan")
        return any(as_loop(each) == self.loop for each in scans)

    def in_vectors(self, value: Value, ends: Sequence[Value]) -> Value:
        """A value of all steps, computed in vectors from the rows of ``ends`` and from captures."""
        if value in self.rows:
            return self.rows[value]
        length = shapes.resolve(self.loop.length)
        (found,) = batch([value], {each: self.rows[each] for each in ends}, length)
        return substitute([spread(found, length)], self.fixed)[0]


class Parts(Struct, eq=False):
    """The results of a loop after its division."""

    rest: Rest
    behind: dict[int, Value]

    def result(self, number: int) -> Value:
        return self.behind[number] if number in self.behind else self.rest.loop.result(self.rest.places[number])


def without_stacked(whole: Whole) -> Parts | None:
    """Divide a loop whose stacked results can be computed behind it; None if there are none."""
    carries = range(whole.loop.carries)
    needed = whole.needed(carries)
    moved = {each: moved_behind(whole.outputs[each], needed, whole.constant) for each in whole.stacked}
    ends = {each: found.ends for each, found in moved.items() if found and (found.cost >= WORTH or not found.ends)}
    if not ends:
        return None
    stays = [each for each in whole.stacked if each not in ends]
    rest = whole.rest(carries, stays, chain.from_iterable(ends.values()))
    return Parts(rest, {each: rest.in_vectors(whole.outputs[each], found) for each, found in ends.items()})


def without_carry(whole: Whole, carry: int) -> Parts | None:
    """The loop without a carry that nothing else in its steps depends on, such as a sum of what they compute: a loop of
    its own goes through the terms in the same order."""
    loop, own = whole.loop, whole.points[carry]
    others = [each for each in range(loop.carries) if each != carry]
    needed = whole.needed(others)
    following = depending(whole.outputs[carry], own)
    if own in needed or not following or not all(map(may_move, following)):
        return None
    read = dict.fromkeys(each for node in following for each in node.inputs)
    read = [each for each in read if each is not own and each not in following and each not in whole.constant]
    results = [each for each in whole.stacked if own in toposort([whole.outputs[each]])]
    moved = {each: moved_behind(each, needed, whole.constant) for each in read}
    later = {each: moved_behind(whole.outputs[each], needed, whole.constant) for each in results}
    if None in (*moved.values(), *later.values()):
        return None
    cost = sum(each.cost for each in moved.values() if each)
    if cost < WORTH or cost < sum(each.op.cost for each in following):  # two recurrences overlap in one loop
        return None
    ends = {each: found.ends for each, found in (moved | later).items() if found}
    stays = [each for each in whole.stacked if each not in later]
    rest = whole.rest(others, stays, [each for each in chain.from_iterable(ends.values()) if each is not own])
    terms = stand_ins([each.type for each in read], "term")
    after = substitute([whole.outputs[carry]], dict(zip(read, terms, strict=True)))
    closed = close([own, *terms, *whole.captures], after, name=loop.body.name)
    rows = [rest.in_vectors(value, ends[value]) for value in read]
    operands = (loop.initial[carry], *rows, *loop.captures, *closed.captures)
    alone = reading_less(replace(loop, operands=operands, body=closed.region, carries=1, sequences=len(terms)))
    rest.rows[own] = alone.before(0)
    behind = {each: rest.in_vectors(whole.outputs[each], ends[each]) for each in results}
    return Parts(rest, {carry: alone.result(0), loop.outputs + carry: alone.before(0), **behind})


def depending(value: Value, source: Value) -> dict[Node, None]:
    """The nodes on the way to a value that depend on another."""
    found: dict[Node, None] = {}
    for each in toposort([value]):
        if isinstance(each, Node) and any(known is source or known in found for known in each.inputs):
            found[each] = None
    return found


def is_number(value: Value) -> bool:
    return not value.ndim and not value.type.weak and value.dtype.kind == "f"


class Moved(Struct, eq=False):
    """A computation that moves behind a loop: the values of a step that it needs, and its cost."""

    ends: list[Value]
    cost: float


def moved_behind(output: Value, needed: Collection[Value], constant: Collection[Value]) -> Moved | None:
    """The computation of a number behind the loop, from values that are ``needed`` by the next steps or that cannot be
    computed there. None if not all of them are numbers."""
    found: dict[Value, None] = {}
    moved: dict[Node, None] = {}
    stack = [output]
    while stack:
        value = stack.pop()
        if value in moved or value in found or value in constant:
            continue
        if isinstance(value, Node) and value not in needed and may_move(value):
            moved[value] = None
            stack += value.inputs
        else:
            found[value] = None
    if not all(map(is_number, [output, *found])):
        return None
    return Moved(list(found), sum(each.op.cost for each in moved))


def may_move(node: Node) -> bool:
    is_computed = not node.ndim and not node.type.weak and node.dtype.kind in "fb"
    return node.op.kind == "elementwise" and is_computed and not may_fail(node)
