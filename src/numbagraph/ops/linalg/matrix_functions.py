"""Functions of matrices that are written in factorisations, products, and sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.core import promoted, require_square
from numbagraph.blockwise.kinds import Keywords, decomposition, draw
from numbagraph.blockwise.promotion import as_strong, as_value, common_rule, promote
from numbagraph.ir import shapes
from numbagraph.ir.op import load, registry
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Value
from numbagraph.ops.comparison import greater
from numbagraph.ops.contraction import dot
from numbagraph.ops.creation import iota, zeros
from numbagraph.ops.diagonals import diagonal
from numbagraph.ops.indexing.gathering import gather_value
from numbagraph.ops.indexing.subscripts import set_index
from numbagraph.ops.joining import concatenate
from numbagraph.ops.linalg import samples, singular
from numbagraph.ops.linalg.common import adjoint, computed, conj, number, product, unit
from numbagraph.ops.linalg.solutions import inv
from numbagraph.ops.linalg.spectra import svd, svdvals
from numbagraph.ops.norms import norm
from numbagraph.ops.product import matrix_product
from numbagraph.ops.reduction import max, sum
from numbagraph.ops.selection import where
from numbagraph.ops.shape import broadcast_value, expand_at, expand_dims, reshape_value

SMALLEST_RATIO = 1e-15
"""The ratio to the largest singular value below which `pinv` takes a singular value for zero."""


def pinv_vjp(g: Value, y: Value, value: Value, a: Value) -> tuple[Value | None, ...]:
    """Return the cotangent of the matrix: Golub and Pereyra, The differentiation of pseudo-inverses and nonlinear least
    squares problems (1973)."""
    g, transposed = conj(g), adjoint(y)
    inner = -product(transposed, g, transposed)
    outside = product(transposed, y, adjoint(g)), product(adjoint(g), y, transposed)
    inner = inner + outside[1] - product(a, y, outside[1]) + outside[0] - product(outside[0], y, a)
    return None, conj(inner)


pinv_of = computed("pinv_of", "(n,m),(m,n)->(n,m)", pinv_vjp, lambda value, a: load("jax.numpy.linalg:pinv")(a))


PINV_SAMPLES = samples.inexact(samples.of(samples.dominant, (3, 3), (5, 3), (2, 3, 5)))


@decomposition(np.linalg.pinv, samples=PINV_SAMPLES, ulp=128, regular=True)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> Value:
    (matrix,) = promoted(a)
    if hermitian:
        raise NotImplementedError("pinv with hermitian=True is not supported: leave it out")
    if rcond is None:
        rcond = SMALLEST_RATIO if rtol is np._NoValue else precision(matrix) if rtol is None else rtol
    u, s, vh = svd(matrix, full_matrices=False)  # type: ignore[misc]
    cutoff = expand_at(rcond, (rcond.ndim,)) if isinstance(rcond, Value) and rcond.ndim else rcond
    _, inverse = inverse_of_values(s, cutoff)
    value = product(adjoint(vh), expand_dims.bind(inverse, axes=(-1,)) * adjoint(u))
    return pinv_of.bind(registry["stop_gradient"](value), matrix)


def inverse_of_values(s: Value, ratio: Any) -> tuple[Value, Value]:
    """Return which singular values are not zero, relative to the largest, and their reciprocals, with 0 for the
    others."""
    large = greater(s, ratio * max(s, -1, keepdims=True, initial=0))
    return large, where(large, 1 / where(large, s, number(1, s)), number(0, s))


def precision(matrix: Value) -> Any:
    """Return the relative error of singular values that NumPy assumes."""
    longest = shapes.as_value(shapes.maximum(*matrix.shape[-2:]))
    return longest * number(np.finfo(matrix.dtype).eps, registry["real"](matrix))


@decomposition(np.linalg.matrix_rank, samples=samples.of(samples.dominant, (3, 3), (5, 3), (2, 3, 5)))
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Value:
    value = as_value(A)
    if value.ndim < 2:
        return registry["cast"].bind(registry["any"](registry["not_equal"](value, 0)), dtype=INT64, weak=True)
    (matrix,) = promoted(A)
    if hermitian:
        raise NotImplementedError("matrix_rank with hermitian=True is not supported: leave it out")
    s = svdvals(matrix)
    if tol is None:
        ratio = precision(matrix) if rtol is None else rtol
        tol = max(s, -1, keepdims=True, initial=0) * ratio
    return registry["count_nonzero"](greater(s, tol), -1)


def cond_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    matrix, stack = samples.dominant(rng, dtype, (3, 3)), samples.dominant(rng, dtype, (2, 4, 4))
    return [(matrix,), *[(matrix, p) for p in (-2, 1, -1, np.inf, "fro")], (stack,), (stack, 1)]


WITHOUT_SINGULAR_VALUES = "nan" if np.lib.NumpyVersion(np.__version__) >= "2.5.0" else "raise"
"""The way in which `numpy.linalg.cond` treats a matrix that has a NaN: "nan" gives NaN, "raise" raises an error."""


@decomposition(np.linalg.cond, name="condition_number", samples=cond_samples, ulp=256, scalar=True, regular=True)
def condition_number(x: Any, p: Any = None) -> Value:
    (matrix,) = promoted(x)
    for extent in matrix.shape[-2:]:
        shapes.require(shapes.compare("not_equal", extent, 0), "cond is not defined on empty arrays", LinAlgError)
    given = registry["any"](registry["isnan"](matrix), (-2, -1))
    if p in (None, 2, -2):  # NumPy has infinity, without an error, for a matrix that has any
        unbounded = registry["any"](registry["isinf"](matrix), (-2, -1), keepdims=True) & ~given[..., None, None]
        with singular.on_linalg_error(WITHOUT_SINGULAR_VALUES):
            s = svdvals(where(unbounded, number(0, matrix), matrix))
        first, last = s[..., 0], s[..., -1]
        ratio = last / first if p == -2 else first / last
    else:
        require_square(matrix)
        with singular.on_linalg_error("nan"):
            inverse = inv(matrix)
        ratio = norm(matrix, p, (-2, -1)) * norm(inverse, p, (-2, -1))
    infinite = registry["isnan"](ratio) & ~given
    return where(infinite, number(np.inf, ratio), ratio)


LinAlgError = np.linalg.LinAlgError
POWERS = [(3,), (2,), (0,), (1,), (-2,), (5,)]


def power_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    if dtype.kind not in "fc":
        return [(draw(rng, dtype, (3, 3)), power) for power in (2, 3)]
    return [(samples.dominant(rng, dtype, (3, 3)), *power) for power in POWERS]


@decomposition(np.linalg.matrix_power, samples=power_samples, ulp=64, view_of=lambda a, n: a if n == 1 else None)
def matrix_power(a: Any, n: Any) -> Value:
    matrix = as_value(a)
    if matrix.ndim < 2:
        raise LinAlgError(f"{matrix.ndim}-dimensional array given. Array must be at least two-dimensional")
    require_square(matrix)
    if isinstance(n, Value) or not isinstance(n, (int, np.integer)):
        raise TypeError("matrix_power: exponent must be an integer that is known when the function is traced")
    if n == 0:
        return registry["copy"](broadcast_value(unit(matrix), matrix.shape))
    base = inv(matrix) if n < 0 else matrix
    result, rest = None, abs(int(n))
    while rest:
        if rest % 2:
            result = base if result is None else matrix_product(result, base)
        rest //= 2
        base = matrix_product(base, base) if rest else base
    assert result is not None
    return result


def chain_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    matrices = [draw(rng, dtype, shape) for shape in ((3, 4), (4, 2), (2, 5))]
    return [(matrices,), (matrices[:2],), ([matrices[0][0], *matrices[1:]],), ([*matrices[:2], matrices[2][:, 0]],)]


@decomposition(np.linalg.multi_dot, samples=chain_samples, ulp=64)
def multi_dot(arrays: Any, *, out: None = None) -> Value:
    """Multiply from the side of a vector, if there is one: the order is chosen before lengths are known."""
    if out is not None:
        raise TypeError("out= is not supported in a traced function: use the value that is returned")
    values = [as_value(each) for each in arrays]
    if len(values) < 2:
        raise ValueError("Expecting at least two arrays.")
    if not all(value.ndim for value in values):
        raise np.linalg.LinAlgError("0-dimensional array given. Array must be at least one-dimensional")
    if values[-1].ndim == 1 and values[0].ndim == 2:
        result = values[-1]
        for each in reversed(values[:-1]):
            result = dot(each, result)
        return result
    result = values[0]
    for each in values[1:]:
        result = dot(result, each)
    return result


def kron_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    shapes_ = ((2, 3), (3, 2)), ((3,), (4,)), ((3,), (2, 4)), ((2, 3, 2), (2, 2))
    return [(draw(rng, dtype, left), draw(rng, dtype, right)) for left, right in shapes_]


@decomposition(np.kron, samples=kron_samples)
def kron(a: Any, b: Any) -> Value:
    left, right = promote(common_rule(), map(as_strong, (a, b)))
    ndim = len(left.shape) if left.ndim > right.ndim else len(right.shape)
    left, right = (expand_at(value, range(ndim - value.ndim)) for value in (left, right))
    spread = expand_at(left, range(1, 2 * ndim, 2)) * expand_at(right, range(0, 2 * ndim, 2))
    return reshape_value(spread, [shapes.multiply(*pair) for pair in zip(left.shape, right.shape, strict=True)])


def blocks_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    return [tuple(draw(rng, dtype, shape) for shape in ((2, 3), (3, 2), (1, 1))), (draw(rng, dtype, (3, 4)),)]


@decomposition("scipy.linalg:block_diag", samples=samples.inexact(blocks_samples))
def block_diag(*arrs: Any) -> Value:
    values = promote(common_rule(), [registry["atleast_2d"](each) for each in arrs])
    if any(value.ndim > 2 for value in values):
        raise ValueError("block_diag: arguments must have at most 2 dimensions; numbagraph.vmap maps it")
    ends = [
        [total([each.shape[axis] for each in values[:count]]) for axis in (0, 1)] for count in range(len(values) + 1)
    ]
    result = zeros(ends[-1], dtype=values[0].dtype)
    for value, begin, end in zip(values, ends, ends[1:], strict=False):
        place = [slice(*map(shapes.as_value, pair)) for pair in zip(begin, end, strict=True)]
        result = set_index(result, tuple(place), value)
    return result


def total(extents: list[Any]) -> Any:
    result: Any = 0
    for each in extents:
        result = shapes.add(result, each)
    return result


def toeplitz_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    return [(draw(rng, dtype, (4,)),), (draw(rng, dtype, (4,)), draw(rng, dtype, (3,)))]


@decomposition("scipy.linalg:toeplitz", samples=samples.inexact(toeplitz_samples))
def toeplitz(c: Any, r: Any = None) -> Value:
    column = registry["atleast_1d"](c)
    row = conj(column) if r is None else registry["atleast_1d"](r)
    column, row = promote(common_rule(), (column, row))
    if column.ndim != 1 or row.ndim != 1:
        raise ValueError(
            "toeplitz: the first column and the first row must have one dimension; numbagraph.vmap maps it"
        )
    numbers = concatenate([column[::-1], row[1:]])
    last = shapes.subtract(column.shape[0], 1)
    down, right = (iota(each.shape[0]) for each in (column, row))
    positions = (shapes.as_value(last) - expand_dims.bind(down, axes=(-1,))) + right
    return gather_value(numbers, [positions], -1, checked=False)


def keywords(*options: dict[str, Any]) -> Any:
    def calls(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
        stack = draw(rng, dtype, (2, 3, 4))
        return [(stack,), *[(stack, Keywords(each)) for each in options]]

    return calls


@decomposition(np.linalg.diagonal, name="matrix_diagonal", samples=keywords({"offset": 1}), view_of=True)
def matrix_diagonal(x: Any, *, offset: Any = 0) -> Value:
    return diagonal(x, offset, -2, -1)


@decomposition(np.linalg.trace, name="matrix_trace", samples=keywords({"offset": -1}), ulp=4)
def matrix_trace(x: Any, *, offset: Any = 0, dtype: Any = None) -> Value:
    return sum(diagonal(x, offset, -2, -1), -1, dtype)


@decomposition(np.linalg.matrix_norm, samples=keywords({"ord": 1}, {"ord": 2}, {"keepdims": True}), ulp=64)
def matrix_norm(x: Any, *, keepdims: bool = False, ord: Any = "fro") -> Value:
    return norm(x, ord, (-2, -1), keepdims)


@decomposition(np.linalg.vector_norm, samples=keywords({"axis": 1}, {"ord": 1, "axis": (0, 2)}), ulp=16, scalar=True)
def vector_norm(x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Value:
    value = as_value(x)
    if axis is None:
        flat = norm(reshape_value(value, [shapes.product(value.shape)]), ord)
        return reshape_value(flat, [1] * value.ndim) if keepdims else flat
    if not isinstance(axis, tuple):
        return norm(value, ord, axis, keepdims)
    axes = shapes.normalise_axes(axis, value.ndim)
    rest = [each for each in range(value.ndim) if each - value.ndim not in axes]
    moved = registry["transpose"](value, (*rest, *(each + value.ndim for each in axes)))
    lengths = [value.shape[each] for each in rest]
    summed = shapes.product([value.shape[each] for each in axes])
    found = norm(reshape_value(moved, [*lengths, summed]), ord, -1)
    return expand_dims.bind(found, axes=axes) if keepdims else found
