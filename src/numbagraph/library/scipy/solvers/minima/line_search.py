"""Steps along a direction that satisfy Wolfe's conditions: MINPACK's search, and the one that follows where it fails.

One loop evaluates the function at a trial step and asks the search's stage for the next. All stages are computed in
each trial, as they are a few numbers each: the function is compiled once, not for each stage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numbagraph.api.loops import while_loop
from numbagraph.library.scipy.solvers.minima.minpack_step import Bracket, chosen, safeguarded_step
from numbagraph.library.scipy.solvers.minima.objective import Evaluation, Objective, asked, evaluated

MINPACK, WIDEN, NARROW, FOUND, FAILED = (np.int64(stage) for stage in range(5))
XTOL, TRIALS = 1e-14, 100


class Line(NamedTuple):
    """A function along a direction: its value and slope at 0, Wolfe's constants, the bounds of steps, and the relative
    width of an interval in which no step is sought."""

    value: Any
    slope: Any
    c1: Any
    c2: Any
    least: Any
    most: Any
    widest: Any
    narrowest: float = XTOL


class Interval(NamedTuple):
    """The interval of MINPACK's search, the bounds of its next step, its last two widths, and its first stage."""

    ends: Bracket
    least: Any
    most: Any
    width: Any
    before: Any
    is_first: Any


class Ends(NamedTuple):
    """The interval of the second search: the end with the lowest value, the other one, and a recent one."""

    low: Any
    f_low: Any
    d_low: Any
    high: Any
    f_high: Any
    recent: Any
    f_recent: Any


class Search(NamedTuple):
    """The state of a search: the step to try, or at the end the step that was found."""

    stage: Any
    step: Any
    trials: Any
    interval: Interval
    ends: Ends
    last: Evaluation


def line_search(
    objective: Objective, x: Any, direction: Any, start: Evaluation, before: Any, c1: Any, c2: Any, amin: float = 1e-8,
    amax: float = 50.0, widest: float = np.inf, accepts: Callable[..., Any] | None = None,
) -> Search:  # fmt: skip
    """Search for a step from x, at which ``start`` was evaluated. ``before`` is the value at the point before that."""
    if not (0 < c1 < c2 < 1):
        raise ValueError("'c1' and 'c2' do not satisfy '0 < c1 < c2 < 1'.")
    slope = np.dot(start.gradient, direction)
    line = Line(start.value, slope, c1, c2, np.float64(amin), np.float64(amax), np.float64(widest))
    guess = first_guess(start.value, before, slope)

    def trial(search: Search) -> Search:
        last = evaluated(objective, x + search.step * direction, search.last)
        here = np.dot(last.gradient, direction)
        is_accepted = np.bool_(True) if accepts is None else accepts(last)
        stages = (
            minpack_stage(line, guess, search, last.value, here, is_accepted),
            widening_trial(line, search, last.value, here, is_accepted),
            narrowing_trial(line, search, last.value, here, is_accepted),
        )
        is_asked, new = chosen(search.stage == MINPACK, stages[0], chosen(search.stage == WIDEN, stages[1], stages[2]))
        return new._replace(last=asked(objective, last, is_asked))

    return while_loop(lambda search: search.stage < FOUND, trial, first_search(line, guess, start))


def first_guess(value: Any, before: Any, slope: Any) -> Any:
    guess = np.where(slope == 0, 1.0, 1.01 * 2 * (value - before) / slope)
    return np.where((guess < 1.0) & (guess >= 0), guess, 1.0)


def first_search(line: Line, guess: Any, start: Evaluation) -> Search:
    zero = np.float64(0.0)
    is_refused = (guess < line.least) | (guess > line.most) | (line.slope >= 0)
    stage = np.where(is_refused, WIDEN, MINPACK)
    step = np.where(is_refused, np.minimum(guess, line.widest), guess)
    others = Ends(zero, line.value, line.slope, zero, line.value, zero, line.value)
    return Search(stage, step, np.int64(0), first_interval(line, guess), others, start)


