"""The contents of containers: a function that gets hold of a container may read all of it, at any depth."""

from __future__ import annotations

import gc
import os
import types
from collections import ChainMap, UserDict, UserList, deque
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from numbagraph.ir.array_classes import module_of
from numbagraph.purity.outer_state import is_library
from numbagraph.runtime.arguments import is_node
from numbagraph.tracing.user_code import entries_of

_CHANGING = (dict, list, set, deque)
_FIXED = (tuple, frozenset)
_IN_PYTHON = (UserDict, UserList, ChainMap, type(os.environ))
"""Containers of the standard library that hold another one in an attribute."""
_VIEWS = (types.MappingProxyType, type({}.keys()), type({}.values()), type({}.items()))
HEAP_TYPE = 1 << 9
ATOMS = frozenset(
    (int, float, complex, bool, str, bytes, type(None), range, slice, type(...), np.ndarray, np.dtype, np.ufunc)
)
"""Classes whose objects hold nothing that a function could read, except elements of arrays."""


def is_changing(thing: Any) -> bool:
    """Whether something is a container whose content may change."""
    return issubclass(type(thing), _CHANGING)


def is_container(thing: Any) -> bool:
    """Whether an object is a container: its methods read its contents."""
    kind = type(thing)
    return kind in _VIEWS or issubclass(kind, (*_CHANGING, *_FIXED, *_IN_PYTHON))


def is_plain_dict(thing: Any) -> bool:
    """Whether a subscript of something is an entry of a dict, and nothing else."""
    kind = type(thing)
    return issubclass(kind, dict) and kind.__getitem__ is dict.__getitem__


def element_of(sequence: Any, position: int) -> Iterator[Any]:
    """The element of a list or a tuple at a position, if there is one."""
    kind = type(sequence)
    for each in (list, tuple):
        if issubclass(kind, each) and kind.__getitem__ is each.__getitem__:
            if -each.__len__(sequence) <= position < each.__len__(sequence):
                yield each.__getitem__(sequence, position)
            return


def parts_of(thing: Any) -> list[Any]:
    """The objects that a container holds; none for other objects."""
    kind = type(thing)
    if issubclass(kind, dict):
        return [each for pair in list(dict.items(thing)) for each in pair]
    if issubclass(kind, (*_CHANGING, *_FIXED)):
        return list.copy(thing) if issubclass(kind, list) else list(thing)
    if kind is partial:
        return [thing.args, thing.keywords]
    if kind in _VIEWS:
        return gc.get_referents(thing)
    if issubclass(kind, _IN_PYTHON):
        entries = entries_of(thing)
        return [] if entries is None else [entries]
    return []


def fields_of(thing: Any) -> list[str]:
    """The attributes of an object that is a tree of attributes, which functions of trees read without naming them."""
    kind = type(thing)
    if any("__dataclass_fields__" in vars(each) for each in kind.__mro__):
        return list(kind.__dataclass_fields__)
    if kind.__flags__ & HEAP_TYPE and not is_library(module_of(kind)) and is_node(thing):
        return list(entries_of(thing) or ())
    return []
