"""SciPy's sparse arrays as trees: their elements, where these are, and an array that has their shape."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np

from numbagraph.ir.op import imported, load
from numbagraph.runtime.arguments import register_node

NAMES = {"coo": ("row", "col"), "csr": ("indices", "indptr"), "csc": ("indices", "indptr")}
"""The formats, and what they call the positions of their elements."""


def known_to_trees() -> None:
    """Make trees of SciPy's arrays, if somebody has imported them."""
    module = imported("scipy.sparse")
    if module is not None and hasattr(module, "coo_array"):
        register(module)


@functools.cache
def register(scipy_sparse: ModuleType) -> None:
    for form, names in NAMES.items():
        cls = getattr(scipy_sparse, f"{form}_array")
        entries = ("data", *names, "shape")
        take_apart = functools.partial(apart, form, entries)
        register_node(cls, take_apart, together)


def apart(form: str, entries: tuple[str, ...], array: Any) -> tuple[Any, ...]:
    return parts_of(array), form, entries


def parts_of(array: Any) -> list[np.ndarray]:
    """Elements and positions of a sparse array: the column of each and the beginnings of rows (or, if it is compressed
    by columns, the reverse), or the row and the column of each. The last part is an array without elements, of which
    the last two lengths are those of the array: its rows and columns, or in the order of the compression."""
    if array.ndim != 2:
        raise TypeError(f"a {array.format}_array of {array.ndim} dimensions is not supported: pass one of 2")
    if array.format == "coo":
        return [array.data, *array.coords, np.empty((0, *array.shape), bool)]
    major, minor = array.shape if array.format == "csr" else array.shape[::-1]
    data, indices = array.data, array.indices
    count = int(array.indptr[-1])
    if 0 <= count < len(data):  # SciPy leaves room behind the elements
        data, indices = data[:count], indices[:count]
    return [data, indices, array.indptr, np.empty((0, major, minor), bool)]


def together(form: str, parts: Iterable[Any]) -> Any:
    """The sparse array of such parts; of traced ones, what stands for it."""
    parts = tuple(parts)
    if not all(isinstance(each, np.ndarray) for each in parts):
        return load("numbagraph.frontend.sparse_arrays:of_parts")(form, parts)
    data, first, second, lengths = parts
    shape = lengths.shape[1:]
    make = load(f"scipy.sparse:{form}_array")
    positions = (first, second) if form == "coo" else None
    if positions is not None:
        return make((data, positions), shape=shape)
    return make((data, first, second), shape=shape if form == "csr" else shape[::-1])


def whole(tree: Any) -> Any:
    """A tree with all parts of the traced sparse arrays in it, if there may be any."""
    module = imported("numbagraph.frontend.sparse_arrays")
    return tree if module is None else module.with_parts(tree)


class Parts:
    """A sparse array as a tree of all its parts, which is how a traced function returns one."""

    def __init__(self, form: str, parts: tuple[Any, ...]) -> None:
        self.form = form
        self.parts = parts


register_node(Parts, lambda parts: (parts.parts, parts.form, ("data", *NAMES[parts.form], "shape")), together)
