"""Products and sums of two sparse matrices. The positions of a result's elements are found first: their number is a
length that depends on the data. The elements are then computed for this pattern, so that derivatives are of the same
form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.blockwise.common import scalar_result
from numbagraph.blockwise.kinds import core_op, draw
from numbagraph.blockwise.lengths import as_extent
from numbagraph.blockwise.promotion import convert
from numbagraph.intrinsics.emitters.sparse import pairs as sparse_products
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Extent, Op, Unsupported, Value
from numbagraph.ops.creation import filled, number_as
from numbagraph.ops.indexing.gathering import gather_value, scatter
from numbagraph.ops.linalg.common import reference
from numbagraph.ops.sparse import compressed
from numbagraph.ops.sparse.formats import Form, alike, transposition

Arrays = tuple[np.ndarray, ...]

PRODUCT_STARTS = "(d),(p),(z,m,l),(e),(q),(z,l,n)->(p)"
PRODUCT_ELEMENTS = "(d),(d),(p),(z,m,l),(e),(e),(q),(z,l,n),(c)->(c),(c)"
PRODUCT_AT = "(d),(d),(p),(z,m,l),(e),(e),(q),(z,l,n),(c),(p)->(c)"
UNION_STARTS = "(d),(p),(e),(p),(z,m,n)->(p)"
SUM_ELEMENTS = "(d),(e),(d),(p),(e),(p),(z,m,n),(c)->(c),(c)"
UNION_PLACES = "(d),(p),(e),(p),(z,m,n),(c)->(c),(d),(e)"
CHOSEN_ROWS = "(d),(d),(p),(z,m,n),(r),(c)->(c),(c)"
ROW_ELEMENTS = "(d),(p),(z,m,n),(r),(c)->(c)"

NOT_ON_JAX = Unsupported("the data decide how many elements a product or a sum of sparse arrays has")


def product_terms(indices: Any, starts: Any, shape: Any, others: Any, other_starts: Any, other_shape: Any) -> Arrays:
    """Return the row of each term of a product, and the numbers of the elements that are multiplied."""
    rows = compressed.rows_of(indices, starts, shape)
    compressed.rows_of(others, other_starts, other_shape)
    counts = np.diff(other_starts)[indices]
    left = np.repeat(np.arange(len(indices)), counts)
    right = np.repeat(other_starts[:-1][indices] - (np.cumsum(counts) - counts), counts) + np.arange(len(left))
    return rows[left].astype(np.int64), left, right


def places_of_product(*arrays: Any) -> tuple[np.ndarray, np.ndarray]:
    rows, _, right = product_terms(*arrays[:6])
    return rows, arrays[3][right]


def places_of_union(indices: Any, starts: Any, others: Any, other_starts: Any, shape: Any, *_: Any) -> Arrays:
    rows = [compressed.rows_of(*each, shape).astype(np.int64) for each in ((indices, starts), (others, other_starts))]
    order = np.argsort(np.concatenate(rows), kind="stable")
    return np.concatenate(rows)[order], np.concatenate([indices, others])[order]


def first_places(rows: np.ndarray, columns: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Return the numbers of the terms that are the first ones at their place."""
    _, first = np.unique(rows * shape.shape[-1] + columns, return_index=True)
    return np.sort(first)


def starts_of(places: Callable[..., Any], last: int) -> Callable[..., np.ndarray]:
    def evaluate(*arrays: Any) -> np.ndarray:
        rows, columns = places(*arrays)
        first = first_places(rows, columns, arrays[last])
        return np.append(0, np.cumsum(np.bincount(rows[first], minlength=len(arrays[1]) - 1)))

    return evaluate


def chosen_rows_array(x: Any, *pattern: Any) -> tuple[np.ndarray, np.ndarray]:
    order = row_elements_array(*pattern)
    return x[order], pattern[0][order]


def counted(found: np.ndarray, room: Any) -> None:
    if room.shape != found.shape:
        raise ValueError(f"a sparse result of {len(found)} elements, where {len(room)} were counted")


