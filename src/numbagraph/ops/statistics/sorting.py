"""Sorting, and searching in sorted arrays. NaN is behind all numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.blockwise.kinds import Keywords, core_op, decomposition
from numbagraph.blockwise.promotion import as_strong, as_value, common_rule, convert, promote
from numbagraph.intrinsics.emitters import searching, sorting
from numbagraph.ir import shapes
from numbagraph.ir.op import load
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Op, Value
from numbagraph.ops.arithmetic import negative
from numbagraph.ops.checking import check
from numbagraph.ops.comparison import greater_equal, less, logical_and
from numbagraph.ops.indexing.gathering import take
from numbagraph.ops.indexing.gathering_rows import scatter_along
from numbagraph.ops.integers import invert
from numbagraph.ops.linalg.common import reference
from numbagraph.ops.selection import DISCRETE
from numbagraph.ops.shape import move, ravel, reshape_value

STABLE = ("m", "s")
KINDS = ("q", "h", *STABLE)
"""The first letters of the kinds of sorting; NumPy reads no other letters."""


def sortable(value: Value) -> Value:
    """Return keys that NumPy's functions sort: truth values as integers."""
    return convert(value, np.dtype(np.uint8)) if value.dtype.kind == "b" else value


def comparable(value: Value, subject: str) -> Value:
    """Return keys that machine instructions compare."""
    if value.dtype.kind == "c":
        raise TypeError(f"{subject}: complex numbers have no order here; np.sort and np.argsort have one")
    return sortable(value)


def turned(keys: Value) -> Value:
    """Return keys whose order is reversed, but for NaN, which stays behind; applied twice, it gives the keys
    themselves."""
    return invert(keys) if keys.dtype.kind in "iu" else negative(keys)


def require_kind(kind: Any, order: Any, stable: Any, descending: Any) -> None:
    """Raise for arguments of sorting functions that NumPy refuses."""
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")
    if kind is not None and not (stable is None and descending is None):
        raise ValueError("`kind` and keyword parameters can't be provided at the same time. Use only one of them.")
    if kind is not None and not isinstance(kind, str):
        raise TypeError(f"sort kind must be str, not {type(kind).__name__}")
    if kind is not None and kind[:1].lower() not in KINDS:
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")


def with_axis(a: Any, axis: Any) -> tuple[Value, int]:
    """Return the operand and an axis of it, counted from the left."""
    value = ravel(a) if axis is None else as_value(a)
    return value, shapes.normalise_axis(-1 if axis is None else axis, value.ndim) + value.ndim


def argsort_frontend(
    op: Op,
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
    descending: Any = None,
) -> Value:
    require_kind(kind, order, stable, descending)
    value = as_value(a)
    value, axis = with_axis(value if value.ndim else ravel(value), axis)
    last = value.ndim - 1
    keys = sortable(move(value, [axis], [last]))
    keys = turned(keys) if descending else keys
    keeps_order = bool(stable) or (kind or "q")[0].lower() in STABLE
    return move(op.bind(keys, stable=keeps_order, on_error="raise"), [last], [axis])


def argsort_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    """Return arrays with equal elements, whose order NumPy defines for one kind of sorting alone, and with NaN."""
    arrays = [rng.integers(0, 2 if dtype.kind == "b" else 30, shape).astype(dtype) for shape in ((40,), (3, 17))]
    if dtype.kind == "c":
        arrays = [each + 1j * rng.permutation(each.ravel()).reshape(each.shape) for each in arrays]
    if dtype.kind == "f":
        arrays.append(np.array([np.nan, 1.0, -np.inf, 0.0, np.inf, np.nan, -0.0, 2.0, -1.0, 0.5] * 2, dtype))
    calls = [(each,) for each in arrays] + sort_samples(rng, dtype)
    return [(*call, Keywords(kind="stable")) for call in calls]


def sort_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    """Return different elements, of lengths around those of runs, along each axis."""
    numbers = rng.permutation(2 if dtype.kind == "b" else 40).astype(dtype)
    if dtype.kind == "c":
        numbers = numbers + 1j * rng.permutation(np.real(numbers))
    half = len(numbers) // 2
    arrays = [numbers, numbers[: 2 * half].reshape(2, half), numbers[: 2 * half].reshape(half, 2), numbers[:1]]
    return [(arrays[0],), (arrays[1], 0), (arrays[1], -1), (arrays[2], None), (arrays[3],)]


def argsort_jnp(a: Any, *, stable: bool, on_error: str) -> Any:
    del stable, on_error
    return load("jax.numpy:argsort")(a, axis=-1, stable=True).astype(int)


argsort = core_op(
    np.argsort,
    "(n)->(n)",
    evaluate=lambda a, *, stable, on_error: np.argsort(a, axis=-1, stable=stable),
    library=sorting.argsort,
    threaded=False,
    frontend=argsort_frontend,
    vjp=DISCRETE,
    jnp=argsort_jnp,
    dtypes=lambda dtype, *_: (INT64,),
    samples=argsort_samples,
)


def sort_frontend(
    op: Op,
    a: Any,
    axis: Any = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
    descending: Any = None,
) -> Value:
    require_kind(kind, order, stable, descending)
    value, axis = with_axis(a, axis)
    keys = sortable(value)
    found = turned(sorted_along(op, turned(keys), axis)) if descending else sorted_along(op, keys, axis)
    return convert(found, value.dtype)


