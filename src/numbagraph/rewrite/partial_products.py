"""Products of matrices of which parts are read: only these parts are computed.

``(a @ b)[0]`` is ``a[0] @ b``, ``sum(a @ b, 0)`` is ``sum(a, 0) @ b``, a diagonal is a sum of elementwise products, and
``a @ b @ v`` is ``a @ (b @ v)``. A product moves into its readers where nothing needs all of it, and where its parts
together cost no more than it does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph
from numbagraph.ir.opaque import opaque_values
from numbagraph.ir.values import Node, Value, at_source, toposort
from numbagraph.rewrite.branching import dependents
from numbagraph.rewrite.facts import is_op
from numbagraph.rewrite.partial_readers import Reader, is_scaling, reader_of
from numbagraph.rewrite.selections import VIEWS, is_plain_elementwise
from numbagraph.rewrite.substitutions import rebuilt

MOST_ROUNDS = 16
"""The greatest number of times that products move: each time those do that the time before has brought to readers."""
FARTHEST = 24
"""The greatest number of values between a product and what reads a part of it."""


def partial_products(graph: Graph) -> Graph:
    """The graph with parts of products in place of products of which parts are read."""
    return graph.transformed(lambda roots: partial_values(roots, stabilise=graph.stabilised))


def partial_values(roots: Sequence[Value], points: Collection[Value] = (), *, stabilise: bool = True) -> list[Value]:
    """Values, with parts of products in place of products of which parts are read; with ``points``, only of products
    that depend on these."""
    values, whole = list(roots), set[Value]()
    for _ in range(MOST_ROUNDS):
        order = toposort(values, known=opaque_values())
        if not any(is_op(each, "matmul") for each in order):
            break
        others = set(order).difference(dependents(order, points)) if points else ()
        demand = Demand(order, values, [*whole, *others], stabilise)
        if not demand.readers:
            break
        after = rebuilt(values, demand.replacements())
        left = demand.products.intersection(toposort(after, known=opaque_values()))
        if left:
            whole |= left  # something between a product and its reader is in the way
        else:
            values = after
    return values


class Demand:
    """What is needed of the products of a graph, found from the results down."""

    def __init__(
        self, order: Sequence[Value], roots: Sequence[Value], whole: Collection[Value], stabilise: bool
    ) -> None:
        self.whole = {*roots, *whole}
        """The values of which all elements are needed."""
        self.shares: dict[Value, float] = defaultdict(float)
        """The cost of the parts of other values that are read, as a share of that of a product."""
        self.summed: set[Value] = set()
        """The values of which all elements are read, to be added up."""
        found = [reader for each in reversed(order) if (reader := self._visited(each, stabilise)) is not None]
        self.products = {each for each in order if is_op(each, "matmul") and self._moves(each)}
        self.ways = self._ways(order)
        self.readers = [each for each in found if each.source in self.ways]

    def _visited(self, value: Value, stabilise: bool) -> Reader | None:
        """Note what a value needs of its operands."""
        if not isinstance(value, Node):
            return None
        reader = reader_of(value, stabilise=stabilise)
        if reader is not None:
            self.shares[reader.source] += reader.share
            if reader.is_linear:
                self.summed.add(reader.source)
            self.whole.update(each for each in value.inputs if each is not reader.source)
            if value.inputs.count(reader.source) > 1:
                self.whole.add(reader.source)
        elif value in self.whole or not self._passes(value):
            self.whole.update(value.inputs)
        else:
            for each in value.inputs:
                self.shares[each] += self.shares[value]
            if value in self.summed:
                self.summed.update(value.inputs)
        return reader

    def _passes(self, value: Node) -> bool:
        """Whether a part of a value is one of its operands' parts."""
        if value in self.summed:
            return is_op(value, "transpose") or is_scaling(value)
        return value.op.name in VIEWS or is_plain_elementwise(value)

    def _moves(self, product: Value) -> bool:
        if product in self.whole or not 0.0 < self.shares[product] <= 1.0:
            return False
        return product not in self.summed or all(shapes.resolve(each) != 1 for each in product.shape[-2:])

    def _ways(self, order: Sequence[Value]) -> dict[Value, int]:
        """The products that move, and the values between them and what reads them, each with the number of those
        before."""
        found: dict[Value, int] = dict.fromkeys(self.products, 0)
        for value in order:
            if isinstance(value, Node) and value not in self.whole and value not in found and self._passes(value):
                before = [found[each] for each in value.inputs if each in found]
                if before and min(before) < FARTHEST:
                    found[value] = 1 + max(before)
        return found

    def replacements(self) -> dict[Value, Value]:
        """What stands for each reader from now on."""
        result: dict[Value, Value] = {}
        with shapes.collect_guards():  # of lengths that have been compared
            for reader in self.readers:
                with at_source(reader.node.source):
                    value = reader.replacement(self.ways)
                if value is not None:
                    result[reader.node] = value
        return result
