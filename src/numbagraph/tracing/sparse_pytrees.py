"""Sparse arrays as pytrees. SciPy's flatten to their elements, the positions of these, and an array that has their
shape."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import numpy as np
import optree

from numbagraph.ir.op import imported, load
from numbagraph.runtime.arguments import NAMESPACE, register_node
from numbagraph.tracing.replacements import replacements

NAMES = {"coo": ("row", "col"), "csr": ("indices", "indptr"), "csc": ("indices", "indptr")}
"""The names of the positions of elements, by format."""

OF_VECTORS = {"coo vector": ("col",), "csr vector": NAMES["csr"]}
"""The names of the positions of elements of arrays of one dimension. These have the parts of an array of one row, but
for a COO array's rows."""


ALL_PARTS: dict[type, Callable[[Any], Any]] = {}
"""Functions that make a pytree of all parts of a traced sparse array, by its class; as pytrees they are their elements
alone."""


def known_to_trees() -> None:
    """Register the sparse arrays of SciPy and of JAX as pytrees, if these libraries have been imported."""
    module = imported("scipy.sparse")
    if module is not None and hasattr(module, "coo_array"):
        register(module)
    module = imported("jax.experimental.sparse")
    if module is not None and hasattr(module, "BCSR"):
        replacements.for_role("sparse arrays of JAX as pytrees")(module)


@functools.cache
def register(scipy_sparse: ModuleType) -> None:
    for form in NAMES:
        register_node(getattr(scipy_sparse, f"{form}_array"), apart, together)


def apart(array: Any) -> tuple[Any, ...]:
    parts, form = parts_of(array), form_of(array)
    return parts, form, entries_of(form)


def form_of(array: Any) -> str:
    """The format, and whether there is one dimension."""
    return array.format if array.ndim == 2 else f"{array.format} vector"


def entries_of(form: str) -> tuple[str, ...]:
    return ("data", *{**NAMES, **OF_VECTORS}[form], "shape")


def parts_of(array: Any) -> list[np.ndarray]:
    """Elements and positions of a sparse array: the column of each and the beginnings of rows (or, if it is compressed
    by columns, the reverse), or the row and the column of each. The last part is an array without elements, of which
    the last two lengths are those of the array: its rows and columns, or in the order of the compression."""
    if array.ndim > 2:
        raise TypeError(f"a {array.format}_array of {array.ndim} dimensions is not supported: pass one of 2")
    shape = array.shape if array.ndim == 2 else (1, *array.shape)
    if array.format == "coo":
        return [array.data, *array.coords, np.empty((0, *shape), bool)]
    major, minor = shape if array.format == "csr" else shape[::-1]
    data, indices = array.data, array.indices
    count = int(array.indptr[-1])
    if 0 <= count < len(data):  # SciPy leaves room behind the elements
        data, indices = data[:count], indices[:count]
    return [data, indices, array.indptr, np.empty((0, major, minor), bool)]


def together(form: str, parts: Iterable[Any]) -> Any:
    """The sparse array that has such parts; its traced counterpart where they are traced."""
    parts = tuple(parts)
    if not all(isinstance(each, np.ndarray) for each in parts):
        return replacements.for_role("sparse array of parts")(form, parts)
    name, _, is_vector = form.partition(" ")
    data, *positions, lengths = parts
    make = load(f"scipy.sparse:{name}_array")
    shape = lengths.shape[2:] if is_vector else lengths.shape[1:]
    if name == "coo":
        return make((data, tuple(positions)), shape=shape)
    return make((data, *positions), shape=shape if name == "csr" else shape[::-1])


def whole(tree: Any) -> Any:
    """A tree with all parts of the traced sparse arrays in it, if there may be any."""
    if not ALL_PARTS:
        return tree

    def is_sparse(leaf: Any) -> bool:
        return type(leaf) in ALL_PARTS

    return optree.tree_map(
        lambda leaf: ALL_PARTS[type(leaf)](leaf) if is_sparse(leaf) else leaf,
        tree,
        is_leaf=is_sparse,
        namespace=NAMESPACE,
    )


class Parts:
    """A sparse array as a tree of all its parts, which is how a traced function returns one."""

    def __init__(self, form: str, parts: tuple[Any, ...]) -> None:
        self.form = form
        self.parts = parts


register_node(Parts, lambda parts: (parts.parts, parts.form, entries_of(parts.form)), together)
