"""A sparse matrix in a graph: the positions of its elements are known when it is compiled, their values need not be."""

from __future__ import annotations

from typing import Any

import numpy as np
from pytensor.graph.basic import Variable
from pytensor.tensor.type import TensorType

from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.values import Value

COMPRESSED = ("csr", "csc")
"""Formats that have the elements of a row together, or those of a column."""


class SparseMatrix(Struct, eq=False):
    """The translation of a sparse variable."""

    pattern: Any
    """SciPy's matrix in one of its compressed formats, of which the elements are not read."""
    rows: Value
    """The row of each element, in the order in which they are stored, int32."""
    columns: Value
    data: Value
    """The elements themselves."""

    @property
    def shape(self) -> tuple[int, int]:
        return self.pattern.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def T(self) -> SparseMatrix:
        return SparseMatrix(self.pattern.T, self.columns, self.rows, self.data)

    def of(self, data: Value) -> SparseMatrix:
        """The matrix with other elements in the same pattern."""
        return replace(self, data=data)

    def of_numbers(self, data: np.ndarray) -> Any:
        """SciPy's matrix of elements that are known."""
        parts = (data, self.pattern.indices, self.pattern.indptr)
        return type(self.pattern)(parts, shape=self.shape, copy=True)


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
