"""Choices among the elements of arrays, and their order."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph import numpy as xp
from numbagraph.random.continuous import gumbel, unit
from numbagraph.random.counts import FLOAT64, randint
from numbagraph.random.keys import as_shape, of_parameters, of_shape, words
from numbagraph.tracing.checks import require
from numbagraph.tracing.tracer import Tracer


@of_parameters
def categorical(key: Any, logits: Any, axis: int = -1, shape: Any = None) -> Any:
    """Positions, each as probable as the exponential of its number, relative to the others.

    Parameters
    ----------
    logits : array
        Logarithms of probabilities, up to a constant.
    axis : int, optional
        The dimension along which a position is drawn.
    shape : int or tuple of int, optional
        That of the positions, whose last dimensions are those of ``logits`` without ``axis``; by default these.

    Returns
    -------
    array of int64, shape ``shape``

    Raises
    ------
    ValueError
        If ``logits`` has no dimension.

    Examples
    --------
    >>> import numpy as np
    >>> from numbagraph import random
    >>> random.categorical(random.key(42), np.log([0.1, 0.2, 0.7]), shape=5)
    array([2, 2, 2, 2, 2])
    """
    array = xp.asarray(logits, np.float64)
    if not array.ndim:
        raise ValueError("categorical: logits has one dimension at least")
    moved = np.moveaxis(array, axis, -1)
    whole = moved.shape if shape is None else (*as_shape(shape), moved.shape[-1])
    return np.argmax(gumbel(key, whole) + moved, axis=-1)


@of_shape
def permutation(key: Any, x: Any, axis: int = 0) -> Any:
    """An array in a random order, or the numbers of a range.

    Parameters
    ----------
    x : int or array
        An array, or the length of a range.
    axis : int, optional
        The dimension that is shuffled.

    Returns
    -------
    array
        A copy.

    Notes
    -----
    In the order of 64 random bits for each element.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.permutation(random.key(42), 5)
    array([1, 0, 2, 4, 3])
    """
    if not dimensions(x):
        return np.argsort(words(key, (x,)), kind="stable")
    array = xp.asarray(x)
    return np.take(array, np.argsort(words(key, (array.shape[axis],)), kind="stable"), axis)


@of_shape
def choice(key: Any, a: Any, shape: Any = (), replace: bool = True, p: Any = None, axis: int = 0) -> Any:
    """Elements of an array, or numbers of a range.

    Parameters
    ----------
    a : int or array
        What is chosen from, or the length of a range.
    replace : bool, optional
        Whether an element may be chosen more than once.
    p : array, optional
        The probabilities, which are divided by their sum; by default all are equal.
    axis : int, optional
        The dimension along which is chosen.

    Returns
    -------
    array
        Of ``shape``, in the place of the dimension ``axis``.

    Raises
    ------
    ValueError
        If there is nothing to choose from, or there are fewer elements than are asked for without replacement, or ``p``
        is of another length, or not of probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from numbagraph import random
    >>> random.choice(random.key(42), np.array([2.0, 3.0, 5.0]), 4)
    array([2., 3., 5., 3.])
    """
    array = xp.asarray(a) if dimensions(a) else None
    count = a if array is None else array.shape[axis]
    shape = as_shape(shape)
    require(count > 0, ValueError, "choice: there is nothing to choose from")
    chances = None if p is None else xp.asarray(p, np.float64)
    if chances is not None:
        if chances.ndim != 1:
            raise ValueError("choice: p has one dimension")
        require(chances.shape[0] == count, ValueError, "choice: p has another length than what is chosen from")
        require((chances >= 0) & (np.sum(chances) > 0), ValueError, "choice: p must not be negative, nor 0 everywhere")
    if not replace:
        positions = without_replacement(key, count, shape, chances)
    elif chances is None:
        positions = randint(key, shape, 0, count)
    else:
        total = np.cumsum(chances)
        positions = np.searchsorted(total, unit(key, shape, FLOAT64) * total[-1], side="right")
    return positions if array is None else np.take(array, positions, axis)


def without_replacement(key: Any, count: Any, shape: tuple[Any, ...], chances: Any) -> Any:
    """Positions drawn without replacement. Efraimidis, Spirakis: Weighted random sampling with a reservoir (2006), by
    logarithms."""
    number: Any = 1
    for length in shape:
        number = number * length
    if chances is None:
        require(number <= count, ValueError, "choice: there are fewer elements than are asked for")
        order = permutation(key, count)
    else:
        require(number <= np.sum(chances > 0), ValueError, "choice: there are fewer elements than are asked for")
        with np.errstate(divide="ignore"):
            order = np.argsort(-(gumbel(key, (count,)) + np.log(chances)), kind="stable")
    return order[:number].reshape(shape)


def dimensions(x: Any) -> int:
    return x.ndim if isinstance(x, Tracer) else np.ndim(x)
