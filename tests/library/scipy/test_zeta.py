"""The zeta function of two numbers, and the distribution that it normalises."""

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from numbagraph import grad, graph_jit, vmap

BITS = 600
"""With fewer, mpmath's own values of large operands have few right digits."""

compiled = graph_jit(lambda x, q: special.zeta(x, q))


def exact(x, q):
    with mpmath.workprec(BITS):
        return float(mpmath.zeta(mpmath.mpf(float(x)), mpmath.mpf(float(q))))


def test_values_have_all_digits():
    rng = np.random.default_rng(0)
    x, q = 1 + 10 ** rng.uniform(-6, 1.7, 150), 10 ** rng.uniform(-3, 3, 150)
    np.testing.assert_allclose(compiled(x, q), [*map(exact, x, q)], rtol=2e-15)


def test_special_points_are_scipy_s():
    points = np.array([-1.0, 0.0, -0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 1e-20, 1e300, np.inf, -np.inf, np.nan, -1.5, -2.0])
    x, q = (each.ravel() for each in np.meshgrid(points, points))
    np.testing.assert_allclose(compiled(x, q), special.zeta(x, q), rtol=1e-14)
    for one, other in ((0.0, 2.0), (2.0, 0.0), (2.0, -1.5), (400.0, 0.1), (30.0, 1e-20), (1e300, 1.0)):
        np.testing.assert_allclose(compiled(one, other), special.zeta(one, other), rtol=1e-14)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int8, np.int32])
def test_dtypes_and_shapes_are_scipy_s(kind):
    x, q = np.arange(2, 5).astype(kind), np.arange(1, 3).astype(kind)[:, None]
    for arrays in ((x, q), (x[:0], q), (x[0], q), (x, 2.5), (2, q), (x[::-1], q[::-1])):
        found, wanted = compiled(*arrays), special.zeta(*arrays)
        assert found.dtype == wanted.dtype
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-6 if wanted.dtype == np.float32 else 1e-14)


def test_complex_numbers_are_refused():
    for arguments in ((np.array([2j]), 1.0), (2.0, np.array([1j]))):
        with pytest.raises(TypeError, match=r"(?s)scipy\.special\.zeta of complex numbers is not .*test_zeta\.py:\d+"):
            compiled(*arguments)


def test_derivatives_by_both():
    """[DLMF 25.11.17]"""
    x, q = np.array([1.3, 2.0, 5.5, 30.0]), np.array([0.4, 3.0, 1.0, 2.5])
    with mpmath.workprec(BITS):
        wanted = [float(mpmath.zeta(mpmath.mpf(one), mpmath.mpf(other), 1)) for one, other in zip(x, q, strict=True)]
    by_x, by_q = graph_jit(grad(lambda x, q: special.zeta(x, q).sum(), (0, 1)))(x, q)
    np.testing.assert_allclose(by_x, wanted, rtol=1e-13)
    np.testing.assert_allclose(by_q, -x * special.zeta(x + 1, q), rtol=1e-13)
    curve = graph_jit(grad(grad(lambda q: special.zeta(3.0, q))))(1.5)
    np.testing.assert_allclose(curve, 12 * special.zeta(5.0, 1.5), rtol=1e-13)
    slope = graph_jit(grad(lambda q: special.zeta(3.0, q).sum()))(np.array([-1.5, 2.0]))
    np.testing.assert_allclose(slope, -3 * special.zeta(4.0, np.array([-1.5, 2.0])), rtol=1e-14)


def test_batches():
    x, q = np.array([[1.5, 2.0], [3.0, 4.0]]), np.array([0.5, -0.5])
    rows = graph_jit(vmap(lambda x: special.zeta(x, q)))(x)
    np.testing.assert_allclose(rows, special.zeta(x, q), rtol=1e-14)


ZIPF = ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf")


@pytest.mark.parametrize("method", ZIPF)
def test_zipf_s_distribution(method):
    """Tails are more accurate than SciPy's, which are what is left of a sum to 1."""
    k = np.array([1, 2, 3, 10, 3.5, 0, -1, np.nan])
    function = getattr(stats.zipf, method)
    run = graph_jit(lambda k, a: function(k, a))
    for a in (1.0001, 1.5, 3.0, 1.0, 0.5, np.nan):
        np.testing.assert_allclose(run(k, a), function(k, a), rtol=1e-9, atol=1e-15)


def test_zipf_s_tails_are_exact():
    k, a = np.array([1.0, 5.0, 100.0]), 20.0
    wanted = [exact(a, each + 1) / exact(a, 1) for each in k]
    np.testing.assert_allclose(graph_jit(lambda k: stats.zipf.sf(k, a))(k), wanted, rtol=1e-14)
    np.testing.assert_allclose(graph_jit(lambda k: stats.zipf.logsf(k, a))(k), np.log(wanted), rtol=1e-14)


@pytest.mark.parametrize("method", ZIPF)
def test_zipf_s_parameter_has_derivatives(method):
    k, function, step = np.array([1.0, 2.0, 7.0]), getattr(stats.zipf, method), 1e-6
    found = graph_jit(grad(lambda a: function(k, a).sum()))(2.5)
    wanted = (function(k, 2.5 + step) - function(k, 2.5 - step)).sum() / (2 * step)
    np.testing.assert_allclose(found, wanted, rtol=1e-7)


@pytest.mark.parametrize("function", [special.zetac, special.zeta], ids=["zetac", "zeta"])
def test_derivatives_of_riemann_s_function(function):
    """Near its pole, at its zeros, where formulas meet, and where gammas overflow."""
    x = np.array([-171.3, -20.2, -8, -3.5, -2, -1, -0.5, -0.1, -1e-9, 0, 1e-9, 0.9, 1 + 1e-7, 1.5, 5, 100, 1e5])
    with mpmath.workprec(BITS):
        first, second = (
            [float(mpmath.zeta(mpmath.mpf(each), 1, n)) if each < 1e3 else 0.0 for each in x] for n in (1, 2)
        )
    slope = graph_jit(grad(lambda x: function(x).sum()))
    np.testing.assert_allclose(slope(x), first, rtol=1e-13)
    np.testing.assert_allclose(
        graph_jit(grad(lambda x: grad(lambda x: function(x).sum())(x).sum()))(x), second, rtol=1e-12
    )
    np.testing.assert_array_equal(slope(np.array([np.nan, np.inf])), [np.nan, 0.0])
