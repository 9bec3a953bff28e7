"""Rules about matrices: each fires on an example, and keeps values, errors and derivatives; what facts are known."""

import numpy as np
import pytest

import numbagraph
from numbagraph import grad, graph_jit, on_linalg_error, vmap
from numbagraph.linalg import cho_solve, lu_solve, solve_banded, solve_triangular, solve_tridiagonal, solveh_banded
from numbagraph.rewrite.algebra import ALGEBRA, LOG_DETERMINANTS
from numbagraph.rewrite.matrix_facts import Structure, structure
from numbagraph.rewrite.pipeline import optimise
from numbagraph.testing import check_gradients

linalg = np.linalg
eye, diag = numbagraph.numpy.eye, numbagraph.numpy.diag


def numbers(*shape, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    found = rng.uniform(-1, 1, shape)
    return (found + 1j * rng.uniform(-1, 1, shape) if np.dtype(dtype).kind == "c" else found).astype(dtype)


def regular(*shape, dtype=np.float64, seed=0):
    return numbers(*shape, dtype=dtype, seed=seed) + 2 * np.eye(shape[-1]).astype(dtype)


def symmetric(a):
    return a @ np.swapaxes(a.conj(), -1, -2) + eye(a.shape[-1], dtype=a.dtype)


def lower_factor(a):
    return linalg.cholesky(symmetric(a))


def swapped(a):
    return np.swapaxes(a, -1, -2)


def row(b):
    return b[..., None, :, 0]


ONE = {
    "the inverse times vectors": lambda a, b: linalg.inv(a) @ b,
    "the transposed inverse": lambda a, b: swapped(linalg.inv(a)) @ b,
    "a vector times the inverse": lambda a, b: row(b) @ linalg.inv(a),
    "a vector times the transposed inverse": lambda a, b: row(b) @ swapped(linalg.inv(a)),
    "the inverse times itself": lambda a, b: linalg.inv(a) @ linalg.inv(a) @ b,
    "a lower triangle": lambda a, b: linalg.solve(np.tril(a), b),
    "an upper triangle": lambda a, b: linalg.solve(np.triu(a), b),
    "a transposed triangle": lambda a, b: linalg.solve(swapped(np.tril(a)), b),
    "the inverse of a triangle": lambda a, b: linalg.inv(np.tril(a)) @ b,
    "triangles, one after the other": lambda a, b: linalg.solve(lower_factor(a) @ swapped(lower_factor(a)), b),
    "triangles the other way round": lambda a, b: linalg.solve(swapped(lower_factor(a)) @ lower_factor(a), b),
    "triangles, from the right": lambda a, b: swapped(b) @ linalg.inv(np.tril(a) @ np.triu(a)),
    "a transposed factor": lambda a, b: solve_triangular(swapped(lower_factor(a)), b),
    "a transposed factor, transposed": lambda a, b: solve_triangular(swapped(lower_factor(a)), b, trans=1),
    "a diagonal": lambda a, b: linalg.solve(a * eye(a.shape[-1], dtype=a.dtype), b),
    "a diagonal triangle": lambda a, b: solve_triangular(a * eye(a.shape[-1], dtype=a.dtype), b, trans=2),
    "a diagonal on the left": lambda a, b: (a * eye(a.shape[-1], dtype=a.dtype)) @ b,
    "a diagonal on the right": lambda a, b: swapped(b) @ (a * eye(a.shape[-1], dtype=a.dtype)),
    "the unit matrix on the left": lambda a, b: eye(a.shape[-1], dtype=a.dtype) @ b,
    "the unit matrix on the right": lambda a, b: swapped(b) @ eye(a.shape[-1], dtype=a.dtype),
    "eigenvectors": lambda a, b: np.abs(linalg.solve(linalg.eigh(symmetric(a))[1], b)),
    "transposed eigenvectors": lambda a, b: np.abs(linalg.inv(swapped(linalg.eigh(symmetric(a))[1]))),
    "the inverse of eigenvectors": lambda a, b: linalg.eigh(symmetric(a))[1] @ linalg.inv(linalg.eigh(symmetric(a))[1]),
    "a symmetric matrix": lambda a, b: swapped(a @ swapped(a)) + b @ swapped(b),
    "the determinant of a triangle": lambda a, b: linalg.det(np.triu(a)),
    "of a diagonal": lambda a, b: linalg.det(a * eye(a.shape[-1], dtype=a.dtype)),
    "of triangles": lambda a, b: linalg.det(lower_factor(a) @ swapped(lower_factor(a))),
    "its sign and logarithm": lambda a, b: linalg.slogdet(np.tril(a) @ np.triu(-a)),
    "the logarithm of its size": lambda a, b: np.log(np.abs(linalg.det(-a))),
    "of the sizes of a batch": lambda a, b: np.log(np.abs(linalg.det(a[None]))),
    "the diagonal of a product": lambda a, b: np.diagonal(a @ swapped(a), axis1=-2, axis2=-1),
    "the trace of a product": lambda a, b: np.trace(a @ a, axis1=-2, axis2=-1),
    "the trace of b.T @ b": lambda a, b: np.trace(swapped(b) @ b, axis1=-2, axis2=-1),
}
REAL = {
    "the logarithm of a determinant": lambda a, b: np.log(linalg.det(symmetric(a))),
    "of the determinants of a batch": lambda a, b: np.log(linalg.det(symmetric(a)[None])),
}
TOGETHER = {
    "a batch of one": lambda a, b: linalg.cholesky(symmetric(a)[None]),
    "a repeated matrix": lambda a, b: linalg.cholesky(np.broadcast_to(symmetric(a), (3, *a.shape))),
    "a repeated right-hand side": lambda a, b: linalg.solve(np.stack([a, 2 * a]), np.broadcast_to(b, (3, 1, *b.shape))),
    "vectors": lambda a, b: linalg.solve(a, swapped(b)[..., None]),
    "stacks of vectors": lambda a, b: linalg.solve(a, np.stack([swapped(b)] * 3)[..., None]),
    "matrices": lambda a, b: solve_triangular(np.tril(a), np.stack([b, 2 * b]), lower=True),
    "stacks of matrices": lambda a, b: linalg.solve(a[None], np.stack([b, 2 * b])[None]),
    "products": lambda a, b: a @ swapped(b)[..., None],
    "transposed products": lambda a, b: swapped(a) @ swapped(swapped(b)[..., None, :]),
    "products from the right": lambda a, b: swapped(b)[..., None, :] @ a,
    "products from the right, transposed": lambda a, b: swapped(swapped(b)[..., None]) @ swapped(a),
}


KINDS = [
    *[(np.float64, (2, 3, 3)), (np.float64, (18, 18)), (np.complex128, (3, 3))],
    pytest.param(np.float32, (3, 3), marks=pytest.mark.repeats),
]


@pytest.mark.repeats(but_each=3)
@pytest.mark.parametrize(("dtype", "shape"), KINDS)
@pytest.mark.parametrize("name", [*ONE, *REAL, *TOGETHER])
def test_values_are_those_of_numpy(name, shape, dtype):
    function = (ONE | REAL | TOGETHER)[name]
    if name in REAL and np.dtype(dtype).kind == "c":
        pytest.skip("complex logarithms have angles")
    if name in TOGETHER:
        shape = shape[-2:]
    a, b = regular(*shape, dtype=dtype), numbers(*shape[:-1], 5, dtype=dtype, seed=1)
    assert_close(graph_jit(function)(a, b), function(a, b), 1e-3 if dtype == np.float32 else 1e-9)


def assert_close(found, expected, tolerance):
    for one, other in zip(*[each if isinstance(each, tuple) else (each,) for each in (found, expected)], strict=True):
        one, other = np.asarray(one), np.asarray(other)
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * np.abs(other).max())


