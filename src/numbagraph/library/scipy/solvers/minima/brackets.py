"""Three points around a minimum of a function of one variable, by SciPy's steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize._optimize import BracketError

from numbagraph.library.scipy.solvers.roots.results import as_tuple

GOLDEN, SMALLEST = 1.618034, 1e-21
NOT_FOUND = (
    "No valid bracket was found before the iteration limit was reached. Consider trying different initial points or "
    "increasing `maxiter`."
)
INVALID = "The algorithm terminated without finding a valid bracket. Consider trying different initial points."

Function = Callable[[Any], Any]


class Bracket(NamedTuple):
    """Three points, the function's values there, the number of calls, and whether the middle is the lowest."""

    xa: Any
    xb: Any
    xc: Any
    fa: Any
    fb: Any
    fc: Any
    calls: Any
    is_valid: Any


def bracket(
    func: Callable[..., Any],
    xa: Any = 0.0,
    xb: Any = 1.0,
    args: Any = (),
    grow_limit: Any = 110.0,
    maxiter: Any = 1000,
) -> Any:
    """`scipy.optimize.bracket`."""
    found = downhill(value_of(func, as_tuple(args)), xa, xb, grow_limit, maxiter)
    if not found.is_valid:
        raise BracketError(INVALID)
    return found[:7]


def value_of(func: Callable[..., Any], args: tuple[Any, ...]) -> Function:
    """The function of one number that has one number as its value."""
    return lambda x: np.reshape(func(x, *args), ())


def given_bracket(f: Function, brack: Any) -> Bracket:
    """Return the bracket that a user names by none, two or three points."""
    if brack is None:
        return downhill(f, 0.0, 1.0)
    if len(brack) == 2:
        return downhill(f, brack[0], brack[1])
    if len(brack) != 3:
        raise ValueError("Bracketing interval must be length 2 or 3 sequence.")
    first, xb, last = np.float64(brack[0]), np.float64(brack[1]), np.float64(brack[2])
    xa, xc = np.where(first > last, last, first), np.where(first > last, first, last)
    if not xa < xb < xc:
        raise ValueError("Bracketing values (xa, xb, xc) do not fulfill this requirement: (xa < xb) and (xb < xc)")
    fa, fb, fc = f(xa), f(xb), f(xc)
    if not (fb < fa and fb < fc):
        raise ValueError(
            "Bracketing values (xa, xb, xc) do not fulfill this requirement: (f(xb) < f(xa)) and (f(xb) < f(xc))"
        )
    return Bracket(xa, xb, xc, fa, fb, fc, 3, True)


def downhill(f: Function, xa: Any, xb: Any, grow_limit: Any = 110.0, maxiter: Any = 1000) -> Bracket:
    """Return a bracket found by steps downhill from two points."""
    xa, xb = np.float64(xa), np.float64(xb)
    fa, fb = f(xa), f(xb)
    if fa < fb:
        xa, xb, fa, fb = xb, xa, fb, fa
    xc = xb + GOLDEN * (xb - xa)
    fc = f(xc)
    calls, iterations, found = 3, 0, False
    while not found and fc < fb:
        by_b, by_c = (xb - xa) * (fb - fc), (xb - xc) * (fb - fa)
        difference = by_c - by_b
        twice = np.where(np.abs(difference) < SMALLEST, 2.0 * SMALLEST, 2.0 * difference)
        w = xb - ((xb - xc) * by_c - (xb - xa) * by_b) / twice
        limit = xb + grow_limit * (xc - xb)
        if iterations > maxiter:
            raise RuntimeError(NOT_FOUND)
        iterations += 1
        inside = (w - xc) * (xb - w) > 0.0
        beyond = ~inside & ((w - limit) * (limit - xc) >= 0.0)
        ahead = ~inside & ~beyond & ((w - limit) * (xc - w) > 0.0)
        w = np.where(beyond, limit, np.where(inside | ahead, w, xc + GOLDEN * (xc - xb)))
        fw = f(w)
        calls += 1
        if inside & (fw < fc):
            xa, fa, xb, fb, found = xb, fb, w, fw, True
        elif inside & (fw > fb):
            xc, fc, found = w, fw, True
        else:
            if inside | (ahead & (fw < fc)):
                if ahead:
                    xb, fb, xc, fc = xc, fc, w, fw
                w = xc + GOLDEN * (xc - xb)
                fw = f(w)
                calls += 1
            xa, fa, xb, fb, xc, fc = xb, fb, xc, fc, w, fw
    is_lowest = ((fb < fc) & (fb <= fa)) | ((fb < fa) & (fb <= fc))
    is_between = ((xa < xb) & (xb < xc)) | ((xc < xb) & (xb < xa))
    is_finite = np.isfinite(xa) & np.isfinite(xb) & np.isfinite(xc)
    return Bracket(xa, xb, xc, fa, fb, fc, calls, is_lowest & is_between & is_finite)
