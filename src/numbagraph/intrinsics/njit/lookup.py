"""Ops as functions for ``@njit`` code, found by their names."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from numbagraph.ir.op import registry

MODULE = "numbagraph.intrinsics"

makers: list[Callable[[str], Any]] = []
"""Functions that make the function for ``@njit`` code from the name of an op; the last one is used.
`numbagraph.library.op_function`, a layer far above the emitters, adds its own here."""


@functools.cache
def find(name: str) -> Any:
    """The op ``name``, or the namespace of ops of that name; one object for each, as Numba compares them."""
    is_namespace = not name.startswith("_") and any(each.startswith(f"{name}.") for each in registry.names())
    if name.startswith("_") or not (is_namespace or name in registry):
        raise AttributeError(f"module {MODULE!r} has no op {name!r}")
    return namespace(name) if is_namespace else makers[-1](name)


def namespace(name: str) -> ModuleType:
    """Return the ops whose names begin with that of a namespace, as ``fft.rfft``."""
    module = ModuleType(f"{MODULE}.{name}")
    module.__getattr__ = lambda each: find(f"{name}.{each}")  # type: ignore[method-assign]
    return module
