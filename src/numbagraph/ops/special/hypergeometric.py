"""Hypergeometric functions and orthogonal polynomials. Numbers in brackets are those of the DLMF."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from numbagraph.ir.values import Op, Unsupported, Value
from numbagraph.ops.arithmetic import absolute, remainder
from numbagraph.ops.comparison import equal
from numbagraph.ops.selection import where
from numbagraph.ops.special.scipy_kernels import BY_PARAMETER, Domain, kernel

PARAMETERS = range(1, 4)
INSIDE = (-0.8, 0.8)
BY_DEGREE = Unsupported("there is no derivative by the degree of a polynomial")


def contiguous(factor: Value, divisor: Value, slope: Value) -> Value:
    """Return ``slope``, the derivative of a series, but 0 where the series is 1: where ``factor``, a factor of all its
    other terms, is 0, and their ``divisor`` is not."""
    return where(equal(factor, 0) & ~equal(divisor, 0), 0.0, slope)


hyp0f1 = kernel("hyp0f1", [PARAMETERS, (-2.0, 2.0)], BY_PARAMETER, lambda y, b, x: hyp0f1(b + 1, x) / b)
"""[16.3.1]"""
hyp1f1 = kernel(
    "hyp1f1",
    [PARAMETERS, PARAMETERS, (-2.0, 2.0)],
    BY_PARAMETER,
    BY_PARAMETER,
    lambda y, a, b, x: contiguous(a, b, where(equal(a, -1), 1.0, hyp1f1(a + 1, b + 1, x)) * (a / b)),
)
"""[13.3.15]"""
hyp2f1 = kernel(
    "hyp2f1",
    [PARAMETERS, PARAMETERS, PARAMETERS, INSIDE],
    BY_PARAMETER,
    BY_PARAMETER,
    BY_PARAMETER,
    lambda y, a, b, c, x: contiguous(a * b, c, hyp2f1(a + 1, b + 1, c + 1, x) * (a * b / c)),
)
"""[15.5.1]"""
hyperu = kernel(
    "hyperu",
    [PARAMETERS, PARAMETERS, (0.3, 4.0)],
    BY_PARAMETER,
    BY_PARAMETER,
    lambda y, a, b, x: hyperu(a + 1, b + 1, x) * -a,
)
"""[13.3.22]"""


def lpmv_slope(y: Value, m: Value, v: Value, x: Value) -> Value:
    """Return the derivative of `lpmv`: [14.10.5]; at poles [14.8.1], where it is infinite for order 1, and 0 for orders
    from 3 on."""
    none, pole = equal(v + m, 0), equal(absolute(x), 1.0)
    rest = where(none, 0.0, (v + m) * lpmv(m, where(none, v, v - 1), x))  # of a negative order it is NaN at none
    inside = (v * x * y - rest) / where(pole, 1.0, x * x - 1)
    bend, order = v * (v + 1) * 0.5, absolute(m)
    second = where(m < 0, -0.25, bend * (v - 1) * (v + 2) * -0.5)
    first = where(equal(bend, 0.0), 0.0, where(m < 0, -math.inf, math.inf))
    at_one = where(equal(m, 0), bend, where(equal(order, 1), first, where(equal(order, 2), second, 0.0)))
    is_even = (x > 0) | equal(remainder(where(v < 0, -1 - v, v) + m, 2), 1)  # the derivative, then
    return where(pole, where(is_even, at_one, -at_one) + 0.0 * y, inside)


lpmv = kernel("lpmv", [range(2), range(2, 4), INSIDE], BY_PARAMETER, BY_PARAMETER, lpmv_slope)


def polynomial(name: str, slope: Callable[..., Value], parameters: Sequence[Domain] = (), of: Domain = INSIDE) -> Op:
    """Declare a family of polynomials, by their degree, parameters and a number.

    ``slope(n, *parameters, x)`` is the derivative of one of degree 1 or more: a multiple of a polynomial of a lower
    degree.
    """

    def derivative(_: Value, n: Value, *rest: Value) -> Value:
        constant = equal(n, 0)
        return where(constant, 0.0, slope(where(constant, 1, n), *rest))

    return kernel(name, [range(4), *parameters, of], BY_DEGREE, *[BY_PARAMETER] * len(parameters), derivative)


eval_jacobi = polynomial(
    "eval_jacobi",
    lambda n, a, b, x: eval_jacobi(n - 1, a + 1, b + 1, x) * (0.5 * (n + a + b + 1)),
    [PARAMETERS, PARAMETERS],
)
"""[18.9.15]"""
eval_sh_jacobi = polynomial(
    "eval_sh_jacobi",
    lambda n, p, q, x: eval_sh_jacobi(n - 1, p + 2, q + 1, x) * n,
    [range(2, 4), range(1, 3)],
    (0.1, 0.9),
)
eval_gegenbauer = polynomial(
    "eval_gegenbauer", lambda n, a, x: eval_gegenbauer(n - 1, a + 1, x) * (2 * a), [PARAMETERS]
)
"""[18.9.19]"""


def legendre_slope(n: Value, x: Value) -> Value:
    """Return the derivative of Legendre functions: [18.9.15], and for negative degrees by 14.9.5: the functions of
    degrees -n - 1 and n are equal."""
    degree = where(n < 0, -1 - n, n)
    return where(
        equal(degree, 0), 0.0, eval_jacobi(where(equal(degree, 0), 0, degree - 1), 1.0, 1.0, x) * (0.5 * (degree + 1))
    )


eval_legendre = polynomial("eval_legendre", legendre_slope)
eval_sh_legendre = polynomial("eval_sh_legendre", lambda n, x: legendre_slope(n, 2 * x - 1) * 2.0, of=(0.1, 0.9))
eval_chebyt = polynomial("eval_chebyt", lambda n, x: eval_chebyu(n - 1, x) * n)
"""[18.9.21]"""


def second_kind_slope(n: Value, x: Value) -> Value:
    """Return the derivative of polynomials of the second kind: [18.7.4, 18.9.19]; the function of degree -n - 2 is the
    negative one of n, as sines are."""
    reflected = n < -1
    degree = where(reflected, -2 - n, n)
    slope = eval_gegenbauer(where(equal(degree, 0), 0, degree - 1), 2.0, x)
    return where(equal(degree, 0), 0.0, slope * where(reflected, -2.0, 2.0))


eval_chebyu = polynomial("eval_chebyu", second_kind_slope)
eval_chebyc = polynomial("eval_chebyc", lambda n, x: eval_chebys(n - 1, x) * n)
eval_chebys = polynomial("eval_chebys", lambda n, x: second_kind_slope(n, 0.5 * x) * 0.5)
eval_sh_chebyt = polynomial("eval_sh_chebyt", lambda n, x: eval_sh_chebyu(n - 1, x) * (2 * n), of=(0.1, 0.9))
eval_sh_chebyu = polynomial("eval_sh_chebyu", lambda n, x: second_kind_slope(n, 2 * x - 1) * 2.0, of=(0.1, 0.9))
eval_laguerre = polynomial("eval_laguerre", lambda n, x: -eval_genlaguerre(n - 1, 1.0, x))
"""[18.9.23]"""
eval_genlaguerre = polynomial("eval_genlaguerre", lambda n, a, x: -eval_genlaguerre(n - 1, a + 1, x), [PARAMETERS])
eval_hermite = polynomial("eval_hermite", lambda n, x: eval_hermite(n - 1, x) * (2 * n))
"""[18.9.25]"""
eval_hermitenorm = polynomial("eval_hermitenorm", lambda n, x: eval_hermitenorm(n - 1, x) * n)
"""[18.9.27]"""
