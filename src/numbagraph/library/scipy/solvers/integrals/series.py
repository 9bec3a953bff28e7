"""`scipy.integrate.nsum`: sums of many terms, of which the last ones are replaced by an integral."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy._lib._util import _RichResult as Result

from numbagraph.api.branches import cond
from numbagraph.api.loops import while_loop
from numbagraph.library.scipy import leibniz
from numbagraph.library.scipy.arguments import known_number, lifted, refuse
from numbagraph.library.scipy.results import result_of
from numbagraph.library.scipy.solvers.element_searches import CONVERGED, INVALID, for_each
from numbagraph.library.scipy.solvers.integrals.tanh_sinh import EPS, Settings, integral_between

Function = Callable[..., Any]

NOT_VALID, LAST_TERM_IS_LARGE = -1, -4
AT_ONCE = 64
"""How many terms are evaluated at once."""


class Found(NamedTuple):
    """The fields of SciPy's result."""

    sum: Any
    error: Any
    status: Any
    nfev: Any


class Series(NamedTuple):
    """A series of terms from ``a`` on, as functions of their places."""

    term: Function
    """The term at one place."""
    several: Function
    """The terms at an array of places."""
    a: Any
    b: Any
    step: Any


def nsum(
    f: Function,
    a: Any,
    b: Any,
    *,
    step: Any = 1,
    args: Any = (),
    log: bool = False,
    maxterms: Any = 2**20,
    tolerances: dict[str, Any] | None = None,
) -> Any:
    """`scipy.integrate.nsum`."""
    if not callable(f):
        raise ValueError("`f` must be callable.")
    if log:
        refuse("nsum with log=True", "sum the terms themselves")
    given = {} if tolerances is None else tolerances
    atol, rtol = given.get("atol"), given.get("rtol")
    atol, rtol = 0.0 if atol is None else atol, EPS**0.5 if rtol is None else rtol
    if not (0 <= atol < np.inf) or not (0 <= rtol < np.inf):
        raise ValueError("`atol`, and `rtol` must be non-negative and finite.")
    most = known_number(int(maxterms) if isinstance(maxterms, float) else maxterms, "maxterms of nsum")
    if most < 0 or most != maxterms:
        raise ValueError("`maxterms` must be a non-negative integer.")
    settings = Settings(10, 2, atol, rtol)

    def search(low: Any, high: Any, by: Any, *each: Any) -> dict[str, Any]:
        found = sum_between(lambda x: np.float64(f(x, *each)), low, high, by, most, settings)
        return {name: value[()] for name, value in found._asdict().items()}

    found = for_each(search, (a, b, step), args)
    return result_of(Result, success=found["status"] == CONVERGED, **found)


def sum_between(f: Function, a: Any, b: Any, step: Any, most: int, settings: Settings) -> Found:
    """Sum the terms at ``a``, ``a + step`` and so on up to ``b``."""
    is_valid = (b >= a) & np.isfinite(step) & (step > 0)
    step = np.where(is_valid, step, 1.0)
    terms = np.floor(np.divide(b - a, step))
    is_few = is_valid & (terms + 1 <= most)
    b = np.where(np.isfinite(terms), a + terms * step, b)
    region = leibniz.traced(f)
    start = np.where(is_few | ~is_valid, np.where(np.isfinite(a), a, 0.0), 0.0)

    def directly() -> Found:
        series = Series(f, leibniz.for_each(region)(f), start, b, step)
        count = np.where(is_few, np.round(np.divide(b - a, step)) + 1, 0.0)
        total = first_terms(series, count)
        status = np.where(np.isfinite(total), CONVERGED, INVALID)
        return Found(total, EPS * np.abs(total), status, np.int64(1) + np.int64(count))

    def by_integral() -> Found:
        return with_integral(one_sided(f, region, a, b, step), np.isfinite(a) | np.isfinite(b), most, settings)

    found = cond(is_few | ~is_valid, directly, by_integral)
    is_empty = b < a
    nothing = np.where(is_empty, 0.0, np.nan)
    return Found(
        np.where(is_valid, found.sum, nothing), np.where(is_valid, found.error, nothing),
        np.where(is_valid, found.status, np.where(is_empty, CONVERGED, NOT_VALID)),
        np.where(is_valid, found.nfev, 1),
    )  # fmt: skip


def one_sided(f: Function, region: Any, a: Any, b: Any, step: Any) -> Series:
    """Return a series that goes to the right: one to the left is turned, and one to both sides folded at 0."""
    goes_right = np.isfinite(a)
    goes_left = ~goes_right & np.isfinite(b)
    is_folded = ~goes_right & ~goes_left
    both = leibniz.for_each(region)(f)

    def term(x: Any) -> Any:
        point = np.where(goes_left, -x, x)
        here, there = both(np.stack([point, np.where(is_folded, -x, point)]))
        return np.where(is_folded, (here + there) * np.where(x == 0, 0.5, 1.0), here)

    low = np.where(goes_right, a, np.where(goes_left, -b, 0.0))
    several = leibniz.for_each(leibniz.traced(term))(term)
    return Series(term, several, low, np.where(goes_left, -a, b), step)


def first_terms(series: Series, count: Any) -> Any:
    """Sum the first terms."""

    def following(carried: Any) -> Any:
        place, total = carried
        places = place + np.arange(AT_ONCE)
        is_due = places < count
        values = series.several(series.a + np.where(is_due, places, 0.0) * series.step)
        return place + AT_ONCE, total + np.sum(np.where(is_due, values, 0.0))

    start = np.float64(0.0), np.float64(0.0)
    found: Any = while_loop(lambda carried: carried[0] < count, following, start)
    return found[1]


def with_integral(series: Series, is_one_sided: Any, most: int, settings: Settings) -> Found:
    """Sum terms until one is small, and take an integral for those behind it."""
    whole = integral_between(series.term, series.a, series.b, settings)
    is_lost = whole["status"] == INVALID
    allowed = np.where(is_lost, np.nan, settings.atol + settings.rtol * whole["integral"])
    numbers = lifted(numbers_of_terms(most))
    places = series.a + numbers * series.step
    values, following = series.several(places), series.several(places + series.step)
    count = np.sum((values > allowed) | (following > values))
    chosen = np.minimum(count, numbers.shape[0] - 1)
    number, last = numbers[chosen], values[chosen]
    left = first_terms(series, number)
    is_infinite = left == np.inf
    start = np.where(is_lost | is_infinite, np.nan, series.a + number * series.step)
    right = integral_between(series.term, start, series.b, settings)
    has_end = np.isfinite(series.b)
    end = np.where(has_end, series.term(np.where(has_end, series.b, series.a)), 0.0)
    status = np.where(is_infinite, INVALID, np.where(is_lost, whole["status"], right["status"]))
    status = np.where((status == CONVERGED) & (count == numbers.shape[0]), LAST_TERM_IS_LARGE, status)
    calls = np.int64(number) + right["nfev"] + whole["nfev"] + 2 * numbers.shape[0] + has_end
    return Found(
        left + right["integral"] / series.step + last / 2 + end / 2,
        EPS * np.abs(left) + right["error"] / series.step + last / 2 - end / 2,
        status, np.int64(1) + np.where(is_one_sided, calls, 2 * calls),
    )  # fmt: skip


def numbers_of_terms(most: int) -> Any:
    """Return the numbers of terms after which one may be small enough."""
    powers = 2.0 ** np.arange(math.floor(math.log2(most)) if most else 0)
    return np.concatenate([powers, [float(most)]])
