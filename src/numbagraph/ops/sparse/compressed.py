"""Products and solutions with compressed sparse matrices, whose patterns are arrays that are known only in a call.

A matrix is the vector of its elements, the column of each, the beginnings of its rows, and an array of shape (0, rows,
columns), which has its lengths. One that is compressed by columns is the transpose of such a matrix.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import Keywords, core_op, draw
from numbagraph.blockwise.promotion import as_value
from numbagraph.blockwise.signature import parse
from numbagraph.intrinsics.emitters.sparse import compressed
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Op, Value
from numbagraph.ops.creation import zeros_like
from numbagraph.ops.linalg.common import reference
from numbagraph.ops.selection import where

LONGEST = 2**60
"""The greatest length of these ops; other core ops have that of LAPACK."""

PRODUCT = "(d),(d),(p),(z,m,n),(n{k})->(m{k})"
TRANSPOSED = "(d),(d),(p),(z,m,n),(m{k})->(n{k})"
SAMPLED = "(m{k}),(n{k}),(d),(p),(z,m,n)->(d)"
ROWS = "(d),(p),(z,m,n)->(d)"
LOOKED_UP = "(d),(d),(p),(q),(p),(z,m,n)->(q)"
TRANSPOSITION = "(d),(p),(z,m,n)->(d),(d),(q)"
DISTINCT = "(d),(d),(p),(z,m,n)->(d)"
SOLUTION = "(d),(d),(p),(z,m,m),(m,k)->(m,k)"


def rows_of(indices: np.ndarray, starts: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Return the row of each element.

    Raises
    ------
    ValueError
        If the pattern is none of a matrix of this shape.
    """
    count, columns = shape.shape[1:]
    if len(starts) != count + 1:
        raise ValueError(f"the pattern of a sparse array: {len(starts)} beginnings of rows, of {count} rows")
    if starts[0] != 0 or starts[-1] != len(indices) or (np.diff(starts) < 0).any():
        raise ValueError(
            f"the pattern of a sparse array: the beginnings of rows must grow from 0 to {len(indices)}, the number of "
            f"elements"
        )
    if len(indices) and not 0 <= indices.min() <= indices.max() < columns:
        raise ValueError(
            f"the pattern of a sparse array: indices from {indices.min()} to {indices.max()} for an axis of length "
            f"{columns}"
        )
    return np.repeat(np.arange(count), np.diff(starts)).astype(indices.dtype)


def beside(data: Any, x: Any) -> Any:
    """Return elements as factors of the rows of a matrix, or of the elements of a vector."""
    return data if x.ndim == 1 else data[:, None]


def product_array(data: Any, indices: Any, starts: Any, shape: Any, x: Any) -> Any:
    y = np.zeros((shape.shape[1], *x.shape[1:]), x.dtype)
    np.add.at(y, rows_of(indices, starts, shape), beside(data, x) * x[indices])
    return y


def transposed_array(data: Any, indices: Any, starts: Any, shape: Any, x: Any) -> Any:
    y = np.zeros((shape.shape[2], *x.shape[1:]), x.dtype)
    rows = rows_of(indices, starts, shape)
    np.add.at(y, indices, beside(data, x) * x[rows])
    return y


def sampled_array(x: Any, y: Any, indices: Any, starts: Any, shape: Any) -> Any:
    pairs = x[rows_of(indices, starts, shape)] * y[indices]
    return pairs if x.ndim == 1 else pairs.sum(-1, dtype=x.dtype)


def looked_up_array(data: Any, indices: Any, starts: Any, others: Any, other_starts: Any, shape: Any) -> Any:
    keys = rows_of(indices, starts, shape).astype(np.int64) * shape.shape[2] + indices
    wanted = rows_of(others, other_starts, shape).astype(np.int64) * shape.shape[2] + others
    unique, place = np.unique(keys, return_inverse=True)
    sums = np.zeros(len(unique) + 1, data.dtype)
    np.add.at(sums, place, data)
    found = np.searchsorted(unique, wanted)
    known = np.append(unique, -1)[found] == wanted
    return sums[np.where(known, found, len(unique))]


