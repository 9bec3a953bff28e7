"""Spectra of `scipy.signal` in compiled functions: values, dtypes, errors and derivatives are those of SciPy."""

import numpy as np
import pytest
from scipy import signal

from numbagraph import grad, graph_jit, vmap
from tests.support.scipy_checks import check, check_error, check_slope

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=70), RNG.normal(size=70)
ROWS = RNG.normal(size=(2, 40, 3))
Z = X + 1j * Y
WEIGHTS = RNG.uniform(0.5, 1.0, 16)
MEANS = (
    {}, {"fs": 8.0, "window": "hamming", "noverlap": 3, "nfft": 20}, {"average": "median", "scaling": "spectrum"},
    {"detrend": "linear", "window": ("kaiser", 3.0)}, {"detrend": False, "return_onesided": False},
    {"detrend": lambda d: d - d[..., :1], "nfft": 17},
)  # fmt: skip
WINDOWS = (
    {"nperseg": 16}, {"window": ("gaussian", 4.0), "nperseg": 15, "noverlap": 9, "fs": 4.0},
    {"window": WEIGHTS, "nperseg": 16},
    {"nperseg": 12, "nfft": 18, "detrend": "linear"}, {"nperseg": 16, "return_onesided": False},
)  # fmt: skip


@pytest.mark.repeats
@pytest.mark.parametrize("options", MEANS)
def test_means_of_spectra(options):
    check(lambda x: signal.welch(x, nperseg=16, **options), X)
    check(lambda x, y: signal.csd(x, y, nperseg=16, **options), X, Y[:50], again=[(X[:40], Y)])
    check(lambda x: signal.welch(x, nperseg=16, axis=1, **options), ROWS)
    check(lambda x: signal.welch(x, nperseg=16, **options), X.astype(np.float32), rtol=1e-6)


def test_means_of_spectra_of_complex_and_integer_signals():
    check(lambda x, y: signal.csd(x, y, nperseg=16, return_onesided=False), Z, X)
    check(lambda x: signal.welch(x, nperseg=16), Z)
    check(lambda x: signal.welch(x, nperseg=16), np.arange(50) % 7)
    check(lambda x: signal.welch(x, nperseg=16), (np.arange(50) % 7).astype(np.int16), rtol=1e-6)
    check(lambda x, y: signal.csd(x, y, nperseg=16, axis=-2), ROWS, ROWS[:, :30])
    check(lambda x, y: signal.csd(x, y), X[:0], Y)


def test_spectra_of_whole_signals():
    for options in ({}, {"nfft": 32}, {"nfft": 90, "window": "hann"}, {"scaling": "spectrum", "detrend": "linear"}):
        check(lambda x, options=options: signal.periodogram(x, 3.0, **options), X)
    check(lambda x: signal.periodogram(x, axis=1), ROWS)
    check(lambda x: signal.periodogram(x), Z)
    check(lambda x, w: signal.periodogram(x, window=w), X[:16], WEIGHTS)


def test_coherence():
    check(lambda x, y: signal.coherence(x, y, 2.0, nperseg=16), X, Y)
    check(lambda x, y: signal.coherence(x, y, nperseg=10, axis=1, detrend=False), ROWS, np.sin(ROWS))


@pytest.mark.parametrize("mode", ["angle", "phase"])
def test_angles_of_spectra(mode):
    """Where a part is zero but for rounding, an angle is this or that one: trends stay, points on a circle count."""
    check(lambda x: np.exp(1j * signal.spectrogram(x, nperseg=8, mode=mode, axis=1, detrend=False)[2]), ROWS)
    check(lambda x: np.exp(1j * signal.spectrogram(x, nperseg=9, mode=mode, detrend=False)[2]), X)


@pytest.mark.parametrize("mode", ["psd", "complex", "magnitude"])
def test_spectrograms(mode):
    for options in WINDOWS:
        check(lambda x, options=options: signal.spectrogram(x, mode=mode, **options), X)
    check(lambda x: signal.spectrogram(x, nperseg=8, mode=mode, axis=1), ROWS)
    check(lambda x: signal.spectrogram(x, nperseg=8, mode=mode, axis=0, scaling="spectrum"), X.reshape(35, 2))


