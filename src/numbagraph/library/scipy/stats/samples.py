"""`scipy.stats`: functions of samples (scores, ranks, correlations, tests of means, densities of data)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import special

from numbagraph.library.scipy.arguments import Function, array, inexact, refuse
from numbagraph.library.scipy.stats.multivariate import METHODS, Density, Normal
from numbagraph.tracing.checks import require


class TestResult(NamedTuple):
    statistic: Any
    pvalue: Any


class SignificanceResult(NamedTuple):
    statistic: Any
    pvalue: Any


class LinregressResult(NamedTuple):
    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any


def sample(a: Any, axis: Any, nan_policy: str = "propagate") -> tuple[Any, Any]:
    """Return a sample of inexact numbers, and the axis of its elements. Without an axis it is one vector."""
    if nan_policy != "propagate":
        refuse(f"nan_policy={nan_policy!r}", "np.nanmean and its like, or nan_policy='propagate'")
    found = inexact(array(a))
    return (np.ravel(found), 0) if axis is None else (found, axis)


def shaped(found: Any, a: Any, axis: Any, keepdims: bool) -> Any:
    if not keepdims:
        return found
    return np.reshape(found, (1,) * np.ndim(a)) if axis is None else np.expand_dims(found, axis)


def central_moment(values: Any, order: int, axis: Any) -> Any:
    return np.mean((values - np.mean(values, axis=axis, keepdims=True)) ** order, axis=axis)


# ---- scores and ranks ----


def zscore(a: Any, axis: Any = 0, ddof: int = 0, nan_policy: str = "propagate") -> Any:
    """`scipy.stats.zscore`."""
    return zmap(a, a, axis, ddof, nan_policy)


def zmap(scores: Any, compare: Any, axis: Any = 0, ddof: int = 0, nan_policy: str = "propagate") -> Any:
    """`scipy.stats.zmap`."""
    values, place = sample(compare, axis, nan_policy)
    mean, spread = np.mean(values, axis=place, keepdims=True), np.std(values, axis=place, ddof=ddof, keepdims=True)
    if axis is None:
        mean, spread = mean[0], spread[0]
    first = values[(slice(0, 1),)] if axis is None else np.take(values, np.array([0]), axis=axis)
    is_constant = np.all(values == first, axis=place, keepdims=True)
    is_constant = is_constant[0] if axis is None else is_constant
    return (inexact(array(scores)) - mean) / np.where(is_constant, np.nan, spread)


def rankdata(a: Any, method: str = "average", *, axis: Any = None, nan_policy: str = "propagate") -> Any:
    """`scipy.stats.rankdata`."""
    if method not in ("average", "min", "max", "dense", "ordinal"):
        raise ValueError(f'unknown method "{method}"')
    if nan_policy != "propagate":
        refuse(f"nan_policy={nan_policy!r}", "nan_policy='propagate'")
    values = array(a)
    rows = np.ravel(values) if axis is None else np.moveaxis(values, axis, -1)
    order = np.argsort(rows, axis=-1, kind="stable")
    places = np.argsort(order, axis=-1, kind="stable")
    if method == "ordinal":
        found = places + 1
    else:
        found = tied_ranks(np.take_along_axis(rows, order, -1), places, method)
    if method == "average":
        found = found.astype(np.float64)
    if rows.dtype.kind == "f":
        is_unknown = np.any(np.isnan(rows), axis=-1, keepdims=True)
        if method == "average":
            found = np.where(is_unknown, np.nan, found)
        else:  # the type of a result must not depend on the numbers
            require(~np.any(is_unknown), ValueError, f"rankdata: ranks by {method!r} are integers, and NaN has none")
    return found if axis is None else np.moveaxis(found, -1, axis)


def tied_ranks(ordered: Any, places: Any, method: str) -> Any:
    """Return the ranks of elements whose ordered values and places among them are known."""
    numbers = np.broadcast_to(np.arange(ordered.shape[-1]), ordered.shape)
    is_new = np.concatenate([np.ones_like(ordered[..., :1], bool), ordered[..., 1:] != ordered[..., :-1]], axis=-1)
    is_last = np.concatenate([is_new[..., 1:], np.ones_like(ordered[..., :1], bool)], axis=-1)
    if method == "dense":
        return np.take_along_axis(np.cumsum(is_new, axis=-1), places, -1)
    low = np.maximum.accumulate(np.where(is_new, numbers, 0), axis=-1)
    high = np.flip(np.minimum.accumulate(np.flip(np.where(is_last, numbers, ordered.shape[-1]), -1), axis=-1), -1)
    found = {"min": low + 1, "max": high + 1, "average": (low + high) / 2 + 1}[method]
    return np.take_along_axis(found, places, -1)


# ---- moments and means ----


def sem(a: Any, axis: Any = 0, ddof: int = 1, nan_policy: str = "propagate", *, keepdims: bool = False) -> Any:
    """`scipy.stats.sem`."""
    values, place = sample(a, axis, nan_policy)
    return shaped(np.std(values, axis=place, ddof=ddof) / values.shape[place] ** 0.5, a, axis, keepdims)


def gmean(
    a: Any, axis: Any = 0, dtype: Any = None, weights: Any = None, nan_policy: str = "propagate",
    *, keepdims: bool = False,
) -> Any:  # fmt: skip
    """`scipy.stats.gmean`."""
    values, place = sample(a if dtype is None else array(a).astype(dtype), axis, nan_policy)
    logs = np.log(values)
    found = np.mean(logs, axis=place) if weights is None else np.average(logs, axis=place, weights=weights)
    return shaped(np.exp(found), a, axis, keepdims)


def hmean(
    a: Any, axis: Any = 0, dtype: Any = None, *, weights: Any = None, nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:  # fmt: skip
    """`scipy.stats.hmean`."""
    values, place = sample(a if dtype is None else array(a).astype(dtype), axis, nan_policy)
    inverse = 1.0 / values
    found = 1.0 / (
        np.mean(inverse, axis=place) if weights is None else np.average(inverse, axis=place, weights=weights)
    )
    return shaped(np.where(np.any(values < 0, axis=place), np.nan, found), a, axis, keepdims)


def moment(
    a: Any, order: int = 1, axis: Any = 0, nan_policy: str = "propagate", *, center: Any = None, keepdims: bool = False
) -> Any:
    """`scipy.stats.moment`."""
    values, place = sample(a, axis, nan_policy)
    found = central_moment(values, order, place) if center is None else np.mean((values - center) ** order, axis=place)
    return shaped(found, a, axis, keepdims)


def skew(a: Any, axis: Any = 0, bias: bool = True, nan_policy: str = "propagate", *, keepdims: bool = False) -> Any:
    """`scipy.stats.skew`."""
    values, place = sample(a, axis, nan_policy)
    count = values.shape[place]
    second = central_moment(values, 2, place)
    is_flat = second <= (np.finfo(values.dtype).resolution * np.mean(values, axis=place)) ** 2
    found = central_moment(values, 3, place) / np.where(is_flat, np.nan, second) ** 1.5
    if not bias:
        found = np.where(count > 2, np.sqrt((count - 1.0) * count) / np.maximum(count - 2.0, 1) * found, found)
    return shaped(found, a, axis, keepdims)


def kurtosis(
    a: Any, axis: Any = 0, fisher: bool = True, bias: bool = True, nan_policy: str = "propagate",
    *, keepdims: bool = False,
) -> Any:  # fmt: skip
    """`scipy.stats.kurtosis`."""
    values, place = sample(a, axis, nan_policy)
    count = values.shape[place]
    second = central_moment(values, 2, place)
    is_flat = second <= (np.finfo(values.dtype).resolution * np.mean(values, axis=place)) ** 2
    found = central_moment(values, 4, place) / np.where(is_flat, np.nan, second) ** 2
    if not bias:
        free = np.maximum((count - 2.0) * (count - 3.0), 1)
        corrected = ((count**2 - 1.0) * found - 3 * (count - 1.0) ** 2) / free + 3.0
        found = np.where(count > 3, corrected, found)
    return shaped(found - 3 if fisher else found, a, axis, keepdims)


def variation(a: Any, axis: Any = 0, nan_policy: str = "propagate", ddof: int = 0, *, keepdims: bool = False) -> Any:
    """`scipy.stats.variation`."""
    values, place = sample(a, axis, nan_policy)
    return shaped(np.std(values, axis=place, ddof=ddof) / np.mean(values, axis=place), a, axis, keepdims)


def iqr(
    x: Any, axis: Any = None, rng: Any = (25, 75), scale: Any = 1.0, nan_policy: str = "propagate",
    interpolation: Any = "linear", keepdims: bool = False,
) -> Any:  # fmt: skip
    """`scipy.stats.iqr`."""
    values, place = sample(x, axis, nan_policy)
    scale = {"normal": 2 * special.erfinv(0.5) * np.sqrt(2)}.get(scale, scale) if isinstance(scale, str) else scale
    low, high = np.percentile(values, sorted(map(float, rng)), axis=place, method=interpolation)
    return shaped((high - low).astype(values.dtype) / scale, x, axis, keepdims)


def entropy(
    pk: Any, qk: Any = None, base: Any = None, axis: Any = 0, *, nan_policy: str = "propagate", keepdims: bool = False
) -> Any:
    """`scipy.stats.entropy`."""
    values, place = sample(pk, axis, nan_policy)
    values = values / np.sum(values, axis=place, keepdims=True)
    if qk is None:
        terms = special.entr(values)
    else:
        others, _ = sample(qk, axis, nan_policy)
        terms = special.rel_entr(values, others / np.sum(others, axis=place, keepdims=True))
    found = np.sum(terms, axis=place)
    return shaped(found if base is None else found / np.log(base), pk, axis, keepdims)


# ---- correlations ----


def pvalue(distance: Any, df: Any, alternative: str) -> Any:
    """The probability of a distance of Student's distribution."""
    if alternative == "less":
        return special.stdtr(df, distance)
    if alternative == "greater":
        return special.stdtr(df, -distance)
    if alternative != "two-sided":
        raise ValueError("`alternative` must be 'less', 'greater', or 'two-sided'.")
    return 2 * special.stdtr(df, -np.abs(distance))


