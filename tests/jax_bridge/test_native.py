"""`numbagraph.to_jax(f, native=True)`: native code inside of JAX, beside NumPy and beside JAX's own derivatives."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest

import numbagraph
from numbagraph import graph_jit

jax = pytest.importorskip("jax")
from jax import numpy as jnp  # noqa: E402


def native(function):
    return numbagraph.to_jax(function, native=True)


@pytest.fixture(autouse=True)
def wide():
    """With 64-bit types, on the CPU: a GPU runs no native code."""
    with jax.enable_x64(True), jax.default_device(jax.devices("cpu")[0]):
        yield


RNG = np.random.default_rng(3)
X, MATRIX = np.array([0.5, -1.0, 2.0]), RNG.normal(size=(3, 3))


def energy(x, scale):
    return np.sum(np.sin(x) ** 2) * scale


def in_jax(x, scale):
    return jnp.sum(jnp.sin(x) ** 2) * scale


def test_values_and_first_derivatives():
    f = native(energy)
    for run in (f, jax.jit(f)):
        np.testing.assert_allclose(run(X, 2.0), energy(X, 2.0), rtol=1e-14)
    for transform in (jax.grad, jax.jacrev):
        found = jax.jit(transform(f, argnums=(0, 1)))(X, 2.0)
        for one, other in zip(found, transform(in_jax, argnums=(0, 1))(X, 2.0), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13)
    assert f.__name__ == "energy"


def test_second_and_third_derivatives():
    f = native(energy)
    np.testing.assert_allclose(jax.jacrev(jax.jacrev(f))(X, 2.0), jax.hessian(in_jax)(X, 2.0), rtol=1e-12, atol=1e-14)
    g = native(lambda x: x**5)
    np.testing.assert_allclose(jax.grad(jax.grad(jax.grad(g)))(1.5), 60 * 1.5**2, rtol=1e-13)


def test_batches_of_functions_and_of_gradients():
    f, batch = native(energy), RNG.normal(size=(4, 2, 3))
    scales = np.array([1.0, 2.0])
    mapped = jax.vmap(jax.vmap(f, (0, 0)), (0, None))
    expected = [[energy(x, s) for x, s in zip(rows, scales, strict=True)] for rows in batch]
    np.testing.assert_allclose(jax.jit(mapped)(batch, scales), expected, rtol=1e-13)
    slopes = jax.vmap(jax.grad(f), (1, None), out_axes=1)(batch[0].T, 2.0)
    np.testing.assert_allclose(slopes, 2 * np.sin(2 * batch[0].T), rtol=1e-13)
    of_sum = jax.grad(lambda x: jnp.sum(jax.vmap(f, (0, 0))(x, scales) ** 2))(batch[0])
    expected = jax.grad(lambda x: jnp.sum(jax.vmap(in_jax, (0, 0))(x, scales) ** 2))(batch[0])
    np.testing.assert_allclose(of_sum, expected, rtol=1e-13)


def test_in_loops_of_jax():
    step = native(lambda x: x - 0.1 * np.sin(x))
    found = jax.jit(lambda x: jax.lax.fori_loop(0, 5, lambda _, x: step(x), x))(X)
    expected = X
    for _ in range(5):
        expected = expected - 0.1 * np.sin(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_reverse_mode_of_a_while_loop():
    def root(a):
        x = a
        while abs(x * x - a) > 1e-13:
            x = 0.5 * (x + a / x)
        return x

    f = native(root)
    np.testing.assert_allclose(jax.jit(jax.value_and_grad(f))(2.0), (np.sqrt(2), 0.5 / np.sqrt(2)), rtol=1e-12)
    np.testing.assert_allclose(jax.vmap(f)(np.array([4.0, 9.0])), [2.0, 3.0], rtol=1e-12)


@pytest.mark.parametrize("shape", [(0,), (1,), (2, 0, 3), (1, 1), (), (5, 2)])
def test_all_shapes(shape):
    x = RNG.normal(size=shape)
    f = native(lambda x: (np.exp(x), np.sum(x), x.T))
    for one, other in zip(jax.jit(f)(x), (np.exp(x), np.sum(x), x.T), strict=True):
        assert one.shape == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(jax.grad(lambda x: f(x)[1])(x), np.ones(shape))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "uint64", "float32", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_all_dtypes(dtype, shape):
    x = np.ones(shape, dtype)
    found, other = jax.jit(native(lambda x: (x, x + x)))(x)
    assert found.dtype == x.dtype
    assert other.dtype == (x + x).dtype
    np.testing.assert_array_equal(found, x)
    np.testing.assert_array_equal(other, x + x)


def test_values_that_are_special():
    x = np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324])
    found = np.asarray(native(lambda x: x * 1.0)(x))
    np.testing.assert_array_equal(found, x)
    assert np.signbit(found[3])


@pytest.mark.parametrize("is_wide", [False, True])
def test_dtypes_follow_the_configuration_of_jax(is_wide):
    captured, x = np.array([1.0, 2.0, 3.0]), X.astype(np.float32)
    f = native(lambda x, n: (x * captured, np.sum(x > 0), x * n, np.arange(3.0)))
    with jax.enable_x64(is_wide):
        found = jax.jit(f)(x, 2)
        slope = jax.grad(lambda x: jnp.sum(f(x, 2)[0]))(x)
    assert [each.dtype.itemsize for each in found] == ([8, 8, 4, 8] if is_wide else [4, 4, 4, 4])
    np.testing.assert_array_equal(found[0], x * captured)
    assert slope.dtype == np.float32
    np.testing.assert_array_equal(slope, captured)


def test_complex_derivatives():
    z = X + 1j * X[::-1]
    expected = jax.grad(lambda z: jnp.sum(jnp.abs(jnp.sin(z)) ** 2))(z)
    np.testing.assert_allclose(jax.grad(native(lambda z: np.sum(np.abs(np.sin(z)) ** 2)))(z), expected, rtol=1e-12)


def test_integers_have_no_derivative():
    f = native(lambda x, i: (x[i] ** 2, i + 1))
    value, pull = jax.vjp(f, X, np.int64(2))
    assert value[1] == 3
    slope, of_place = pull((1.0, np.zeros((), jax.dtypes.float0)))
    np.testing.assert_array_equal(slope, [0, 0, 4])
    assert of_place.dtype == jax.dtypes.float0


@dataclass
class Line:
    slope: float
    level: float


def test_trees_constants_and_static_arguments():
    @graph_jit(static_argnames="kind")
    def model(p, x, kind):
        y = p["line"].slope * x + p["line"].level
        return {"y": y, "again": y, "name": kind, "three": 3}

    jax.tree_util.register_dataclass(Line, ["slope", "level"], [])
    p = {"line": Line(2.0, 1.0)}
    found = native(model)(p, X, kind="line")
    np.testing.assert_array_equal(found["y"], 2 * X + 1)
    np.testing.assert_array_equal(found["again"], found["y"])
    assert (found["name"], found["three"]) == ("line", 3)
    slope = jax.grad(lambda p: jnp.sum(native(model)(p, X, kind="line")["again"]))(p)
    np.testing.assert_allclose(slope["line"].slope, np.sum(X))


def test_methods_and_captured_arrays():
    class Model:
        def __init__(self, weights):
            self.weights = weights

        @graph_jit
        def apply(self, x):
            return x @ self.weights

    weights = MATRIX.copy()
    one, other = Model(weights), Model(2 * MATRIX)
    np.testing.assert_allclose(native(one.apply)(X), X @ MATRIX, rtol=1e-13)
    np.testing.assert_allclose(native(other.apply)(X), 2 * X @ MATRIX, rtol=1e-13)
    f = native(one.apply)
    f(X)
    one.weights = 3 * MATRIX
    np.testing.assert_allclose(f(X), 3 * X @ MATRIX, rtol=1e-13)
    batch, slope = np.stack([X, 2 * X]), jax.grad(lambda x: jnp.sum(f(x)))
    for factor in (4, 5):
        one.weights = factor * MATRIX
        np.testing.assert_allclose(f(X), factor * X @ MATRIX, rtol=1e-13)
        np.testing.assert_allclose(jax.vmap(f)(batch), factor * batch @ MATRIX, rtol=1e-13)
        np.testing.assert_allclose(slope(X), factor * MATRIX.sum(1), rtol=1e-13)


def test_linear_algebra_and_its_gradient():
    spd = MATRIX @ MATRIX.T + np.eye(3)
    f = native(lambda a: np.linalg.slogdet(a)[1] + np.sum(np.linalg.solve(a, np.ones(3))))
    expected = jax.grad(lambda a: jnp.linalg.slogdet(a)[1] + jnp.sum(jnp.linalg.solve(a, jnp.ones(3))))(spd)
    np.testing.assert_allclose(jax.jit(jax.grad(f))(spd), expected, rtol=1e-10)


def test_errors_are_raised_and_leave_jax_in_order():
    f = jax.jit(native(lambda x, i: x[i]))
    with pytest.raises(jax.errors.JaxRuntimeError, match="out of bounds"):
        f(X, 7).block_until_ready()
    assert f(X, 1) == -1.0
    g = jax.jit(native(lambda a: np.linalg.inv(a)))
    with pytest.raises(jax.errors.JaxRuntimeError, match="no solution"):
        g(np.zeros((2, 2))).block_until_ready()
    with pytest.raises(ValueError, match="broadcast"):
        native(lambda x, y: x + y)(X, X[:2])


def test_what_is_refused():
    with pytest.raises(TypeError, match="takes functions"):
        native(3)
    with pytest.raises(TypeError, match="Generator"):
        native(lambda rng: rng.normal())(np.random.default_rng(1))
    with pytest.raises(TypeError, match="static_argnames"):
        native(lambda x, s: x)(X, object())
    with pytest.raises(TypeError, match="known before"):
        native(lambda x: x[x > 0])(X)
    with pytest.raises(NotImplementedError, match="debug_print"):
        native(lambda x: numbagraph.debug_print("{}", x[0]))(X)
    of_any_length = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), np.float64)
    with pytest.raises(TypeError, match="export to_jax"):
        jax.export.export(jax.jit(native(np.sin)))(of_any_length)
    with pytest.raises(ValueError, match="custom calls"):
        jax.export.export(jax.jit(native(np.sin)))(jax.ShapeDtypeStruct((3,), np.float64))
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(native(energy), (X, 2.0), (X, 0.0))


def test_arguments_are_not_written():
    @graph_jit
    def halve(x):
        x[:] = x / 2
        return x

    x = jnp.asarray(X)
    with pytest.raises((TypeError, ValueError)):
        native(halve)(x)
    np.testing.assert_array_equal(x, X)


def test_a_callback_of_python():
    f = native(lambda x: numbagraph.pure_callback(np.cbrt, numbagraph.Abstract((3,)), x) + 1)
    np.testing.assert_allclose(jax.jit(f)(X), np.cbrt(X) + 1)


def test_threads():
    f = jax.jit(jax.value_and_grad(native(energy)))
    points = RNG.normal(size=(40, 50))

    def slope(x):
        with jax.enable_x64(True), jax.default_device(jax.devices("cpu")[0]):
            return np.asarray(f(x, 1.0)[1])

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(slope, points))
    np.testing.assert_allclose(found, np.sin(2 * points), rtol=1e-12, atol=1e-14)


def test_a_length_that_elements_decide_is_refused_at_its_line():
    with pytest.raises(numbagraph.TraceError, match=r"follows from elements(.|\n)*\n  at .*test_native\.py:\d+"):
        jax.jit(native(lambda x: x[x > 0]))(X)
