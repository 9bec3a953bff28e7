"""Tells the user's Python code from that of libraries."""

from __future__ import annotations

import contextlib
import os
from functools import cache, lru_cache
from pathlib import Path
from types import GetSetDescriptorType, MemberDescriptorType, ModuleType
from typing import Any

import numpy as np

from numbagraph.forking import importing

OWN = f"{Path(__file__).parents[1]}{os.sep}"
_STANDARD = f"{Path(os.__file__).parent}{os.sep}"


def _beside_numpy(*names: str) -> tuple[str, ...]:
    return tuple(f"{Path(np.__file__).parent.with_name(name)}{os.sep}" for name in names)


_NUMPY = _beside_numpy("numpy", "scipy")
NUMERICAL = (OWN, *_beside_numpy("numpy", "scipy", "numba", "optree"), contextlib.__file__)
"""The libraries that stand between a user's call and the code here; a line of any other one counts as the caller's."""
HARMLESS = frozenset((OWN, *_NUMPY))
"""The libraries that keep no reference to their arguments."""
_IDENTITIES = frozenset(("jax", "jaxlib"))
"""Packages whose functions `from_jax` takes as they are: like NumPy's, they do not change what they read."""


def is_home(package: str) -> bool:
    """Whether an installed package counts as the user's code if a function of it is compiled."""
    return package.rpartition(os.sep)[2] not in _IDENTITIES


@lru_cache(4096)
def library_of(filename: str) -> str | None:
    """The library that a file of Python code belongs to, as the folder where it is installed; None for the user's."""
    for own in (OWN, *_NUMPY):
        if filename.startswith(own):
            return own
    for folder in (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}"):
        parent, found, rest = filename.rpartition(folder)
        if found:
            return f"{parent}{found}{rest.split(os.sep)[0]}"
    return "Python" if filename.startswith(("<frozen ", _STANDARD)) else None


def folders_of(*packages: ModuleType) -> tuple[str, ...]:
    """The folders of packages, and of Python's standard library."""
    return (*(f"{Path(each.__file__).parent}{os.sep}" for each in packages if each.__file__), _STANDARD)


@cache
def installed_folders() -> tuple[str, ...]:
    """The folders of Python's standard library and of installed packages."""
    with importing:
        import sysconfig  # noqa: PLC0415  functions that call NumPy alone need no paths

    return tuple({sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")})


def entries_of(instance: Any) -> dict[str, Any] | None:
    """The dict of an instance, or None; a ``__dict__`` that its class defines is not evaluated."""
    found = next((vars(each)["__dict__"] for each in type(instance).__mro__ if "__dict__" in vars(each)), None)
    is_plain = isinstance(found, (GetSetDescriptorType, MemberDescriptorType))
    return found.__get__(instance) if is_plain else None
