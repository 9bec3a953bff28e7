"""Functions of `scipy.special` that are no ufuncs, in terms of those that are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from numbagraph.library.scipy.arguments import (
    Function,
    array,
    bound,
    called,
    differentiated,
    double,
    inexact,
    known_number,
    refuse,
)
from numbagraph.library.scipy.special.zeta import zeta

TAU = 2 * np.pi


def comb(N: Any, k: Any, *, exact: bool = False, repetition: bool = False) -> Any:
    """`scipy.special.comb`."""
    refuse_exact("comb", exact)
    many, few = array(N), array(k)
    if repetition:
        return np.where((few == 0) & (many >= 0), 1.0, special.binom(many + few - 1, few))
    some = (few <= many) & (many >= 0) & (few >= 0)
    return np.where(some, special.binom(many, few), 0.0)


def refuse_exact(name: str, exact: bool) -> None:
    if exact:
        refuse(f"scipy.special.{name} with exact=True", "integers have 64 bits here: leave exact out")


def whole(n: Any, name: str, extend: str) -> Any:
    if extend != "zero":
        refuse(f"scipy.special.{name} with extend={extend!r}", "scipy.special.gamma is the complex continuation")
    found = array(n)
    if found.dtype.kind not in "iu":
        raise ValueError(f"Unsupported data type for {name}: {found.dtype}. Permitted data types are integers")
    return found


def factorial2(n: Any, exact: bool = False, extend: str = "zero") -> Any:
    """`scipy.special.factorial2`. [DLMF 5.4.2]"""
    refuse_exact("factorial2", exact)
    number = whole(n, "factorial2", extend)
    half = np.where(number > 0, number, 0) / 2.0
    scale = np.where(number % 2 == 1, np.sqrt(2 / np.pi), 1.0)
    return np.where(number < 0, 0.0, scale * special.gamma(half + 1.0) * 2.0**half)


def factorialk(n: Any, k: int, exact: bool = False, extend: str = "zero") -> Any:
    """`scipy.special.factorialk`, by a quotient of gammas."""
    refuse_exact("factorialk", exact)
    if k < 1:
        raise ValueError(f"k must be a positive integer, received: {k}")
    number = whole(n, "factorialk", extend)
    inside = np.where(number > 0, number, 1)
    rest = inside % k
    quotient = special.gamma(inside / k + 1.0) / special.gamma(rest / k + 1.0)
    found = (1.0 * k) ** ((inside - rest) / k) * quotient * np.maximum(rest, 1)
    return np.where(number > 0, found, np.where(number == 0, 1.0, 0.0))


def diric(x: Any, n: Any) -> Any:
    """`scipy.special.diric`, whose limit at multiples of 2 pi is 1 or -1."""
    value, count = array(x), array(n)
    dtype = np.result_type(value.dtype, count.dtype)
    dtype = dtype if dtype.kind == "f" else np.dtype(np.float64)
    value, count = value.astype(dtype), count.astype(dtype)
    least = 1e-3 if dtype == np.float32 else 1e-7
    half = value / 2.0
    below = np.sin(half)
    near = np.abs(below) < least
    regular = np.sin(count * half) / (count * np.where(near, 1.0, below))
    at_period = (-1.0) ** (np.round(half / np.pi) * (count - 1.0))
    near_period = at_period * (1.0 - (count * count - 1.0) / 6.0 * below * below)
    known_count = (count > 0) & (count == np.floor(count))
    found = np.where(near, differentiated(at_period, near_period), regular)
    return np.where(known_count, found, np.nan).astype(dtype)


def lambertw(z: Any, k: int = 0, tol: float = 1e-8) -> Any:
    """`scipy.special.lambertw`. [DLMF 4.13.4 for the derivative]"""
    value = array(z).astype(np.complex128)
    function = bound("scipy.special:lambertw", int(k), float(tol))

    def pulled(g: Any, _: Any, value: Any) -> tuple[Any]:
        w = lambertw(value, k, tol)  # the same call again, which has derivatives
        return (g * (np.exp(-w) / (1.0 + w)),)

    return called(function, value, value, vjp=pulled)


# ---- Bessel functions ----


def bessel_derivative(name: str, of_bessel: str, sign: int, factor: int = 1) -> Function:
    """Return a derivative of any order of a Bessel function. [DLMF 10.6.7, 10.29.5]"""

    def call(v: Any, z: Any, n: int = 1) -> Any:
        count, order, function = known_number(n, name), array(v), getattr(special, of_bessel)
        if count < 0:
            raise ValueError(f"{name}: n must be a non-negative integer, received: {n}")
        terms = [sign**k * math.comb(count, k) * function(order + (2 * k - count), z) for k in range(count + 1)]
        return sum(terms[1:], terms[0]) * (factor / 2) ** count

    return call


def by_cylindrical(cylindrical: Function) -> Function:
    """Return a spherical Bessel function of positive numbers. [DLMF 10.47.3 to 10.47.9]"""
    return lambda order, x: np.sqrt(np.pi / 2.0) / np.sqrt(x) * cylindrical(order + 0.5, x)


def spherical(name: str, of_positive: Function, slope: tuple[float, float]) -> Function:
    """Return a spherical Bessel function. [DLMF 10.47.14 to 10.47.17, 10.51.2]"""
    own = complex_spherical(name, 1.0 if name in ("in", "kn") else -1.0)

    def call(n: Any, z: Any, derivative: bool = False) -> Any:
        order, value = array(n), array(z)
        if value.dtype.kind == "c":
            return own(order, value, derivative)
        found = (derived if derivative else plain)(order, double(value))
        return found.astype(np.float32) if name == "kn" and value.dtype == np.float32 else found

    def plain(order: Any, value: Any) -> Any:
        size = np.abs(value)
        regular = (size > 0) & np.isfinite(size)
        inside = np.where(regular, size, 1.0)
        found = of_positive(order, inside)
        at_zero, at_infinity = ends(order, value)
        if name == "kn":
            growing = np.where(value < 0, np.pi * by_cylindrical(special.iv)(order, inside), 0.0)
            found = np.where((value < 0) & (order % 2 == 0), -found, found) - growing
            at_infinity = np.where(value < 0, -np.inf, at_infinity)
        found = np.where(regular, found, np.where(size == 0, at_zero, np.where(np.isnan(size), np.nan, at_infinity)))
        if name != "kn":
            odd = order % 2 == (1 if name != "yn" else 0)
            found = np.where((value < 0) & odd, -found, found)
        return np.where(order < 0, np.nan, found)

    def ends(order: Any, value: Any) -> tuple[Any, Any]:
        if name in ("jn", "in"):
            return near_zero(order, np.where(value == 0, value, 0.0), 0), 0.0 if name == "jn" else np.inf
        return (-np.inf if name == "yn" else np.inf), 0.0

    def derived(order: Any, value: Any) -> Any:
        lower, upper = slope
        below = np.where(order > 0, order - 1, 0)
        first = upper * plain(order * 0 + 1, value)
        removable = (value == 0) if name in ("jn", "in") else np.False_
        found = lower * plain(below, value) - (order + 1) / np.where(removable, 1.0, value) * plain(order, value)
        found = np.where(removable, near_zero(order, np.where(removable, value, 0.0), 1), found)
        return np.where(order == 0, first, found)

    def near_zero(order: Any, x: Any, derivative: int) -> Any:
        """The first terms of the series, as many as second derivatives need. [DLMF 10.53.1, 10.53.3]"""
        sign, odd = (-1.0 if name == "jn" else 1.0), 2.0 * order + 3.0
        terms = ((0, 1.0), (2, sign / (2.0 * odd)), (4, 1.0 / (8.0 * odd * (odd + 2.0))))
        powers: Any = 0.0
        for more, factor in terms:
            exponent = order + more
            slope = exponent * x ** np.maximum(exponent - 1, 0)
            powers = powers + factor * (slope if derivative else x**exponent)
        return np.sqrt(np.pi) / (2.0 ** (order + 1.0) * special.gamma(order + 1.5)) * powers

    return call


def complex_spherical(name: str, equation: float) -> Function:
    """Return SciPy's own function of complex numbers, with its second derivative from its differential equation. [DLMF
    10.47.1]"""

    def call(order: Any, value: Any, derivative: bool = False) -> Any:
        orders, values = np.broadcast_arrays(order, value)
        function = bound(f"scipy.special:spherical_{name}", bool(derivative))
        return called(function, values, orders, values, vjp=by_second if derivative else by_first)

    def by_first(g: Any, _: Any, order: Any, value: Any) -> tuple[None, Any]:
        return None, g * call(order, value, True)

    def by_second(g: Any, first: Any, order: Any, value: Any) -> tuple[None, Any]:
        bend = order * (order + 1.0) / (value * value) + equation
        return None, g * (bend * call(order, value) - 2.0 / value * first)

    return call


# ---- Legendre functions ----


def refuse_derivatives(name: str, diff_n: int) -> None:
    if diff_n:
        refuse(f"scipy.special.{name} with diff_n={diff_n}", "numbagraph.grad or numbagraph.jvp give derivatives")


def legendre_p(n: Any, z: Any, *, diff_n: int = 0) -> Any:
    """`scipy.special.legendre_p`."""
    refuse_derivatives("legendre_p", diff_n)
    return with_derivatives(special.eval_legendre(n, inexact(z)))


def legendre_p_all(n: int, z: Any, *, diff_n: int = 0) -> Any:
    """`scipy.special.legendre_p_all`: degrees 0 to n, in double precision."""
    refuse_derivatives("legendre_p_all", diff_n)
    given = inexact(z)
    wide = given.astype(np.result_type(given.dtype, np.float64))
    last = int(n)
    rows = [
        *recurrence(min(last, MOST_STEPS), wide),
        *(special.eval_legendre(k, wide) for k in range(MOST_STEPS + 1, last + 1)),
    ]
    return np.stack(rows)[None].astype(given.dtype)


def recurrence(last: int, x: Any) -> list[Any]:
    """Legendre's polynomials in vector code, by the recurrence in a form that rounds differences. [DLMF 14.10.3]"""
    rows = [np.ones_like(x), x]
    for k in range(1, last):
        product = x * rows[k]
        rows.append(product + k / (k + 1) * (product - rows[k - 1]))
    return rows[: last + 1]


