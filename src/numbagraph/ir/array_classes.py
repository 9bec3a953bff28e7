"""Classes of arrays that mean more than their elements: what would be lost of them, and what to give instead."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from numbagraph.ir.op import imported

_INSTEAD = {
    "xarray": "whose labels would be lost: {verb} x.values, or call xarray.apply_ufunc(f, x)",
    "dask": "which would be computed as a whole: call x.map_blocks(f) or dask.array.apply_gufunc(f, signature, x), "
    "which compute it block by block, or {verb} x.compute()",
}
_NUMBERS = ("numpy", "jax")
"""Libraries whose arrays mean their elements alone, whatever class they have."""
_TABLES = ("pandas", "polars")
"""Libraries whose columns are taken for plain arrays of their elements; their tables are more than that."""
_HARMLESS = frozenset(
    "__new__ __init__ __doc__ __hash__ __repr__ __str__ __format__ __reduce__ __reduce_ex__ __setstate__ __copy__ "
    "__deepcopy__ __sizeof__ __class_getitem__ __dir__ __array_priority__ __buffer__ __getattribute__".split()
)
_OF_ARRAYS = frozenset(vars(np.ndarray)) - _HARMLESS
"""Attributes through which NumPy uses arrays: a class that defines its own behaves differently."""


def module_of(kind: type) -> str:
    """The module of a class; one that ``type`` makes in a program without a name has none."""
    found = getattr(kind, "__module__", None)
    return found if type(found) is str else ""


def refuse_other_classes(leaf: object, subject: str) -> None:
    """Raise for arrays whose class defines its own operators: NumPy's other classes, and those of other libraries."""
    if (found := description(leaf)) is not None:
        raise TypeError(f"{subject} is {found}")


def refuse_labelled_and_lazy(leaf: object, subject: str) -> None:
    """Raise for an object of a library whose arrays are more than arrays."""
    if (found := _of_library(type(leaf), "pass")) is not None:
        raise TypeError(f"{subject} is {found}")


def plain_array(operand: Any) -> np.ndarray:
    """Return an operand from outside of the trace as an array; raise if it is more than one."""
    refuse_other_classes(operand, "an operand from outside of the traced function")
    return np.asarray(operand)


def description(leaf: object, verb: str = "pass") -> str | None:
    """Describe an array that is more than its elements, and say which elements to pass instead; None for any other
    leaf."""
    kind = type(leaf)
    return None if kind is np.ndarray else _of_class(kind, imported("numpy.ma"), verb)  # importing it takes 15 ms


@lru_cache(512)
def _of_class(kind: type, masked: Any, verb: str) -> str | None:
    if masked is not None and issubclass(kind, masked.MaskedArray):
        return f"a masked array, whose mask would be lost: {verb} its data and its mask"
    if issubclass(kind, np.matrix):
        return f"a matrix, whose operators are not those of arrays: {verb} np.asarray of it"
    if issubclass(kind, np.generic):
        return None
    if (found := _of_library(kind, verb)) is not None:
        return found
    if _has_own_meaning(kind):
        return (
            f"a {kind.__name__} of {module_of(kind).partition('.')[0]}, whose own operators, and units that they "
            f"keep, would be lost: {verb} its numbers (np.asarray of it, or its value in a known unit)"
        )
    return None


def _of_library(kind: type, verb: str) -> str | None:
    """Describe an object whose class belongs to a known library, by the library's name, without importing it; else
    None."""
    for each in kind.__mro__:
        library = module_of(each).partition(".")[0]
        if library in _INSTEAD:
            return f"a {kind.__name__} of {library}, {_INSTEAD[library].format(verb=verb)}"
        if library in _TABLES and each.__name__ == "DataFrame":
            return (
                f"a {kind.__name__} of {library}, whose names of columns would be lost: {verb} a column (x['name']), a "
                f"dict of columns, or x.to_numpy()"
            )
    return None


def _has_own_meaning(kind: type) -> bool:
    """Whether a class defines what NumPy would ask an array for."""
    others = [each for each in kind.__mro__ if each not in (object, np.ndarray)]
    if issubclass(kind, np.ndarray):
        return any(
            not _OF_ARRAYS.isdisjoint(vars(each)) for each in others if not any(_is_of(one, each) for one in _NUMBERS)
        )
    if any(_is_of(each, kind) for each in ("numbagraph", *_TABLES)):
        return False
    return any(getattr(kind, name, None) is not None for name in ("__array_ufunc__", "__array_function__"))


def _is_of(library: str, kind: type) -> bool:
    return module_of(kind).partition(".")[0] == library
