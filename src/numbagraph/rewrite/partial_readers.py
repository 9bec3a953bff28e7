"""What reads a part of a matrix, or a sum over it: its value, computed from parts of the product that the matrix is.

`Elements`, `LongElements`, `Diagonal` and `Diagonals` choose elements, `Total` adds them up, and `Vectors` multiplies
the matrix by vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import reduce

from numbagraph.blockwise.lengths import Cut
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Extent, Node, Value
from numbagraph.ops.creation import iota
from numbagraph.ops.diagonals import main_diagonal
from numbagraph.ops.indexing.gathering import gather_value
from numbagraph.ops.indexing.slicing import slice_cuts, take_slice
from numbagraph.ops.product import matmul, matrix_extents, matrix_product, total, transposed_matrix
from numbagraph.ops.shape import expand_at, full_order, permute, squeeze_at
from numbagraph.rewrite.facts import is_op
from numbagraph.rewrite.selections import Position, Positions, Selection, Slice, selected
from numbagraph.rewrite.shorter_gathers import gathered_once_each

LENGTH = 100.0
"""The length that is assumed for a length that is not known."""
SLOWER = 4.0
"""How much longer a multiplication takes in a product of a matrix and a vector, which reads the matrix from memory,
than in one of two matrices."""

Ways = Collection[Value]
"""The values between products and what reads them, and the products: nothing needs all of their elements."""


class Reader(Struct):
    """A node that reads a part of a value."""

    node: Node
    source: Value
    share: float
    """The cost of the part, as a share of that of a whole product."""

    @property
    def is_linear(self) -> bool:
        """Whether all elements are read, to be added up."""
        return False

    def replacement(self, ways: Ways) -> Value | None:
        """Return the value of the node by a part of what the source is computed from."""
        raise NotImplementedError


class Elements(Reader):
    """A position, a slice or positions along axes."""

    selections: tuple[Selection, ...]

    def replacement(self, ways: Ways) -> Value | None:
        known: dict[tuple[Value, Selection], Value] = {}

        def part(value: Value, selection: Selection) -> Value:
            key = value, selection
            if key not in known:
                found = selected(value, selection, part) if value in ways and isinstance(value, Node) else None
                known[key] = selection.take(value) if found is None else found
            return known[key]

        return reduce(part, self.selections, self.source)


class LongElements(Reader):
    """Positions along an axis that may be more than its elements: these are computed once each."""

    axis: int
    positions: Value
    checked: bool

    def replacement(self, ways: Ways) -> Value | None:
        def part(selection: Selection) -> Value | None:
            return Elements(self.node, self.source, self.share, (selection,)).replacement(ways)

        return gathered_once_each(self.source, self.axis, self.positions, self.checked, part)


class Diagonal(Reader):
    """The main diagonal of matrices."""

    def replacement(self, ways: Ways) -> Value | None:
        known: dict[Value, Value | None] = {}

        def found(value: Value) -> Value | None:
            if value not in known:
                own = value if value in ways and isinstance(value, Node) else None
                known[value] = main_diagonal.bind(value) if own is None else diagonal_of(own, found)
            return known[value]

        return found(self.source)


def diagonal_of(value: Node, part: Callable[[Value], Value | None]) -> Value | None:
    """Return the diagonal of a value by ``part``, that of its operands."""
    if value.op.name == "transpose":
        return part(value.inputs[0]) if value.attrs["axes"] == (-1, -2) else None
    if value.op.kind == "elementwise":
        whole = [each for each in value.inputs if each.ndim]
        if not all(each.ndim > 1 and all(map(shapes.same, each.shape[-2:], value.shape[-2:])) for each in whole):
            return None
        inputs = [part(each) if each.ndim else each for each in value.inputs]
        found = [each for each in inputs if each is not None]
        return value.op.bind(*found, **value.attrs) if len(found) == len(inputs) else None
    if value.op is not matmul:
        return None
    (left, right), (first, second) = value.inputs, value.attrs["transposed"]
    rows, _, _, columns = matrix_extents(left, right, (first, second))
    if not shapes.same(rows, columns):
        cut = Cut(0, 1, shapes.minimum(rows, columns))
        left, right = take_slice(left, {-1 if first else -2: cut}), take_slice(right, {-2 if second else -1: cut})
    return sum_of_pairs(left, right, first, second)


def sum_of_pairs(left: Value, right: Value, first: bool, second: bool) -> Value:
    """Return the products of each row of one matrix with the same column of another."""
    rows = transposed_matrix(left) if first else left
    columns = right if second else transposed_matrix(right)
    return total(registry["multiply"].bind(rows, columns), (-1,))


class Diagonals(Reader):
    """Elements beside the main diagonal, by their rows and columns."""

    def replacement(self, ways: Ways) -> Value | None:  # noqa: ARG002
        value, (rows, columns) = self.source, self.node.inputs[1:]
        if is_op(value, "transpose") and value.attrs["axes"] == (-1, -2):
            value, rows, columns = value.inputs[0], columns, rows
        if not isinstance(value, Node) or value.op is not matmul:
            return None
        (left, right), (first, second) = value.inputs, value.attrs["transposed"]
        one = gather_value(left, [rows], -1 if first else -2, checked=False)
        other = gather_value(right, [columns], -2 if second else -1, checked=False)
        return sum_of_pairs(one, other, first, second)


class Total(Reader):
    """A sum over rows or columns."""

    @property
    def is_linear(self) -> bool:
        return True

    def replacement(self, ways: Ways) -> Value | None:
        return summed(self.source, self.node.attrs["axes"], ways)


def summed(value: Value, axes: tuple[int, ...], ways: Ways) -> Value | None:
    """Return the sum over some axes of a product, behind views and scalar factors."""
    if value not in ways or not isinstance(value, Node):
        return None
    if value.op is matmul:
        return sum_of_product(value, axes)
    if is_scaling(value):
        return scaled(value, lambda source: summed(source, axes, ways))
    source = value.inputs[0]
    if value.op.name == "transpose":
        order = full_order(value.ndim, value.attrs["axes"])
        places = [order[axis + value.ndim] for axis in axes]
        found = summed(source, tuple(sorted(each - value.ndim for each in places)), ways)
        if found is None:
            return None
        rest = [each for each in order if each not in places]
        return permute(found, [sorted(rest).index(each) for each in rest])
    return None


def sum_of_product(node: Node, axes: tuple[int, ...]) -> Value | None:
    """Return the sum over the rows of a product by that of the rows of its first operand; columns alike."""
    left, right = node.inputs
    flags = first, second = node.attrs["transposed"]
    rows, _, _, columns = map(shapes.resolve, matrix_extents(left, right, flags))
    if 1 in (rows, columns):
        return None
    if -2 in axes:
        left = sum_kept(left, -1 if first else -2)
    if -1 in axes:
        right = sum_kept(right, -2 if second else -1)
    product = matrix_product(left, right, flags)
    last = [axis for axis in axes if axis >= -2]
    result = squeeze_at(product, [axis + product.ndim for axis in last])
    outer = tuple(axis + len(last) for axis in axes if axis < -2)
    return registry["sum"].bind(result, axes=outer) if outer else result


def sum_kept(value: Value, axis: int) -> Value:
    return expand_at(registry["sum"].bind(value, axes=(axis,)), [axis + value.ndim])


class Vectors(Reader):
    """A product with vectors, or with a matrix that is so thin that it should be multiplied first."""

    number: int
    """The position of the source among the operands."""

    @property
    def is_linear(self) -> bool:
        return True

    def replacement(self, ways: Ways) -> Value | None:  # noqa: ARG002
        return multiplied(self.source, self.node, self.number)


def multiplied(value: Value, node: Node, number: int) -> Value | None:
    """Return the product with a product: the thin matrix is multiplied with the operand beside it."""
    if not isinstance(value, Node):
        return None
    if is_scaling(value):
        return scaled(value, lambda source: multiplied(source, node, number))
    if value.op is not matmul:
        return None
    factors = list(zip(value.inputs, value.attrs["transposed"], strict=True))
    flags = node.attrs["transposed"]
    if flags[number]:
        factors = [(each, not flag) for each, flag in reversed(factors)]
    (one, first), (other, second) = factors
    thin, flag = node.inputs[1 - number], flags[1 - number]
    if number == 0:
        return matrix_product(one, matrix_product(other, thin, (second, flag)), (first, False))
    return matrix_product(matrix_product(thin, one, (flag, first)), other, (False, second))


def is_scaling(value: Value) -> bool:
    """Whether a value is another one times a number."""
    if is_op(value, "negative"):
        return True
    if is_op(value, "multiply"):
        return any(not each.ndim for each in value.inputs)
    return is_op(value, "true_divide", "divide") and not value.inputs[1].ndim


def scaled(value: Node, function: Callable[[Value], Value | None]) -> Value | None:
    """Return a value times a number with a function of the value in place of it."""
    inputs = [function(each) if each.ndim else each for each in value.inputs]
    found = [each for each in inputs if each is not None]
    return value.op.bind(*found, **value.attrs) if len(found) == len(inputs) else None


def reader_of(node: Node, *, stabilise: bool) -> Reader | None:
    """What a node is as a reader of a part of its operand."""
    make = READERS.get(node.op.name)
    found = make(node) if make is not None else None
    if found is not None and found.is_linear and not (stabilise and is_rounded(node)):
        return None
    return found


def is_rounded(node: Node) -> bool:
    """Whether numbers may be added and multiplied in any order: the usual bounds of errors hold in each."""
    return node.dtype.kind in "fc" and node.dtype.itemsize > 2


def pick_reader(node: Node) -> Reader:
    source, position = node.inputs
    axis = node.attrs["axis"]
    return Elements(node, source, thin_share(source.shape[axis]), (Position(axis, position, node.attrs["checked"]),))


def slice_reader(node: Node) -> Reader:
    source = node.inputs[0]
    cuts = slice_cuts(node.inputs[1:], **node.attrs)
    share = 1.0
    for axis, each in cuts.items():
        length = upper_length(each.length)
        share *= min(1.0, length / known(source.shape[axis])) if length is not None else 1.0
    return Elements(node, source, share, tuple(Slice(axis, each) for axis, each in cuts.items()))


def upper_length(extent: Extent) -> int | None:
    """The greatest number that a length may be, if that is known: the slice of an unknown length may be empty."""
    extent = shapes.resolve(extent)
    while isinstance(extent, Node) and extent.op.name in ("minimum", "maximum", "subtract"):
        one, other = map(shapes.resolve, extent.inputs)
        if extent.op.name == "minimum":
            numbers = [found for each in (one, other) if (found := upper_length(each)) is not None]
            return min(numbers, default=None)
        if not isinstance(other, int):
            return None
        found = upper_length(one)
        if found is None:
            return None
        return max(found, other) if extent.op.name == "maximum" else found - other
    return extent if isinstance(extent, int) else None


def gather_reader(node: Node) -> Reader | None:
    source, *positions = node.inputs
    axis = node.attrs["axis"]
    if len(positions) == 2 and axis == -2 and all(map(is_run, positions)):
        return Diagonals(node, source, thin_share(source.shape[-1]))
    if len(positions) != 1 or positions[0].ndim != 1:
        return None
    count, extent = shapes.resolve(positions[0].shape[0]), shapes.resolve(source.shape[axis])
    (checked,) = node.attrs["checked"]
    if isinstance(count, int) and (isinstance(extent, int) or count <= SLOWER):
        share = count / known(extent)
        return Elements(node, source, share, (Positions(axis, positions[0], checked),)) if share < 1 else None
    return LongElements(node, source, 1.0, axis, positions[0], checked)


def is_run(positions: Value) -> bool:
    """Whether positions follow each other."""
    while is_op(positions, "add") and not positions.inputs[1].ndim:
        positions = positions.inputs[0]
    return isinstance(positions, Node) and positions.op is iota


def diagonal_reader(node: Node) -> Reader:
    return Diagonal(node, node.inputs[0], thin_share(node.inputs[0].shape[-1]))


def sum_reader(node: Node) -> Reader | None:
    source = node.inputs[0]
    if source.dtype != node.dtype or source.ndim < 2:
        return None
    return Total(node, source, max((thin_share(source.shape[axis]) for axis in node.attrs["axes"]), default=1.0))


def product_reader(node: Node) -> Reader | None:
    rows, inner, _, columns = map(shapes.resolve, extents_of(node))
    if (rows == 1) == (columns == 1) or inner == 1:
        return shorter_chain(node)
    number = 0 if columns == 1 else 1
    return Vectors(node, node.inputs[number], thin_share(inner), number) if is_one_each(node, number) else None


def extents_of(node: Node) -> tuple[Extent, Extent, Extent, Extent]:
    left, right = node.inputs
    return matrix_extents(left, right, node.attrs["transposed"])


def is_one_each(node: Node, number: int) -> bool:
    """Whether there is no more than one other operand for each of the matrices."""
    matrix, other = node.inputs[number], node.inputs[1 - number]
    batch = matrix.shape[:-2][matrix.ndim - other.ndim :] if other.ndim > 2 else ()
    return other.ndim <= matrix.ndim and all(map(shapes.same, other.shape[:-2], batch))


def shorter_chain(node: Node) -> Reader | None:
    """A product of three matrices of known lengths, which takes fewer multiplications in the other order."""
    for number, (each, flag) in enumerate(zip(node.inputs, node.attrs["transposed"], strict=True)):
        if not is_op(each, "matmul") or not is_one_each(node, number):
            continue
        rows, inner, _, columns = map(shapes.resolve, extents_of(each))
        ends = map(shapes.resolve, extents_of(node))
        last = list(ends)[3 if number == 0 else 0]
        if flag:
            rows, columns = columns, rows
        if number == 1:
            rows, columns = columns, rows
        if all(isinstance(length, int) for length in (rows, inner, columns, last)):
            before = rows * columns * (inner + last)  # type: ignore[operator]
            after = inner * last * (rows + columns)  # type: ignore[operator]
            if 4 * after <= 3 * before:
                return Vectors(node, each, 1.0, number)
    return None


def known(extent: Extent) -> float:
    extent = shapes.resolve(extent)
    return max(float(extent), 1.0) if isinstance(extent, int) else LENGTH


def thin_share(extent: Extent) -> float:
    return min(1.0, SLOWER / known(extent))


READERS: dict[str, Callable[[Node], Reader | None]] = {
    "pick": pick_reader,
    "slice": slice_reader,
    "gather": gather_reader,
    "main_diagonal": diagonal_reader,
    "sum": sum_reader,
    "matmul": product_reader,
}