def rewrites(function, *arguments):
    return [applied.rule for applied in optimise(graph_jit(function).graph(*arguments)).rewrites]


def test_every_rule_fires():
    a, b = regular(3, 3), numbers(3, 5)
    fired = {each for function in (ONE | REAL | TOGETHER).values() for each in rewrites(function, a, b)}
    fired |= {*rewrites(summed_over_batch, numbers(4, 5), numbers(3, 6, 4))}
    assert not [each for each in (*ALGEBRA.rules, *LOG_DETERMINANTS.rules) if each not in fired]


def summed_over_batch(w, x):
    return grad(lambda w: np.sum(np.sin(x @ w)))(w)


def test_the_gradient_of_one_matrix_among_many():
    w, x = numbers(4, 5), numbers(3, 6, 4)
    expected = np.einsum("bij,bik->jk", x, np.cos(x @ w))
    np.testing.assert_allclose(graph_jit(summed_over_batch)(w, x), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["triangles, one after the other", "its sign and logarithm", "stacks of matrices"])
def test_derivatives_of_better_forms(name):
    check_gradients((ONE | TOGETHER)[name], [regular(3, 3), numbers(3, 2)], compiled=1)


def test_the_derivative_of_a_logarithm_does_not_ask_for_the_sign():
    matrix = -regular(3, 3)
    found = graph_jit(grad(lambda a: np.log(linalg.det(a))))(matrix)
    np.testing.assert_allclose(found, linalg.inv(matrix).T, rtol=1e-12)


