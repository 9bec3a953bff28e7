"""The places that hold the arrays which a function reaches: attributes, globals, variables of enclosing functions, and
elements of lists and dicts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from numbagraph.purity.bytecode import facts_of
from numbagraph.purity.outer_state import Outside
from numbagraph.purity.snapshots import Attributes, Cell, Content, Namespace, Origin

MOST_ARRAYS = 64


def held_arrays(function: Callable[..., Any], arguments: Iterable[Any]) -> list[list[Origin]]:
    """The places of each array that a function may change, if something else can take the array's place in all of them.
    Arrays that share memory with another one are left out."""
    outside = Outside(function, arguments)
    arrays = {id(array): array for array, _ in outside.arrays if array.ndim and type(array) is np.ndarray}
    if not outside.changes_content or not 0 < len(arrays) <= MOST_ARRAYS:
        return []
    found: dict[int, dict[Any, Origin]] = {key: {} for key in arrays}
    for origin in entries(outside):
        if id(origin.old) in arrays and origin.holder is not None:
            found[id(origin.old)][origin.place] = origin
    fixed = {id(each) for each in kept_for_good(outside)}
    every = [array for array, _ in outside.arrays]
    return [
        list(places.values())
        for key, places in found.items()
        if places and key not in fixed and not any(meet(arrays[key], each) for each in every)
    ]


def meet(one: np.ndarray, other: np.ndarray) -> bool:
    return one is not other and np.may_share_memory(one, other)


def entries(outside: Outside) -> Iterator[Origin]:
    """The places that hold something else in a function's reach, with what they hold."""
    for held in outside.held:
        if isinstance(held, Namespace):
            yield from (Origin(held.space, name, each, each) for name, each in list(held.space.items()))
        elif isinstance(held, Cell):
            yield Origin(held.cell, None, held.old, held.old)
        elif isinstance(held, Content) and id(held.container) not in outside.arguments:
            container = held.container
            pairs = enumerate(container) if type(container) is list else ()
            pairs = list(container.items()) if type(container) is dict else pairs
            yield from (Origin(container, key, each, each) for key, each in pairs)
    for thing in list(outside.seen.values()):
        if type(thing) is FunctionType and id(thing.__code__) in outside.codes:
            known = thing.__globals__
            names = facts_of(thing.__code__).names
            yield from (Origin(known, name, known[name], known[name]) for name in names if name in known)


def kept_for_good(outside: Outside) -> Iterator[Any]:
    """The things in tuples and their like, whose places nothing else can take."""
    for thing in list(outside.seen.values()):
        if type(thing) is FunctionType:
            yield from (*(thing.__defaults__ or ()), *(thing.__kwdefaults__ or {}).values())
        elif isinstance(thing, functools.partial):
            yield from (*thing.args, *thing.keywords.values())
        elif isinstance(thing, (tuple, frozenset, set)):
            yield from thing
    for held in outside.held:
        if isinstance(held, Attributes):
            yield from held.old.values()
        elif isinstance(held, Content) and type(held.container) not in (list, dict, np.ndarray):
            yield from held.items()
