"""Distributions whose numbers are functions of one uniform number, or of one normal number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from numbagraph.library.namespaces import public_function
from numbagraph.random.keys import as_shape, fitted, float_dtype, lower, of_parameters, of_shape, upper, words
from numbagraph.tracing.checks import require

unit_interval = public_function("unit_interval", __name__)


def unit(key: Any, shape: Any, dtype: np.dtype) -> Any:
    """Numbers from 0 on and below 1, multiples of 2**-52 or 2**-23."""
    found = words(key, as_shape(shape))
    return unit_interval(found if dtype.itemsize == 8 else upper(found) ^ lower(found))


def open_unit(key: Any, shape: Any, dtype: np.dtype) -> Any:
    """Numbers above 0 and below 1: those of `unit`, with the least positive normal number in place of 0."""
    return np.maximum(unit(key, shape, dtype), np.finfo(dtype).tiny)


def standard(key: Any, shape: Any, dtype: np.dtype) -> Any:
    """Normal numbers: quantiles of uniform ones between -1 and 1."""
    least = np.nextafter(dtype.type(-1), dtype.type(0))
    width = dtype.type(1) - least
    between = np.maximum(unit(key, shape, dtype) * width + least, least)
    return dtype.type(math.sqrt(2)) * special.erfinv(between)


@of_parameters
def uniform(key: Any, shape: Any = None, dtype: Any = np.float64, minval: Any = 0.0, maxval: Any = 1.0) -> Any:
    """Numbers between two bounds, each as probable as any other.

    Parameters
    ----------
    minval, maxval : float or array, optional
        The lower bound, which is drawn, and the upper one, which is not, but for rounding.

    Returns
    -------
    array of ``dtype``, shape ``shape``
        Between 0 and 1 the numbers of ``jax.random.uniform``; between other bounds up to rounding.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.uniform(random.key(42), 2).round(3)
    array([0.427, 0.015])
    """
    target = float_dtype(dtype)
    shape, low, high = fitted(shape, target, minval, maxval)
    return np.maximum(unit(key, shape, target) * (high - low) + low, low)


@of_shape
def normal(key: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Numbers of the normal distribution of mean 0 and variance 1; ``mu + sigma * normal(key)`` are those of another.

    Parameters
    ----------
    shape : int or tuple of int, optional
        Lengths may be known only when the program runs.

    Returns
    -------
    array of ``dtype``, shape ``shape``
        The numbers of ``jax.random.normal``, up to rounding.

    Notes
    -----
    The inverse of the error function of a uniform number between -1 and 1: so they are at most 8.3 in size.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.normal(random.key(42), 2).round(3)
    array([-0.185, -2.17 ])
    """
    return standard(key, shape, float_dtype(dtype))


