"""`numpy.random.Generator.choice` of a generator that is traced, with NumPy's draws in NumPy's order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.loops import fori_loop, while_loop
from numbagraph.ir.op import registry
from numbagraph.library.random.generator import array_of, as_python
from numbagraph.ops.indexing.subscripts import set_index
from numbagraph.tracing.checks import require
from numbagraph.tracing.tracer import Tracer, apply

MANY = 10_000
"""The number of elements from which on a large part is chosen by a shuffle of all."""


def choice_of(rng: Any, a: Any, size: Any, replace: bool, p: Any, axis: int, shuffle: bool) -> Any:
    """``rng.choice``."""
    array = array_of(a)
    count = array.shape[axis] if array.ndim else a
    require_positive(count)
    chances = None if p is None else probabilities(p, count)
    if not replace:
        shape = () if size is None else tuple(size) if isinstance(size, (tuple, list)) else (size,)
        number = product(shape)
        require(number >= 0, ValueError, "negative dimensions are not allowed")
        text = "Cannot take a larger sample than population when replace is False"
        require(number <= count, ValueError, text)
        if isinstance(number, int) and not number:
            flat = new("zeros", 0, np.int64)
        else:
            flat = shuffled(rng, count, number, shuffle) if chances is None else weighted(rng, chances, number)
        positions = flat[0] if size is None else flat.reshape(shape)
    elif chances is None:
        positions = rng.integers(0, count, size, dtype=np.int64 if array.ndim else int)
    else:
        positions = np.searchsorted(cumulative(chances), rng.random(size), side="right")
    if not array.ndim:
        return apply(as_python, positions) if size is None else positions
    return apply(registry["take"], array, positions, axis)


def require_positive(count: Any) -> None:
    require(count > 0, ValueError, "a must be a positive integer unless no samples are taken")


def probabilities(p: Any, count: Any) -> Any:
    """Return probabilities, and require that NumPy takes them."""
    chances = array_of(p).astype(np.float64)
    if chances.ndim != 1:
        raise ValueError("p must be 1-dimensional")
    require(chances.shape[0] == count, ValueError, "a and p must have same size")
    require(np.logical_not(np.isnan(chances)), ValueError, "Probabilities contain NaN")
    require(chances >= 0, ValueError, "Probabilities are not non-negative")
    off = np.abs(np.sum(chances) - 1.0)
    require(
        off <= np.sqrt(np.finfo(np.float64).eps),
        ValueError,
        "Probabilities do not sum to 1. See Notes section of docstring for more information.",
    )
    return chances


def cumulative(chances: Any) -> Any:
    """The cumulative distribution, as NumPy computes it."""
    total = np.cumsum(chances)
    return total / total[-1]


def product(shape: tuple[Any, ...]) -> Any:
    number: Any = 1
    for length in shape:
        number = number * length
    return number


def at_least(number: Any, least: int) -> Any:
    return np.maximum(number, least) if isinstance(number, Tracer) else max(number, least)


def new(name: str, *args: Any) -> Any:
    """Make an array in a trace."""
    return apply(registry[name], *args)


def put(array: Any, position: Any, element: Any) -> Any:
    """Return the array with another element at a position."""
    return apply(set_index, array, position, element)


def shuffled(rng: Any, count: Any, number: Any, shuffle: bool) -> Any:
    """Draw ``number`` positions below ``count``, each at most once. All random integers are drawn first, in NumPy's
    order."""
    is_tail = (count > MANY) & (number > count // (50 if shuffle else 20))
    of_tail = count - at_least(count - number, 1)
    of_few = number + (at_least(number - 1, 0) if shuffle else 0)
    if isinstance(is_tail, Tracer):
        length = np.where(is_tail, of_tail, of_few)
    else:
        length = of_tail if is_tail else of_few
    step = new("arange", length)
    few = np.where(step < number, count - number + step, 2 * number - 1 - step)
    drawn = rng.integers(0, np.where(is_tail, count - 1 - step, few), endpoint=True)
    either = tail_of, few_of
    if not isinstance(is_tail, Tracer):
        return either[not is_tail](drawn, count, number, length, shuffle)
    branches = [chosen(each, count, number, length, shuffle) for each in either]
    return cond(is_tail, *branches, drawn)


def chosen(function: Callable[..., Any], *known: Any) -> Callable[[Any], Any]:
    return lambda drawn: function(drawn, *known)


def swapped(positions: Any, first: Any, drawn: Any, start: Any, stop: Any) -> Any:
    """Swap each position from ``first`` on downwards with one that is drawn (Fisher and Yates)."""

    def swap(step: Any, positions: Any) -> Any:
        last, other = first - (step - start), drawn[step]
        mine, its = positions[last], positions[other]
        return put(put(positions, last, its), other, mine)

    return fori_loop(start, stop, swap, positions)


def tail_of(drawn: Any, count: Any, number: Any, length: Any, shuffle: bool) -> Any:
    """Return the end of all positions, which is shuffled."""
    del shuffle
    return swapped(new("arange", count), count - 1, drawn, 0, length)[count - number :]


def few_of(drawn: Any, count: Any, number: Any, length: Any, shuffle: bool) -> Any:
    """Choose by Floyd's algorithm: the drawn position or, if that has been chosen, the largest that might have been
    drawn."""
    width = 2 * number + 1
    nowhere = -1

    def place(table: Any, position: Any) -> Any:
        """Return the slot of a position in the table, or the one that it would get."""
        return while_loop(
            lambda slot: (table[slot] != nowhere) & (table[slot] != position),
            lambda slot: (slot + 1) % width,
            position % width,
        )

    def step(number: Any, carry: tuple[Any, Any]) -> tuple[Any, Any]:
        found, table = carry
        last = first + number
        slot = place(table, drawn[number])
        is_there = table[slot] == drawn[number]
        position = np.where(is_there, last, drawn[number])
        return put(found, number, position), put(table, np.where(is_there, place(table, last), slot), position)

    first = count - number
    start = new("zeros", number, np.int64), new("full", width, np.int64(nowhere))
    found, _ = fori_loop(0, number, step, start)
    return swapped(found, number - 1, drawn, number, length) if shuffle else found


def weighted(rng: Any, chances: Any, number: Any) -> Any:
    """Draw ``number`` positions by their probabilities, each at most once: repeated ones are drawn anew, among the
    others."""
    require(np.count_nonzero(chances > 0) >= number, ValueError, "Fewer non-zero entries in p than size")
    rng._require_place()

    def draw_all(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        state, count, found, chances = carry
        total = cumulative(chances)

        def draw(_: Any, carry: tuple[Any, ...]) -> tuple[Any, ...]:
            state, count, found, taken = carry
            local = rng._at(state)
            position = np.searchsorted(total, local.random(), side="right")
            is_new = ~taken[position]
            found = put(found, count, np.where(is_new, position, found[count]))
            return local._state, count + is_new, found, put(taken, position, np.True_)

        start = state, count, found, np.zeros_like(chances, np.bool_)
        state, count, found, taken = fori_loop(count, number, draw, start)
        return state, count, found, np.where(taken, 0.0, chances)

    start = rng._state, np.int64(0), new("zeros", number, np.int64), chances
    state, _, found, _ = while_loop(lambda carry: carry[1] < number, draw_all, start)
    rng._renew(state)
    return found
