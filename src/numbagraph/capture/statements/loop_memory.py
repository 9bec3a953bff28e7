"""The carries of loops in the body of a loop, kept from one pass over the body to the next."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from numbagraph.capture.statements.array_aliases import Key
from numbagraph.capture.statements.length_changes import Changing
from numbagraph.capture.values.loop_state import Kind
from numbagraph.tracing.tracer import Tracer


class Recalled(NamedTuple):
    """The carries of a loop, as an earlier pass of the loop around it has found them."""

    specs: list[Any]
    """The structures of the variables."""
    carried: dict[Key, tuple[Kind, tuple[Any, ...]]]
    changing: dict[Key, Changing]
    arrays: dict[int, Tracer]
    inner: Memory


class Memory:
    """The carries of the loops in the body of a loop, kept from one pass over the body to the next. Without them, the
    number of passes would multiply with the depth."""

    def __init__(self) -> None:
        self.known: dict[Any, Recalled] = {}
        self.met: Counter[Any] = Counter()
        self.is_open = False
        self.postponed: Exception | None = None

    def begun(self, is_open: bool) -> Memory:
        """Begin a pass, and return this memory. The pass is open if variables are None or undefined as far as is known:
        they may have values when more is carried."""
        self.met.clear()
        self.is_open, self.postponed = is_open, None
        return self

    def postpones(self, error: Exception) -> bool:
        """Whether an error in a branch is ignored, provided that another pass follows."""
        if self.is_open and self.postponed is None:
            self.postponed = error
        return self.is_open

    def key(self, site: Any) -> Any:
        """The key of a loop: its place, and the number of times that this place was met in this pass."""
        self.met[site] += 1
        return site, self.met[site]
