"""Translation of ops that rearrange, join, take apart and create arrays, or tell their shapes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from pymc.variational.minibatch_rv import MinibatchRandomVariable
from pytensor.compile.ops import DeepCopyOp, TypeCastingOp
from pytensor.gradient import DisconnectedGrad, UndefinedGrad, ZeroGrad
from pytensor.graph.basic import Apply
from pytensor.tensor import basic
from pytensor.tensor.elemwise import DimShuffle
from pytensor.tensor.extra_ops import CpuContiguous, Repeat
from pytensor.tensor.reshape import JoinDims, SplitDims
from pytensor.tensor.shape import Reshape, Shape, Shape_i, SpecifyShape
from pytensor.tensor.type_other import MakeSlice

from numbagraph.blockwise.lengths import as_extent, as_length
from numbagraph.blockwise.promotion import convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import INT64, canonical_dtype
from numbagraph.ir.values import Constant, Dim, Extent, Input, Node, Value, constant, toposort
from numbagraph.ops.indexing.slicing import narrow
from numbagraph.ops.indexing.subscripts import index
from numbagraph.ops.shape import broadcast_value, complete_shape, expand_at, permute, reshape_value, squeeze_at
from numbagraph.pymc_bridge.compatibility import axis_apart
from numbagraph.pymc_bridge.importer import Importer, UnsupportedOp, describe, imports


def static_integer(value: Any, what: str) -> int:
    """A number that has to be known while a graph is translated."""
    if isinstance(value, Constant) and not value.ndim:
        return int(value.data)
    if isinstance(value, (int, np.integer)):
        return int(value)
    raise UnsupportedOp(f"{what} must be a constant")


def extent_of(value: Value) -> Extent:
    """A strong integer as a length; that of an array is recognised."""
    if isinstance(value, Node) and value.op.name == "cast" and value.inputs[0].type.weak:
        value = value.inputs[0]
    return as_extent(value)


def length_of(value: Value) -> Extent:
    """A strong integer as a length, which is required not to be negative when the graph runs."""
    extent = extent_of(value)
    return shapes.resolve(extent if isinstance(extent, Dim) else as_length(extent))


def length(extent: Extent) -> Value:
    """A length in PyTensor's form: an int64 like any other."""
    return convert(shapes.as_value(extent), INT64)


def is_made_of_numbers(vector: Value) -> bool:
    """Whether a vector was put together from numbers, to be taken apart again: a shape, say, or several conditions."""
    if isinstance(vector, Constant):
        return True
    if not isinstance(vector, Node) or vector.ndim != 1:
        return False
    if vector.op.name == "broadcast_to":
        return not vector.inputs[0].ndim and isinstance(vector.shape[0], int)
    return vector.op.name == "expand_dims" or (
        vector.op.name == "concatenate"
        and all(each.shape == (1,) or is_made_of_numbers(each) for each in vector.inputs)
    )


def elements_of(vector: Value, expected: int | None = None) -> list[Value]:
    """The elements of a vector, each by itself; ``expected`` is their number, where the type does not have it."""
    count = shapes.resolve(vector.shape[0])
    if expected is not None and not isinstance(count, int):
        shapes.require_same(count, expected, f"a vector of {expected} lengths is needed")
        return [index(vector, number) for number in range(expected)]
    if isinstance(vector, Node) and vector.op.name == "broadcast_to" and not vector.inputs[0].ndim:
        return [vector.inputs[0]] * static_integer(vector.shape[0], "the length of a vector")
    if isinstance(vector, Node) and vector.op.name == "concatenate":
        return [each for piece in vector.inputs for each in elements_of(piece)]
    if isinstance(vector, Node) and vector.op.name == "expand_dims" and vector.ndim == 1:
        return [vector.inputs[0]]
    if isinstance(vector, Constant):
        return [constant(each) for each in vector.data]
    if not isinstance(count, int):
        raise UnsupportedOp("the rank of a result must be known")
    return [index(vector, number) for number in range(count)]


def vector_of(elements: Sequence[Value]) -> Value:
    """A vector of rank-0 values."""
    if not elements:
        return constant(np.zeros(0, np.int64))
    if all(isinstance(each, Constant) for each in elements):
        return constant(np.array([each.data for each in elements]))  # type: ignore[attr-defined]
    pieces = [expand_at(each, (0,)) for each in elements]
    return registry["concatenate"](pieces, 0) if len(pieces) > 1 else pieces[0]


