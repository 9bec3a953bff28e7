"""Signals without their noise, and without a filter that they went through."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numbagraph.library.scipy.arguments import Function, array, known
from numbagraph.library.scipy.signal.convolution import convolve, correlate
from numbagraph.library.scipy.signal.recursive_filters import lfilter


def wiener(im: Any, mysize: Any = None, noise: Any = None) -> Any:
    """`scipy.signal.wiener`: elements go to the mean of their surroundings where these vary no more than noise."""
    image = array(im)
    if 0 in known(image, "wiener"):
        return np.zeros(known(image, "wiener"), np.result_type(image.dtype, np.float64))
    shape = [3 if mysize is None else mysize] * image.ndim if np.ndim(mysize) == 0 or mysize is None else list(mysize)
    sizes = [int(each) for each in shape]
    count, ones = float(math.prod(sizes)), np.ones(sizes)
    mean = correlate(image, ones, "same") / count
    spread = correlate(image**2, ones, "same") / count - mean**2
    level = np.mean(np.ravel(spread)) if noise is None else noise
    is_flat = spread < level
    found = (image - mean) * (1 - level / np.where(is_flat, 1.0, spread)) + mean
    return np.where(is_flat, mean, found)


def deconvolve(signal: Any, divisor: Any) -> tuple[Any, Any]:
    """`scipy.signal.deconvolve`: the quotient of two polynomials, and what remains."""
    whole, part = np.atleast_1d(array(signal)), np.atleast_1d(array(divisor))
    for name, each in (("signal", whole), ("divisor", part)):
        shape = known(each, "deconvolve")
        if len(shape) != 1 or not shape[0]:
            raise ValueError(f"Parameter {name} must be non-empty 1d array, but its shape is {shape}!")
    missing = known(whole, "deconvolve")[0] - known(part, "deconvolve")[0]
    if missing < 0:
        return [], whole
    pulse = np.zeros(missing + 1)
    pulse[0] = 1
    quotient = lfilter(whole, part, pulse)
    return quotient, whole - convolve(part, quotient)


DENOISING: dict[str, Function] = {each.__name__: each for each in (deconvolve, wiener)}
