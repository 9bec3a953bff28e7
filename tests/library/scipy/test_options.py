"""Options of SciPy's functions of images, signals, banded matrices and interpolants."""

from functools import partial

import numpy as np
import pytest
from scipy import interpolate, linalg, ndimage, signal
from scipy.spatial import distance

from numbagraph import grad, graph_jit

RNG = np.random.default_rng(0)
IMAGE = RNG.normal(size=(5, 6))
WHOLE = RNG.integers(0, 100, (5, 6))
LINE = RNG.normal(size=50)
LABELS = RNG.integers(0, 4, (5, 6))
NODES = np.sort(RNG.uniform(0, 2, 6))
HEIGHTS = RNG.normal(size=(3, 6))
PLACES = RNG.uniform(0, 2, (5, 6))
BANDS = np.array([[4.0, 5.0, 6.0, 7.0], [1.0, 0.5, -1.0, 9.0], [0.5, 0.25, 9.0, 9.0]])
COEFFICIENTS = np.array([0.5, -1.0, 2.0])


def check(function, *args, rtol=1e-9):
    expected, found = function(*args), graph_jit(function)(*args)
    several = isinstance(expected, tuple)
    for own, other in zip(found if several else (found,), expected if several else (expected,), strict=True):
        own, other = np.asarray(own), np.asarray(other)
        assert (own.dtype, own.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(own, other, rtol, 1e-11)


@pytest.mark.parametrize("mode", ["reflect", "constant", "nearest", "mirror", "wrap", "grid-constant"])
@pytest.mark.parametrize("order", [0, 1])
def test_images_that_are_moved(mode, order):
    options = {"order": order, "mode": mode, "cval": 2.0}
    check(lambda a: ndimage.shift(a, (0.3, -1.25), **options), IMAGE)
    check(lambda a: ndimage.shift(a, 1.0, **options), WHOLE)
    check(lambda a: ndimage.zoom(a, (1.6, 0.7), **options), IMAGE)
    check(lambda a: ndimage.rotate(a, 33.0, **options), IMAGE)
    check(lambda a: ndimage.rotate(a, 90.0, **options), IMAGE)
    check(lambda a, b: ndimage.rotate(a, b, reshape=False, axes=(0, 1), **options), IMAGE, np.float64(20.0))
    check(lambda a: ndimage.affine_transform(a, [0.9, 1.2], [0.1, -0.3], output_shape=(4, 7), **options), IMAGE)
    check(lambda a: ndimage.affine_transform(a, [[0.9, 0.1, 0.3], [0.0, 1.2, 0.4]], **options), IMAGE)


def test_traced_moves():
    check(lambda a, b: ndimage.shift(a, b, order=1), IMAGE, np.array([0.5, -0.25]))
    check(lambda a, b: ndimage.affine_transform(a, b, order=1), IMAGE, np.array([[0.9, 0.1], [0.05, 1.1]]))


def test_complex_weights():
    """Correlations conjugate them, convolutions do not."""
    kernel = RNG.normal(size=(3, 2)) + 1j * RNG.normal(size=(3, 2))
    for function in (ndimage.correlate, ndimage.convolve):
        for weights in (kernel, kernel.real):
            for image in (IMAGE, IMAGE + 1j * IMAGE[::-1]):
                check(lambda a, w, f=function: f(a, w, mode="mirror"), image, weights)
                check(lambda a, w=weights, f=function: f(a, w), image)
    for function in (ndimage.correlate1d, ndimage.convolve1d):
        check(lambda a, w, f=function: f(a, w, axis=0, origin=-1), IMAGE, kernel[:, 0])


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("mode", ["constant", "nearest", "mirror", "wrap", "grid-wrap", "grid-constant"])
def test_points_that_rounding_puts_at_an_edge_or_half_way(mode, order):
    """Factors and offsets of one digit: sums of them are whole, or halves, but for rounding, which is SciPy's.

    (Halves beyond an edge that reflects have a neighbour on each side in SciPy, too: ``reflect`` is left out.)"""
    rng = np.random.default_rng(order)
    moved = graph_jit(lambda a, m, o: ndimage.affine_transform(a, m, o, order=order, mode=mode))
    for factors in [np.round(rng.uniform(-1, 1, (2, 2)), 1) for _ in range(20)] + [np.array([0.9, -0.6])]:
        offset = np.round(rng.uniform(-2, 2, 2), 1)
        expected = ndimage.affine_transform(IMAGE, factors, offset, order=order, mode=mode)
        np.testing.assert_allclose(moved(IMAGE, factors, offset), expected, 1e-9, 1e-11)
    no_move = moved(IMAGE, np.array([0.0, 1.0]), np.array([2.0, 0.0]))  # SciPy divides by the factor
    np.testing.assert_allclose(no_move, np.broadcast_to(IMAGE[2], IMAGE.shape))


@pytest.mark.parametrize(
    "mode",
    ["reflect", "constant", *(pytest.param(mode, marks=pytest.mark.repeats) for mode in ("nearest", "mirror", "wrap"))],
)
def test_order_statistics_of_neighbours(mode):
    cross = ndimage.generate_binary_structure(2, 1)
    for image in (IMAGE, WHOLE):
        check(lambda a: ndimage.median_filter(a, 3, mode=mode, cval=1.0), image)
        check(lambda a: ndimage.median_filter(a, footprint=cross, mode=mode), image)
        check(lambda a: ndimage.rank_filter(a, -2, (2, 3), mode=mode, origin=(0, -1)), image)
        check(lambda a: ndimage.percentile_filter(a, 100, 3, mode=mode), image)
        check(lambda a: ndimage.percentile_filter(a, -40, (3, 1), mode=mode), image)
        check(lambda a: ndimage.generic_filter(a, np.ptp, (3, 2), mode=mode), image)


@pytest.mark.parametrize("name", ["binary_erosion", "binary_dilation", "binary_opening", "binary_closing"])
def test_binary_morphology(name):
    function, flags = getattr(ndimage, name), RNG.random((9, 8)) < 0.7
    lopsided = np.array([[1, 1, 0, 0], [0, 1, 0, 1]])
    for image in (flags, flags[:, 0], flags * 3, flags - 0.5 * flags[::-1], flags[:0]):
        check(lambda a: function(a), image)
    for border in (0, 1):
        check(lambda a, border=border: function(a, np.ones((3, 3)), 2, border_value=border), flags)
        check(lambda a, border=border: function(a, lopsided, origin=(0, -1), border_value=border), flags)
    check(lambda a, mask: function(a, iterations=2, mask=mask), flags, RNG.random((9, 8)) < 0.5)
    check(lambda a: function(a, np.zeros((3, 3)), output=np.int32), flags)
    for options in ({"iterations": 0}, {"axes": 0}, {"output": np.empty((9, 8))}):
        with pytest.raises(TypeError, match=r"not supported in a traced function"):
            graph_jit(lambda a, options=options: function(a, **options))(flags)
    with pytest.raises(ValueError, match="invalid origin"):
        graph_jit(lambda a: function(a, origin=2))(flags)


def test_waveforms():
    """A square wave that is not defined, at a time that is no number, is NaN from SciPy 1.18 on, and was -1."""
    times = np.concatenate([np.linspace(-20, 20, 301), np.pi * np.arange(-3, 4), [np.nan]])
    for name in ("sawtooth", "square"):
        function = getattr(signal, name)
        for each in (times, times[None, :7].astype(np.float32), np.arange(-9, 9)):
            rtol = 1e-5 if each.dtype == np.float32 else 1e-9  # SciPy computes in float32 from release 1.18 on
            check(lambda t, f=function: f(t), each, rtol=rtol)
            for share in (0.0, 0.25, 1):
                check(lambda t, f=function, share=share: f(t, share), each, rtol=rtol)
        check(
            lambda t, share, f=function: f(t[:, None], share), times[:-1], np.array([-0.1, 0.0, 0.3, 0.8, 1.0, np.nan])
        )
    slopes = graph_jit(grad(lambda t: signal.sawtooth(t, 1).sum()))(np.array([0.5, 4.0]))
    np.testing.assert_allclose(slopes, [1 / np.pi] * 2, rtol=1e-12)
    inside = np.linspace(0.0, 2.0, 40)
    for method in ("linear", "quadratic", "logarithmic", "hyperbolic"):
        for last in (1.5, 6.0):
            check(lambda t, m=method, f1=last: signal.chirp(t, 1.5, 3.0, f1, m, 30.0, False), inside)
            check(lambda t, m=method, f1=last: signal.chirp(t, 1.5, 3.0, f1, m, complex=True), inside)
    check(lambda t, f: signal.chirp(t, f, 3, 2 * f, phi=90), inside, np.float64(2.0))
    for options in ((0.0, 1.0, 2.0, "log"), (0.0, 1.0, 2.0, "hyp"), (1.0, 1.0, 2.0, "other")):
        with pytest.raises(ValueError, match=r"chirp, f0 and f1|method must be"):
            graph_jit(lambda t, options=options: signal.chirp(t, *options))(inside)


def test_sums_over_labels():
    check(lambda a: ndimage.sum_labels(a), IMAGE)
    check(lambda a, b: ndimage.sum_labels(a, b), IMAGE, LABELS)
    check(lambda a, b: ndimage.sum_labels(a, b, [1, 3, 7]), WHOLE, LABELS)
    check(lambda a, b: ndimage.mean(a, b, 2), WHOLE, LABELS)
    check(lambda a, b: ndimage.mean(a, b), IMAGE, LABELS)
    check(lambda a: ndimage.mean(a), WHOLE)


def test_other_rates():
    for count in (20, 21, 50, 99, 100):
        check(lambda x, count=count: signal.resample(x, count), LINE)
        check(lambda x, count=count: signal.resample(x, count), LINE[:49])
    check(lambda x: signal.resample(x, 9, axis=1), IMAGE)
    check(lambda x: signal.resample(x, 10, t=np.arange(50) / 10), LINE)
    for up, down in ((1, 1), (3, 2), (2, 3), (1, 4), (6, 4), (5, 1), (17, 3), (2, 100)):
        check(lambda x, up=up, down=down: signal.resample_poly(x, up, down), LINE)
        check(lambda x, up=up, down=down: signal.upfirdn(COEFFICIENTS, x, up, down), IMAGE)
        check(lambda h, x, up=up, down=down: signal.upfirdn(h, x, up, down), COEFFICIENTS, LINE[:1])
        check(lambda h, x, up=up, down=down: signal.upfirdn(h, x, up, down, 0), LINE[:1] + 1j, IMAGE)
    check(lambda x: signal.resample_poly(x, 3, 2, axis=1, window="hann"), IMAGE)
    check(lambda x: signal.resample_poly(x, 3, 2, window=COEFFICIENTS), LINE)


def test_spectra():
    check(lambda b: signal.freqz(b), COEFFICIENTS)
    check(lambda b, a: signal.freqz(b, a, 16, whole=True, fs=10.0), COEFFICIENTS, np.array([1.0, 0.5]))
    check(lambda b, w: signal.freqz(b, worN=w), COEFFICIENTS, np.array([0.1, 0.4]))
    check(lambda b: signal.freqz(b, worN=5, include_nyquist=True), COEFFICIENTS)
    check(lambda x: signal.welch(x, 100.0, nperseg=16), LINE)
    check(lambda x: signal.welch(x, nperseg=15, noverlap=4, nfft=20, scaling="spectrum", detrend=False), LINE)
    check(lambda x: signal.welch(x, window="hamming", nperseg=4, axis=0), IMAGE)
    check(lambda x: signal.medfilt(x), IMAGE)
    check(lambda x: signal.medfilt(x, 5), LINE)
    check(lambda x: signal.medfilt(x, 11), np.tile(LINE, 3))
    check(lambda x: signal.medfilt(x, (5, 1)), (10 * IMAGE).astype(np.int32))


def test_medians_of_windows_have_the_order_of_sort():
    x = np.array([1.0, np.nan, 3.0, 2.0, np.inf, -np.inf, np.nan, np.nan, 0.5, 2.0])
    expected = np.sort(np.lib.stride_tricks.sliding_window_view(np.pad(x, 1), 3), -1)[:, 1]
    np.testing.assert_array_equal(graph_jit(lambda x: signal.medfilt(x, 3))(x), expected)


@pytest.mark.parametrize("lower", [True, False])
def test_banded_matrices(lower):
    bands = BANDS if lower else np.array([[9.0, 9.0, 0.5, 0.25], [9.0, 1.0, 0.5, -1.0], [4.0, 5.0, 6.0, 7.0]])
    check(lambda a: linalg.eigvals_banded(a, lower=lower), bands)
    check(lambda a: linalg.eig_banded(a, lower=lower, eigvals_only=True, select="i", select_range=(1, 2)), bands)
    check(lambda a: np.abs(linalg.eig_banded(a, lower=lower)[1]), bands)
    for two in (bands[:2] if lower else bands[1:], bands[:2].astype(np.float32), bands[:2] + 0j, bands[:2, :0]):
        check(lambda a: linalg.eigvals_banded(a, lower=lower), two)
    check(lambda a: linalg.cholesky_banded(a, lower=lower), bands)
    check(lambda a, b: linalg.cho_solve_banded((linalg.cholesky_banded(a, lower=lower), lower), b), bands, bands[0])
    check(lambda d, e: np.abs(linalg.eigh_tridiagonal(d, e)[1]), bands[0], np.array([1.0, 0.5, 0.25]))
    check(lambda a, c: np.abs(linalg.qr_multiply(a, c, mode="left")[0]), IMAGE.T, IMAGE[:, :3])


def test_interpolants_that_were_made_outside():
    for axis in (0, 1):
        values = HEIGHTS if axis else HEIGHTS.T
        for kind in (interpolate.BarycentricInterpolator, interpolate.KroghInterpolator):
            made = kind(NODES, values, axis=axis)
            check(lambda x, made=made: made(x), PLACES)
            check(lambda x, made=made: made(x), NODES)
            check(lambda x, made=made: made(x), np.float64(0.5))
    for ext in ("extrapolate", "zeros", "const"):
        spline = interpolate.UnivariateSpline(NODES, HEIGHTS[0], s=0.3, ext=ext)
        check(lambda x, spline=spline: spline(x), 3 * PLACES - 1)
        check(lambda x, spline=spline: spline(x, 1, "zeros"), 3 * PLACES - 1)
    points = RNG.normal(size=(9, 2))
    for kernel in ("thin_plate_spline", "linear", "cubic", "quintic", "multiquadric", "gaussian", "inverse_quadratic"):
        made = interpolate.RBFInterpolator(points, np.sin(points), kernel=kernel, epsilon=1.5, smoothing=0.1)
        check(lambda x, made=made: made(x), RNG.normal(size=(4, 2)))
        check(lambda x, made=made: made(x), points)


def test_distances_of_sets():
    check(lambda u, v: distance.directed_hausdorff(u, v), IMAGE, IMAGE[:3] + 0.1)
    check(lambda u: distance.directed_hausdorff(u, IMAGE)[0], IMAGE[:3] + 0.1)
    check(lambda v: distance.directed_hausdorff(IMAGE, v)[0], IMAGE[:3] + 0.1)
    unknown = np.where(np.arange(len(IMAGE)) == 2, np.nan, IMAGE.T).T
    check(lambda u: distance.directed_hausdorff(u, IMAGE[:3])[0], unknown)
    with pytest.raises(ValueError, match="same number of columns"):
        graph_jit(lambda u, v: distance.directed_hausdorff(u, v))(IMAGE, IMAGE[:, 1:])


@pytest.mark.parametrize(("rows", "others"), [(1, 1), (5, 7), (60, 40), (41, 60)])
@pytest.mark.parametrize("alike", ["apart", "rounded", "equal"])
def test_the_first_of_several_pairs_at_the_distance_of_sets(rows, others, alike):
    u, v = RNG.normal(size=(rows, 2)), RNG.normal(size=(others, 2))
    if alike != "apart":
        u, v = np.round(u), np.round(v) if alike == "rounded" else np.round(u)
    distances = distance.cdist(u, v)
    row = distances.min(1).argmax()
    found = graph_jit(lambda u, v: distance.directed_hausdorff(u, v))(u, v)
    np.testing.assert_allclose(found, [distances[row].min(), row, distances[row].argmin()], rtol=1e-12)
    with pytest.raises(ValueError, match="number of observations"):
        graph_jit(lambda x: x * distance.num_obs_y(x))(LINE)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64])
