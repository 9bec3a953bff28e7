"""A sparse matrix in a graph: its elements, and their pattern, which is known when the graph is compiled, or an array
like others."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Variable
from pytensor.tensor.type import TensorType

from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.values import Extent, Value
from numbagraph.ops.sparse.formats import Form

COMPRESSED = ("csr", "csc")
"""Formats that have the elements of a row together, or those of a column."""

Along = tuple[Value, bool]
"""The position of each element along an axis, and whether its bounds must be checked."""


class KnownPattern(Struct, eq=False):
    """The positions of elements in a matrix that is constant."""

    matrix: Any
    """SciPy's matrix in one of its compressed formats, of which the elements are not read."""
    rows: Value
    """The row of each element, in the order in which they are stored, int32."""
    columns: Value

    @property
    def format(self) -> str:
        return self.matrix.format

    @property
    def shape(self) -> tuple[int, int]:
        return self.matrix.shape

    @property
    def T(self) -> KnownPattern:
        return KnownPattern(self.matrix.T, self.columns, self.rows)

    def along(self, axis: int) -> Along:
        return (self.rows, self.columns)[axis], False

    @property
    def places(self) -> tuple[list[Value], tuple[bool, bool]]:
        return [self.rows, self.columns], (False, False)


class GivenPattern(Struct, eq=False):
    """The positions of elements as arrays that are known when the graph runs, and are checked then."""

    form: Form

    @property
    def format(self) -> str:
        return self.form.name

    @property
    def shape(self) -> tuple[Extent, Extent]:
        return self.form.shape

    @property
    def T(self) -> GivenPattern:
        return GivenPattern(self.form.T)

    def along(self, axis: int) -> Along:
        return self.form.along(axis)

    @property
    def places(self) -> tuple[list[Value], tuple[bool, bool]]:
        return self.form.places


class SparseMatrix(Struct, eq=False):
    """The translation of a sparse variable."""

    pattern: KnownPattern | GivenPattern
    data: Value
    """The elements, in the order in which they are stored."""

    @property
    def shape(self) -> tuple[Extent, Extent]:
        return self.pattern.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def T(self) -> SparseMatrix:
        return SparseMatrix(self.pattern.T, self.data)

    def of(self, data: Value) -> SparseMatrix:
        """The matrix with other elements in the same pattern."""
        return replace(self, data=data)


def of_numbers(pattern: KnownPattern | GivenPattern, data: np.ndarray) -> Any:
    """SciPy's matrix of elements that are known, if the pattern is known."""
    if not isinstance(pattern, KnownPattern):
        return None
    matrix = pattern.matrix
    return type(matrix)((data, matrix.indices, matrix.indptr), shape=matrix.shape, copy=True)


def is_sparse(variable: Variable) -> bool:
    """Whether a variable of PyTensor is a sparse matrix. (Only an attribute of its type is read, to avoid an
    import.)"""
    return isinstance(variable.type, TensorType) and hasattr(variable.type, "format")


def coordinates(pattern: Any) -> tuple[np.ndarray, np.ndarray]:
    """The rows and columns of the elements of SciPy's compressed matrix.

    Raises
    ------
    ValueError
        If some of them lie outside the matrix.
    """
    pattern.check_format(full_check=True)
    along = np.repeat(np.arange(pattern.indptr.size - 1), np.diff(pattern.indptr))
    pair = along, pattern.indices
    row, column = pair if pattern.format == "csr" else pair[::-1]
    return row.astype(np.int32), column.astype(np.int32)
