"""The iterations of bisection, Ridder's and Brent's methods, as SciPy's C code makes them.

Each takes a function, the ends of a bracket with the values there, and a status, and returns the last point, the
numbers of calls and iterations, and the status.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.library.scipy.solvers.roots.results import CONVERGED, INVALID, RUNNING

Ends = tuple[Any, Any, Any, Any]
Found = tuple[Any, Any, Any, Any]
Function = Callable[[Any], Any]


def bisection(f: Function, ends: Ends, status: Any, xtol: Any, rtol: Any, maxiter: Any) -> Found:
    root, last, fa, _ = ends
    width = last - root
    iterations = 0
    while (status == RUNNING) & (iterations < maxiter):
        iterations += 1
        width = width * 0.5
        middle = root + width
        value = f(middle)
        if np.isnan(value):
            root, status = middle, INVALID
        elif (value == 0) | (np.abs(width) < xtol + rtol * np.abs(middle)):
            root, status = middle, CONVERGED
        elif np.signbit(value) == np.signbit(fa):
            root = middle
    return root, 2 + iterations, iterations, status


def ridders_method(f: Function, ends: Ends, status: Any, xtol: Any, rtol: Any, maxiter: Any) -> Found:
    a, b, fa, fb = ends
    tolerance = xtol + rtol * np.minimum(np.abs(a), np.abs(b))
    new = np.float64(0.0)
    iterations, calls = 0, 2
    while (status == RUNNING) & (iterations < maxiter):
        iterations += 1
        half = 0.5 * (b - a)
        middle = a + half
        value = f(middle)
        calls += 1
        if np.isnan(value):
            new, status = middle, INVALID
        else:
            step = np.where(fb - fa > 0, 1.0, -1.0) * half * value / np.sqrt(value * value - fa * fb)
            shortest = np.minimum(np.abs(step), np.abs(half) - 0.5 * tolerance)
            new = middle - np.where(step > 0, shortest, -shortest)
            fn = f(new)
            calls += 1
            if np.isnan(fn):
                status = INVALID
            elif np.signbit(fn) != np.signbit(value):
                a, fa, b, fb = new, fn, middle, value
            elif np.signbit(fn) != np.signbit(fa):
                b, fb = new, fn
            else:
                a, fa = new, fn
            tolerance = xtol + rtol * new
            if (status == RUNNING) & ((fn == 0) | (np.abs(b - a) < tolerance)):
                status = CONVERGED
    return new, calls, iterations, status


def brents_method(interpolated: Callable[..., Any]) -> Callable[..., Found]:
    """Return Brent's method with a step to a point between three points."""

    def search(f: Function, ends: Ends, status: Any, xtol: Any, rtol: Any, maxiter: Any) -> Found:
        xpre, xcur, fpre, fcur = ends
        xblk, fblk, spre, scur = 0.0, 0.0, 0.0, 0.0
        iterations, calls = 0, 2
        while (status == RUNNING) & (iterations < maxiter):
            iterations += 1
            crossed = (fpre != 0) & (fcur != 0) & (np.signbit(fpre) != np.signbit(fcur))
            xblk, fblk = np.where(crossed, xpre, xblk), np.where(crossed, fpre, fblk)
            spre, scur = np.where(crossed, xcur - xpre, spre), np.where(crossed, xcur - xpre, scur)
            turned = np.abs(fblk) < np.abs(fcur)
            xpre, xcur, xblk = np.where(turned, xcur, xpre), np.where(turned, xblk, xcur), np.where(turned, xcur, xblk)
            fpre, fcur, fblk = np.where(turned, fcur, fpre), np.where(turned, fblk, fcur), np.where(turned, fcur, fblk)
            delta = (xtol + rtol * np.abs(xcur)) / 2
            half = (xblk - xcur) / 2
            if (fcur == 0) | (np.abs(half) < delta):
                status = CONVERGED
            else:
                slope, other = (fpre - fcur) / (xpre - xcur), (fblk - fcur) / (xblk - xcur)
                linear = -fcur * (xcur - xpre) / (fcur - fpre)
                step = np.where(xpre == xblk, linear, interpolated(fcur, fpre, fblk, slope, other))
                is_short = 2 * np.abs(step) < np.minimum(np.abs(spre), 3 * np.abs(half) - delta)
                accepted = (np.abs(spre) > delta) & (np.abs(fcur) < np.abs(fpre)) & is_short
                spre, scur = np.where(accepted, scur, half), np.where(accepted, step, half)
                xpre, fpre = xcur, fcur
                xcur = xcur + np.where(np.abs(scur) > delta, scur, np.where(half > 0, delta, -delta))
                fcur = f(xcur)
                calls += 1
                if np.isnan(fcur):
                    status = INVALID
        return xcur, calls, iterations, status

    return search


def quadratic_step(fcur: Any, fpre: Any, fblk: Any, slope: Any, other: Any) -> Any:
    """The step to the root of a parabola in the function's values."""
    return -fcur * (fblk * other - fpre * slope) / (other * slope * (fblk - fpre))


def hyperbolic_step(fcur: Any, fpre: Any, fblk: Any, slope: Any, other: Any) -> Any:
    """The step to the root of a hyperbola."""
    return -fcur * (fblk - fpre) / (fblk * slope - fpre * other)


SEARCHES: dict[str, Callable[..., Found]] = {
    "bisect": bisection,
    "brenth": brents_method(hyperbolic_step),
    "brentq": brents_method(quadratic_step),
    "ridder": ridders_method,
}
