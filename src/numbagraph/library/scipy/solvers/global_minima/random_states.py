"""Generators of searches: that of the caller or of a seed, whose state a loop carries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.api.branches import cond
from numbagraph.api.loops import fori_loop
from numbagraph.library.random.generator import TracedGenerator
from numbagraph.library.random.seeding import default_rng
from numbagraph.library.scipy.arguments import refuse


def generator_of(rng: Any, seed: Any, what: str) -> Any:
    """Return the generator of SciPy's arguments ``rng`` and ``seed``."""
    if seed is not None and rng is not None:
        raise TypeError(f"{what}() got multiple values for argument now known as `rng`")
    given = seed if rng is None else rng
    if isinstance(given, TracedGenerator):
        return given
    if given is None or isinstance(given, (np.random.Generator, np.random.RandomState)):
        refuse(f"{what} without a seed", "give rng=, an integer or a numpy.random.Generator that is an argument")
    if rng is None:
        refuse(f"{what} with seed={given!r}", "give rng=, whose numbers are those of numpy.random.default_rng")
    return default_rng(given)


def from_state(generator: Any, state: Any, draw: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Return what ``draw`` gives of a generator in a state, and the state after it."""
    local = generator._at(state)
    return draw(local), local._state


def left_in(generator: Any, state: Any) -> None:
    """Leave the caller's generator in the state after a search."""
    generator._require_place()
    generator._renew(state)


def drawn_where(generator: Any, state: Any, numbers: Any, is_drawn: Any) -> tuple[Any, Any]:
    """Return a vector whose marked elements are uniform numbers, drawn in order, and the state after them."""
    places = np.arange(len(numbers))

    def step(place: Any, carried: tuple[Any, Any]) -> tuple[Any, Any]:
        found, before = carried
        number, after = cond(
            is_drawn[place],
            lambda: from_state(generator, before, lambda local: np.float64(local.uniform())),
            lambda: (np.float64(0.0), before),
        )  # fmt: skip
        return np.where((places == place) & is_drawn, number, found), after

    def all_drawn() -> tuple[Any, Any]:
        return fori_loop(0, len(numbers), step, (numbers, state))

    return cond(np.any(is_drawn), all_drawn, lambda: (numbers, state))
