"""``print``, ``warnings.warn`` and functions of ``logging``, of traced values, and in loops and branches on traced
values: they write each time that the program reaches their line."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import optree

from numbagraph.blockwise.promotion import as_value
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.containers import in_region
from numbagraph.capture.values.message_templates import Template, Text
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import at_source
from numbagraph.ops.control.operands import strong
from numbagraph.ops.effects import effect
from numbagraph.runtime.arguments import flatten
from numbagraph.tracing.effect_tokens import order_here, set_order
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.tracer import Tracer, to_value, user_source


class Printed(Struct, eq=False):
    """A text to be printed: trees, some leaves of which come when the program runs, and the function that writes
    them."""

    templates: tuple[Template | None, ...]
    """The template of a text for each argument; None for an argument that is no text."""
    spec: optree.PyTreeSpec
    leaves: tuple[Any, ...]
    places: tuple[int, ...]
    """The places of the leaves that come when the program runs."""
    are_pythons: tuple[bool, ...]
    """Whether each of these leaves is a number of Python's."""
    write: Callable[..., None]

    def __call__(self, *arrays: Any) -> None:
        leaves = list(self.leaves)
        for place, is_pythons, array in zip(self.places, self.are_pythons, arrays, strict=True):
            found = np.asarray(array)
            leaves[place] = found.item() if is_pythons else found[()] if not found.ndim else found
        trees = optree.tree_unflatten(self.spec, leaves)
        pairs = zip(self.templates, trees, strict=True)
        self.write(*[tree if text is None else text.format(*tree) for text, tree in pairs])


def printing(*args: Any, file: Any = None, **how: Any) -> None:
    """``print(*args)``."""
    if file is not None and file is not sys.stdout:
        if any(isinstance(each, Tracer) for each in leaves_of(args)) or in_region():
            raise CaptureError(
                f"print with file= of traced values, or in a loop or a branch on them\n  at {user_source()}"
            )
        print(*args, file=file, **how)
        return
    write_later("print", functools.partial(print, **how), args)


def warning(message: Any, category: Any = None, *_: Any, **__: Any) -> None:
    """``warnings.warn(message, category)``."""
    source = user_source()
    assert source is not None
    kind = type(message) if isinstance(message, Warning) else category or UserWarning
    registry: dict[Any, Any] = {}

    def warn(text: Any) -> None:
        warnings.warn_explicit(text, kind, source.file, source.line, registry=registry)

    write_later("warnings.warn", warn, (message,))


def logged(function: Callable[..., None]) -> Callable[..., None]:
    """Return the replacement of a function of `logging`, or of a method of a logger."""

    def call(*args: Any, **how: Any) -> None:
        write_later(function.__name__, functools.partial(function, **how), args)

    return call


_LOGGING = ("debug", "info", "warning", "error", "critical", "exception", "log")


def writing(function: Any) -> Callable[..., None] | None:
    """Return the replacement of a function that writes text for people: printing, warnings and logging; None for
    others."""
    if function is print:
        return printing
    if function is warnings.warn:
        return warning
    if getattr(function, "__name__", None) not in _LOGGING:
        return None
    logging = sys.modules.get("logging")  # who has a function of it has imported it
    if logging is None:
        return None
    holder = getattr(function, "__self__", None)
    is_function = function is getattr(logging, function.__name__, None)
    return logged(function) if is_function or isinstance(holder, (logging.Logger, logging.LoggerAdapter)) else None


def leaves_of(args: tuple[Any, ...]) -> list[Any]:
    return flatten(tuple(list(each.values) if isinstance(each, Text) else each for each in args))[0]


def write_later(name: str, write: Callable[..., None], args: tuple[Any, ...]) -> None:
    """Write when the program gets to this line."""
    templates = tuple(each.template if isinstance(each, Text) else None for each in args)
    leaves, spec = flatten(tuple(list(each.values) if isinstance(each, Text) else each for each in args))
    places = tuple(place for place, leaf in enumerate(leaves) if isinstance(leaf, Tracer))
    if any(isinstance(each, OnlyTraced) for each in leaves):
        raise CaptureError(
            f"{name} of a value that may be None, or of a list of unknown length: choose with `is None`, or write "
            f"np.array(...)\n  at {user_source()}"
        )
    source = user_source()
    with at_source(source):
        values = [as_value(to_value(leaves[place])) for place in places]
        known = tuple(None if isinstance(leaf, Tracer) else leaf for leaf in leaves)
        printed = Printed(templates, spec, known, places, tuple(each.type.weak for each in values), write)
        set_order(Tracer(effect(printed, name, source, order_here(), list(map(strong, values)))))
