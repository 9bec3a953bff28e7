"""`numbagraph.from_jax` of functions that take and give sparse arrays of JAX."""

from typing import Any

import numpy as np
import pytest

import numbagraph
from numbagraph.errors import TraceError

jax = pytest.importorskip("jax")
from jax import numpy as jnp  # noqa: E402
from jax.experimental import sparse  # noqa: E402

from tests.support.from_jax import check  # noqa: E402

RNG = np.random.default_rng(4)
DENSE: Any = np.where(RNG.uniform(size=(4, 3)) > 0.4, RNG.normal(size=(4, 3)), 0.0)
X = RNG.normal(size=3)
KINDS = ("BCOO", "BCSR", "COO", "CSR", "CSC")


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        yield


def product(matrix, x):
    return matrix @ x


def loss(matrix, x):
    return jnp.sum((matrix @ x) ** 2)


@pytest.mark.parametrize("kind", KINDS)
def test_arguments_of_each_class(kind):
    matrix = getattr(sparse, kind).fromdense(DENSE)
    check(product, matrix, X)
    check(product, matrix, RNG.normal(size=(3, 2)))
    check(lambda m: m.todense(), matrix)
    check(lambda tree, x: tree["a"] @ x + tree["b"], {"a": matrix, "b": 2.0}, X)
    f = numbagraph.graph_jit(lambda m, x: np.sin(numbagraph.from_jax(product)(m, x)))
    np.testing.assert_allclose(f(matrix, X), np.sin(DENSE @ X), rtol=1e-12)
    other = getattr(sparse, kind).fromdense(2 * DENSE[::-1])  # the same number of elements in other places
    np.testing.assert_allclose(f(other, X), np.sin(2 * DENSE[::-1] @ X), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_by_the_elements(kind):
    matrix = getattr(sparse, kind).fromdense(DENSE)
    value, (by_matrix, by_x) = numbagraph.value_and_grad(numbagraph.from_jax(loss), (0, 1))(matrix, X)
    expected = np.where(DENSE != 0, 2 * np.outer(DENSE @ X, X), 0.0)
    assert type(by_matrix) is type(matrix)
    np.testing.assert_allclose(value, np.sum((DENSE @ X) ** 2), rtol=1e-12)
    np.testing.assert_allclose(by_matrix.todense(), expected, rtol=1e-12)
    np.testing.assert_allclose(by_x, 2 * DENSE.T @ (DENSE @ X), rtol=1e-12)
    # A step of gradient descent inside of a compiled function.
    step = numbagraph.graph_jit(lambda m, x: numbagraph.grad(numbagraph.from_jax(loss))(m, x).data * 0.5)
    np.testing.assert_allclose(step(matrix, X), by_matrix.data * 0.5, rtol=1e-12)
    hessian = numbagraph.hessian(numbagraph.from_jax(loss), 1)(matrix, X)
    np.testing.assert_allclose(hessian, 2 * DENSE.T @ DENSE, rtol=1e-12)


def test_results_are_sparse():
    matrix = sparse.BCOO.fromdense(DENSE)
    check(lambda m: m * 2.0, matrix)
    check(lambda m: m.T, matrix)
    check(lambda m: (m @ m.T).sum_duplicates(nse=16), matrix)
    check(lambda x: sparse.BCOO.fromdense(x, nse=12), DENSE)
    check(sparse.sparsify(lambda m, x: jnp.sum(m * 2 + m) * x), matrix, X)
    twice = numbagraph.from_jax(lambda m: m * 2.0)
    four_times = numbagraph.graph_jit(lambda m: twice(twice(m)))(matrix)
    assert type(four_times.data) is np.ndarray
    np.testing.assert_allclose(four_times.todense(), 4 * DENSE, rtol=1e-12)
    np.testing.assert_allclose(four_times @ X, 4 * DENSE @ X, rtol=1e-12)
    same = numbagraph.graph_jit(lambda m: m)(matrix)
    np.testing.assert_array_equal(same.todense(), DENSE)
    captured = numbagraph.graph_jit(lambda x: (matrix, x))(X)[0]
    np.testing.assert_array_equal(captured.todense(), DENSE)


def test_batches_and_dense_dimensions_of_one_array():
    batches: Any = RNG.normal(size=(2, 4, 3))
    check(lambda m: m.todense() * 2, sparse.BCOO.fromdense(batches, n_batch=1))
    check(lambda m: m.todense() * 2, sparse.BCOO.fromdense(batches, n_dense=1))
    check(lambda m: m.todense() * 2, sparse.BCSR.fromdense(batches, n_batch=1))
    check(lambda m: m.todense(), sparse.BCOO.fromdense(jnp.zeros((3, 2))))


def test_vmap_maps_over_dense_operands():
    matrix, xs = sparse.BCOO.fromdense(DENSE), RNG.normal(size=(5, 3))
    f = numbagraph.from_jax(product)
    np.testing.assert_allclose(numbagraph.vmap(f, in_axes=(None, 0))(matrix, xs), xs @ DENSE.T, rtol=1e-12)
    batch = sparse.BCOO.fromdense(jnp.ones((5, 4, 3)), n_batch=1)
    with pytest.raises(TraceError, match=r"a batch of sparse arrays.*in_axes of the sparse one"):
        numbagraph.vmap(f)(batch, xs)


def test_refusals():
    matrix = sparse.BCOO.fromdense(DENSE)
    with pytest.raises(TraceError, match=r"numbagraph.from_jax\(f\), also one of operators"):
        numbagraph.graph_jit(product)(matrix, X)
    inside = numbagraph.graph_jit(lambda x: numbagraph.grad(numbagraph.from_jax(loss))(matrix, x))
    with pytest.raises(TraceError, match="from outside of a traced function has no derivatives: pass it"):
        inside(X)
