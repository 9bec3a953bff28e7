"""NumPy's functions whose results have lengths or loops of their own: polynomials by their roots, quotients, rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.api.loops import fori_loop
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.values import Extent
from numbagraph.ops.creation import filled, iota, number_as
from numbagraph.tracing.static_lengths import known_shape
from numbagraph.tracing.tracer import Tracer, apply


def array_of(operand: Any) -> Any:
    return operand if isinstance(operand, Tracer) else apply(registry["asarray"], operand)


def zeros(length: Extent, dtype: np.dtype) -> Tracer:
    return Tracer(filled(number_as(0, dtype), (length,)))


def poly(seq_of_zeros: Any) -> Any:
    """`numpy.poly`: factors are multiplied one after the other. Of complex roots the result stays complex."""
    roots = array_of(seq_of_zeros)
    if roots.ndim == 2:
        roots = array_of(np.linalg.eigvals(roots))
    if roots.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    roots = roots if roots.dtype.kind in "fc" else roots.astype(np.float64)
    length = shapes.add(roots.value.shape[0], 1)

    def times(k: Any, coefficients: Any) -> Any:
        result = np.copy(coefficients)
        result[1:] -= roots[k] * coefficients[:-1]
        return result

    start = zeros(length, roots.dtype)
    start[0] = 1
    return fori_loop(0, roots.shape[0], times, start)


def roots(p: Any) -> Any:
    """`numpy.roots`: the eigenvalues of the companion matrix, which are complex. The first coefficient is not zero."""
    given = array_of(p)
    if given.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    given = given if given.dtype.kind in "fc" else given.astype(np.float64)
    text = "roots: the first coefficient must not be zero in a traced function, p[np.flatnonzero(p)[0]:]"
    shapes.require((given[0] != 0).value, text, ValueError)
    size = shapes.maximum(shapes.subtract(given.value.shape[0], 1), 0)
    first = np.expand_dims(-given[1:] / given[0], 0)
    below = Tracer(registry["eye"](size, size, dtype=given.dtype))
    return np.linalg.eigvals(np.concatenate([first, below])[:-1])


def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    """`numpy.polydiv`: the quotient and the remainder, without the zeros before it."""
    dividend, divisor = (array_of(np.atleast_1d(array_of(each)) + 0.0) for each in (u, v))
    dtype = np.result_type(dividend.dtype, divisor.dtype)
    count = shapes.add(shapes.subtract(dividend.value.shape[0], divisor.value.shape[0]), 1)
    places, scale = Tracer(iota(divisor.value.shape[0])), 1.0 / divisor[0]
    steps = shapes.maximum(count, 0)

    def step(k: Any, state: Any) -> Any:
        quotient, rest = map(np.copy, state)
        factor = scale * rest[k]
        quotient[k] = factor
        rest[k + places] -= factor * divisor
        return quotient, rest

    start = zeros(shapes.maximum(count, 1), dtype), dividend.astype(dtype)
    end = steps if isinstance(steps, int) else Tracer(steps)
    quotient, rest = fori_loop(0, end, step, start)
    kept = np.flatnonzero(~(np.abs(rest) <= 1e-8))
    last = rest.shape[0] - 1
    return quotient, rest[np.minimum(np.min(kept, initial=2**62), last) :]


def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> Any:
    """`numpy.einsum_path`, which depends on shapes alone."""
    arrays = (
        np.broadcast_to(0.0, known_shape(each.value, "einsum_path")) if isinstance(each, Tracer) else each
        for each in operands
    )
    return np.einsum_path(*arrays, optimize=optimize, einsum_call=einsum_call)  # type: ignore[call-overload]


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """`numpy.unstack`: the number of arrays is the length of the axis."""
    array = array_of(x)
    if not array.ndim:
        raise ValueError("Input array must be at least 1-d.")
    rows = np.moveaxis(array, axis, 0)
    (count, *_) = known_shape(rows.value, "unstack")
    return tuple(rows[number] for number in range(count))


def polyval(p: Any, x: Any) -> Any:
    """`numpy.polyval`: Horner's scheme, as a loop where the number of coefficients is not known."""
    coefficients, at = array_of(p), array_of(x)
    if not coefficients.ndim or isinstance(shapes.resolve(coefficients.value.shape[0]), int):
        return apply(registry["polyval"], coefficients, at)
    dtype = np.result_type(coefficients.dtype, at.dtype)
    start = np.zeros_like(at, dtype=dtype)
    if coefficients.ndim > 1:
        start = start + np.zeros_like(coefficients[:1].sum(axis=0), dtype=dtype)
    return fori_loop(0, coefficients.shape[0], lambda k, so_far: so_far * at + coefficients[k], start)


def ix_(*args: Any) -> tuple[Any, ...]:
    """`numpy.ix_`: each sequence along an axis of its own."""
    found = []
    for number, each in enumerate(args):
        array = array_of(each)
        if array.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if array.dtype.kind == "b":
            (array,) = np.nonzero(array)
        elif not isinstance(each, Tracer) and not array.size:
            array = array.astype(np.intp)
        found.append(np.expand_dims(array, tuple(axis for axis in range(len(args)) if axis != number)))
    return tuple(found)