def product_elements_array(*arrays: Any) -> tuple[np.ndarray, np.ndarray]:
    factors: Any = (*arrays[1:4], *arrays[5:8])
    room = arrays[8]
    rows, columns = places_of_product(*factors)
    first = first_places(rows, columns, factors[-1])
    counted(first, room)
    found, own = columns[first].astype(factors[0].dtype), starts_of(places_of_product, 5)(*factors)
    operands: Any = (*arrays[:8], found, own)
    return product_at_array(*operands), found


def union_places_array(*arrays: Any) -> Arrays:
    indices, starts, others, other_starts, shape, room = arrays
    rows, columns = places_of_union(*arrays)
    first = first_places(rows, columns, shape)
    counted(first, room)
    keys = rows[first] * shape.shape[2] + columns[first]
    order = np.argsort(keys)

    def place(indices: Any, starts: Any) -> np.ndarray:
        own = compressed.rows_of(indices, starts, shape).astype(np.int64) * shape.shape[2] + indices
        return order[np.searchsorted(keys, own, sorter=order)].astype(arrays[0].dtype)

    return columns[first].astype(arrays[0].dtype), place(indices, starts), place(others, other_starts)


def sum_elements_array(x: Any, y: Any, *terms: Any) -> tuple[np.ndarray, np.ndarray]:
    columns, left, right = union_places_array(*terms)
    found = np.zeros(len(columns), x.dtype)
    np.add.at(found, left, x)
    np.add.at(found, right, y)
    return found, columns


def row_elements_array(indices: Any, starts: Any, shape: Any, rows: Any, room: Any) -> np.ndarray:
    compressed.rows_of(indices, starts, shape)
    if len(rows) and not 0 <= rows.min() <= rows.max() < shape.shape[1]:
        raise IndexError(f"rows from {rows.min()} to {rows.max()} of a sparse array of {shape.shape[1]} rows")
    parts = [np.arange(starts[each], starts[each + 1]) for each in rows]
    found = np.concatenate([np.zeros(0, int), *parts]).astype(indices.dtype)
    counted(found, room)
    return found


def product_at_array(
    x: Any, indices: Any, starts: Any, shape: Any, y: Any, others: Any, other_starts: Any, other_shape: Any,
    wanted: Any, wanted_starts: Any,
) -> np.ndarray:  # fmt: skip
    rows, left, right = product_terms(indices, starts, shape, others, other_starts, other_shape)
    width = other_shape.shape[2]
    whole = np.zeros((0, shape.shape[1], width), bool)
    keys = compressed.rows_of(wanted, wanted_starts, whole).astype(np.int64) * width + wanted
    unique, place = np.unique(rows * width + others[right], return_inverse=True)
    sums = np.zeros(len(unique) + 1, x.dtype)
    np.add.at(sums, place, x[left] * y[right])
    found = np.searchsorted(unique, keys)
    return sums[np.where(np.append(unique, -1)[found] == keys, found, len(unique))]


def product_at_jnp(
    x: Any, indices: Any, starts: Any, shape: Any, y: Any, others: Any, other_starts: Any, other_shape: Any,
    wanted: Any, wanted_starts: Any,
) -> Any:  # fmt: skip
    """Multiply dense matrices: JAX's product of two BCOO arrays has a number of elements that must be known."""
    zeros, dtype = load("jax.numpy:zeros"), np.dtype(np.int32) if x.dtype == bool else x.dtype  # JAX adds numbers only
    left = zeros(shape.shape[1:], dtype).at[compressed.jax_rows(indices, starts), indices].add(x.astype(dtype))
    right = (
        zeros(other_shape.shape[1:], dtype).at[compressed.jax_rows(others, other_starts), others].add(y.astype(dtype))
    )
    return (left @ right)[compressed.jax_rows(wanted, wanted_starts), wanted].astype(x.dtype)


def factor_samples() -> list[Arrays]:
    """Return patterns of factors that fit: with elements that are there twice, and empty rows; and of nothing."""
    some = compressed.patterns()[0]
    other = np.array([1, 1, 0, 2, 0, 2], np.int32), np.array([0, 2, 3, 3, 5, 6], np.int32), np.zeros((0, 5, 3), bool)
    none = np.array([], np.int32), np.array([0, 0, 0], np.int32), np.zeros((0, 2, 0), bool)
    nothing = np.array([], np.int32), np.array([0], np.int32), np.zeros((0, 0, 3), bool)
    return [(*some, *other), (*none, *nothing)]