@pytest.mark.parametrize("sign", [1.0, 0.0, -1.0])
def test_logarithms_of_determinants_that_are_not_positive(sign):
    matrix = np.diag([sign, 1.0, 2.0])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(graph_jit(lambda a: np.log(linalg.det(a)))(matrix), np.log(linalg.det(matrix)))


def test_a_determinant_that_overflows_has_a_logarithm():
    matrix = 1e200 * np.eye(3)
    np.testing.assert_allclose(graph_jit(lambda a: np.log(linalg.det(a)))(matrix), linalg.slogdet(matrix)[1])


SINGULAR = [
    "the inverse times vectors", "a vector times the inverse", "a lower triangle", "an upper triangle",
    "the inverse of a triangle", "triangles, from the right", "a diagonal", "a diagonal triangle",
]  # fmt: skip


@pytest.mark.parametrize("name", SINGULAR)
def test_singular_matrices_are_errors_as_before(name):
    matrix = np.diag([1.0, 0.0, 2.0])
    compiled = graph_jit(ONE[name])
    with pytest.raises(linalg.LinAlgError, match=r"(?i)singular matrix"):
        compiled(matrix, numbers(3, 2))
    with pytest.raises(linalg.LinAlgError, match=r"(?i)singular matrix"):
        compiled(np.stack([np.eye(3), matrix]), numbers(2, 3, 2))
    with on_linalg_error("nan"):
        found = compiled(np.stack([np.eye(3), matrix]), numbers(2, 3, 2))
    assert np.isnan(found[1]).all()
    assert np.isfinite(found[0]).all()


def test_inverses_of_inverses_keep_their_errors():
    with pytest.raises(linalg.LinAlgError):
        graph_jit(lambda a: linalg.inv(linalg.inv(a)))(np.zeros((2, 2)))


@pytest.mark.parametrize(
    "function",
    [
        linalg.solve,
        lambda a, b: solve_triangular(a, b, lower=True),
        lambda a, b: cho_solve((a, True), b),
        lambda a, b: lu_solve((a, np.array([1, 1, 2], np.int32)), b),
        lambda a, b: a @ b,
        lambda a, b: b @ a,
        lambda a, b: solve_tridiagonal(a[0], a[1] + 3, a[2], b[:, None])[:, 0],
        lambda a, b: solve_banded((2, 0), a, b),
        lambda a, b: solveh_banded(np.stack([a[0], a[1] + 7]), b),
    ],
)
def test_one_matrix_for_a_batch_of_vectors_is_used_once(function):
    """Under `vmap`: nothing is called for each element of the batch, in the gradient neither."""
    a, b = regular(3, 3), numbers(4, 3)
    mapped = vmap(function, in_axes=(None, 0))
    np.testing.assert_allclose(graph_jit(mapped)(a, b), [function(a, each) for each in b], rtol=1e-12)
    for each in (mapped, grad(lambda a, b: np.sum(mapped(a, b) ** 2), argnums=(0, 1))):
        nodes = optimise(graph_jit(each).graph(a, b)).final.order
        calls = [node for node in nodes if getattr(getattr(node, "op", None), "kind", "") in ("core op", "product")]
        assert calls
        assert all(operand.ndim <= 2 for node in calls for operand in (node, *node.inputs))


