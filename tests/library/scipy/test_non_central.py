"""Derivatives of the non-central F and t distributions: SciPy's densities, and differences."""

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

from numbagraph import grad, graph_jit, vmap

if not hasattr(special._ufuncs_cxx, "__pyx_capi__") or "_export_nct_pdf_double" not in special._ufuncs_cxx.__pyx_capi__:
    pytest.skip("SciPy 1.17 has their densities", allow_module_level=True)

T = np.array([-30.0, -2.0, -0.5, 0.0, 1e-9, 0.7, 3.0, 40.0])
F = np.array([1e-9, 0.05, 0.4, 1.0, 2.5, 30.0])
STEP = 1e-6


def slopes(function, x):
    return graph_jit(vmap(grad(function)))(x)


@pytest.mark.parametrize("nc", [0.0, 0.4, 3.0, -1.5])
@pytest.mark.parametrize("df", [0.7, 3.0, 25.0])
def test_densities_of_t(df, nc):
    found = slopes(lambda t: special.nctdtr(df, nc, t), T)
    np.testing.assert_allclose(found, stats.nct.pdf(T, df, nc), rtol=1e-12)
    p = np.array([0.02, 0.3, 0.5, 0.9])
    found = slopes(lambda p: special.nctdtrit(df, nc, p), p)
    np.testing.assert_allclose(found, 1 / stats.nct.pdf(special.nctdtrit(df, nc, p), df, nc), rtol=1e-9)


@pytest.mark.parametrize("nc", [0.0, 0.4, 3.0])
@pytest.mark.parametrize("dfn", [1.0, 2.0, 7.5])
@pytest.mark.parametrize("dfd", [0.7, 4.0, 30.0])
def test_densities_of_f(dfn, dfd, nc):
    np.testing.assert_allclose(
        slopes(lambda f: special.ncfdtr(dfn, dfd, nc, f), F), stats.ncf.pdf(F, dfn, dfd, nc), rtol=1e-12
    )
    by_nc = vmap(lambda f: grad(lambda c: special.ncfdtr(dfn, dfd, c, f))(nc + STEP))(F)
    differences = (special.ncfdtr(dfn, dfd, nc + 2 * STEP, F) - special.ncfdtr(dfn, dfd, nc, F)) / (2 * STEP)
    np.testing.assert_allclose(by_nc, differences, rtol=1e-6, atol=1e-9)
    p = np.array([0.1, 0.5, 0.8])
    quantiles = special.ncfdtri(dfn, dfd, nc, p)
    found = slopes(lambda p: special.ncfdtri(dfn, dfd, nc, p), p)
    np.testing.assert_allclose(found, 1 / stats.ncf.pdf(quantiles, dfn, dfd, nc), rtol=1e-9)
    found = vmap(lambda p: grad(lambda c: special.ncfdtri(dfn, dfd, c, p))(nc + STEP))(p)
    ends = [special.ncfdtri(dfn, dfd, nc + each, p) for each in (0.0, 2 * STEP)]
    np.testing.assert_allclose(found, (ends[1] - ends[0]) / (2 * STEP), rtol=1e-4)


def moments(t, df, nc):
    """The mean of ``s**k * phi(t * s - nc)`` for k from 0 to 3, where ``df * s**2`` has a chi-square distribution."""
    with mp.workdps(30):
        t, df, nc = mp.mpf(t), mp.mpf(df), mp.mpf(nc)
        scale, middle = 2 ** (1 - df / 2) / mp.gamma(df / 2), mp.sqrt(df)
        pieces = [
            0,
            *(middle * share for share in (0.25, 0.5, 1, 1.5)),
            2 * middle + 3,
            4 * middle + 8,
            8 * middle + 20,
        ]

        def moment(k):
            def inside(x):
                s = x / middle
                return mp.npdf(t * s - nc) * s**k * scale * x ** (df - 1) * mp.exp(-x * x / 2)

            return mp.quad(inside, pieces)

        return [moment(k) for k in range(4)]


POINTS = [
    (0.5, 3.0, 1.0), (-2.0, 5.0, 1.5), (8.0, 2.5, 3.0), (0.0, 4.0, 1.0), (1.0, 0.7, 0.5), (10.0, 10.0, 10.0),
    (3.0, 30.0, -2.0), (40.0, 8.0, 30.0), (-3.0, 1.5, 2.0), (-3.0, 1.2, 2.0), (1.0, 2000.0, 1.0), (0.3, 1.0, 0.0),
]  # fmt: skip


def test_derivatives_of_t_by_the_non_centrality_and_second_ones():
    t, df, nc = np.array(POINTS).T
    zeroth, first, second, third = np.array([moments(*each) for each in POINTS], dtype=np.float64).T

    def distribution(t, df, nc):
        return special.nctdtr(df, nc, t)

    by_nc = graph_jit(vmap(grad(distribution, argnums=2)))(t, df, nc)
    np.testing.assert_allclose(by_nc, -zeroth, rtol=1e-10)
    by_t_twice = graph_jit(vmap(grad(grad(distribution))))(t, df, nc)
    np.testing.assert_allclose(by_t_twice, nc * second - t * third, rtol=1e-10, atol=1e-15)
    for order in ((0, 2), (2, 0)):
        mixed = graph_jit(vmap(grad(grad(distribution, argnums=order[0]), argnums=order[1])))(t, df, nc)
        np.testing.assert_allclose(mixed, t * second - nc * first, rtol=1e-9, atol=1e-15)
    p = special.nctdtr(df, nc, t)
    quantiles = graph_jit(vmap(grad(lambda nc, df, p: special.nctdtrit(df, nc, p))))(nc, df, p)
    np.testing.assert_allclose(quantiles, zeroth / first, rtol=1e-7)


def test_edges():
    for dfn, first in ((1.0, np.inf), (2.0, np.exp(-0.5)), (3.0, 0.0)):
        found = slopes(lambda f, dfn=dfn: special.ncfdtr(dfn, 3.0, 1.0, f), np.array([0.0, np.inf, np.nan, -1.0]))
        np.testing.assert_allclose(found, [first, 0.0, np.nan, np.nan])
    found = slopes(lambda t: special.nctdtr(3.0, 1.0, t), np.array([np.inf, -np.inf, np.nan]))
    np.testing.assert_array_equal(found, [0.0, 0.0, np.nan])
    ends = np.array([np.inf, -np.inf, np.nan])
    by_nc = graph_jit(vmap(lambda t: grad(lambda nc: special.nctdtr(3.0, nc, t))(1.0)))(ends)
    np.testing.assert_array_equal(by_nc, [0.0, 0.0, np.nan])
    with pytest.raises(NotImplementedError, match="derivative"):
        grad(lambda df: special.nctdtr(df, 1.0, 0.5))(3.0)
    with pytest.raises(NotImplementedError, match="no second derivative"):
        grad(grad(lambda f: special.ncfdtr(3.0, 2.0, 1.0, f)))(1.0)