@imports(DimShuffle, moves=True)
def dim_shuffle(importer: Importer, node: Apply, x: Value) -> Value:
    order = node.op.new_order
    kept = [axis for axis in order if axis != "x"]
    dropped = [axis for axis in range(x.ndim) if axis not in kept]
    for axis in dropped:
        shapes.require_same(
            x.shape[axis], 1, f"{describe(node.inputs[0])}: axis {axis} is dropped, and must have length 1"
        )
    rest = [axis for axis in range(x.ndim) if axis not in dropped]
    x = permute(squeeze_at(x, dropped), [rest.index(axis) for axis in kept])
    return expand_at(x, [position for position, axis in enumerate(order) if axis == "x"])


@imports(TypeCastingOp, DeepCopyOp, CpuContiguous, basic.TensorFromScalar, basic.ScalarFromTensor, moves=True)
def same(importer: Importer, node: Apply, x: Value) -> Value:
    return x


@imports(MinibatchRandomVariable)
def part_of_the_data(importer: Importer, node: Apply, x: Value, *total_size: Value) -> Value:
    """Draws of a variable with `total_size`, which only weighs its log-density."""
    return x


@imports(ZeroGrad, DisconnectedGrad, UndefinedGrad, moves=True)
def stop_gradient(importer: Importer, node: Apply, x: Value) -> Value:
    return registry["stop_gradient"](x)


class SpecifiedShapeError(shapes.ShapeError, AssertionError):
    """A length is not the one that `specify_shape` says; for PyTensor that is a failed assertion."""


@imports(SpecifyShape, moves=True)
def specify_shape(importer: Importer, node: Apply, x: Value, *lengths: Any) -> Value:
    for axis, expected in enumerate(lengths):
        if expected is not None:
            length = shapes.resolve(extent_of(expected))
            text = f"{describe(node.inputs[0])} must have length {length} along axis {axis}"
            shapes.require_same(x.shape[axis], length, text, SpecifiedShapeError)
    return x


@imports(Shape)
def shape_of(importer: Importer, node: Apply, x: Value) -> Value:
    return vector_of([length(extent) for extent in x.shape])


@imports(Shape_i)
def length_along(importer: Importer, node: Apply, x: Value) -> Value:
    return length(x.shape[node.op.i])


@imports(Reshape, moves=True)
def reshape(importer: Importer, node: Apply, x: Value, target: Value) -> Value:
    sizes = [shapes.resolve(extent_of(each)) for each in elements_of(target, node.op.ndim)]
    if any(map(may_be_negative, sizes)):
        sizes = with_rest(x, sizes)
    return reshape_value(x, complete_shape(x, sizes))


def may_be_negative(size: Extent) -> bool:
    """Whether a length follows from a number that is given, rather than from lengths."""
    return isinstance(size, Value) and any(isinstance(each, Input) for each in toposort([size]))


def with_rest(x: Value, sizes: Sequence[Extent]) -> list[Extent]:
    """Replace a length that may turn out to be -1: that stands for the rest of ``x``."""
    others = shapes.multiply(-1, shapes.product(sizes))
    known = registry["greater"](shapes.as_value(others), 0)
    for each in sizes:
        is_given = registry["not_equal"](shapes.as_value(each), -1)
        shapes.require(
            registry["logical_or"](is_given, known), "only one length can be left, and of an array with elements"
        )
    rest = shapes.as_value(shapes.floor_divide(shapes.product(x.shape), shapes.maximum(others, 1)))
    lengths = [shapes.as_value(each) for each in sizes]
    return [registry["where"](registry["equal"](each, -1), rest, each) for each in lengths]


def reshape_each(importer: Importer, node: Apply, x: Value, targets: Value) -> list[Value]:
    """Reshape the elements of a batch; the shape is one for all of them, since otherwise they would make no array."""
    shape = common_row(importer, targets)
    if shape is None:
        raise UnsupportedOp(f"the shape of {describe(node.outputs[0])} differs along a batch, or is not known")
    rank = len(node.op.inputs_sig[0])
    lengths = [shapes.resolve(extent_of(each)) for each in elements_of(shape)]
    batch = x.shape[: x.ndim - rank]
    return [reshape_value(x, complete_shape(x, [*batch, *lengths]))]


