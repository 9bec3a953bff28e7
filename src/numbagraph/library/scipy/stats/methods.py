"""Densities, distribution functions and quantiles of `scipy.stats` on traced arrays.

SciPy's methods sort their arguments into places (`argsreduce`, `place`), which no traced array can do. The methods that
they call, with numbers inside of the support, are formulas in NumPy and `scipy.special`: these are traced as they are.
Around them, `numpy.where` chooses the values outside of the support and for parameters that are not valid.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from numbagraph.capture.builtins.numbers import is_traced
from numbagraph.ir.array_classes import plain_array
from numbagraph.ir.op import registry
from numbagraph.library.scipy.advice import OUTSIDE
from numbagraph.library.scipy.arguments import differentiated, require
from numbagraph.library.scipy.dispatch import refusing
from numbagraph.library.scipy.stats.formulas import FORMULAS, INNER, SUPPORTS, Function, by_known_tail
from numbagraph.library.scipy.stats.moments import MOMENTS, moment
from numbagraph.library.scipy.stats.scipy_methods import called, called_check, called_support
from numbagraph.tracing.trace import tried
from numbagraph.tracing.tracer import TraceError, Tracer, apply, user_source

CONTINUOUS = ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
DISCRETE = ("logpmf", "pmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf")
QUANTILES = ("ppf", "isf")
OF_PARAMETERS = (*MOMENTS, "median", "interval")
OTHER_TAIL = {"logcdf": "sf", "logsf": "cdf"}
"""The method for the probability outside of a tail, by the method that gives the logarithm of the tail's."""


def method_of(function: Any) -> Function | None:
    """Return the replacement of a method of a distribution, plain or frozen, when arguments are traced."""
    holder, name = function.__self__, function.__name__
    kinds = (stats.rv_continuous, stats.rv_discrete)
    frozen = not isinstance(holder, kinds)
    dist = getattr(holder, "dist", None) if frozen else holder
    if not isinstance(dist, kinds):
        return None
    if name not in (DISCRETE if is_discrete(dist) else CONTINUOUS) and name not in OF_PARAMETERS:
        return refusing(function, f"scipy.stats.{dist.name}.{name}", OUTSIDE)

    def call(*args: Any, **kwargs: Any) -> Any:
        options = {**kwargs, **holder.kwds} if frozen else {**kwargs}
        first = (options.pop("confidence"),) if "confidence" in options else ()  # or `holder.args` would come before it
        given = (*first, *args, *holder.args) if frozen else (*first, *args)
        if not is_traced(given, options):
            return function(*args, **kwargs)
        try:
            return (of_parameters if name in OF_PARAMETERS else evaluate)(dist, name, *given, **options)
        except (TypeError, NotImplementedError) as error:
            reason = str(error).partition("\n")[0]
            raise TraceError(
                f"scipy.stats.{dist.name}.{name} is not supported in a traced function: {reason}; write its formula "
                f"with numpy and scipy.special\n  at {user_source()}"
            ) from error

    return call


def evaluate(dist: Any, name: str, x: Any, *args: Any, **kwargs: Any) -> Any:
    """Evaluate a method of a distribution, by its name."""
    counts = is_discrete(dist)
    shapes, loc, scale = dist._parse_args(*args, **kwargs)
    shapes, loc = [*map(as_array, shapes)], as_array(loc) if counts else as_double(loc)
    x, scale = as_double(x), as_double(scale)
    scalar = not any(each.ndim for each in (x, loc, scale, *shapes))
    if scalar:  # some formulas select elements by masks, which numbers have none for
        x = x.reshape(1)
    found = discrete(dist, name, x, shapes, loc) if counts else continuous(dist, name, x, shapes, loc, scale)
    found = as_double(found)
    return found[0] if scalar else found


