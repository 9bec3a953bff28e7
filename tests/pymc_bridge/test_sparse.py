"""Sparse matrices in PyTensor's graphs: each op against PyTensor's own, and against the same on all elements."""

import numpy as np
import pytest

pm = pytest.importorskip("pymc")

import pytensor  # noqa: E402
import pytensor.sparse as ps  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from pytensor.compile.mode import Mode  # noqa: E402
from pytensor.sparse.basic import CSM, col_scale, csm_properties, csr_from_dense, dense_from_sparse, row_scale  # noqa: E402
from pytensor.sparse.math import _dot, sp_sum, structured_dot, structured_exp, usmm  # noqa: E402

from numbagraph.ir.shapes import ShapeError  # noqa: E402
from numbagraph.pymc_bridge import UnsupportedOp, compile_logp, from_pytensor  # noqa: E402
from numbagraph.pymc_bridge.graph_partition import Partition, divide  # noqa: E402
from tests.support.imported import check, imported_value  # noqa: E402

REWRITTEN = Mode(linker="py", optimizer="fast_run")
A = np.array([[0.5, 0.0, 0.0, -1.5], [0.0, 0.0, 0.0, 0.0], [2.0, 0.0, 3.0, 0.25]])
v, w, s = pt.dvector("v"), pt.dvector("w"), pt.dscalar("s")
m, n, wide = pt.dmatrix("m"), pt.dmatrix("n"), pt.dmatrix("wide")
DATA = {
    v: np.array([0.3, -1.2, 2.5, 0.0]),
    w: np.array([1.5, 0.2, -0.4]),
    s: np.array(0.7),
    m: np.arange(12.0).reshape(3, 4) / 7 - 0.6,
    n: np.arange(6.0).reshape(3, 2) - 2.5,
    wide: np.arange(8.0).reshape(4, 2) - 2.5,
}


def all_of(x):
    return dense_from_sparse(x)


def elements(x, data):
    """A sparse matrix whose elements are computed."""
    return CSM(x.format)(data, *csm_properties(x)[1:])


EXPRESSIONS = {
    "all elements": lambda x: all_of(x) * s,
    "product with a matrix": lambda x: ps.dot(x, wide),
    "product with a vector": lambda x: _dot(x, v),
    "product from the left": lambda x: ps.dot(m.T, x),
    "vector from the left": lambda x: _dot(w, x),
    "structured product": lambda x: structured_dot(x, wide),
    "transposed product": lambda x: structured_dot(x.T, n),
    "product of two": lambda x: ps.dot(x, x.T) * s,
    "product of two, sparse": lambda x: structured_dot(structured_dot(x, x.T), n),
    "product and sum": lambda x: n - s * ps.dot(x, wide),
    "product and sum as one op": lambda x: usmm(s, x, wide, n),
    "sums": lambda x: sp_sum(x, axis=0) * v + sp_sum(x),
    "sums of rows": lambda x: sp_sum(x, axis=1) * w,
    "sum of integers": lambda x: sp_sum(ps.cast(x, "int8"), axis=0) + s,
    "sum with a dense matrix": lambda x: ps.add(x, m),
    "sum of two": lambda x: ps.dot(ps.add(x, x), wide),
    "product with each element": lambda x: all_of(ps.multiply(x, m)),
    "product with a number": lambda x: all_of(ps.multiply(x, s)),
    "product with each column": lambda x: all_of(ps.multiply(x, v)),
    "columns": lambda x: all_of(col_scale(ps.as_sparse(sp.csc_matrix(A)), v)) + s,
    "rows": lambda x: all_of(row_scale(ps.as_sparse(sp.csc_matrix(A)), w)) + s,
    "functions of elements": lambda x: all_of(structured_exp(x)) + sp_sum(-x * 2.0) * s,
    "elements of its own": lambda x: ps.dot(elements(x, csm_properties(x)[0] * s), wide),
    "shape": lambda x: x.shape[1] * s + x.shape[0],
    "dtype": lambda x: ps.dot(ps.cast(x, "float32"), pt.cast(wide, "float32")),
}


def matrix(kind):
    if kind == "nothing":
        return sp.csr_matrix(A.shape)
    found = sp.csr_matrix(A).asformat("csc" if kind == "columns" else "csr")
    if kind == "zeros":
        found.data[1] = 0.0
    if kind == "unsorted":
        found = sp.csr_matrix((found.data[::-1], ([2, 2, 2, 0, 0], [3, 2, 0, 3, 0])), shape=A.shape)
        found.indices[2:], found.data[2:] = found.indices[2:][::-1].copy(), found.data[2:][::-1].copy()
        found.has_sorted_indices = False
    return found


@pytest.mark.parametrize("kind", ["rows", "columns", "zeros", "unsorted", "nothing"])
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expression(name, kind):
    check(EXPRESSIONS[name](ps.as_sparse(matrix(kind))), DATA)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda x: _dot(x, w), "lengths in a product must be the same"),
        (lambda x: _dot(v, x), "lengths in a product must be the same"),
        (lambda x: all_of(ps.multiply(x, wide)), "differ along axis 0"),
        (lambda x: all_of(ps.multiply(x, w)), "one factor a column"),
    ],
)
def test_lengths_that_do_not_fit_are_errors(build, message):
    variable = build(ps.as_sparse(matrix("rows")))
    with pytest.raises(ShapeError, match=message):
        imported_value(variable, DATA)


def test_places_outside_a_matrix_are_an_error():
    broken = matrix("rows")
    broken.indices[0] = 99
    with pytest.raises(ValueError, match="indices"):
        from_pytensor([v], [_dot(ps.as_sparse(broken), v)])


def test_places_that_are_computed():
    check(_dot(csr_from_dense(m), v), DATA)


def test_a_product_reads_what_is_not_zero_alone():
    x = sp.random(300, 40, 0.05, random_state=2, format="csr")
    graph = from_pytensor([v], [_dot(structured_exp(ps.as_sparse(x)), v)])
    assert [each.size for each in graph.captured] == [x.nnz] * 3


def test_sparse_data_that_may_change_are_refused():
    with pm.Model() as model:
        data = pm.Data("design", sp.csr_matrix(A))
        pm.Normal("y", ps.dot(data, pm.Normal("beta", shape=(4, 1)))[:, 0], observed=[1.0, 2.0, 3.0])
    assert np.isfinite(compile_logp(model)(np.ones(4))[0])
    with pytest.raises(UnsupportedOp, match=r"'design'(.|\n)*freeze=True"):
        compile_logp(model, freeze=False)


def test_constant_sparse_matrices_become_native_in_the_mode():
    loss = pt.sum(ps.dot(ps.as_sparse(matrix("rows")), wide) ** 2)
    fgraph = pytensor.graph.FunctionGraph([wide], [loss, pytensor.grad(loss, wide)], clone=True)
    division = divide(fgraph, fgraph.toposort(), "test")
    assert [type(each) for each in division.steps] == [Partition]
    assert not division.reasons
