"""Products in loops that a pullback reads rather than computes again."""

import re

import numpy as np
import pytest

import numbagraph as ng


def ranks(a, x, r):
    for _ in range(2 * len(x)):
        x = r * (a.T @ x + x.sum() / len(x)) + (1 - r)
    return x


def network(a, x, r):
    for i in range(len(x) + 1):
        x = np.tanh(a @ x * r + i)
    return x


def matrices(a, x, r):
    b = a.copy()
    for _ in range(len(x)):
        b = np.sin(a @ b) * r
    return b @ x


def until_small(a, x, r):
    while np.sum(x * x) > 0.1:
        x = 0.2 * np.tanh(a @ x) * r
    return x


def two_products(a, x, r):
    y = x * r
    for _ in range(len(x)):
        x, y = np.cos(a @ y), np.sin(a.T @ x) * r
    return x + y


PROGRAMS = (ranks, network, matrices, until_small, two_products)


def point(size=4):
    rng = np.random.default_rng(size)
    return rng.random((size, size)), rng.random(size), 0.7


def by_differences(function, x, h=1e-6):
    x = np.asarray(x, float)
    slopes = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = h
        slopes[place] = (function(x + step) - function(x - step)) / (2 * h)
    return slopes


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("size", [1, 4])
def test_gradients_are_those_of_differences(program, size):
    def loss(a, x, r):
        return np.sum(program(a, x, r) ** 2)

    args = point(size)
    found = ng.graph_jit(ng.grad(loss, argnums=(0, 1, 2)))(*args)
    for number, slope in enumerate(found):
        expected = by_differences(lambda each, n=number: loss(*args[:n], each, *args[n + 1 :]), args[number])
        np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("program", [ranks, network])
def test_batches_are_their_elements(program):
    a, x, r = point()
    slope = ng.grad(lambda a, x, r: np.sum(program(a, x, r) ** 2), argnums=1)
    rows = np.stack([x, x[::-1], -x])
    found = ng.graph_jit(ng.vmap(slope, in_axes=(None, 0, None)))(a, rows, r)
    np.testing.assert_allclose(found, [ng.graph_jit(slope)(a, each, r) for each in rows], rtol=1e-12)


def test_second_derivatives_are_differences_of_first_ones():
    a, x, r = point()
    slope = ng.grad(lambda a, x, r: np.sum(network(a, x, r) ** 2), argnums=1)
    found = ng.graph_jit(ng.grad(lambda a, x, r: np.sum(slope(a, x, r) * np.arange(4.0)), argnums=1))(a, x, r)
    first = ng.graph_jit(slope)
    expected = by_differences(lambda each: np.sum(first(a, each, r) * np.arange(4.0)), x)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_a_product_is_stored_once_for_each_step():
    """The loop stacks the carry and the product; its pullback multiplies by the matrix for the cotangent alone."""
    graph = str(ng.graph_jit(ng.grad(lambda a, x, r: np.sum(ranks(a, x, r) ** 2), argnums=2)).graph(*point()))
    back = graph[graph.index("_pullback(") :]
    assert len(re.findall(r" @ ", back)) == 1
