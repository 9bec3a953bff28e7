"""The functions of `scipy.fft` in compiled functions: values, dtypes and errors are those of SciPy."""

import itertools

import numpy as np
import pytest
from scipy import fft

from numbagraph import grad, graph_jit, jvp

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(3, 6))
LONE = RNG.normal(size=1)
NORMS = [None, "backward", "ortho", "forward"]


def check(function, *args):
    """One result, or a list of them, whose transforms are compiled together."""
    expected, found = function(*args), graph_jit(function)(*args)
    if not isinstance(expected, list):
        expected, found = [expected], [found]
    for one, other in zip(found, expected, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        rtol = 2e-6 if other.dtype in (np.float32, np.complex64) else 1e-13
        np.testing.assert_allclose(one, other, rtol, rtol * np.max(np.abs(other), initial=1.0))


@pytest.mark.repeats(but_each=4)
@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_cosines_and_sines(name, kind, extent):
    transform, both = getattr(fft, name), [None, True, False]
    pairs = [*(itertools.product(NORMS, both) if extent == "all" else zip(NORMS, [*both, None], strict=True))]
    check(lambda x: [transform(x, kind, norm=norm, orthogonalize=each) for norm, each in pairs], ROWS)
    for norm, each in pairs if extent == "all" else pairs[:1]:
        check(lambda x, n=norm, o=each: transform(x, kind, axis=0, norm=n, orthogonalize=o), ROWS)


@pytest.mark.repeats(but_each=4)
@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
@pytest.mark.parametrize("kind", [2, *(pytest.param(kind, marks=pytest.mark.repeats) for kind in (3, 4))])
def test_cosines_of_other_numbers(name, kind):
    transform = getattr(fft, name)
    for array in (ROWS.astype(np.float32), ROWS + 1j * ROWS[::-1], np.arange(5), ROWS > 0, LONE):
        check(lambda x: transform(x, kind, norm="ortho"), array)
    check(lambda x: [transform(x, kind, count) for count in (1, 4, 9)], ROWS)


def test_areas_of_cosines(extent):
    names, kinds = ["dctn", "idctn", "dstn", "idstn"], [1, 2, 3, 4]
    for name, kind in itertools.product(names, kinds) if extent == "all" else zip(names, kinds, strict=True):
        transform = getattr(fft, name)
        check(lambda x, f=transform, k=kind: [f(x, k), f(x, k, [4], norm="ortho")], ROWS)
        check(lambda x, f=transform, k=kind: f(x, k, [5, 4], [1, 0], orthogonalize=True), ROWS)


@pytest.mark.parametrize("name", ["hfft2", "ihfft2", "hfftn", "ihfftn"])
@pytest.mark.parametrize("norm", NORMS)
def test_areas_of_hermitian_arrays(name, norm):
    transform = getattr(fft, name)
    array = ROWS if name.startswith("i") else ROWS + 1j * ROWS[::-1]
    check(lambda x: transform(x, norm=norm), array)
    check(lambda x: transform(x, [4, 5], (1, 0), norm), array)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_transforms_of_one_axis(name):
    transform = getattr(fft, name)
    check(lambda x: [transform(x, norm=norm) for norm in NORMS], ROWS)
    check(lambda x: [transform(x, 4, 0, norm, True, 1) for norm in NORMS], ROWS)
    check(lambda x: transform(x, n=8, axis=0), ROWS.astype(np.float32))


def test_derivatives():
    for name, kind in itertools.product(["dct", "idct", "dst", "idst"], [1, 2, 3, 4]):
        transform = getattr(fft, name)

        def function(x, transform=transform, kind=kind):
            return transform(x, kind, norm="ortho")

        weights = np.arange(1.0, 7.0)

        def derivatives(x, v, f=function):
            return grad(lambda x: np.sum(f(x) * np.arange(1.0, 7.0)))(x), jvp(f, (x,), (v,))[1]

        found, forward = graph_jit(derivatives)(ROWS[0], ROWS[1])
        matrix = function(np.eye(6)).T  # row by row
        np.testing.assert_allclose(found, matrix.T @ weights, 1e-12, 1e-12)
        np.testing.assert_allclose(forward, function(ROWS[1]), 1e-12, 1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: fft.dct(x, 5),
        lambda x: fft.dct(x, norm="wrong"),
        lambda x: fft.dct(x, n=0),
        lambda x: fft.dctn(x, s=[3], axes=[0, 1]),
        lambda x: fft.hfftn(x, norm="wrong"),
    ],
)
def test_errors(call):
    with pytest.raises(ValueError):  # noqa: PT011
        call(ROWS)
    with pytest.raises(ValueError, match=r"invalid|Invalid|length"):
        graph_jit(call)(ROWS)


def test_what_is_refused_says_what_to_write():
    with pytest.raises(
        (TypeError, NotImplementedError), match=r"scipy\.fft\.fhtoffset is not supported .*: call it outside"
    ):
        graph_jit(lambda x: x + fft.fhtoffset(x[0], 0.5))(ROWS[0])
    with pytest.raises(TypeError, match="unexpected keyword argument 'axes'"):
        graph_jit(lambda x: fft.fft(x, axes=0))(ROWS)


@pytest.mark.parametrize("name", ["dct", "dst"])
def test_fourth_kind_of_even_and_odd_lengths_in_one_version(name):
    transform = getattr(fft, name)
    compiled = graph_jit(lambda x: transform(x, 4))
    for length in (10, 7, 1, 2, 3, 4, 101, 1000):
        for x in (np.cos(np.arange(1.0, length + 1)), np.cos(np.arange(2.0 * length)).reshape(2, length)):
            np.testing.assert_allclose(compiled(x), transform(x, 4), rtol=1e-11, atol=1e-12)
    for length in (6, 7):
        slopes = graph_jit(grad(lambda x: np.sum(np.cos(np.arange(len(x))) * transform(x, 4))))(np.ones(length))
        expected = transform(np.eye(length), 4) @ np.cos(np.arange(length))
        np.testing.assert_allclose(slopes, expected, rtol=1e-11, atol=1e-12)
