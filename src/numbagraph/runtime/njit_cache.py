"""The files that code of ``njit(cache=True)`` callers follows from, with which it is kept on disk.

Numba compares the file of the caller alone. What is kept with the caller's code, among the constants of its
environment, is read before the code is: where a file has changed it raises OSError, for which Numba compiles anew.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable
from typing import Any

from numbagraph.ir.graph import Graph
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Node

Stamp = tuple[int, int] | None
"""When a file was written, and its size; None for what is no file."""


class Files(Struct):
    """Files, as they were when code was compiled."""

    stamps: tuple[tuple[str, Stamp], ...]

    def __reduce__(self) -> tuple[Any, ...]:
        return unchanged, (self.stamps,)


def files_of(function: Any, graphs: Iterable[Graph]) -> Files:
    """The files of a function, and of the functions that it has called while it was traced to the graphs."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    found = {} if code is None else {code.co_filename: None}
    for graph in graphs:
        for node in graph.values:
            if isinstance(node, Node) and node.source is not None:
                found[node.source.file] = None
                found.update((each.co_filename, None) for each, _ in node.source.frames)
    return Files(tuple((each, stamp_of(each)) for each in found))


def stamp_of(file: str) -> Stamp:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def unchanged(stamps: tuple[tuple[str, Stamp], ...]) -> Files:
    """Return the files that kept code follows from, if none has changed.

    Raises
    ------
    OSError
        If one has: to Numba, the code is then not there.
    """
    for file, stamp in stamps:
        if stamp_of(file) != stamp:
            raise OSError(f"{file} has changed since code was compiled that follows from it")
    return Files(stamps)
