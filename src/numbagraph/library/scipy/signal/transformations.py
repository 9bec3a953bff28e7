"""Transformations of analog filters: to other cutoffs and bands, and to discrete filters."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import Function, array, inexact, known, require


def roots_of(x: Any) -> Any:
    return np.atleast_1d(array(x))


def excess(z: Any, p: Any) -> int:
    """How many more poles there are than zeros."""
    degree = known(p, "a filter")[0] - known(z, "a filter")[0]
    if degree < 0:
        raise ValueError("Improper transfer function. Must have at least as many poles as zeros.")
    return degree


def product_ratio(z: Any, p: Any) -> Any:
    return np.real(np.prod(z) / np.prod(p))


def lp2lp_zpk(z: Any, p: Any, k: Any, wo: Any = 1.0) -> tuple[Any, Any, Any]:
    """`scipy.signal.lp2lp_zpk`."""
    zeros, poles = roots_of(z), roots_of(p)
    return wo * zeros, wo * poles, k * wo ** float(excess(zeros, poles))


def lp2hp_zpk(z: Any, p: Any, k: Any, wo: Any = 1.0) -> tuple[Any, Any, Any]:
    """`scipy.signal.lp2hp_zpk`."""
    zeros, poles = roots_of(z), roots_of(p)
    moved = np.concatenate([wo / zeros, np.zeros(excess(zeros, poles))])
    return moved, wo / poles, k * product_ratio(-zeros, -poles)


def around(roots: Any, wo: Any) -> Any:
    """Return each root of a filter about zero as two, about the frequencies ``wo`` and ``-wo``."""
    roots = roots.astype(np.complex128)
    apart = np.sqrt(roots**2 - wo**2)
    return np.concatenate([roots + apart, roots - apart])


def lp2bp_zpk(z: Any, p: Any, k: Any, wo: Any = 1.0, bw: Any = 1.0) -> tuple[Any, Any, Any]:
    """`scipy.signal.lp2bp_zpk`."""
    zeros, poles = roots_of(z), roots_of(p)
    degree = excess(zeros, poles)
    moved = np.concatenate([around(zeros * (bw / 2), wo), np.zeros(degree)])
    return moved, around(poles * (bw / 2), wo), k * bw ** float(degree)


def lp2bs_zpk(z: Any, p: Any, k: Any, wo: Any = 1.0, bw: Any = 1.0) -> tuple[Any, Any, Any]:
    """`scipy.signal.lp2bs_zpk`."""
    zeros, poles = roots_of(z), roots_of(p)
    degree = excess(zeros, poles)
    middle = np.ones(degree) * (1j * wo)
    moved = np.concatenate([around((bw / 2) / zeros, wo), middle, -middle])
    return moved, around((bw / 2) / poles, wo), k * product_ratio(-zeros, -poles)


def bilinear_zpk(z: Any, p: Any, k: Any, fs: Any) -> tuple[Any, Any, Any]:
    """`scipy.signal.bilinear_zpk`: zeros at infinity go to Nyquist's frequency."""
    zeros, poles = roots_of(z), roots_of(p)
    twice = 2.0 * fs
    moved = np.concatenate([(twice + zeros) / (twice - zeros), -np.ones(excess(zeros, poles))])
    return moved, (twice + poles) / (twice - poles), k * product_ratio(twice - zeros, twice - poles)


def normalised(b: Any, a: Any) -> tuple[Any, Any]:
    """Return both polynomials divided by the first coefficient of the denominator."""
    require(a[0] != 0, "the first coefficient of the denominator must not be zero in a traced function")
    return b / a[0], a / a[0]


def polynomials(b: Any, a: Any) -> tuple[Any, Any]:
    above, below = (np.atleast_1d(inexact(each)) for each in (b, a))
    if 0 in known(below, "a filter"):
        raise ValueError("Denominator must have at least on nonzero element.")
    for name, each in (("a", below), ("b", above)):
        if each.ndim != 1:
            raise ValueError(f"Parameter {name} is not a 1d array since {name}.shape={known(each, 'a filter')}")
    kind = np.result_type(above.dtype, below.dtype)
    return above.astype(kind), below.astype(kind)