def term_samples() -> list[Arrays]:
    (indices, starts, shape), none, _ = compressed.patterns()
    others = np.array([4, 0, 2, 2, 3], np.int32), np.array([0, 2, 3, 5, 5], np.int32)
    return [(indices, starts, *others, shape), (*none[:2], *none[:2], none[2])]


def pattern_samples(patterns: Callable[[], list[Arrays]]) -> Any:
    return lambda rng, dtype: patterns() if dtype.kind == "i" else []


def element_samples(rng: np.random.Generator, dtype: np.dtype) -> list[Arrays]:
    calls = []
    for indices, starts, shape, others, other_starts, other_shape in factor_samples():
        count = starts_of(places_of_product, 5)(indices, starts, shape, others, other_starts, other_shape)[-1]
        x, y = draw(rng, dtype, indices.shape), draw(rng, dtype, others.shape)
        calls.append((x, indices, starts, shape, y, others, other_starts, other_shape, np.zeros(count, bool)))
    return calls


def union_samples(rng: np.random.Generator, dtype: np.dtype) -> list[Arrays]:
    calls = term_samples() if dtype.kind == "i" else []
    return [(*each, np.zeros(starts_of(places_of_union, 4)(*each)[-1], bool)) for each in calls]


def sum_samples(rng: np.random.Generator, dtype: np.dtype) -> list[Arrays]:
    calls = union_samples(rng, np.dtype(int))
    return [(draw(rng, dtype, each[0].shape), draw(rng, dtype, each[2].shape), *each) for each in calls]


def row_samples(rng: np.random.Generator, dtype: np.dtype) -> list[Arrays]:
    calls = []
    for (indices, starts, shape), rows in zip(compressed.patterns(), ([2, 0, 1, 2], [], [1, 1, 0]), strict=True):
        chosen = np.array(rows, np.int64)
        count = int(np.diff(starts)[chosen].sum())
        calls.append((indices, starts, shape, chosen, np.zeros(count, bool)))
    return calls if dtype.kind == "i" else []


def chosen_samples(rng: np.random.Generator, dtype: np.dtype) -> list[Arrays]:
    return [(draw(rng, dtype, each[0].shape), *each) for each in row_samples(rng, np.dtype(int))]


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
        frontend=compressed.bound(signature),
        samples=samples,
        longest=compressed.LONGEST,
        **options,
    )


def declare_pattern(name: str, signature: str, evaluate: Any, library: Any, samples: Any, **options: Any) -> Op:
    """Declare an op that finds where elements are, which has no derivative."""
    count = signature.count("(") - 1
    no_derivative = lambda *_, **__: (None,) * count  # noqa: E731
    return declare(name, signature, evaluate, library, samples, vjp=no_derivative, jnp=NOT_ON_JAX, **options)


def as_int64(*_: np.dtype) -> tuple[np.dtype]:
    return (INT64,)


def of_columns(dtype: np.dtype, lengths: Any, **_: Any) -> Any:
    """Return the scratch memory: an integer for each column."""
    return [(INT64, (lengths["n"],))]


def sum_elements_vjp(given: Any, _: Value, *operands: Value, on_error: str) -> tuple[Value | None, ...]:
    places: Any = union_places(*operands[2:])
    return *(gather_value(given[0], [each], -1, checked=False) for each in places[1:]), *[None] * 6


product_starts = declare_pattern(
    "product_starts", PRODUCT_STARTS, starts_of(places_of_product, 5), sparse_products.product_starts,
    pattern_samples(factor_samples), dtypes=as_int64, scratch=of_columns,
)  # fmt: skip
"""The beginnings of the rows of a product."""

