"""Eigenvalues of symmetric matrices of two diagonals."""

from functools import partial

import numpy as np
import pytest
from scipy import linalg

from numbagraph import grad, graph_jit


@pytest.mark.parametrize("count", [1, 2, 9])
def test_eigenvalues_of_tridiagonal_matrices(count):
    rng = np.random.default_rng(count)
    d, e = rng.normal(size=count), rng.normal(size=count - 1)
    for options in (
        {},
        {"select": "i", "select_range": (0, 0)},
        {"select": "i", "select_range": (count // 2, count - 1)},
    ):
        for function in (linalg.eigvalsh_tridiagonal, partial(linalg.eigh_tridiagonal, eigvals_only=True)):
            call = partial(function, **options)
            np.testing.assert_allclose(graph_jit(lambda d, e, f=call: f(d, e))(d, e), call(d, e), 1e-10, 1e-12)

        def total(d, e, options=options):
            values = linalg.eigvalsh_tridiagonal(d, e, **options)
            return np.sum(values * np.arange(1.0, 1 + values.shape[0]) ** 2)

        gradients = graph_jit(grad(total, argnums=(0, 1)))(d, e)
        for number, found in enumerate(gradients):
            for place in range(len(found)):
                step = 1e-6 * (np.arange(len(found)) == place)
                both = [
                    [each + sign * step if k == number else each for k, each in enumerate((d, e))] for sign in (1, -1)
                ]
                slope = (total(*both[0]) - total(*both[1])) / 2e-6
                np.testing.assert_allclose(found[place], slope, 1e-5, 1e-5)


def test_eigenvalues_of_tridiagonal_matrices_that_there_are_not():
    d, e = np.arange(4.0), np.ones(3)
    for chosen in ((0, 4), (-1, 2), (3, 2)):
        with pytest.raises(ValueError, match="select_range"):
            graph_jit(lambda d, e, c=chosen: linalg.eigvalsh_tridiagonal(d, e, select="i", select_range=c))(d, e)
    with pytest.raises(ValueError, match="one more element"):
        graph_jit(linalg.eigvalsh_tridiagonal)(d, d)
    with pytest.raises(np.linalg.LinAlgError):
        graph_jit(linalg.eigvalsh_tridiagonal)(d, e * np.nan)


def test_a_long_tridiagonal_matrix_is_not_made_dense():
    d, e = np.linspace(0, 1, 20_000), np.full(19_999, 0.1)
    call = partial(linalg.eigvalsh_tridiagonal, select="i", select_range=(0, 2))
    np.testing.assert_allclose(graph_jit(lambda d, e: call(d, e))(d, e), call(d, e), 1e-10)