def correlation(x: Any, y: Any) -> Any:
    """The correlation of two vectors, as SciPy computes it: of vectors that are scaled to length 1."""
    left, right = x - np.mean(x), y - np.mean(y)
    return np.clip(np.dot(left / np.linalg.norm(left), right / np.linalg.norm(right)), -1.0, 1.0)


def pearsonr(x: Any, y: Any, *, alternative: str = "two-sided", method: Any = None, axis: Any = 0) -> Any:
    """`scipy.stats.pearsonr` of two vectors."""
    left, right = inexact(array(x)), inexact(array(y))
    if method is not None or left.ndim != 1 or axis not in (0, None):
        refuse("scipy.stats.pearsonr of several pairs, or by a method", "numbagraph.vmap of a function of two vectors")
    count = left.shape[0]
    require(count >= 2, ValueError, "`x` and `y` must have length at least 2.")
    found = correlation(left, right)
    half = count / 2 - 1
    tail = {
        "two-sided": lambda r: 2 * special.betainc(half, half, (1 - np.abs(r)) / 2),
        "greater": lambda r: special.betainc(half, half, (1 - r) / 2),
        "less": lambda r: special.betainc(half, half, (1 + r) / 2),
    }
    if alternative not in tail:
        raise ValueError("`alternative` must be 'less', 'greater', or 'two-sided'.")
    return TestResult(found, np.where(count == 2, 1.0, tail[alternative](found)))


