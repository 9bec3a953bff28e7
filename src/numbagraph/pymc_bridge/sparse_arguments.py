"""Sparse matrices at the border of native code: their parts are arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Variable
from pytensor.tensor.type import TensorType

from numbagraph.ir.op import load
from numbagraph.ir.values import Value
from numbagraph.ops.sparse.formats import Form
from numbagraph.pymc_bridge.array_function import ArrayFunction, TypeRefused
from numbagraph.pymc_bridge.importer import Importer, checked_input
from numbagraph.pymc_bridge.translations.sparse_matrix import COMPRESSED, GivenPattern, SparseMatrix, is_sparse
from numbagraph.tracing.sparse_pytrees import parts_of

PARTS = 4
"""The number of arrays that a matrix is: its elements, their indices, the beginnings of rows, and its lengths."""
INDEX = np.dtype(np.int32)


def can_be_parts(variable: Variable) -> bool:
    """Whether a variable is a sparse matrix of a format that native code knows."""
    return is_sparse(variable) and variable.type.format in COMPRESSED  # type: ignore[attr-defined]


def matrix_input(variable: Any) -> SparseMatrix:
    """The inputs that stand for a sparse matrix. Its lengths are required to be those that PyTensor knows."""
    name, shape = variable.name or "a sparse matrix", variable.type.shape
    along = shape if variable.type.format == "csr" else shape[::-1]
    types = [
        ("data", variable.type.dtype, (None,)),
        ("indices", "int32", (None,)),
        ("indptr", "int32", (None,)),
        ("shape", "bool", (None, *along)),
    ]
    data, *pattern = (checked_input(TensorType(dtype, known)(f"{name}.{each}")) for each, dtype, known in types)
    return SparseMatrix(GivenPattern(Form(variable.type.format, *pattern)), data)


def parts_in_graph(importer: Importer, matrix: SparseMatrix) -> list[Value]:
    """The values in a graph that make up a sparse matrix."""
    form_of = load("numbagraph.pymc_bridge.translations.sparse:form_of")
    form = form_of(importer, matrix)
    return [matrix.data, form.first, form.second, form.lengths]


def arrays_of(variable: Any, matrix: Any) -> list[np.ndarray]:
    """The arrays of a matrix of SciPy."""
    if getattr(matrix, "format", None) != variable.type.format:
        raise TypeRefused(f"{variable.name or 'a result'} must be a {variable.type.format} matrix, not {matrix!r}")
    data, indices, starts, lengths = parts_of(matrix)
    if indices.dtype != INDEX or starts.dtype != INDEX:
        if max(len(data), *matrix.shape) > np.iinfo(INDEX).max:
            raise TypeRefused(f"{variable.name or 'a result'} has more elements, rows or columns than int32 counts")
        indices, starts = indices.astype(INDEX), starts.astype(INDEX)
    return [data, indices, starts, lengths]


def matrix_of(variable: Any, arrays: Sequence[np.ndarray]) -> Any:
    """SciPy's matrix of its arrays."""
    data, indices, starts, lengths = arrays
    name, shape = variable.type.format, lengths.shape[1:]
    made = load(f"scipy.sparse:{name}_matrix")
    return made((data, indices, starts), shape=shape if name == "csr" else shape[::-1])


class MatrixFunction:
    """A native function, some of whose arguments or results are sparse matrices of SciPy."""

    def __init__(self, inputs: Sequence[Variable], outputs: Sequence[Variable], function: ArrayFunction) -> None:
        self.inputs, self.outputs = inputs, outputs
        self.function = function
        self.graph = function.graph

    def __call__(self, *values: Any) -> list[Any]:
        arrays: list[Any] = []
        for variable, value in zip(self.inputs, values, strict=True):
            arrays += arrays_of(variable, value) if is_sparse(variable) else [value]
        found = iter(self.function(*arrays))
        return [
            matrix_of(each, [next(found) for _ in range(PARTS)]) if is_sparse(each) else next(found)
            for each in self.outputs
        ]
