"""Products and sums of two sparse matrices. Where a result has elements is found first: how many there are is a length
that the data decide. Its elements are those that this pattern has, so that derivatives are of the same form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.blockwise.common import scalar_result
from numbagraph.blockwise.kinds import core_op, draw
from numbagraph.blockwise.lengths import as_extent
from numbagraph.blockwise.promotion import convert
from numbagraph.intrinsics import sparse_products
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Extent, Op, Unsupported, Value
from numbagraph.ops import sparse
from numbagraph.ops.creation import filled, iota, number_as
from numbagraph.ops.gathering import gather_value
from numbagraph.ops.linalg.common import reference
from numbagraph.ops.sparse_forms import Form, alike, looked_up, transposition

Arrays = tuple[np.ndarray, ...]

PRODUCT_STARTS = "(d),(p),(z,m,l),(e),(q),(z,l,n)->(p)"
PRODUCT_INDICES = "(d),(p),(z,m,l),(e),(q),(z,l,n),(p),(c)->(c)"
PRODUCT_AT = "(d),(d),(p),(z,m,l),(e),(e),(q),(z,l,n),(c),(p)->(c)"
UNION_STARTS = "(d),(p),(e),(p),(z,m,n)->(p)"
UNION_INDICES = "(d),(p),(e),(p),(z,m,n),(p),(c)->(c)"

NOT_ON_JAX = Unsupported("the data decide how many elements a product or a sum of sparse arrays has")


def product_terms(indices: Any, starts: Any, shape: Any, others: Any, other_starts: Any, other_shape: Any) -> Arrays:
    """The row of each term of a product, and the numbers of the elements that are multiplied."""
    rows = sparse.rows_of(indices, starts, shape)
    sparse.rows_of(others, other_starts, other_shape)
    counts = np.diff(other_starts)[indices]
    left = np.repeat(np.arange(len(indices)), counts)
    right = np.repeat(other_starts[:-1][indices] - (np.cumsum(counts) - counts), counts) + np.arange(len(left))
    return rows[left].astype(np.int64), left, right


def places_of_product(*arrays: Any) -> tuple[np.ndarray, np.ndarray]:
    rows, _, right = product_terms(*arrays[:6])
    return rows, arrays[3][right]


def places_of_union(indices: Any, starts: Any, others: Any, other_starts: Any, shape: Any, *_: Any) -> Arrays:
    rows = [sparse.rows_of(*each, shape).astype(np.int64) for each in ((indices, starts), (others, other_starts))]
    order = np.argsort(np.concatenate(rows), kind="stable")
    return np.concatenate(rows)[order], np.concatenate([indices, others])[order]


def first_places(rows: np.ndarray, columns: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """The numbers of those that are at a place where none was before."""
    _, first = np.unique(rows * shape.shape[-1] + columns, return_index=True)
    return np.sort(first)


def starts_of(places: Callable[..., Any], last: int) -> Callable[..., np.ndarray]:
    def evaluate(*arrays: Any) -> np.ndarray:
        rows, columns = places(*arrays)
        first = first_places(rows, columns, arrays[last])
        return np.append(0, np.cumsum(np.bincount(rows[first], minlength=len(arrays[1]) - 1)))

    return evaluate


def indices_of(places: Callable[..., Any], last: int) -> Callable[..., np.ndarray]:
    def evaluate(*arrays: Any) -> np.ndarray:
        rows, columns = places(*arrays)
        found = columns[first_places(rows, columns, arrays[last])]
        if arrays[-2][-1] != len(found) or arrays[-1].shape != found.shape:
            raise ValueError(f"a sparse result of {len(found)} elements, where {len(arrays[-1])} were counted")
        return found.astype(arrays[0].dtype)

    return evaluate


def product_at_array(
    x: Any, indices: Any, starts: Any, shape: Any, y: Any, others: Any, other_starts: Any, other_shape: Any,
    wanted: Any, wanted_starts: Any,
) -> np.ndarray:  # fmt: skip
    rows, left, right = product_terms(indices, starts, shape, others, other_starts, other_shape)
    width = other_shape.shape[2]
    whole = np.zeros((0, shape.shape[1], width), bool)
    keys = sparse.rows_of(wanted, wanted_starts, whole).astype(np.int64) * width + wanted
    unique, place = np.unique(rows * width + others[right], return_inverse=True)
    sums = np.zeros(len(unique) + 1, x.dtype)
    np.add.at(sums, place, x[left] * y[right])
    found = np.searchsorted(unique, keys)
    return sums[np.where(np.append(unique, -1)[found] == keys, found, len(unique))]


def product_at_jnp(
    x: Any, indices: Any, starts: Any, shape: Any, y: Any, others: Any, other_starts: Any, other_shape: Any,
    wanted: Any, wanted_starts: Any,
) -> Any:  # fmt: skip
    """Of dense matrices: JAX's product of two BCOO arrays has a number of elements that must be known."""
    zeros, dtype = load("jax.numpy:zeros"), np.dtype(np.int32) if x.dtype == bool else x.dtype  # JAX adds numbers only
    left = zeros(shape.shape[1:], dtype).at[sparse.jax_rows(indices, starts), indices].add(x.astype(dtype))
    right = zeros(other_shape.shape[1:], dtype).at[sparse.jax_rows(others, other_starts), others].add(y.astype(dtype))
    return (left @ right)[sparse.jax_rows(wanted, wanted_starts), wanted].astype(x.dtype)