def sorted_along(op: Op, keys: Value, axis: int) -> Value:
    last = keys.ndim - 1
    if axis == last:
        return op.bind(keys, on_error="raise")
    behind = keys.shape[axis + 1 :]
    columns = reshape_value(keys, (*keys.shape[: axis + 1], shapes.product(behind)))
    ordered = sorted_columns.bind(columns, on_error="raise")
    return reshape_value(ordered, keys.shape)


def sort_vjp(g: Value, y: Value, a: Value, *, on_error: str) -> tuple[Value]:
    """Return the cotangent of the elements: that of each is at the place to which sorting has moved it."""
    order = argsort.bind(a, stable=True, on_error=on_error)
    return (scatter_along(g, order, a.shape, a.ndim - 1),)


def sort_columns_vjp(g: Value, y: Value, a: Value, *, on_error: str) -> tuple[Value]:
    """Return the cotangent of matrices whose columns were sorted, by that of the transposed ones."""
    axis, last = a.ndim - 2, a.ndim - 1
    (found,) = sort_vjp(*(move(each, [axis], [last]) for each in (g, y, a)), on_error=on_error)
    return (move(found, [last], [axis]),)


sort = core_op(
    np.sort,
    "(n)->(n)",
    evaluate=lambda a, *, on_error: np.sort(a, axis=-1),
    library=sorting.sort,
    threaded=False,
    frontend=sort_frontend,
    vjp=sort_vjp,
    jnp=lambda a, *, on_error: load("jax.numpy:sort")(a, axis=-1),
    samples=sort_samples,
)

sorted_columns = core_op(
    None,
    "(n,k)->(n,k)",
    name="sorted_columns",
    evaluate=lambda a, *, on_error: np.sort(a, axis=-2),
    library=sorting.sort_columns,
    threaded=False,
    scratch=lambda dtype, lengths, **_: [
        (dtype, (lowering.minimum(lengths["k"], lowering.literal(sorting.COLUMNS)), lengths["n"]))
    ],
    in_place=True,
    frontend=lambda op, a: op.bind(as_value(a), on_error="raise"),
    vjp=sort_columns_vjp,
    jnp=lambda a, *, on_error: load("jax.numpy:sort")(a, axis=-2),
    samples=lambda rng, dtype: [
        (rng.permutation(length * width).astype(dtype).reshape(length, width),)
        for length, width in ((9, 3), (3, 17), (5, 8), (1, 2))
        if dtype.kind not in "bc"
    ],
)
"""Matrices whose columns are sorted."""


def insertion_points_jnp(a: Any, v: Any, *, right: bool) -> Any:
    def one(keys: Any, numbers: Any) -> Any:
        return load("jax.numpy:searchsorted")(keys, numbers, "right" if right else "left").astype(int)

    return load("jax.numpy:vectorize")(one, signature="(n),(m)->(m)")(a, v)


def search_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind == "c":
        return []
    edges = np.sort(rng.integers(0, 2 if dtype.kind == "b" else 20, 9).astype(dtype))
    return [
        (edges, edges),
        (edges, np.arange(6).reshape(2, 3).astype(dtype), "right"),
        (edges, edges[4]),
        (edges[::-1], edges[::2], "left", np.arange(9)[::-1]),
        (edges[:0], edges),
    ]


insertion_points = core_op(
    None,
    "(n),(m)->(m)",
    name="insertion_points",
    evaluate=reference("(n),(m)->(m)")(lambda a, v, *, right: np.searchsorted(a, v, "right" if right else "left")),
    library=searching.search,
    threaded=False,
    frontend=lambda op, a, v, *, right: op.bind(*promote(common_rule(), (a, v)), right=right),
    vjp=DISCRETE,
    jnp=insertion_points_jnp,
    dtypes=lambda dtype, *_: (INT64,),
    samples=lambda rng, dtype: [
        (edges, np.atleast_1d(v), Keywords(right=right))
        for edges, v, *_ in search_samples(rng, dtype)[:3]
        for right in (False, True)
        if dtype.kind != "b"
    ],
)
"""The positions at which numbers would have to be put into a sorted vector: before elements that are equal to them, or
behind these."""


def sorted_by(keys: Value, sorter: Value) -> Value:
    """Return keys in an order that is given by positions, which are not counted from the end."""
    if sorter.dtype.kind not in "iu":
        raise TypeError("sorter must only contain integers")
    if sorter.ndim != 1:
        raise TypeError("could not parse sorter argument")
    shapes.require_same(sorter.shape[0], keys.shape[0], "sorter.size must equal a.size", ValueError)
    positions = convert(sorter, INT64)
    inside = logical_and(greater_equal(positions, 0), less(positions, shapes.as_value(keys.shape[0])))
    return take(keys, check(positions, inside, message="Sorter index out of range."))


@decomposition(np.searchsorted, samples=search_samples, scalar=True)
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Value:
    keys, numbers = as_value(a), as_strong(v)
    if keys.ndim != 1:
        raise ValueError(f"searchsorted: the sorted array has one dimension, not {keys.ndim}")
    if side not in ("left", "right"):
        raise ValueError(f"side must be 'left' or 'right' (got {side!r})")
    keys = keys if sorter is None else sorted_by(keys, as_value(sorter))
    keys, numbers = promote(common_rule(), (keys, numbers))
    keys, numbers = (comparable(each, "searchsorted") for each in (keys, numbers))
    positions = insertion_points(keys, ravel(numbers), right=side == "right")
    return reshape_value(positions, numbers.shape)
