"""Sparse matrices as arguments and results of the mode: each op against PyTensor's own, natively."""

import numpy as np
import pytest

pytest.importorskip("pymc")
pytestmark = [
    pytest.mark.filterwarnings("error::numbagraph.pymc_bridge.FallbackWarning"),
    pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

import pytensor  # noqa: E402
import pytensor.sparse as ps  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from pytensor.sparse import basic, math  # noqa: E402

from numbagraph.pymc_bridge import FallbackWarning  # noqa: E402
from numbagraph.pymc_bridge.compatibility import conditional  # noqa: E402
from numbagraph.pymc_bridge.compatibility import sparse as ops  # noqa: E402
from tests.support.modes import NAME, PLAIN  # noqa: E402

A = np.array([[0.5, 0.0, 0.0, -1.5], [0.0, 0.0, 0.0, 0.0], [2.0, 0.0, 3.0, 0.25]])
B = np.array([[0.0, 1.0, 0.0, 2.5], [1.0, 0.0, 0.0, -4.0], [0.0, 0.0, -3.0, 0.75]])
S = np.array([[1.0, 0.0, -2.0], [0.0, 4.0, 0.0], [0.5, 0.0, 0.0]])
u, v, w = pt.dvector("u"), pt.dvector("v"), pt.dvector("w")
wide, tall = pt.dmatrix("wide"), pt.dmatrix("tall")
i, j, k = pt.ivector("i"), pt.ivector("j"), pt.lscalar("k")
DENSE = {
    u: np.array([0.1, -0.3, 0.7, 0.2, -1.0]),
    v: np.array([0.3, -1.2, 2.5, 0.75]),
    w: np.array([1.5, 0.2, -0.4]),
    wide: np.arange(8.0).reshape(4, 2) - 2.5,
    tall: np.arange(6.0).reshape(3, 2) - 2.5,
    i: np.array([2, 0, -1, 0], np.int32),
    j: np.array([1, 3, 0, -4], np.int32),
    k: np.array(2),
}


def given(kind):
    x, y, square = (ps.matrix(kind, name=each) for each in ("x", "y", "square"))
    make = {"csr": sp.csr_matrix, "csc": sp.csc_matrix}[kind]
    return (x, y, square), {**DENSE, x: make(A), y: make(B), square: make(S)}


def elements(x, data):
    """A matrix whose elements are computed."""
    return basic.CSM(x.format)(data, *basic.csm_properties(x)[1:])


OTHER = {"csr": "csc", "csc": "csr"}

RESULTS = {
    "itself": lambda x, y, s: x,
    "transpose": lambda x, y, s: x.T,
    "dense": lambda x, y, s: basic.dense_from_sparse(x) * 2,
    "from dense": lambda x, y, s: basic.SparseFromDense(x.format)(pt.tanh(tall) * (tall > 0)),
    "cast": lambda x, y, s: ps.cast(x, "float32"),
    "negative": lambda x, y, s: -x * 2.0,
    "sine": lambda x, y, s: math.sin(x * y),
    "sum": lambda x, y, s: math.sp_sum(x),
    "sum of columns": lambda x, y, s: math.sp_sum(x, axis=0) + v,
    "sum of rows": lambda x, y, s: math.sp_sum(x, axis=1) + w,
    "shape": lambda x, y, s: x.shape[0] + 3 * x.shape[1],
    "parts": lambda x, y, s: basic.csm_properties(x),
    "of parts": lambda x, y, s: elements(x, basic.csm_properties(x)[0] * v[0]),
    "of given parts": lambda x, y, s: basic.CSM(x.format)(pt.abs(w[:2]), i[:2] * 0 + 1, i[1:4] * 0 + [0, 1, 2], [2, 2]),
    "sum of two": lambda x, y, s: ps.add(x, y),
    "nothing left": lambda x, y, s: ps.subtract(x, x),
    "sum with dense": lambda x, y, s: ps.add(x, basic.dense_from_sparse(y)),
    "sum with each column": lambda x, y, s: math.structured_add_s_v(x, v),
    "product of each element": lambda x, y, s: ps.multiply(x, y),
    "product with dense": lambda x, y, s: ps.multiply(x, basic.dense_from_sparse(y) + 1),
    "product with each column": lambda x, y, s: ps.multiply(x, v),
    "product with a number": lambda x, y, s: ps.multiply(x, v[1]),
    "columns": lambda x, y, s: basic.col_scale(x, v),
    "rows": lambda x, y, s: basic.row_scale(x, w),
    "product with a matrix": lambda x, y, s: ps.dot(x, wide),
    "product with a vector": lambda x, y, s: math._dot(x, v),
    "product from the left": lambda x, y, s: ps.dot(tall.T, x),
    "vector from the left": lambda x, y, s: math._dot(w, x),
    "product of two": lambda x, y, s: ps.dot(x, y.T),
    "structured product": lambda x, y, s: math.structured_dot(x, wide),
    "sparse product": lambda x, y, s: math.structured_dot(x, y.T),
    "sparse product with constants": lambda x, y, s: math.structured_dot(ps.as_sparse(sp.csr_matrix(S)), x),
    "true product": lambda x, y, s: math.true_dot(x, y.T),
    "true product with dense": lambda x, y, s: math.true_dot(x, wide),
    "sampled product": lambda x, y, s: math.sampling_dot(tall, wide, x),
    "product and sum": lambda x, y, s: math.usmm(v[0].dimshuffle("x", "x"), x, wide, tall),
    "derivative by elements": lambda x, y, s: math.structured_dot_grad(x, wide, tall),
    "sparse derivative by elements": lambda x, y, s: math.structured_dot_grad(x, y.T, s),
    "derivative of parts": lambda x, y, s: basic.CSMGrad()(*basic.csm_properties(x), *basic.csm_properties(y)),
    "chosen rows": lambda x, y, s: basic.get_item_list(x, i),
    "rows put": lambda x, y, s: basic.get_item_list_grad(x, i[:3], y),
    "chosen elements": lambda x, y, s: basic.get_item_2lists(x, i, j),
    "elements put": lambda x, y, s: basic.get_item_2lists_grad(x, i, j, v),
    "element": lambda x, y, s: basic.get_item_scalar(x, (k, k - 3)) + x[2, 2],
    "slices": lambda x, y, s: x[1:3, :3],
    "slices backwards": lambda x, y, s: x[::-1, 3:0:-2],
    "slices by steps": lambda x, y, s: x[:: k - 1, :: 1 - k],
    "slices beyond the ends": lambda x, y, s: x[-9 : k + 9 : k, k + 9 : -9 : -k],
    "slices of nothing": lambda x, y, s: x[k:1:k],
    "diagonal": lambda x, y, s: basic.diag(s),
    "square of a diagonal": lambda x, y, s: basic.square_diagonal(w),
    "sorted": lambda x, y, s: basic.ensure_sorted_indices(x),
    "without zeros": lambda x, y, s: basic.clean(x),
    "side by side": lambda x, y, s: basic.hstack([x, s, y], format=x.format),
    "one above the other": lambda x, y, s: basic.vstack([x, y, x.T.T], format=OTHER[x.format]),
    "gradient of elements": lambda x, y, s: pytensor.grad(math.structured_dot(x, wide).sum() * v[0], [x, wide]),
    "gradient of a sum": lambda x, y, s: pytensor.grad(math.sp_sum(ps.multiply(x, v) * y), [v]),
    "gradient of a product": lambda x, y, s: pytensor.grad((ps.dot(x, wide) ** 3).sum(), wide),
    "gradient of two": lambda x, y, s: pytensor.grad(
        math.sp_sum(math.structured_dot(x, y.T), sparse_grad=True), [x, y]
    ),
    "gradient of elements of parts": lambda x, y, s: pytensor.grad(
        pt.sum(math.structured_dot(elements(x, pt.exp(u)), wide) ** 2), u
    ),
    "gradient of columns": lambda x, y, s: pytensor.grad(math.sp_sum(basic.col_scale(x, v**2), sparse_grad=True), v),
    "branch": lambda x, y, s: conditional.ifelse(pt.gt(k, 1), math._dot(x, v), w),
}


def as_arrays(found):
    """Results as dense arrays, with what SciPy tells of them."""
    for each in found if isinstance(found, list) else [found]:
        if sp.issparse(each):
            each.check_format(full_check=True)
            yield each.toarray(), (each.dtype, each.shape, each.format)
        else:
            yield each, (each.dtype, each.shape)


def compared(outputs, data):
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else outputs
    options = {"on_unused_input": "ignore"}
    ours, plain = (pytensor.function(list(data), outputs, mode=mode, **options) for mode in (NAME, PLAIN))
    with pytensor.config.change_flags(cxx=""):
        expected = plain(*(each.copy() for each in data.values()))
    found = ours(*data.values())
    for (one, told), (other, expected_of_it) in zip(as_arrays(found), as_arrays(expected), strict=True):
        assert told == expected_of_it
        np.testing.assert_allclose(one, other, rtol=1e-13 if one.dtype == "float64" else 1e-6, atol=1e-14)
    return found, expected


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("name", RESULTS)
def test_result(name, kind):
    variables, data = given(kind)
    compared(RESULTS[name](*variables), data)


ODD = ("dense", "sum of columns", "sum of two", "product of each element", "product with a matrix", "sparse product")
ODD = (*ODD, "chosen rows", "chosen elements", "slices", "side by side", "without zeros", "sorted")


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("name", ODD)
def test_matrices_that_are_not_in_their_usual_form(name, kind):
    """Unsorted indices, zeros that are stored, two elements at one place, room behind the elements, wide indices."""
    variables, data = given(kind)
    x, y, _ = variables
    make = type(data[x])
    indices, starts = {"csr": ([3, 0, 0, 2, 1], [0, 3, 3, 5]), "csc": ([2, 0, 0, 1, 2], [0, 2, 2, 3, 5])}[kind]
    odd = make((np.array([1.0, 2.0, -0.5, 0.0, 3.0, 99.0]), [*indices, 0], starts), shape=A.shape)
    odd.indices, odd.indptr = odd.indices.astype(np.int64), odd.indptr.astype(np.int64)
    compared(RESULTS[name](*variables), {**data, x: odd})
    nothing = make(A.shape)
    compared(RESULTS[name](*variables), {**data, x: nothing, y: nothing})


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda x, y, s: math._dot(x, w), ValueError, "lengths in a product|shape|dimension"),
        (lambda x, y, s: ps.add(x, s), (ValueError, AssertionError), None),
        (lambda x, y, s: basic.get_item_list(x, j), IndexError, "index"),
        (lambda x, y, s: basic.get_item_2lists(x, j, i), IndexError, "index"),
        (lambda x, y, s: basic.get_item_scalar(x, (k + 1, k)), IndexError, "row index"),
        (lambda x, y, s: basic.diag(x), ValueError, "Diag only apply on square matrix"),
        (lambda x, y, s: x[:: k - 2], ValueError, "slice step cannot be zero"),
        (lambda x, y, s: basic.hstack([x, s.T, x.T], format="csr"), ValueError, "imension"),
    ],
)
@pytest.mark.filterwarnings("default::numbagraph.pymc_bridge.FallbackWarning")
def test_operands_that_do_not_fit_are_errors(build, error, message):
    variables, data = given("csr")
    compiled = pytensor.function(list(data), build(*variables), mode=NAME, on_unused_input="ignore")
    with pytest.raises(error, match=message):
        compiled(*data.values())


