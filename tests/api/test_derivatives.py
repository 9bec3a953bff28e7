"""Derivatives as users call them, with JAX's names and conventions; against JAX itself where it is installed."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import numbagraph
from numbagraph import TraceError, grad, graph_jit, hessian, jacfwd, jacrev, jvp, stop_gradient, value_and_grad, vjp

X = np.array([0.3, -1.2, 2.0])


def loss(x, y=1.0):
    return np.sum(np.sin(x) * y + x**3)


def loss_gradient(x, y=1.0):
    return np.cos(x) * y + 3 * x**2


# ---- grad and value_and_grad ----


@pytest.mark.parametrize("compiled", [True, False])
def test_grad(compiled):
    f = graph_jit(grad(loss)) if compiled else grad(loss)
    result = f(X)
    assert result.dtype == np.float64
    np.testing.assert_allclose(result, loss_gradient(X), rtol=1e-13)
    np.testing.assert_allclose(f(X, 2.0), loss_gradient(X, 2.0), rtol=1e-13)


def test_grad_of_a_compiled_function():
    np.testing.assert_allclose(grad(graph_jit(loss))(X), loss_gradient(X), rtol=1e-13)
    np.testing.assert_allclose(graph_jit(grad(graph_jit(loss)))(X), loss_gradient(X), rtol=1e-13)


def test_value_and_grad():
    value, gradient = value_and_grad(loss)(X)
    assert type(value) is np.float64
    np.testing.assert_allclose(value, loss(X), rtol=1e-14)
    np.testing.assert_allclose(gradient, loss_gradient(X), rtol=1e-13)


def test_argnums():
    def f(x, y, z):
        return np.sum(x * y**2) + np.sum(z)

    x, y, z = X, X + 1, np.float64(3.0)
    only = grad(f, argnums=1)(x, y, z)
    np.testing.assert_allclose(only, 2 * x * y)
    several = grad(f, argnums=(2, 0))(x, y, z)
    assert type(several) is tuple
    assert several[0] == 1.0
    np.testing.assert_allclose(several[1], y**2)
    (listed,) = grad(f, argnums=[0])(x, y, z)
    np.testing.assert_allclose(listed, y**2)
    np.testing.assert_allclose(grad(f, argnums=-2)(x, y, z), 2 * x * y)


def test_argnames():
    def f(x, y, scale):
        return np.sum(x * y) * scale

    only = grad(f, argnames="y")(X, y=X + 1, scale=2.0)
    assert list(only) == ["y"]
    np.testing.assert_allclose(only["y"], 2 * X)
    both = grad(f, argnums=0, argnames=("y", "scale"))(X, y=X + 1, scale=2.0)
    np.testing.assert_allclose(both[0], 2 * (X + 1))
    np.testing.assert_allclose(both[1]["scale"], np.sum(X * (X + 1)))


def test_has_aux():
    def f(x):
        return np.sum(x**2), {"double": x * 2, "name": "aux"}

    (value, auxiliary), gradient = value_and_grad(f, has_aux=True)(X)
    assert value == pytest.approx(np.sum(X**2), rel=1e-15)
    assert auxiliary["name"] == "aux"
    np.testing.assert_array_equal(auxiliary["double"], 2 * X)
    np.testing.assert_allclose(gradient, 2 * X)
    gradient, auxiliary = grad(f, has_aux=True)(X)
    np.testing.assert_allclose(gradient, 2 * X)
    np.testing.assert_array_equal(auxiliary["double"], 2 * X)


@dataclass
class Parameters:
    mean: Any
    scale: Any


def test_gradients_have_the_structure_of_their_argument():
    def f(parameters, data):
        return np.sum(((data["x"] - parameters.mean) / parameters.scale) ** 2) + np.sum(data["y"][0])

    data = {"x": X, "y": [X * 2, None]}
    gradient = grad(f)(Parameters(0.5, np.full(3, 2.0)), data)
    assert type(gradient) is Parameters
    np.testing.assert_allclose(gradient.mean, np.sum(-2 * (X - 0.5) / 4), rtol=1e-13)
    np.testing.assert_allclose(gradient.scale, -2 * (X - 0.5) ** 2 / 8, rtol=1e-13)
    gradient = grad(f, argnums=1)(Parameters(0.5, 2.0), data)
    assert list(gradient) == ["x", "y"]
    np.testing.assert_array_equal(gradient["y"][0], np.ones(3))
    assert gradient["y"][1] is None


def test_what_nothing_depends_on_has_gradient_zero():
    first, second = grad(lambda x, y: np.sum(x), argnums=(0, 1))(X, np.ones((2, 2), np.float32))
    np.testing.assert_array_equal(first, np.ones(3))
    np.testing.assert_array_equal(second, np.zeros((2, 2), np.float32))
    assert second.dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_have_the_dtype_of_their_argument(dtype):
    x = X.astype(dtype)
    assert grad(lambda x: np.sum(x.astype(np.float64) ** 2))(x).dtype == dtype
    assert grad(lambda x: np.sum(np.exp(x) * 2.5))(x).dtype == dtype


def test_broadcast_arguments_are_summed():
    def f(x, b):
        return np.sum(x * b)

    x = np.arange(6.0).reshape(2, 3)
    for b, expected in [
        (np.float64(2), x.sum()),
        (np.ones(1), [x.sum()]),
        (np.ones(3), x.sum(axis=0)),
        (np.ones((2, 1)), x.sum(axis=1, keepdims=True)),
        (np.ones((1, 1)), [[x.sum()]]),
    ]:
        gradient = grad(f, argnums=1)(x, b)
        np.testing.assert_allclose(gradient, expected)
        assert gradient.shape == np.shape(b)


def test_errors_of_grad():
    with pytest.raises(TypeError, match="real scalar result"):
        grad(lambda x: x)(X)
    with pytest.raises(TypeError, match="real scalar result"):
        grad(lambda x: (np.sum(x), np.sum(x)))(X)
    with pytest.raises(TypeError, match="float or complex arguments"):
        grad(lambda x: np.sum(x * 1.0))(np.arange(3) > 1)
    with pytest.raises(TypeError, match="argnums"):
        grad(loss, argnums=3)(X)
    with pytest.raises(TypeError, match="argnames"):
        grad(loss, argnames="z")(X)


def test_higher_orders():
    def f(x):
        return np.sin(x) * x**2

    third = grad(grad(grad(f)))(0.7)
    x = 0.7
    expected = -(x**2) * np.cos(x) - 6 * x * np.sin(x) + 6 * np.cos(x)
    np.testing.assert_allclose(third, expected, rtol=1e-12)


def test_an_inner_derivative_sees_its_own_variable_alone():
    """d/dx [x · d/dy (x·y)] at y = x is 2x, not 3x: the inner derivative must not reach the outer variable."""

    def f(x):
        return x * grad(lambda y: x * y)(x)

    assert grad(f)(3.0) == 6.0


# ---- vjp and jvp ----


@pytest.mark.parametrize("point", [2.0, np.float64(2.0), np.array(2.0)])
def test_derivatives_at_a_constant(point):
    def cubes(r):
        return (
            grad(lambda t: r * t**3)(point),
            hessian(lambda t: r * t**3)(point),
            jvp(lambda t: r * t**3, [point], [1.0])[1],
        )

    for found in (cubes(0.5), graph_jit(cubes)(0.5)):
        np.testing.assert_allclose(found, [6.0, 6.0, 6.0])


def test_vjp():
    value, pullback = vjp(lambda x, y: (x * y, {"sum": np.sum(x)}), X, X + 1)
    np.testing.assert_array_equal(value[0], X * (X + 1))
    assert value[1]["sum"] == np.sum(X)
    cotangents = pullback((np.ones(3), {"sum": 2.0}))
    assert type(cotangents) is tuple
    np.testing.assert_allclose(cotangents[0], X + 3)
    np.testing.assert_allclose(cotangents[1], X)
    value, pullback, auxiliary = vjp(lambda x: (x * 2, x + 1), X, has_aux=True)
    np.testing.assert_array_equal(auxiliary, X + 1)
    np.testing.assert_array_equal(pullback(np.ones(3))[0], 2 * np.ones(3))


def test_vjp_inside_a_compiled_function():
    @graph_jit
    def f(x, u):
        value, pullback = vjp(np.sin, x)
        return value, pullback(u)[0]

    value, pulled = f(X, X)
    np.testing.assert_allclose(value, np.sin(X))
    np.testing.assert_allclose(pulled, np.cos(X) * X)


def test_jvp():
    value, tangent = jvp(lambda x, y: x * y, (X, X + 1), (np.ones(3), X))
    np.testing.assert_array_equal(value, X * (X + 1))
    np.testing.assert_allclose(tangent, X + 1 + X * X)
    value, tangent, auxiliary = jvp(lambda x: (x**2, x), (X,), (np.ones(3),), has_aux=True)
    np.testing.assert_allclose(tangent, 2 * X)
    np.testing.assert_array_equal(auxiliary, X)


def test_tangents_must_fit():
    with pytest.raises(ValueError, match="shape"):
        jvp(np.sin, (X,), (np.ones(4),))
    with pytest.raises(TypeError, match=r"like primals, a tuple of one array or number, not a tuple of 2 arrays"):
        jvp(np.sin, (X,), (X, X))
    with pytest.raises(ValueError, match="shape"):
        vjp(np.sin, X)[1](np.ones((3, 1)))


# ---- Jacobians and Hessians ----


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
def test_jacobians(jacobian):
    weights = np.arange(6.0).reshape(2, 3)

    def f(x):
        return np.sum(weights * np.sin(x), axis=1)

    result = jacobian(f)(X)
    assert result.shape == (2, 3)
    np.testing.assert_allclose(result, weights * np.cos(X), rtol=1e-13)
    first, second = jacobian(lambda x, y: (x * y, np.sum(y)), argnums=(0, 1))(X, X + 1)
    np.testing.assert_allclose(first[0], np.diag(X + 1))
    np.testing.assert_allclose(first[1], np.diag(X))
    np.testing.assert_array_equal(second[0], np.zeros(3))
    np.testing.assert_array_equal(second[1], np.ones(3))
    result, auxiliary = jacobian(lambda x: (x**2, np.sum(x)), has_aux=True)(X)
    np.testing.assert_allclose(result, np.diag(2 * X))
    assert auxiliary == np.sum(X)


@pytest.mark.parametrize("jacobian", [jacfwd, jacrev])
def test_jacobians_of_empty_arrays(jacobian):
    assert jacobian(lambda x: x**2)(np.ones(0)).shape == (0, 0)


def test_hessian():
    matrix = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1.0]])
    result = hessian(lambda x: 0.5 * np.sum(x * np.sum(matrix * x, axis=1)) + np.sum(np.exp(x)))(X)
    np.testing.assert_allclose(result, matrix + np.diag(np.exp(X)), rtol=1e-12)


def test_stop_gradient():
    f = grad(lambda x: np.sum(x * stop_gradient(x) + stop_gradient({"y": x})["y"]))
    np.testing.assert_allclose(f(X), X)
    assert stop_gradient(X) is X


def test_custom_vjp():
    @numbagraph.custom_vjp
    def clipped(x):
        return x * 2

    clipped.defvjp(lambda x: (clipped(x), x), lambda residual, g: (np.clip(g, -1, 1) + residual * 0,))
    np.testing.assert_array_equal(clipped(X), 2 * X)
    np.testing.assert_array_equal(grad(lambda x: np.sum(clipped(x) * 5))(X), np.ones(3))
    compiled = numbagraph.graph_jit(clipped)
    np.testing.assert_array_equal(grad(lambda x: np.sum(compiled(x) * 5))(X), np.ones(3))


# ---- together with others ----


def test_scipy_s_minimisers_take_value_and_grad():
    optimize = pytest.importorskip("scipy.optimize")

    def rosenbrock(x):
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    fit = optimize.minimize(value_and_grad(rosenbrock), np.zeros(4), jac=True, method="L-BFGS-B")
    np.testing.assert_allclose(fit.x, np.ones(4), atol=1e-4)
    assert fit.success


def logistic(parameters, x, y):
    z = x @ parameters["w"] + parameters["b"]
    return -np.sum(y * z - np.logaddexp(0, z)) / x.shape[0] + np.sum(parameters["w"] ** 2)


@pytest.mark.parametrize("transformation", ["grad", "value_and_grad", "jacrev", "jacfwd", "hessian"])
def test_transformations_agree_with_jax(transformation):
    jax = pytest.importorskip("jax")
    rng = np.random.default_rng(0)
    arguments = ({"w": rng.random(3), "b": np.float64(0.5)}, rng.random((5, 3)), rng.random(5))

    def with_jax(parameters, x, y):
        z = x @ parameters["w"] + parameters["b"]
        return -jax.numpy.sum(y * z - jax.numpy.logaddexp(0, z)) / x.shape[0] + jax.numpy.sum(parameters["w"] ** 2)

    with jax.enable_x64(True):
        expected = getattr(jax, transformation)(with_jax)(*arguments)
    result = getattr(numbagraph, transformation)(logistic)(*arguments)
    assert jax.tree.structure(result) == jax.tree.structure(expected)
    for each, wanted in zip(jax.tree.leaves(result), jax.tree.leaves(expected), strict=True):
        assert np.shape(each) == wanted.shape
        np.testing.assert_allclose(each, wanted, rtol=1e-9, atol=1e-12)


def test_complex_conventions_agree_with_jax():
    jax = pytest.importorskip("jax")
    z, u = np.array([1 + 2j, -0.5j]), np.array([0.3 - 1j, 2.0])
    for name in ("sin", "conj", "abs", "real", "imag", "exp"):
        with jax.enable_x64(True):
            value, pull = jax.vjp(getattr(jax.numpy, name), z)
            (expected,) = pull(u.astype(value.dtype) if value.dtype.kind == "c" else u.real)
        value, pullback = vjp(getattr(np, name), z)
        (result,) = pullback(u if value.dtype.kind == "c" else u.real)
        np.testing.assert_allclose(result, expected, rtol=1e-12, err_msg=name)


def test_gradients_through_captured_and_donated_arrays():
    data = np.arange(3.0)
    f = graph_jit(grad(lambda x: np.sum(x**2 * data)), donate_argnames="x")
    np.testing.assert_allclose(f(X.copy()), 2 * X * data)


def test_a_rule_holds_where_its_argument_is_a_negative():
    @numbagraph.custom_vjp
    def magnitude(x):
        return np.abs(-x)

    magnitude.defvjp(lambda x: (magnitude(x), None), lambda _, g: (7 * g,))
    slope = numbagraph.grad(lambda x: np.sum(magnitude(-x)))
    np.testing.assert_array_equal(slope(np.array([1.0, -2.0])), [-7.0, -7.0])


@pytest.mark.parametrize("point", [2, np.int32(2), np.uint8(2)])
def test_a_derivative_at_integers_is_that_at_floats(point):
    def cube(x):
        return x**3

    for at_integer, at_float in (
        (grad(cube)(point), grad(cube)(2.0)),
        (jacfwd(cube)(point), jacfwd(cube)(2.0)),
        (jacrev(cube)(point), jacrev(cube)(2.0)),
        (hessian(cube)(point), hessian(cube)(2.0)),
        (jvp(cube, (point,), (1,))[1], jvp(cube, (2.0,), (1.0,))[1]),
    ):
        assert at_integer == at_float
        assert at_integer.dtype == np.float64


def test_an_array_and_a_tree_of_integers():
    value, slope = value_and_grad(lambda x: np.sum(x**2))(np.arange(3))
    np.testing.assert_array_equal(slope, [0.0, 2.0, 4.0])
    assert (value, value.dtype) == (5.0, np.float64)
    slope = grad(lambda p: p["a"] * p["b"][0])({"a": 2, "b": [3, 1.5]})
    assert slope == {"a": 3.0, "b": [2.0, 0.0]}


def test_an_integer_of_python_takes_the_other_s_dtype():
    value, _ = value_and_grad(lambda a: np.sum(a * np.ones(2, dtype=np.float32)))(2)
    assert value.dtype == np.float32


def test_a_bool_has_no_derivative():
    with pytest.raises(TraceError, match="not Python bool"):
        grad(lambda x: x * 1.0)(True)