def spearmanr(
    a: Any, b: Any = None, axis: int = 0, nan_policy: str = "propagate", alternative: str = "two-sided"
) -> Any:
    """`scipy.stats.spearmanr` of two vectors."""
    if b is None or np.ndim(a) != 1 or axis != 0:
        refuse("scipy.stats.spearmanr of matrices", "np.corrcoef of the ranks (scipy.stats.rankdata)")
    found = correlation(rankdata(a, nan_policy=nan_policy), rankdata(b, nan_policy=nan_policy))
    df = array(a).shape[0] - 2
    distance = found * np.sqrt(np.maximum(df / ((found + 1.0) * (1.0 - found)), 0.0))
    return SignificanceResult(found, pvalue(distance, df, alternative))


def linregress(x: Any, y: Any, alternative: str = "two-sided") -> Any:
    """`scipy.stats.linregress`."""
    left, right = inexact(array(x)), inexact(array(y))
    count = left.shape[0]
    xm, ym = np.mean(left), np.mean(right)
    ssxm, ssym = np.mean((left - xm) ** 2), np.mean((right - ym) ** 2)
    ssxym = np.mean((left - xm) * (right - ym))
    is_flat = (ssxm == 0.0) | (ssym == 0.0)
    r = np.where(is_flat, np.nan, np.clip(ssxym / np.sqrt(np.where(is_flat, 1.0, ssxm * ssym)), -1.0, 1.0))
    slope = ssxym / ssxm
    df = count - 2
    distance = r * np.sqrt(df / ((1.0 - r + 1e-20) * (1.0 + r + 1e-20)))
    error = np.sqrt((1 - r**2) * ssym / ssxm / df)
    return LinregressResult(slope, ym - slope * xm, r, pvalue(distance, df, alternative), error)