@pytest.mark.parametrize("image", [np.full((9, 8), 7), np.arange(72).reshape(9, 8), RNG.integers(0, 200, (9, 8))])
def test_sums_that_are_cut_off_to_integers_are_scipys(image, dtype):
    """One rounding more, and the mean of sevens is 6."""
    for function in (
        lambda image: ndimage.gaussian_filter(image, 1),
        lambda image: ndimage.gaussian_filter(image, 0.7, mode="nearest"),
        lambda image: ndimage.gaussian_filter(image, 2, order=1),
        lambda image: ndimage.correlate1d(image, [0.1, 0.2, 0.3, 0.4]),
        lambda image: ndimage.convolve1d(image, [0.25, 0.5, 0.25]),
        lambda image: ndimage.correlate1d(image, [0.3, 0.0, -0.3]),
        lambda image: ndimage.convolve(image, np.full((3, 3), 1 / 9)),
    ):
        given = image.astype(dtype)
        np.testing.assert_array_equal(graph_jit(function)(given), function(given))


@pytest.mark.parametrize("index", [1, [1, 2], None])
def test_sums_of_one_label_have_the_dtype_of_sums(index):
    labels = np.array([0, 0, 1, 1, 2, 2])
    for dtype in (np.int64, np.uint8, np.float32, bool):
        image = np.array([0, 1, 1, 2, 2, 5]).astype(dtype)
        found = graph_jit(lambda image: ndimage.sum_labels(image, labels, index))(image)
        wanted = ndimage.sum_labels(image, labels, index)
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == np.asarray(wanted).dtype


