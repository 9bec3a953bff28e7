"""Selections of elements along one axis, and what they commute with: a part of a value is computed from parts of its
operands, through views, elementwise ops, reductions over other axes and products of matrices."""

from __future__ import annotations

from collections.abc import Callable

from numbagraph.blockwise.lengths import Cut
from numbagraph.ir import shapes
from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.values import Node, Value
from numbagraph.ops.control.operands import may_fail
from numbagraph.ops.indexing.gathering import gather
from numbagraph.ops.indexing.slicing import pick, take_slice
from numbagraph.ops.product import matrix_product
from numbagraph.ops.shape import expand_at, full_order, permute, squeeze_at

REDUCTIONS = ("sum", "prod", "max", "min", "any", "all")


class Selection(Struct):
    """Elements along one axis, counted from the right."""

    axis: int

    @property
    def rank(self) -> int:
        """The number of axes that take the place of the one."""
        raise NotImplementedError

    def take(self, value: Value) -> Value:
        """Return the selected elements of a value."""
        raise NotImplementedError

    def at(self, axis: int) -> Selection:
        """Return the selection of the same elements of another axis."""
        return replace(self, axis=axis)

    def take_repeated(self, value: Value) -> Value:
        """Return what is selected of a value that has one element along the axis, and stands for all."""
        place = self.axis + value.ndim
        return expand_at(squeeze_at(value, [place]), range(place, place + self.rank))


class Position(Selection):
    """The elements at one position. The axis is left out."""

    position: Value
    checked: bool

    @property
    def rank(self) -> int:
        return 0

    def take(self, value: Value) -> Value:
        return pick.bind(value, self.position, axis=self.axis, checked=self.checked)


class Slice(Selection):
    """The elements of a slice."""

    cut: Cut

    @property
    def rank(self) -> int:
        return 1

    def take(self, value: Value) -> Value:
        return take_slice(value, {self.axis: self.cut})

    def take_repeated(self, value: Value) -> Value:
        return value


class Positions(Selection):
    """The elements at an array of positions."""

    positions: Value
    checked: bool

    @property
    def rank(self) -> int:
        return self.positions.ndim

    def take(self, value: Value) -> Value:
        return gather.bind(value, self.positions, axis=self.axis, checked=(self.checked,))


Part = Callable[[Value, Selection], Value]
"""Gives the selected elements of an operand."""


def selected(node: Node, selection: Selection, part: Part) -> Value | None:
    """Return the selected elements of a node, computed from ``part`` of its operands; None where all of these are
    needed."""
    name = node.op.name
    if name in VIEWS:
        return VIEWS[name](node, selection, part)
    if node.op.kind == "elementwise":
        return of_elements(node, selection, part)
    if name == "matmul":
        return of_product(node, selection, part)
    if node.op.kind == "reduction" and name in REDUCTIONS:
        return of_reduction(node, selection, part)
    return None


def of_elements(node: Node, selection: Selection, part: Part) -> Value | None:
    inputs = of_operands(node, selection, part)
    return None if inputs is None else node.op.bind(*inputs, **node.attrs)


def of_operands(node: Node, selection: Selection, part: Part) -> list[Value] | None:
    """Return what is selected of operands that are broadcast; None where it is known only when the program runs whether
    an operand repeats an element."""
    axis, extent = selection.axis, node.shape[selection.axis]
    inputs = []
    for each in node.inputs:
        if -axis > each.ndim:
            inputs.append(each)
        elif shapes.same(each.shape[axis], extent):
            inputs.append(part(each, selection))
        elif shapes.resolve(each.shape[axis]) == 1:
            inputs.append(selection.take_repeated(each))
        else:
            return None
    return inputs


def is_plain_elementwise(value: Value) -> bool:
    """Whether a value is computed element by element, and may be left out: it raises no error."""
    return isinstance(value, Node) and value.op.kind == "elementwise" and value.ndim > 0 and not may_fail(value)


def of_transpose(node: Node, selection: Selection, part: Part) -> Value | None:
    order = full_order(node.ndim, node.attrs["axes"])
    here = selection.axis + node.ndim
    source = order[here]
    found = part(node.inputs[0], selection.at(source - node.ndim))
    added = selection.rank - 1
    places = {axis: axis + added if axis > source else axis for axis in order}
    moved: list[int] = []
    for axis in order:
        moved += range(source, source + selection.rank) if axis == source else [places[axis]]
    return permute(found, moved)


def of_expand_dims(node: Node, selection: Selection, part: Part) -> Value | None:
    axes = node.attrs["axes"]
    if selection.axis in axes:
        return None
    kept = [axis for axis in range(-node.ndim, 0) if axis not in axes]
    source = node.inputs[0]
    found = part(source, selection.at(kept.index(selection.axis) - source.ndim))
    here, added = selection.axis + node.ndim, selection.rank - 1
    return expand_at(found, [place + added if place > here else place for place in (axis + node.ndim for axis in axes)])


def of_squeeze(node: Node, selection: Selection, part: Part) -> Value | None:
    source, axes = node.inputs[0], node.attrs["axes"]
    kept = [axis for axis in range(-source.ndim, 0) if axis not in axes]
    axis = kept[selection.axis + node.ndim]
    found = part(source, selection.at(axis))
    added = selection.rank - 1
    return squeeze_at(found, [place + source.ndim + (added if place > axis else 0) for place in axes])


VIEWS: dict[str, Callable[[Node, Selection, Part], Value | None]] = {
    "transpose": of_transpose,
    "expand_dims": of_expand_dims,
    "squeeze": of_squeeze,
    "copy": lambda node, selection, part: part(node.inputs[0], selection),
}
"""The views that a selection moves through."""


def of_reduction(node: Node, selection: Selection, part: Part) -> Value | None:
    source, axes = node.inputs[0], node.attrs["axes"]
    kept = [axis for axis in range(-source.ndim, 0) if axis not in axes]
    axis = kept[selection.axis + node.ndim]
    added = selection.rank - 1
    return node.op.bind(
        part(source, selection.at(axis)), axes=tuple(each - added if each < axis else each for each in axes)
    )


def of_product(node: Node, selection: Selection, part: Part) -> Value | None:
    """Return rows, columns or matrices of a product: its rows are those of the first operand times the second."""
    if selection.rank > 1:
        return None
    flags = node.attrs["transposed"]
    if selection.axis < -2:
        inputs = of_operands(node, selection, part)
        return None if inputs is None else matrix_product(inputs[0], inputs[1], flags)
    number = selection.axis + 2
    inputs = list(node.inputs)
    axis = (-1 if flags[0] else -2, -2 if flags[1] else -1)[number]
    found = part(inputs[number], selection.at(axis))
    if selection.rank:
        inputs[number] = found
        return matrix_product(inputs[0], inputs[1], flags)
    inputs[number] = expand_at(found, [axis + node.inputs[number].ndim])
    product = matrix_product(inputs[0], inputs[1], flags)
    return squeeze_at(product, [selection.axis + product.ndim])