def factor_samples() -> list[Arrays]:
    """Patterns of factors that fit: with elements that are there twice, and empty rows; and of nothing."""
    some = sparse.patterns()[0]
    other = np.array([1, 1, 0, 2, 0, 2], np.int32), np.array([0, 2, 3, 3, 5, 6], np.int32), np.zeros((0, 5, 3), bool)
    none = np.array([], np.int32), np.array([0, 0, 0], np.int32), np.zeros((0, 2, 0), bool)
    nothing = np.array([], np.int32), np.array([0], np.int32), np.zeros((0, 0, 3), bool)
    return [(*some, *other), (*none, *nothing)]


def term_samples() -> list[Arrays]:
    (indices, starts, shape), none, _ = sparse.patterns()
    others = np.array([4, 0, 2, 2, 3], np.int32), np.array([0, 2, 3, 5, 5], np.int32)
    return [(indices, starts, *others, shape), (*none[:2], *none[:2], none[2])]


def index_samples(patterns: Callable[[], list[Arrays]], starts: Callable[..., np.ndarray] | None) -> Any:
    def samples(rng: np.random.Generator, dtype: np.dtype) -> list[Arrays]:
        calls = patterns() if dtype.kind == "i" else []
        if starts is None:
            return calls
        found = [starts(*each) for each in calls]
        return [(*each, own, np.zeros(own[-1], bool)) for each, own in zip(calls, found, strict=True)]

    return samples


def at_samples(rng: np.random.Generator, dtype: np.dtype) -> list[Arrays]:
    wanted = (
        (np.array([2, 1, 0, 1, 1, 0], np.int32), np.array([0, 2, 3, 6, 6], np.int32)),
        (np.array([], np.int32), np.array([0, 0, 0], np.int32)),
    )
    return [
        (draw(rng, dtype, each[0].shape), *each[:3], draw(rng, dtype, each[3].shape), *each[3:], *own)
        for each, own in zip(factor_samples(), wanted, strict=True)
    ]


def declare(name: str, signature: str, evaluate: Any, library: Any, samples: Any, **options: Any) -> Op:
    return core_op(
        None,
        signature,
        name=f"sparse_{name}",
        evaluate=reference(signature, like=0)(evaluate),
        library=library,
        threaded=False,
        frontend=sparse.bound,
        samples=samples,
        longest=sparse.LONGEST,
        **options,
    )


def declare_pattern(name: str, signature: str, evaluate: Any, library: Any, samples: Any, **options: Any) -> Op:
    """An op that finds where elements are, which has no derivative."""
    count = signature.count("(") - 1
    no_derivative = lambda *_, **__: (None,) * count  # noqa: E731
    scratch = lambda dtype, lengths, **_: [(INT64, (lengths["n"],)), (INT64, (1,))]  # noqa: E731
    return declare(
        name, signature, evaluate, library, samples, vjp=no_derivative, jnp=NOT_ON_JAX, scratch=scratch, **options
    )


def as_int64(dtype: np.dtype) -> tuple[np.dtype]:
    return (INT64,)


product_starts = declare_pattern(
    "product_starts", PRODUCT_STARTS, starts_of(places_of_product, 5), sparse_products.product_starts,
    index_samples(factor_samples, None), dtypes=as_int64,
)  # fmt: skip
"""Where the rows of a product begin."""

product_indices = declare_pattern(
    "product_indices", PRODUCT_INDICES, indices_of(places_of_product, 5), sparse_products.product_indices,
    index_samples(factor_samples, starts_of(places_of_product, 5)),
)  # fmt: skip
"""The columns of its elements."""

union_starts = declare_pattern(
    "union_starts", UNION_STARTS, starts_of(places_of_union, 4), sparse_products.union_starts,
    index_samples(term_samples, None), dtypes=as_int64,
)  # fmt: skip
"""Where the rows of a matrix begin that has elements where one of two has."""

union_indices = declare_pattern(
    "union_indices", UNION_INDICES, indices_of(places_of_union, 4), sparse_products.union_indices,
    index_samples(term_samples, starts_of(places_of_union, 4)),
)  # fmt: skip
"""The columns of its elements."""


def turned(indices: Value, starts: Value, lengths: Value, data: Value) -> tuple[Value, Value, Value, Value]:
    """A compressed matrix, transposed: elements and pattern."""
    order, found = transposition(Form("csr", indices, starts, lengths))
    return gather_value(data, [order], -1, checked=False), *found.pattern


