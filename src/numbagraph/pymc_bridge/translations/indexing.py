"""Translation of indexing: reading elements, replacing them, and adding to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.graph.basic import Apply
from pytensor.tensor.basic import Nonzero, PermuteRowElements
from pytensor.tensor.extra_ops import FillDiagonal, FillDiagonalOffset, RavelMultiIndex, Unique, UnravelIndex

from numbagraph.blockwise.promotion import convert
from numbagraph.intrinsics.emitters.reducers import negative_zero
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL
from numbagraph.ir.values import Constant, Extent, Value, constant
from numbagraph.ops.indexing.subscripts import add_index, index, set_index
from numbagraph.ops.shape import expand_at
from numbagraph.pymc_bridge.compatibility import index_of, math
from numbagraph.pymc_bridge.compatibility import indexing as ops
from numbagraph.pymc_bridge.importer import Importer, UnsupportedOp, describe, imports
from numbagraph.pymc_bridge.translations.structure import (
    elements_of,
    extent_of,
    is_made_of_numbers,
    length_of,
    vector_of,
)

Key = tuple[Any, ...]


def part(entry: Any) -> Any:
    """An entry of a key for numbagraph's indexing, which takes known numbers as Python's."""
    if isinstance(entry, slice):
        start, stop, step = (each if each is None else end(each) for each in (entry.start, entry.stop, entry.step))
        if isinstance(step, Value):
            raise UnsupportedOp("a slice whose step is not constant")
        return slice(start, stop, step)
    if isinstance(entry, Constant) and not entry.ndim:
        return int(entry.data)
    return entry


def end(entry: Any) -> Any:
    return shapes.resolve(extent_of(entry)) if isinstance(entry, Value) else entry


def key_of(importer: Importer, node: Apply, x: Value, indices: Sequence[Any], late: Sequence[Value] = ()) -> Key:
    """The key of ``x[key]``. A mask becomes the positions that it selects, but for those that are ``late``."""
    key: list[Any] = []
    axis = 0
    for entry in index_of(node.op, indices):
        if isinstance(entry, Value) and entry.dtype == BOOL:
            require_length_of_mask(entry, x.shape[axis : axis + entry.ndim])
            key += [entry] if entry in late else selected(importer, entry)
            axis += entry.ndim
            continue
        axis += entry is not None
        key.append(part(entry))
    return tuple(key)


def require_length_of_mask(mask: Value, lengths: Sequence[Extent]) -> None:
    shape, wanted = shapes.shape_text(mask.shape), shapes.shape_text(lengths)
    text = f"boolean index did not match indexed array: a mask of shape {shape} for dimensions {wanted}"
    for extent, length in zip(mask.shape, lengths, strict=True):
        shapes.require_same(length, extent, text, IndexError)


def selected(importer: Importer, mask: Value) -> list[Value]:
    """The positions of a mask's true elements, one array an axis."""
    data = importer.data_of(mask)
    if data is None:
        found: Any = registry["nonzero"](mask)
        return list(found)
    return [importer.capture(each, "mask") for each in data.nonzero()]


@imports(ops.Subtensor, ops.AdvancedSubtensor, ops.AdvancedSubtensor1, moves=True)
def take(importer: Importer, node: Apply, x: Value, *indices: Any) -> Value:
    key = key_of(importer, node, x, indices, alone(late_masks(importer, node, indices), node, indices))
    if x.ndim == 1 and len(key) == 1 and is_static(key[0]) and is_made_of_numbers(x):
        found = elements_of(x)[key[0]]
        return vector_of(found) if isinstance(found, list) else found
    return index(x, key)


def is_static(entry: Any) -> bool:
    """Whether a part of a key is made of numbers that are known."""
    if isinstance(entry, slice):
        return all(each is None or isinstance(each, int) for each in (entry.start, entry.stop, entry.step))
    return isinstance(entry, int)


@imports(ops.IncSubtensor, ops.AdvancedIncSubtensor, ops.AdvancedIncSubtensor1, moves=True)
def put(importer: Importer, node: Apply, x: Value, update: Value, *indices: Any) -> Value:
    masks = late_masks(importer, node, indices)
    if len(masks) > 1 and is_diagonal(node, indices, update):
        return put_on_diagonal(node, x, update, masks)
    late = alone(masks, node, indices)
    key = key_of(importer, node, x, indices, late)
    if node.op.set_instead_of_inc:
        return set_index(x, key, convert(update, x.dtype) if late else update)
    if late:
        nothing = registry["full_like"](x, negative_zero(x.dtype))  # of which x + nothing is x, be that -0.0
        return x + set_index(nothing, key, convert(update, x.dtype))
    if getattr(node.op, "ignore_duplicates", False):
        return set_index(x, key, index(x, key) + update)
    return add_index(x, key, update)