def of_parameters(dist: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """Evaluate a method that depends on the parameters alone: the mean, the median, ..."""
    if name == "median":
        return evaluate(dist, "ppf", 0.5, *args, **kwargs)
    if name == "interval":
        share, args = as_double(args[0]), args[1:]
        require(np.all((share >= 0) & (share <= 1)), "alpha must be between 0 and 1 inclusive")
        return tuple(
            evaluate(dist, "ppf", each, *args, **kwargs) for each in ((1.0 - share) / 2.0, (1.0 + share) / 2.0)
        )
    shapes, loc, scale = dist._parse_args(*args, **kwargs)
    shapes, loc, scale = [*map(as_double, shapes)], as_double(loc), as_double(scale)
    scalar = not any(each.ndim for each in (loc, scale, *shapes))
    if scalar:
        shapes, scale = [each.reshape(1) for each in shapes], scale.reshape(1)
    valid = are_parameters(dist, shapes) & (scale > 0) & (loc == loc)
    found = as_double(np.where(valid, moment(dist, name, shapes, loc, scale), np.nan))
    return found[0] if scalar else found


def as_array(x: Any) -> Any:
    """Return an array of the dtype that NumPy would give it: a Python number is not weak any more."""
    return apply(registry["asarray"], x) if isinstance(x, Tracer) else plain_array(x)


def as_double(x: Any) -> Any:
    """Return an array of float64, in which SciPy computes all arguments."""
    array = x if isinstance(x, Tracer) else plain_array(x)
    if array.dtype.kind == "c":
        raise TypeError("a complex number is given")
    return array.astype(np.float64)


def value_of(dist: Any, name: str, *args: Any) -> Any:
    """Evaluate a method at numbers inside of the support: by its formula, or by a call of SciPy where it has none in
    NumPy."""
    try:
        with tried():
            return formula_of(dist, name)(*args)
    except (TypeError, NotImplementedError):
        return called(dist, name, lambda *rest: value_of(dist, "pdf", *rest))(*args)


def formula_of(dist: Any, name: str) -> Function:
    """Return the formula of a method, for numbers inside of the support."""
    own = FORMULAS.get((dist.name, name))
    if own is not None:
        return own
    if name in ("pdf", "pmf") and is_generic(dist, name) and not is_generic(dist, f"log{name}"):
        return lambda *args: np.exp(formula_of(dist, f"log{name}")(*args))
    if name in OTHER_TAIL and is_generic(dist, name) and not is_generic(dist, OTHER_TAIL[name]):
        found = by_known_tail(dist.name, name, *(formula_of(dist, each) for each in (name[3:], OTHER_TAIL[name])))
        return found if name == "logsf" or not is_discrete(dist) else lambda k, *args: found(np.floor(k), *args)
    if name.startswith("log") and is_generic(dist, name):
        return lambda *args: np.log(formula_of(dist, name.removeprefix("log"))(*args))
    if name == "cdf" and is_generic(dist, name) and not is_generic(dist, "sf"):
        return lambda x, *args: 1.0 - formula_of(dist, "sf")(np.floor(x) if is_discrete(dist) else x, *args)
    if name == "sf" and is_generic(dist, name):
        return lambda *args: 1.0 - formula_of(dist, "cdf")(*args)
    if name == "isf" and is_generic(dist, name):
        return lambda q, *args: formula_of(dist, "ppf")(1.0 - q, *args)
    if is_generic(dist, name):
        raise TypeError("SciPy has no formula for it, but integrates, sums or searches")
    return getattr(dist, f"_{name}")


def is_discrete(dist: Any) -> bool:
    return isinstance(dist, stats.rv_discrete)


def is_generic(dist: Any, name: str) -> bool:
    """Whether a distribution leaves a method to SciPy's general class, and has no formula of its own here."""
    kind = stats.rv_discrete if is_discrete(dist) else stats.rv_continuous
    private = f"_{name}"
    return (dist.name, name) not in FORMULAS and getattr(type(dist), private) is getattr(kind, private)


def are_parameters(dist: Any, shapes: Sequence[Any]) -> Any:
    general: Any = stats.rv_continuous
    if type(dist)._argcheck is not general._argcheck:
        try:
            with tried():
                return dist._argcheck(*shapes)
        except (TypeError, NotImplementedError):
            return called_check(dist, shapes)
    valid: Any = np.True_
    for each in shapes:
        valid = valid & (each > 0)
    return valid


def support_of(dist: Any, shapes: Sequence[Any]) -> tuple[Any, Any]:
    own = SUPPORTS.get(dist.name)
    if own is not None:
        return own(*shapes)
    try:
        with tried():
            return dist._get_support(*shapes)
    except (TypeError, NotImplementedError):
        return called_support(dist, shapes)


def inner_point(lower: Any, upper: Any) -> Any:
    """Return a number inside of the support, at which formulas are evaluated in place of numbers outside."""
    low, high = (np.isfinite(each) for each in (lower, upper))
    first, last = np.where(low, lower, 0.0), np.where(high, upper, 0.0)
    return np.where(low & high, 0.5 * (first + last), np.where(low, first + 1.0, np.where(high, last - 1.0, 0.0)))


def continuous(dist: Any, name: str, x: Any, shapes: Sequence[Any], loc: Any, scale: Any) -> Any:
    lower, upper = support_of(dist, shapes)
    valid = are_parameters(dist, shapes) & (scale > 0)
    if name in QUANTILES:
        found = quantile(dist, name, x, shapes, placed(lower, scale, loc), placed(upper, scale, loc), scale, loc)
        return np.where(valid & (loc == loc), found, np.nan)
    z = (x - loc) / scale
    inside = (z > lower) & (z < upper)
    if name.endswith("pdf") and type(dist)._support_mask.__name__ == "_support_mask":  # some are open there, too
        closed = type(dist)._support_mask is stats.rv_continuous._support_mask
        inside = (z >= lower) & (z <= upper) if closed else dist._support_mask(z, *shapes)
    value = value_of(dist, name, np.where(inside, z, inner_point(lower, upper)), *shapes)
    if name == "logpdf":
        value = value - np.log(scale)
    if name == "pdf":
        value = value / scale
    value = np.where(inside, value, outside(name, z >= upper, z <= lower))
    return np.where(valid & ~np.isnan(z), value, np.nan)


def outside(name: str, above: Any, below: Any) -> Any:
    """The value of a method outside of the support."""
    none, all_ = (-np.inf, 0.0) if name.startswith("log") else (0.0, 1.0)
    if name.endswith(("pdf", "pmf")):
        return none
    return np.where(above if name.endswith("cdf") else below, all_, none)


def placed(end: Any, scale: Any, loc: Any) -> Any:
    """Return an end of the support, moved and scaled. An infinite end depends on nothing, or derivatives would be
    NaN."""
    finite = np.isfinite(end)
    return np.where(finite, np.where(finite, end, 0.0) * scale + loc, end)


def quantile(dist: Any, name: str, q: Any, shapes: Sequence[Any], first: Any, last: Any, scale: Any, loc: Any) -> Any:
    inside = (q > 0) & (q < 1)
    value = value_of(dist, name, np.where(inside, q, 0.5), *shapes) * scale + loc
    at_zero, at_one = (first, last) if name == "ppf" else (last, first)
    return np.where(inside, value, np.where(q == 0, at_zero, np.where(q == 1, at_one, np.nan)))


def discrete(dist: Any, name: str, x: Any, shapes: Sequence[Any], loc: Any) -> Any:
    lower, upper = support_of(dist, shapes)
    valid = are_parameters(dist, shapes)
    if name in QUANTILES:
        found = quantile(dist, name, x, shapes, lower - 1 + loc, upper + loc, 1.0, loc)
        return np.where(valid & (loc == loc), found, np.nan)
    k = x - loc
    if name.endswith("pmf"):
        inside = (k >= lower) & (k <= upper) & (np.floor(k) == k)
    else:
        inside = (k >= lower) & (k < upper)
    inner = shapes_of_tails(dist, shapes, inside) if name in OTHER_TAIL else shapes
    value = value_of(dist, name, np.where(inside, k, lower), *inner)
    if not name.startswith("log"):
        value = differentiated(np.clip(value, 0.0, 1.0), value)  # only rounding errors lead beyond them
    value = np.where(inside, value, outside(name, k >= upper, k < lower))
    known = valid & ~np.isnan(k)
    if name == "logcdf":  # SciPy does not ask for the shapes there
        known = known | (k >= upper)
    return np.where(known, value, np.nan)


def shapes_of_tails(dist: Any, shapes: Sequence[Any], inside: Any) -> Sequence[Any]:
    """Return shapes for the logarithm of a tail. At an edge of the last shape the logarithm and its derivative are
    infinite: where the value is not used, a number inside of the range replaces that shape."""
    last = INNER.get(dist.name)
    return shapes if last is None else [*shapes[:-1], np.where(inside, shapes[-1], last)]
