"""NumPy's generators of random numbers as arguments: their states are arrays that a call writes, all or none."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn

import numpy as np

from numbagraph.jit.generator_memory import spans_of
from numbagraph.ops.random import generator_states as states
from numbagraph.runtime.arguments import is_generator
from numbagraph.runtime.drawing import drawing
from numbagraph.tracing.errors import TraceError, user_source
from numbagraph.tracing.replacements import replacements
from numbagraph.tracing.trace import active, current_trace


class Held:
    """The generators among the leaves of one call. Several of one bit generator draw from one state."""

    def __init__(self, leaves: Sequence[Any], names: Sequence[str]) -> None:
        first: dict[int, int] = {}
        self.places: dict[int, int] = {}
        """For each leaf that is a generator, by number, the first leaf with the same bit generator."""
        self.bit_generators: dict[int, Any] = {}
        for number, leaf in enumerate(leaves):
            if is_generator(leaf):
                source = leaf.bit_generator
                self.places[number] = first.setdefault(id(source), number)
                if self.places[number] == number:
                    self.bit_generators[number] = source
        self.kinds: dict[int, str] = {}
        for number, source in self.bit_generators.items():
            kind = states.kind_of(source)
            if kind is None:
                raise TypeError(
                    f"argument {names[number]} draws from the bit generator {type(source).__name__}, which compiled "
                    f"code does not know: use one of {', '.join(states.WORDS)}"
                )
            self.kinds[number] = kind
        self.arrays = {number: np.empty(states.WORDS[kind], np.uint64) for number, kind in self.kinds.items()}

    @property
    def key(self) -> tuple[Any, ...]:
        """The key for versions: the places and kinds of the generators."""
        return tuple((number, place, self.kinds[place]) for number, place in self.places.items())

    def replaced(self, leaves: Sequence[Any]) -> list[Any]:
        """Return the leaves as compiled code takes them: a second generator of a state has no state of its own."""
        empty = np.empty(0, np.uint64)
        return [self.arrays.get(number, empty) if number in self.places else leaf for number, leaf in enumerate(leaves)]

    def traced(self, leaves: Sequence[Any]) -> list[Any]:
        """Return the leaves as the traced function takes them."""
        make = replacements.for_role("numpy.random.Generator")
        made = {number: make(kind, leaves[number]) for number, kind in self.kinds.items()}
        return [made[self.places[number]] if number in self.places else leaf for number, leaf in enumerate(leaves)]

    def require_no_trace(self) -> None:
        """Raise where a traced function makes the call, with generators that are not its arguments."""
        if current_trace() is not None:
            raise TraceError(
                "a numpy.random.Generator from outside of a traced function would draw once, and give the same numbers "
                f"in every call: pass the generator as an argument\n  at {user_source()}"
            )

    def read(self) -> dict[int, np.ndarray]:
        """Return the present states, and copy them into the arrays that stand for them."""
        found = {number: states.words_of(each) for number, each in self.bit_generators.items()}
        for number, words in found.items():
            self.arrays[number][:] = words
        return found

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Read the states, and write them once the block has succeeded. A lock keeps other threads from drawing in
        between."""
        sources = self.bit_generators
        with ExitStack() as locks:
            for each in sorted(sources.values(), key=id):
                locks.enter_context(each.lock)
            before = self.read()
            yield
            for number, each in sources.items():
                if not np.array_equal(states.words_of(each), before[number]):
                    drawn_meanwhile(each)
            changed = [number for number, words in before.items() if not np.array_equal(words, self.arrays[number])]
            after = [states.state_of(self.kinds[number], self.arrays[number]) for number in changed]
            # nothing in between asks for signals, so no KeyboardInterrupt leaves some of them as they were
            targets = [sources[number] for number in changed]
            deque(map(setattr, targets, itertools.repeat("state"), after), maxlen=0)


def drawing_once(key: tuple[Any, ...], run: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return ``run`` as a function of leaves that include the one generator itself, which is faster than `Held`; it
    returns NotImplemented for other leaves. None where that is not possible."""
    ((number, _, kind), *others) = key
    spans = None if others else spans_of(kind)
    if spans is None:
        return None
    return drawing(run, number, getattr(np.random, kind), spans, states.WORDS[kind], active, drawn_meanwhile)


def drawn_meanwhile(source: Any) -> NoReturn:
    raise RuntimeError(
        f"{type(source).__name__} was drawn from by Python while a compiled function drew from it: give what is called "
        f"back a generator of its own"
    )
