"""MINPACK's step within an interval, ``DCSTEP``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import optree


class Bracket(NamedTuple):
    """The best step so far and the other end of the interval, each with value and slope."""

    x: Any
    fx: Any
    dx: Any
    y: Any
    fy: Any
    dy: Any
    is_closed: Any


def chosen(condition: Any, one: Any, other: Any) -> Any:
    """Return one of two trees of equal structure."""
    return optree.tree_map(lambda a, b: np.where(condition, a, b), one, other)


def signed_root(radicand: Any, s: Any, is_negative: Any) -> Any:
    root = s * np.sqrt(radicand)
    return np.where(is_negative, -root, root)


def cubic(a: Any, fa: Any, da: Any, b: Any, fb: Any, db: Any) -> tuple[Any, Any, Any]:
    """Return theta, the scale and the radicand of the cubic through two points with two slopes."""
    theta = 3.0 * (fa - fb) / (b - a) + da + db
    s = np.maximum(np.maximum(np.abs(theta), np.abs(da)), np.abs(db))
    return theta, s, (theta / s) ** 2 - (da / s) * (db / s)


def safeguarded_step(ends: Bracket, step: Any, value: Any, slope: Any, least: Any, most: Any) -> tuple[Bracket, Any]:
    """Return the next step, and the interval that contains it."""
    is_higher = value > ends.fx
    is_turned = ~is_higher & (np.sign(slope) * np.sign(ends.dx) < 0)
    is_flatter = ~is_higher & ~is_turned & (np.abs(slope) < np.abs(ends.dx))
    by_slope = np.where(ends.is_closed, step_to(ends, step, value, slope), np.where(step > ends.x, most, least))
    after = np.where(
        is_higher, step_back(ends, step, value, slope),
        np.where(
            is_turned, step_between(ends, step, value, slope),
            np.where(is_flatter, step_ahead(ends, step, value, slope, least, most), by_slope),
        ),
    )  # fmt: skip
    here = Bracket(step, value, slope, ends.y, ends.fy, ends.dy, ends.is_closed | is_turned)
    turned = here._replace(y=ends.x, fy=ends.fx, dy=ends.dx)
    higher = Bracket(ends.x, ends.fx, ends.dx, step, value, slope, ends.is_closed | is_higher)
    return chosen(is_higher, higher, chosen(is_turned, turned, here)), after


def secant(ends: Bracket, step: Any, slope: Any) -> Any:
    return step + (slope / (slope - ends.dx)) * (ends.x - step)


def step_back(ends: Bracket, step: Any, value: Any, slope: Any) -> Any:
    """The step where the value is higher."""
    x, dx = ends.x, ends.dx
    theta, s, radicand = cubic(x, ends.fx, dx, step, value, slope)
    gamma = signed_root(radicand, s, step < x)
    r = ((gamma - dx) + theta) / (((gamma - dx) + gamma) + slope)
    by_cubic = x + r * (step - x)
    by_square = x + ((dx / ((ends.fx - value) / (step - x) + dx)) / 2.0) * (step - x)
    is_closer = np.abs(by_cubic - x) <= np.abs(by_square - x)
    return np.where(is_closer, by_cubic, by_cubic + (by_square - by_cubic) / 2.0)


def step_between(ends: Bracket, step: Any, value: Any, slope: Any) -> Any:
    """The step where the value is lower, and the slope has the other sign."""
    theta, s, radicand = cubic(ends.x, ends.fx, ends.dx, step, value, slope)
    gamma = signed_root(radicand, s, step > ends.x)
    r = ((gamma - slope) + theta) / (((gamma - slope) + gamma) + ends.dx)
    by_cubic, by_secant = step + r * (ends.x - step), secant(ends, step, slope)
    return np.where(np.abs(by_cubic - step) > np.abs(by_secant - step), by_cubic, by_secant)


def step_ahead(ends: Bracket, step: Any, value: Any, slope: Any, least: Any, most: Any) -> Any:
    """The step where the value is lower, and the slope smaller."""
    theta, s, radicand = cubic(ends.x, ends.fx, ends.dx, step, value, slope)
    is_ahead = step > ends.x
    gamma = signed_root(np.where(radicand > 0, radicand, 0.0), s, is_ahead)
    r = ((gamma - slope) + theta) / ((gamma + (ends.dx - slope)) + gamma)
    by_cubic = np.where((r < 0) & (gamma != 0), step + r * (ends.x - step), np.where(is_ahead, most, least))
    by_secant = secant(ends, step, slope)
    to_cubic, to_secant = np.abs(by_cubic - step), np.abs(by_secant - step)
    inside = np.where(to_cubic < to_secant, by_cubic, by_secant)
    limit = step + 0.66 * (ends.y - step)
    inside = np.where(is_ahead, np.where(inside < limit, inside, limit), np.where(inside > limit, inside, limit))
    outside = np.clip(np.where(to_cubic > to_secant, by_cubic, by_secant), least, most)
    return np.where(ends.is_closed, inside, outside)


def step_to(ends: Bracket, step: Any, value: Any, slope: Any) -> Any:
    """The step towards the other end, where the slope is not smaller."""
    theta, s, radicand = cubic(step, value, slope, ends.y, ends.fy, ends.dy)
    gamma = signed_root(radicand, s, step > ends.y)
    r = ((gamma - slope) + theta) / (((gamma - slope) + gamma) + ends.dy)
    return step + r * (ends.y - step)
