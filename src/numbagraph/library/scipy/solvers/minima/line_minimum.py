"""Minima along a line: a bracket and Brent's search, or his search between bounds, as stages of one loop.

A stage tells what the next value is for. A pass takes this value, and goes on to the next point."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from numbagraph.library.scipy.solvers.minima.brackets import GOLDEN, SMALLEST
from numbagraph.library.scipy.solvers.minima.minpack_step import chosen
from numbagraph.library.scipy.solvers.minima.section_steps import MEAN, ROOT_OF_EPS, SECTION, SHORTEST, parabola

FIRST, SECOND, THIRD, INSIDE, AHEAD, BEYOND, INNER, SEARCH, DONE, ENDLESS = (np.int64(stage) for stage in range(10))
"""The three points of a bracket, the three kinds of a point that widens it, the first point between bounds, points of
the search, its end, and a bracket that only grows."""
GROW_LIMIT, MOST_GROWTHS, MOST_STEPS = 110.0, 1000, 500


class Points(NamedTuple):
    """Three points with their values."""

    xa: Any
    xb: Any
    xc: Any
    fa: Any
    fb: Any
    fc: Any


class Lowest(NamedTuple):
    """An interval, the three lowest points in it with their values, and the last two steps."""

    a: Any
    b: Any
    x: Any
    w: Any
    v: Any
    fx: Any
    fw: Any
    fv: Any
    before: Any
    step: Any


class Line(NamedTuple):
    """The state of a search along a line: the next point is ``at``, whose tangent is taken if the line is half open."""

    stage: Any
    at: Any
    points: Points
    lowest: Lowest
    count: Any
    is_bounded: Any
    is_half_open: Any


def first_line(is_empty: Any, value: Any, low: Any, high: Any) -> Line:
    """Return the start of a search between bounds, which may be infinite. An empty one ends with ``value`` at 0."""
    zero, one = np.float64(0.0), np.float64(1.0)
    is_free = (low == -np.inf) & (high == np.inf)
    is_half_open = ~is_free & ((low == -np.inf) | (high == np.inf))
    a, b = np.where(is_half_open, np.arctan(low), low), np.where(is_half_open, np.arctan(high), high)
    a, b = np.where(is_free, zero, a), np.where(is_free, one, b)
    inner = np.where(is_empty | is_free, zero, a + MEAN * (b - a))
    lowest = Lowest(a, b, inner, inner, inner, value, value, value, zero, zero)
    stage = np.where(is_empty, DONE, np.where(is_free, FIRST, INNER))
    return Line(
        stage, inner, Points(zero, one, one, zero, zero, zero), lowest, np.int64(0), ~is_free, is_half_open & ~is_empty
    )  # fmt: skip


def advanced(line: Line, value: Any, xtol: Any, xatol: Any) -> Line:
    """Return the state after the value at the next point."""
    points, needs_more, is_closed = widened(line, value)
    is_growing = ~needs_more & ~is_closed & (points.fc < points.fb)
    stage, at = next_growth(points)
    is_first, is_search = line.stage <= SECOND, line.stage >= INNER
    is_ended = ~is_first & ~is_search & ~needs_more & ~is_growing
    is_valid = is_search | is_bracket(points)
    count = line.count + np.where(is_search | is_growing, 1, 0)
    here = line.lowest._replace(
        x=line.at, w=line.at, v=line.at, fx=value, fw=value, fv=value
    )  # fmt: skip
    updated = chosen(line.stage == INNER, here, with_value(line.lowest, line.at, value, line.is_bounded))
    lowest = chosen(is_search, updated, chosen(is_ended, opened(points), line.lowest))
    count = np.where(is_ended, 0, count)
    after, u, is_done = proposed(lowest, xtol, xatol, line.is_bounded)
    searches = is_search | is_ended
    is_done = is_done | (count >= MOST_STEPS) | ~is_valid
    next_stage = np.where(is_first, line.stage + 1, np.where(needs_more, BEYOND, stage))
    next_stage = np.where(is_growing & (count > MOST_GROWTHS + 1), ENDLESS, next_stage)
    next_at = np.where(line.stage == FIRST, points.xb, np.where(is_first, points.xc, at))
    next_at = np.where(needs_more, points.xc + GOLDEN * (points.xc - points.xb), next_at)
    return line._replace(
        stage=np.where(searches, np.where(is_done, DONE, SEARCH), next_stage),
        at=np.where(searches, u, next_at),
        points=points,
        lowest=chosen(searches & ~is_done, after, lowest),
        count=count,
    )


def widened(line: Line, value: Any) -> tuple[Points, Any, Any]:
    """Return the bracket with a value, whether one more point is needed before it is shifted, and whether it ends."""
    xa, xb, xc, fa, fb, fc = line.points
    stage, at = line.stage, line.at
    first = line.points._replace(fa=value)
    is_uphill = fa < value
    high, low = np.where(is_uphill, xb, xa), np.where(is_uphill, xa, xb)
    second = Points(
        high, low, low + GOLDEN * (low - high), np.where(is_uphill, value, fa), np.where(is_uphill, fa, value), fc
    )  # fmt: skip
    third = line.points._replace(fc=value)
    is_middle, is_end = (stage == INSIDE) & (value < fc), (stage == INSIDE) & ~(value < fc) & (value > fb)
    is_lower = (stage == AHEAD) & (value < fc)
    needs_more = ((stage == INSIDE) & ~is_middle & ~is_end) | is_lower
    shifted = Points(xb, xc, at, fb, fc, value)
    moved = chosen(is_lower, Points(xa, xc, at, fa, fc, value), chosen(needs_more, line.points, shifted))
    closed = chosen(is_middle, Points(xb, at, xc, fb, value, fc), Points(xa, xb, at, fa, fb, value))
    is_closed = is_middle | is_end
    points = chosen(is_closed, closed, moved)
    points = chosen(stage == THIRD, third, chosen(stage == SECOND, second, points))
    return chosen(stage == FIRST, first, points), needs_more, is_closed


def next_growth(points: Points) -> tuple[Any, Any]:
    """Return the point that widens a bracket, by a parabola within limits, and of which kind it is."""
    xa, xb, xc, fa, fb, fc = points
    by_b, by_c = (xb - xa) * (fb - fc), (xb - xc) * (fb - fa)
    difference = by_c - by_b
    twice = np.where(np.abs(difference) < SMALLEST, 2.0 * SMALLEST, 2.0 * difference)
    w = xb - ((xb - xc) * by_c - (xb - xa) * by_b) / twice
    limit = xb + GROW_LIMIT * (xc - xb)
    is_inside = (w - xc) * (xb - w) > 0.0
    is_beyond = ~is_inside & ((w - limit) * (limit - xc) >= 0.0)
    is_ahead = ~is_inside & ~is_beyond & ((w - limit) * (xc - w) > 0.0)
    at = np.where(is_beyond, limit, np.where(is_inside | is_ahead, w, xc + GOLDEN * (xc - xb)))
    return np.where(is_inside, INSIDE, np.where(is_ahead, AHEAD, BEYOND)), at


def is_bracket(points: Points) -> Any:
    """Whether the middle of three points is in between and the lowest."""
    xa, xb, xc, fa, fb, fc = points
    is_lowest = ((fb < fc) & (fb <= fa)) | ((fb < fa) & (fb <= fc))
    is_between = ((xa < xb) & (xb < xc)) | ((xc < xb) & (xb < xa))
    return is_lowest & is_between & np.isfinite(xa) & np.isfinite(xb) & np.isfinite(xc)


def opened(points: Points) -> Lowest:
    """Return the start of a search inside of a bracket, and of what is none its lowest point."""
    xa, xb, xc, fa, fb, fc = points
    is_nan = np.isnan(xa + xb + xc) | np.isnan(fa) | np.isnan(fb) | np.isnan(fc)
    is_first, is_last = (fa <= fb) & (fa <= fc), fc < fb
    x = np.where(is_first, xa, np.where(is_last, xc, xb))
    fx = np.where(is_first, fa, np.where(is_last, fc, fb))
    is_valid, nan, zero = is_bracket(points), np.float64(np.nan), np.float64(0.0)
    x = np.where(is_valid, xb, np.where(is_nan, nan, x))
    fx = np.where(is_valid, fb, np.where(is_nan, nan, fx))
    return Lowest(np.minimum(xa, xc), np.maximum(xa, xc), x, x, x, fx, fx, fx, zero, zero)


def with_value(old: Lowest, u: Any, fu: Any, is_bounded: Any) -> Lowest:
    """Return the interval and its lowest points with another value."""
    a, b, x, w, v, fx, fw, fv, _, _ = old
    is_lower = np.where(is_bounded, fu <= fx, ~(fu > fx))
    lower = old._replace(
        a=np.where(u >= x, x, a), b=np.where(u >= x, b, x), v=w, fv=fw, w=x, fw=fx, x=u, fx=fu
    )  # fmt: skip
    is_second = (fu <= fw) | (w == x)
    is_third = ~is_second & ((fu <= fv) | (v == x) | (v == w))
    higher = old._replace(
        a=np.where(u < x, u, a), b=np.where(u < x, b, u), w=np.where(is_second, u, w), fw=np.where(is_second, fu, fw),
        v=np.where(is_second, w, np.where(is_third, u, v)), fv=np.where(is_second, fw, np.where(is_third, fu, fv)),
    )  # fmt: skip
    return chosen(is_lower, lower, higher)


def proposed(old: Lowest, xtol: Any, xatol: Any, is_bounded: Any) -> tuple[Lowest, Any, Any]:
    """Return the state with its step, the next point, and whether the search has ended before it."""
    a, b, x, w, v, fx, fw, fv, before, step = old
    middle = 0.5 * (a + b)
    tolerance = np.where(is_bounded, ROOT_OF_EPS * np.abs(x) + xatol / 3.0, xtol * np.abs(x) + SHORTEST)
    distance, rest = np.abs(x - middle), 2.0 * tolerance - 0.5 * (b - a)
    is_done = np.where(is_bounded, ~(distance > rest), distance < rest)
    p, q = parabola((x, w, v), (fx, fw, fv))
    fits = (p > q * (a - x)) & (p < q * (b - x)) & (np.abs(p) < np.abs(0.5 * q * before))
    is_parabolic = ~(np.abs(before) <= tolerance) & fits
    by_parabola = p / q
    u = x + by_parabola
    is_near = (u - a < 2.0 * tolerance) | (b - u < 2.0 * tolerance)
    by_parabola = np.where(is_near, np.where(middle - x >= 0, tolerance, -tolerance), by_parabola)
    length = np.where(x >= middle, a - x, b - x)
    new = np.where(is_parabolic, by_parabola, np.where(is_bounded, MEAN, SECTION) * length)
    shortest = np.where(new >= 0, tolerance, -tolerance)
    u = x + np.where(np.abs(new) < tolerance, shortest, new)
    return old._replace(before=np.where(is_parabolic, step, length), step=new), u, is_done