def first_interval(line: Line, guess: Any) -> Interval:
    zero, width = np.float64(0.0), line.most - line.least
    ends = Bracket(zero, line.value, line.slope, zero, line.value, line.slope, np.bool_(False))
    return Interval(ends, zero, guess + 4.0 * guess, width, width / 0.5, np.bool_(True))


def is_within(line: Line, slope: Any) -> Any:
    """Whether a slope is small enough."""
    return np.abs(slope) <= line.c2 * -line.slope


def is_exhausted(line: Line, interval: Interval, step: Any) -> Any:
    is_outside = (step <= interval.least) | (step >= interval.most)
    is_narrow = interval.most - interval.least <= line.narrowest * interval.most
    return interval.ends.is_closed & (is_outside | is_narrow)


class Trial(NamedTuple):
    """What MINPACK's ``DCSRCH`` makes of a trial: whether it is good, whether nothing better follows, and what does."""

    is_good: Any
    is_stuck: Any
    interval: Interval
    step: Any


def minpack_trial(line: Line, interval: Interval, step: Any, value: Any, slope: Any) -> Trial:
    test = line.c1 * line.slope
    bound = line.value + step * test
    is_first = interval.is_first & ~((value <= bound) & (slope >= 0))
    is_stuck = is_exhausted(line, interval, step)
    is_stuck = is_stuck | ((step == line.most) & (value <= bound) & (slope <= test))
    is_stuck = is_stuck | ((step == line.least) & ((value > bound) | (slope >= test)))
    shift = np.where(is_first & (value <= interval.ends.fx) & (value > bound), test, 0.0)
    new, next_step = next_interval(line, interval._replace(is_first=is_first), step, value, slope, shift)
    return Trial((value <= bound) & is_within(line, slope), is_stuck, new, next_step)


def minpack_stage(line: Line, guess: Any, search: Search, value: Any, slope: Any, is_accepted: Any) -> Any:
    """Go on as MINPACK's ``DCSRCH`` does."""
    found = minpack_trial(line, search.interval, search.step, value, slope)
    trials = search.trials + 1
    converged = found.is_good & (trials < TRIALS)
    fails = found.is_stuck | ~np.isfinite(found.step) | (trials >= TRIALS)
    fails = np.where(converged, ~is_accepted, fails)
    stage = np.where(fails, WIDEN, np.where(converged, FOUND, MINPACK))
    after = np.where(fails, np.minimum(guess, line.widest), np.where(converged, search.step, found.step))
    return np.bool_(True), search._replace(
        stage=stage, step=after, trials=np.where(fails, 0, trials), interval=found.interval
    )  # fmt: skip


def next_interval(line: Line, interval: Interval, step: Any, value: Any, slope: Any, shift: Any) -> Any:
    """Return the interval and the step after a trial, for the function less a line of slope ``shift``."""
    ends, next_step = shifted_step(interval, step, value, slope, shift)
    is_closed, length = ends.is_closed, np.abs(ends.y - ends.x)
    is_slow = is_closed & (length >= 0.66 * interval.before)
    next_step = np.where(is_slow, ends.x + 0.5 * (ends.y - ends.x), next_step)
    ahead = next_step - ends.x
    new = Interval(
        ends,
        np.where(is_closed, np.minimum(ends.x, ends.y), next_step + 1.1 * ahead),
        np.where(is_closed, np.maximum(ends.x, ends.y), next_step + 4.0 * ahead),
        np.where(is_closed, length, interval.width),
        np.where(is_closed, interval.width, interval.before),
        interval.is_first,
    )
    next_step = np.clip(next_step, line.least, line.most)
    return new, np.where(is_exhausted(line, new, next_step), ends.x, next_step)


def shifted_step(interval: Interval, step: Any, value: Any, slope: Any, shift: Any) -> tuple[Bracket, Any]:
    ends = interval.ends
    less = ends._replace(
        fx=ends.fx - ends.x * shift, dx=ends.dx - shift, fy=ends.fy - ends.y * shift, dy=ends.dy - shift
    )  # fmt: skip
    new, after = safeguarded_step(less, step, value - step * shift, slope - shift, interval.least, interval.most)
    back = new._replace(fx=new.fx + new.x * shift, dx=new.dx + shift, fy=new.fy + new.y * shift, dy=new.dy + shift)
    return back, after


