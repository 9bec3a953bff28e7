"""Errors of traced functions, with the line of the user's code that they are about."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from numbagraph import shapes
from numbagraph.graph import Source

_FOLDERS = (Path(__file__).parent, *(Path(np.__file__).parent.with_name(name) for name in ("numpy", "scipy")))
_LIBRARIES = tuple(f"{folder}{os.sep}" for folder in _FOLDERS)


class TraceError(TypeError):
    """Something that cannot be done with an array whose elements are not known yet."""


def user_source() -> Source | None:
    """The line of the user's code that is being run: the innermost frame outside of numbagraph and NumPy."""
    frame = sys._getframe(1)
    while frame is not None:
        if not frame.f_code.co_filename.startswith(_LIBRARIES):
            return Source(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None


def located(
    error: Exception, function: Callable[..., Any], operands: tuple[Any, ...], source: Source | None
) -> Exception:
    """The same error with the user's line, the operation and the operands' types in its message."""
    text = str(error)
    if "\n  in " in text:
        return error
    name = getattr(function, "name", getattr(function, "__name__", str(function)))
    types = ", ".join(str(each.type) for each in operands)
    message = f"{text}\n  in {name}({types})\n  at {source}"
    special = (np.linalg.LinAlgError, np.exceptions.AxisError, shapes.ShapeError, NotImplementedError)
    kinds = (*special, TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError)
    return next((each for each in kinds if isinstance(error, each)), ValueError)(message)
