"""The names of variables by which the user's code knows an object, for errors."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any

from numbagraph.ir.sources import PREFIX, is_body
from numbagraph.tracing.user_code import NUMERICAL


def names_of(things: Iterable[Any]) -> list[str]:
    """The variables of the function that the user's code is in, and of the bodies of its loops, that are any of some
    objects; otherwise its global variables."""
    wanted = {id(each) for each in things}
    frames = list(_function(sys._getframe(1)))
    found = {name for each in frames for name, value in each.f_locals.items() if id(value) in wanted}
    if not found and frames:
        found = {name for name, value in frames[0].f_globals.items() if id(value) in wanted}
    return sorted(each for each in found if not each.startswith(("__", PREFIX)))


def listed(names: Iterable[str]) -> str:
    """Names in a sentence."""
    *first, last = map(repr, names)
    return f"{', '.join(first)} and {last}" if first else last


def _function(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames of the innermost function of the user's: those of bodies of its loops, and its own."""
    while frame is not None:
        if not frame.f_code.co_filename.startswith(NUMERICAL):
            yield frame
            if not is_body(frame.f_code):
                return
        frame = frame.f_back
