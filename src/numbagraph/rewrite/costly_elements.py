"""Elements that take long to compute, of which some are read: only these are computed.

``exp(x)[i]`` is ``exp(x[i])`` where there are fewer positions than elements, and ``where(c, exp(x), exp(y))`` is
``exp(where(c, x, y))``. What something else needs as well stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph
from numbagraph.ir.opaque import opaque_values
from numbagraph.ir.values import Node, Value, at_source, toposort
from numbagraph.rewrite import patterns
from numbagraph.rewrite.branching import dependents
from numbagraph.rewrite.facts import same_shape
from numbagraph.rewrite.partial_readers import Elements, LongElements, Reader
from numbagraph.rewrite.selections import Positions, is_plain_elementwise
from numbagraph.rewrite.substitutions import rebuilt

COSTLY = 8.0
"""The cost of an element, in additions, from which it is stored rather than computed at each use."""
FEW = 16
"""The number of positions up to which it does not matter that there may be fewer elements."""


def costly_elements(graph: Graph) -> Graph:
    """The graph with fewer of such elements."""
    return graph.transformed(costly_values)


def costly_values(roots: Sequence[Value], points: Collection[Value] = ()) -> list[Value]:
    """Values with fewer of such elements; with ``points``, of those that depend on these."""
    order = toposort(roots, known=opaque_values())
    readers = [each for each in order if isinstance(each, Node) and reads_elements(each)]
    if not readers:
        return list(roots)
    moving = set(dependents(order, points) if points else order)
    users = users_of(order, roots)
    found: dict[Value, Value] = {}
    with shapes.collect_guards():  # of lengths that have been compared
        for each in readers:
            function = chosen_before if each.op.name == "where" else read_before
            with at_source(each.source):
                value = function(each, users, moving)
            if value is not None:
                found[each] = value
    return rebuilt(roots, found) if found else list(roots)


def reads_elements(node: Node) -> bool:
    """Whether a node chooses among elements that are computed one by one."""
    if node.op.name == "where":
        return all(map(is_costly, node.inputs[1:]))
    return node.op.name == "gather" and is_plain_elementwise(node.inputs[0])


Users = Mapping[Value, set[Value | None]]


def users_of(order: Sequence[Value], roots: Sequence[Value]) -> Users:
    """The users of each value; None stands for a result."""
    users: dict[Value, set[Value | None]] = {each: set() for each in order}
    for each in roots:
        users.setdefault(each, set()).add(None)
    for each in order:
        for source in each.inputs if isinstance(each, Node) else ():
            users.setdefault(source, set()).add(each)
    return users


def read_before(node: Node, users: Users, moving: Collection[Value]) -> Value | None:
    """Return a gather of costly elements by a gather of what they are computed from."""
    ways = chain_below(node, users, moving)
    if sum(each.op.cost for each in ways) < COSTLY:
        return None
    reader = reader_of(node)
    return reader.replacement(ways) if reader is not None else None


def chain_below(node: Node, users: Users, moving: Collection[Value]) -> dict[Node, None]:
    """The values that are computed element by element, for one gather alone."""
    found: dict[Node, None] = {}
    above: set[Value | None] = {node}
    stack = [node.inputs[0]]
    while stack:
        value = stack.pop()
        if value in found or value not in moving or not is_plain_elementwise(value) or not users[value] <= above:
            continue
        assert isinstance(value, Node)
        found[value] = None
        above.add(value)
        stack += value.inputs
    return found


def reader_of(node: Node) -> Reader | None:
    source, *positions = node.inputs
    if len(positions) != 1:
        return None
    axis, (checked,) = node.attrs["axis"], node.attrs["checked"]
    count, extent = (shapes.resolve(each) for each in (shapes.product(positions[0].shape), source.shape[axis]))
    if not isinstance(count, int) or not (count <= FEW or isinstance(extent, int)):
        return LongElements(node, source, 1.0, axis, positions[0], checked)
    if isinstance(extent, int) and extent <= count:
        return None
    return Elements(node, source, 1.0, (Positions(axis, positions[0], checked),))


def chosen_before(node: Node, users: Users, moving: Collection[Value]) -> Value | None:
    """Return a choice between two results of one function as the function of a choice."""
    condition, *sides = node.inputs
    if not any(each in moving for each in sides):
        return None
    if not all(is_costly(each) and users[each] == {node} for each in sides):
        return None
    one, other = (each for each in sides if isinstance(each, Node))
    if one.op is not other.op or one.attributes != other.attributes or not node.ndim:
        return None
    pairs = list(zip(one.inputs, other.inputs, strict=True))
    apart = [pair for pair in pairs if pair[0] is not pair[1]]
    if len(apart) * COSTLY > node.op.cost + one.op.cost or not all(is_alike(*pair, node) for pair in apart):
        return None
    inputs = [left if left is right else patterns.where(condition, left, right) for left, right in pairs]
    return one.op.bind(*inputs, **one.attrs)


def is_costly(value: Value) -> bool:
    return is_plain_elementwise(value) and isinstance(value, Node) and value.op.cost >= COSTLY


def is_alike(left: Value, right: Value, node: Node) -> bool:
    """Whether two operands have all elements that a choice has, of one type."""
    return left.dtype == right.dtype and same_shape(left, node) and same_shape(right, node)