union_starts = declare_pattern(
    "union_starts", UNION_STARTS, starts_of(places_of_union, 4), sparse_products.union_starts,
    pattern_samples(term_samples), dtypes=as_int64, scratch=of_columns,
)  # fmt: skip
"""The beginnings of the rows of a matrix that has elements where one of two matrices has."""

union_places = declare_pattern(
    "union_places", UNION_PLACES, union_places_array, sparse_products.union_places, union_samples,
    dtypes=lambda dtype, *_: (dtype,) * 3, scratch=of_columns,
)  # fmt: skip
"""The columns of the elements of a union, and the numbers in it of the elements of both matrices."""

sum_elements = declare(
    "sum_elements", SUM_ELEMENTS, sum_elements_array, sparse_products.sum_elements, sum_samples, vjp=sum_elements_vjp,
    jnp=NOT_ON_JAX, dtypes=lambda x, y, indices, *_: (x, indices), scratch=of_columns,
)  # fmt: skip
"""The elements of a sum, and the column of each."""

row_elements = declare_pattern(
    "row_elements", ROW_ELEMENTS, row_elements_array, sparse_products.row_elements, row_samples
)
"""The numbers of the elements of some rows."""


def chosen_rows_vjp(given: Any, _: Value, data: Value, *pattern: Value, on_error: str) -> tuple[Value | None, ...]:
    return scatter(given[0], [row_elements(*pattern)], data.shape, -1, (False,)), *[None] * 5


elements_of_rows = declare(
    "chosen_rows", CHOSEN_ROWS, chosen_rows_array, sparse_products.chosen_rows, chosen_samples, vjp=chosen_rows_vjp,
    jnp=NOT_ON_JAX, dtypes=lambda x, indices, *_: (x, indices),
)  # fmt: skip
"""The elements of some rows, and the column of each."""


def turned(indices: Value, starts: Value, lengths: Value, data: Value) -> tuple[Value, Value, Value, Value]:
    """Return a compressed matrix, transposed: elements and pattern."""
    order, found = transposition(Form("csr", indices, starts, lengths))
    return gather_value(data, [order], -1, checked=False), *found.pattern


def product_at_vjp(
    g: Value, _: Value, x: Value, indices: Value, starts: Value, shape: Value, y: Value, others: Value,
    other_starts: Value, other_shape: Value, wanted: Value, wanted_starts: Value, *, on_error: str,
) -> tuple[Value | None, ...]:  # fmt: skip
    """Return the cotangents of C = X Y: G Y' and X' G, at the elements of X and of Y."""
    lengths = lengths_of(shape.shape[-2], other_shape.shape[-1])
    of_x = product_at(g, wanted, wanted_starts, lengths, *turned(others, other_starts, other_shape, y), indices, starts)
    of_y = product_at(*turned(indices, starts, shape, x), g, wanted, wanted_starts, lengths, others, other_starts)
    return of_x, None, None, None, of_y, None, None, None, None, None


product_at = declare(
    "product_at", PRODUCT_AT, product_at_array, sparse_products.product_at, at_samples, vjp=product_at_vjp,
    jnp=compressed.jax_stacked(PRODUCT_AT, product_at_jnp),
    scratch=of_columns,
)  # fmt: skip
"""The elements that a pattern has of a product."""


def product_elements_vjp(given: Any, _: Value, *operands: Value, on_error: str) -> tuple[Value | None, ...]:
    """Return the cotangents of the factors, from those of the product's elements, at the places that the product
    has."""
    factors = (*operands[1:4], *operands[5:8])
    indices = product_elements.bind(*operands, on_error=on_error, result=1)
    starts = product_starts.bind(*factors, on_error=on_error)
    known: Any = (*operands[:8], indices, starts)
    return *product_at_vjp(given[0], given[0], *known, on_error=on_error)[:8], None


product_elements = declare(
    "product_elements", PRODUCT_ELEMENTS, product_elements_array, sparse_products.product_elements, element_samples,
    vjp=product_elements_vjp, jnp=NOT_ON_JAX, dtypes=lambda x, indices, *_: (x, indices), scratch=of_columns,
)  # fmt: skip
"""The elements of a product, and the column of each."""