@pytest.mark.repeats
@pytest.mark.parametrize("boundary", ["zeros", "even", "odd", "constant", None])
def test_short_time_transforms_and_their_inverses(boundary):
    for options in WINDOWS:
        for padded in (True, False):
            check(lambda x, o=options, p=padded: signal.stft(x, boundary=boundary, padded=p, **o), X)
    check(lambda x: signal.stft(x, 4.0, nperseg=9, boundary=boundary, scaling="psd", axis=1), ROWS)
    check(lambda x: signal.stft(x, nperseg=8, boundary=boundary), X.astype(np.float32), rtol=1e-6)
    check(lambda x: signal.stft(x, nperseg=8, boundary=boundary, return_onesided=False), Z)
    inverse = bool(boundary)
    for options in ({"nperseg": 16}, {"nperseg": 15, "noverlap": 11}, {"nperseg": 10, "fs": 5.0}):
        options = {"window": "hamming", **options}
        check(lambda z, o=options: signal.istft(z, boundary=inverse, **o), signal.stft(X, **options)[2][:, 1:-1])
    for axes in ((-1, -2), (0, 1), (2, 0)):
        z = np.moveaxis(signal.stft(ROWS, nperseg=8, axis=1)[2][0], (-1, 0), axes)
        check(lambda z, a=axes: signal.istft(z, window="hamming", time_axis=a[0], freq_axis=a[1], boundary=inverse), z)


def test_inverses_of_two_sided_transforms():
    z = signal.stft(Z, nperseg=8, return_onesided=False)[2]
    check(lambda z: signal.istft(z, input_onesided=False, scaling="psd", fs=3.0), z)
    check(lambda z: signal.istft(z.astype(np.complex64)), signal.stft(X, nperseg=8)[2], rtol=1e-5)
    check(lambda z, w: signal.istft(z, window=w), signal.stft(X, nperseg=16)[2], WEIGHTS)


def test_samples_at_any_times():
    times, freqs = np.sort(RNG.uniform(0, 10, 30)), np.linspace(0.1, 5.0, 12)
    weights = RNG.uniform(0.5, 1.0, 30)
    for options in ({}, {"normalize": True}, {"normalize": "amplitude", "floating_mean": True}):
        check(lambda t, y, f, o=options: signal.lombscargle(t, y, f, **o), times, X[:30], freqs)
        check(lambda t, y, f, w, o=options: signal.lombscargle(t, y, f, weights=w, **o), times, X[:30], freqs, weights)
    check(lambda t, y: signal.lombscargle(t, y, [2.0]), times, X[:30])
    check(lambda t, p: signal.vectorstrength(t, p), times, 1.5)
    check(lambda t, p: signal.vectorstrength(t, p), times, np.array([1.5, 2.0, 7.0]))
    check_error(lambda t, p: signal.vectorstrength(t, p), times, -1.0)
    check_error(lambda t, y: signal.lombscargle(t, y[:3], [1.0]), times, X)
    check_error(lambda t, w: signal.lombscargle(t, t, [1.0], weights=w), times, -weights)


def test_windows_of_traced_parameters():
    for name in ("gaussian", "kaiser", "tukey", "general_hamming", "tukey_symmetric", "exponential"):
        for count in (1, 7, 8):
            rest = (None,) if name == "exponential" else ()
            check(lambda s, n=name, r=rest, m=count: signal.get_window((n, *r, s), m), 0.7)
    for share in (0.0, 1.0, 1.5, -1.0, 0.3):
        check(lambda s: signal.windows.tukey(11, s), share)
    check(lambda s: signal.get_window(s, 9), 3.0)
    check(lambda s: signal.get_window(("kaiser_bessel_derived_symmetric", s), 8), 3.0)
    check(lambda s: signal.get_window(("general gaussian", s, 2.0), 9, False), 1.5)
    check(lambda a: signal.windows.general_cosine(9, a), np.array([0.5, 0.4, 0.1]))
    check(lambda x: x * signal.get_window("hann", len(x)), X, again=[(X[:9],)])
    with pytest.raises(TypeError, match=r"get_window of 'chebwin' with a traced parameter"):
        graph_jit(lambda s: signal.get_window(("chebwin", s[0]), 8))(np.array([60.0]))


