"""Determinants, by the factors of a matrix."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from numbagraph.blockwise.common import scalar_result
from numbagraph.blockwise.kinds import decomposition
from numbagraph.blockwise.promotion import convert
from numbagraph.ir import shapes
from numbagraph.ir.op import load
from numbagraph.ir.values import Value
from numbagraph.ops.arithmetic import absolute, complex_of, imag, real
from numbagraph.ops.comparison import (
    equal,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_or,
    maximum,
    not_equal,
)
from numbagraph.ops.creation import iota, zeros_like
from numbagraph.ops.diagonals import diagonal
from numbagraph.ops.exponentials import exp, exp2, log
from numbagraph.ops.identity import differentiated_as, stop_gradient
from numbagraph.ops.linalg import samples
from numbagraph.ops.linalg.common import computed, factored_solution, number, product, unit
from numbagraph.ops.linalg.factorisations import one_square, square_lu
from numbagraph.ops.linalg.spectra import on_diagonal, svd
from numbagraph.ops.product import transposed_matrix
from numbagraph.ops.reduction import any, max, prod, sum
from numbagraph.ops.selection import where
from numbagraph.ops.shape import expand_dims

SlogdetResult = namedtuple("SlogdetResult", ("sign", "logabsdet"))


def determinant_vjp(
    g: Value, y: Value, value: Value, a: Value, factors: Value, pivots: Value, *, part: str
) -> tuple[Value | None, ...]:
    """Return the cotangent of the matrix: Giles, An extended collection of matrix derivative results (2008), section
    2.2.4."""
    if part == "sign":
        return None, None, None, None
    if part == "value":
        form = expand_dims.bind(g, axes=(-2, -1)) * cofactors(a)
        return None, differentiated_as(scaled_cofactors(g, y, a, factors, pivots), form), None, None
    each = expand_dims.bind(g if part == "logarithm" else g * y, axes=(-2, -1))
    return None, factored_solution(a, factors, pivots, each * unit(a), trans=1), None, None


def scaled_cofactors(g: Value, y: Value, a: Value, factors: Value, pivots: Value) -> Value:
    """Return the cofactors of a matrix, times a number.

    They are polynomials, so those of a singular matrix are the limits of those of the matrices beside it. So pivots
    that are 0 are made so small that nothing is lost, but not so small that their inverses overflow.
    """
    elements = diagonal(factors, 0, -2, -1)
    size, zero = absolute(elements), equal(elements, number(0, elements))
    largest = max(size, -1, keepdims=True, initial=0)
    count = sum(convert(zero, size.dtype), -1, keepdims=True)
    bits = number(0.8 * np.finfo(size.dtype).maxexp, size)
    small = where(equal(largest, 0), number(1, size), largest) * exp2(-bits / maximum(count, number(1, size)))
    filler = where(zero, convert(small, elements.dtype), number(0, elements))
    singular = equal(y, number(0, y))
    value = where(singular, prod(elements + filler, -1) * parity(pivots, elements), y)
    each = expand_dims.bind(g * value, axes=(-2, -1))
    return factored_solution(a, factors + on_diagonal(filler), pivots, each * unit(a), trans=1)


SINGULAR_VALUES = 3
"""The number of small singular values that `cofactors` does without: the highest order of derivatives."""


def cofactors(a: Value) -> Value:
    """Return the cofactors as a function that can be differentiated at singular matrices.

    With a constant E of low rank, ``A = B (I - N)`` where ``B = A + E`` is regular and ``N = B^-1 E``. So the adjugate
    is that of ``I - N``, which is a short sum (Faddeev and LeVerrier), times that of B. If more singular values are
    zero than the sum has terms, all minors that derivatives up to the third consist of are zero, too.
    """
    u, s, vh = (svd.bind(stop_gradient(a), result=each, full_matrices=False, on_error="nan") for each in range(3))
    top = max(s, -1, keepdims=True, initial=0)
    top = where(equal(top, 0), number(1, s), top)
    positions, length = iota(s.shape[-1]), shapes.as_value(s.shape[-1])
    zero = less_equal(s, top * (convert(length, s.dtype) * number(np.finfo(s.dtype).eps, s)))
    last = logical_and(greater_equal(positions, length - SINGULAR_VALUES), less(s, top * number(0.1, s)))
    raised = convert(where(logical_or(zero, last), top - s, number(0, s)), a.dtype)
    change = product(u * expand_dims.bind(raised, axes=(-2,)), vh)
    regular = a + change
    _, (matrix, factors, pivots) = factored(regular)
    value = stop_gradient(square_lu.bind(matrix, result=2))
    value = determinant_of.bind(value, matrix, factors, pivots, part="regular")
    ratio = factored_solution(matrix, factors, pivots, change)
    term = total = unit(a)
    for order in range(1, SINGULAR_VALUES + 1):
        term = product(ratio, term)
        trace = expand_dims.bind(sum(diagonal(term, 0, -2, -1), -1), axes=(-2, -1))
        term = term - trace * number(1 / order, a) * unit(a)
        total = total + term
    found = factored_solution(matrix, factors, pivots, transposed_matrix(total), trans=1)
    too_many = less(number(SINGULAR_VALUES, s), sum(convert(zero, s.dtype), -1))
    value, too_many = (expand_dims.bind(each, axes=(-2, -1)) for each in (value, too_many))
    return where(too_many, number(0, a), value * found)


def determinant_jnp(value: Any, a: Any, factors: Any, pivots: Any, *, part: str) -> Any:
    linalg = load("jax.numpy:linalg")
    if part in ("value", "regular"):
        return linalg.det(a)
    sign, size = linalg.slogdet(a)
    if part == "sign":
        return load("jax.lax:stop_gradient")(sign)
    if value.dtype.kind != "c":
        return size
    angle = load("jax.numpy:angle")(sign)
    return load("jax.lax:complex")(size, angle - load("jax.lax:stop_gradient")(angle))


determinant_of = computed("determinant_of", "(),(m,m),(m,m),(m)->()", determinant_vjp, determinant_jnp)
"""A determinant, or its sign, or the logarithm of its size, as a function of the matrix, which is followed by its
factors. (The attribute ``part`` says which, and whether the matrix is known to be regular.) For a complex matrix, the
logarithm has the angle as well, which the sign does not follow."""


def factored(a: Any) -> tuple[Value, tuple[Value, Value, Value]]:
    """Return the diagonal of the upper factor, and the matrix with its factors."""
    matrix = one_square(a)
    factors, pivots = square_lu(matrix)  # type: ignore[misc]
    return stop_gradient(diagonal(factors, 0, -2, -1)), (matrix, factors, pivots)


def parity(pivots: Value, like: Value) -> Value:
    """Return 1 or -1, by the number of rows that were exchanged."""
    moved = not_equal(pivots, iota(pivots.shape[-1]))
    return prod(where(moved, number(-1, like), number(1, like)), -1)


def sign_of_product(elements: Value) -> Value:
    """Return the sign of the product of real numbers: 0 where one of them is 0."""
    one, zero = number(1, elements), number(0, elements)
    return prod(where(equal(elements, zero), zero, where(less(elements, zero), -one, one)), -1)


@decomposition(np.linalg.det, samples=samples.of(samples.regular), ulp=512, scalar=True)
def det(a: Any) -> Value:
    _, (matrix, factors, pivots) = factored(a)
    value = stop_gradient(square_lu.bind(matrix, result=2))
    return determinant_of.bind(value, matrix, factors, pivots, part="value")


@decomposition(np.linalg.slogdet, samples=samples.of(samples.regular), ulp=64)
def slogdet(a: Any) -> SlogdetResult:
    elements, (matrix, factors, pivots) = factored(a)
    size = absolute(elements)
    singular = any(equal(size, number(0, size)), -1)  # then NaN and infinities beside the zero do not count
    logarithm = where(singular, number(-np.inf, size), sum(log(size), -1))
    if elements.dtype.kind != "c":
        sign = where(singular, number(0, elements), sign_of_product(elements) * parity(pivots, elements))
        sign = determinant_of.bind(sign, matrix, factors, pivots, part="sign")
        logarithm = determinant_of.bind(logarithm, matrix, factors, pivots, part="logarithm")
    else:
        sign = prod(elements / where(equal(size, number(0, size)), number(1, size), size), -1)
        sign = where(singular, number(0, elements), sign * parity(pivots, elements))
        # the logarithm of how the determinant changes: its size, and by which angle it turns
        change = complex_of(logarithm, zeros_like(logarithm))
        change = determinant_of.bind(change, matrix, factors, pivots, part="logarithm")
        logarithm, angle = real(change), imag(change)
        sign = sign * exp(complex_of(zeros_like(angle), angle))
    return SlogdetResult(scalar_result(sign), scalar_result(logarithm))
