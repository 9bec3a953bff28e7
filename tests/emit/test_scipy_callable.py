"""Compiled functions that SciPy calls from C."""

import gc

import numpy as np
import pytest
from scipy import integrate, ndimage

import numbagraph
from numbagraph.errors import TraceError

IMAGE = np.random.default_rng(0).normal(size=(7, 9))
FILTER, FILTER1D = "int(double*, npy_intp, double*, void*)", "int(double*, npy_intp, double*, npy_intp, void*)"


@pytest.mark.parametrize("signature", ["double(double)", "double (double, void *)"])
def test_quad_of_one_number(signature):
    bell = numbagraph.graph_jit(lambda x: np.exp(-x * x)).scipy_callable(signature)
    gc.collect()
    assert integrate.quad(bell, -np.inf, np.inf)[0] == pytest.approx(np.sqrt(np.pi), rel=1e-12)


@pytest.mark.parametrize("signature", ["double(int, double*)", "double(int, double*, void*)"])
def test_quad_with_parameters(signature):
    bell = numbagraph.graph_jit(lambda x, scale, height: height * np.exp(-scale * x * x))
    found = integrate.quad(bell.scipy_callable(signature), -np.inf, np.inf, args=(2.0, 3.0))[0]
    assert found == pytest.approx(3 * np.sqrt(np.pi / 2), rel=1e-12)
    array = numbagraph.graph_jit(lambda v: v[2] * np.exp(-v[1] * v[0] ** 2)).scipy_callable(signature)
    assert integrate.quad(array, -np.inf, np.inf, args=(2.0, 3.0))[0] == pytest.approx(found, rel=1e-12)


def test_nquad():
    def volume(x, y, z):
        return x * y**2 + np.sin(z)

    bounds = [(0.0, 1.0), (0.0, 2.0), (0.0, 0.5)]
    callback = numbagraph.graph_jit(volume).scipy_callable("double(int, double*)")
    assert integrate.nquad(callback, bounds)[0] == pytest.approx(integrate.nquad(volume, bounds)[0], rel=1e-12)


def test_filters():
    spread = numbagraph.graph_jit(lambda x: np.max(x) - np.mean(x)).scipy_callable(FILTER)
    expected = ndimage.generic_filter(IMAGE, lambda x: np.max(x) - np.mean(x), 3)
    np.testing.assert_allclose(ndimage.generic_filter(IMAGE, spread, 3), expected, rtol=1e-12)
    twice = numbagraph.graph_jit(lambda line: line[:-2] + 2 * line[1:-1] * line[2:]).scipy_callable(FILTER1D)

    def in_python(line, out):
        out[:] = line[:-2] + 2 * line[1:-1] * line[2:]

    expected = ndimage.generic_filter1d(IMAGE, in_python, 3)
    np.testing.assert_allclose(ndimage.generic_filter1d(IMAGE, twice, 3), expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")
def test_what_fails_is_nan_or_an_error_of_scipy():
    take = numbagraph.graph_jit(lambda v: v[5]).scipy_callable("double(int, double*)")
    assert np.isnan(integrate.quad(take, 0.0, 1.0)[0])
    three = numbagraph.graph_jit(lambda a, b, c: a + b + c).scipy_callable("double(int, double*)")
    assert np.isnan(integrate.quad(three, 0.0, 1.0)[0])
    short = numbagraph.graph_jit(lambda line: line[:2]).scipy_callable(FILTER1D)
    with pytest.raises(RuntimeError):
        ndimage.generic_filter1d(IMAGE, short, 3)


def test_what_does_not_fit_is_refused():
    f = numbagraph.graph_jit(lambda x: 2 * x)
    with pytest.raises(ValueError, match="signature must be one of 'double"):
        f.scipy_callable("float(float)")
    for signature in (None, 5, b"double(double)"):
        with pytest.raises(ValueError, match="signature must be one of 'double"):
            f.scipy_callable(signature)
    with pytest.raises(TypeError, match="takes 2 arguments"):
        numbagraph.graph_jit(lambda x, y: x + y).scipy_callable("double(double)")
    with pytest.raises(TypeError, match="must give one number, of float64"):
        f.scipy_callable("double(int, double*)")
    with pytest.raises(TypeError, match="must give one number, of float64"):
        numbagraph.graph_jit(lambda x: x > 0).scipy_callable("double(double)")
    with pytest.raises(TypeError, match="only backend='numba' has native code"):
        numbagraph.graph_jit(lambda x: x, backend="numpy").scipy_callable("double(double)")
    with pytest.raises((TraceError, TypeError)):
        numbagraph.graph_jit(lambda x: "text").scipy_callable("double(double)")