def transposed_pattern(indices: Any, starts: Any, shape: Any) -> tuple[Any, Any, Any]:
    rows = rows_of(indices, starts, shape)
    order = np.argsort(indices, kind="stable")
    bounds = np.searchsorted(indices[order], np.arange(shape.shape[2] + 1))
    return order.astype(indices.dtype), rows[order], bounds.astype(indices.dtype)


def distinct_array(data: Any, indices: Any, starts: Any, shape: Any) -> Any:
    keys = rows_of(indices, starts, shape).astype(np.int64) * shape.shape[2] + indices
    if len(np.unique(keys)) < len(keys):
        raise ValueError("a sparse array has two elements at one place: call its sum_duplicates() before")
    return data.copy()


def solution_array(
    data: Any, indices: Any, starts: Any, shape: Any, b: Any, *, lower: bool, trans: bool, unit_diagonal: bool
) -> Any:
    rows = rows_of(indices, starts, shape)
    if ((rows < indices) if lower else (rows > indices)).any():
        raise ValueError(
            f"spsolve_triangular: there are elements {'above' if lower else 'below'} the diagonal of the "
            f"{'lower' if lower else 'upper'} triangle"
        )
    matrix = np.zeros(shape.shape[1:], data.dtype)
    np.add.at(matrix, (rows, indices), data)
    if not unit_diagonal and not np.diagonal(matrix).all():
        raise np.linalg.LinAlgError("A is singular: zero entry on diagonal.")
    options = {"trans": int(trans), "lower": lower, "unit_diagonal": unit_diagonal, "check_finite": False}
    return load("scipy.linalg:solve_triangular")(matrix, b, **options) if b.size else b


def jax_rows(indices: Any, starts: Any) -> Any:
    jnp = load("jax:numpy")
    return jnp.searchsorted(starts, jnp.arange(indices.shape[0]), side="right").astype(indices.dtype) - 1


def jax_sums(numbers: Any, positions: Any, length: int) -> Any:
    """Add up, with JAX, the numbers that go to the same row of an array."""
    jnp = load("jax:numpy")
    small = numbers.astype(np.int8) if numbers.dtype == bool else numbers  # JAX adds numbers only
    found = jnp.zeros((length, *small.shape[1:]), small.dtype).at[positions].add(small)
    return found.astype(numbers.dtype)


def jax_product(data: Any, indices: Any, starts: Any, shape: Any, x: Any) -> Any:
    return jax_sums(beside(data, x) * x[indices], jax_rows(indices, starts), shape.shape[1])


def jax_transposed(data: Any, indices: Any, starts: Any, shape: Any, x: Any) -> Any:
    return jax_sums(beside(data, x) * x[jax_rows(indices, starts)], indices, shape.shape[2])


def jax_sampled(x: Any, y: Any, indices: Any, starts: Any, shape: Any) -> Any:
    pairs = x[jax_rows(indices, starts)] * y[indices]
    return pairs if x.ndim == 1 else pairs.sum(-1, dtype=x.dtype)


def jax_looked_up(data: Any, indices: Any, starts: Any, others: Any, other_starts: Any, shape: Any) -> Any:
    jnp = load("jax:numpy")
    width = shape.shape[2]
    keys = jax_rows(indices, starts).astype(int) * width + indices
    wanted = jax_rows(others, other_starts).astype(int) * width + others
    if not indices.shape[0]:
        return jnp.zeros(others.shape, data.dtype)
    order = jnp.argsort(keys)
    keys, data = keys[order], data[order]
    places = jnp.searchsorted(keys, keys)  # of several at one place the first one has their sum
    found = jnp.minimum(jnp.searchsorted(keys, wanted), keys.shape[0] - 1)
    return jnp.where(keys[found] == wanted, jax_sums(data, places, keys.shape[0])[found], jnp.zeros((), data.dtype))


