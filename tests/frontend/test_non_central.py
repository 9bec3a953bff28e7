"""Derivatives of the non-central F and t distributions: SciPy's densities, and differences."""

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


def test_edges():
    for dfn, first in ((1.0, np.inf), (2.0, np.exp(-0.5)), (3.0, 0.0)):
        found = slopes(lambda f, dfn=dfn: special.ncfdtr(dfn, 3.0, 1.0, f), np.array([0.0, np.inf, np.nan, -1.0]))
        np.testing.assert_allclose(found, [first, 0.0, np.nan, np.nan])
    found = slopes(lambda t: special.nctdtr(3.0, 1.0, t), np.array([np.inf, -np.inf, np.nan]))
    np.testing.assert_array_equal(found, [0.0, 0.0, np.nan])
    with pytest.raises(NotImplementedError, match="derivative"):
        grad(lambda df: special.nctdtr(df, 1.0, 0.5))(3.0)