def common_row(importer: Importer, rows: Value) -> Value | None:
    """The row that is repeated along all leading dimensions of an array."""
    if rows.ndim == 1:
        return rows
    if isinstance(rows, Node) and rows.op.name == "broadcast_to" and rows.inputs[0].ndim < 2:
        source = rows.inputs[0]
        return source if source.ndim else broadcast_value(source, rows.shape[-1:])
    if isinstance(rows, Node) and rows.op.name == "concatenate" and rows.attrs["axis"] == -1:
        pieces = [common_row(importer, each) for each in rows.inputs]
        return None if any(each is None for each in pieces) else registry["concatenate"](pieces, 0)
    data = importer.data_of(rows)
    if data is None or not data.size:
        return None
    flat = data.reshape(-1, data.shape[-1])
    return constant(flat[0]) if np.all(flat == flat[0]) else None


@imports(JoinDims, moves=True)
def join_dims(importer: Importer, node: Apply, x: Value) -> Value:
    first, end = node.op.start_axis, node.op.start_axis + node.op.n_axes
    return reshape_value(x, (*x.shape[:first], shapes.product(x.shape[first:end]), *x.shape[end:]))


@imports(SplitDims, moves=True)
def split_dims(importer: Importer, node: Apply, x: Value, sizes: Value) -> Value:
    axis, count = node.op.axis, node.outputs[0].type.ndim - x.ndim + 1
    return reshape_value(x, (*x.shape[:axis], *map(length_of, elements_of(sizes, count)), *x.shape[axis + 1 :]))


@imports(basic.Alloc, moves=True)
def alloc(importer: Importer, node: Apply, x: Value, *lengths: Value) -> Value:
    """Allocate an array. PyTensor repeats along the dimensions that its types know to have length 1, as with
    elementwise ops."""
    return allocated(node, x, [length_of(each) for each in lengths], x.ndim, [])


def alloc_each(importer: Importer, node: Apply, x: Value, *lengths: Value) -> list[Value]:
    """Allocate arrays of one shape for all elements of a batch."""
    numbers = [number for each in lengths if (number := common_number(importer, each)) is not None]
    if len(numbers) < len(lengths):
        raise UnsupportedOp(f"the shape of {describe(node.outputs[0])} may differ along a batch")
    rank = len(node.op.inputs_sig[0])
    batch = shapes.broadcast_shapes([x.shape[: x.ndim - rank], *(each.shape for each in lengths)], "alloc")
    return [allocated(node, x, [length_of(each) for each in numbers], rank, batch)]


def allocated(node: Apply, x: Value, shape: Sequence[Extent], rank: int, batch: Sequence[Extent]) -> Value:
    """The last ``rank`` dimensions of ``x`` repeated to a shape, in each element of a batch."""
    own, begin = x.shape[x.ndim - rank :], x.ndim - rank
    text = f"could not broadcast {shapes.shape_text(own)} to {shapes.shape_text(shape)}"
    repeated = node.inputs[0].type.broadcastable[begin:]
    for length, wanted, known in zip(own, shape[len(shape) - rank :], repeated, strict=True):
        if not known:
            shapes.require_same(length, wanted, text)
    return broadcast_value(expand_at(x, range(begin, begin + len(shape) - rank)), [*batch, *shape])


@imports(basic.AllocEmpty)
def alloc_empty(importer: Importer, node: Apply, *lengths: Value) -> Value:
    zero = constant(0, dtype=canonical_dtype(node.op.dtype))
    return broadcast_value(zero, [length_of(each) for each in lengths])


@imports(basic.MakeVector)
def make_vector(importer: Importer, node: Apply, *elements: Value) -> Value:
    dtype = canonical_dtype(node.outputs[0].type.dtype)
    return vector_of([convert(each, dtype) for each in elements])


@imports(basic.Join)
def join(importer: Importer, node: Apply, *operands: Value) -> Value:
    axis, arrays = axis_apart(node.op, operands, 0)
    dtype = canonical_dtype(node.outputs[0].type.dtype)
    converted = [convert(each, dtype) for each in arrays]
    if len(converted) == 1:
        return converted[0]
    return registry["concatenate"](converted, static_integer(axis, "the axis of a join"))


