"""The loops and branches of numbagraph as Python writes them, on NumPy's arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import optree

Function = Callable[..., Any]


def scan(f: Function, init: Any, xs: Any = None, length: int | None = None, reverse: bool = False) -> tuple[Any, Any]:
    """What is stacked must be known to have a first element: loops without steps give None for it."""
    count = len(optree.tree_leaves(xs)[0]) if length is None else length
    carry, found = init, []
    for number in range(count):
        place = count - 1 - number if reverse else number
        carry, y = f(carry, optree.tree_map(lambda each, place=place: each[place], xs))
        found.append(y)
    return carry, stacked(found[::-1] if reverse else found)


def stacked(found: Sequence[Any]) -> Any:
    return optree.tree_map(lambda *each: array_module(each[0]).stack(each), *found) if found else None


def array_module(array: Any) -> Any:
    """`jax.numpy`, or NumPy, of an array."""
    return array.__array_namespace__() if hasattr(array, "__array_namespace__") else np


def fori_loop(lower: int, upper: int, f: Function, value: Any) -> Any:
    for number in range(lower, upper):
        value = f(number, value)
    return value


def while_loop(goes_on: Function, f: Function, value: Any) -> Any:
    while goes_on(value):
        value = f(value)
    return value


def map(f: Function, xs: Any) -> Any:
    return scan(lambda carry, x: (carry, f(x)), (), xs)[1]


def cond(test: Any, one: Function, other: Function, *operands: Any) -> Any:
    return (one if test else other)(*operands)


def switch(index: int, branches: Sequence[Function], *operands: Any) -> Any:
    return branches[min(max(int(index), 0), len(branches) - 1)](*operands)
