"""Mantissas and exponents at special points, and SciPy's functions that count."""

import numpy as np
import pytest
from scipy import special

import numbagraph.special
from numbagraph import grad, graph_jit

rng = np.random.default_rng(3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_frexp_at_special_points(dtype, backend):
    limits = np.finfo(dtype)
    points = [0.0, 1, 0.5, np.nextafter(dtype(1), dtype(0)), 3, limits.max, limits.tiny, limits.smallest_subnormal]
    x = np.array([*points, limits.tiny / 3, np.inf, np.nan], dtype)
    x = np.concatenate([x, -x, (rng.normal(size=50) * 2.0 ** rng.integers(-120, 120, 50)).astype(dtype)])
    for found, wanted in zip(graph_jit(np.frexp, backend=backend)(x), np.frexp(x), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


def test_the_mantissa_has_a_derivative():
    x = np.array([0.3, 5.0, -700.0])
    np.testing.assert_array_equal(grad(lambda x: np.sum(np.frexp(x)[0]))(x), [2.0, 0.125, 2.0**-10])


COUNTS = {
    "factorial": lambda module, n: module.factorial(n),
    "permutations": lambda module, n: module.perm(n, 2),
}


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize(
    "n", [np.arange(-3, 20), np.array([np.nan, np.inf, -np.inf, 170.6, 171.0, 200.0, -1.0, -0.5, 0.0, 2.5])]
)
def test_what_cannot_be_counted(name, n):
    found = graph_jit(lambda n: COUNTS[name](numbagraph.special, n))(n)
    np.testing.assert_allclose(found, COUNTS[name](special, n), rtol=1e-13)


def test_multivariate_gamma():
    a = np.array([1.1, 3.0, 200.0])
    found = graph_jit(lambda a: numbagraph.special.multigammaln(a, 3))(a)
    np.testing.assert_allclose(found, special.multigammaln(a, 3), rtol=1e-13)
    spoiled = np.where(a > a.mean(), a, np.nan)
    expected = special.multigammaln(spoiled, 3)
    np.testing.assert_allclose(
        graph_jit(lambda a: numbagraph.special.multigammaln(a, 3))(spoiled), expected, rtol=1e-13
    )
    with pytest.raises(ValueError, match="not met"):
        graph_jit(lambda a: numbagraph.special.multigammaln(a, 3))(a - 0.2)
    with pytest.raises(ValueError, match="positive integer"):
        graph_jit(lambda a: numbagraph.special.multigammaln(a, 2.5))(a)
    with pytest.raises(NotImplementedError, match="exact=True"):
        graph_jit(lambda a: numbagraph.special.factorial(a, exact=True))(a)
