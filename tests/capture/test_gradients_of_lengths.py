"""Derivatives of functions whose arrays become longer or shorter in steps, or are so on some paths, against
differences."""

import numpy as np
import pytest

import numbagraph as ng
from tests.capture.test_gradients import central_differences as differences

X = np.concatenate([np.random.default_rng(3).normal(size=7), [20.0, -30.0]])
EQUAL = np.array([2.0, 2.0, 2.5, 40.0])


def clipped(x):
    while True:
        keep = np.abs(x - x.mean()) < 1.7 * x.std()
        if keep.all():
            break
        x = x[keep]
    return np.sqrt(x**2 + 1).mean()


def clipped_with_weights(x):
    w = np.abs(x) + 1
    for _ in range(4):
        m = np.sum(w * x) / np.sum(w)
        keep = np.abs(x - m) < 1.7 * x.std()
        if keep.all():
            break
        x, w = x[keep], w[keep]
    return m**2


def rows(x):
    a = np.stack([x, np.sin(x)], axis=1)
    while len(a) > 2:
        a = a[a[:, 0] > a[:, 0].min()] * 1.5
    return (a**2).sum()


def first_ones(x):
    total = 0.0
    while len(x) > 0:
        total = total * 0.5 + np.sin(x[0]) * x.sum()
        x = x[1:]
    return total


def merged(x):
    while len(x) > 1:
        x = np.append(x[2:], np.sqrt(x[0] ** 2 + 2 * x[1] ** 2))
    return x[0]


def on_one_path(x):
    if x.sum() > -1000:
        x = x[x > 0]
    return (x**3).sum() / len(x)


def windows(x):
    total = 0.0
    for i in range(1, len(x)):
        y = x[:i] if x[i] > 0 else x[i:] ** 2
        total += y.sum() * x[i]
    return total


def two_clips(x):
    total = 0.0
    for j in range(2):
        y = x * (j + 1.0)
        while y.std() > 3:
            y = y[np.abs(y) < np.abs(y).max()]
        total += (y**2).sum()
    return total


FUNCTIONS = [clipped, clipped_with_weights, rows, first_ones, merged, on_one_path, windows, two_clips]


@pytest.mark.parametrize("backend", ["numba", "numpy"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
def test_gradients(function, backend):
    gradient = ng.graph_jit(ng.grad(function), backend=backend)
    for x in (X, EQUAL) if backend == "numba" and function is not clipped_with_weights else (X,):  # nothing is left
        np.testing.assert_allclose(gradient(x), differences(function, x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("function", FUNCTIONS[:6], ids=lambda each: each.__name__)
def test_derivatives_of_higher_order_and_forward_mode(function):
    gradient = ng.graph_jit(ng.grad(function))
    np.testing.assert_allclose(ng.graph_jit(ng.jacfwd(function))(X), gradient(X), rtol=1e-10, atol=1e-12)
    steps = [1e-6 * each for each in np.eye(len(X))]
    differences_of_gradients = [(gradient(X + step) - gradient(X - step)) / 2e-6 for step in steps]
    found = ng.graph_jit(ng.hessian(function))(X)
    np.testing.assert_allclose(found, differences_of_gradients, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("function", [first_ones, merged], ids=lambda each: each.__name__)
def test_batches_of_which_all_elements_have_the_same_lengths(function):
    batch = np.stack([X, 2 * X, X + 1])
    found = ng.graph_jit(ng.vmap(function))(batch)
    np.testing.assert_allclose(found, [function(each) for each in batch], rtol=1e-12)


def test_batches_whose_elements_have_several_lengths():
    batch = np.stack([X, 2 * X])
    np.testing.assert_allclose(ng.graph_jit(ng.vmap(clipped))(batch), [clipped(each) for each in batch], rtol=1e-12)
    found = ng.graph_jit(ng.vmap(ng.grad(clipped)))(batch)
    np.testing.assert_allclose(found, [differences(clipped, each) for each in batch], rtol=1e-5, atol=1e-6)
