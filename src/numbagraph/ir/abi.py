"""The binary interface between a compiled program and its callers.

A compiled graph is three C functions in one LLVM module:

``i32 shapes(i8** data, i64* meta, i64* extents)``
    Evaluates the shape graph and the guards. Returns 0, or 1 + the index of the first guard that fails.
    Writes the extents of all results, flattened in order, then one last entry: an estimate of the work
    (loop iterations of the whole program), by which a caller decides whether to release the GIL.
``i32 program(i8** data, i64* meta, i8** results)``
    Runs. Returns 0, or a non-zero code when a check inside a loop failed (an index out of bounds), memory ran out
    (``OUT_OF_MEMORY``), a system has no solution (``NO_SOLUTION``), or a signal handler, for which long loops ask, or a
    function that was called back has raised an exception (``INTERRUPTED``). These take the GIL; nothing else in it
    touches Python, so it may run without it.
``PyObject* entry(PyObject* bound, PyObject** args, Py_ssize_t nargs)``
    The native Python entry (``METH_FASTCALL``), which knows nothing of the graph but its `NativeSignature`.

``data[k]`` points to the first element of leaf ``k`` (arguments first, then captured arrays); the value of a
Python scalar or rank-0 leaf is stored where the pointer leads, in the memory format of its dtype (a bool is one byte).
``meta`` holds, for each leaf in order, its extents and then, unless it is contiguous, its strides in bytes.
``results[k]`` points to the C-contiguous memory of result ``k``.
"""

from __future__ import annotations

import numpy as np

from numbagraph.ir.structs import Struct, cached_property

OUT_OF_MEMORY = -1
INTERRUPTED = -2
"""A signal handler of Python's, or a function that was called back, has raised an exception, which is set."""
NO_SOLUTION = 2
"""A matrix is singular, or not positive definite."""

FAILURES = "numbagraph.failures."
"""The prefix of external symbols that are functions of `numbagraph.runtime.failures`."""

PYTHON_SCALARS: dict[type, np.dtype] = {
    bool: np.dtype(np.bool_),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}


class ArrayLeaf(Struct):
    """An array argument as the dispatch key sees it."""

    dtype: np.dtype
    ones: tuple[bool | None, ...]
    """For each length, whether it is 1; None where it is not known, because the caller is native code."""
    contiguous: bool = True
    """Whether its elements follow each other in C order."""
    fortran: bool = False
    """Whether they do in Fortran's order, and not in C's."""
    rows: bool = False
    """Whether only those of each row do, along the last dimension: some columns of an array in C order."""

    @property
    def ndim(self) -> int:
        return len(self.ones)

    @property
    def strided(self) -> bool:
        """Whether strides are passed, because they do not follow from the lengths."""
        return not (self.contiguous or self.fortran)

    @property
    def meta_size(self) -> int:
        return 2 * self.ndim if self.strided else self.ndim


def leaf_of(array: np.ndarray) -> ArrayLeaf:
    """The layout of an array that is there."""
    c_order, fortran = array.flags.c_contiguous, array.flags.fnc
    rows = not (c_order or fortran) and array.strides[-1] == array.itemsize
    return ArrayLeaf(array.dtype, tuple(length == 1 for length in array.shape), c_order, fortran, rows)


class ScalarLeaf(Struct):
    """A Python ``bool``, ``int``, ``float`` or ``complex``: a run-time value with a weak type."""

    kind: type

    @property
    def dtype(self) -> np.dtype:
        return PYTHON_SCALARS[self.kind]

    @property
    def meta_size(self) -> int:
        return 0


Leaf = ArrayLeaf | ScalarLeaf


class Result(Struct):
    """One result. ``boxed`` says what a rank-0 result becomes: "array", "scalar" (NumPy) or "python"."""

    dtype: np.dtype
    ndim: int
    boxed: str = "array"
    donated: int | None = None
    """The argument whose memory this result takes over (same dtype and extents, C-contiguous)."""
    written: int | None = None
    """The argument that is to hold this result after the call (same dtype and extents)."""


class NativeSignature(Struct):
    arguments: tuple[Leaf, ...]
    captured: tuple[ArrayLeaf, ...]
    results: tuple[Result, ...]
    single: bool
    """Return the only result itself rather than a tuple of one."""

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        return self.arguments + self.captured

    @cached_property
    def meta_offsets(self) -> tuple[int, ...]:
        """The position in ``meta`` at which each leaf's extents begin; the last entry is the total size."""
        offsets = [0]
        for leaf in self.leaves:
            offsets.append(offsets[-1] + leaf.meta_size)
        return tuple(offsets)
