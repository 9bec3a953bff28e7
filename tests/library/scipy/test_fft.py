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


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
@pytest.mark.parametrize(("count", "stride"), [(300, 1024), (4200, 1088), (4200, 2096)])
def test_columns_whose_elements_collide_in_the_cache(dtype, count, stride):
    """They are transformed in blocks, as rows. The last block may be smaller than the others."""
    real = np.zeros(1, dtype).real.dtype
    one, other = (
        RNG.normal(size=(2, count, stride // width)).astype(real) for width in (real.itemsize, dtype().itemsize)
    )
    number = other + 1j * other[::-1]
    tolerance = 0 if dtype is np.complex128 else 2e-6
    for function, array in ((np.fft.fft, number), (np.fft.ifft, number), (np.fft.rfft, one), (np.fft.irfft, number)):
        expected, found = function(array, axis=-2), graph_jit(lambda x, f=function: f(x, axis=-2))(array)
        np.testing.assert_allclose(found, expected, tolerance, tolerance * np.abs(expected).max())


@pytest.mark.parametrize("name", ["fft", "ifft", "fft2", "ifft2", "fftn", "ifftn"])
def test_real_numbers_are_completed_from_their_half(name):
    transform = getattr(fft, name)
    for shape in ((4, 5, 6), (3, 1, 7), (2, 3, 1), (1, 1, 2)):
        array = RNG.normal(size=shape)
        check(lambda x: [transform(x, norm=norm) for norm in NORMS], array)
        for each in (array > 0, array.astype(np.float32), (9 * array).astype(np.int16), array.T, array[::-1]):
            check(transform, each)
    if name in ("fft", "ifft"):
        check(lambda x: [transform(x, n, axis) for n in (1, 4, 7, 11) for axis in (0, 1, -1)], array)
    else:
        check(lambda x: [transform(x, s, (2, 0)) for s in ((3, 7), (6, 2), (1, 1), (2, -1))], array)
        check(lambda x: [transform(x, axes=axes) for axes in ((0, 1), (1, 0), (-1, 0), (1, 2))], array)
    for axes in ((1, 1), (3, 0)) if name.endswith("n") else ():
        with pytest.raises(ValueError, match="axes"):
            graph_jit(lambda x, a=axes: transform(x, axes=a))(array)


def test_transforms_of_real_numbers_take_lengths_from_arguments():
    def spectra(x, y):
        return fft.fft(x, len(y)), fft.ifft2(x[:, None] * y)

    compiled = graph_jit(spectra)
    for n, m in ((5, 8), (8, 5), (1, 2), (6, 6)):
        args = RNG.normal(size=n), RNG.normal(size=m)
        for found, expected in zip(compiled(*args), spectra(*args), strict=True):
            np.testing.assert_allclose(found, expected, 1e-13, 1e-13)