def bilinear(b: Any, a: Any, fs: Any = 1.0) -> tuple[Any, Any]:
    """`scipy.signal.bilinear`: each power of s becomes one of 2 fs (z - 1) / (z + 1)."""
    above, below = polynomials(b, a)
    degree = max(known(above, "bilinear")[0], known(below, "bilinear")[0]) - 1
    factors = np.sqrt(np.asarray(2.0) * fs) ** (2.0 * np.arange(degree + 1.0) - degree)
    powers = np.array(
        [
            np.poly(np.concatenate([-np.ones(degree - power), np.ones(power)])) if degree else np.ones(1)
            for power in range(degree + 1)
        ]
    )
    found = []
    for each in (above, below):
        count = known(each, "bilinear")[0]
        found.append((np.flip(each) * factors[:count]) @ powers[:count])
    return normalised(*found)


def lp2lp(b: Any, a: Any, wo: Any = 1.0) -> tuple[Any, Any]:
    """`scipy.signal.lp2lp`."""
    above, below = polynomials(b, a)
    return normalised(*(each * array(wo) ** np.arange(-known(each, "lp2lp")[0] + 1.0, 1.0) for each in (above, below)))


def lp2hp(b: Any, a: Any, wo: Any = 1.0) -> tuple[Any, Any]:
    """`scipy.signal.lp2hp`: the coefficients from behind, with powers of the cutoff."""
    above, below = polynomials(b, a)
    degree = max(known(above, "lp2hp")[0], known(below, "lp2hp")[0])
    powers = array(wo) ** np.arange(float(degree))
    found = []
    for each in (above, below):
        count = known(each, "lp2hp")[0]
        found.append(np.pad(np.flip(each) * powers[:count], (0, degree - count)))
    return normalised(*found)


def in_band(coefficients: Any, top: int, factors: Any, shift: Function) -> Any:
    """Return the polynomial that has instead of each power of s a polynomial of the middle and width of a band."""
    count = known(coefficients, "a filter")[0]
    found: list[Any] = [0.0] * (top + 1)
    for power in range(count):
        for step, place, factor in shift(power):
            found[top - place] = found[top - place] + step * coefficients[count - 1 - power] * factors(power, factor)
    return np.stack([each + 0.0 * coefficients[0] for each in found])


def lp2bp(b: Any, a: Any, wo: Any = 1.0, bw: Any = 1.0) -> tuple[Any, Any]:
    """`scipy.signal.lp2bp`: (s^2 + wo^2) / (bw s) instead of s."""
    above, below = polynomials(b, a)
    middle, width = array(wo) ** 2, array(bw)
    degrees = [known(each, "lp2bp")[0] - 1 for each in (above, below)]
    most = max(degrees)

    def shift(power: int) -> list[tuple[int, int, int]]:
        return [(comb(power, k), most - power + 2 * k, power - k) for k in range(power + 1)]

    def factors(power: int, of_middle: int) -> Any:
        return middle ** float(of_middle) / width ** float(power)

    return normalised(
        *(in_band(each, n + most, factors, shift) for each, n in zip((above, below), degrees, strict=True))
    )


def lp2bs(b: Any, a: Any, wo: Any = 1.0, bw: Any = 1.0) -> tuple[Any, Any]:
    """`scipy.signal.lp2bs`: bw s / (s^2 + wo^2) instead of s."""
    above, below = polynomials(b, a)
    middle, width = array(wo) ** 2, array(bw)
    most = max(known(each, "lp2bs")[0] - 1 for each in (above, below))

    def shift(power: int) -> list[tuple[int, int, int]]:
        return [(comb(most - power, k), power + 2 * k, most - power - k) for k in range(most - power + 1)]

    def factors(power: int, of_middle: int) -> Any:
        return middle ** float(of_middle) * width ** float(power)

    return normalised(*(in_band(each, 2 * most, factors, shift) for each in (above, below)))


TRANSFORMATIONS: dict[str, Function] = {
    each.__name__: each
    for each in (
        bilinear, bilinear_zpk, lp2bp, lp2bp_zpk, lp2bs, lp2bs_zpk, lp2hp, lp2hp_zpk, lp2lp, lp2lp_zpk,
    )
}  # fmt: skip