def late_masks(importer: Importer, node: Apply, indices: Sequence[Any]) -> list[Value]:
    """The masks of a key that are not constant."""
    masks = [each for each in index_of(node.op, indices) if isinstance(each, Value) and each.dtype == BOOL]
    return [each for each in masks if importer.data_of(each) is None]


def alone(masks: Sequence[Value], node: Apply, indices: Sequence[Any]) -> Sequence[Value]:
    """The mask, if it is the only array of a key."""
    arrays = [each for each in index_of(node.op, indices) if isinstance(each, Value) and each.ndim]
    return masks if len(arrays) == len(masks) == 1 else ()


def is_diagonal(node: Apply, indices: Sequence[Any], update: Value) -> bool:
    """Whether a key is one vector of truth values, several times, for one number: it selects part of a diagonal."""
    mask, *others = index_of(node.op, indices)
    return mask.ndim == 1 and not update.ndim and all(each is mask for each in others)


def put_on_diagonal(node: Apply, x: Value, update: Value, masks: Sequence[Value]) -> Value:
    """Update elements of a diagonal where a mask is true: no length depends on the mask."""
    for axis, mask in enumerate(masks):
        require_length_of_mask(mask, x.shape[axis : axis + 1])
    positions = (registry["iota"](masks[0].shape[0]),) * len(masks)
    there = index(x, positions)
    chosen = expand_at(masks[0], range(1, there.ndim))
    update = convert(update, x.dtype)
    found = update if node.op.set_instead_of_inc else there + update
    return set_index(x, positions, registry["where"](chosen, found, there))


@imports(Nonzero)
def nonzero(importer: Importer, node: Apply, x: Value) -> list[Value]:
    return selected(importer, x)


@imports(UnravelIndex)
def unravel_index(importer: Importer, node: Apply, numbers: Value, lengths: Value) -> list[Value]:
    shape = tuple(length_of(each) for each in elements_of(lengths, len(node.outputs)))
    found: Any = registry["unravel_index"](numbers, shape, node.op.order)
    return list(found)


@imports(RavelMultiIndex)
def ravel_index(importer: Importer, node: Apply, *operands: Value) -> Value:
    *places, lengths = operands
    shape = tuple(length_of(each) for each in elements_of(lengths, len(places)))
    return registry["ravel_multi_index"](places, shape, node.op.mode, node.op.order)


@imports(Unique)
def unique(importer: Importer, node: Apply, x: Value) -> list[Value]:
    """The distinct elements, or parts along an axis. Numbers of the inverse are in one dimension, as PyTensor has
    them."""
    op = node.op
    found = registry["unique"](x, op.return_index, op.return_inverse, op.return_counts, op.axis)
    results = list(found) if isinstance(found, tuple) else [found]
    return [results[0], *(registry["ravel"](each) for each in results[1:])]


@imports(FillDiagonal)
def fill_diagonal(importer: Importer, node: Apply, x: Value, number: Value) -> Value:
    count = shapes.minimum(*x.shape)
    positions = registry["iota"](count)
    return set_index(x, (positions, positions), number)


@imports(FillDiagonalOffset)
def fill_other_diagonal(importer: Importer, node: Apply, x: Value, number: Value, offset: Value) -> Value:
    rows, columns = (registry["iota"](length) for length in x.shape)
    inside = registry["equal"](expand_at(rows, (1,)) + offset, columns)
    return registry["where"](inside, convert(number, x.dtype), x)


@imports(math.BatchedDiag)
def diagonal_matrices(importer: Importer, node: Apply, x: Value) -> Value:
    positions = registry["iota"](x.shape[-1])
    inside = registry["equal"](expand_at(positions, (1,)), positions)
    return registry["where"](inside, expand_at(x, (x.ndim,)), constant(0, dtype=x.dtype))


@imports(PermuteRowElements)
def permuted(importer: Importer, node: Apply, x: Value, order: Value) -> Value:
    if x.ndim != 1:
        raise UnsupportedOp(f"{node.op} has no translation but for vectors")
    shapes.require_same(order.shape[0], x.shape[0], f"{describe(node.outputs[0])} needs a place for each element")
    return set_index(x, (order,), x) if node.op.inverse else index(x, (order,))
