"""Derivatives at points that a traced function computes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import numbagraph as ng
from numbagraph.ops import arithmetic  # noqa: F401  the ops of the values below
from numbagraph.rewrite import engine, independence

X = np.array([1.0, 3.0])


def loss(x):
    return np.sum((x - 1) ** 2)


slope = ng.grad(loss)

POINTS = {
    "times one": lambda x: x * 1.0,
    "minus its mean": lambda x: x - x.mean(),
    "minus a derivative": lambda x: x - 0.1 * slope(x),
    "minus two": lambda x: x - 0.1 * slope(x - 0.1 * slope(x)),
    "negated twice": lambda x: np.negative(-x),
    "a stable form": lambda x: np.log(1 + np.exp(x)),
    "transposed twice": lambda x: np.stack([x, x]).T.T[0],
    "a constant": lambda x: np.ones(2) + 2.0,
}

DERIVATIVES = {
    "grad": slope,
    "value_and_grad": lambda x: ng.value_and_grad(loss)(x)[1],
    "vjp": lambda x: ng.vjp(loss, x)[1](1.0)[0],
    "jvp": lambda x: ng.jvp(loss, (x,), (np.array([1.0, 0.0]),))[1],
    "jacfwd": ng.jacfwd(loss),
    "jacrev": ng.jacrev(loss),
    "hessian": ng.hessian(lambda x: np.sum((x - 1) ** 3)),
}


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("point", POINTS)
def test_computed_points(point, derivative):
    at, of = POINTS[point], DERIVATIVES[derivative]
    number = np.asarray(ng.graph_jit(at)(X))
    np.testing.assert_allclose(ng.graph_jit(lambda x: of(at(x)))(X), of(number), rtol=1e-13)


@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("point", POINTS)
def test_backends(point, backend):
    at = POINTS[point]
    number = np.asarray(ng.graph_jit(at)(X))
    np.testing.assert_allclose(ng.graph_jit(lambda x: slope(at(x)), backend=backend)(X), 2 * (number - 1), rtol=1e-13)


def test_what_a_loop_gave():
    def f(x, y):
        while y < 3.0:
            y = y + 1.0
            x = x * 0.5
        return slope(x)

    np.testing.assert_allclose(ng.graph_jit(f)(X, 0.0), 2 * (X / 8 - 1))


def test_points_that_loops_gave_are_not_narrowed():
    """Forward mode leaves out what is not needed of loops, but not behind a point of a derivative around it."""

    def f(x, n):
        a, s = x, x[0]
        for _ in range(n):
            a, s = a * 0.9, s + np.sum(a)
        return ng.grad(lambda a: np.sum(ng.jvp(np.sin, (a,), (np.ones(2),))[1]))(a)

    np.testing.assert_allclose(ng.graph_jit(f)(X, 2), -np.sin(0.81 * X))


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_descent_with_a_traced_number_of_steps(steps):
    def descend(x, steps):
        for _ in range(steps):
            x = x - 0.1 * slope(x * 1.0)
        return x

    np.testing.assert_allclose(ng.graph_jit(descend)(X, steps), 1 + (X - 1) * 0.8**steps)
    through = ng.graph_jit(ng.grad(lambda x, steps: np.sum(descend(x, steps) ** 3)))
    expected = 3 * (1 + (X - 1) * 0.8**steps) ** 2 * 0.8**steps
    np.testing.assert_allclose(through(X, steps), expected)


def test_a_pullback_inside_of_another_derivative():
    def f(x):
        value, pull = ng.vjp(lambda z: z**3, x * 1.0)
        return np.sum(ng.grad(lambda z: np.sum(pull(z * 1.0)[0] * z))(value))

    def g(x):
        value, pull = jax.vjp(lambda z: z**3, x * 1.0)
        return jnp.sum(jax.grad(lambda z: jnp.sum(pull(z * 1.0)[0] * z))(value))

    with jax.enable_x64(True):
        expected = g(X), jax.grad(g)(X)
    np.testing.assert_allclose(ng.graph_jit(f)(X), expected[0])
    np.testing.assert_allclose(ng.grad(f)(X), expected[1])


def test_custom_rules_at_computed_points():
    """The arguments of a function with a rule are no values of the enclosing function, whatever is rewritten inside."""
    cube = ng.custom_vjp(lambda x: np.sum(slope(x * 1.0) * x))
    cube.defvjp(lambda x: (cube(x), x), lambda x, g: (g * slope(x - x.mean()),))
    found = ng.graph_jit(ng.grad(lambda x: cube(x * 1.0)))(X)
    np.testing.assert_allclose(found, 2 * (X - X.mean() - 1))


def test_seeds_of_jacobians_are_opaque():
    """The rule reads the cotangent inside of another derivative, which is rewritten."""
    square = ng.custom_vjp(lambda x: x**2)

    def backward(x, g):
        return (ng.grad(lambda z: np.sum(z * 1.0 * g * 1.0))(x) * 2 * x,)

    square.defvjp(lambda x: (square(x), x), backward)
    np.testing.assert_allclose(ng.jacrev(lambda x: square(x * 1.0) * 1.0)(X), np.diag(2 * X))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.sum(x**0),
        lambda x: np.sum(np.floor(x)),
        lambda x: np.sum(np.where(np.ones(2) > 0, 1.0, x * 1.0)),
        lambda x: ng.stop_gradient(np.sum(x * 1.0)),
        lambda x: np.sum(np.sign(x) * 3.0),
    ],
)
def test_functions_that_are_constant(function):
    np.testing.assert_array_equal(ng.graph_jit(lambda x: ng.grad(function)(x - x.mean()))(X), [0, 0])


def test_rewriting_through_a_point_is_an_error(monkeypatch):
    """A planted fault: rewriting does not know of points. The derivative is refused, not zero."""
    monkeypatch.setattr(engine, "opaque_values", frozenset)
    with pytest.raises(Exception, match="lost the way"):
        ng.graph_jit(lambda x: slope(x * 1.0))(X)


def test_proofs_of_independence():
    from numbagraph.ir.op import registry
    from numbagraph.ir.types import canonical_dtype
    from numbagraph.ir.values import ArrayType, Input, constant

    x = Input(ArrayType(canonical_dtype(float), (2,)), "x")
    point = registry["alias"].bind(x, number=1)
    independence.require([registry["power"](point, 0.0)], [constant(1.0)], [point])
    with pytest.raises(AssertionError, match=r"float64\[2\]"):
        independence.require([registry["exp"](point)], [registry["exp"](x)], [point])