def jax_transposition(indices: Any, starts: Any, shape: Any) -> tuple[Any, Any, Any]:
    jnp = load("jax:numpy")
    order = jnp.argsort(indices, stable=True)
    bounds = jnp.searchsorted(indices[order], jnp.arange(shape.shape[2] + 1))
    return order.astype(indices.dtype), jax_rows(indices, starts)[order], bounds.astype(indices.dtype)


def jax_solution(
    data: Any, indices: Any, starts: Any, shape: Any, b: Any, *, lower: bool, trans: bool, unit_diagonal: bool, **_: Any
) -> Any:
    """Solve with a dense matrix: JAX has no solution of sparse systems but for one of CUDA's."""
    matrix = load("jax:numpy").zeros(shape.shape[1:], data.dtype).at[jax_rows(indices, starts), indices].add(data)
    options = {"left_side": True, "lower": lower, "transpose_a": trans, "unit_diagonal": unit_diagonal}
    return load("jax.lax.linalg:triangular_solve")(matrix, b, **options)


def jax_stacked(signature: str, function: Any) -> Any:
    """Return a function of JAX for single matrices in a form that takes stacks as well. Lengths that no axis of an
    operand has are those of the array for the shape."""

    def call(*arrays: Any, on_error: str, **attrs: Any) -> Any:
        del on_error
        jax, cores = load("jax:vmap"), parse(signature).inputs
        depths = [each.ndim - len(core) for each, core in zip(arrays, cores, strict=True)]
        batch = np.broadcast_shapes(*(each.shape[:depth] for each, depth in zip(arrays, depths, strict=True)))
        own = partial(function, **attrs)
        if not batch:
            return own(*arrays)
        jnp = load("jax:numpy")
        whole = [jnp.broadcast_to(a, (*batch, *a.shape[depth:])) for a, depth in zip(arrays, depths, strict=True)]
        for _ in batch:
            own = jax(own)
        return own(*whole)

    return call


def bound(signature: str) -> Any:
    """Return the frontend of an op, which gives its result, or all results."""
    count = len(parse(signature).outputs)

    def call(op: Op, *operands: Any, **attrs: Any) -> Any:
        values, options = [as_value(each) for each in operands], {**attrs, "on_error": "raise"}
        if count == 1:
            return op.bind(*values, **options)
        return tuple(op.bind(*values, **options, result=number) for number in range(count))

    return call


def declare(
    name: str, signature: str, evaluate: Any, library: Any, vjp: Any, jnp: Any, samples: Any, **options: Any
) -> Op:
    """Declare an op of patterns. A pattern that does not fit a matrix of its shape is an error."""
    return core_op(
        None,
        signature,
        name=name,
        evaluate=reference(signature, like=0)(evaluate),
        library=library,
        threaded=False,
        frontend=bound(signature),
        vjp=vjp,
        jnp=jax_stacked(signature, jnp),
        samples=samples,
        longest=LONGEST,
        **options,
    )


def product_vjp(number: int, g: Value, y: Value, data: Value, *rest: Value, on_error: str) -> tuple[Value | None, ...]:
    *pattern, x = rest
    of_elements, of_x = sampled_product.ops[number], transposed_product.ops[number]
    return of_elements(g, x, *pattern), None, None, None, of_x(data, *pattern, g)


def transposed_vjp(
    number: int, g: Value, y: Value, data: Value, *rest: Value, on_error: str
) -> tuple[Value | None, ...]:
    *pattern, x = rest
    of_elements, of_x = sampled_product.ops[number], product.ops[number]
    return of_elements(x, g, *pattern), None, None, None, of_x(data, *pattern, g)


def sampled_vjp(
    number: int, g: Value, y: Value, left: Value, right: Value, *pattern: Value, on_error: str
) -> tuple[Value | None, ...]:
    of_left, of_right = product.ops[number], transposed_product.ops[number]
    return of_left(g, *pattern, right), of_right(g, *pattern, left), None, None, None


