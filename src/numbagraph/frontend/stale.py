"""Arrays that nobody can read any more, since they may share their memory with others that have changed."""

from __future__ import annotations

from typing import Any

from numbagraph.frontend.locating import TraceError, user_source
from numbagraph.ir.values import Value


class Stale:
    """In place of the value of an array that may share its memory with another one, which has changed since."""

    _RESHAPED = (
        "reshape and ravel give a view or a copy, as an array's memory order allows, so what the result holds is not "
        "known after an assignment to that array: copy it before, or make it afterwards"
    )

    OWNED = "an array that may be another variable's too, as a loop or a branch on traced values chose it,"
    SHARED = (
        "a loop or a branch on traced values chose this array, and it may be one that has been assigned to since: copy "
        "it before"
    )

    def __init__(self, what: Value | Stale, why: str = _RESHAPED) -> None:
        self._text = f"{why}\n  assigned at {user_source()}"
        if isinstance(what, Value):
            self._text = f"{self._text}\n  on {what.type}"

    def __getattr__(self, name: str) -> Any:
        raise TraceError(f"{self._text}\n  at {user_source()}")
