"""`numbagraph.from_jax` of JAX's callbacks, sparse arrays, and primitives that few functions have."""

import functools

import numpy as np
import pytest

import numbagraph

jax = pytest.importorskip("jax")
from jax import lax  # noqa: E402
from jax import numpy as jnp  # noqa: E402
from jax.ad_checkpoint import checkpoint_name  # noqa: E402
from jax.experimental import io_callback, sparse  # noqa: E402

from tests.support.from_jax import check, check_gradient  # noqa: E402

RNG = np.random.default_rng(9)
X = RNG.uniform(0.2, 0.8, 6)
M = RNG.normal(size=(4, 4))


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        yield


def sine(x):
    """By a call of Python, with a derivative."""
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="expand_dims")


@jax.custom_jvp
def smooth_sine(x):
    return sine(x)


smooth_sine.defjvp(lambda x, t: (smooth_sine(*x), t[0] * jnp.cos(x[0])))


def test_pure_callbacks():
    check(lambda x: sine(x) * 2 + x, X)
    check_gradient(lambda x: jnp.sum(smooth_sine(x) * x), X)
    check_gradient(lambda x: jnp.sum(sine(lax.stop_gradient(x)) * x), X)
    check(jax.vmap(sine), X)
    np.testing.assert_allclose(numbagraph.vmap(numbagraph.from_jax(sine))(M), np.sin(M), rtol=1e-14)
    check(lambda x: lax.scan(lambda c, y: (c + sine(y), c), 0.0, x), X)


def test_pure_callbacks_are_given_arrays_of_jax_and_trees():
    def both(pair, k):
        assert isinstance(pair["x"], jax.Array)
        return {"sum": pair["x"].at[0].set(k).sum(), "int": (k * 2).astype(np.int32)}

    types = {"sum": jax.ShapeDtypeStruct((), np.float64), "int": jax.ShapeDtypeStruct((), np.int32)}
    check(lambda x: jax.pure_callback(both, types, {"x": x}, 3), X)
    check(lambda x: jax.pure_callback(lambda a: (a > 0.5, a.astype(np.float32)), (x > 0, x.astype(np.float32)), x), X)


def test_an_exception_of_a_callback_is_the_callers():
    def fail(_):
        raise LookupError("no such number")

    with pytest.raises(LookupError, match="no such number"):
        numbagraph.from_jax(lambda x: jax.pure_callback(fail, x, x))(X)


def test_debugging(capsys):
    def printing(x):
        jax.debug.print("x is {} and {k}", x[0], k=2)
        return lax.fori_loop(0, 2, lambda i, c: (jax.debug.print("step {}", i), c * 2)[1], x)

    compiled = numbagraph.graph_jit(numbagraph.from_jax(printing))
    for _ in range(2):
        np.testing.assert_array_equal(compiled(np.arange(2.0)), [0.0, 4.0])
        assert capsys.readouterr().out == "x is 0.0 and 2\nstep 0\nstep 1\n"
    seen = []

    def called(x):
        jax.debug.callback(lambda y: seen.append(float(y)), x[1])
        return x * 2

    np.testing.assert_array_equal(numbagraph.from_jax(called)(np.arange(2.0)), [0.0, 2.0])
    assert seen == [1.0]
    np.testing.assert_array_equal(numbagraph.grad(lambda x: np.sum(numbagraph.from_jax(called)(x)))(X), np.full(6, 2.0))


DENSE = np.where(np.abs(M) > 0.7, M, 0.0)