def width_samples(samples: Any, is_vector: bool) -> Any:
    """Return samples whose dense operands are vectors, or matrices of some widths."""
    widths = ((),) * 4 if is_vector else ((1,), (2,), (1,), (3,))

    def call(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
        several = (*patterns(), patterns()[0])
        return [samples(rng, dtype, each, width) for each, width in zip(several, widths, strict=True)][
            : 3 + (not is_vector)
        ]

    return call


def product_samples(axis: int) -> Any:
    """Return samples of a product; ``axis`` is that of the matrix which is summed over."""

    def samples(rng: np.random.Generator, dtype: np.dtype, pattern: Any, width: tuple[int, ...]) -> tuple[Any, ...]:
        return draw(rng, dtype, pattern[0].shape), *pattern, draw(rng, dtype, (pattern[2].shape[1 + axis], *width))

    return samples


def sampled_samples(rng: np.random.Generator, dtype: np.dtype, pattern: Any, width: tuple[int, ...]) -> tuple[Any, ...]:
    return *(draw(rng, dtype, (length, *width)) for length in pattern[2].shape[1:]), *pattern


def looked_up_vjp(
    g: Value, y: Value, data: Value, indices: Value, starts: Value, others: Value, other_starts: Value, shape: Value,
    *, on_error: str,
) -> tuple[Value | None, ...]:  # fmt: skip
    return looked_up(g, others, other_starts, indices, starts, shape), None, None, None, None, None


def solution_vjp(
    g: Value, y: Value, data: Value, indices: Value, starts: Value, shape: Value, b: Value,
    *, lower: bool, trans: bool, unit_diagonal: bool, on_error: str,
) -> tuple[Value | None, ...]:  # fmt: skip
    """Return the cotangents of the elements of the pattern and of the right-hand side: Giles, An extended collection of
    matrix derivative results (2008), 2.3.1."""
    options = {"lower": lower, "unit_diagonal": unit_diagonal}
    right = solve_triangular(data, indices, starts, shape, g, trans=not trans, **options)
    factors = (y, right) if trans else (right, y)
    found = -sampled_product(*factors, indices, starts, shape)
    if unit_diagonal:
        beside = registry["not_equal"](rows(indices, starts, shape), indices)
        found = where(beside, found, zeros_like(found))
    return found, None, None, None, right


def patterns() -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return indices, beginnings and shapes for tests: unsorted, with an element that is there twice and an empty row;
    without elements; and of 64 bits."""
    some = np.array([2, 0, 1, 1, 3, 2], np.int32), np.array([0, 2, 2, 5, 6], np.int32), np.zeros((0, 4, 5), bool)
    none = np.array([], np.int32), np.array([0, 0, 0], np.int32), np.zeros((0, 2, 0), bool)
    wide = np.array([1, 0, 2, 0]), np.array([0, 3, 4]), np.zeros((0, 2, 3), bool)
    return [some, none, wide]


def looked_up_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    (indices, starts, shape), *_ = patterns()
    others, other_starts = np.array([1, 0, 2, 2, 3], np.int32), np.array([0, 2, 3, 5, 5], np.int32)
    data, other_data = draw(rng, dtype, indices.shape), draw(rng, dtype, others.shape)
    return [
        (data, indices, starts, others, other_starts, shape),
        (other_data, others, other_starts, indices, starts, shape),
    ]


def solution_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind not in "fc":
        return []
    indices, starts, shape = (
        np.array([0, 1, 0, 2, 0, 2], np.int32),
        np.array([0, 1, 3, 6], np.int32),
        np.zeros((0, 3, 3), bool),
    )
    data = np.array([2, 3, 1, 1.5, -1, 0.5], dtype)
    upper = np.array([1, 0, 2, 1, 2], np.int32), np.array([0, 2, 4, 5], np.int32)
    flags = [(True, False, False), (True, True, False), (True, False, True)]
    calls = [
        (data, indices, starts, shape, draw(rng, dtype, (3, width)), Keywords(lower=low, trans=t, unit_diagonal=u))
        for (low, t, u), width in zip(flags, (1, 2, 1), strict=True)
    ]
    for trans in (False, True):
        keywords = Keywords(lower=False, trans=trans, unit_diagonal=False)
        calls.append((data[1:], *upper, shape, draw(rng, dtype, (3, 2)), keywords))
    return calls


class ByWidth:
    """An op on vectors, and its counterpart on matrices, column by column."""

    def __init__(
        self, name: str, signature: str, evaluate: Any, library: Any, vjp: Any, jnp: Any, samples: Any
    ) -> None:
        self.ops = [
            declare(
                f"sparse_{name}{suffix}",
                signature.format(k=k),
                evaluate,
                library,
                partial(vjp, number),
                jnp,
                width_samples(samples, not k),
            )
            for number, (suffix, k) in enumerate((("", ""), ("_columns", ",k")))
        ]
        self.dense = 0 if signature.startswith("(m{k})") else -1
        """The number of a dense operand, by whose rank the op is chosen."""

    def __call__(self, *operands: Value) -> Any:
        return self.ops[operands[self.dense].ndim - 1](*operands)


product = ByWidth("product", PRODUCT, product_array, compressed.product, product_vjp, jax_product, product_samples(1))
"""The product of a sparse matrix and a dense one."""

transposed_product = ByWidth(
    "transposed_product", TRANSPOSED, transposed_array, compressed.transposed_product, transposed_vjp, jax_transposed,
    product_samples(0),
)  # fmt: skip
"""The product of the transposed sparse matrix and a dense one."""

sampled_product = ByWidth(
    "sampled_product", SAMPLED, sampled_array, compressed.sampled_product, sampled_vjp, jax_sampled, sampled_samples
)
"""The elements of ``x @ y.T`` that a pattern has."""

rows = declare(
    "sparse_rows", ROWS, rows_of, compressed.rows, lambda *_, **__: (None, None, None),
    lambda indices, starts, shape: jax_rows(indices, starts),
    lambda rng, dtype: patterns() if dtype.kind == "i" else [],
)  # fmt: skip
"""The row of each element of a pattern, which is checked."""

transposition = declare(
    "sparse_transposition", TRANSPOSITION, transposed_pattern, compressed.transposed,
    lambda *_, **__: (None, None, None), jax_transposition,
    lambda rng, dtype: patterns() if dtype.kind == "i" else [],
    sizes=lambda lengths, **_: {"q": shapes.add(lengths["n"], 1)} if "n" in lengths else {},
    dtypes=lambda dtype, *_: (dtype,) * 3,
)  # fmt: skip
"""The elements of a pattern column by column: their numbers, the row of each, and where the columns begin."""

distinct = declare(
    "sparse_distinct", DISTINCT, distinct_array, compressed.distinct,
    lambda g, *_, **__: (g, None, None, None), lambda data, *_: data,
    lambda rng, dtype: [(draw(rng, dtype, each[0].shape), *each) for each in patterns()[1:]],
    scratch=lambda dtype, lengths, **_: [(INT64, (lengths["n"],))],
)  # fmt: skip
"""The elements of a sparse matrix, which must be at places of their own."""

looked_up = declare(
    "sparse_looked_up", LOOKED_UP, looked_up_array, compressed.looked_up, looked_up_vjp, jax_looked_up,
    looked_up_samples,
    scratch=lambda dtype, lengths, **_: [(dtype, (lengths["n"],))],
)  # fmt: skip
"""The elements of a sparse matrix where another one has its own, or zero."""

solve_triangular = declare(
    "sparse_solve_triangular", SOLUTION, solution_array, compressed.solve_triangular, solution_vjp, jax_solution,
    solution_samples,
)  # fmt: skip
"""The solution of a triangular system, or of the transposed one."""
