"""Loops in two versions: one without the checks that hold in all steps if they do in the first and in the last, and one
with them, for calls in which some will fail.

The conditions that a body requires of an index are mostly linear in the number of the step, and so are the conditions
for the loops around it: these are found by elimination of the numbers of steps, from the innermost loop outwards. They
are checked once, before the outermost loop (loop versioning, as compilers of array languages have it).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, guard_values, with_guard_values
from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Constant, Dim, Extent, Node, Value, at_source, extent_values, toposort
from numbagraph.loops.elimination import SHORT, Place, Steps, Taken, WhileSteps, trips_of
from numbagraph.loops.implications import (
    Implication,
    TooHard,
    bounded,
    without_implied,
)
from numbagraph.loops.own_positions import is_own
from numbagraph.loops.polynomials import Polynomial, as_polynomial, polynomial

MOST = 256
"""The number of conditions beyond which a loop keeps its checks."""


class Versions(Struct):
    """The body of a loop without checks, and the conditions under which it may run."""

    body: Graph
    needed: tuple[Implication, ...]
    trips: Polynomial
    """The number of steps."""


def versions(node: Node, around: Unchecked | None = None) -> Versions | None:
    """The version of a loop (`scan`) without those checks that can be made before it, if there are any."""
    try:
        steps = Steps(node)
    except TooHard:
        return None
    found = Unchecked(steps, around)
    fast = found.region(node.attrs["body"])
    if found.misses:  # once more: in branches goes what is known otherwise, also from what was asked behind them
        fast = found.region(node.attrs["body"])
    if fast is None or len(found.needed) > MOST:
        return None
    return Versions(fast, without_implied(each for each in found.needed if not each.holds), steps.trips)


class Unchecked:
    """A rewrite of a loop's body that leaves out checks, with the conditions that must hold before the loop for
    that."""

    def __init__(self, steps: Place, around: Unchecked | None = None) -> None:
        self.steps = steps
        self.around = around
        """The rewrite of the loop or the branch around this one."""
        self.needed: dict[Implication, None] = {}
        self.inner: dict[object, Graph | None] = {}
        """The bodies of inner loops, by a key that all results of one loop have in common."""
        self.regions: dict[object, Graph | tuple[Graph, ...] | None] = {}
        """The rewritten regions of loops and branches in this pass, by a key that all results of one node have in
        common."""
        self.changes = False
        self.misses = False
        """Whether a branch could not use a fact because it was not known."""

    def is_needed(self, before: Iterable[Implication]) -> bool:
        """Whether conditions can be checked before the loop; if so, they are recorded as needed."""
        try:
            self.needed |= dict.fromkeys(before)
        except TooHard:
            return False
        return True

    def is_known(self, conditions: Iterable[Implication]) -> bool:
        """Whether conditions in the body follow from those that are checked before the loop."""
        try:
            found = dict.fromkeys(self.steps.before(conditions))
        except TooHard:
            return False
        rest = [each for each in found if not each.is_true and not any(map(each.follows_from, self.needed))]
        if rest and (self.around is None or not self.around.is_known(rest)):
            self.misses = True
            return False
        self.needed |= found  # of numbers that are too large
        return True

    def region(self, region: Graph) -> Graph | None:
        """The region without the checks that can be made before it, if there are any."""
        self.regions.clear()
        kept = [guard for guard in region.guards if not self.is_needed(self.steps.condition(guard.condition))]
        with shapes.collect_guards():
            results = self.rebuilt([*region.outputs, *guard_values(kept)])
        if not self.changes and len(kept) == len(region.guards):
            return None
        count = len(region.outputs)
        return region.with_outputs(results[:count], with_guard_values(kept, results[count:]))

    def rebuilt(self, roots: Sequence[Value]) -> list[Value]:
        mapped: dict[Value, Value] = {}
        for value in toposort(roots):
            mapped[value] = value
            if isinstance(value, Node):
                inputs = [mapped[each] for each in value.inputs]
                attrs = self.attributes(value, inputs)
                if attrs is not None or any(one is not two for one, two in zip(inputs, value.inputs, strict=True)):
                    self.changes = True
                    with at_source(value.source):
                        mapped[value] = value.op.bind(*inputs, **(value.attrs if attrs is None else attrs))
        return [mapped[each] for each in roots]

    def attributes(self, node: Node, inputs: list[Value]) -> dict[str, Any] | None:
        """New attributes for a node, or None; new inputs are put into ``inputs``."""
        if node.op.name in ("scan", "while_loop", "switch"):
            if node.op.name == "scan":
                inputs[0] = self.shortened(node, inputs[0])
            name = "branches" if node.op.name == "switch" else "body"
            key = (node.inputs, node.attrs[name], node.attrs.get("reverse"))
            if key not in self.regions:
                self.regions[key] = self.other_regions(node)
            found = self.regions[key]
            return None if found is None else {**node.attrs, name: found}
        if "checked" in node.attrs:
            return self.access(node, inputs)
        return None

    def other_regions(self, node: Node) -> Graph | tuple[Graph, ...] | None:
        """The rewritten regions of a loop or a branch; None if they stay as they are."""
        if node.op.name == "scan":
            return self.loop(node)
        if node.op.name == "while_loop":
            return without_checks_of_while(node, self)
        branches = [Within(Taken(node, number), self).region(each) for number, each in branches_of(node)]
        if all(each is None for each in branches):
            return None
        return tuple(each or old for each, old in zip(branches, node.attrs["branches"], strict=True))

    def loop(self, node: Node) -> Graph | None:
        """The body of a loop without the checks that can be made before this one, if there are any."""
        key = (node.inputs, node.attrs["body"], node.attrs["reverse"])
        if key not in self.inner:
            own = versions(node, self)
            if own is not None and self.is_needed(self.steps.before(own.needed)):
                self.inner[key] = own.body
            else:
                self.inner[key] = self.part_of_loop(node)
        return self.inner[key]

    def shortened(self, node: Node, length: Value) -> Value:
        """The number of steps of an inner loop, with a bound if that bound can be checked before this loop."""
        if isinstance(length, Constant) or len(node.attrs["body"].outputs) > node.attrs["carries"]:
            return length  # of what is stacked it is the length
        try:
            trips = trips_of(length)
            inside = Implication((), as_polynomial(SHORT) - trips, bounded(trips.magnitude))
            is_short = self.is_needed(self.steps.before([inside])) or self.asks_in_any_case(inside)
        except TooHard:
            return length
        return registry["minimum"](shapes.as_value(length), SHORT) if is_short else length

    def asks_in_any_case(self, condition: Implication) -> bool:
        """Whether a condition on lengths can be checked before the loop, wherever in the body it matters."""
        before = [replace(each, premises=()) for each in self.steps.before([condition])]
        if not all(isinstance(value, Dim) for each in before for value in each.goal.values()):
            return False
        return self.is_needed(before) or (self.around is not None and all(map(self.around.asks_in_any_case, before)))

    def part_of_loop(self, node: Node) -> Graph | None:
        """The body of an inner loop without those single checks that can be made before this loop, if there are any;
        the inner loop keeps the others."""
        with suppress(TooHard):
            return Inside(Steps(node), self).region(node.attrs["body"])
        return None

    def access(self, node: Node, inputs: list[Value]) -> dict[str, Any] | None:
        """An access to elements without checks of positions, as far as these are known to lie inside."""
        checked = node.attrs["checked"]
        before = checked if isinstance(checked, tuple) else (checked,)
        flags = list(before)
        places = [number for number, flag in enumerate(flags) if flag]
        for place, (number, extent) in zip(places, node.op.bounds(node), strict=True):
            position = node.inputs[number]
            if position.ndim:
                if self.are_inside(position, extent):
                    flags[place], inputs[number] = False, counted_from_left(inputs[number], extent)
                continue
            if position.dtype != INT64:
                continue
            here, length = polynomial(position), polynomial(shapes.as_value(extent))
            inside = (Implication((), each) for each in (here + length, length - here - 1))
            if not self.is_needed(self.steps.before(inside)):
                continue
            flags[place] = False
            if not self.is_positive(here):
                inputs[number] = counted_from_left(inputs[number], extent)
        if flags == list(before):
            return None
        return {**node.attrs, "checked": tuple(flags) if isinstance(checked, tuple) else flags[0]}

    def are_inside(self, positions: Value, extent: Extent) -> bool:
        """Whether it can be checked before the loop that positions, the same in all steps, lie inside. They must be in
        memory that no other thread changes meanwhile."""
        origin = self.origin(positions)
        if origin is None or not is_own(origin):
            return False
        length = shapes.as_value(extent)
        some = [registry["greater_equal"](positions, registry["negative"](length)), registry["less"](positions, length)]
        return self.is_needed(self.steps.condition(registry["all"](registry["logical_and"](*some))))

    def origin(self, value: Value) -> Value | None:
        """What a value is in all steps, in terms of the graph around the outermost loop; None if it changes."""
        outer = self.steps.same_value(value)
        return outer if outer is None or self.around is None else self.around.origin(outer)

    def is_positive(self, position: Polynomial) -> bool:
        """Whether a position is counted from the left in all steps, as far as can be seen; that is then required."""
        needed = list(self.steps.before([Implication((), position)]))
        return all(count >= 0 for each in needed for count in each.goal.terms.values()) and self.is_needed(needed)


def counted_from_left(position: Value, extent: Extent) -> Value:
    if position.dtype.kind == "u":
        return position
    wrapped = registry["add"](position, shapes.as_value(extent))
    return registry["where"](registry["less"](position, 0), wrapped, position)


class Inside(Unchecked):
    """The rewrite of an inner loop of which not all checks can be made before the loop around it. The conditions of
    those that can are added to the conditions of the loop around."""

    def is_needed(self, before: Iterable[Implication]) -> bool:
        assert self.around is not None
        return self.around.is_needed(self.around.steps.before(before))

    def is_known(self, conditions: Iterable[Implication]) -> bool:
        assert self.around is not None
        return self.around.is_known(self.steps.before(conditions))

    def loop(self, node: Node) -> Graph | None:
        return self.part_of_loop(node)


class Within(Unchecked):
    """The rewrite of a branch inside a loop's body, and of loops in that branch. A branch may not be taken, and then
    its requirements need not hold. So it adds no condition, and uses only those that are checked anyway."""

    def is_needed(self, before: Iterable[Implication]) -> bool:
        assert self.around is not None
        return self.around.is_known(before)

    def is_known(self, conditions: Iterable[Implication]) -> bool:
        return self.is_needed(self.steps.before(conditions))

    def loop(self, node: Node) -> Graph | None:
        """The body of an inner loop without the checks that are known to hold in all of its steps; it makes the others
        by itself."""
        with suppress(TooHard):
            return Within(Steps(node), self).region(node.attrs["body"])
        return None

    def is_positive(self, position: Polynomial) -> bool:
        return self.is_needed(self.steps.before([Implication((), position)]))


class InWhileLoop(Within):
    """The rewrite of a loop that ends on a condition. It uses only the facts that follow from its condition and its
    counters."""

    def is_needed(self, before: Iterable[Implication]) -> bool:
        try:
            return all(each.is_true and (each.is_small or self.is_known_outside(each)) for each in before)
        except TooHard:
            return False

    def is_known_outside(self, condition: Implication) -> bool:
        return self.around is not None and self.around.is_known(
            [replace(condition, premises=(), goal=as_polynomial(0))]
        )


def without_checks_of_while(node: Node, around: Unchecked | None = None) -> Graph | None:
    """The body of a loop that ends on a condition (`while_loop`) without checks that cannot fail, if there are any."""
    with suppress(TooHard):
        return InWhileLoop(WhileSteps(node), around).region(node.attrs["body"])
    return None


def with_checks_that_may_fail(values: Sequence[Value]) -> list[Value]:
    """Return values in which the loops that end on a condition have no checks that cannot fail."""
    mapped: dict[Value, Value] = {}
    bodies: dict[object, Graph | None] = {}
    for value in toposort(values):
        mapped[value] = value
        if not isinstance(value, Node):
            continue
        inputs, attrs = [mapped[each] for each in value.inputs], value.attrs
        if value.op.name == "while_loop":
            key = (value.inputs, attrs["body"])
            if key not in bodies:
                bodies[key] = without_checks_of_while(value)
            attrs = {**attrs, "body": bodies[key] or attrs["body"]}
        if attrs is not value.attrs or any(one is not two for one, two in zip(inputs, value.inputs, strict=True)):
            with at_source(value.source):
                mapped[value] = value.op.bind(*inputs, **attrs)
    return [mapped[each] for each in values]


def branches_of(node: Node) -> Iterable[tuple[int, Graph]]:
    return enumerate(node.attrs["branches"])


def leaves_of(node: Node) -> list[Value]:
    """All values that the numbers of a node's enclosing graph are made of, in the order of their computation."""
    order = toposort(node.inputs)
    return list(dict.fromkeys(each for value in order for each in (value, *extent_values(value.type))))
