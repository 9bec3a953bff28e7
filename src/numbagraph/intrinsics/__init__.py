"""The emitters of LLVM; and every op of the registry, by its name, as a function for ``@njit`` code.

``numbagraph.intrinsics.expm1`` and all its like take arrays and numbers in functions that Numba compiles. An argument
that is known when the caller is compiled (a literal number, string, dtype, or a tuple of them) becomes part of the
code; so an axis has to be one. Called from Python, they are NumPy's functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numbagraph.ir.op import registry

makers: list[Callable[[str], Any]] = []
"""What makes an op a function: `numbagraph.op_function`, which stands far above the emitters, puts it here."""


def __getattr__(name: str) -> Any:
    """The op ``name``, made when it is first asked for."""
    if name.startswith("_") or name not in registry:
        raise AttributeError(f"module {__name__!r} has no op {name!r}")
    found = globals()[name] = makers[-1](name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *(op.name for op in registry)})