def test_errors():
    for function in (signal.welch, signal.spectrogram, signal.stft, signal.periodogram):
        check_error(lambda x, f=function: f(x, scaling="power"), np.ones(300))
    for options in (
        {"nperseg": 8, "nfft": 7},
        {"nperseg": 8, "noverlap": 8},
        {"nperseg": 0},
        {"window": "none", "nperseg": 8},
    ):
        for function in (signal.welch, signal.spectrogram, signal.stft):
            check_error(lambda x, f=function, o=options: f(x, **o), X)
    check_error(lambda x: signal.welch(x, average="mode", nperseg=8), X)
    check_error(lambda x: signal.stft(x, boundary="mirror"), X)
    check_error(lambda x, y: signal.csd(x, y, axis=1), ROWS, ROWS[:, :, :2])
    check_error(lambda x: signal.welch(x, window=np.ones(5), nperseg=4), X)
    check_error(lambda x: signal.periodogram(x, window=np.ones(5)), X)
    check_error(lambda x: signal.spectrogram(x, mode="real"), X)
    check_error(lambda x: signal.welch(x, -1.0, nperseg=8), X)
    check_error(lambda z: signal.istft(z), Z)
    check_error(lambda z: signal.istft(z, time_axis=1, freq_axis=1), ROWS + 0j)


def test_warnings():
    with pytest.warns(UserWarning, match="nperseg=256 is greater than signal length"):
        graph_jit(lambda x: signal.welch(x))(X)
    with pytest.warns(UserWarning, match="Input data is complex"):
        graph_jit(lambda x: signal.stft(x, nperseg=8))(Z)
    with pytest.warns(UserWarning, match="NOLA condition failed"):
        graph_jit(lambda z: signal.istft(z, boundary=False))(signal.stft(X, nperseg=8)[2])


def test_derivatives():
    """Of signals, rates and parameters of windows."""
    check_slope(lambda x: signal.welch(x, nperseg=16)[1], X)
    check_slope(lambda x: np.abs(signal.csd(x, np.cos(x), nperseg=16, average="median")[1]), X)
    check_slope(lambda x: signal.coherence(x, x**2, nperseg=16)[1], X)
    check_slope(lambda x: signal.periodogram(x, 1.0 + x[0] ** 2)[1], X)
    check_slope(lambda x: signal.spectrogram(x, nperseg=16)[2], X)
    check_slope(lambda s: signal.welch(X, window=("kaiser", s[0]), nperseg=16)[1], np.array([3.0]))
    check_slope(lambda x: np.abs(signal.stft(x, nperseg=16, boundary="odd")[2]), X)
    check_slope(lambda x: signal.istft(signal.stft(x, nperseg=16)[2] ** 2)[1], X)
    check_slope(lambda x: signal.lombscargle(x, X[:5], x, floating_mean=True), np.arange(1.0, 6.0))
    check_slope(lambda x: signal.vectorstrength(x, 1.0 + x[0] ** 2)[0], X[:5])


def test_batches_and_gradients_of_them():
    batch = np.stack([X, Y])
    expected = np.stack([signal.spectrogram(each, nperseg=16)[2] for each in batch])
    np.testing.assert_allclose(vmap(lambda x: signal.spectrogram(x, nperseg=16)[2])(batch), expected, 1e-9, 1e-12)
    slope = grad(lambda x: np.sum(signal.welch(x, nperseg=16)[1] ** 2))
    np.testing.assert_allclose(vmap(slope)(batch), [slope(each) for each in batch], 1e-9, 1e-12)
    periods = np.array([1.0, 2.0])
    expected = [signal.vectorstrength(X, each)[0] for each in periods]
    np.testing.assert_allclose(vmap(lambda p: signal.vectorstrength(X, p)[0])(periods), expected)
