"""Iterators of Python's: one that was made outside of a loop or a branch on traced values is not used up in it, as
Python would do once, while the function is traced."""

from __future__ import annotations

import itertools
from typing import Any

from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.containers import in_region, made
from numbagraph.capture.values.list_aliases import is_made_here
from numbagraph.tracing.tracer import user_source

KINDS = frozenset(
    (
        enumerate, filter, map, reversed, zip, itertools.accumulate, itertools.chain, itertools.combinations,
        itertools.combinations_with_replacement, itertools.compress, itertools.dropwhile, itertools.filterfalse,
        itertools.islice, itertools.pairwise, itertools.permutations, itertools.product, itertools.repeat,
        itertools.starmap, itertools.takewhile, itertools.zip_longest,
        *(type(iter(each)) for each in ("", "\xe9", (), [], {}, {}.values(), {}.items(), set(), range(0))),
        type(reversed([])),
    )
)  # fmt: skip
"""The classes of the iterators that converted code notes where it makes them."""


def noted(found: Any) -> Any:
    """Return a result; note that it was made here if it is an iterator."""
    return made(found) if type(found) in KINDS else found


def require_here(iterable: Any) -> None:
    """Raise for an iterator that was made outside of the loop or the branch in which its elements are taken."""
    if type(iterable) in KINDS and in_region() and not is_made_here(iterable):
        raise CaptureError(
            f"an iterator ({type(iterable).__name__}) is used up in a loop or a branch on traced values, and was made "
            f"outside of it: make it there, or make a list of it first\n  at {user_source()}"
        )
