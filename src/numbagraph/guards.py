"""What a traced function has read of the world around it, and whether that is still so.

A guard is a place that holds a reference: an entry of a dict (globals, a module, an instance, a class), a closure cell,
or a slot. The native entry compares references (``runtime/native/guards.ll``); here numbers are compared by value.
"""

from __future__ import annotations

import math
from types import CellType, MemberDescriptorType
from typing import Any, NamedTuple

import numpy as np

MISSING = object()
_BY_VALUE = (int, bool, str, bytes, type(None))


class Guard(NamedTuple):
    """A place, and what it held when the function was traced."""

    owner: Any
    """A dict, a cell, or an object with slots."""
    key: Any
    """The key in a dict, or the descriptor of a slot."""
    value: Any
    """`MISSING` where there is nothing."""
    name: str
    """As the user would spell it."""


def read(owner: Any, key: Any) -> Any:
    """What a place holds now."""
    if type(owner) is CellType:
        try:
            return owner.cell_contents
        except ValueError:
            return MISSING
    if isinstance(key, MemberDescriptorType):
        try:
            return key.__get__(owner)
        except AttributeError:
            return MISSING
    return owner.get(key, MISSING)


def same(one: Any, other: Any) -> bool:
    """Whether a function cannot tell two objects apart: numbers and strings by type and value, others by identity."""
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    if kind in _BY_VALUE:
        return one == other
    if kind is float:
        return (one == other and math.copysign(1, one) == math.copysign(1, other)) or (one != one and other != other)
    if kind is complex:
        return same(one.real, other.real) and same(one.imag, other.imag)
    if kind is tuple:
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, np.generic) and one.dtype == other.dtype and one.tobytes() == other.tobytes()
