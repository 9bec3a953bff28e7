"""SciPy's functions of signals and images with arrays of other dtypes, and with arrays of no elements."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import ndimage as scipy_ndimage
from scipy import signal

from numbagraph import graph_jit
from numbagraph.errors import TraceError
from tests.support.coverage.families import table
from tests.support.coverage.measure import function_of
from tests.support.coverage.scipy_calls import MODULES

ndimage: Any = scipy_ndimage
DTYPES = {"uint32": 10, "bool": 1, "complex64": 1}
"""Dtypes, and what numbers between 0 and 1 are multiplied by first."""
EMPTY = {"rotate", "convolve2d", "correlate2d", "convolve", "correlate", "mean", "sosfilt", "detrend"}
"""Functions of which SciPy has errors for arrays of no elements, or results of other lengths."""
SUMMED_IN_SINGLE = {"center_of_mass", "mean", "variance", "standard_deviation"}
"""Functions with results of double precision from sums that SciPy rounds as their operands are."""
OWN_DTYPES = {"ss2tf", "decimate", "bilinear_zpk", "lp2bp_zpk", "lp2bs_zpk", "lp2hp_zpk", "lp2lp_zpk"}
"""Functions in which SciPy's unsigned integers wrap around, and those that find roots in single precision: compiled,
both are computed in double precision."""
REAL = {"windows.general_cosine"}
"""Functions that SciPy refuses complex numbers for, with an error of NumPy's."""
IMAGE = np.array([[3, 2, 5, 1, 4], [5, 8, 3, 7, 1], [5, 6, 9, 3, 5]])


def result_of(function, args):
    """What a function gives, or its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = function(*args)
        except (TypeError, ValueError, RuntimeError, IndexError, NotImplementedError) as error:
            return error
    return found if isinstance(found, tuple) else (found,)


def compare(function, args, name, rtol=None):
    expected, found = result_of(function, args), result_of(graph_jit(function), args)
    if isinstance(found, TraceError):
        return
    if isinstance(expected, Exception) or isinstance(found, Exception):
        assert isinstance(found, type(expected)), f"{name}: {expected!r}, compiled: {found!r}"
        return
    for left, right in zip(map(np.asarray, found), map(np.asarray, expected), strict=True):
        assert (left.dtype, left.shape) == (right.dtype, right.shape), name
        if right.dtype.kind in "iub":
            np.testing.assert_array_equal(left, right, name)
        else:
            largest = np.max(np.abs(right), initial=1.0, where=np.isfinite(right))
            bound = rtol or 1e4 * np.finfo(right.dtype).eps
            np.testing.assert_allclose(left, right, bound, bound * largest, err_msg=name)


@pytest.mark.repeats
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("page", ["scipy_ndimage", "scipy_signal"])
def test_other_dtypes(page, dtype):
    for name, call in table(MODULES[page][1]).items():
        if call is None or name in OWN_DTYPES or (name in REAL and dtype == "complex64"):
            continue
        function, args = function_of(call)
        floats = [np.ndim(each) > 0 and np.asarray(each).dtype == np.float64 for each in args]
        given = [
            (DTYPES[dtype] * each).astype(dtype) if converts else each
            for each, converts in zip(args, floats, strict=True)
        ]
        rtol = 4 * np.finfo("f4").eps if dtype == "complex64" and name in SUMMED_IN_SINGLE else None
        compare(function, given, f"{name} of {dtype}", rtol)


@pytest.mark.parametrize("page", ["scipy_ndimage", "scipy_signal"])
def test_no_elements(page):
    for name, call in table(MODULES[page][1]).items():
        if call is not None and name not in EMPTY:
            function, args = function_of(call)
            compare(function, [each[:0] if np.ndim(each) else each for each in args], f"{name} of no elements")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int32])
@pytest.mark.parametrize("name", ["prewitt", "sobel", "laplace"])
def test_differences_of_integers_wrap_around(name, dtype):
    compare(getattr(ndimage, name), [IMAGE.astype(dtype)], name)


OPTIONS: dict[str, Any] = {
    "rank by name": lambda x: ndimage.rank_filter(x, rank=1, size=3),
    "percentile by name": lambda x: ndimage.percentile_filter(x, percentile=30.0, size=3),
    "unknown option": lambda x: ndimage.median_filter(x, 3, mod="wrap"),
    "an axis twice": lambda x: ndimage.uniform_filter(x, 3, axes=(1, -1)),
    "modes of axes": lambda x: ndimage.correlate(x, np.ones((2, 2)), mode=["wrap", "nearest"]),
    "complex constant": lambda x: ndimage.correlate(x, np.ones((2, 2)) + 0j, mode="constant", cval=1j),
    "sum of labelled": lambda x: ndimage.sum_labels(x, x > 3),
    "mean of labelled": lambda x: ndimage.mean(x, x > 3),
    "mean": lambda x: ndimage.mean(x),
    "products of one element": lambda x: signal.fftconvolve(x[:1, :1], x[:1, :1]),
    "products along rows": lambda x: signal.fftconvolve(x[:, :1], x[:, :1], axes=1),
    "distance of samples": lambda x: signal.savgol_filter(x, 5, 2, deriv=1, delta=x[0, 0]),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options(name):
    compare(OPTIONS[name], [IMAGE], name)


def test_numbers_of_frequencies():
    found = graph_jit(lambda b, n: signal.freqz(b, worN=n)[1])
    for n in (4, 7):
        np.testing.assert_allclose(found(np.ones(3), n), signal.freqz(np.ones(3), worN=n)[1], rtol=1e-13)
    with pytest.raises(TraceError, match="worN= as a static argument"):
        found(np.ones(3), np.array(4))
