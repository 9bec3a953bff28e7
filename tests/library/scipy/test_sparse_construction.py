"""`scipy.sparse.vstack`, `hstack` and `kron` of traced arrays, against SciPy's."""

import numpy as np
import pytest
import scipy.sparse as sp

from numbagraph import TraceError, grad, graph_jit

RNG = np.random.default_rng(5)
A = sp.random_array((4, 3), density=0.5, rng=RNG, format="csr")
B = sp.random_array((4, 3), density=0.4, rng=RNG, format="csr", dtype=np.float32)
FORMATS = ("csr", "csc", "coo")

EXPRESSIONS = {
    "vstack": lambda a, b: sp.vstack([a, b, 2 * a]),
    "hstack": lambda a, b: sp.hstack((a, b)),
    "one": lambda a, b: sp.hstack([a]),
    "of other lengths": lambda a, b: sp.hstack([a.T, (b.T @ a)], format="csr"),
    "with a format and a dtype": lambda a, b: sp.vstack([a, b], format="csc", dtype=np.float32),
    "with one from outside": lambda a, b: sp.vstack([a, A]),
    "kron": lambda a, b: sp.kron(a, b, format="csr"),
    "kron of others": lambda a, b: sp.kron(a, b.T, format="coo"),
    "blocks": lambda a, b: sp.vstack([sp.hstack([a, sp.coo_array((4, 3))]), sp.hstack([sp.coo_array((4, 3)), b])]),
}


def require_same(found, expected):
    assert found.format == expected.format
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-6, strict=True)


@pytest.mark.repeats
@pytest.mark.parametrize("own", FORMATS)
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_arrays_of_several(name, own):
    function = EXPRESSIONS[name]
    compiled = graph_jit(function)
    for other in FORMATS:
        pairs = [(A.asformat(own), B.asformat(other)), (A[:, :0].asformat(own), B[:, :0].asformat(other))]
        for a, b in pairs[: 1 if "blocks" in name or "outside" in name or "lengths" in name else 2]:
            require_same(compiled(a, b), function(a, b))


def test_elements_at_one_place_stay_apart_and_count_together():
    doubled = sp.coo_array((np.array([1.0, 2.0, 4.0]), (np.array([0, 0, 1]), np.array([1, 1, 0]))), shape=(2, 2))
    for function in (lambda a: sp.vstack([a, a]), lambda a: sp.kron(a, a, format="coo")):
        np.testing.assert_array_equal(graph_jit(function)(doubled).toarray(), function(doubled).toarray())


def test_gradients():
    def total(data, a, b):
        own = sp.csr_array((data, a.indices, a.indptr), shape=a.shape)
        return np.sum((sp.vstack([own, b]) @ np.arange(1.0, 4.0)) ** 2) + sp.kron(own, own, format="coo").sum()

    found = graph_jit(grad(total), backend="numpy")(A.data, A, B)
    step = 1e-6
    for k in range(A.nnz):
        moved = np.eye(A.nnz)[k] * step
        expected = (total(A.data + moved, A, B) - total(A.data - moved, A, B)) / (2 * step)
        np.testing.assert_allclose(found[k], expected, rtol=1e-6, atol=1e-7)


def test_lengths_that_do_not_fit():
    for function in (lambda a, b: sp.vstack([a, b]), lambda a, b: sp.hstack([a.T, b.T])):
        with pytest.raises(ValueError, match="incompatible dimensions"):
            graph_jit(function)(A, B[:, :2])


V = np.arange(1.0, 5.0)
DIAGONALS = {
    "main": lambda v: sp.diags_array(v),
    "below": lambda v: sp.diags_array(v, offsets=-2),
    "three": lambda v: sp.diags_array([v[1:], v * 2, v[:-1]], offsets=[-1, 0, 1], format="csr"),
    "numbers": lambda v: sp.diags_array([1.0, v[0], 1.0], offsets=[-1, 0, 1], shape=(4, 4), format="csc"),
    "of more columns": lambda v: sp.diags_array([v[:3], v], offsets=[0, 1], shape=(3, 6)),
    "longer": lambda v: sp.diags_array([v, v], offsets=[0, 2], shape=(3, 6)),
    "float32": lambda v: sp.diags_array([v.astype(np.float32)], offsets=[1]),
    "unit": lambda v: sp.eye_array(len(v)) * v[0],
    "unit of a traced size": lambda v: sp.eye_array(v[:3].astype(int)[1], k=1) * v[0],
}


@pytest.mark.parametrize("name", DIAGONALS)
def test_arrays_of_diagonals(name):
    found, expected = graph_jit(DIAGONALS[name])(V), DIAGONALS[name](V if "traced" not in name else V.astype(int))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.toarray(), expected.toarray(), strict=True)


def test_derivatives_by_diagonals():
    def product(v):
        return (sp.diags_array([v[1:], v * 2, v[:-1]], offsets=[-1, 0, 1]).tocsr() @ v).sum()

    steps = 1e-6 * np.eye(4)
    expected = [(product(V + step) - product(V - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(grad(product)(V), expected, rtol=1e-8)


@pytest.mark.parametrize(
    "function",
    [
        lambda v: sp.diags_array([v[:2], v], offsets=[0, 2], shape=(3, 6)),
        lambda v: sp.diags_array([v, v], offsets=[1, 1]),
        lambda v: sp.diags_array([v, v], offsets=[1]),
        lambda v: sp.diags_array([v], offsets=[9], shape=(3, 3)),
    ],
)
def test_diagonals_that_do_not_fit(function):
    with pytest.raises(ValueError) as expected:  # noqa: PT011  the texts are SciPy's
        function(V)
    with pytest.raises(ValueError, match=str(expected.value).split("(", maxsplit=1)[0].split(" ")[0]):
        graph_jit(function)(V)


REFUSED = {
    "name a format": lambda a: sp.kron(a, a),
    "make a coo_array": lambda a: sp.vstack([a, a.toarray()]),
    "vstack of scipy.sparse.hstack": lambda a: sp.block_array([[a, None], [None, a]]),
    "beside the diagonal": lambda a: sp.block_diag([a, a]),
    "diags_array makes": lambda a: sp.diags(a.data),
    r"A.data \* \(i >= j\)": lambda a: sp.tril(a),
}


@pytest.mark.parametrize("message", REFUSED)
def test_others_say_what_to_write(message):
    with pytest.raises(TraceError, match=f"{message}(?s:.*)test_sparse_construction"):
        graph_jit(REFUSED[message])(A)
