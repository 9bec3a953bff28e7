"""Algorithm 748 of Alefeld, Potra and Shi, by SciPy's steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import known_number
from numbagraph.library.scipy.solvers.roots.results import (
    CONVERGED,
    INVALID,
    MAXITER,
    RTOL,
    RUNNING,
    STOPPED,
    XTOL,
    as_count,
    as_tuple,
    root_and_results,
)

EPS = float(np.finfo(float).eps)
MOST_STEPS = 100


def toms748(
    f: Callable[..., Any],
    a: Any,
    b: Any,
    args: Any = (),
    k: Any = 1,
    xtol: Any = XTOL,
    rtol: Any = RTOL,
    maxiter: Any = MAXITER,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """`scipy.optimize.toms748`."""
    return enclosing(f, (a, b), as_tuple(args), k, xtol, rtol, maxiter, full_output, disp)


def enclosing(
    f: Callable[..., Any],
    bracket: tuple[Any, Any],
    args: tuple[Any, ...],
    k: Any = 1,
    xtol: Any = XTOL,
    rtol: Any = RTOL,
    maxiter: Any = MAXITER,
    full_output: bool = True,
    disp: bool = False,
    refuses_nan: bool = True,
) -> Any:
    """Return the root, or raise what SciPy raises."""
    found, (value, low, high) = enclosed(f, bracket, args, k, xtol, rtol, as_count(maxiter))
    x, _, iterations, status = found
    if status == INVALID:
        if refuses_nan and np.isnan(value):
            raise ValueError(f"The function value at x={x} is NaN; solver cannot continue.")
        if np.isinf(value):
            raise ValueError(f"Invalid function value: f({x:f}) -> {value} ")
    if disp and status == STOPPED:
        raise RuntimeError(f"Failed to converge after {iterations + 1} iterations, bracket is [{low}, {high}]")
    return root_and_results(lambda x: f(x, *args), found, full_output, "toms748")


def enclosed(
    f: Callable[..., Any],
    bracket: tuple[Any, Any],
    args: tuple[Any, ...],
    k: Any,
    xtol: Any,
    rtol: Any,
    maxiter: Any,
) -> tuple[tuple[Any, Any, Any, Any], tuple[Any, Any, Any]]:
    """Return what was found, and the last value with the last bracket.

    Each pass of the loop evaluates the function once. Passes 0 to k - 1 of an iteration interpolate, pass k takes a
    secant step of twice the length, and pass k + 1 the middle, if the bracket is more than half as wide as before.
    """
    a, b = np.float64(bracket[0]), np.float64(bracket[1])
    check(a, b, xtol, rtol, maxiter)
    steps = number_of_steps(k)
    x, c = a, a
    fc = fa = np.float64(f(a, *args))
    fb = np.float64(f(b, *args))
    status, calls, iterations = RUNNING, 2, 0
    if not np.isfinite(fa):
        status, calls = INVALID, 1
    elif fa == 0:
        status, calls = CONVERGED, 1
    elif not np.isfinite(fb):
        x, fc, status = b, fb, INVALID
    elif fb == 0:
        x, status = b, CONVERGED
    elif np.sign(fb) * np.sign(fa) > 0:
        raise ValueError(f"f(a) and f(b) must have different signs, but f({a:e})={fa:e}, f({b:e})={fb:e} ")
    d, fd, e, fe = 0.0, 0.0, 0.0, 0.0
    width = b - a
    step = -1
    while status == RUNNING:
        if step == -1:
            c = inside(secant(a, b, fa, fb), a, b)
        elif step == steps:
            c = double_secant(a, b, fa, fb, xtol, rtol)
        elif step == steps + 1:
            c = (a + b) / 2.0
        else:
            if step == 0:
                iterations += 1
                width = b - a
            c = interpolated(c, (a, b, d, e), (fa, fb, fd, fe), step == 0)
        fc = np.float64(f(c, *args))
        calls += 1
        if not np.isfinite(fc):
            x, status = c, INVALID
        elif fc == 0:
            x, status = c, CONVERGED
        else:
            e, fe = d, fd
            if np.sign(fa) * np.sign(fc) > 0:
                d, fd, a, fa = a, fa, c, fc
            else:
                d, fd, b, fb = b, fb, c, fc
            if step == -1:
                iterations, step = 1, 0
            elif step < steps or (step == steps and b - a > 0.5 * width):
                step += 1
            else:
                step, x = 0, (a + b) / 2.0
                if np.abs(a - b) <= xtol + rtol * np.abs(b):
                    status = CONVERGED
                elif iterations >= maxiter:
                    status = STOPPED
    return (x, calls, iterations, status), (fc, a, b)


def check(a: Any, b: Any, xtol: Any, rtol: Any, maxiter: Any) -> None:
    """Raise what SciPy raises for what the function gets."""
    if xtol <= 0:
        raise ValueError(f"xtol too small ({xtol:g} <= 0)")
    if rtol < RTOL / 4:
        raise ValueError(f"rtol too small ({rtol:g} < {RTOL / 4:g})")
    if maxiter < 1:
        raise ValueError("maxiter must be greater than 0")
    if not np.isfinite(a):
        raise ValueError(f"a is not finite {a}")
    if not np.isfinite(b):
        raise ValueError(f"b is not finite {b}")
    if a >= b:
        raise ValueError(f"a and b are not an interval [{a}, {b}]")


def number_of_steps(k: Any) -> int:
    """The number of interpolations in an iteration."""
    steps = known_number(k, "k of toms748")
    if steps < 1:
        raise ValueError(f"k too small ({steps} < 1)")
    return min(steps, MOST_STEPS)


def inside(c: Any, a: Any, b: Any) -> Any:
    """A point, or the middle if it is not between a and b."""
    return np.where((a < c) & (c < b), c, (a + b) / 2.0)


def secant(a: Any, b: Any, fa: Any, fb: Any) -> Any:
    """The root of the line through two points."""
    by_b, by_a = (-fa / fb * b + a) / (1 - fa / fb), (-fb / fa * a + b) / (1 - fb / fa)
    return np.where(fa == fb, np.nan, np.where(np.abs(fb) > np.abs(fa), by_b, by_a))


def interpolated(c: Any, points: tuple[Any, ...], values: tuple[Any, ...], first: Any) -> Any:
    """The point of an inverse cubic interpolation; without one the last point again, and of a parabola at first."""
    a, b, _, _ = points
    new = c
    if first:
        new = parabola_root(points, values)
    if are_apart(values):
        cubic = inverse_interpolation(values, points)
        if a < cubic < b:
            new = cubic
    return new


def are_apart(values: tuple[Any, ...]) -> Any:
    """Whether values are finite, other than zero, and other than each other."""
    result = True
    for i, value in enumerate(values):
        result = result & np.isfinite(value) & (value != 0)
        for other in values[i + 1 :]:
            result = result & (np.abs(value - other) > 32 * EPS)
    return result


def inverse_interpolation(values: tuple[Any, ...], points: tuple[Any, ...]) -> Any:
    """The point at which the polynomial through points, as a function of the values, is zero: Neville's scheme."""
    upper, lower = points, points
    total = 0.0
    for k in range(1, len(values)):
        pairs = list(zip(values, values[k:], strict=False))
        differences = [low - up for low, up in zip(lower[1:], upper[:-1], strict=True)]
        upper = [right / (left - right) * each for (left, right), each in zip(pairs, differences, strict=True)]
        lower = [left / (left - right) * each for (left, right), each in zip(pairs, differences, strict=True)]
        total = total + upper[-1]
    return total + points[-1]


