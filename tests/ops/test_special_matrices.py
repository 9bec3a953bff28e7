"""Functions of matrices that are zero, singular, huge, subnormal or not finite, against NumPy's."""

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.ir.op import registry
from numbagraph.ir.types import FLOAT64
from numbagraph.testing import samples
from numbagraph.testing.matrices import check_special_matrices

NAMES = "cholesky condition_number det eigh eigvalsh inv matrix_diagonal matrix_norm matrix_power matrix_trace".split()
"""Not among them: `lstsq` (OpenBLAS does not return if there is an infinity), functions of `scipy.linalg` (which look
for infinities, and refuse empty batches), and what solves with subnormal pivots, where OpenBLAS gives infinities."""
LEFT_OUT = {"inv": ("subnormal", "a tiny element")}


@pytest.mark.parametrize("name", NAMES)
def test_special_matrices(name):
    call = next(iter(samples(registry[name], FLOAT64)))
    assert check_special_matrices(call, left_out=LEFT_OUT.get(name, ())) > 5


@pytest.mark.parametrize("length", [1, 2, 3, 6])
def test_subnormal_matrices_have_solutions(length):
    """Reciprocals of their pivots overflow. (OpenBLAS gives infinities.)"""
    matrix = np.random.default_rng(0).normal(size=(length, length)) + length * np.eye(length)
    x, scale = np.arange(1.0, length + 1), 2.0**-1030
    found = graph_jit(np.linalg.solve)(matrix * scale, (matrix * scale) @ x)
    np.testing.assert_allclose(found, x, rtol=1e-9)
    assert not np.isnan(graph_jit(np.linalg.det)(matrix * scale))
