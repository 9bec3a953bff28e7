"""A choice between two numbers that take long to compute is a branch: only the one that is chosen is computed.

NumPy computes both operands of ``where(condition, x, y)``. The difference is not visible for values that nothing else
needs and that raise no error, so they move into a branch. A value that may fail stays where it is, and so does one that
something else reads. Elements of arrays are chosen one by one, in the loop that computes them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from numbagraph.blockwise import lowering
from numbagraph.blockwise.promotion import convert
from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, substitute
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Draft, close_together, late_lengths, regions_of
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import Constant, Extent, Node, Value, at_source, extent_values, toposort
from numbagraph.ops.control.operands import may_fail
from numbagraph.rewrite.engine import is_length

WORTH = 1000.0
"""The cost of an operand, in additions, from which a branch is worth it: a hundred exponentials cost that."""
LENGTH = 100.0
"""The length that is assumed for a length that is not known, and the number of steps that is assumed for a loop."""
REPEATED = 8.0
"""The cost of an element up to which a branch computes it again, rather than read it from memory."""

Uses = dict[Value, list[tuple[Value | None, int]]]
"""The users of each value: nodes, or None, and the position of the operand."""
Way = tuple[Value, int]
"""The condition of choices, and the number of one of their operands."""


def branching_choices(graph: Graph) -> Graph:
    """The graph with a branch in place of each choice of a number whose operands are expensive."""
    return graph.transformed(branching_values)


def branching_values(values: Sequence[Value], points: Collection[Value] | None = None) -> list[Value]:
    """Values with a branch in place of each choice of a number whose operands are expensive. With ``points``, only
    values that depend on these move into a branch: code around may need the rest."""
    values = list(values)
    while (found := branches_in(toposort(values), values, points)) is not None:
        values = substitute(values, found)
    return values


def branches_in(
    order: Sequence[Value], roots: Sequence[Value], points: Collection[Value] | None
) -> Mapping[Value, Value] | None:
    """Replacements for the choices by one condition, the last one in order whose operands are worth a branch."""
    if not any(isinstance(each, Node) and (each.ndim or each.op.kind == "control") for each in order):
        return None
    choices: dict[Value, list[Node]] = defaultdict(list)
    for value in order:
        if isinstance(value, Node) and value.op.name == "where" and is_choice(value):
            choices[value.inputs[0]].append(value)
    if not choices:
        return None
    uses = uses_in(order, roots)
    if points is not None:
        order = dependents(order, points)
    for condition in conditions_worth_it(order, uses):
        nodes = independent(choices[condition])
        moved = [of_operand(nodes, number, order, uses) for number in (1, 2)]
        if max(sum(map(cost_of, each)) for each in moved) >= WORTH:
            return branches(nodes, moved)
    return None


def conditions_worth_it(order: Sequence[Value], uses: Uses) -> list[Value]:
    """The conditions of choices that may be worth a branch, found in one walk, as there may be thousands of choices."""
    owners: dict[Value, Way | None] = {}
    costs: dict[Way, float] = defaultdict(float)
    for value in reversed(order):
        ways = {owner_of(by, place, owners) for by, place in uses[value]}
        way = ways.pop() if len(ways) == 1 else None
        if way is not None and isinstance(value, Node) and may_move(value):
            owners[value] = way
            costs[way] += cost_of(value)
    return list(dict.fromkeys(condition for (condition, _), cost in costs.items() if cost >= WORTH))


def owner_of(by: Value | None, place: int, owners: Mapping[Value, Way | None]) -> Way | None:
    """The condition and the operand of the choice that a use of a value is for."""
    if isinstance(by, Node) and is_choice(by) and place:
        return by.inputs[0], place
    return None if by is None else owners.get(by)


def dependents(order: Sequence[Value], points: Collection[Value]) -> list[Value]:
    """The values, in their order, that are among ``points`` or computed from them."""
    found = set(points)
    for value in order:
        if isinstance(value, Node) and not found.isdisjoint(value.inputs):
            found.add(value)
    return [each for each in order if each in found]


def is_choice(node: Node) -> bool:
    """Whether a node chooses one of two numbers."""
    is_number = node.op.name == "where" and not node.ndim and not is_length(node)
    return is_number and (not node.type.weak or all(each.type.weak for each in node.inputs[1:]))


def independent(nodes: Sequence[Node]) -> list[Node]:
    """The nodes, in order, that depend on none of the others."""
    found: list[Node] = []
    for node in nodes:
        stack, seen = list(node.inputs), set[Value]()
        while stack:
            each = stack.pop()
            if each not in seen:
                seen.add(each)
                stack += each.inputs if isinstance(each, Node) else ()
        if seen.isdisjoint(nodes):
            found.append(node)
    return found


def uses_in(order: Sequence[Value], roots: Sequence[Value]) -> Uses:
    """The uses of each value: the node, and the position of the operand. Results, and lengths of other values, have
    uses by None."""
    uses: Uses = defaultdict(list)
    for each in roots:
        uses[each].append((None, 0))
    for value in order:
        for extent in extent_values(value.type):
            uses[extent].append((None, 0))
        if isinstance(value, Node):
            for number, each in enumerate(value.inputs):
                uses[each].append((value, number))
    return uses


def of_operand(nodes: Collection[Node], number: int, order: Sequence[Value], uses: Uses) -> set[Node]:
    """The nodes that only one operand of the choices needs, and that may be left out where it is not chosen."""
    found: set[Node] = set()
    for value in reversed(order):
        is_free = all(by in found or (by in nodes and place == number) for by, place in uses[value])
        if is_free and isinstance(value, Node) and may_move(value):
            found.add(value)
    return found


def may_move(node: Node) -> bool:
    """Whether a value may be computed in a branch alone. Lengths are known around the branch, so they may not."""
    return is_harmless(node) and not is_length(node) and not late_lengths([node, *node.inputs])


def is_harmless(node: Node) -> bool:
    """Whether it makes no visible difference if a value is not computed."""
    if node.op.kind == "control":
        regions = regions_of(node)
        nodes = [each for region in regions for each in region.order if isinstance(each, Node)]
        return not any(region.guards for region in regions) and all(map(is_harmless, nodes))
    if node.op.kind == "effect" or node.op.name == "alias":
        return False
    return node.op.kind == "product" or not may_fail(node)


def cost_of(node: Node) -> float:
    """The cost of a value, in additions. Numbers count as free beside arrays."""
    if node.op.kind == "control":
        inner = [each for region in regions_of(node) for each in region.order if isinstance(each, Node)]
        return steps_of(node) * sum(cost_of(each) or each.op.cost for each in inner)
    if node.op.kind == "product":
        return elements(node.inputs[0].shape) * elements(node.inputs[1].shape[-1:])
    extents = max((each.shape for each in (node, *node.inputs)), key=elements)
    return node.op.cost * elements(extents) if extents else 0.0


def steps_of(node: Node) -> float:
    """A rough number of times that a loop or a branch runs its regions."""
    if node.op.name == "switch":
        return 1.0
    length = node.inputs[0]
    return float(length.data) if node.op.name == "scan" and isinstance(length, Constant) else LENGTH


def elements(extents: Sequence[Extent | float]) -> float:
    """A rough number of elements of a shape."""
    count = 1.0
    for extent in extents:
        length = shapes.resolve(extent) if isinstance(extent, Value) else extent
        count *= LENGTH if isinstance(length, Value) else length
    return count


def branches(nodes: Sequence[Node], moved: Sequence[Collection[Node]]) -> dict[Value, Value]:
    """The results of a branch in place of choices with one condition."""
    inside = frozenset[Value]().union(*moved)
    weights: dict[Value, float] = {}

    def is_passed(node: Node) -> bool:
        return node not in inside and not is_repeated(node, weights)

    drafts = [
        Draft(name, [of_type(node, node.inputs[number]) for node in nodes])
        for name, number in (("otherwise", 2), ("chosen", 1))
    ]
    with at_source(nodes[0].source):
        regions, captures = close_together((), drafts, is_passed)
        index = convert(without_casts(nodes[0].inputs[0]), INT64)
        bind = registry["switch"].bind
        return {node: bind(index, *captures, branches=regions, result=number) for number, node in enumerate(nodes)}


def without_casts(condition: Value) -> Value:
    """A truth value without conversions between those of Python and of NumPy, so that equal conditions are one
    value."""
    while isinstance(condition, Node) and condition.op.name == "cast" and condition.inputs[0].dtype == BOOL:
        (condition,) = condition.inputs
    return condition


def is_repeated(node: Node, weights: dict[Value, float]) -> bool:
    """Whether a branch computes again what is around it: lengths, since types refer to them, and elements that need no
    memory and are cheap."""
    if is_length(node):
        return not any(each.ndim or (isinstance(each, Node) and each.op.kind == "control") for each in toposort([node]))
    return bool(node.ndim) and weight(node, weights) < REPEATED


def weight(value: Value, weights: dict[Value, float]) -> float:
    """The cost of an element, were all below it that is not passed computed anew."""
    for each in toposort([value], known=weights):
        weights[each] = 0.0
        if isinstance(each, Node) and each.ndim:
            is_free = lowering.is_computed_at_use(each.op.lower) and may_move(each)
            below = (weights[source] for source in set(each.inputs) if weights[source] < REPEATED)
            weights[each] = each.op.cost + sum(below) if is_free else float("inf")
    return weights[value]


def of_type(node: Node, value: Value) -> Value:
    """An operand of a choice in the type of its result."""
    return value if value.type.weak == node.type.weak else convert(value, node.dtype)
