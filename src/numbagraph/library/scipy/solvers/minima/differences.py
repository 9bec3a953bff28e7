"""Gradients by SciPy's finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Function = Callable[[Any], Any]

PRECISION = float(np.finfo(np.float64).eps)
RELATIVE = {"2-point": PRECISION**0.5, "3-point": PRECISION ** (1 / 3)}


def forward(value: Function, x: Any, middle: Any, steps: Any) -> Any:
    """Return the gradient by forward differences."""
    found = np.zeros(len(x))
    for i in range(len(x)):
        ahead = moved(x, i, steps[i])
        found[i] = (value(ahead) - middle) / (ahead[i] - x[i])
    return found


def central(value: Function, x: Any, middle: Any, steps: Any, one_sided: Any) -> Any:
    """Return the gradient by central differences, or by those of second order to one side."""
    found = np.zeros(len(x))
    for i in range(len(x)):
        h = steps[i]
        near = moved(x, i, h)
        other = moved(x, i, 2 * h if one_sided[i] else -h)
        one, two = value(near), value(other)
        if one_sided[i]:
            found[i] = (-3.0 * middle + 4 * one - two) / (other[i] - x[i])
        else:
            found[i] = (one - two) / (near[i] - other[i])
    return found


def gradient(value: Function, x: Any, middle: Any, scheme: str, step: Any, lower: Any, upper: Any) -> Any:
    """Return the gradient by the differences of a scheme, with steps that keep within bounds."""
    steps = steps_of(x, RELATIVE[scheme], step)
    if scheme == "2-point":
        return forward(value, x, middle, steps if lower is None else within(x, steps, lower, upper))
    steps = np.abs(steps)
    if lower is None:
        return central(value, x, middle, steps, np.zeros(len(x), dtype=bool))
    return central(value, x, middle, *around_within(x, steps, lower, upper))


def steps_of(x: Any, relative: float, step: Any) -> Any:
    """Return the steps for each variable: natural ones, or relative ones where they move x."""
    signs = np.where(x >= 0, 1.0, -1.0)
    natural = relative * signs * np.maximum(1.0, np.abs(x))
    if step is None:
        return natural
    found = step * signs * np.abs(x)
    return np.where((x + found) - x == 0, natural, found)


def moved(x: Any, i: Any, h: Any) -> Any:
    found = x.copy()
    found[i] = x[i] + h
    return found


def within(x: Any, steps: Any, lower: Any, upper: Any) -> Any:
    """Return steps to one side, with which no point leaves the bounds: of the other sign, or shorter."""
    below, above, ahead = x - lower, upper - x, x + steps
    fits = np.abs(steps) <= np.maximum(below, above)
    turned = np.where((ahead < lower) | (ahead > upper), -steps, steps)
    return np.where(fits, turned, np.where(above >= below, above, -below))


def around_within(x: Any, steps: Any, lower: Any, upper: Any) -> Any:
    """Return steps to both sides, with which no point leaves the bounds, and where they go to one side alone."""
    below, above = x - lower, upper - x
    is_central = (below >= steps) & (above >= steps)
    ahead, back = np.minimum(steps, 0.5 * above), -np.minimum(steps, 0.5 * below)
    found = np.where(is_central, steps, np.where(above >= below, ahead, back))
    nearest = np.minimum(above, below)
    is_short = ~is_central & (np.abs(found) <= nearest)
    return np.where(is_short, nearest, found), ~is_central & ~is_short