# ---- tests of means ----


def ttest_1samp(
    a: Any, popmean: Any, axis: Any = 0, nan_policy: str = "propagate", alternative: str = "two-sided",
    *, keepdims: bool = False,
) -> Any:  # fmt: skip
    """`scipy.stats.ttest_1samp`."""
    values, place = sample(a, axis, nan_policy)
    count = values.shape[place]
    distance = (np.mean(values, axis=place) - popmean) / np.sqrt(np.var(values, axis=place, ddof=1) / count)
    found = distance, pvalue(distance, count - 1.0, alternative)
    return TestResult(*(shaped(each, a, axis, keepdims) for each in found))


def ttest_rel(
    a: Any, b: Any, axis: Any = 0, nan_policy: str = "propagate", alternative: str = "two-sided",
    *, keepdims: bool = False,
) -> Any:  # fmt: skip
    """`scipy.stats.ttest_rel`."""
    return ttest_1samp(inexact(array(a)) - array(b), 0.0, axis, nan_policy, alternative, keepdims=keepdims)


def ttest_ind(
    a: Any, b: Any, *, axis: Any = 0, equal_var: bool = True, nan_policy: str = "propagate",
    alternative: str = "two-sided", trim: Any = 0, method: Any = None, keepdims: bool = False,
) -> Any:  # fmt: skip
    """`scipy.stats.ttest_ind`."""
    if method is not None or trim:
        refuse("scipy.stats.ttest_ind with method= or trim=", "call it outside")
    (first, place), (other, _) = sample(a, axis, nan_policy), sample(b, axis, nan_policy)
    counts = first.shape[place], other.shape[place]
    variances = [np.var(each, axis=place, ddof=1) for each in (first, other)]
    shares = [each / count for each, count in zip(variances, counts, strict=True)]
    if equal_var:
        df = counts[0] + counts[1] - 2.0
        pooled = sum((count - 1) * each for each, count in zip(variances, counts, strict=True)) / df
        spread = np.sqrt(pooled * (1.0 / counts[0] + 1.0 / counts[1]))
    else:
        df = (shares[0] + shares[1]) ** 2 / sum(
            each**2 / (count - 1) for each, count in zip(shares, counts, strict=True)
        )
        spread = np.sqrt(shares[0] + shares[1])
    distance = (np.mean(first, axis=place) - np.mean(other, axis=place)) / spread
    found = distance, pvalue(distance, df, alternative)
    return TestResult(*(shaped(each, a, axis, keepdims) for each in found))


FUNCTIONS: dict[str, Function] = {
    each.__name__: each
    for each in (
        entropy, gmean, hmean, iqr, kurtosis, linregress, moment, pearsonr, rankdata, sem, skew, spearmanr, ttest_1samp,
        ttest_ind, ttest_rel, variation, zmap, zscore,
    )
}  # fmt: skip

FUNCTIONS["gaussian_kde"] = Density
OBJECTS: dict[str, Any] = {}
NORMAL: dict[str, Any] = {**METHODS, "": Normal}
"""The methods of `scipy.stats.multivariate_normal`, and, without a name, the call of it."""
