"""Arrays from nothing but lengths and numbers. Lengths may be integer scalars that are only known at run time.

NumPy cannot dispatch ``np.zeros(n)`` with such a length: `numbagraph.numpy` offers these functions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.kinds import batch_unary, composite, draw, view
from numbagraph.blockwise.lengths import as_extent, as_length, as_shape, ceil_divide, is_nonnegative
from numbagraph.blockwise.lowering import Index
from numbagraph.blockwise.promotion import as_value, common_dtype, convert, is_large, kind_of, number_of
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import FLOAT64, INT64, UINT64, canonical_dtype
from numbagraph.ir.values import ArrayType, Constant, Extent, Lowering, Node, Op, Unsupported, Value, constant
from numbagraph.ops.shape import broadcast_value, copy, expand_at, require_c_order


def iota_type(*sizes: Value, size: int | None) -> ArrayType:
    (extent,) = shapes.join_extents((size,), sizes)
    return ArrayType(INT64, (extent,))


class Iota(Lowering):
    """Each element is its own index."""

    def element(self, node: Node, index: Index) -> lowering.Element:
        yield from ()
        return index[0]


def iota_frontend(op: Op, size: Any) -> Value:
    (template,), sizes = shapes.split_extents((as_length(size),))
    return op.bind(*sizes, size=template)


iota = registry.register(
    Op(
        name="iota",
        kind="creation",
        reference=lambda *sizes, size: np.arange(*shapes.join_extents((size,), sizes), dtype=np.int64),
        infer=iota_type,
        frontend=iota_frontend,
        lower=Iota(),
        vjp=Unsupported("integers have no derivative"),
        batch=batch_unary,
        jnp=lambda *sizes, size: load("jax.numpy:arange")(*shapes.join_extents((size,), sizes), dtype=np.int64),
        samples=lambda rng, dtype: [(5,), (0,)] if dtype == INT64 else [],
        zero_dim="array",
        cost=0.0,
    )
)
"""0, 1, 2, ... up to a length."""


def full_type(fill: Value, *sizes: Value, shape: tuple[int | None, ...]) -> ArrayType:
    return fill.type.with_shape(shapes.join_extents(shape, sizes))


def full_batch(op: Op, inputs: Sequence[Value], batched: Sequence[bool], *, shape: tuple[int | None, ...]) -> Value:
    (fill, *sizes) = inputs
    if any(batched[1:]):
        raise NotImplementedError("full with sizes that differ along a batch")
    target = shapes.join_extents(shape, sizes)
    return copy(broadcast_value(expand_at(fill, range(1, 1 + len(target))), (*fill.shape, *target)))


def filled(fill: Value, shape: Sequence[Extent]) -> Value:
    """An array of one number, which is a rank-0 value."""
    template, sizes = shapes.split_extents(shape)
    return full.bind(fill, *sizes, shape=template) if shape else registry["asarray"](fill)


def full_value(shape: Any, fill_value: Any, dtype: Any = None, order: str | None = "C") -> Value:
    require_c_order(order)
    if dtype is not None and is_large(fill_value):
        value = number_of(fill_value, canonical_dtype(dtype))
    else:
        value = as_value(fill_value)
        value = convert(value, value.dtype if dtype is None else canonical_dtype(dtype))
    extents = as_shape(shape)
    return copy(broadcast_value(value, extents)) if value.ndim else filled(value, extents)


full = view(
    np.full,
    source_index=lambda node, index: (),
    infer=full_type,
    frontend=lambda op, shape, fill_value, dtype=None, order="C", **_: full_value(shape, fill_value, dtype, order),
    evaluate=lambda fill, *sizes, shape: np.full(shapes.join_extents(shape, sizes), fill),
    jnp=lambda fill, *sizes, shape: load("jax.numpy:full")(shapes.join_extents(shape, sizes), fill),
    vjp=lambda g, y, fill, *sizes, shape: (registry["sum"](g), *[None] * len(sizes)),
    batch=full_batch,
    samples=lambda rng, dtype: [((3, 4), draw(rng, dtype, (1,))[0]), ((0,), draw(rng, dtype, (1,))[0])],
    copies=True,
)


def number_as(number: float, dtype: np.dtype) -> Value:
    return constant(number, dtype=dtype)


def zeros_as(value: Value, dtype: np.dtype | None = None) -> Value:
    """Zeros of the shape of ``value``, and of its dtype unless another is given."""
    return filled(number_as(0, dtype or value.dtype), value.shape)


def declare_constant(reference: Any, like: Any, number: int) -> tuple[Op, Op]:
    """Declare, for example, ``zeros`` and ``zeros_like``."""

    @composite(reference, samples=lambda rng, dtype: [((3, 4), dtype), (0, dtype)])
    def create(shape: Any, dtype: Any = None, order: str = "C", **_: Any) -> Value:
        return full_value(shape, number, FLOAT64 if dtype is None else dtype, order)

    @composite(like, samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4)),), (draw(rng, dtype, (3, 4)), np.float32)])
    def create_like(
        a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, **_: Any
    ) -> Value:
        return fill_like(a, number, dtype, shape)

    return create, create_like


def fill_like(a: Any, fill_value: Any, dtype: Any, shape: Any) -> Value:
    value = as_value(a)
    return full_value(value.shape if shape is None else shape, fill_value, value.dtype if dtype is None else dtype)


zeros, zeros_like = declare_constant(np.zeros, np.zeros_like, 0)
ones, ones_like = declare_constant(np.ones, np.ones_like, 1)


@composite(np.empty, samples=lambda rng, dtype: [])
def empty(shape: Any, dtype: Any = None, order: str = "C", **_: Any) -> Value:
    """Zeros: a value that a graph does not define does not exist."""
    return zeros(shape, dtype, order)


@composite(np.empty_like, samples=lambda rng, dtype: [])
def empty_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, **_: Any) -> Value:
    return fill_like(a, 0, dtype, shape)


@composite(np.full_like, samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4)), 1)])
def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, **_: Any
) -> Value:
    return fill_like(a, fill_value, dtype, shape)


def integer_range(start: Any, stop: Any, step: Any, dtype: np.dtype) -> Value:
    """``arange`` of integers."""
    start, stop, step = (as_extent(each, "an end of a range") for each in (start, stop, step))
    shapes.require(shapes.compare("not_equal", step, 0), "arange with a step of 0", ZeroDivisionError)
    length = range_length(start, stop, step)
    numbers = iota(length if is_nonnegative(length) else shapes.maximum(length, 0))
    if not (isinstance(step, int) and step == 1):
        numbers = numbers * step
    return convert(numbers if isinstance(start, int) and start == 0 else numbers + start, dtype)


def range_length(start: Extent, stop: Extent, step: Extent) -> Extent:
    """How many integers there are; where the distance may be none of int64, it is found as one of uint64."""
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        return len(range(start, stop, step))
    near = is_nonnegative(start) and is_nonnegative(stop)
    if isinstance(step, int) and (near or (isinstance(start, int) and start == 0 and step == 1)):
        distance = shapes.subtract(stop, start) if step > 0 else shapes.subtract(start, stop)
        return ceil_divide(distance, abs(step))
    first, last, by = map(shapes.as_value, (start, stop, step))
    is_up, where = by > 0, registry["where"]
    low, high = where(is_up, first, last), where(is_up, last, first)
    size = as_unsigned(where(is_up, by, -by))
    count = registry["floor_divide"](as_unsigned(high) - as_unsigned(low) - np.uint64(1), size)
    return as_extent(where(high > low, shapes.minimum(as_extent(count), 2**63 - 2) + 1, 0))


def as_unsigned(number: Value) -> Value:
    return registry["cast"].bind(number, dtype=UINT64)


def float_range(start: Value, stop: Value, step: Value, dtype: np.dtype) -> Value:
    """``arange`` of floats: NumPy takes the distance of the first two elements for the step."""
    numbers = iota(shapes.maximum(float_length(start, stop, step), 0))
    first, second = convert(start, dtype), convert(start + step, dtype)
    following = first + convert(numbers, dtype) * (second - first)
    return registry["where"](registry["equal"](numbers, 1), second, following)


def float_length(start: Value, stop: Value, step: Value) -> Extent:
    ends = [float(each.data) for each in (start, stop, step) if isinstance(each, Constant)]
    if len(ends) == 3:
        return math.ceil((ends[1] - ends[0]) / ends[2])
    shapes.require(registry["not_equal"](step, 0.0), "arange with a step of 0", ZeroDivisionError)
    count = (stop - start) / step
    shapes.require(registry["less"](count, 2.0**62), "arange: the length is too large, or not a number", ValueError)
    return as_extent(registry["cast"](registry["ceil"](count), INT64))


def range_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind not in "if":
        return []
    return [(5,), (2, 9, 3), (9, 2, -2), (3, 1), (0.5, 3.0, 0.25), (4, None, 1, dtype)]


@composite(np.arange, samples=range_samples)
def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None, **_: Any) -> Value:
    if stop is None:
        start, stop = 0, start
    values = [as_value(each) for each in (start, stop, 1 if step is None else step)]
    common = np.result_type(INT64, *[each.dtype for each in values])
    wanted = common if dtype is None else canonical_dtype(dtype)
    if common.kind in "biu" and wanted.kind in "iu":
        first, last, by = map(shapes.resolve, values)
        return integer_range(first, last, by, wanted)
    first, last, by = (convert(each, FLOAT64) for each in values)
    return float_range(first, last, by, wanted)


def linspace_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind not in "fc":
        return []
    ends = draw(rng, dtype, (2,))
    return [(*ends, 7), (0.0, 1.0, 5, False), (*ends, 1), (0.0, 1.0, 0), (draw(rng, dtype, (3,)), ends[0], 4)]


@composite(np.linspace, samples=linspace_samples)
def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    first, last = as_value(start), as_value(stop)
    working = common_dtype((kind_of(first), kind_of(last), float))
    wanted = working if dtype is None else canonical_dtype(dtype)
    first, last = convert(first, working), convert(last, working)
    count = as_length(num)
    steps = shapes.subtract(count, 1) if endpoint else count
    divisor = convert(shapes.as_value(shapes.maximum(steps, 1)), working)
    numbers = expand_at(iota(count), range(1, 1 + max(first.ndim, last.ndim)))
    delta, places = last - first, convert(numbers, working)
    step = delta / divisor
    vanishes = registry["equal"](step, 0)  # the distance is denormal: it is divided last
    result = registry["where"](vanishes, places / divisor * delta, places * step) + first
    if endpoint:
        at_end = registry["logical_and"](registry["equal"](numbers, shapes.as_value(steps)), numbers > 0)
        result = registry["where"](at_end, last, result)
    result = convert(registry["floor"](result) if wanted.kind in "iu" else result, wanted)
    if axis != 0:
        result = registry["moveaxis"](result, 0, axis)
    return (result, registry["where"](shapes.as_value(steps) > 0, step, np.nan)) if retstep else result


@composite(np.eye, samples=lambda rng, dtype: [(4, 3, 1, dtype), (3, 5, -1, dtype), (3,)])
def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: str = "C", **_: Any) -> Value:
    require_c_order(order)
    return convert(registry["equal"](*grid(N, M, k)), canonical_dtype(dtype))


@composite(np.identity, samples=lambda rng, dtype: [(3, dtype), (0, dtype)])
def identity(n: Any, dtype: Any = None, **_: Any) -> Value:
    return eye(n, dtype=FLOAT64 if dtype is None else dtype)


@composite(np.tri, samples=lambda rng, dtype: [(4, 3, 1, dtype), (3, 5, -1, dtype), (3,)])
def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, **_: Any) -> Value:
    return convert(registry["greater_equal"](*grid(N, M, k)), canonical_dtype(dtype))


def grid(rows: Any, columns: Any, k: Any) -> tuple[Value, Value]:
    """The number of the diagonal's column in each row, and the number of each column."""
    below = as_extent(k, "k")
    return along(iota(rows), 0, 2) + below, iota(rows if columns is None else columns)


def along(numbers: Value, axis: int, ndim: int) -> Value:
    """A one-dimensional array laid along one axis of ``ndim``."""
    return expand_at(numbers, [place for place in range(ndim) if place != axis])


@composite(np.indices, samples=lambda rng, dtype: [((3, 4),), ((2, 3, 2), dtype)] if dtype.kind in "if" else [])
def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    lengths, wanted = as_shape(tuple(dimensions)), canonical_dtype(dtype)
    numbers = [along(convert(iota(length), wanted), axis, len(lengths)) for axis, length in enumerate(lengths)]
    return tuple(numbers) if sparse else registry["stack"]([broadcast_value(each, lengths) for each in numbers])
