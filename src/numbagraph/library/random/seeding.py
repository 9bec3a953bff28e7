"""`numpy.random.default_rng` of a seed that may be traced: the state that NumPy's `SeedSequence` and PCG64 begin with.

Sources: M. E. O'Neill, *Developing a seed_seq alternative* (2015), whose hash `SeedSequence` is; and the definition of
PCG64, for how a seed becomes its state.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import as_value
from numbagraph.library.random.generator import TracedGenerator
from numbagraph.library.random.permutations import WholeGenerator
from numbagraph.ops.random.generator_states import words_of
from numbagraph.tracing.checks import require
from numbagraph.tracing.errors import TraceError, user_source
from numbagraph.tracing.tracer import Tracer

WORD = 0xFFFFFFFF
START_OF_POOL, FACTOR_OF_POOL = 0x43B0D7E5, 0x931E8875
START_OF_STATE, FACTOR_OF_STATE = 0x8B51F9DD, 0x58F38DED
LEFT_FACTOR, RIGHT_FACTOR = 0xCA01F9DD, 0x4973F715
POOL = 4
"""The number of words that a seed is mixed into."""
MULTIPLIER = (0x2360ED051FC65DA4, 0x4385DF649FCCF645)
"""The upper and the lower half of the factor of PCG64."""


def default_rng(seed: Any = None) -> Any:
    """`numpy.random.default_rng`: with a seed, a generator that a traced function draws from."""
    if isinstance(seed, (np.random.Generator, TracedGenerator)):
        return seed
    if seed is None or isinstance(seed, (np.random.BitGenerator, np.random.SeedSequence)):
        return np.random.default_rng(seed)
    if not has_traced(seed):
        words: Any = words_of(np.random.PCG64(seed))
    else:
        words = np.stack(state_of(list(words_in(seed))))
    return WholeGenerator("PCG64", words.copy() if isinstance(words, Tracer) else Tracer(as_value(words)).copy())


def has_traced(seed: Any) -> bool:
    return isinstance(seed, Tracer) or (isinstance(seed, (list, tuple)) and any(map(has_traced, seed)))


def words_in(seed: Any) -> Iterator[Any]:
    """The words of 32 bits of a seed. A traced number in a sequence is one word; one alone may have two."""
    if not isinstance(seed, (list, tuple)):
        number = unsigned(seed)
        yield from (number & np.uint64(WORD), number >> np.uint64(32))
        return
    for each in seed:
        if isinstance(each, Tracer):
            number = unsigned(each)
            require(number <= np.uint64(WORD), ValueError, "a traced number among several seeds must be below 2**32")
            yield number
        else:
            rest = int(each)
            yield np.uint64(rest & WORD)
            while rest := rest >> 32:
                yield np.uint64(rest & WORD)


def unsigned(seed: Tracer) -> Any:
    if seed.ndim or seed.dtype.kind not in "iu":
        raise TraceError(
            f"default_rng takes one traced integer, or a list of integers, not {seed.value.type}: pass its elements in "
            f"a list\n  at {user_source()}"
        )
    require(np.greater_equal(seed, 0), ValueError, "expected non-negative integer")
    return seed.astype(np.uint64)


class Hash:
    """Hashes words of 32 bits, each by another constant."""

    def __init__(self, start: int, factor: int) -> None:
        self.constant, self.factor = start, factor

    def __call__(self, word: Any) -> Any:
        word = word ^ np.uint64(self.constant)
        self.constant = self.constant * self.factor & WORD
        word = word * np.uint64(self.constant) & np.uint64(WORD)
        return word ^ (word >> np.uint64(16))


def mixed(one: Any, other: Any) -> Any:
    found = (np.uint64(LEFT_FACTOR) * one - np.uint64(RIGHT_FACTOR) * other) & np.uint64(WORD)
    return found ^ (found >> np.uint64(16))


def state_of(words: Sequence[Any]) -> list[Any]:
    """Return the words of PCG64's state after a seed."""
    with np.errstate(over="ignore"):  # of numbers; arrays wrap without a word
        hashed = Hash(START_OF_POOL, FACTOR_OF_POOL)
        pool = [hashed(each) for each in [*words[:POOL], *[np.uint64(0)] * (POOL - len(words))]]
        for source in range(POOL):
            for target in range(POOL):
                if source != target:
                    pool[target] = mixed(pool[target], hashed(pool[source]))
        for word in words[POOL:]:
            pool = [mixed(each, hashed(word)) for each in pool]
        hashed = Hash(START_OF_STATE, FACTOR_OF_STATE)
        halves = [hashed(pool[number % POOL]) for number in range(8)]
        first, second, third, fourth = (
            low | (high << np.uint64(32)) for low, high in zip(halves[::2], halves[1::2], strict=True)
        )
        increment = (third << np.uint64(1)) | (fourth >> np.uint64(63)), (fourth << np.uint64(1)) | np.uint64(1)
        state = stepped(added(increment, (first, second)), increment)
        return [state[1], state[0], increment[1], increment[0], np.uint64(0)]


def stepped(state: tuple[Any, Any], increment: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return the state of 128 bits, the upper half first, after a step of PCG64."""
    (high, low), (upper, lower) = state, (np.uint64(each) for each in MULTIPLIER)
    carried, product = wide_product(low, lower)
    return added((carried + low * upper + high * lower, product), increment)


def added(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
    low = one[1] + other[1]
    return one[0] + other[0] + (low < one[1]).astype(np.uint64), low


def wide_product(left: Any, right: Any) -> tuple[Any, Any]:
    """Return the upper and the lower 64 bits of a product."""
    half, lower = np.uint64(32), np.uint64(WORD)
    ends = left & lower, left >> half, right & lower, right >> half
    middle = ends[1] * ends[2] + (ends[0] * ends[2] >> half)
    other = ends[0] * ends[3] + (middle & lower)
    return ends[1] * ends[3] + (middle >> half) + (other >> half), left * right
