"""Products with the orthogonal factor of a matrix: by reflections, or by the factor where it is made anyway."""

import numpy as np
import pytest
from scipy import linalg

from numbagraph import graph_jit, value_and_grad, vmap

RNG = np.random.default_rng(0)
A, C = RNG.normal(size=(6, 4)), RNG.normal(size=(3, 6, 6))
OPS = ("product_with_q", "product_of_q")


def by_reflections(function, *args):
    """Whether the last graph has them."""
    return any(op in graph_jit(function).explain(*args) for op in OPS)


@pytest.mark.parametrize("mode", ["left", "right"])
def test_the_factor_is_made_where_it_is_needed(mode):
    one = C[:, :4] if mode == "left" else C

    def product(a, c):
        return linalg.qr_multiply(a, c, mode=mode)

    def loss(a, c):
        return np.sum(product(a, c)[0] ** 3)

    def beside(a, c):
        return np.linalg.qr(a).Q, *product(a, c)

    assert by_reflections(product, A, one[0])
    assert by_reflections(product, np.stack([A, A, A]), one)
    assert by_reflections(lambda a, c: (np.linalg.qr(a, "complete").Q, *product(a, c)), A, one[0])
    assert not by_reflections(value_and_grad(loss), A, one[0])
    assert not by_reflections(beside, A, one[0])
    assert not by_reflections(vmap(lambda c: product(A, c)), one)
    factor, upper = np.linalg.qr(A)
    wanted = factor @ one if mode == "left" else one @ factor
    for backend in ("numba", "numpy", "jax"):
        found = graph_jit(beside, backend=backend)(A, one[0])
        assert all(map(is_near, found, (factor, wanted[0], upper)))
        found = graph_jit(product, backend=backend)(A, one)
        assert all(map(is_near, found, (wanted, np.stack([upper] * 3))))


def is_near(found, wanted):
    return found.shape == wanted.shape and np.allclose(found, wanted, rtol=1e-12, atol=1e-12)
