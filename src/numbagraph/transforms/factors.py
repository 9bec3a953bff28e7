"""Derivatives of a logarithm by the factors of its operand, rather than through the product that these make.

``log(c * x)`` has the slope ``1 / x`` in ``x``. Through the product it would be ``c * (1 / (c * x))``, which is NaN
where ``c`` is 0, even if what is infinite there has no part in the result.
"""

from __future__ import annotations

from collections.abc import Collection

from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Node, Value

EXPONENTS: dict[str, tuple[float, ...]] = {
    "multiply": (1.0, 1.0),
    "divide": (1.0, -1.0),
    "negative": (1.0,),
    "reciprocal": (-1.0,),
    "square": (2.0,),
    "sqrt": (0.5,),
}
"""Ops that make products of their operands, with the powers of these."""

SELECTIONS: dict[str, slice] = {
    **dict.fromkeys(
        ("broadcast_to", "expand_dims", "squeeze", "reshape", "transpose", "slice", "gather", "pick", "cast"), slice(1)
    ),
    "concatenate": slice(None),
    "where": slice(1, 3),
}
"""Ops whose elements are elements of some of their operands, with the slice of these operands."""

DEEPEST = 12
"""The number of nested ops down to which an operand is taken apart. Without a limit, the factors of running products
would grow with the square of their number."""


class Factor(Struct):
    """A part of a product."""

    value: Value
    exponent: float = 1.0
    way: tuple[tuple[Node, int], ...] = ()
    """Selections through which the elements come into the product, and the operand of each, the nearest one first."""

    def operands(self) -> list[Factor]:
        """The factors of a factor that is a product."""
        node = self.value
        assert isinstance(node, Node)
        found = []
        for operand, power in zip(node.inputs, EXPONENTS[node.op.name], strict=True):
            way = list(self.way)
            if way:  # what is selected from has the shape of the product
                repeated = registry["broadcast_to"](operand, node.shape)
                while repeated is not operand:
                    assert isinstance(repeated, Node)
                    way.append((repeated, 0))
                    repeated = repeated.inputs[0]
            found.append(Factor(operand, self.exponent * power, tuple(way)))
        return found

    def sources(self) -> list[Factor]:
        """Return the operands from which the elements of a factor are selected, as factors."""
        node = self.value
        assert isinstance(node, Node)
        return [Factor(node.inputs[each], self.exponent, (*self.way, (node, each))) for each in places_of(node)]

    def cotangent(self, g: Value, node: Node, place: int) -> Value:
        """Return the cotangent of the factor, given the cotangent ``g`` of a node that takes the logarithm of the
        product."""
        value, passed = self.value, []
        for selection, number in reversed(self.way):
            inputs = of_one(selection, number, value)
            value = selection.op.bind(*inputs, **selection.attrs)
            passed.append((value, inputs, number))
        scaled = g if self.exponent == 1 else g * self.exponent
        found = node.op.vjp(scaled, node, *with_input(node, place, value), **node.attrs)[place]
        for selected, inputs, number in reversed(passed):
            found = selected.op.vjp(found, selected, *inputs, **selected.attrs)[number]
        assert isinstance(found, Value)
        return found


def places_of(selection: Node) -> range:
    """The operands from which elements are selected."""
    return range(len(selection.inputs))[SELECTIONS[selection.op.name]]


def of_one(selection: Node, place: int, value: Value) -> tuple[Value, ...]:
    """Return the inputs of a selection, with ``value`` as one of its operands. The other operands that it selects from
    become 1: they give nothing to the cotangent of this operand, and a 0 would make a NaN of it in forward mode."""
    others = set(places_of(selection)) - {place}
    inputs = [registry["ones_like"](each) if number in others else each for number, each in enumerate(selection.inputs)]
    inputs[place] = value
    return tuple(inputs)


def with_input(node: Node, place: int, value: Value) -> tuple[Value, ...]:
    return *node.inputs[:place], value, *node.inputs[place + 1 :]


def taken_apart(factor: Factor, active: Collection[Value], points: Collection[Value], depth: int) -> list[Factor]:
    """Return the factors that a factor consists of and that change with active values: itself, if there is no product
    in it.

    Points of the derivative are whole.
    """
    node = factor.value
    if node not in active:
        return []
    if not depth or not isinstance(node, Node) or node in points:
        return [factor]
    if node.op.name in EXPONENTS:
        return [each for part in factor.operands() for each in taken_apart(part, active, points, depth - 1)]
    if node.op.name in SELECTIONS:
        sources = factor.sources()
        found = [each for part in sources for each in taken_apart(part, active, points, depth - 1)]
        return found if any(each not in sources for each in found) else [factor]
    return [factor]


def factors_of(operand: Value, active: Collection[Value], points: Collection[Value]) -> list[Factor] | None:
    """The factors of an operand that change with active values, or None if it is no product."""
    whole = Factor(operand)
    found = taken_apart(whole, active, points, DEEPEST)
    return None if found == [whole] else found