@pytest.mark.parametrize("name", ["dense", "sum of columns", "product with a matrix", "product with each column"])
@pytest.mark.parametrize("index", [4, -1, 2**30])
@pytest.mark.filterwarnings("default::numbagraph.pymc_bridge.FallbackWarning")
def test_places_outside_a_matrix_are_errors(name, index):
    variables, data = given("csr")
    broken = data[variables[0]].copy()
    broken.indices[1] = index
    compiled = pytensor.function(list(data), RESULTS[name](*variables), mode=NAME, on_unused_input="ignore")
    with pytest.raises((ValueError, IndexError)):
        compiled(*{**data, variables[0]: broken}.values())


def test_an_argument_is_not_changed_and_shares_no_memory_with_the_result():
    (x, *_), data = given("csr")
    matrix = data[x]
    for output in (x, x.T, ps.cast(x, "float64") * 1.0):
        found = pytensor.function([x], output, mode=NAME)(matrix)
        found.data[:] = 7.0
        found.indices[:] = 0
    assert np.array_equal(matrix.toarray(), A)


def test_a_shared_matrix_that_changes_its_pattern():
    shared = pytensor.shared(sp.csr_matrix(A))
    compiled = pytensor.function([v], math._dot(shared, v), mode=NAME)
    for each in (A, B, A * 0):
        shared.set_value(sp.csr_matrix(each))
        np.testing.assert_allclose(compiled(DENSE[v]), each @ DENSE[v], rtol=1e-13)


def test_a_matrix_from_an_op_of_pytensor():
    rows = pt.dmatrix("rows")
    made = ops.ConstructSparseFromList()(wide, rows, i[:2])
    with pytest.warns(FallbackWarning, match="ConstructSparseFromList"):
        compared(ps.dot(made.T, wide) * 2, {wide: DENSE[wide], rows: DENSE[tall][:2], i: np.array([2, 0], np.int32)})