def assoc_legendre_p(n: int, m: int, z: Any, *, branch_cut: int = 2, norm: bool = False, diff_n: int = 0) -> Any:
    """`scipy.special.assoc_legendre_p`, between -1 and 1."""
    refuse_derivatives("assoc_legendre_p", diff_n)
    if branch_cut != 2:
        refuse("scipy.special.assoc_legendre_p with branch_cut=3", "it is for numbers beyond -1 and 1")
    return with_derivatives(associated(int(n), int(m), double(z), norm))


def with_derivatives(value: Any) -> Any:
    """Add a dimension for the orders of derivatives, which SciPy's results have. Here it holds the function alone."""
    return value[None]


def associated(degree: int, order: int, value: Any, norm: bool, sine: Any = None) -> Any:
    """Ferrers' function of the first kind, for a number or for an angle's cosine and sine. [DLMF 14.3.1]"""
    if abs(order) > degree:
        return 0.0 * value
    scale = np.sqrt((2 * degree + 1) / 2.0 * quotient(degree, order)) if norm else 1.0
    return scale * (ferrers if degree <= MOST_STEPS else by_kernel)(degree, order, value, sine)


def by_kernel(degree: int, order: int, value: Any, _: Any) -> Any:
    return special.lpmv(float(order), float(degree), value)


