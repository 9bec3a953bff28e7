"""Keys, and the bits that follow from them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numbagraph import numpy as xp
from numbagraph.api.loops import while_loop
from numbagraph.ir.docstrings import CommonSections
from numbagraph.library.namespaces import public_function
from numbagraph.tracing.checks import require
from numbagraph.tracing.trace import current_trace
from numbagraph.tracing.tracer import Tracer

Shape = tuple[Any, ...]
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))
UNSIGNED = tuple(np.dtype(f"uint{width}") for width in (8, 16, 32, 64))
NOT_A_KEY = "a key is an array of two numbers of uint32, as numbagraph.random.key gives"

threefry2x32 = public_function("threefry2x32", __name__)

KEY = "key : array of uint32, shape (2,)"
SHAPE = "shape : int or tuple of int, optional"
DTYPE = "dtype : {float64, float32}, optional"
DRAWN = "array of ``dtype``, shape ``shape``"
of_shape = CommonSections({"key": KEY, "shape": SHAPE, "dtype": DTYPE}, Returns=DRAWN)
"""The sections of functions whose numbers do not depend on parameters."""
BROADCAST = f"{SHAPE}\n    By default, that to which the parameters broadcast."
of_parameters = CommonSections({"key": KEY, "shape": BROADCAST, "dtype": DTYPE}, Returns=DRAWN)
"""The sections of functions whose parameters decide on the shape, if none is given."""


def key(seed: Any) -> Any:
    """The key of a seed.

    Parameters
    ----------
    seed : int
        A number of at most 64 bits, which may be known only when the program runs.

    Returns
    -------
    array of uint32, shape (2,)
        The upper and the lower 32 bits.

    Raises
    ------
    TypeError, OverflowError
        If the seed is not one integer, or has more than 64 bits.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.key(42)
    array([ 0, 42], dtype=uint32)
    """
    return halves(as_counter(seed, "a seed"))


def split(key: Any, num: Any = 2) -> Any:
    """New keys, whose numbers have nothing to do with each other's, nor with those of the key itself.

    Parameters
    ----------
    key : array of uint32, shape (2,)
        A key, which should not be used again.
    num : int or tuple of int, optional
        How many keys there are. Lengths may be known only when the program runs.

    Returns
    -------
    array of uint32, shape (num, 2)
        The keys along the first dimensions: those of ``jax.random.split``.

    Examples
    --------
    >>> from numbagraph import random
    >>> random.split(random.key(42))
    array([[1832780943,  270669613],
           [  64467757, 2916123636]], dtype=uint32)
    """
    return halves(words(key, as_shape(num)))


def fold_in(key: Any, data: Any) -> Any:
    """A new key of a key and a number, such as that of a step of a loop.

    Parameters
    ----------
    key : array of uint32, shape (2,)
    data : int
        A number of at most 64 bits, which may be known only when the program runs.

    Returns
    -------
    array of uint32, shape (2,)
        That of ``jax.random.fold_in``, for numbers of 32 bits.

    Examples
    --------
    >>> import numpy as np
    >>> from numbagraph import random, scan
    >>> walk, _ = scan(lambda x, i: (x + random.normal(random.fold_in(random.key(1), i)), None), 0.0, np.arange(3))
    """
    return halves(threefry2x32(*as_key(key), as_counter(data, "data")))


def bits(key: Any, shape: Any = (), dtype: Any = np.uint64) -> Any:
    """Random bits.

    Parameters
    ----------
    key : array of uint32, shape (2,)
    shape : int or tuple of int, optional
        Lengths may be known only when the program runs.
    dtype : {uint64, uint32, uint16, uint8}, optional

    Returns
    -------
    array of ``dtype``, shape ``shape``
        The numbers of ``jax.random.bits``. Each element depends on the key and its position alone.

    Raises
    ------
    TypeError
        If ``dtype`` is none of these.

    Notes
    -----
    Salmon, Moraes, Dror, Shaw: *Parallel random numbers: as easy as 1, 2, 3* (2011).

    Examples
    --------
    >>> from numbagraph import random
    >>> random.bits(random.key(42), 2)
    array([7871734211187709741,  276886910877598708], dtype=uint64)
    """
    target = np.dtype(dtype)
    if target not in UNSIGNED:
        raise TypeError(f"bits are of uint8, uint16, uint32 or uint64, not {target}")
    found = words(key, as_shape(shape))
    return found if target.itemsize == 8 else (upper(found) ^ lower(found)).astype(target)


# ---- what distributions are made of ----


def as_key(given: Any) -> tuple[Any, Any]:
    """The two words of a key."""
    array = given if isinstance(given, Tracer) else np.asarray(given)
    if array.dtype != np.uint32 or array.ndim != 1:
        advice = ": under vmap, each element takes one" if array.ndim > 1 else ""
        raise TypeError(f"{NOT_A_KEY}, not {array.dtype} of {array.ndim} dimensions{advice}")
    require(array.shape[0] == 2, TypeError, NOT_A_KEY)
    return array[0], array[1]


def as_counter(given: Any, what: str) -> Any:
    """Convert an integer to 64 bits."""
    if isinstance(given, (Tracer, np.ndarray, np.generic)):
        if given.ndim or given.dtype.kind not in "iu":
            raise TypeError(f"{what} is an integer, not {given.dtype} of {given.ndim} dimensions")
        strong = xp.asarray(given, np.int64) if given.dtype.kind == "i" else given  # Python's may be negative, too
        return strong.astype(np.uint64)
    number = operator.index(given)
    if not -(2**63) <= number < 2**64:
        raise OverflowError(f"{what} has at most 64 bits, which {number} has not")
    return np.uint64(number & (2**64 - 1))


def as_shape(shape: Any) -> Shape:
    return tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)


def words(key: Any, shape: Shape) -> Any:
    """64 bits for each element."""
    first, second = as_key(key)
    if not shape:
        return threefry2x32(first, second, np.uint64(0))
    require(all_of(length >= 0 for length in shape), ValueError, "negative dimensions are not allowed")
    return threefry2x32(first, second, xp.arange(math.prod(shape), dtype=np.uint64)).reshape(shape)


def all_of(conditions: Any) -> Any:
    holds: Any = True
    for each in conditions:
        holds = holds & each
    return holds


def upper(bits: Any) -> Any:
    return (bits >> np.uint64(32)).astype(np.uint32)


def lower(bits: Any) -> Any:
    return bits.astype(np.uint32)


def halves(bits: Any) -> Any:
    return np.stack([upper(bits), lower(bits)], -1)


def float_dtype(dtype: Any) -> np.dtype:
    target = np.dtype(dtype)
    if target not in FLOATS:
        raise TypeError(f"numbers are drawn in float64 or float32, not {target}")
    return target


def fitted(shape: Any, dtype: np.dtype, *given: Any) -> tuple[Any, ...]:
    """Return the shape of the drawn array, and the parameters in a dtype. Without ``shape`` it is the shape to which
    they broadcast; otherwise they must broadcast to ``shape``."""
    parameters = [xp.asarray(each, dtype) for each in given]
    if shape is None:
        common = np.broadcast_arrays(*parameters)[0].shape if parameters else ()
        return tuple(common), *parameters
    target = as_shape(shape)
    return target, *(np.broadcast_to(each, target) if each.ndim else each for each in parameters)


def repeated(goes_on: Callable[..., Any], step: Callable[..., Any], state: Sequence[Any]) -> tuple[Any, ...]:
    """``while goes_on(*state): state = step(*state)``."""
    if current_trace() is not None:
        return while_loop(lambda given: goes_on(*given), lambda given: step(*given), tuple(state))
    current = tuple(state)
    while goes_on(*current):
        current = step(*current)
    return current


def first_accepted(key: Any, shape: Shape, dtype: np.dtype, propose: Callable[[Any], tuple[Any, Any]]) -> Any:
    """The first accepted number for each element: ``propose(key)`` returns numbers, and a mask of those that are
    rejected.

    A comparison with NaN rejects nothing, so that the loop ends.
    """

    def step(attempt: Any, waits: Any, found: Any) -> tuple[Any, ...]:
        number, rejected = propose(fold_in(key, attempt))
        return attempt + 1, waits & rejected, np.where(waits, number, found)

    start = 0, xp.ones(shape, np.bool_), xp.zeros(shape, dtype)
    return repeated(lambda attempt, waits, found: np.any(waits), step, start)[-1]
