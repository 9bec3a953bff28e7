"""Forms of filters: zeros, poles and gains; quotients of polynomials; sections of second order."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import Function, array, called, inexact, known, lifted, require
from numbagraph.library.scipy.signal.transformations import normalised, polynomials, roots_of


def polynomial(roots: Any) -> Any:
    """The polynomial with these roots. Those that are not real come with their conjugates."""
    if not known(roots, "a filter")[0]:
        return np.ones(1)
    found = np.poly(roots)
    return found.real if found.dtype.kind == "c" else found


def require_pairs(roots: Any) -> None:
    if roots.dtype.kind != "c" or not known(roots, "a filter")[0]:
        return
    parts = np.sort(roots.imag)
    require(
        np.all(np.abs(parts + np.flip(parts)) <= 1e-8 * np.max(np.abs(roots), initial=1e-300)),
        "in a traced function each root that is not real needs its conjugate among the others",
    )


def zpk2tf(z: Any, p: Any, k: Any) -> tuple[Any, Any]:
    """`scipy.signal.zpk2tf`."""
    zeros, poles = roots_of(z), roots_of(p)
    for each in (zeros, poles):
        require_pairs(each)
    return as_polynomials(zeros, poles, k)


def as_polynomials(zeros: Any, poles: Any, k: Any) -> tuple[Any, Any]:
    gain = inexact(k)
    if zeros.ndim > 1:
        gains = np.broadcast_to(gain, (known(zeros, "zpk2tf")[0],))
        rows = [gains[row] * polynomial(zeros[row]) for row in range(known(zeros, "zpk2tf")[0])]
        return np.stack(rows), polynomial(poles)
    return gain * polynomial(zeros), polynomial(poles)


def tf2zpk(b: Any, a: Any) -> tuple[Any, Any, Any]:
    """`scipy.signal.tf2zpk`: roots are complex, also where all of them are real."""
    above, below = normalised(*polynomials(b, a))
    return roots(above), roots(below), above[0]


def roots(polynomial: Any) -> Any:
    return np.roots(polynomial) if known(polynomial, "tf2zpk")[0] > 1 else np.zeros(0, polynomial.dtype)


def sos2tf(sos: Any) -> tuple[Any, Any]:
    """`scipy.signal.sos2tf`: the products of all sections."""
    sections = inexact(sos)
    above, below = sections[0, :3], sections[0, 3:]
    for number in range(1, known(sections, "sos2tf")[0]):
        above, below = np.convolve(above, sections[number, :3]), np.convolve(below, sections[number, 3:])
    return above, below


def sos2zpk(sos: Any) -> tuple[Any, Any, Any]:
    """`scipy.signal.sos2zpk`: the roots of each section. A root that a section lacks is zero."""
    sections = inexact(sos).astype(np.float64)
    above, below = sections[:, :3], sections[:, 3:]
    require(np.all(above[:, 0] != 0) & np.all(below[:, 0] != 0), "sections must have two zeros and two poles here")
    gains = above[:, 0] / below[:, 0]
    return roots_of_squares(above), roots_of_squares(below), np.prod(gains)


def roots_of_squares(rows: Any) -> Any:
    """The two roots of each polynomial of second degree, one behind the other."""
    half = (-0.5 * rows[:, 1] / rows[:, 0]).astype(np.complex128)
    apart = np.sqrt(half * half - rows[:, 2] / rows[:, 0])
    return np.stack([half + apart, half - apart], 1).reshape((2 * known(rows, "sos2zpk")[0],))


def zpk2sos(z: Any, p: Any, k: Any, pairing: str | None = None, *, analog: bool = False) -> Any:
    """`scipy.signal.zpk2sos`: SciPy says which zeros and poles make a section."""
    zeros, poles = roots_of(z), roots_of(p)
    counts = known(zeros, "zpk2sos")[0], known(poles, "zpk2sos")[0]
    if not any(counts):
        constant = load("scipy.signal:zpk2sos")([], [], 1.0, pairing, analog=analog)
        return constant * np.where(np.arange(6) == (2 if analog else 0), array(k), 1.0)
    like = np.empty((number_of_sections(*counts, pairing, analog), 2), np.int64)
    given = [each.astype(np.complex128) for each in (zeros, poles)]
    first, second = called(pairs(pairing, analog), (like, like), *given)
    sections = np.concatenate([of_pairs(zeros, first), of_pairs(poles, second)], 1)
    gains = np.concatenate([np.stack([array(k).astype(np.float64)] * 3), np.ones(3)])
    return np.concatenate([sections[:1] * gains, sections[1:]])


def number_of_sections(zeros: int, poles: int, pairing: str | None, analog: bool) -> int:
    """How many sections SciPy makes. It raises where such a filter has no such form."""
    shape = load("scipy.signal:zpk2sos")(-np.ones(zeros), -np.ones(poles), 1.0, pairing, analog=analog).shape
    return shape[0]


@lru_cache(8)
def pairs(pairing: str | None, analog: bool) -> Function:
    """The function that says which zeros and which poles are in each section. (Equal options give one object: a
    callback is known by its identity.)"""

    def find(z: Any, p: Any) -> tuple[Any, Any]:
        sections = load("scipy.signal:zpk2sos")(z, p, 1.0, pairing, analog=analog)
        return places_of(sections[:, :3], z), places_of(sections[:, 3:], p)

    return find


def places_of(rows: Any, roots: Any) -> Any:
    """The places among ``roots`` of each row's two roots: behind the last one there are zeros, as many as there may be,
    and the place behind them stands for a root that is missing."""
    most = 2 * len(rows)
    there = np.concatenate([roots, np.zeros(most)])
    free = np.ones(len(there), bool)
    found = np.full((len(rows), 2), len(there))
    for row, row_places in zip(rows, found, strict=True):
        for number, root in enumerate(np.roots(row)):
            near = np.argmin(np.where(free, np.abs(there - root), np.inf))
            row_places[number], free[near] = near, False
    return found


def of_pairs(roots: Any, places: Any) -> Any:
    """The coefficients of sections with roots at these places."""
    most = 2 * known(places, "zpk2sos")[0]
    there = lifted(np.concatenate([roots, np.zeros(most + 1)]))
    count = known(there, "zpk2sos")[0] - 1
    first, second = there[places[:, 0]], there[places[:, 1]]
    has_one, has_two = places[:, 0] < count, places[:, 1] < count
    total, product = np.real(first + second), np.real(first * second)
    return np.stack(
        [
            np.where(has_two, 1.0, 0.0),
            np.where(has_two, -total, np.where(has_one, 1.0, 0.0)),
            np.where(has_two, product, np.where(has_one, -np.real(first), 1.0)),
        ],
        1,
    )


def tf2sos(b: Any, a: Any, pairing: str | None = None, *, analog: bool = False) -> Any:
    """`scipy.signal.tf2sos`."""
    return zpk2sos(*tf2zpk(b, a), pairing, analog=analog)


FORMS: dict[str, Function] = {each.__name__: each for each in (sos2tf, sos2zpk, tf2sos, tf2zpk, zpk2sos, zpk2tf)}