FACTS = {
    "tril": (lambda a: np.tril(a), Structure.LOWER),
    "below the diagonal": (lambda a: np.tril(a, -1), Structure.LOWER),
    "above it too": (lambda a: np.tril(a, 1), Structure.NONE),
    "triu": (lambda a: np.triu(a, 0), Structure.UPPER),
    "Hessenberg": (lambda a: np.triu(a, -1), Structure.NONE),
    "transposed": (lambda a: swapped(np.tril(a)), Structure.UPPER),
    "both": (lambda a: np.triu(np.tril(a)), Structure.DIAGONAL),
    "unit": (lambda a: eye(a.shape[0]), Structure.ALL),
    "next to the diagonal": (lambda a: eye(a.shape[0], k=1), Structure.NONE),
    "diag": (lambda a: diag(a[0]), Structure.DIAGONAL | Structure.SYMMETRIC),
    "cholesky": (lambda a: linalg.cholesky(a), Structure.LOWER),
    "cholesky, upper": (lambda a: linalg.cholesky(a, upper=True), Structure.UPPER),
    "products": (lambda a: np.tril(a) @ (3.0 * np.tril(a)), Structure.LOWER),
    "products of both": (lambda a: np.tril(a) @ np.triu(a), Structure.NONE),
    "sums": (lambda a: np.tril(a) + 2.0 * np.eye(3), Structure.NONE),
    "sums of triangles": (lambda a: np.tril(a) - eye(a.shape[0]), Structure.LOWER),
    "sums with a number": (lambda a: np.tril(a) + 1.0, Structure.NONE),
    "quotients": (lambda a: np.tril(a) / a[0], Structure.LOWER),
    "masked": (lambda a: np.where(a > 0, np.tril(a), 0.0), Structure.LOWER),
    "a.T @ a": (lambda a: a.T @ a, Structure.SYMMETRIC),
    "a @ a": (lambda a: a @ a, Structure.NONE),
    "symmetric sums": (lambda a: 2.0 * (a @ a.T) + 1.0, Structure.SYMMETRIC),
    "rows added": (lambda a: a @ a.T + a[0], Structure.NONE),
    "exponentials": (lambda a: np.exp(np.tril(a)), Structure.NONE),
    "roots": (lambda a: np.sqrt(np.tril(a)), Structure.LOWER),
    "batches": (lambda a: np.stack([a, a])[:, None] * eye(a.shape[0]), Structure.DIAGONAL | Structure.SYMMETRIC),
    "Q": (lambda a: linalg.qr(symmetric(a))[0], Structure.ORTHOGONAL),
    "R": (lambda a: linalg.qr(a)[1], Structure.UPPER),
    "eigenvectors": (lambda a: linalg.eigh(a)[1].T, Structure.ORTHOGONAL),
    "singular vectors": (lambda a: linalg.svd(symmetric(a))[2], Structure.ORTHOGONAL),
    "products of rotations": (lambda a: -(linalg.eigh(a)[1] @ linalg.eigh(a)[1]), Structure.ORTHOGONAL),
    "solutions": (lambda a: solve_triangular(np.tril(a), np.tril(a), lower=True), Structure.LOWER),
    "solutions in the other way": (lambda a: solve_triangular(np.tril(a), np.triu(a), lower=True), Structure.NONE),
}


@pytest.mark.parametrize("name", FACTS)
def test_facts(name):
    function, expected = FACTS[name]
    graph = graph_jit(function).graph(symmetric(regular(3, 3)))
    (value,) = graph.outputs
    assert structure(value) == expected


def test_facts_of_deep_graphs_are_found_or_unknown():
    def function(a):
        for _ in range(2000):
            a = np.tril(a) + np.tril(a)
        return a

    (value,) = graph_jit(function).graph(np.eye(2)).outputs
    assert structure(value) in (Structure.LOWER, Structure.NONE)


@pytest.mark.parametrize("function", [lambda x, a: x @ linalg.inv(a), vmap(lambda x, a: x @ linalg.inv(a), (0, None))])
def test_rows_of_data_are_multiplied_with_the_inverse(function):
    """Of many rows and one matrix, that is faster than to solve for all of them."""
    nodes = optimise(graph_jit(function).graph(numbers(9, 3), regular(3, 3))).final.order
    assert "matmul" in [node.op.name for node in nodes if hasattr(node, "op")]