def parabola_root(points: tuple[Any, ...], values: tuple[Any, ...]) -> Any:
    """Two steps of Newton's method for the parabola through three points."""
    a, b, d, _ = points
    fa, fb, fd, _ = values
    slope = (fb - fa) / (b - a)
    curvature = ((fd - fb) / (d - b) - slope) / (d - a)
    r = a - fa / slope
    if curvature != 0:
        r = np.where(np.sign(curvature) * np.sign(fa) > 0, a, b)
        ended = False
        for _ in range(2):
            value = (curvature * (r - b) + slope) * (r - a) + fa
            new = r - value / (slope + curvature * (2 * r - a - b))
            is_inside, was_inside = (a < new) & (new < b), (a < r) & (r < b)
            r = np.where(ended, r, np.where(is_inside, new, np.where(was_inside, r, (a + b) / 2.0)))
            ended = ended | ~is_inside
    return r


def double_secant(a: Any, b: Any, fa: Any, fb: Any, xtol: Any, rtol: Any) -> Any:
    """The point at twice the length of a secant step from the end with the smaller value."""
    is_first = np.abs(fa) < np.abs(fb)
    u, fu = np.where(is_first, a, b), np.where(is_first, fa, fb)
    other, fo = np.where(is_first, b, a), np.where(is_first, fb, fa)
    middle = (a + b) / 2.0
    c = u - 2 * fu / ((fb - fa) / (b - a))
    if np.abs(c - u) > 0.5 * (b - a):
        c = middle
    elif np.abs(c - u) <= EPS * np.abs(u):
        if np.frexp(fu)[1] < np.frexp(fo)[1] - 50:
            c = (31 * u + other) / 32
        else:
            sign = np.where(is_first, 1.0, -1.0)
            c = u + (sign * np.abs(c) * rtol + sign * xtol)
        c = inside(c, a, b)
    return c
