"""Every op of the registry, by its name, as a function for ``@njit`` code; and the emitters of LLVM.

``numbagraph.intrinsics.expm1`` and all its like take arrays and numbers in functions that Numba compiles. An argument
that is known when the caller is compiled (a literal number, string, dtype, or a tuple of them) becomes part of the
code; so an axis has to be one. Called from Python, they are NumPy's functions.
"""

from __future__ import annotations

from typing import Any

from numbagraph.intrinsics.njit import lookup as _lookup
from numbagraph.ir.op import registry as _registry


def __getattr__(name: str) -> Any:
    """Return an op. It is not put into this module's globals, which would hide Python's ``any`` and ``sum``."""
    return _lookup.find(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_registry.names()})