def test_sparse_arrays():
    matrix = sparse.BCOO.fromdense(DENSE)
    check(lambda x: matrix @ x, M)
    check(lambda x: (matrix @ x[0], x @ matrix, matrix.T @ x, (matrix * 2.0).todense() @ x), M)
    check_gradient(lambda x: jnp.sum((matrix @ x) ** 2), M)
    check_gradient(
        lambda data: jnp.sum((sparse.BCOO((data, matrix.indices), shape=matrix.shape) @ M) ** 2),
        np.asarray(matrix.data),
    )
    check(lambda x: sparse.BCOO.fromdense(x, nse=16) @ x, DENSE)
    check(lambda x: (matrix @ matrix).todense() @ x, M)
    check(lambda x: sparse.BCSR.fromdense(DENSE, nse=9) @ x, M)
    check(lambda x: sparse.sparsify(lambda a, v: jnp.sum(a * 2 + a) * v)(matrix, x), M)


def test_keys_with_types():
    check(lambda x: jax.random.normal(jax.random.key(3), (6,)) * x, X)
    check(lambda x: jax.random.normal(jax.random.fold_in(jax.random.split(jax.random.key(3), 3)[1], 7), (6,)) * x, X)
    check(lambda x: jax.random.permutation(jax.random.key(0), x), X)
    with pytest.raises(NotImplementedError, match=r"'rng_bit_generator'.*impl='threefry2x32'"):
        numbagraph.from_jax(lambda x: jax.random.normal(jax.random.key(0, impl="rbg"), (6,)) * x)(X)


def test_sorts_of_several_arrays():
    tied = np.array([2.0, 1.0, 2.0, np.nan, 1.0, -np.inf])
    check(lambda x: lax.sort((jnp.round(x * 3), x, jnp.arange(6)), num_keys=2), X)
    check(lambda x: lax.sort((x, jnp.arange(6)), num_keys=1), tied)
    check(lambda x: lax.sort((x, jnp.arange(6).reshape(2, 3)), dimension=0, num_keys=1), tied.reshape(2, 3))
    check_gradient(lambda x: lax.sort((x, x * x), num_keys=1)[1] @ X, X)
    check(lambda x: lax.top_k(x, 3), X)
    check(lambda x: lax.top_k(x, 2), np.array([[3, 3, 1], [0, 2, 2]]))
    check(lambda x: lax.top_k(x, 0), X)
    check_gradient(lambda x: lax.top_k(x, 3)[0] @ x[:3], X)
    check(lambda x: (lax.approx_max_k(x, 3), lax.approx_min_k(x, 3)), X)


def test_primitives_that_few_functions_have():
    check(lambda x: lax.clz(x), np.array([0, 1, 255, -1, 2**30], np.int32))
    check(lambda x: lax.clz(x), np.array([0, 1, 255], np.uint8))
    check_gradient(lambda x: jnp.sum(lax.linalg.tridiagonal_solve(x, x + 3, x, x[:, None])), X)
    check_gradient(lambda x: jnp.sum(jax.scipy.special.gammaincc(x, 2.0)), X)
    check(jax.grad(lambda x: jnp.sum(jax.scipy.special.gammaincc(x, 2.0))), X)
    check(jax.grad(lambda x: jnp.sum(jax.scipy.linalg.expm(x))), M)
    check(jax.device_put, X)
    check(lambda x: checkpoint_name(x * 2, "doubled"), X)
    check(lambda x: lax.composite(lambda x: x * 2, "my.double")(x), X)
    check(jax.vmap(jax.custom_batching.sequential_vmap(lambda x: x * 2)), X)
    check(lambda x: lax.associative_scan(jnp.matmul, jnp.stack([x, x, x])), M)


REFUSED = {
    "eig": lambda x: jnp.linalg.eigvals(M) * x[0],
    "io_callback": lambda x: io_callback(np.sin, x, x),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_named_with_what_to_write(name):
    with pytest.raises(
        NotImplementedError, match=f"'{name}', which the function calls: .*(numbagraph|jax)\\.pure_callback"
    ):
        numbagraph.from_jax(REFUSED[name])(X)
    with pytest.raises(NotImplementedError, match=f"'{name}'"):
        numbagraph.graph_jit(functools.partial(numbagraph.from_jax(REFUSED[name])))(X)
