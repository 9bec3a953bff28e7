"""Arrays from nothing but lengths and numbers. Lengths may be integer scalars that are only known at run time.

NumPy cannot dispatch ``np.zeros(n)`` with such a length: `numbagraph.numpy` offers these functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.common import scalar_result
from numbagraph.blockwise.kinds import decomposition, draw, view
from numbagraph.blockwise.lengths import as_extent, as_length, as_shape
from numbagraph.blockwise.lowering import Index
from numbagraph.blockwise.promotion import (
    as_value,
    common_dtype,
    convert,
    is_large,
    kind_of,
    number_of,
)
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import FLOAT64, INT64, canonical_dtype
from numbagraph.ir.values import ArrayType, Constant, Extent, Lowering, Node, Op, Unsupported, Value, constant
from numbagraph.ops.identity import require_cpu
from numbagraph.ops.shape import broadcast_value, copy, expand_at, require_c_order


def iota_type(*sizes: Value, size: int | None) -> ArrayType:
    (extent,) = shapes.join_extents((size,), sizes)
    return ArrayType(INT64, (extent,))


class Iota(Lowering):
    """The lowering of `iota`: each element is its own index."""

    def element(self, node: Node, index: Index) -> lowering.Element:
        yield from ()
        return index[0]


def iota_frontend(op: Op, size: Any) -> Value:
    (template,), sizes = shapes.split_extents((as_length(size),))
    return op.bind(*sizes, size=template)


def one_length(op: Op, *_: Any, **__: Any) -> NoReturn:
    raise NotImplementedError(f"{op.name} with sizes that differ along a batch")


iota = registry.register(
    Op(
        name="iota",
        kind="creation",
        reference=lambda *sizes, size: np.arange(*shapes.join_extents((size,), sizes), dtype=np.int64),
        infer=iota_type,
        frontend=iota_frontend,
        lower=Iota(),
        vjp=Unsupported("integers have no derivative"),
        batch=one_length,
        jnp=lambda *sizes, size: load("jax.numpy:arange")(*shapes.join_extents((size,), sizes), dtype=int),
        samples=lambda rng, dtype: [(5,), (0,)] if dtype == INT64 else [],
        zero_dim="array",
        cost=0.0,
    )
)
"""The integers 0, 1, 2, ... below a length."""


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


def is_zero(value: Value) -> bool:
    return isinstance(value, Constant) and not value.ndim and not value.data


def is_zeros(value: Value) -> bool:
    """Whether a value is zero, or an array of zeros."""
    if isinstance(value, Node) and value.op.name in ("full", "asarray"):
        value = value.inputs[0]
    return is_zero(value)


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
    """Return zeros of the shape of ``value``, and of its dtype unless another is given."""
    return filled(number_as(0, dtype or value.dtype), value.shape)


def declare_constant(reference: Any, like: Any, number: int) -> tuple[Op, Op]:
    """Declare, for example, ``zeros`` and ``zeros_like``."""

    @decomposition(reference, samples=lambda rng, dtype: [((3, 4), dtype), (0, dtype)])
    def create(shape: Any, dtype: Any = None, order: str = "C", **_: Any) -> Value:
        return full_value(shape, number, FLOAT64 if dtype is None else dtype, order)

    @decomposition(
        like, samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4)),), (draw(rng, dtype, (3, 4)), np.float32)]
    )
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


@decomposition(np.empty, samples=lambda rng, dtype: [])
def empty(shape: Any, dtype: Any = None, order: str = "C", **_: Any) -> Value:
    """Return zeros in place of uninitialised memory, since a value that a graph does not define does not exist."""
    return zeros(shape, dtype, order)


@decomposition(np.empty_like, samples=lambda rng, dtype: [])
def empty_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, **_: Any) -> Value:
    return fill_like(a, 0, dtype, shape)


@decomposition(np.full_like, samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4)), 1)])
def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, **_: Any
) -> Value:
    return fill_like(a, fill_value, dtype, shape)


def linspace_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind not in "fc":
        return []
    ends = draw(rng, dtype, (2,))
    return [(*ends, 7), (0.0, 1.0, 5, False), (*ends, 1), (0.0, 1.0, 0), (draw(rng, dtype, (3,)), ends[0], 4)]


@decomposition(np.linspace, samples=linspace_samples)
def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    require_cpu(device)
    first, last = as_value(start), as_value(stop)
    working = common_dtype((kind_of(first), kind_of(last), float))
    wanted = working if dtype is None else canonical_dtype(dtype)
    first, last = convert(first, working), convert(last, working)
    count = as_length(num)
    steps = shapes.subtract(count, 1) if endpoint else count
    divisor = convert(shapes.as_value(shapes.maximum(steps, 1)), working)
    numbers = expand_at(iota(count), range(1, 1 + max(first.ndim, last.ndim)))
    delta, positions = last - first, convert(numbers, working)
    step = delta / divisor
    vanishes = registry["equal"](step, 0)  # the distance is denormal: it is divided last
    result = registry["where"](vanishes, positions / divisor * delta, positions * step) + first
    if endpoint:
        at_end = registry["logical_and"](registry["equal"](numbers, shapes.as_value(steps)), numbers > 0)
        result = registry["where"](at_end, last, result)
    result = convert(registry["floor"](result) if wanted.kind in "iu" else result, wanted)
    if axis != 0:
        result = registry["moveaxis"](result, 0, axis)
    return (result, scalar_result(registry["where"](shapes.as_value(steps) > 0, step, np.nan))) if retstep else result


@decomposition(np.eye, samples=lambda rng, dtype: [(4, 3, 1, dtype), (3, 5, -1, dtype), (3,)])
def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: str = "C", **_: Any) -> Value:
    require_c_order(order)
    return convert(registry["equal"](*grid(N, M, k)), canonical_dtype(dtype))


@decomposition(np.identity, samples=lambda rng, dtype: [(3, dtype), (0, dtype)])
def identity(n: Any, dtype: Any = None, **_: Any) -> Value:
    return eye(n, dtype=FLOAT64 if dtype is None else dtype)


@decomposition(np.tri, samples=lambda rng, dtype: [(4, 3, 1, dtype), (3, 5, -1, dtype), (3,)])
def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, **_: Any) -> Value:
    return convert(registry["greater_equal"](*grid(N, M, k)), canonical_dtype(dtype))


def grid(rows: Any, columns: Any, k: Any) -> tuple[Value, Value]:
    """The number of the diagonal's column in each row, and the number of each column."""
    below = as_extent(k, "k")
    return along(iota(rows), 0, 2) + below, iota(rows if columns is None else columns)


def along(numbers: Value, axis: int, ndim: int) -> Value:
    """Return a one-dimensional array laid along one axis of ``ndim``."""
    return expand_at(numbers, [each for each in range(ndim) if each != axis])


@decomposition(np.indices, samples=lambda rng, dtype: [((3, 4),), ((2, 3, 2), dtype)] if dtype.kind in "if" else [])
def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    lengths, wanted = as_shape(tuple(dimensions)), canonical_dtype(dtype)
    numbers = [along(convert(iota(length), wanted), axis, len(lengths)) for axis, length in enumerate(lengths)]
    return tuple(numbers) if sparse else registry["stack"]([broadcast_value(each, lengths) for each in numbers])
