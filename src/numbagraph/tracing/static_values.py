"""Versions for the values of some arguments alone: functions, slices and their like, and numbers that a trace needs.

A number is symbolic, and one version serves for all its values, unless a call fails while the function is traced that
has been given the number: an axis, the step of a slice, a power of a matrix. Then the function is traced again with the
number itself, and from then on has a version for each of its values.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from numbagraph.ir.static import typed
from numbagraph.ir.values import Constant, Input, Node, toposort
from numbagraph.tracing.errors import UnknownValueError
from numbagraph.tracing.trace import CaptureError
from numbagraph.tracing.tracer import Tracer
from numbagraph.tracing.user_code import OWN, library_of

NUMBERS = (bool, int, float, complex)
_KINDS = (str, slice, range, type, np.dtype, enum.Enum, ModuleType, type(...))
_ORDINARY = frozenset((*NUMBERS, np.ndarray, np.float64, np.int64, np.bool_, Tracer))
"""Types of most leaves."""
CALLER = f"{OWN}{Path('jit', 'binding.py')}"
"""The file that calls the function that is traced, which may be a library's."""
CONTROL = tuple(f"{OWN}{Path('api', name)}" for name in ("branches.py", "loops.py"))
"""The files of `cond`, `scan` and their like."""
DEEPEST = 3
"""How deep in tuples, lists, dicts and slices the arguments of a failing call are looked at."""


def is_number(leaf: Any, *, only_counts: bool = False) -> bool:
    """Whether a leaf is a number of Python's or NumPy's; ``only_counts``: an integer or a truth value."""
    if isinstance(leaf, np.generic):
        return leaf.dtype.kind in ("iub" if only_counts else "iubfc")
    return type(leaf) in (NUMBERS[:2] if only_counts else NUMBERS)


def needs_counts(error: BaseException) -> bool:
    """Whether an error is about the value of a number, rather than about an argument of a function: there are too many
    values of floats."""
    return isinstance(error, (UnknownValueError, CaptureError))


def is_static(leaf: Any) -> bool:
    """Whether a leaf is no number and no array, and decides by its value how a function is traced."""
    if type(leaf) in _ORDINARY:
        return False
    return isinstance(leaf, _KINDS) or (callable(leaf) and not hasattr(leaf, "__array__"))


def key_of(value: Any) -> Hashable:
    """Return a key that is equal for values that mean the same to a function."""
    if type(value) is slice:
        return slice, typed((value.start, value.stop, value.step))
    return typed(value)


def with_values(leaves: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Return traced arguments with the values that are known in their places."""
    return [leaf if known is None else known[0] for leaf, known in zip(leaves, values, strict=True)]


def numbers_given(error: BaseException) -> frozenset[str]:
    """Return the names of the arguments, Python's numbers, that the call was given which failed with an error: those
    in frames behind the last one of the user's code. Where a loop or a branch cannot be captured, which would be
    unrolled with known numbers, those alone that the error names; none where one that is written as a call is wrong."""
    if isinstance(error, CaptureError):
        return error.numbers
    frames: list[FrameType] | None = None
    place = error.__traceback__
    while place is not None:
        file = place.tb_frame.f_code.co_filename
        if library_of(file) is None or file == CALLER:
            frames = []
        elif file in CONTROL:
            frames = None
        elif frames is not None:
            frames.append(place.tb_frame)
        place = place.tb_next
    return frozenset(name for frame in frames or () for each in frame.f_locals.values() for name in numbers_in(each))


def numbers_in(thing: Any, depth: int = DEEPEST) -> Iterator[str]:
    kind = type(thing)
    if kind is Tracer:
        yield from numbers_behind(thing)
    elif depth and kind in (tuple, list):
        for each in thing[:64]:
            yield from numbers_in(each, depth - 1)
    elif depth and kind is dict:
        yield from numbers_in(list(thing.values()), depth - 1)
    elif depth and kind is slice:
        yield from numbers_in((thing.start, thing.stop, thing.step), depth - 1)


def numbers_behind(array: Tracer) -> Iterator[str]:
    """The names of the inputs that a number, or the length of an array, is computed of, if all are numbers."""
    for value in array.value.shape if array.value.ndim else (array.value,):
        sources = [] if isinstance(value, int) else toposort([value])
        inputs = [each for each in sources if not isinstance(each, (Node, Constant))]
        if all(isinstance(each, Input) and not each.ndim for each in inputs):
            yield from (each.name for each in inputs if isinstance(each, Input))