@of_parameters
def lognormal(key: Any, sigma: Any = 1.0, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Numbers whose logarithms are normal, with mean 0.

    Parameters
    ----------
    sigma : float or array, optional
        The standard deviation of the logarithms, which has a derivative.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.lognormal(random.key(42), 0.5).round(3)
    np.float64(0.912)
    """
    target = float_dtype(dtype)
    shape, sigma = fitted(shape, target, sigma)
    return np.exp(sigma * standard(key, shape, target))


@of_parameters
def truncated_normal(key: Any, lower: Any, upper: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Normal numbers of mean 0 and variance 1 between two bounds.

    Parameters
    ----------
    lower, upper : float or array
        The bounds, which may be infinite, and have derivatives.

    Raises
    ------
    ValueError
        Unless the lower bound is below the upper one.

    Notes
    -----
    The quantile of a uniform number between the probabilities of the bounds, on the side where these are small. Where
    both are above 38 in size, whose probabilities are none in float64, the numbers are the bound further from 0.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.truncated_normal(random.key(42), 1.0, 2.0).round(3)
    np.float64(1.4)
    """
    target = float_dtype(dtype)
    shape, lower, upper = fitted(shape, target, lower, upper)
    require(lower < upper, ValueError, "truncated_normal: lower must be below upper")
    is_right = lower > 0
    left, right = np.where(is_right, -upper, lower), np.where(is_right, -lower, upper)
    first, last = special.ndtr(left), special.ndtr(right)
    found = special.ndtri(first + (last - first) * open_unit(key, shape, target))
    return np.clip(np.where(is_right, -found, found), lower, upper)


@of_shape
def exponential(key: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Numbers of the exponential distribution of mean 1; ``scale * exponential(key)`` are those of another.

    Returns
    -------
    array of ``dtype``, shape ``shape``
        The numbers of ``jax.random.exponential``, up to rounding.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.exponential(random.key(42), 2).round(3)
    array([0.556, 0.015])
    """
    return -np.log1p(-unit(key, shape, float_dtype(dtype)))


@of_shape
def laplace(key: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Numbers of the Laplace distribution with location 0 and scale 1.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.laplace(random.key(42)).round(3)
    np.float64(0.158)
    """
    target = float_dtype(dtype)
    number = 2 * open_unit(key, shape, target) - 1
    number = np.maximum(number, -1 + np.finfo(target).epsneg)
    return np.sign(number) * np.log1p(-abs(number))


@of_shape
def logistic(key: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Numbers of the logistic distribution with location 0 and scale 1.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.logistic(random.key(42)).round(3)
    np.float64(-0.295)
    """
    return special.logit(open_unit(key, shape, float_dtype(dtype)))


@of_shape
def gumbel(key: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Numbers of the Gumbel distribution (of maxima) with location 0 and scale 1.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.gumbel(random.key(42)).round(3)
    np.float64(0.161)
    """
    return -np.log(-np.log(open_unit(key, shape, float_dtype(dtype))))


@of_shape
def cauchy(key: Any, shape: Any = (), dtype: Any = np.float64) -> Any:
    """Numbers of the Cauchy distribution with location 0 and scale 1.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.cauchy(random.key(42)).round(3)
    np.float64(-0.234)
    """
    target = float_dtype(dtype)
    return np.tan(target.type(math.pi) * (open_unit(key, shape, target) - target.type(0.5)))


@of_parameters
def rayleigh(key: Any, scale: Any = 1.0, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Numbers of the Rayleigh distribution.

    Parameters
    ----------
    scale : float or array, optional
        The mode, which has a derivative.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.rayleigh(random.key(42), 2.0).round(3)
    np.float64(2.11)
    """
    target = float_dtype(dtype)
    shape, scale = fitted(shape, target, scale)
    return scale * np.sqrt(2 * exponential(key, shape, target))


@of_parameters
def weibull(key: Any, concentration: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Numbers of the Weibull distribution of scale 1.

    Parameters
    ----------
    concentration : float or array
        The parameter of its shape, which has a derivative.

    Raises
    ------
    ValueError
        Unless ``concentration`` is positive.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.weibull(random.key(42), 2.0).round(3)
    np.float64(0.923)
    """
    target = float_dtype(dtype)
    shape, concentration = fitted(shape, target, concentration)
    require(concentration > 0, ValueError, "weibull: concentration must be positive")
    return np.exp(np.log(-np.log(open_unit(key, shape, target))) / concentration)


@of_parameters
def pareto(key: Any, b: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Numbers of the Pareto distribution, which are 1 at least.

    Parameters
    ----------
    b : float or array
        The exponent, which has a derivative.

    Raises
    ------
    ValueError
        Unless ``b`` is positive.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.pareto(random.key(42), 3.0).round(3)
    np.float64(1.204)
    """
    target = float_dtype(dtype)
    shape, b = fitted(shape, target, b)
    require(b > 0, ValueError, "pareto: b must be positive")
    return np.exp(exponential(key, shape, target) / b)


@of_parameters
def triangular(key: Any, left: Any, mode: Any, right: Any, shape: Any = None, dtype: Any = np.float64) -> Any:
    """Numbers of the triangular distribution.

    Parameters
    ----------
    left, mode, right : float or array
        The corners of the density, which have derivatives.

    Raises
    ------
    ValueError
        Unless ``left <= mode <= right``, and ``left < right``.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.triangular(random.key(42), 0.0, 1.0, 3.0).round(3)
    np.float64(1.145)
    """
    target = float_dtype(dtype)
    shape, left, mode, right = fitted(shape, target, left, mode, right)
    require((left <= mode) & (mode <= right) & (left < right), ValueError, "triangular: left <= mode <= right")
    number = open_unit(key, shape, target)
    width = right - left
    is_left = number * width < mode - left
    below = left + np.sqrt(np.where(is_left, number, 1) * width * (mode - left))
    above = right - np.sqrt(np.where(is_left, 1, 1 - number) * width * (right - mode))
    return np.where(is_left, below, above)
