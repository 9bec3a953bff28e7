"""Derivatives of logarithms of products some factors of which are 0: they add nothing, and are no NaN."""

import numpy as np
import pytest
from scipy.special import entr, kl_div, logsumexp, rel_entr, xlogy

import numbagraph as ng

Z = np.array([0.0, 1.0, 2.0])
P = np.array([0.3, 0.7, 1.2])
PLACES = np.array([0, 1, 1, 2, 0])
PRODUCTS = {
    "product": lambda p: np.log(Z * p[0]),
    "quotient": lambda p: np.log(Z * p[0] / p[1]),
    "quotient of zeros": lambda p: np.log(Z / p[1] * p[0]),
    "signs": lambda p: np.log(-(Z * -p[0])),
    "outer product": lambda p: np.log(np.outer(Z, p)),
    "gathered": lambda p: np.log((Z * p)[PLACES]),
    "slice": lambda p: np.log((Z * p)[:2]),
    "one of them": lambda p: np.log((Z * p)[1]) + np.zeros(2),
    "stack": lambda p: np.log(np.stack([Z * p, p])),
    "joined": lambda p: np.log(np.concatenate([Z * p, p * p])),
    "chosen": lambda p: np.log(np.where(Z < 2, Z * p, p)),
    "views": lambda p: np.log((Z[:, None] * p).T.reshape(9)),
    "to base 2": lambda p: np.log2(Z * p),
    "to base 10": lambda p: np.log10(Z * p)[None],
    "times": lambda p: xlogy(2.0, Z * p),
    "square": lambda p: np.log(np.square(Z * p) * p[2]),
    "root": lambda p: np.log(np.sqrt(Z * p) * p[1]),
    "reciprocal": lambda p: np.log(Z * np.reciprocal(p)),
    "many": lambda p: np.log(p[0] * p[1] * p[2] * Z * p[0] / p[1] / p[2] / Z[1] * p[2] * p[1] * p * p * p * p * p * p),
}


def slopes(function, x, step=1e-6):
    """Central differences, which know no rule."""
    with np.errstate(divide="ignore"):
        return np.array([(function(x + each) - function(x - each)) / (2 * step) for each in np.eye(x.size) * step])


def weighted(name):
    """A function in which what is infinite has a weight of 0."""
    return lambda p: logsumexp(PRODUCTS[name](p))


@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_zero_factors_add_nothing(name, backend):
    function = weighted(name)
    expected = slopes(function, P)
    found = ng.graph_jit(lambda p: (ng.grad(function)(p), ng.jacfwd(function)(p)), backend=backend)(P)
    for each in found:
        np.testing.assert_allclose(each, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("mode", [ng.hessian, lambda f: ng.jacrev(ng.jacrev(f)), lambda f: ng.jacfwd(ng.jacfwd(f))])
@pytest.mark.parametrize("name", ["quotient", "gathered", "joined", "chosen", "times"])
def test_second_derivatives_are_finite(name, mode):
    gradient = ng.grad(weighted(name))
    np.testing.assert_allclose(mode(weighted(name))(P), slopes(gradient, P, 1e-5), rtol=1e-5, atol=1e-6)


def in_a_loop(z, p):
    total = 0.0
    for k in range(len(z)):
        total = np.logaddexp(total, np.log(z[k] * p))
    return total


def in_a_branch(z, p):
    return np.sum(np.logaddexp(np.log(z * p), 0.0)) if p > 0.1 else p


def of_a_batch(z, p):
    return np.sum(ng.vmap(lambda each: np.logaddexp(np.log(each * p), 0.0))(z))


@pytest.mark.parametrize("function", [in_a_loop, in_a_branch, of_a_batch])
def test_zero_factors_in_parts_of_programs(function):
    compiled = ng.graph_jit(lambda z, p: ng.grad(function, argnums=1)(z, p))
    for z in (Z, Z[:1], Z[1:], Z[[0, 0, 2]]):
        expected = slopes(lambda p, z=z: function(z, p[0]), np.array([0.3]))[0]
        np.testing.assert_allclose(compiled(z, 0.3), expected, rtol=1e-6)


def test_factors_that_change_as_well():
    """By one factor the other one is not constant: where both are 0, the logarithm changes infinitely fast."""
    by_both = ng.grad(lambda x, y: np.log(x * y), argnums=(0, 1))
    assert by_both(2.0, 0.0) == (0.5, np.inf)
    assert by_both(0.0, 2.0) == (np.inf, 0.5)
    assert ng.grad(lambda x: np.log(x * (1.0 - x)))(0.0) == np.inf


def test_what_is_computed_stays_what_it_was():
    """Values are NumPy's: only derivatives are taken another way."""
    z, p = np.array([0.0, 1.0]), 0.3
    for function in (lambda z, p: z * (2.0 / (z * p)), lambda z, p: np.log(z * p), lambda z, p: z * p / z):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(ng.graph_jit(function)(z, p), function(z, p), rtol=1e-15)


def test_complex_factors():
    z, p = np.array([1.0 + 2.0j, -1.0j]), 0.7
    found = ng.grad(lambda p: np.sum(np.real(np.log(z * p) * (1 + 1j))))(p)
    np.testing.assert_allclose(found, 2 / p)


def test_a_running_product_does_not_grow_with_the_square_of_its_length():
    def function(p):
        product, total = p[0], 0.0
        for k in range(1, 40):
            product = product * p[k]
            total = total + np.log(product)
        return total

    p = np.linspace(0.5, 1.5, 40)
    found = ng.grad(function)(p)
    np.testing.assert_allclose(found, np.minimum(np.arange(40, 0, -1), 39) / p)


@pytest.mark.parametrize("function", [rel_entr, kl_div])
def test_mixed_second_derivatives_beside_an_infinite_one(function):
    """By the first argument the slope is infinite where that is 0, but by the other one it is finite."""
    x = np.array([0.0, 2.0])
    for outer in (ng.jacfwd, ng.jacrev):
        for inner in (ng.jacfwd, ng.jacrev):
            found = outer(inner(lambda v: function(v[0], v[1])))(x)
            np.testing.assert_array_equal(found, [[np.inf, -0.5], [-0.5, 0.0]])
    for place, direction in ((0, (0.0, 1.0)), (1, (1.0, 0.0))):
        assert ng.jvp(ng.grad(function, argnums=place), (0.0, 2.0), direction)[1] == -0.5


def test_directions_that_leave_a_zero_alone():
    for function in (rel_entr, kl_div, lambda x, y: entr(x) + 0 * y):
        _, found = ng.jvp(function, (0.0, 2.0), (0.0, 1.0))
        assert found == (1.0 if function is kl_div else 0.0)