@pytest.mark.filterwarnings("ignore")
def test_what_is_not_finite_beside_weights_of_zero():
    """Filters in several dimensions leave such weights out, those along one axis do not."""
    line = np.array([1.0, np.inf, 2.0, 3.0, np.nan, 5.0, 6.0, 7.0])
    for function in (
        lambda x: ndimage.correlate(x, [1.0, 0.0, 1.0]),
        lambda x: ndimage.correlate1d(x, [1.0, 0.0, 1.0]),
        lambda x: ndimage.correlate1d(x, [1.0, 0.0, -1.0]),
    ):
        np.testing.assert_array_equal(graph_jit(function)(line), function(line))


@pytest.mark.filterwarnings("ignore")
def test_weights_that_are_computed_are_left_out_where_they_are_zero():
    image = IMAGE.copy()
    image[1, 2], image[3, 4] = np.inf, np.nan
    weights = np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 0.5], [0.0, 1e-17, 0.0]])
    many = np.zeros((15, 15))
    many[3:6, 4:7] = weights
    for each in (weights, many):
        for function in (ndimage.convolve, ndimage.correlate):
            expected = function(image, each)
            assert np.isfinite(expected).any()
            found = graph_jit(lambda x, w, f=function: f(x, w))(image, each)
            np.testing.assert_allclose(found, expected, 1e-12, 1e-12)
            found = graph_jit(lambda x, s, f=function, w=each: f(x, s * w))(image, 1.0)
            np.testing.assert_allclose(found, expected, 1e-12, 1e-12)
        by_weights = graph_jit(grad(lambda w: np.sum(LINE[:30].reshape(5, 6) * ndimage.correlate(IMAGE, w))))(each)
        place = (0,) * 2 if each is weights else (3, 4)
        moved = np.zeros(each.shape)
        moved[place] = 1.0
        expected = np.sum(LINE[:30].reshape(5, 6) * ndimage.correlate(IMAGE, moved))
        np.testing.assert_allclose(by_weights[place], expected, 1e-12)


CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
@pytest.mark.parametrize("footprint", [CROSS, np.ones((2, 4)), np.array([[1, 0, 1]]), np.ones((3, 3)), np.ones((2, 5))])
def test_every_rank_of_neighbours(footprint, dtype):
    """Of up to nine they are exchanged in vector code, of more they are sorted."""
    shapes, modes = [(5, 7), (1, 1), (2, 9), (12, 33)], ["reflect", "constant", "nearest", "wrap", "mirror"]
    for rank in range(int(footprint.sum())):
        shape, mode = shapes[rank % len(shapes)], modes[rank % len(modes)]
        image = np.random.default_rng(rank).integers(0, 9, shape).astype(dtype)
        check(partial(ndimage.rank_filter, rank=rank, footprint=footprint, mode=mode, cval=3), image)
