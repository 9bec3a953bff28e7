"""Peaks and envelopes of signals in compiled functions: places, properties, errors and derivatives are SciPy's."""

import numpy as np
import pytest
from scipy import signal

from numbagraph import graph_jit, vmap
from tests.support.scipy_checks import check, check_error, check_slope

RNG = np.random.default_rng(0)
X = RNG.normal(size=60)
LEVEL = np.round(X, 1)
ROWS = np.round(RNG.normal(size=(4, 9)), 1)
HUMS = np.sin(np.arange(70) * 0.4) * (1 + 0.3 * np.cos(np.arange(70) * 0.1)) + 0.2


def peaks_and_properties(**options):
    def call(x):
        peaks, found = signal.find_peaks(x, **options)
        return (peaks, *(found[name] for name in sorted(found)))

    return call


OPTIONS = (
    {}, {"height": 0.2}, {"height": (None, 0.5)}, {"height": np.cos(np.arange(60.0))}, {"threshold": (0.2, 1.5)},
    {"distance": 3.5}, {"prominence": 0.5}, {"prominence": (0.2, 1.0), "wlen": 9}, {"width": (0.5, 3.0)},
    {"width": 1, "rel_height": 0.8, "prominence": 0.1}, {"plateau_size": (1, 2)},
    {"height": -1.0, "threshold": 0.1, "distance": 4, "prominence": (0.2, None), "width": 0.5, "plateau_size": 1},
)  # fmt: skip


@pytest.mark.repeats(but_each=2)
@pytest.mark.parametrize("options", OPTIONS)
def test_peaks(options):
    check(peaks_and_properties(**options), LEVEL, again=[(X,)])


def test_peaks_at_ends_and_levels():
    for x in ([], [1.0], [1.0, 2.0], [0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.0], [0, 2, 2, 0, 3, 3, 3, 1]):
        check(peaks_and_properties(prominence=0, width=0), np.array(x, float))
    check(peaks_and_properties(height=0.0), np.array([0.0, np.nan, 1.0, 0.0, 2.0, 1.0]))
    check(peaks_and_properties(height=1), np.array([0, 1, 0, 3, 1]))


def test_limits_that_are_computed():
    check(lambda x, h, d: signal.find_peaks(x, height=h, distance=d)[0], LEVEL, 0.2, 3)
    check(lambda x, low, high: signal.find_peaks(x, height=(low, high))[0], LEVEL, 0.2, 1.0)
    check(lambda x, h: signal.find_peaks(x, height=h)[0], X, np.sin(X))
    check_error(lambda x: signal.find_peaks(x, distance=0.5), X)
    check_error(lambda x: signal.find_peaks(x, prominence=1, wlen=1), X)
    check_error(lambda x, h: signal.find_peaks(x, height=h), X, X[:5])
    check_error(lambda x: signal.find_peaks(x), ROWS)


def test_properties_of_given_peaks():
    peaks = signal.find_peaks(X)[0]
    for wlen in (None, 5, 8.5):
        check(lambda x, p, w=wlen: signal.peak_prominences(x, p, w), X, peaks)
        check(lambda x, p, w=wlen: signal.peak_widths(x, p, 0.7, wlen=w), X, peaks)
    check(lambda x: signal.peak_widths(x, [2, 6], 0.2), np.array([0.0, 1.0, 2.0, 1.0, 0.5, 1.0, 3.0, 2.0]))
    check(lambda x, p: signal.peak_widths(x, p, prominence_data=signal.peak_prominences(x, p)), X, peaks)
    check_slope(lambda x: signal.peak_prominences(x, peaks)[0], X)
    check_slope(lambda x: signal.peak_widths(x, peaks), X)
    check_slope(lambda x: signal.find_peaks(x, width=0.1)[1]["widths"], X)
    with pytest.raises(TypeError, match="cannot safely cast"):
        graph_jit(lambda x: signal.peak_prominences(x, x))(X)
    with pytest.raises(ValueError, match="not a valid index"):
        graph_jit(lambda x, p: signal.peak_prominences(x, p))(X, np.array([70]))


@pytest.mark.parametrize("mode", ["clip", "wrap"])
def test_relative_extrema(mode):
    for order in (1, 2):
        check(lambda x, n=order: signal.argrelmax(x, order=n, mode=mode), LEVEL)
        check(lambda x, n=order: signal.argrelmin(x, axis=1, order=n, mode=mode), ROWS)
    check(lambda x: signal.argrelextrema(x, np.greater_equal, mode=mode), LEVEL, again=[(LEVEL[:3],)])
    check(lambda x: signal.argrelextrema(x, lambda a, b: a > b + 0.5, mode=mode), LEVEL)
    check_error(lambda x: signal.argrelmax(x, order=0), X)


def test_how_many_peaks_there_are_for_each_row():
    """Rows have as many peaks as they like; what is made of them has one shape."""
    found = vmap(lambda x: np.sum(x[1:-1] * ((x[1:-1] > x[:-2]) & (x[1:-1] > x[2:]))))(ROWS)
    loops = graph_jit(lambda rows: np.stack([np.sum(rows[i][signal.argrelmax(rows[i])[0]]) for i in range(4)]))(ROWS)
    np.testing.assert_allclose(loops, found)


def test_envelopes():
    for options in (
        {}, {"residual": "all"}, {"residual": None, "squared": True}, {"bp_in": (None, None)}, {"bp_in": (2, 20)},
        {"n_out": 40}, {"n_out": 91}, {"bp_in": (-20, 5), "residual": "all"}, {"bp_in": (0, 6)},
    ):  # fmt: skip
        check(lambda x, o=options: signal.envelope(x, **o), HUMS, again=[(HUMS[:69],)])
    for options in ({}, {"bp_in": (-20, -3)}, {"bp_in": (-9, 9), "residual": "all"}, {"residual": None, "n_out": 40}):
        check(lambda x, o=options: signal.envelope(x, **o), HUMS * np.exp(0.3j * np.arange(70)))
    check(lambda x: signal.envelope(x, (None, None), axis=0), ROWS)
    check(lambda x: signal.envelope(x), HUMS.astype(np.float32), rtol=1e-5)
    check_slope(lambda x: signal.envelope(x), HUMS)
    check_error(lambda x: signal.envelope(x, (3, 2)), HUMS)
    check_error(lambda x: signal.envelope(x, n_out=0), HUMS)
    for options in ({}, {"N": 6}, {"N": (5, 7), "axes": (1, 0)}):
        check(lambda x, o=options: signal.hilbert2(x, **o), ROWS)
    check_error(lambda x: signal.hilbert2(x, axes=(0, 0)), ROWS)


def test_without_noise_and_without_a_filter():
    for options in ({}, {"mysize": 5}, {"mysize": (3, 1), "noise": 0.3}):
        check(lambda x, o=options: signal.wiener(x, **o), ROWS)
    check(lambda x: signal.wiener(x, 5, 0.2), X)
    check_slope(lambda x: signal.wiener(x), X)
    check(lambda x, y: signal.deconvolve(x, y), X[:8], np.array([2.0, 0.5, 0.1]), rtol=1e-8)
    check(lambda x: signal.deconvolve([1.0, 2.0], x)[1], X[:3])
    check_slope(lambda y: signal.deconvolve(X[:8], y), np.array([2.0, 0.5, 0.1]))
    check_error(lambda y: signal.deconvolve(X[:0], y), X)
