"""The iterations of golden section and of Brent's methods for minima, as SciPy makes them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numbagraph.library.scipy.solvers.minima.brackets import Bracket, Function

SHORTEST, SECTION = 1e-11, 0.3819660
LARGER = 0.61803399
SMALLER = 1.0 - LARGER
ROOT_OF_EPS, MEAN = math.sqrt(2.2e-16), 0.5 * (3.0 - math.sqrt(5.0))

Lowest = tuple[Any, Any, Any, Any]
"""A point, its value, and the numbers of iterations and calls."""


def brents_steps(f: Function, start: Bracket, xtol: Any, maxiter: Any) -> Lowest:
    """Return the minimum inside of a bracket by parabolas and golden sections."""
    x = w = v = start.xb
    fx = fw = fv = start.fb
    a, b = np.minimum(start.xa, start.xc), np.maximum(start.xa, start.xc)
    before, step = np.float64(0.0), np.float64(0.0)
    calls, iterations, goes_on = start.calls, 0, start.is_valid
    while goes_on and iterations < maxiter:
        tolerance = xtol * np.abs(x) + SHORTEST
        middle = 0.5 * (a + b)
        if np.abs(x - middle) < 2.0 * tolerance - 0.5 * (b - a):
            goes_on = False
        else:
            length = np.where(x >= middle, a - x, b - x)
            p, q = parabola((x, w, v), (fx, fw, fv))
            fits = (p > q * (a - x)) & (p < q * (b - x)) & (np.abs(p) < np.abs(0.5 * q * before))
            if (np.abs(before) <= tolerance) | ~fits:
                before, step = length, SECTION * length
            else:
                before, step = step, p / q
                u = x + step
                is_near = (u - a < 2.0 * tolerance) | (b - u < 2.0 * tolerance)
                step = np.where(is_near, np.where(middle - x >= 0, tolerance, -tolerance), step)
            shortest = np.where(step >= 0, tolerance, -tolerance)
            u = x + np.where(np.abs(step) < tolerance, shortest, step)
            fu = f(u)
            calls += 1
            iterations += 1
            if fu > fx:
                a, b = np.where(u < x, u, a), np.where(u < x, b, u)
                if (fu <= fw) | (w == x):
                    v, fv, w, fw = w, fw, u, fu
                elif (fu <= fv) | (v == x) | (v == w):
                    v, fv = u, fu
            else:
                a, b = np.where(u >= x, x, a), np.where(u >= x, b, x)
                v, fv, w, fw, x, fx = w, fw, x, fx, u, fu
    return x, fx, iterations, calls


def parabola(points: tuple[Any, Any, Any], values: tuple[Any, Any, Any]) -> tuple[Any, Any]:
    """The numerator and the positive denominator of the step to the vertex of the parabola through three points."""
    x, w, v = points
    fx, fw, fv = values
    r, q = (x - w) * (fx - fv), (x - v) * (fx - fw)
    p = (x - v) * q - (x - w) * r
    q = 2.0 * (q - r)
    return np.where(q > 0.0, -p, p), np.abs(q)


def golden_steps(f: Function, start: Bracket, xtol: Any, maxiter: Any) -> Lowest:
    """Return the minimum inside of a bracket by golden sections."""
    xa, xb, xc, _, _, _, calls, is_valid = start
    x0, x3 = xa, xc
    is_first = np.abs(xc - xb) > np.abs(xb - xa)
    x1 = np.where(is_first, xb, xb - SMALLER * (xb - xa))
    x2 = np.where(is_first, xb + SMALLER * (xc - xb), xb)
    f1, f2 = f(x1), f(x2)
    calls, iterations = calls + 2, 0
    while is_valid and iterations < maxiter and not (np.abs(x3 - x0) <= xtol * (np.abs(x1) + np.abs(x2))):
        is_right = f2 < f1
        old = np.where(is_right, x2, x1)
        new = LARGER * old + SMALLER * np.where(is_right, x3, x0)
        value = f(new)
        if is_right:
            x0, x1, x2, f1, f2 = x1, x2, new, f2, value
        else:
            x3, x2, x1, f2, f1 = x2, x1, new, f1, value
        calls += 1
        iterations += 1
    return np.where(f1 < f2, x1, x2), np.where(f1 < f2, f1, f2), iterations, calls


def bounded_steps(f: Function, low: Any, high: Any, xatol: Any, maxfun: Any) -> tuple[Any, Any, Any, Any]:
    """Return the minimum between bounds, its value, the number of calls, and SciPy's status."""
    a, b = low, high
    x = w = v = a + MEAN * (b - a)
    fx = f(x)
    fw = fv = fx
    fu = np.float64(np.inf)
    before, step = np.float64(0.0), np.float64(0.0)
    calls, status = 1, 0
    middle = 0.5 * (a + b)
    tolerance = ROOT_OF_EPS * np.abs(x) + xatol / 3.0
    while (status == 0) & (np.abs(x - middle) > 2.0 * tolerance - 0.5 * (b - a)):
        length = np.where(x >= middle, a - x, b - x)
        p, q = parabola((x, w, v), (fx, fw, fv))
        fits = (np.abs(p) < np.abs(0.5 * q * before)) & (p > q * (a - x)) & (p < q * (b - x))
        if (np.abs(before) > tolerance) & fits:
            before, step = step, p / q
            u = x + step
            is_near = (u - a < 2.0 * tolerance) | (b - u < 2.0 * tolerance)
            step = np.where(is_near, np.where(middle - x >= 0, tolerance, -tolerance), step)
        else:
            before, step = length, MEAN * length
        longer = np.maximum(np.abs(step), tolerance)
        u = x + np.where(step >= 0, longer, -longer)
        fu = f(u)
        calls += 1
        if fu <= fx:
            a, b = np.where(u >= x, x, a), np.where(u >= x, b, x)
            v, fv, w, fw, x, fx = w, fw, x, fx, u, fu
        else:
            a, b = np.where(u < x, u, a), np.where(u < x, b, u)
            if (fu <= fw) | (w == x):
                v, fv, w, fw = w, fw, u, fu
            elif (fu <= fv) | (v == x) | (v == w):
                v, fv = u, fu
        middle = 0.5 * (a + b)
        tolerance = ROOT_OF_EPS * np.abs(x) + xatol / 3.0
        if calls >= maxfun:
            status = 1
    if np.isnan(x) | np.isnan(fx) | np.isnan(fu):
        status = 2
    return x, fx, calls, status