@imports(basic.Split)
def split(importer: Importer, node: Apply, *operands: Value) -> list[Value]:
    axis, (x, sizes) = axis_apart(node.op, operands, 1)
    along = shapes.normalise_axis(static_integer(axis, "the axis of a split"), x.ndim)
    extents = [length_of(each) for each in elements_of(sizes, len(node.outputs))]
    text = f"split of {describe(node.inputs[0])}: the sizes must add up to the length of axis {along}"
    for each in extents:  # or their sum could overflow
        shapes.require(shapes.compare("less_equal", each, x.shape[along]), text)
    *starts, total = accumulate(extents, shapes.add, initial=0)
    shapes.require_same(total, x.shape[along], text)
    return [narrow(x, along, start, extent) for start, extent in zip(starts, extents, strict=True)]


LONGEST = 2**62


@imports(basic.ARange)
def arange(importer: Importer, node: Apply, *ends: Value) -> Value:
    dtype = canonical_dtype(node.op.dtype)
    if dtype.kind in "iu":
        return registry["arange"](*(shapes.resolve(extent_of(each)) for each in ends), dtype=dtype)
    start, stop, step = (convert(each, dtype) for each in ends)
    count = registry["absolute"]((stop - start) / step)
    shapes.require(registry["less"](count, float(LONGEST)), "arange: cannot compute length, or it is too large")
    return registry["arange"](start, stop, step, dtype=dtype)


def arange_each(importer: Importer, node: Apply, *ends: Value) -> list[Value]:
    """Ranges in each element of a batch. All begin and end alike, or their lengths may differ."""
    numbers = [common_number(importer, each) for each in ends]
    if any(each is None for each in numbers):
        raise UnsupportedOp(f"the length of {describe(node.outputs[0])} may differ along a batch")
    row = arange(importer, Apply(node.op.core_op, [], []), *numbers)
    batch = shapes.broadcast_shapes([each.shape for each in ends], "arange")
    return [broadcast_value(row, [*batch, *row.shape])]


def common_number(importer: Importer, numbers: Value) -> Value | None:
    """The number that is repeated in an array."""
    while isinstance(numbers, Node) and numbers.op.name in ("broadcast_to", "expand_dims"):
        numbers = numbers.inputs[0]
    if not numbers.ndim:
        return numbers
    data = importer.data_of(numbers)
    return constant(data.flat[0]) if data is not None and data.size and np.all(data == data.flat[0]) else None


@imports(basic.Eye)
def eye(importer: Importer, node: Apply, rows: Value, columns: Value, offset: Value) -> Value:
    sizes = (shapes.resolve(extent_of(each)) for each in (rows, columns))
    return registry["eye"](*sizes, static_integer(offset, "the diagonal"), dtype=canonical_dtype(node.op.dtype))


@imports(basic.ExtractDiag)
def extract_diagonal(importer: Importer, node: Apply, x: Value) -> Value:
    return registry["diagonal"](x, node.op.offset, node.op.axis1, node.op.axis2)


@imports(basic.AllocDiag)
def diagonal_matrix(importer: Importer, node: Apply, x: Value) -> Value:
    if x.ndim == 1 and (node.op.axis1, node.op.axis2) == (0, 1):
        return registry["diag"](x, node.op.offset)
    return importer.inner(node.op.fgraph, [x])[0]


@imports(Repeat)
def repeat(importer: Importer, node: Apply, x: Value, repeats: Value) -> Value:
    if not repeats.ndim:
        return registry["repeat"](x, shapes.resolve(extent_of(repeats)), node.op.axis)
    counts = importer.data_of(repeats)
    if counts is None:
        return registry["repeat"](x, repeats, node.op.axis)
    extent = x.shape[node.op.axis]
    shapes.require_same(extent, counts.size, f"repeat: {counts.size} numbers of repetitions for {extent} elements")
    where = np.repeat(np.arange(counts.size), counts)
    return registry["take"](x, importer.capture(where, "repeats"), node.op.axis)


@imports(MakeSlice)
def make_slice(importer: Importer, node: Apply, *ends: Any) -> slice:
    return slice(*ends)