MOST_STEPS = 20
"""The largest degree for which the recurrence is written out."""


def ferrers(degree: int, order: int, x: Any, sine: Any) -> Any:
    """Ferrers' function in vector code, by a recurrence from the degree that equals the order. [DLMF 14.7.10, 14.10.3;
    for negative orders 14.9.3]"""
    m = abs(order)
    inside = x if m == 0 or sine is not None else np.where(np.abs(x) <= 1.0, x, np.nan)
    square = (1.0 - inside) * (1.0 + inside)
    root = sine if sine is not None else np.sqrt(square)
    power = root if m == 1 else root**m if sine is not None else square ** (m / 2.0 if m % 2 else m // 2)
    found, before = (-1.0) ** m * math.prod(range(1, 2 * m, 2)) * power, 0.0
    for n in range(m, degree):
        found, before = ((2 * n + 1) * inside * found - (n + m) * before) / (n - m + 1), found
    return found if order >= 0 else (-1.0) ** m * quotient(degree, m) * found


def quotient(degree: int, order: int) -> float:
    """A quotient of factorials."""
    if degree <= MOST_STEPS:
        return math.factorial(degree - order) / math.factorial(degree + order)
    return float(np.exp(special.gammaln(degree - order + 1) - special.gammaln(degree + order + 1)))


def sph_legendre_p(n: int, m: int, theta: Any, *, diff_n: int = 0) -> Any:
    """`scipy.special.sph_legendre_p`. [DLMF 14.30.1]"""
    refuse_derivatives("sph_legendre_p", diff_n)
    return with_derivatives(spherical_harmonic(int(n), int(m), theta))


def spherical_harmonic(degree: int, order: int, theta: Any) -> Any:
    """A spherical harmonic by the sine of the angle, which has derivatives at the poles, where the root of 1 less the
    squared cosine has none."""
    angle = double(theta)
    return associated(degree, order, np.cos(angle), norm=True, sine=np.abs(np.sin(angle))) / np.sqrt(TAU)


def sph_harm_y(n: int, m: int, theta: Any, phi: Any, *, diff_n: int = 0) -> Any:
    """`scipy.special.sph_harm_y`. [DLMF 14.30.1]"""
    refuse_derivatives("sph_harm_y", diff_n)
    return spherical_harmonic(int(n), int(m), theta) * np.exp(1j * (int(m) * double(phi)))


def for_all(name: str, one: Function) -> Function:
    """Return a function for all degrees and orders: negative orders come last."""

    def call(n: int, m: int, *args: Any, **options: Any) -> Any:
        rows = [
            [one(degree, order, *args, **options) for order in (*range(m + 1), *range(-m, 0))]
            for degree in range(n + 1)
        ]
        found = np.stack([np.stack(row) for row in rows])
        return found if name == "sph_harm_y_all" else np.moveaxis(found, 2, 0)

    call.__name__ = name
    return call


FUNCTIONS: dict[str, Function] = {
    **{
        each.__name__: each
        for each in (
            comb, factorial2, factorialk, diric, zeta, lambertw, legendre_p, legendre_p_all, assoc_legendre_p,
            sph_legendre_p, sph_harm_y,
        )
    },
    "jvp": bessel_derivative("jvp", "jv", -1),
    "yvp": bessel_derivative("yvp", "yv", -1),
    "ivp": bessel_derivative("ivp", "iv", 1),
    "kvp": bessel_derivative("kvp", "kv", 1, -1),
    "h1vp": bessel_derivative("h1vp", "hankel1", -1),
    "h2vp": bessel_derivative("h2vp", "hankel2", -1),
    "spherical_jn": spherical("jn", special._ufuncs._spherical_jn, (1.0, -1.0)),
    "spherical_yn": spherical("yn", special._ufuncs._spherical_yn, (1.0, -1.0)),
    "spherical_in": spherical("in", by_cylindrical(special.iv), (1.0, 1.0)),
    "spherical_kn": spherical("kn", special._ufuncs._spherical_kn, (-1.0, -1.0)),
    "assoc_legendre_p_all": for_all("assoc_legendre_p_all", assoc_legendre_p),
    "sph_legendre_p_all": for_all("sph_legendre_p_all", sph_legendre_p),
    "sph_harm_y_all": for_all("sph_harm_y_all", sph_harm_y),
}  # fmt: skip

OBJECTS: dict[str, Any] = {}
