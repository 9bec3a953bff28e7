"""Fourier transforms of rows that are long enough for four steps: the numbers of NumPy, but for rounding."""

import numpy as np
import pytest

from numbagraph import grad, graph_jit, vmap
from numbagraph.intrinsics.emitters.long_fourier import LEAST_LONG, LEAST_OF_SEVERAL

LENGTHS = {
    "power of two": 2**16,
    "least": LEAST_LONG,
    "power of three": 3**10,
    "smooth": 2**3 * 3 * 5**2 * 7 * 11,
    "odd and even": 217 * 218,
    "even and odd": 218 * 219,
    "odd": 191 * 193,
    "prime": 32771,
    "two": 2 * 17011,
    "four": 4 * 9001,
    "five": 5 * 7013,
    "eight": 8 * 5003,
    "short": LEAST_LONG - 1,
}
TRANSFORMS = {
    "fft": lambda x, norm=None: np.fft.fft(x, norm=norm),
    "ifft": lambda x, norm=None: np.fft.ifft(x, norm=norm),
    "rfft": lambda x, norm=None: np.fft.rfft(x.real, norm=norm),
    "irfft": lambda x, norm=None: np.fft.irfft(x[..., : x.shape[-1] // 2 + 1], x.shape[-1], norm=norm),
}


def numbers(*shape):
    rng = np.random.default_rng(shape[-1])
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def check(function, *args, single=False):
    """Errors in the 2-norm, relative to that of the result; positions, dtypes and shapes are NumPy's."""
    expected, found = function(*args), graph_jit(function)(*args)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    limit = (6e-8 if single else 1e-16) * np.log2(expected.shape[-1])
    exact = function(args[0].astype(np.complex128)) if single else expected
    assert np.linalg.norm(found - exact) <= limit * np.linalg.norm(exact)
    return found


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("kind", LENGTHS)
def test_lengths(name, kind):
    check(TRANSFORMS[name], numbers(LENGTHS[kind]))


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("norm", ["ortho", "forward"])
def test_factors(name, norm):
    check(lambda x: TRANSFORMS[name](x, norm), numbers(40320))


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("length", [2**15, 217 * 218, 8 * 5003])
def test_single_precision(name, length):
    check(TRANSFORMS[name], numbers(length).astype(np.complex64), single=True)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_rows(name):
    """Several share a plan of NumPy's, unless they are still longer."""
    check(TRANSFORMS[name], numbers(3, 2, 33000))
    rows = numbers(2, LEAST_OF_SEVERAL)
    found = check(TRANSFORMS[name], rows)
    np.testing.assert_array_equal(found[1], graph_jit(TRANSFORMS[name])(rows[1]))
    check(TRANSFORMS[name], np.asfortranarray(numbers(3, 33000)))
    check(lambda x: TRANSFORMS[name](x[::2]), numbers(66000))
    check(lambda x: TRANSFORMS[name](x[::-1]), numbers(33000))


def test_in_place():
    """The result of the first transform is memory that the second may write to."""
    x = numbers(2, 2**15)
    given = x.copy()
    check(lambda x: np.fft.ifft(np.fft.fft(x) * 2.0) + x, x)
    check(lambda x: np.fft.fft(np.fft.fft(x), axis=0), x)
    np.testing.assert_array_equal(x, given)


@pytest.mark.parametrize("length", [2**15, 217 * 218, 218 * 219, 191 * 193])
def test_numbers_without_conjugates(length):
    """Those of a half are real: NumPy reads no imaginary part of them, and writes zeros."""
    found = graph_jit(np.fft.rfft)(numbers(length).real)
    ends = [0, -1] if length % 2 == 0 else [0]
    np.testing.assert_array_equal(found[ends].imag, 0.0)
    half = numbers(length // 2 + 1)
    for imaginary in (1e3, np.nan, np.inf):
        half[ends] = complex(2.0, imaginary)
        check(lambda x, like: np.fft.irfft(x, like.shape[0]), half, np.zeros(length))


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 5, 20000])
def test_what_is_not_finite(name, value, place):
    """Nowhere is a number finite that NumPy's is not."""
    x = numbers(2, 45000)
    x[1, place] = value
    with np.errstate(invalid="ignore"):
        expected, found = TRANSFORMS[name](x), graph_jit(TRANSFORMS[name])(x)
    assert np.linalg.norm(found[0] - expected[0]) <= 1e-14 * np.linalg.norm(expected[0])
    lost = [~np.isfinite(expected[1]), ~np.isfinite(expected[1].real), ~np.isfinite(expected[1].imag)]
    for each, mine in zip(lost, (found[1], found[1].real, found[1].imag), strict=True):
        assert not np.isfinite(mine[each]).any()


@pytest.mark.parametrize("value", [0.0, 1e300, 5e-324])
def test_magnitudes(value):
    x = np.zeros(40000)
    x[7] = value
    for transform in (np.fft.fft, np.fft.rfft):
        expected, found = transform(x), graph_jit(transform)(x)
        np.testing.assert_allclose(np.abs(found), np.abs(expected), rtol=1e-14, atol=1e-323)


def test_gradients():
    """Parseval's theorem: the derivative of the energy of a transform is 2 n x."""
    x = numbers(40000).real
    found = graph_jit(grad(lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2)))(x)
    np.testing.assert_allclose(found, 2 * x.size * x, rtol=0, atol=1e-9)
    weights = numbers(20001).real
    found = graph_jit(grad(lambda x: np.sum(np.fft.rfft(x).real * weights)))(x)
    padded = np.zeros(40000)
    padded[:20001] = weights
    np.testing.assert_allclose(found, np.fft.fft(padded).real, rtol=0, atol=1e-9)


def test_batches():
    x = numbers(2, 3, 33000).real
    found = graph_jit(vmap(lambda x: np.fft.irfft(np.fft.rfft(x) * 2, x.shape[-1])))(x)
    np.testing.assert_allclose(found, 2 * x, rtol=0, atol=1e-13)


def test_within_a_graph():
    def filtered(x, cut):
        spectrum = np.fft.rfft(x - np.mean(x))
        frequencies = np.fft.rfftfreq(x.shape[0])
        return np.fft.irfft(np.where(frequencies < cut, spectrum, 0), x.shape[0]) + x[::-1]

    compiled = graph_jit(filtered)
    for length in (40000, 300, 33001):  # one program, which takes the way that a length asks for
        x = numbers(length).real
        np.testing.assert_allclose(compiled(x, 0.1), filtered(x, 0.1), rtol=0, atol=1e-13)


def test_threads():
    """Each has work memory of its own."""
    x = numbers(6, LEAST_OF_SEVERAL)
    found = graph_jit(lambda x: np.fft.fft(x) * 2, parallel=True)(x)
    np.testing.assert_array_equal(found, graph_jit(lambda x: np.fft.fft(x) * 2)(x))
    expected = 2 * np.fft.fft(x)
    assert np.linalg.norm(found - expected) <= 2e-15 * np.linalg.norm(expected)
