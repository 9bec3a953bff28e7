"""The emitters of LLVM; and every op of the registry, by its name, as a function for ``@njit`` code.

``numbagraph.intrinsics.expm1`` and all its like take arrays and numbers in functions that Numba compiles. An argument
that is known when the caller is compiled (a literal number, string, dtype, or a tuple of them) becomes part of the
code; so an axis has to be one. Called from Python, they are NumPy's functions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from numbagraph.ir.op import registry

makers: list[Callable[[str], Any]] = []
"""Functions that make the function for ``@njit`` code from the name of an op; the last one is used.
`numbagraph.library.op_function`, a layer far above the emitters, adds its own here."""


@functools.cache
def __getattr__(name: str) -> Any:
    """The op ``name``, or the namespace of ops of that name; one object for each, as Numba compares them.

    They are not put into this module's globals, where ``any`` and ``sum`` would hide Python's from the code here.
    """
    is_namespace = not name.startswith("_") and any(each.startswith(f"{name}.") for each in registry.names())
    if name.startswith("_") or not (is_namespace or name in registry):
        raise AttributeError(f"module {__name__!r} has no op {name!r}")
    return namespace(name) if is_namespace else makers[-1](name)


def namespace(name: str) -> ModuleType:
    """Return the ops whose names begin with that of a namespace, as ``fft.rfft``."""
    module = ModuleType(f"{__name__}.{name}")
    module.__getattr__ = lambda each: __getattr__(f"{name}.{each}")  # type: ignore[method-assign]
    return module


def __dir__() -> list[str]:
    return sorted({*globals(), *registry.names()})