def widening_trial(line: Line, search: Search, value: Any, slope: Any, is_accepted: Any) -> Any:
    """Double the step, as Nocedal and Wright do, until an interval holds a step."""
    ends, step, trials = search.ends, search.step, search.trials
    is_last = trials == 10
    fails = ~is_last & ((step == 0) | (ends.low > line.widest))
    is_high = (value > line.value + line.c1 * step * line.slope) | ((value >= ends.f_low) & (trials > 0))
    is_high = is_high & ~is_last & ~fails
    goes_on = ~(is_last | fails | is_high)
    is_found = is_last | (goes_on & is_within(line, slope) & is_accepted)
    is_beyond = goes_on & ~is_found & (slope >= 0)
    stage = np.where(is_found, FOUND, np.where(fails, FAILED, np.where(is_high | is_beyond, NARROW, WIDEN)))
    here = Ends(step, value, slope, ends.low, ends.f_low, ends.recent, ends.f_recent)
    new = chosen(is_high, ends._replace(high=step, f_high=value), here)
    after = np.where(stage == WIDEN, np.minimum(2 * step, line.widest), between(new, np.bool_(False)))
    after = np.where(is_found, step, after)
    trials = np.where(stage == WIDEN, trials + 1, 0)
    return goes_on, search._replace(stage=stage, step=after, trials=trials, ends=new)


def narrowing_trial(line: Line, search: Search, value: Any, slope: Any, is_accepted: Any) -> Any:
    """Replace one end of the interval."""
    ends, step, trials = search.ends, search.step, search.trials + 1
    is_high = (value > line.value + line.c1 * step * line.slope) | (value >= ends.f_low)
    is_found = ~is_high & is_within(line, slope) & is_accepted
    left = ends._replace(high=step, f_high=value, recent=ends.high, f_recent=ends.f_high)
    turned = Ends(step, value, slope, ends.low, ends.f_low, ends.high, ends.f_high)
    right = Ends(step, value, slope, ends.high, ends.f_high, ends.low, ends.f_low)
    new = chosen(is_high, left, chosen(slope * (ends.high - ends.low) >= 0, turned, right))
    stage = np.where(is_found, FOUND, np.where(trials > 10, FAILED, NARROW))
    after = np.where(is_found, step, between(new, np.bool_(True)))
    return ~is_high, search._replace(stage=stage, step=after, trials=trials, ends=new)


def between(ends: Ends, has_recent: Any) -> Any:
    """Return the step within an interval: the minimiser of a cubic or a square polynomial, or the middle."""
    width = ends.high - ends.low
    least, most = np.minimum(ends.low, ends.high), np.maximum(ends.low, ends.high)

    def is_good(step: Any, margin: Any) -> Any:
        return np.isfinite(step) & ~(step > most - margin) & ~(step < least + margin)

    by_cubic = cubic_minimiser(ends)
    by_square = ends.low - ends.d_low / (2.0 * ((ends.f_high - ends.f_low - ends.d_low * width) / (width * width)))
    coarse = np.where(is_good(by_square, 0.1 * width), by_square, ends.low + 0.5 * width)
    return np.where(has_recent & is_good(by_cubic, 0.2 * width), by_cubic, coarse)


def cubic_minimiser(ends: Ends) -> Any:
    db, dc = ends.high - ends.low, ends.recent - ends.low
    scale = (db * dc) ** 2 * (db - dc)
    left, right = ends.f_high - ends.f_low - ends.d_low * db, ends.f_recent - ends.f_low - ends.d_low * dc
    third = (dc**2 * left - db**2 * right) / scale
    second = (-(dc**3) * left + db**3 * right) / scale
    return ends.low + (-second + np.sqrt(second * second - 3 * third * ends.d_low)) / (3 * third)
