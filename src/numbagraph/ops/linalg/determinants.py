"""Determinants, by the factors of a matrix."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from numbagraph.blockwise.common import scalar_result
from numbagraph.blockwise.kinds import composite
from numbagraph.graph import Value
from numbagraph.op import load
from numbagraph.ops.arithmetic import absolute, complex_of, imag, real
from numbagraph.ops.comparison import equal, less, not_equal
from numbagraph.ops.creation import iota, zeros_like
from numbagraph.ops.diagonals import diagonal
from numbagraph.ops.exponential import exp, log
from numbagraph.ops.identity import stop_gradient
from numbagraph.ops.linalg import samples
from numbagraph.ops.linalg.common import computed, factored_solution, number, unit
from numbagraph.ops.linalg.factorisations import one_square, square_lu
from numbagraph.ops.reduction import prod, sum
from numbagraph.ops.selection import where
from numbagraph.ops.shape import expand_dims, squeeze
from numbagraph.types import real_dtype

SlogdetResult = namedtuple("SlogdetResult", ("sign", "logabsdet"))


def determinant_vjp(
    g: Value, y: Value, value: Value, a: Value, factors: Value, pivots: Value, *, part: str
) -> tuple[Value | None, ...]:
    """Giles, An extended collection of matrix derivative results (2008), section 2.2.4."""
    if part == "sign":
        return None, None, None, None
    each = expand_dims.bind(g * y if part == "value" else g, axes=(-2, -1))
    return None, factored_solution(a, factors, pivots, each * unit(a), trans=1), None, None


def determinant_jnp(value: Any, a: Any, factors: Any, pivots: Any, *, part: str) -> Any:
    linalg = load("jax.numpy:linalg")
    if part == "value":
        return linalg.det(a)
    sign, size = linalg.slogdet(a)
    if part == "sign":
        return load("jax.lax:stop_gradient")(sign)
    if value.dtype.kind != "c":
        return size
    angle = load("jax.numpy:angle")(sign)
    return load("jax.lax:complex")(size, angle - load("jax.lax:stop_gradient")(angle))


determinant_of = computed("determinant_of", "(),(m,m),(m,m),(m)->()", determinant_vjp, determinant_jnp)
"""A determinant, its sign or the logarithm of its size as a function of the matrix, which is followed by its factors.
Of a complex one, the logarithm has the angle as well, which the sign does not follow."""


def factored(a: Any) -> tuple[Value, tuple[Value, Value, Value]]:
    """The diagonal of the upper factor, and the matrix with its factors."""
    matrix = one_square(a)
    factors, pivots = square_lu(matrix)  # type: ignore[misc]
    return stop_gradient(diagonal(factors, 0, -2, -1)), (matrix, factors, pivots)


def parity(pivots: Value, like: Value) -> Value:
    """1 or -1, by how many rows were exchanged."""
    moved = not_equal(pivots, iota(pivots.shape[-1]))
    return prod(where(moved, number(-1, like), number(1, like)), -1)


def sign_of_product(elements: Value) -> Value:
    """The sign of the product of real numbers: 0 where one of them is."""
    one, zero = number(1, elements), number(0, elements)
    return prod(where(equal(elements, zero), zero, where(less(elements, zero), -one, one)), -1)


@composite(np.linalg.det, samples=samples.of(samples.regular), ulp=512, scalar=True)
def det(a: Any) -> Value:
    _, (matrix, factors, pivots) = factored(a)
    value = stop_gradient(squeeze.bind(square_lu.bind(matrix, result=2), axes=(-1,)))
    return determinant_of.bind(value, matrix, factors, pivots, part="value")


@composite(np.linalg.slogdet, samples=samples.of(samples.regular), ulp=64)
def slogdet(a: Any) -> SlogdetResult:
    elements, (matrix, factors, pivots) = factored(a)
    size = absolute(elements)
    logarithm = sum(log(size), -1)
    if elements.dtype.kind != "c":
        sign = sign_of_product(elements) * parity(pivots, elements)
        sign = determinant_of.bind(sign, matrix, factors, pivots, part="sign")
        logarithm = determinant_of.bind(logarithm, matrix, factors, pivots, part="logarithm")
    else:
        one, zero = number(1, elements), number(0, elements)
        nothing = equal(size, np.asarray(0, real_dtype(elements.dtype))[()])
        sign = prod(where(nothing, zero, elements / where(nothing, one, size)), -1) * parity(pivots, elements)
        # the logarithm of how the determinant changes: its size, and by which angle it turns
        change = complex_of(logarithm, zeros_like(logarithm))
        change = determinant_of.bind(change, matrix, factors, pivots, part="logarithm")
        logarithm, angle = real(change), imag(change)
        sign = sign * exp(complex_of(zeros_like(angle), angle))
    return SlogdetResult(scalar_result(sign), scalar_result(logarithm))
