"""Selected elements (``x[mask]``) as all elements under the mask, wherever what becomes of them allows it.

``sum(f(x[mask]))`` is ``sum(where(mask, f(x), 0))``, and ``x[mask] = f(y[mask])`` is ``x = where(mask, f(y), x)``: no
array whose length depends on elements is needed. What is computed of the other elements is never used. Where such an
array is needed, it is put together of the positions that the mask selects.

Regions and what `vmap` maps lose these nodes before derivatives are taken of them. So that nothing but the selected
elements has a derivative then, others have none from the start (`under_mask`): 0 times an infinite one would be NaN.
Rewriting removes the choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from numbagraph.blockwise import lowering
from numbagraph.blockwise.lengths import as_extent
from numbagraph.blockwise.promotion import convert
from numbagraph.ir import shapes
from numbagraph.ir.graph import Guard
from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Constant, Extent, Node, Value, at_source, constant, toposort
from numbagraph.ops.indexing.gathering import gather_value, put_at
from numbagraph.ops.indexing.masks import count_true, is_count, is_late, pack, put_repeated, unpack
from numbagraph.ops.shape import broadcast_value, expand_at, reshape_value


class Form(Struct, eq=False):
    """An array of selected elements, as the elements of ``full`` at which a mask is true."""

    full: Value
    mask: Value
    axis: int
    """The dimension of the selected elements, counted from the right. In ``full`` it is those of the mask."""
    count: Value
    """The number of selected elements."""

    @property
    def ndim(self) -> int:
        return self.full.ndim - self.mask.ndim + 1

    def alike(self, other: Form) -> bool:
        return self.mask is other.mask and self.axis == other.axis

    def filled(self, filler: Any) -> Value:
        """All elements, with a filler in place of those that are not selected."""
        number = constant(filler, dtype=self.full.dtype)
        return registry["where"].bind(self.selecting(), self.full, number)

    def selecting(self) -> Value:
        """The mask, to be broadcast against ``full``."""
        return expand_at(self.mask, range(self.mask.ndim, self.mask.ndim - self.axis - 1))

    def axes(self, axes: Iterable[int]) -> tuple[int, ...]:
        """Dimensions (counted from the right) as those of ``full``."""
        more, found = self.mask.ndim - 1, list[int]()
        for each in axes:
            found += [each] if each > self.axis else [each - more]
            if each == self.axis:
                found += range(each - more + 1, each + 1)
        return tuple(sorted(found))

    def widened(self, value: Value) -> Value | None:
        """A value that is broadcast against the selected elements, to be broadcast against ``full``."""
        if value.ndim < -self.axis:
            return value
        if shapes.resolve(value.shape[self.axis]) != 1:
            return None
        place = value.ndim + self.axis
        return expand_at(value, range(place, place + self.mask.ndim - 1))

    def shape(self, shape: Sequence[Extent]) -> tuple[Extent, ...]:
        """The shape of ``full`` for one of selected elements."""
        place = len(shape) + self.axis
        return (*shape[:place], *self.mask.shape, *shape[place + 1 :])

    def with_full(self, full: Value, axis: int | None = None) -> Form:
        return Form(full, self.mask, self.axis if axis is None else axis, self.count)


Rewriter = Callable[["Unpacking", Node], "Form | Value | None"]


class Unpacking:
    """One pass over some values: what is of selected elements becomes a `Form`, all else stays or is computed anew."""

    def __init__(self, *, last: bool) -> None:
        self.last = last
        """Whether no derivative will be taken of the results."""
        self.values: dict[Value, Value] = {}
        self.forms: dict[Value, Form] = {}

    def visit(self, value: Value) -> None:
        if not isinstance(value, Node):
            self.values[value] = value
            return
        with at_source(value.source):
            rewriter = rewriter_of(value)
            found = rewriter(self, value) if rewriter is not None else None
            if isinstance(found, Form):
                self.forms[value] = found
                return
            if found is None:
                inputs = tuple(map(self.real, value.inputs))
                found = value if inputs == value.inputs else value.op.bind(*inputs, **value.attrs)
            self.values[value] = found

    def real(self, value: Value) -> Value:
        """The value itself, or an array of selected elements that is packed for it."""
        if value not in self.values:
            form = self.forms[value]
            self.values[value] = pack.bind(form.full, form.mask, form.count, axis=form.axis - form.mask.ndim + 1)
        return self.values[value]

    def form_of(self, values: Iterable[Value]) -> Form | None:
        """The common mask of those values that are of selected elements, if there is one."""
        found = [self.forms[each] for each in values if each in self.forms]
        return found[0] if found and all(map(found[0].alike, found)) else None

    def full(self, value: Value, form: Form) -> Value | None:
        """An operand beside others of selected elements, as all elements."""
        if value in self.forms:
            return self.forms[value].full
        beside = form.widened(self.values[value])
        return None if beside is None else under_mask(beside, form.selecting())

    def factor(self, form: Form) -> Value:
        """All elements as a factor of a product of matrices. The derivative by the other factor adds all of them up,
        times 0 where nothing is selected: so these must be zeros."""
        return form.full if self.last else form.filled(0)


def under_mask(value: Value, selecting: Value) -> Value:
    """Stop the derivative of a value where a mask does not select."""
    if value.dtype.kind not in "fc" or isinstance(value, Constant):
        return value
    return registry["where"].bind(selecting, value, registry["stop_gradient"].bind(value))


def rewriter_of(node: Node) -> Rewriter | None:
    if node.op in REWRITERS:
        return REWRITERS[node.op]
    lower = node.op.lower
    if isinstance(lower, (lowering.Map, lowering.Cast)) or node.op.kind == "identity":
        return elementwise
    if isinstance(lower, lowering.Reduce) and not lower.reducer.positional:
        return reduction
    return running if isinstance(lower, lowering.Running) and len(node.inputs) == 1 else None


def elementwise(code: Unpacking, node: Node) -> Form | None:
    form = code.form_of(node.inputs)
    if form is None or node.op.multi_result or refuses(node):
        return None
    operands = [code.full(each, form) for each in node.inputs]
    if any(each is None for each in operands):
        return None
    return form.with_full(node.op.bind(*operands, **node.attrs))  # type: ignore[arg-type]


def refuses(node: Node) -> bool:
    """Whether an op may raise an error for an element: then it may be applied to selected elements only."""
    lower = node.op.lower
    return isinstance(lower, lowering.Map) and lower.refuse(node) is not None


def reduction(code: Unpacking, node: Node) -> Form | Value | None:
    form = code.form_of(node.inputs)
    if form is None:
        return None
    axes = node.attrs["axes"]
    if form.axis not in axes:
        below = sum(each > form.axis for each in axes)
        return form.with_full(node.op.bind(form.full, axes=form.axes(axes)), form.axis + below)
    lower = node.op.lower
    assert isinstance(lower, lowering.Reduce)
    filled = form.filled(lower.reducer.identity_of(form.full.dtype))
    return node.op.bind(filled, axes=form.axes(axes))


def running(code: Unpacking, node: Node) -> Form | None:
    """Run an accumulation over all elements, which leaves the accumulator as it is at elements that are not
    selected."""
    form = code.form_of(node.inputs)
    if form is None or form.mask.ndim > 1:
        return None
    if node.attrs["axis"] != form.axis:
        return form.with_full(node.op.bind(form.full, **node.attrs))
    lower = node.op.lower
    assert isinstance(lower, lowering.Running)
    return form.with_full(node.op.bind(form.filled(lower.reducer.identity_of(form.full.dtype)), **node.attrs))


def counted(code: Unpacking, node: Node) -> Value | None:
    """The length of the elements that a mask of selected elements selects."""
    form = code.form_of(node.inputs)
    return None if form is None or form.ndim > 1 else count_true.bind(both_masks(form))


def both_masks(form: Form) -> Value:
    return registry["logical_and"].bind(form.mask, form.full)


def packing(code: Unpacking, node: Node) -> Form | None:
    value, mask, count = node.inputs
    axis = node.attrs["axis"] + mask.ndim - 1
    if mask in code.forms:
        form, inner = code.forms[mask], code.forms.get(value)
        if inner is None or form.ndim > 1 or inner.mask is not form.mask or inner.axis != axis:
            return None
        return differentiable(Form(inner.full, both_masks(form), axis, code.real(count)))
    if value in code.forms:
        return None
    return differentiable(Form(code.values[value], code.values[mask], axis, code.real(count)))


def differentiable(form: Form) -> Form:
    return form.with_full(under_mask(form.full, form.selecting()))


def unpacking(code: Unpacking, node: Node) -> Form | Value | None:
    value, mask = node.inputs
    form = code.forms.get(value)
    axis = node.attrs["axis"]
    if mask in code.forms:
        outer = code.forms[mask]
        if form is None or outer.ndim > 1 or form.axis != axis or form.mask is not both_masks(outer):
            return None
        return Form(form.filled(0), outer.mask, axis, outer.count)
    if form is not None and form.axis == axis and form.mask is code.values[mask]:
        return form.filled(0)
    return None if is_late(value.shape[axis]) else unpacked(code.real(value), code.real(mask), axis)


def chosen_or_assigned(code: Unpacking, node: Node) -> Form | Value | None:
    """``x[mask] = v`` writes the elements of ``v`` one after the other where the mask is true, and nothing elsewhere.
    Rows are written at the positions that it selects; a derivative would have to ask which update of a position stays.
    """
    selecting, update, own = node.inputs
    if code.last and isinstance(update, Node) and update.op is unpack and not {update, own, selecting} & {*code.forms}:
        value, mask = map(code.real, update.inputs)
        axis = update.attrs["axis"]
        extent = shapes.resolve(value.shape[axis])
        known = shapes.not_one(extent) and not is_late(extent)
        if known and is_like(update, node) and is_like(own, node) and selects(code.values[selecting], mask):
            if mask.ndim == node.ndim:
                return put_repeated(code.real(own), mask, value, packed=True)
            found = registry["true_positions"](reshape_value(mask, [shapes.product(mask.shape)]), extent)
            positions = [found]
            for length in reversed(mask.shape[1:]):
                positions[:1] = (registry[name](positions[0], length) for name in ("floor_divide", "remainder"))
            checked = (False,) * mask.ndim
            return put_at.bind(code.real(own), value, *positions, axis=axis - mask.ndim + 1, checked=checked)
    return elementwise(code, node)


def is_like(value: Value, other: Value) -> bool:
    """Whether a value has the dtype and shape of another one."""
    same = value.ndim == other.ndim and all(map(shapes.same, value.shape, other.shape))
    return same and value.dtype == other.dtype


def selects(selecting: Value, mask: Value) -> bool:
    """Whether a condition is a mask, with further dimensions."""
    while isinstance(selecting, Node) and selecting.op is registry["expand_dims"]:
        (selecting,) = selecting.inputs
    return selecting is mask


def repeated(code: Unpacking, node: Node) -> Form | None:
    """A broadcast to the length of selected elements, as one to all elements."""
    value, *sizes = node.inputs
    target = shapes.join_extents(node.attrs["shape"], [code.real(each) for each in sizes])
    late = [axis for axis in range(-len(target), 0) if is_late(target[axis])]
    form = code.forms.get(value)
    if len(late) != 1 or value.ndim > len(target):
        return None
    count = shapes.resolve(target[late[0]])
    assert isinstance(count, Node)
    if form is None:
        own = Form(code.values[value], count.inputs[0], late[0], count)
        source = own.widened(code.values[value])
    else:
        own, source = form, form.full
        if form.axis != late[0] or form.mask is not count.inputs[0]:
            return None
    if source is None:
        return None
    source = under_mask(source, own.selecting())
    shape = own.shape(target)
    is_number = node.op is not registry["broadcast_to"] and not source.ndim  # it is none any more under a mask
    return own.with_full(again(node, source, shape) if is_number else broadcast_value(source, shape))


def again(node: Node, fill: Value, shape: Sequence[Extent]) -> Value:
    template, sizes = shapes.split_extents(shape)
    return node.op.bind(fill, *sizes, shape=template)


def numbered(code: Unpacking, node: Node) -> Form | None:
    """0, 1, 2, ... for the selected elements: the number of elements selected before each."""
    sizes = [code.real(each) for each in node.inputs]
    if not sizes or not is_late(sizes[0]):
        return None
    count = shapes.resolve(sizes[0])
    assert isinstance(count, Node)
    mask = count.inputs[0]
    return Form(reshape_value(places(mask) - 1, mask.shape), mask, -1, count)


def expanded(code: Unpacking, node: Node) -> Form | None:
    form = code.form_of(node.inputs)
    if form is None:
        return None
    kept = [axis for axis in range(-1, -node.ndim - 1, -1) if axis not in node.attrs["axes"]]
    own = form.with_full(form.full, kept[-form.axis - 1])
    return own.with_full(node.op.bind(form.full, axes=own.axes(node.attrs["axes"])))


def squeezed(code: Unpacking, node: Node) -> Form | None:
    form = code.form_of(node.inputs)
    if form is None or form.axis in node.attrs["axes"]:
        return None
    axes = node.attrs["axes"]
    return form.with_full(
        node.op.bind(form.full, axes=form.axes(axes)), form.axis + sum(axis > form.axis for axis in axes)
    )


def transposed(code: Unpacking, node: Node) -> Form | None:
    form = code.form_of(node.inputs)
    if form is None or form.mask.ndim > 1:
        return None
    axes = node.attrs["axes"]
    moved = axes.index(form.axis) - len(axes) if form.axis >= -len(axes) else form.axis
    return form.with_full(node.op.bind(form.full, axes=axes), moved)


def product(code: Unpacking, node: Node) -> Form | Value | None:
    """A product of matrices, of which selected elements are rows, columns, or what is summed over."""
    found = [code.forms.get(each) for each in node.inputs]
    if any(form is not None and form.mask.ndim > 1 for form in found) or not any(found):
        return None
    flags = node.attrs["transposed"]
    rows_and_inner = (-1, -2) if flags[0] else (-2, -1)
    inner_and_columns = (-1, -2) if flags[1] else (-2, -1)
    left, right = (code.forms.get(each) for each in node.inputs)
    left_part = None if left is None else part_of(left.axis, rows_and_inner)
    right_part = None if right is None else part_of(right.axis, inner_and_columns)
    if left is not None and right is not None:
        if (left_part, right_part) != (1, 0) or left.mask is not right.mask:
            return None
        return node.op.bind(left.filled(0), right.filled(0), **node.attrs)
    if left is not None and left_part == 0:
        return left.with_full(node.op.bind(code.factor(left), code.values[node.inputs[1]], **node.attrs), -2)
    if right is not None and right_part == 1:
        return right.with_full(node.op.bind(code.values[node.inputs[0]], code.factor(right), **node.attrs), -1)
    return None


def part_of(axis: int, axes: tuple[int, int]) -> int | None:
    return axes.index(axis) if axis in axes else None


REWRITERS: dict[Any, Rewriter] = {
    count_true: counted,
    pack: packing,
    unpack: unpacking,
    registry["where"]: chosen_or_assigned,
    registry["broadcast_to"]: repeated,
    registry["full"]: repeated,
    registry["iota"]: numbered,
    registry["expand_dims"]: expanded,
    registry["squeeze"]: squeezed,
    registry["transpose"]: transposed,
    registry["matmul"]: product,
}


def places(mask: Value) -> Value:
    """For each element of a mask, in one dimension, the number of true elements up to there."""
    flat = reshape_value(mask, [shapes.product(mask.shape)])
    return registry["cumsum"].bind(convert(flat, INT64), axis=-1, reverse=False, exclusive=False)


def packed(node: Node) -> Value:
    """Gather the selected elements side by side."""
    value, mask, count = node.inputs
    value = where_true(value, mask)
    size = shapes.product(mask.shape)
    flat = reshape_value(mask, [size])
    first = value.ndim + node.attrs["axis"]
    rows = reshape_value(value, [*value.shape[:first], size, *value.shape[first + mask.ndim :]])
    if rows.ndim == 1 and not isinstance(value, Node):  # others are computed at these positions, and nowhere else
        return registry["true_elements"](rows, flat, shapes.resolve(count))
    chosen = registry["true_positions"](flat, shapes.resolve(count))
    return gather_value(rows, [chosen], first - rows.ndim, checked=False)


def where_true(value: Value, mask: Value) -> Value:
    """Strip choices by a mask from a value: the result has the same elements, and the same derivatives of them, where
    the mask is true."""
    while isinstance(value, Node) and value.op is registry["where"] and value.inputs[0] is mask:
        chosen = value.inputs[1]
        if chosen.type != value.type:
            break
        value = chosen
    return value


def unpacked(value: Value, mask: Value, axis: int) -> Value:
    """Elements side by side, where a mask is true; zeros elsewhere. Without any, there still is a zero to be read."""
    place = value.ndim + axis
    none = registry["zeros"]((*value.shape[:place], 1, *value.shape[place + 1 :]), value.dtype)
    whole = registry["concatenate"]([none, value], place)
    flat = registry["where"](reshape_value(mask, [shapes.product(mask.shape)]), places(mask), 0)
    last = shapes.as_value(value.shape[axis])
    positions = reshape_value(registry["minimum"](flat, last), mask.shape)
    return gather_value(whole, [positions], axis, checked=False)


def under_masks(values: Sequence[Value], known: Iterable[Value] = (), *, last: bool = False) -> list[Value]:
    """Rewrite values with as few arrays of selected elements as possible; values that are ``known`` stay. With
    ``last``, no derivative is taken of the results."""
    known = set(known)
    order = toposort(values, known)
    if not any(map(is_of_mask, order)):
        return list(values)
    code = Unpacking(last=last)
    code.values.update(zip(known, known, strict=True))
    for each in order:
        code.visit(each)
    found = [code.real(each) for each in values]
    return found if any(map(is_packed, toposort(found, known))) else with_numbers(found, known)


def is_packed(value: Value) -> bool:
    return isinstance(value, Node) and value.op in (pack, unpack)


def is_of_mask(value: Value) -> bool:
    """Whether a value represents selected elements, or their number."""
    return is_count(value) or is_packed(value)


def without_masks(values: Sequence[Value], known: Iterable[Value] = (), *, last: bool = False) -> list[Value]:
    """Rewrite values without any nodes that represent selected elements."""
    known = set(known)
    if not any(map(is_of_mask, toposort(values, known))):
        return list(values)
    return with_numbers(under_masks(values, known, last=last), known)


def with_numbers(values: Sequence[Value], known: Iterable[Value]) -> list[Value]:
    """Rewrite values with sums in place of the lengths of selected elements. Selected elements that remain are put side
    by side."""
    mapped: dict[Value, Value] = dict(zip(known, known, strict=True))
    for each in toposort(values, known):
        if not isinstance(each, Node):
            mapped[each] = each
            continue
        with at_source(each.source):
            inputs = tuple(mapped[source] for source in each.inputs)
            new = each if inputs == each.inputs else each.op.bind(*inputs, **each.attrs)
            mapped[each] = written_out(new) if isinstance(new, Node) else new
    return [mapped[each] for each in values]


def written_out(node: Node) -> Value:
    """Write a node that represents selected elements in other ops; return other nodes unchanged."""
    if is_count(node):
        return total(node)
    if node.op is pack:
        return packed(node)
    if node.op is unpack:
        selected, mask = node.inputs
        return unpacked(selected, mask, node.attrs["axis"])
    return node


def guards_without_masks(
    values: Sequence[Value], guards: Sequence[Guard], known: Iterable[Value] = (), *, last: bool = False
) -> tuple[tuple[Value, ...], tuple[Guard, ...]]:
    """Rewrite values and guards without nodes that represent selected elements."""
    with shapes.collect_guards():  # what they require is among the guards, and nothing outside of a region has to
        found = without_masks([*values, *(guard.condition for guard in guards)], known, last=last)
    conditions = found[len(values) :]
    own = [replace(guard, condition=each) for guard, each in zip(guards, conditions, strict=True)]
    return tuple(found[: len(values)]), tuple(own)


def total(count: Node) -> Value:
    """The number of true elements of a mask, as a sum."""
    (mask,) = count.inputs
    flags = convert(mask, INT64)
    return shapes.as_value(as_extent(registry["sum"].bind(flags, axes=tuple(range(-mask.ndim, 0)))))
