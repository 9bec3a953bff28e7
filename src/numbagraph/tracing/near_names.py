"""Questions for the end of errors about names that do not exist, where one that exists is like them."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from numbagraph.ir.later import Later

if TYPE_CHECKING:
    import difflib
else:  # errors alone need it
    difflib = Later("difflib")

_KEYWORD = re.compile(r"(?:\w+\.)*(\w+)\(\) got an unexpected keyword argument '(\w+)'")
_ATTRIBUTE = re.compile(r"module '([\w.]+)' has no attribute '(\w+)'")
_MODULES = ("numbagraph", "numpy", "numpy.linalg")


def near_name(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return a question for the end of an error about a name that does not exist, if one of those known is like it."""
    if name.startswith("_"):
        return ""
    near = difflib.get_close_matches(name, [each for each in known if not each.startswith("_")], 1, cutoff)
    return f": did you mean {near[0]!r}?" if near else ""


def ask_for_near_name(error: BaseException) -> None:
    """Add the question to an error of Python's or NumPy's about a keyword, or about an attribute of a module."""
    if len(error.args) != 1 or not isinstance(error.args[0], str) or "did you mean" in error.args[0]:
        return
    first, *rest = error.args[0].split("\n", 1)
    question = ""
    if isinstance(error, TypeError) and (match := _KEYWORD.fullmatch(first)):
        question = near_name(match[2], parameters_of(match[1]))
    elif isinstance(error, AttributeError) and (match := _ATTRIBUTE.fullmatch(first)):
        question = near_name(match[2], dir(sys.modules.get(match[1])))
        error.name = None if question else error.name  # by which Python would ask the same again
    if question:
        error.args = ("\n".join([first + question, *rest]),)


def parameters_of(name: str) -> list[str]:
    """The names of the parameters of a function of numbagraph's or NumPy's."""
    for module in _MODULES:
        function = getattr(sys.modules.get(module), name, None)
        if callable(function):
            try:
                return list(inspect.signature(function).parameters)
            except (TypeError, ValueError):
                return []
    return []