def lengths_of(rows: Extent, columns: Extent) -> Value:
    return filled(number_as(0, np.dtype(bool)), (0, rows, columns))


def counted_starts(starts: Value, dtype: np.dtype) -> tuple[Value, Value]:
    """Return the beginnings of rows as integers of a dtype, which must hold the number of elements, and an array of as
    many elements."""
    count = starts[-1]
    text = f"a sparse result has more elements than {dtype} counts: give operands with indices of int64"
    shapes.require(registry["less_equal"](count, int(np.iinfo(dtype).max)), text, ValueError)
    room = filled(number_as(0, np.dtype(bool)), (as_extent(registry["maximum"](count, 0)),))
    return convert(starts, dtype), room


def product(data: Value, form: Form, other: Value, others: Form) -> tuple[Value, Form]:
    """Return the product of two matrices that are compressed by rows."""
    (rows, inner), (own, columns) = form.shape, others.shape
    signature = f"(n,k={shapes.resolve(inner)}),(k={shapes.resolve(own)},m)->(n,m)"
    shapes.require_same(own, inner, f"matmul: dimension mismatch with signature {signature}", ValueError)
    data, other = alike(data, other)
    first, second = alike(form.first, others.first)
    left, right = (first, form.second, form.lengths), (second, others.second, others.lengths)
    starts, room = counted_starts(product_starts(*left, *right), first.dtype)
    found: Any = product_elements(data, *left, other, *right, room)
    elements, indices = found
    return elements, Form("csr", indices, starts, lengths_of(rows, columns))


def counted_union(form: Form, others: Form) -> tuple[tuple[Value, ...], Value, Value]:
    """Return the operands of two patterns of one format, the beginnings of rows that have elements where one of them
    has, and an array of as many elements."""
    for axis, (own, its) in enumerate(zip(form.shape, others.shape, strict=True)):
        shapes.require_same(own, its, f"inconsistent shapes: axis {axis} of two sparse arrays", ValueError)
    first, second = alike(form.first, others.first)
    terms = first, form.second, second, others.second, form.lengths
    return terms, *counted_starts(union_starts(*terms), first.dtype)


def together(data: Value, form: Form, other: Value, others: Form) -> tuple[Value, Value, Form]:
    """Return the elements of two matrices at the places where one of them has any, and these places."""
    terms, starts, room = counted_union(form, others)
    found: Any = union_places(*terms, room)
    indices, *places = found
    pairs = zip((data, other), places, strict=True)
    left, right = (scatter(each, [place], indices.shape, -1, (False,)) for each, place in pairs)
    return left, right, Form(form.name, indices, starts, form.lengths)


def total(data: Value, form: Form, other: Value, others: Form) -> tuple[Value, Form]:
    """Return the sum of two matrices of one format."""
    terms, starts, room = counted_union(form, others)
    found: Any = sum_elements(*alike(data, other), *terms, room)
    elements, indices = found
    return elements, Form(form.name, indices, starts, form.lengths)


def chosen_rows(data: Value, form: Form, rows: Value) -> tuple[Value, Form]:
    """Return some rows of a matrix that is compressed by rows, or some columns of one that is compressed by columns."""
    counts = gather_value(form.second[1:] - form.second[:-1], [rows], -1, checked=False)
    ends = registry["cumsum"](convert(counts, INT64))
    starts = registry["concatenate"]([filled(number_as(0, INT64), (1,)), ends])
    starts, room = counted_starts(starts, form.first.dtype)
    found: Any = elements_of_rows(data, *form.pattern, rows, room)
    elements, indices = found
    return elements, Form(form.name, indices, starts, lengths_of(rows.shape[0], form.lengths.shape[2]))


def element(data: Value, form: Form, row: Value, column: Value) -> Value:
    """Return the element at one place."""
    rows, columns = form.coordinates
    here = registry["logical_and"](registry["equal"](rows, row), registry["equal"](columns, column))
    return registry["sum"](registry["where"](here, data, number_as(0, data.dtype)), dtype=data.dtype)


def extreme(data: Value, form: Form, *, name: str) -> Value:
    """Return the largest or smallest element. A place without an element counts as zero."""
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
