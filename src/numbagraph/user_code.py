"""Which Python code is the user's, and what its names read."""

from __future__ import annotations

import dis
import os
from functools import lru_cache
from pathlib import Path
from types import CodeType, GetSetDescriptorType, MemberDescriptorType
from typing import Any, NamedTuple

import numpy as np

OWN = f"{Path(__file__).parent}{os.sep}"
_STANDARD = f"{Path(os.__file__).parent}{os.sep}"
_NUMPY = tuple(f"{Path(np.__file__).parent.with_name(name)}{os.sep}" for name in ("numpy", "scipy"))


@lru_cache(4096)
def library_of(filename: str) -> str | None:
    """The library that a file of Python code belongs to, as the place where it is installed; None for the user's."""
    for own in (OWN, *_NUMPY):
        if filename.startswith(own):
            return own
    for folder in (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}"):
        place, found, rest = filename.rpartition(folder)
        if found:
            return f"{place}{found}{rest.split(os.sep)[0]}"
    return "Python" if filename.startswith(("<frozen ", _STANDARD)) else None


def entries_of(instance: Any) -> dict[str, Any] | None:
    """The dict of an instance, or None; a ``__dict__`` that its class defines is not asked."""
    found = next((vars(each)["__dict__"] for each in type(instance).__mro__ if "__dict__" in vars(each)), None)
    is_plain = isinstance(found, (GetSetDescriptorType, MemberDescriptorType))
    return found.__get__(instance) if is_plain else None


class Read(NamedTuple):
    """What an expression like ``a.b.c`` reads: a name, and attributes of what that is."""

    scope: str
    """Is "global", "local" (also of an enclosing function), or "" where the attributes are of something computed."""
    name: str
    attributes: tuple[str, ...]


_GLOBAL, _LOCAL, _TWO_LOCALS, _ATTRIBUTE, _SUPER, _STORE, _END = range(1, 8)


def _kind(name: str) -> int:
    if name in ("LOAD_GLOBAL", "LOAD_NAME"):
        return _GLOBAL
    if name in ("CACHE", "EXTENDED_ARG", "NOP", "RESUME"):
        return 0
    if name.startswith(("LOAD_FAST", "STORE_FAST_LOAD_FAST")):
        return _TWO_LOCALS if name.count("_FAST") == 2 else _LOCAL
    if name in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"):
        return _LOCAL
    if name in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM", "LOAD_SUPER_ATTR"):
        return _SUPER if name == "LOAD_SUPER_ATTR" else _ATTRIBUTE
    return _STORE if name in ("STORE_FAST", "STORE_DEREF", "DELETE_FAST", "DELETE_DEREF") else _END


_KINDS = [_kind(name) for name in dis.opname]
_LOAD_GLOBAL, _LOAD_ATTR = dis.opmap["LOAD_GLOBAL"], dis.opmap["LOAD_ATTR"]
_EXTENDED = dis.EXTENDED_ARG
_ATTRIBUTE_SHIFT = 0 if "LOAD_METHOD" in dis.opmap and "LOAD_SUPER_ATTR" not in dis.opmap else 1
"""From Python 3.12 on, `LOAD_ATTR` says in a bit whether a method is called."""


@lru_cache(1024)
def reads(code: CodeType) -> tuple[Read, ...]:
    """The reads in a code object, without those of functions inside. A local name that the code assigns is not known
    to be what it was, so what is read of it counts as computed."""
    names = code.co_names
    arguments = (*code.co_varnames, *(each for each in code.co_cellvars if each not in code.co_varnames))
    locals_ = (*arguments, *code.co_freevars)
    found: list[Read] = []
    assigned: set[str] = set()
    scope, name, attributes, high = "", "", [], 0
    units = code.co_code
    for operation, low in zip(units[::2], units[1::2], strict=True):
        kind = _KINDS[operation]
        if not kind:
            high = (high | low) << 8 if operation == _EXTENDED else 0
            continue
        argument, high = high | low, 0
        if kind == _ATTRIBUTE:
            attributes.append(names[argument >> _ATTRIBUTE_SHIFT if operation == _LOAD_ATTR else argument])
            continue
        if scope or attributes:
            found.append(Read(scope, name, tuple(attributes)))
            scope, name, attributes = "", "", []
        if kind == _GLOBAL:
            scope, name = "global", names[argument >> 1 if operation == _LOAD_GLOBAL else argument]
        elif kind == _LOCAL:
            scope, name = "local", locals_[argument]
        elif kind == _TWO_LOCALS:
            scope, name = "local", locals_[argument & 15]
        elif kind == _SUPER:
            attributes.append(names[argument >> 2])
        elif kind == _STORE:
            assigned.add(locals_[argument])
    computed = (Read("", "", each.attributes) if each.name in assigned else each for each in found)
    return tuple(dict.fromkeys(each for each in computed if each.scope or each.attributes))
