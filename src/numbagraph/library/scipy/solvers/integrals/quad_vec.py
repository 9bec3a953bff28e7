"""`scipy.integrate.quad_vec`, with derivatives by integrals of the same kind."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate._quad_vec import _Bunch as Info

from numbagraph.library.scipy import leibniz, leibniz_arrays
from numbagraph.library.scipy.arguments import known_number, refuse
from numbagraph.library.scipy.results import register_bunch
from numbagraph.library.scipy.solvers.integrals.quadpack import edges_of, is_known
from numbagraph.library.scipy.solvers.integrals.vector_adaptive import CONVERGED, ROUNDING, Options, State, integrated
from numbagraph.library.scipy.solvers.integrals.vector_rules import RULES, Form

Function = Callable[..., Any]

TEXTS = [
    "Target precision reached.",
    "Target precision not reached.",
    "Target precision could not be reached due to rounding error.",
    "Non-finite values encountered.",
]
SMALLEST = float(np.finfo(np.float64).tiny) ** 0.5

register_bunch(Info)


class Settings(NamedTuple):
    """What is known while tracing."""

    norm: Any
    limit: int
    quadrature: str | None
    edges: tuple[Any, ...]
    """Points between the bounds."""


def quad_vec(
    f: Function,
    a: Any,
    b: Any,
    epsabs: Any = 1e-200,
    epsrel: Any = 1e-8,
    norm: Any = "2",
    cache_size: Any = 100e6,
    limit: Any = 10000,
    workers: Any = 1,
    points: Any = None,
    quadrature: str | None = None,
    full_output: bool = False,
    *,
    args: Any = (),
) -> Any:
    """`scipy.integrate.quad_vec`."""
    del cache_size  # all integrals are kept
    if callable(workers):
        refuse("quad_vec with a map for workers=", "leave it out")
    operator.index(workers)
    args = args if isinstance(args, tuple) else (args,)
    a, b = np.float64(a), np.float64(b)
    edges = () if points is None else tuple(np.float64(points[i]) for i in range(len(points)))
    settings = Settings(norm, known_number(limit, "the limit of quad_vec"), quadrature, edges)

    def integrand(x: Any) -> Any:
        return f(x, *args)

    region = leibniz_arrays.traced(integrand)
    found, value, sign = adaptive(integrand, region, a, b, (epsabs, epsrel), settings)
    value = differentiable(integrand, region, a, b, sign * value, (epsabs, epsrel), settings)
    error = found.error + found.rounding
    return (value, error, info_of(found, value)) if full_output else (value, error)


def differentiable(
    integrand: Function, region: Any, a: Any, b: Any, value: Any, tolerances: Any, settings: Settings
) -> Any:
    """Return the integral with its derivatives, by the real and the imaginary part."""
    quadrature = quadrature_of(settings)
    if value.dtype.kind != "c":
        return leibniz_arrays.integral(region, a, b, value, quadrature, *tolerances)
    region = leibniz_arrays.traced(lambda x: parts_of(integrand(x)))
    real, imaginary = leibniz_arrays.integral(region, a, b, parts_of(value), quadrature, *tolerances)
    return real + 1j * imaginary


def parts_of(value: Any) -> Any:
    return np.stack([np.real(value), np.imag(value)])


def quadrature_of(settings: Settings) -> Function:
    """Return the quadrature of derivatives: NaN where it did not converge."""
    own = settings._replace(norm="2") if callable(settings.norm) else settings

    def quadrature(slope: Function, a: Any, b: Any, *tolerances: Any) -> Any:
        region = leibniz_arrays.traced(slope)
        found, value, sign = adaptive(slope, region, a, b, tolerances, own)
        is_found = (found.status == CONVERGED) | (found.status == ROUNDING)
        value = np.where(is_found, sign * value, np.nan)
        return leibniz_arrays.integral(region, a, b, value, quadrature, *tolerances)

    return quadrature


def adaptive(f: Function, region: Any, a: Any, b: Any, tolerances: Any, settings: Settings) -> tuple[State, Any, float]:
    """Return what the quadrature found on the interval to which the bounds are mapped, the integral there, and its
    sign."""
    is_low = is_known(a, np.inf) or is_known(a, -np.inf)
    is_high = is_known(b, np.inf) or is_known(b, -np.inf)
    if not np.all((np.isfinite(a) | is_low) & (np.isfinite(b) | is_high)):
        raise ValueError("invalid integration bounds: an infinite one must be known while the function is traced")
    if not is_low and not is_high:
        return (*on_interval(f, region, a, b, settings.edges, tolerances, settings), 1.0)
    quadrature = settings.quadrature or "gk15"
    settings = settings._replace(quadrature=quadrature)
    if is_low and is_high:
        edges = (0.0, *(np.where(x < 0, -1, 1) / (np.abs(x) + 1) for x in settings.edges))
        low, sign = (1.0 if a == b else -1.0), (-1.0 if b < a else 1.0)
        return (*on_interval(from_line(f), region, low, 1.0, edges, tolerances, settings), sign)
    start, direction = (b, np.sign(a)) if is_low else (a, np.sign(b))
    edges = tuple(1.0 / (direction * (x - start) + 1) for x in settings.edges)
    f = from_half_line(f, start, direction)
    return (*on_interval(f, region, 0.0, 1.0, edges, tolerances, settings), -1.0 if is_low else 1.0)


def from_half_line(f: Function, start: Any, direction: Any) -> Function:
    """Return a function on the unit interval with the integral of one from ``start`` on."""

    def mapped(t: Any) -> Any:
        is_tiny = t < SMALLEST
        point = np.where(is_tiny, 1.0, t)
        value = f(start + direction * (1.0 - point) / point)
        return np.where(is_tiny, 0.0, direction * (value / point) / point)

    return mapped


def from_line(f: Function) -> Function:
    """Return a function on the interval from -1 to 1 with the integral of one over all numbers."""

    def mapped(t: Any) -> Any:
        is_tiny = np.abs(t) < SMALLEST
        point = np.where(is_tiny, 1.0, t)
        value = f((1.0 - np.abs(point)) / point)
        return np.where(is_tiny, 0.0, (value / point) / point)

    return mapped


def on_interval(
    f: Function, region: Any, a: Any, b: Any, points: tuple[Any, ...], tolerances: Any, settings: Settings
) -> tuple[State, Any]:
    """Return what the quadrature found on a finite interval, and the integral."""
    output = leibniz_arrays.like(region)
    form = Form(output.shape, output.dtype.kind == "c", norm_of(settings.norm, output.ndim))
    size = math.prod(output.shape) * (2 if form.is_complex else 1)
    name = "gk21" if settings.quadrature is None else settings.quadrature
    if name not in RULES:
        raise ValueError(f"unknown quadrature {name!r}")
    epsabs, epsrel = tolerances
    options = Options(RULES[name], leibniz.for_each(region), form, epsabs, epsrel, settings.limit)
    edges, pieces = edges_of(np.stack(points), a, b) if points else (np.stack([a, b]), np.int64(1))
    found = integrated(lambda x: form.row(f(x)), edges, pieces, size, options)
    return found, form.array(found.value)


def norm_of(norm: Any, ndim: int) -> Function:
    """Return the norm of what the integrand gives."""
    if callable(norm):
        return norm
    if norm not in (None, "max", "2"):
        raise KeyError(norm)
    if not ndim:
        return np.abs
    return np.linalg.norm if norm == "2" else largest_magnitude


def largest_magnitude(x: Any) -> Any:
    return np.amax(np.abs(x))


def info_of(found: State, value: Any) -> Any:
    """Return SciPy's object of details."""
    message = TEXTS[0]
    for number, text in enumerate(TEXTS):
        if found.status == number:
            message = text
    parts, count = found.parts, found.count
    rows = parts.values[:count]
    if value.dtype.kind == "c":
        half = rows.shape[1] // 2
        rows = rows[:, :half] + 1j * rows[:, half:]
    return Info(
        neval=found.calls, success=found.status == CONVERGED, status=found.status, message=message,
        intervals=np.stack([parts.lefts[:count], parts.rights[:count]], axis=-1),
        integrals=rows.reshape((rows.shape[0], *value.shape)),
        errors=parts.errors[:count],
    )  # fmt: skip