def product_at_vjp(
    g: Value, _: Value, x: Value, indices: Value, starts: Value, shape: Value, y: Value, others: Value,
    other_starts: Value, other_shape: Value, wanted: Value, wanted_starts: Value, *, on_error: str,
) -> tuple[Value | None, ...]:  # fmt: skip
    """Of C = X Y the cotangents are G Y' and X' G, at the elements of X and of Y."""
    lengths = lengths_of(shape.shape[-2], other_shape.shape[-1])
    of_x = product_at(g, wanted, wanted_starts, lengths, *turned(others, other_starts, other_shape, y), indices, starts)
    of_y = product_at(*turned(indices, starts, shape, x), g, wanted, wanted_starts, lengths, others, other_starts)
    return of_x, None, None, None, of_y, None, None, None, None, None


product_at = declare(
    "product_at", PRODUCT_AT, product_at_array, sparse_products.product_at, at_samples, vjp=product_at_vjp,
    jnp=sparse.jax_stacked(PRODUCT_AT, product_at_jnp),
    scratch=lambda dtype, lengths, **_: [(dtype, (lengths["n"],))],
)  # fmt: skip
"""The elements that a pattern has of a product."""


def lengths_of(rows: Extent, columns: Extent) -> Value:
    return filled(number_as(0, np.dtype(bool)), (0, rows, columns))


def pattern_of(starts: Value, indices: Callable[[Value, Value], Value], dtype: np.dtype, lengths: Value) -> Form:
    """The pattern of a result that has been counted, with positions of a dtype, which must hold their number."""
    count = starts[-1]
    text = f"a sparse result has more elements than {dtype} counts: give operands with indices of int64"
    shapes.require(registry["less_equal"](count, int(np.iinfo(dtype).max)), text, ValueError)
    room = filled(number_as(0, np.dtype(bool)), (as_extent(registry["maximum"](count, 0)),))
    return Form("csr", indices(starts, room), convert(starts, dtype), lengths)


def product(data: Value, form: Form, other: Value, others: Form) -> tuple[Value, Form]:
    """The product of two matrices that are compressed by rows."""
    (rows, inner), (own, columns) = form.shape, others.shape
    signature = f"(n,k={shapes.resolve(inner)}),(k={shapes.resolve(own)},m)->(n,m)"
    shapes.require_same(own, inner, f"matmul: dimension mismatch with signature {signature}", ValueError)
    data, other = alike(data, other)
    first, second = alike(form.first, others.first)
    factors = first, form.second, form.lengths, second, others.second, others.lengths
    found = pattern_of(
        product_starts(*factors), lambda *result: product_indices(*factors, *result), first.dtype,
        lengths_of(rows, columns),
    )  # fmt: skip
    left, right = factors[:3], factors[3:]
    return product_at(data, *left, other, *right, found.first, found.second), found


def union(form: Form, others: Form) -> Form:
    """Where one of two matrices of one shape, compressed in one way, has elements."""
    for axis, (own, its) in enumerate(zip(form.shape, others.shape, strict=True)):
        shapes.require_same(own, its, f"inconsistent shapes: axis {axis} of two sparse arrays", ValueError)
    first, second = alike(form.first, others.first)
    terms = first, form.second, second, others.second, form.lengths
    starts = union_starts(*terms)
    found = pattern_of(starts, lambda *result: union_indices(*terms, *result), first.dtype, form.lengths)
    return Form(form.name, found.first, found.second, form.lengths)


def together(data: Value, form: Form, other: Value, others: Form) -> tuple[Value, Value, Form]:
    """The elements of two matrices of one format at the places where one of them has any, and these places."""
    found = union(form, others)
    return looked_up(data, form, found), looked_up(other, others, found), found


def chosen_rows(data: Value, form: Form, rows: Value) -> tuple[Value, Form]:
    """Some rows of a matrix that is compressed by rows: the product with a matrix of one element a row."""
    count = rows.shape[0]
    starts = convert(iota(shapes.add(count, 1)), form.first.dtype)
    selection = Form("csr", convert(rows, form.first.dtype), starts, lengths_of(count, form.shape[0]))
    return product(filled(number_as(1, data.dtype), (count,)), selection, data, form)


def element(data: Value, form: Form, row: Value, column: Value) -> Value:
    """The element at one place."""
    rows, columns = form.coordinates
    here = registry["logical_and"](registry["equal"](rows, row), registry["equal"](columns, column))
    return registry["sum"](registry["where"](here, data, number_as(0, data.dtype)), dtype=data.dtype)


def extreme(data: Value, form: Form, *, name: str) -> Value:
    """The largest or smallest element. Where there is none is a zero."""
    rows, columns = form.shape
    size = shapes.multiply(rows, columns)
    shapes.require(shapes.compare("greater", size, 0), "zero-size array to reduction operation", ValueError)
    kind, limits = data.dtype.kind, (-np.inf, np.inf)
    if kind in "iub":
        limits = (False, True) if kind == "b" else (np.iinfo(data.dtype).min, np.iinfo(data.dtype).max)
    found = registry[name](data, initial=data.dtype.type(limits[name == "min"]))
    zero = number_as(0, data.dtype)
    is_full = registry["equal"](shapes.as_value(data.shape[0]), shapes.as_value(size))
    return scalar_result(registry["where"](is_full, found, registry[f"{name}imum"](found, zero)))
