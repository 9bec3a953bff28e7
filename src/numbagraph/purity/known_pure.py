"""Functions that a traced function may call without a write into state that outlives the trace."""

from __future__ import annotations

import builtins
import types
from typing import Any

import numpy as np

from numbagraph.tracing.tracer import Tracer

_BUILTINS = frozenset(
    id(vars(builtins)[name])
    for name in (
        "abs all any bool callable complex dict divmod enumerate filter float format frozenset int isinstance "
        "issubclass iter len list map max min next pow print range repr reversed round set slice sorted str "
        "sum tuple zip"
    ).split()
)
"""Built-in functions that only call their arguments, and those are met by their own names. `getattr`, `vars` and the
like are left out: they get at other objects."""
_MODULES = frozenset(("math", "cmath", "numpy", "numpy.linalg", "numpy.fft", "scipy.special", "scipy.linalg"))
_VALUES = frozenset((range, type(...), type(NotImplemented), types.SimpleNamespace))
_METHODS = frozenset(
    name for kind in (np.ndarray, Tracer, dict, tuple, str) for name in dir(kind) if not name.startswith("_")
)
"""Names of methods that may be called on a computed object. Those that change it are known by their names
(`bytecode.py`)."""


def is_harmless(thing: Any) -> bool:
    """Whether the use of an object that is not written in Python writes nothing."""
    kind = type(thing)
    if kind in (types.BuiltinFunctionType, type):
        if id(thing) in _BUILTINS:
            return True
        if kind is type:
            return issubclass(thing, (np.generic, BaseException)) and thing.__module__ in ("builtins", "numpy")
        return thing.__module__ in _MODULES
    return kind in _VALUES


def of_builtins(name: str, names: dict[str, Any]) -> Any:
    """The object that a built-in name stands for, for names that the globals of a function do not have; None if there
    is none."""
    space = names.get("__builtins__", builtins)
    return (space if type(space) is dict else vars(space)).get(name)


def is_harmless_module(module: Any) -> bool:
    return module.__name__ in _MODULES


def are_methods(names: set[str]) -> bool:
    """Whether all names may be those of methods of arrays and of containers, and change nothing."""
    return names <= _METHODS


def may_write_unasked(kind: type) -> bool:
    """Whether objects of a class may write without a name in the code that calls a method."""
    return any(name in vars(each) for each in kind.__mro__[:-1] for name in _IMPLICIT)


_IMPLICIT = ("__repr__", "__str__", "__eq__", "__hash__", "__reduce__", "__del__")
