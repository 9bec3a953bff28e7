"""Writes into arguments: hidden results of a graph, which the caller's arrays hold after a call that succeeds."""

from __future__ import annotations

import itertools
import operator
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from numbagraph.ir.abi import Leaf
from numbagraph.ir.values import Input
from numbagraph.runtime.arguments import own_memory
from numbagraph.tracing.errors import TraceError, user_source
from numbagraph.tracing.memory_layout import of_argument
from numbagraph.tracing.tracer import Tracer

WORK = 100_000
"""The limit on the work of a search for a shared element of two arrays whose memory bounds do not decide."""


def argument(value: Input, layout: Leaf, may_be_written: bool) -> Tracer:
    """An argument of the traced function. One of rank 0 is a number, which cannot be written into."""
    if may_be_written and value.ndim:
        found = Tracer(value)
        found._layout = of_argument(layout)
        return found
    found = Tracer(value, argument=True)
    if may_be_written:
        found._foreign = "an argument of rank 0, which may be a NumPy scalar,"
    return found


def written(arguments: Sequence[Tracer], inputs: Sequence[Input]) -> tuple[int, ...]:
    """The numbers of the arguments whose values have changed in a trace."""
    pairs = zip(arguments, inputs, strict=True)
    return tuple(number for number, (now, before) in enumerate(pairs) if now.value is not before)


@contextmanager
def only_written(leaves: Sequence[Any], allowed: Collection[int], described: str) -> Iterator[None]:
    """Raise where a function that is called inside of a trace writes into other arguments than those allowed."""
    before = [(each, each.value) for n, each in enumerate(leaves) if isinstance(each, Tracer) and n not in allowed]
    yield
    if any(now.value is not old for now, old in before):
        raise TraceError(f"{described} writes into an argument that mutates= does not name\n  at {user_source()}")


def require_kept(donated: Sequence[int], numbers: Sequence[int], names: Sequence[str], described: str) -> None:
    """Raise where the function writes into a donated argument for its caller."""
    for number in {*donated}.intersection(numbers):
        raise ValueError(f"{described} writes into {names[number]}, which donate_argnames gives away: leave it out")


def has_elements_apart(array: np.ndarray) -> bool:
    """Whether strides show that no two elements share memory. Native code makes the same test."""
    spanned = array.itemsize
    for step, length in sorted((abs(step), length) for step, length in zip(array.strides, array.shape, strict=True)):
        if length > 1 and step < spanned:
            return array.flags.c_contiguous
        spanned += (length - 1) * step
    return True


def share_memory(array: np.ndarray) -> bool:
    """Whether two elements of an array share memory, by a comparison of the places of all of them."""
    places = np.zeros(array.shape, np.int64)
    for axis, step in enumerate(array.strides):
        places += np.expand_dims(step * np.arange(array.shape[axis]), tuple(range(1, array.ndim - axis)))
    return bool(np.any(np.diff(np.sort(places, axis=None)) < array.itemsize))


class WriteBack:
    """The arrays of one call that its function writes into; raises where one must not be written."""

    def __init__(self, leaves: Sequence[Any], names: Sequence[str], numbers: Sequence[int], described: str) -> None:
        self.leaves, self.numbers = leaves, numbers
        self._subjects = [f"argument {name} of {described} is written into" for name in names]
        for number in numbers:
            self._require_array(number)
        self.meets_others = not all(has_elements_apart(leaves[number]) for number in numbers)
        """Whether the memory bounds of an array overlap those of another one, or its elements overlap by strides,
        though no element is shared."""
        for number in numbers:
            others = [(k, each) for k, each in enumerate(leaves) if k != number]
            for other, leaf in others:
                if isinstance(leaf, np.ndarray) and np.may_share_memory(leaf, leaves[number]):
                    self._require_apart(number, leaf, f"argument {names[other]}")
                    self.meets_others = True

    def _require_array(self, number: int) -> None:
        leaf, subject = self.leaves[number], self._subjects[number]
        if type(leaf).__module__.partition(".")[0] == "jaxlib":
            raise ValueError(f"{subject}, and JAX's arrays never change: write into a copy, or pass a NumPy array")
        if not isinstance(leaf, np.ndarray):
            raise ValueError(f"{subject}, and is a {type(leaf).__name__}: pass a NumPy array")
        if not leaf.flags.writeable:
            raise ValueError(f"{subject}, and is read-only: pass a copy")
        if not has_elements_apart(leaf) and share_memory(leaf):
            raise ValueError(f"{subject}, and some of its elements share memory with others of them: pass a copy")

    def _require_apart(self, number: int, other: np.ndarray, title: str) -> None:
        try:
            shares = np.shares_memory(self.leaves[number], other, max_work=WORK)  # pyright: ignore[reportArgumentType]  any number is one
        except np.exceptions.TooHardError:
            shares = True
        if shares:
            raise ValueError(f"{self._subjects[number]}, and shares memory with {title}: pass a copy of one of them")

    def require_apart(self, targets: Sequence[Any], title: str) -> None:
        """Raise where another array of the caller's that is also written shares memory with one of these."""
        for number, leaf in itertools.product(self.numbers, targets):
            if isinstance(leaf, np.ndarray) and np.may_share_memory(self.leaves[number], leaf):
                self._require_apart(number, leaf, title)

    def copies(self) -> list[Any]:
        """Return all leaves, with copies in place of those that are written."""
        return [own_memory(each) if number in self.numbers else each for number, each in enumerate(self.leaves)]

    def finish(self, results: Sequence[Any]) -> list[Any]:
        """Copy the last results into the caller's arrays. Return the results, with those arrays in their places."""
        first = len(results) - len(self.numbers)
        targets = [self.leaves[number] for number in self.numbers]
        pairs = [pair for pair in zip(targets, results[first:], strict=True) if pair[0] is not pair[1]]
        arrays: Iterator[Any] = iter([np.asarray(new) for _, new in pairs])
        # nothing in between asks for signals, so no KeyboardInterrupt leaves some of the arrays as they were
        deque(map(operator.setitem, [target for target, _ in pairs], itertools.repeat(...), arrays), maxlen=0)
        return [*results[:first], *targets]
