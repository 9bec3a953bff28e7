"""Derivatives of what is done to selected elements in a batch, a loop or a branch, which are differentiated after they
have been traced. Elements that are not selected have none, also where that of the function is infinite, or NaN."""

import numpy as np
import pytest

from numbagraph import cond, fori_loop, grad, graph_jit, hessian, jacrev, scan, to_jax, vmap, while_loop

X = np.array([0.3, -0.2, 0.0, 0.5, 2.0])
SELECTED = X > 0
SAFE = np.where(SELECTED, X, 1.0)
"""The same numbers, with one for which all is finite where nothing is selected."""
W = 0.5


def rooted(x, w):
    return np.sum(np.sqrt(x[x > 0])) * w


def power(x, w):
    return np.sum(x[x > 0] ** w)


def assigned(x, w):
    y = x.copy()
    y[x > 0] = np.log(y[x > 0]) * w
    return np.sum(y)


def selected_twice(x, w):
    positive = x[x > 0]
    return np.sum(w / (positive[positive != 2] - 2))


def written_under_a_mask(x, w):
    y = np.zeros(5)
    np.log(x, out=y, where=x > 0)
    return np.sum(y) * w


def rows_of_a_product(x, w):
    return np.sum(np.log(x[x > 0])[:, None] @ (w * np.ones((1, 2))))


def repeated(x, w):
    return np.sum(np.log(x[x > 0]) * np.broadcast_to(np.sqrt(w), x[x > 0].shape))


OTHER_THAN_2 = SELECTED & (X != 2)
SAFE_AND_OTHER = np.where(OTHER_THAN_2, X, 1.0)
LOGARITHMS = np.log(SAFE)
CASES = {
    rooted: (np.where(SELECTED, W / 2 / np.sqrt(SAFE), 0), np.sqrt(X[SELECTED]).sum(), -W / 4 * SAFE**-1.5 * SELECTED),
    power: (
        np.where(SELECTED, W * SAFE ** (W - 1), 0),
        np.sum(X[SELECTED] ** W * np.log(X[SELECTED])),
        W * (W - 1) * SAFE ** (W - 2) * SELECTED,
    ),
    assigned: (np.where(SELECTED, W / SAFE, 1), LOGARITHMS.sum(), -W / SAFE**2 * SELECTED),
    selected_twice: (
        -W / (SAFE_AND_OTHER - 2) ** 2 * OTHER_THAN_2,
        np.sum(1 / (X[OTHER_THAN_2] - 2)),
        2 * W / (SAFE_AND_OTHER - 2) ** 3 * OTHER_THAN_2,
    ),
    written_under_a_mask: (W / SAFE * SELECTED, LOGARITHMS.sum(), -W / SAFE**2 * SELECTED),
    rows_of_a_product: (2 * W / SAFE * SELECTED, 2 * LOGARITHMS.sum(), -2 * W / SAFE**2 * SELECTED),
    repeated: (
        np.sqrt(W) / SAFE * SELECTED,
        LOGARITHMS.sum() / 2 / np.sqrt(W),
        -np.sqrt(W) / SAFE**2 * SELECTED,
    ),
}
"""Derivatives by both arguments, and the diagonal of the Hessian by the first one."""


def of_a_batch(function):
    return lambda x, w: np.sum(vmap(function, in_axes=(0, None))(x[None], w))


def of_two_batches(function):
    return lambda x, w: of_a_batch(of_a_batch(function))(x, w)


def in_a_scan(function):
    return lambda x, w: scan(lambda s, _: (s + function(x, w), None), 0.0, None, length=1)[0]


def in_a_loop(function):
    return lambda x, w: fori_loop(0, 2, lambda i, s: s + i * function(x, w), 0.0)


def in_a_while_loop(function):
    return lambda x, w: while_loop(lambda s: s[0] < 1, lambda s: (s[0] + 1, function(x, w)), (0, 0.0))[1]


def in_a_branch(function):
    return lambda x, w: cond(w > 0, function, lambda x, w: w, x, w)


def in_python_s_branch(function):
    def branch(x, w):
        if w > 0:
            return function(x, w)
        return w

    return branch


def in_python_s_loop(function):
    def loop(x, w):
        total, n = 0.0, 0
        while n < 1 + (w > 5):
            total += function(x, w)
            n += 1
        return total

    return loop


PLACES = (
    lambda function: function,
    of_a_batch,
    of_two_batches,
    in_a_scan,
    in_a_loop,
    in_a_while_loop,
    in_a_branch,
    in_python_s_branch,
    in_python_s_loop,
)


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_what_is_not_selected_has_no_derivative(place, function):
    by_x, by_w, twice_by_x = CASES[function]
    placed = place(function)
    backend = "numba" if place is of_a_batch else "numpy"  # graphs are the same
    found = graph_jit(grad(placed, argnums=(0, 1)), backend=backend)(X, W)
    np.testing.assert_allclose(found[0], by_x, rtol=1e-12)
    np.testing.assert_allclose(found[1], by_w, rtol=1e-12)
    if place is not in_python_s_loop and place is not in_a_while_loop:
        np.testing.assert_allclose(graph_jit(hessian(placed), backend=backend)(X, W), np.diag(twice_by_x), rtol=1e-12)
    np.testing.assert_allclose(graph_jit(jacrev(grad(placed)), backend=backend)(X, W), np.diag(twice_by_x), rtol=1e-12)


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_jax_s_derivatives(function):
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        found = jax.grad(to_jax(function), argnums=(0, 1))(X, W)
    np.testing.assert_allclose(found[0], CASES[function][0], rtol=1e-12)
    np.testing.assert_allclose(found[1], CASES[function][1], rtol=1e-12)


NUMBER_OF_SELECTED = [
    (lambda x, s: np.full(len(x[x > 0.5]), s), lambda count: count),
    (lambda x, s: np.full((len(x[x > 0.5]), 3), s), lambda count: 3 * count),
    (lambda x, s: np.full((2, np.sum(x[x > 0.5] > 0.7)), s * 2.0), lambda count: 4 * count),
    (lambda x, s: np.full((len(x[x > 0.5]), len(x)), s), lambda count: 4 * count),
    (lambda x, s: np.full_like(x[x > 0.5], s), lambda count: count),
]


@pytest.mark.parametrize(("make", "slope"), NUMBER_OF_SELECTED)
def test_an_argument_is_repeated_for_each_selected_element(make, slope):
    x, s = np.array([0.2, 0.8, 0.9, -1.0]), 1.5
    for backend in ("numba", "numpy"):
        np.testing.assert_array_equal(graph_jit(make, backend=backend)(x, s), make(x, s))
        by_s = graph_jit(grad(lambda x, s: np.sum(make(x, s)), argnums=1), backend=backend)
        assert by_s(x, s) == slope(2)
