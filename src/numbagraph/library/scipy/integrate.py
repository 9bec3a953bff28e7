"""`scipy.integrate`: integrals of samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import array, axis_of, double, inexact, known, require


def at_end(x: Any, axis: int) -> Any:
    return np.moveaxis(x, axis, -1)


SHAPES = (
    "If given, shape of x must be 1-D or the same as y.",
    "If given, length of x along axis must be the same as y.",
)
SHAPES_OF_CUMULATIVE = (
    "If given, shape of `x` must be the same as `y` or 1-D with the same length as `y` along `axis`.",
) * 2


def widths(x: Any, rows: Any, axis: int, messages: Sequence[str] = SHAPES) -> Any:
    """Return the distances of points, with their axis last, where that of ``rows`` is. A vector serves for all rows."""
    points = array(x)
    if points.ndim not in (1, rows.ndim):
        raise ValueError(messages[0])
    points = points if points.ndim == 1 else at_end(points, axis)
    if known(points, "an integral of samples")[-1] != known(rows, "an integral of samples")[-1]:
        raise ValueError(messages[1])
    return np.diff(points, axis=-1)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """`scipy.integrate.trapezoid`."""
    return np.trapezoid(array(y), None if x is None else array(x), dx, axis)


def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None) -> Any:
    """`scipy.integrate.cumulative_trapezoid`."""
    values = array(y)
    axis = axis_of(axis, values.ndim)
    if known(values, "cumulative_trapezoid")[axis] == 0:
        raise ValueError("At least one point is required along `axis`.")
    if initial is not None and initial != 0:
        raise ValueError("`initial` must be `None` or `0`.")
    rows = at_end(values, axis)
    step = dx if x is None else widths(x, rows, axis)
    found = np.cumsum(step * (rows[..., 1:] + rows[..., :-1]) / 2.0, axis=-1)
    if initial is not None:
        found = np.concatenate([np.zeros_like(rows[..., :1], dtype=found.dtype), found], -1)
    return np.moveaxis(found, -1, axis)


def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    """`scipy.integrate.simpson`: by parabolas through three points each; with an even number of points the last
    interval by Cartwright's correction. [Simpson's Rule Cumulative Integration with MS Excel and Irregularly-spaced
    Data, 2017]"""
    values = array(y)
    axis = axis_of(axis, values.ndim)
    rows = at_end(values, axis)
    count = known(rows, "simpson")[-1]
    h = None if x is None else widths(x, rows, axis)
    if count % 2:
        return by_parabolas(rows, h, dx)
    if count == 2:
        step = dx if h is None else h[..., -1]
        return 0.0 + 0.5 * step * (rows[..., -1] + rows[..., -2])
    found = by_parabolas(rows[..., :-1], None if h is None else h[..., :-1], dx)
    first, last = (np.asarray(dx, dtype=np.float64),) * 2 if h is None else (h[..., -2], h[..., -1])
    alpha = ratio(2 * last**2 + 3 * first * last, 6 * (last + first))
    beta = ratio(last**2 + 3.0 * first * last, 6 * first)
    eta = ratio(1 * last**3, 6 * first * (first + last))
    return found + (alpha * rows[..., -1] + beta * rows[..., -2] - eta * rows[..., -3])


def ratio(numerator: Any, denominator: Any) -> Any:
    """Divide; the quotient is zero where the denominator is."""
    inside = denominator != 0
    return np.where(inside, numerator / np.where(inside, denominator, 1.0), 0.0)


def by_parabolas(rows: Any, h: Any, dx: Any) -> Any:
    left, middle, right = rows[..., :-2:2], rows[..., 1:-1:2], rows[..., 2::2]
    if h is None:
        return np.sum(left + 4.0 * middle + right, axis=-1) * (dx / 3.0)
    first, second = (h[..., start::2].astype(float) for start in (0, 1))
    total, product = first + second, first * second
    quotient = ratio(first, second)
    terms = left * (2.0 - ratio(1.0, quotient)) + middle * (total * ratio(total, product)) + right * (2.0 - quotient)
    return np.sum(total / 6.0 * terms, axis=-1)


def cumulative_simpson(y: Any, *, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None) -> Any:
    """`scipy.integrate.cumulative_simpson`: each interval by the parabola through it and the point after, or before."""
    values = inexact(y)
    axis = axis_of(axis, values.ndim)
    rows = at_end(values, axis)
    count = known(rows, "cumulative_simpson")[-1]
    step: Any = inexact(dx)
    if x is not None:
        step = widths(x, rows, axis, SHAPES_OF_CUMULATIVE)
        if count > 2:
            require(np.all(step > 0), "Input x must be strictly increasing.")
    elif step.ndim:
        step = at_end(step, axis)
    if count < 3:
        found = np.cumsum(step * (rows[..., 1:] + rows[..., :-1]) / 2.0, axis=-1)
    else:
        forward = interval(rows, step, x is not None)
        turned = step if x is None else np.flip(step, -1)
        backward = np.flip(interval(np.flip(rows, -1), turned, x is not None), -1)
        places = np.arange(count - 1)
        after = np.concatenate([forward, forward[..., -1:]], -1)
        before = np.concatenate([backward[..., :1], backward], -1)
        found = np.cumsum(np.where((places % 2 == 1) | (places == count - 2), before, after), axis=-1)
    if initial is not None:
        first = array(initial)
        shape = (*known(rows, "cumulative_simpson")[:-1], 1)
        if first.ndim and first.ndim == rows.ndim:
            first = at_end(first, axis)
        first = np.broadcast_to(first, shape)
        found = np.concatenate([first.astype(found.dtype), found + first], -1)
    return np.moveaxis(found, -1, axis)


def interval(rows: Any, h: Any, is_uneven: bool) -> Any:
    """The integrals over the first of every two neighbouring intervals."""
    first, second, third = rows[..., :-2], rows[..., 1:-1], rows[..., 2:]
    if not is_uneven:
        return h / 3.0 * (5.0 * first / 4.0 + 2.0 * second - third / 4.0)
    one, two = h[..., :-1], h[..., 1:]
    quotient, part = one / two, one / (one + two)
    weight = part * quotient
    return one / 6.0 * ((3.0 - part) * first + (3.0 + weight + part) * second - weight * third)


def romb(y: Any, dx: Any = 1.0, axis: int = -1, show: bool = False) -> Any:
    """`scipy.integrate.romb`: Romberg's extrapolation of trapezoids."""
    del show
    rows = at_end(array(y), axis)
    steps = known(rows, "romb")[-1] - 1
    levels = steps.bit_length() - 1
    if steps < 1 or 1 << levels != steps:
        raise ValueError("Number of samples must be one plus a non-negative power of 2.")
    h = steps * double(dx)
    row = [(rows[..., 0] + rows[..., -1]) / 2.0 * h]
    for level in range(1, levels + 1):
        stride = steps >> level
        h = h / 2.0
        found = [0.5 * row[0] + h * np.sum(rows[..., stride :: 2 * stride], axis=-1)]
        for order in range(1, level + 1):
            before = found[order - 1]
            found.append(before + (before - row[order - 1]) / ((1 << (2 * order)) - 1))
        row = found
    return row[-1]


FUNCTIONS = {each.__name__: each for each in (trapezoid, cumulative_trapezoid, simpson, cumulative_simpson, romb)}

OBJECTS: dict[str, Any] = {}
