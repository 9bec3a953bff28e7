"""Waveforms of `scipy.signal`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numbagraph.ir.op import load
from numbagraph.library.scipy.arguments import array, refuse
from numbagraph.tracing.tracer import Tracer


def number(x: Any, like: Any) -> Any:
    """Return a parameter: a traced one in the precision of the times."""
    return array(x).astype(np.result_type(like.dtype, 0.0)) if isinstance(x, Tracer) else float(x)


def chirp(
    t: Any, f0: Any, t1: Any, f1: Any, method: str = "linear", phi: Any = 0, vertex_zero: bool = True, *,
    complex: bool = False,
) -> Any:  # fmt: skip
    """`scipy.signal.chirp`."""
    times = array(t)
    first, end, last = (number(each, times) for each in (f0, t1, f1))
    phase = 2 * math.pi * turns(times, first, end, last, method, vertex_zero) + np.deg2rad(phi)
    return np.exp(1j * phase) if complex else np.cos(phase)


def turns(t: Any, f0: Any, t1: Any, f1: Any, method: str, vertex_zero: bool) -> Any:
    """The phase, in whole turns."""
    if method in ("linear", "lin", "li"):
        return f0 * t + 0.5 * ((f1 - f0) / t1) * t * t
    if method in ("quadratic", "quad", "q"):
        bend = (f1 - f0) / t1**2
        return f0 * t + bend * t**3 / 3 if vertex_zero else f1 * t + bend * ((t1 - t) ** 3 - t1**3) / 3
    if method not in ("logarithmic", "log", "lo", "hyperbolic", "hyp"):
        text = "method must be 'linear', 'quadratic', 'logarithmic', or 'hyperbolic', but a value of "
        raise ValueError(f"{text}{method!r} was given.")
    if isinstance(f0, Tracer) or isinstance(f1, Tracer):
        refuse(f"scipy.signal.chirp with method={method!r} and traced frequencies", "pass f0 and f1 as Python numbers")
    is_logarithmic = method.startswith("lo")
    if is_logarithmic and f0 * f1 <= 0.0:
        raise ValueError("For a logarithmic chirp, f0 and f1 must be nonzero and have the same sign.")
    if not is_logarithmic and 0 in (f0, f1):
        raise ValueError("For a hyperbolic chirp, f0 and f1 must be nonzero.")
    if f0 == f1:
        return f0 * t
    if is_logarithmic:
        rate = t1 / math.log(f1 / f0)
        return rate * f0 * (np.power(f1 / f0, t / t1) - 1.0)
    pole = -f1 * t1 / (f0 - f1)
    return -pole * f0 * np.log(np.abs(1 - t / pole))


def in_a_period(t: Any, share: Any) -> tuple[Any, Any, Any]:
    """Return times and shares of a period, of one shape, and whether times are in that share."""
    times, part = array(t), array(share)
    part = part + (times - times)
    times = np.mod(times + (part - part), 2 * math.pi)
    return times, part, times < part * 2 * math.pi


def result_dtype(function: str, t: Any, share: Any) -> np.dtype:
    """The dtype of SciPy's result, which is float64 before release 1.18, and follows the operands from then on."""
    empty = (each if isinstance(each, (int, float)) else np.zeros(0, array(each).dtype) for each in (t, share))
    return load(f"scipy.signal:{function}")(*empty).dtype


def sawtooth(t: Any, width: Any = 1) -> Any:
    """`scipy.signal.sawtooth`."""
    times, part, rises = in_a_period(t, width)
    above = np.where(rises, times, math.pi * (part + 1) - times)
    found = above / (math.pi * np.where(rises, part, 1 - part)) - np.where(rises, 1, 0)
    return np.where((part > 1) | (part < 0), np.nan, found).astype(result_dtype("sawtooth", t, width))


def square(t: Any, duty: Any = 0.5) -> Any:
    """`scipy.signal.square`."""
    _, part, is_high = in_a_period(t, duty)
    return np.where((part > 1) | (part < 0), np.nan, np.where(is_high, 1.0, -1.0)).astype(
        result_dtype("square", t, duty)
    )


WAVEFORMS = {each.__name__: each for each in (chirp, sawtooth, square)}
