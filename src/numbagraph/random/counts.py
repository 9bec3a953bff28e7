"""Whole numbers and truth values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from numbagraph import numpy as xp
from numbagraph.random.continuous import exponential, open_unit, unit
from numbagraph.random.keys import Shape, first_accepted, fitted, of_parameters, of_shape, repeated, split, words
from numbagraph.tracing.checks import require
from numbagraph.tracing.tracer import Tracer

INTEGERS = tuple(np.dtype(f"{kind}int{width}") for kind in ("", "u") for width in (8, 16, 32, 64))
FLOAT64 = np.dtype(np.float64)
FEW = 10.0
"""The mean below which a count is searched for from 0 on."""
MOST = 200
"""A bound of such counts: the probability of larger ones is less than the least uniform number by far."""
HALF = np.uint64(32)
LOWER = np.uint64(2**32 - 1)


def product(left: Any, right: Any) -> tuple[Any, Any]:
    """The upper and the lower 64 bits of a product of two numbers of 64 bits."""
    ends = left & LOWER, left >> HALF, right & LOWER, right >> HALF
    low = ends[0] * ends[2]
    middle = ends[1] * ends[2] + (low >> HALF)
    other = ends[0] * ends[3] + (middle & LOWER)
    return ends[1] * ends[3] + (middle >> HALF) + (other >> HALF), left * right


@of_parameters
def randint(key: Any, shape: Any = None, minval: Any = 0, maxval: Any = 2, dtype: Any = np.int64) -> Any:
    """Integers from ``minval`` on and below ``maxval``, each as probable as any other.

    Parameters
    ----------
    minval, maxval : int or array of int
    dtype : dtype, optional
        That of an integer.

    Raises
    ------
    TypeError
        If bounds or ``dtype`` are none of integers.
    ValueError
        Unless ``minval < maxval``, and what is drawn is of ``dtype``; bounds themselves have 64 bits at most.

    Notes
    -----
    The upper part of the product of 128 random bits and the number of integers: of two, no one is more probable by more
    than 2**-64.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.randint(random.key(42), 5, 0, 10)
    array([2, 3, 9, 4, 9])
    """
    target = np.dtype(dtype)
    if target not in INTEGERS:
        raise TypeError(f"randint draws integers, not {target}")
    wide = np.dtype(np.uint64 if target == np.uint64 else np.int64)
    ends = [as_integers(each, wide) for each in (minval, maxval)]
    shape, low, high = fitted(shape, wide, *ends)
    limits = np.iinfo(target)
    most = min(int(limits.max) + 1, int(np.iinfo(wide).max))
    require((low >= limits.min) & (high <= most), ValueError, f"randint: a bound is out of bounds for {target}")
    require(low < high, ValueError, "randint: minval must be below maxval")
    first, last = low.astype(np.uint64), high.astype(np.uint64)
    with np.errstate(over="ignore"):  # of numbers; arrays wrap without a word
        width = last - first
        one, other = split(key)
        upper, lower = product(words(one, shape), width)
        carried = lower + product(words(other, shape), width)[0]
        return (first + upper + (carried < lower).astype(np.uint64)).astype(target)


def as_integers(given: Any, wide: np.dtype) -> Any:
    """Convert a bound to the dtype in which bounds are compared, which must be able to hold it."""
    array: Any = given if isinstance(given, Tracer) else np.asarray(given)
    if array.dtype.kind not in "iu":
        raise TypeError(f"randint: bounds are integers, not {array.dtype}")
    if array.dtype.kind != wide.kind and array.dtype.itemsize == wide.itemsize:
        least, most = (0, 2**63 - 1) if wide.kind == "u" else (0, np.uint64(2**63 - 1))
        require((array >= least) & (array <= most), ValueError, f"randint: a bound is out of bounds for {wide}")
    elif array.dtype.kind == "i" and wide.kind == "u":
        require(array >= 0, ValueError, f"randint: a bound is out of bounds for {wide}")
    return array.astype(wide)


@of_parameters
def bernoulli(key: Any, p: Any = 0.5, shape: Any = None) -> Any:
    """Truth values.

    Parameters
    ----------
    p : float or array, optional
        How probable it is that one is true.

    Returns
    -------
    array of bool, shape ``shape``
        Those of ``jax.random.bernoulli``, for a ``p`` of float64.

    Raises
    ------
    ValueError
        Unless ``p`` is a probability.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.bernoulli(random.key(42), 0.5, 3)
    array([ True,  True, False])
    """
    shape, p = fitted(shape, FLOAT64, p)
    require((p >= 0) & (p <= 1), ValueError, "bernoulli: p must be between 0 and 1")
    return unit(key, shape, FLOAT64) < p


@of_shape
def rademacher(key: Any, shape: Any = (), dtype: Any = np.int64) -> Any:
    """Signs: 1 or -1, each with the probability 1/2.

    Parameters
    ----------
    dtype : dtype, optional

    Examples
    --------
    >>> from numbagraph import random
    >>> random.rademacher(random.key(42), 3)
    array([ 1,  1, -1])
    """
    return np.where(bernoulli(key, 0.5, shape), 1, -1).astype(np.dtype(dtype))


@of_parameters
def geometric(key: Any, p: Any, shape: Any = None) -> Any:
    """Numbers of trials up to the first success, from the geometric distribution.

    Parameters
    ----------
    p : float or array
        The probability of a success.

    Returns
    -------
    array of int64, shape ``shape``
        From 1 on.

    Raises
    ------
    ValueError
        Unless ``p`` is above 1e-16, and not above 1.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.geometric(random.key(42), 0.3, 3)
    array([2, 1, 3])
    """
    shape, p = fitted(shape, FLOAT64, p)
    require((p > 1e-16) & (p <= 1), ValueError, "geometric: p must be above 1e-16, and not above 1")
    is_sure = p == 1
    waits = exponential(key, shape) / -np.log1p(-np.where(is_sure, 0.5, p))
    return np.where(is_sure, 1.0, np.floor(waits) + 1).astype(np.int64)


def searched(key: Any, shape: Shape, first: Any, ratio: Any) -> Any:
    """The least count whose distribution function is above a uniform number. The probability of 0 is ``first``, and
    that of ``k`` is ``ratio(k)`` times that of ``k - 1``."""
    number = unit(key, shape, FLOAT64)

    def goes_on(step: Any, rest: Any, chance: Any, _: Any) -> Any:
        return (step < MOST) & np.any(rest >= chance)

    def step(step: Any, rest: Any, chance: Any, found: Any) -> tuple[Any, ...]:
        is_above = rest >= chance
        following = chance * ratio(step + 1.0)
        return (
            step + 1,
            np.where(is_above, rest - chance, rest),
            np.where(is_above, following, chance),
            found + is_above,
        )

    start = 0, number, xp.zeros(shape) + first, xp.zeros(shape, np.int64)
    return repeated(goes_on, step, start)[-1].astype(np.float64)


@of_parameters
def poisson(key: Any, lam: Any, shape: Any = None) -> Any:
    """Numbers of the Poisson distribution.

    Parameters
    ----------
    lam : float or array
        The mean.

    Returns
    -------
    array of int64, shape ``shape``

    Raises
    ------
    ValueError
        Unless ``lam`` is between 0 and 9.2e18.

    Notes
    -----
    Small means by inversion, others by transformed rejection. Hörmann: *The transformed rejection method for generating
    Poisson random variables* (1993), algorithm PTRS.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.poisson(random.key(42), 4.0, 3)
    array([2, 3, 8])
    """
    shape, lam = fitted(shape, FLOAT64, lam)
    require((lam >= 0) & (lam <= 9.2e18), ValueError, "poisson: lam must be between 0 and 9.2e18")
    is_small = lam < FEW
    small, large = np.where(is_small, lam, 0.0), np.where(is_small, FEW, lam)
    first, second = split(key)
    few = searched(first, shape, np.exp(-small), lambda count: small / count)
    many = transformed_poisson(second, shape, large, np.broadcast_to(is_small, shape))
    return np.where(is_small, few, many).astype(np.int64)


def transformed_poisson(key: Any, shape: Shape, lam: Any, is_absent: Any) -> Any:
    """Draw by algorithm PTRS, for means of 10 at least. Absent elements are accepted at once."""
    b = 0.931 + 2.53 * np.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse, least = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    logarithm = np.log(lam)

    def propose(key: Any) -> tuple[Any, Any]:
        v, middle, count = hats(key, shape, a, b, lam + 0.43)
        known = np.maximum(count, 0)
        limit = known * logarithm - lam - special.gammaln(known + 1)
        return count, rejected(v, middle, least, inverse, a, b, limit) | (count < 0)

    return first_accepted(key, shape, FLOAT64, lambda key: absent(propose(key), is_absent))


def absent(proposal: tuple[Any, Any], is_absent: Any) -> tuple[Any, Any]:
    count, is_rejected = proposal
    return count, is_rejected & ~is_absent


def hats(key: Any, shape: Shape, a: Any, b: Any, mean: Any) -> tuple[Any, ...]:
    """Return a uniform number, the distance of another one from the ends of its range, and the count that this other
    one becomes."""
    first, second = split(key)
    u, v = unit(first, shape, FLOAT64) - 0.5, open_unit(second, shape, FLOAT64)
    middle = np.maximum(0.5 - abs(u), 2.0**-53)
    return v, middle, np.floor((2 * a / middle + b) * u + mean)


def rejected(v: Any, middle: Any, least: Any, inverse: Any, a: Any, b: Any, limit: Any) -> Any:
    """Whether a count is rejected whose probability has the logarithm ``limit``."""
    is_sure = (middle >= 0.07) & (v <= least)
    return ~is_sure & (np.log(v * inverse / (a / (middle * middle) + b)) > limit)


@of_parameters
def binomial(key: Any, n: Any, p: Any, shape: Any = None) -> Any:
    """Numbers of the binomial distribution.

    Parameters
    ----------
    n : int or array of int
        How many trials there are.
    p : float or array
        The probability of a success in each.

    Returns
    -------
    array of int64, shape ``shape``

    Raises
    ------
    ValueError
        Unless ``p`` is a probability, and ``n`` between 0 and 2**53.

    Notes
    -----
    Small means by inversion, others by transformed rejection. Hörmann: *The generation of binomial random variates*
    (1993), algorithm BTRS.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.binomial(random.key(42), 10, 0.3, 3)
    array([2, 3, 6])
    """
    shape, n, p = fitted(shape, FLOAT64, n, p)
    require((n >= 0) & (n <= 2.0**53) & (np.floor(n) == n), ValueError, "binomial: n must be a count below 2**53")
    require((p >= 0) & (p <= 1), ValueError, "binomial: p must be between 0 and 1")
    is_flipped = p > 0.5
    chance = np.where(is_flipped, 1 - p, p)
    is_small = n * chance < FEW
    first, second = split(key)
    odds = chance / (1 - chance)
    none = np.where(is_small, np.exp(n * np.log1p(-chance)), 1.0)
    few = searched(first, shape, none, lambda count: (n - count + 1) / count * odds)
    large = np.where(is_small, 40.0, n), np.where(is_small, 0.5, chance)
    many = transformed_binomial(second, shape, *large, np.broadcast_to(is_small, shape))
    found = np.where(is_small, np.minimum(few, n), many)
    return np.where(is_flipped, n - found, found).astype(np.int64)


def transformed_binomial(key: Any, shape: Shape, n: Any, p: Any, is_absent: Any) -> Any:
    """Draw by algorithm BTRS, for means of 10 at least, and probabilities up to 1/2. Absent elements are accepted at
    once."""
    deviation = np.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    least, inverse = 0.92 - 4.2 / b, (2.83 + 5.1 / b) * deviation
    mode, odds = np.floor((n + 1) * p), p / (1 - p)
    at_mode = (mode + 0.5) * np.log((mode + 1) / (odds * (n - mode + 1))) + stirling(mode) + stirling(n - mode)

    def propose(key: Any) -> tuple[Any, Any]:
        v, middle, count = hats(key, shape, a, b, n * p + 0.5)
        known = np.clip(count, 0, n)
        limit = (
            at_mode
            + (n + 1) * np.log((n - mode + 1) / (n - known + 1))
            + (known + 0.5) * np.log(odds * (n - known + 1) / (known + 1))
            - stirling(known)
            - stirling(n - known)
        )
        return count, rejected(v, middle, least, inverse, a, b, limit) | (count < 0) | (count > n)

    return first_accepted(key, shape, FLOAT64, lambda key: absent(propose(key), is_absent))


def stirling(count: Any) -> Any:
    """The difference between the logarithm of the factorial of ``count`` and Stirling's formula, in which the number is
    ``count + 1``."""
    next_ = count + 1
    square = next_ * next_
    small = special.gammaln(np.minimum(next_, 11.0)) - (
        (np.minimum(count, 10.0) + 0.5) * np.log(np.minimum(next_, 11.0))
        - np.minimum(next_, 11.0)
        + 0.5 * math.log(2 * math.pi)
    )
    return np.where(count < 10, small, (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / next_)
