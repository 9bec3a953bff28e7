"""SciPy's functions of arrays in compiled functions: values, dtypes, errors and derivatives are those of SciPy."""

import numpy as np
import pytest
from scipy import fft, interpolate, linalg, ndimage, signal, special

from numbagraph import grad, graph_jit, vmap
from tests.support.coverage.families import table
from tests.support.coverage.measure import failure, function_of
from tests.support.coverage.scipy_calls import MODULES
from tests.support.coverage.special_calls import FUNCTIONS
from tests.support.scipy_checks import check, check_error, check_slope

RNG = np.random.default_rng(0)
X = RNG.uniform(0.1, 0.9, 40)
A = RNG.normal(size=(5, 6))
S = A @ A.T + np.eye(5)
KNOTS = np.sort(RNG.uniform(0, 1, 8))
HEIGHTS = RNG.normal(size=(8, 2))


PAGES = {page: table(calls) for page, (_, calls) in MODULES.items()} | {"special_functions": table(FUNCTIONS)}
INTEGERS = "dice hamming jaccard rogerstanimoto russellrao sokalsneath yule".split()
"""Metrics that count: their derivative is zero everywhere."""
NO_SLOPE = {
    "hessenberg", "schur", "ldl", "qz", "cossin", "qr_insert", "qr_delete", "qr_update",
    "lu_factor", "lu", "null_space", "orth", "eig", "eigvals", "qr", "cho_factor",
    "maximum_filter", "minimum_filter", "orthogonal_procrustes", "lambertw", "h1vp", "h2vp", "hilbert", "zeta",
    "factorial", "factorial2", "factorialk", "sph_harm_y", "cKDTree", *INTEGERS,
}  # fmt: skip
"""Functions without a derivative, whose results are complex, or whose vectors have a sign that others choose."""


@pytest.mark.repeats
@pytest.mark.parametrize("page", PAGES)
def test_derivatives(page):
    """Of each call by the first array that it takes, against differences of SciPy's own values."""
    for name, call in PAGES[page].items():
        function, args = function_of(call)
        if name in NO_SLOPE or not args or np.asarray(args[0]).dtype.kind != "f":
            continue
        check_slope(lambda x, function=function, rest=args[1:]: function(x, *rest), args[0])


NOT_ON_JAX = {
    "null_space", "orth", "median", "argrelextrema", "argrelmax", "argrelmin", "find_peaks", "kmeans", "kmeans2",
    "solve_bvp",
}  # fmt: skip
"""Functions whose results are as long as elements say, or that draw from a generator of NumPy's."""


@pytest.mark.repeats
@pytest.mark.parametrize("page", [page for page in PAGES if page != "special_functions"])
def test_calls_on_jax(page):
    """JAX's arrays have lengths that do not depend on elements."""
    pytest.importorskip("jax")
    calls = {name: call for name, call in PAGES[page].items() if name not in NOT_ON_JAX}
    failures = {name: failure(call, "jax") for name, call in calls.items()}
    assert not {name: reason for name, reason in failures.items() if reason}


def test_derivatives_of_legendre_functions_of_negative_order():
    """Where the function of one degree less does not exist."""
    for degree, order in ((1, -1), (2, -2), (3, -2), (0, 0)):
        check_slope(lambda x, n=degree, m=order: special.lpmv(m, n, x), X)


# ---- linear algebra ----


def test_options_of_linalg():
    right = RNG.normal(size=(5, 2))
    for options in (
        {}, {"assume_a": "sym"}, {"assume_a": "her", "lower": True}, {"assume_a": "pos"}, {"transposed": True},
        {"assume_a": "upper triangular"}, {"assume_a": "diagonal"}, {"assume_a": "tridiagonal"},
    ):  # fmt: skip
        check(lambda a, b, options=options: linalg.solve(a, b, **options), S, right, rtol=1e-8)
    check(lambda a: np.tril(linalg.cho_factor(a, lower=True)[0]), S)  # of the rest SciPy says nothing
    check(lambda a: linalg.cholesky(a, lower=True), S)
    check(lambda a: linalg.eigh(a, subset_by_index=[1, 2], eigvals_only=True), S)
    check(lambda a, b: linalg.eigh(a, b, eigvals_only=True), S, np.diag(np.arange(1.0, 6.0)))
    check(lambda a: linalg.polar(a, side="left"), A)
    check(lambda a: linalg.svd(a, full_matrices=False)[1], A)
    check(lambda a: linalg.qr(a, mode="r")[0], A.T, rtol=1e-8)
    check(lambda a: linalg.pinv(a, rtol=1e-3, return_rank=True), A)
    check(lambda a, b: linalg.lstsq(a, b)[:2], A.T, RNG.normal(size=6), rtol=1e-8)
    check(lambda a: linalg.schur(a, output="complex")[0], S, again=[(S[:3, :3],)])
    check(lambda a: linalg.hessenberg(a, calc_q=True), A[:, :5])
    check(lambda a: linalg.det(a), np.stack([S, 2 * S]))
    for length in (0, 1, 2, 5):
        check(lambda c: linalg.hankel(c), X[:length])
        check(lambda c: linalg.circulant(c), np.stack([X, X + 1])[:, :length])
    check(lambda c, r: linalg.hankel(c, r), X[:2], X.astype(np.float32))
    for rows, columns in ((5, 5), (4, 1), (1, 4), (3, 5)):
        check(lambda c, r, x: linalg.matmul_toeplitz((c, r), x), X[:rows], X[:columns] + 1j, A[:columns], rtol=1e-8)
    for mode in ("full", "same", "valid"):
        check(lambda c, mode=mode: linalg.convolution_matrix(c, 3, mode), X)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("assume_a", ["sym", "her", "pos"])
@pytest.mark.parametrize("dtype", [float, complex])
def test_the_other_triangle_is_not_read(assume_a, lower, dtype):
    """Nor are the imaginary parts of the diagonal of a Hermitian matrix."""
    a = (RNG.normal(size=(2, 3, 3)) + 8 * np.eye(3)).astype(dtype)
    if dtype is complex:
        a += 1j * RNG.normal(size=a.shape)
    other = np.triu_indices(3, 1) if lower else np.tril_indices(3, -1)
    a[:, other[0], other[1]] = np.nan
    for function in (linalg.inv, lambda a, **options: linalg.solve(a, np.ones((3, 2)), **options)):
        check(lambda a, function=function: function(a, assume_a=assume_a, lower=lower, check_finite=False), a)


def test_integers_become_numbers():
    whole = np.array([[4, 1], [1, 3]])
    for function in (linalg.inv, linalg.cholesky, linalg.eigvalsh, linalg.sqrtm, linalg.svdvals, linalg.det):
        check(lambda a, function=function: function(a), whole)


def test_single_precision_stays():
    single = S.astype(np.float32)
    for function in (linalg.inv, linalg.cholesky, linalg.eigvalsh, linalg.svdvals):
        check(lambda a, function=function: function(a), single, rtol=1e-3)
    check(lambda x: signal.lfilter(np.float32([0.2]), np.float32([1, -0.5]), x), X.astype(np.float32), rtol=1e-5)
    check(lambda x: ndimage.gaussian_filter(x, 1.5), A.astype(np.float32), rtol=1e-5)
    check(lambda x: signal.fftconvolve(x, x), X.astype(np.float32), rtol=1e-5)


def test_factorisations_that_scipy_is_called_for():
    turn, triangle = np.linalg.qr(A[:5, :3], mode="complete")
    for matrix in (S - 3, (S - 3).astype(np.float32), S + 1j * np.triu(S, 1) - 1j * np.triu(S, 1).T):
        check(lambda a: linalg.ldl(a), matrix, rtol=1e-4 if matrix.dtype.itemsize == 4 else 1e-9)
        check(lambda a: linalg.ldl(a, lower=False)[0], matrix, rtol=1e-4 if matrix.dtype.itemsize == 4 else 1e-9)
    check(lambda a: linalg.ldl(a), S, again=[(S[:3, :3],)])
    check(lambda a, b: linalg.qz(a, b, output="complex")[0], A[:, :5], S)
    check(lambda x: linalg.cossin((x[:1, :2], x[:1, 2:], x[1:, :2], x[1:, 2:]))[1], np.linalg.qr(S)[0])
    check(lambda q, r, u: linalg.qr_insert(q, r, u, 1, which="col"), turn, triangle, np.arange(5.0))
    check(lambda q, r: linalg.qr_delete(q, r, 0, 2), turn, triangle)
    check(lambda q, r, u, v: linalg.qr_update(q, r, u, v), turn, triangle, np.ones(5), np.arange(3.0))
    with pytest.raises(TypeError, match=r"derivative of scipy\.linalg\.qz .*np\.linalg\.eig"):
        grad(lambda a: np.sum(linalg.qz(a, S)[0]))(S)
    with pytest.raises(TypeError, match=r"qr_delete with traced k"):
        graph_jit(lambda q, r, k: linalg.qr_delete(q, r, k))(turn, triangle, np.array(1))
    check(lambda q, r, k: linalg.qr_delete(q, r, k), turn, triangle, 1, again=[(turn, triangle, 2)])
    for function, args in ((linalg.ldl, (A,)), (linalg.qz, (S, A)), (lambda q, r: linalg.qr_delete(q, r, 9), (S, S))):
        with pytest.raises(ValueError):  # noqa: PT011  the texts are SciPy's
            graph_jit(lambda *args, function=function: function(*args))(*args)


CONTINUOUS = pytest.param(linalg.solve_continuous_are, marks=pytest.mark.repeats)  # four minutes


@pytest.mark.parametrize("function", [linalg.solve_discrete_are, CONTINUOUS])
def test_riccati_s_equations(function):
    a, b, q, r = A[:, :5], A[:, :2], S, np.eye(2) + 0.1
    check(function, a, b, q, r, rtol=1e-8)
    check(function, *(each.astype(np.float32) for each in (a, b, q, r)), rtol=1e-2)
    for wrong in ((a, b, q[:3, :3], r), (A, b, q, r), (a, b[:3], q, r), (a, b, q, r[:1])):
        check_error(function, *wrong)
    with pytest.raises(np.linalg.LinAlgError, match="finite solution"):
        graph_jit(function)(3 * np.eye(2), np.zeros((2, 1)), np.eye(2), np.eye(1))
    operands = [a, b, q, r]
    for number, operand in enumerate(operands):

        def value(x, number=number):
            x = x if number < 2 else 0.5 * (x + x.T)
            return function(*operands[:number], x, *operands[number + 1 :])

        check_slope(value, operand)
    found = graph_jit(vmap(function, (0, None, None, None)))(np.stack([a, 2 * a]), b, q, r)
    np.testing.assert_allclose(found[1], function(2 * a, b, q, r), rtol=1e-8)
    with pytest.raises(TypeError, match="of stacks of matrices"):
        graph_jit(function)(np.stack([a, a]), b, q, r)
    with pytest.raises(TypeError, match="complex matrices"):
        graph_jit(function)(a + 0j, b, q, r)
    with pytest.raises(TypeError, match="with e= or s="):
        graph_jit(lambda a: function(a, b, q, r, e=np.eye(5)))(a)


def test_logarithmic_transforms():
    for options in ({}, {"offset": 0.3}, {"bias": 0.2}, {"bias": -0.1, "offset": 0.2}):
        for transform in (fft.fht, fft.ifht):
            for rows in (A, A[:, :5], A.astype(np.float32), np.arange(6)):
                single = rows.dtype == np.float32
                check(lambda a, f=transform, o=options: f(a, 0.1, 0.5, **o), rows, rtol=1e-5 if single else 1e-12)
            check_slope(lambda a, f=transform, o=options: f(a, 0.1, 0.5, **o), A)
    with pytest.raises(TypeError, match="with traced dln"):
        graph_jit(lambda a, dln: fft.fht(a, dln, 0.5))(A, np.array(0.1))
    check(lambda a, dln: fft.fht(a, dln, 0.5), A, 0.1, again=[(A, 0.2)])


def test_fast_lengths():
    """Of lengths of arguments, for each of which there is a version, and of numbers."""
    for name in ("next_fast_len", "prev_fast_len"):
        function = getattr(fft, name)
        compiled = graph_jit(lambda x, f=function: np.fft.rfft(x, f(len(x))))
        for length in (11, 13, 11, 97):
            x = RNG.normal(size=length)
            np.testing.assert_allclose(compiled(x), np.fft.rfft(x, function(length)))
        assert graph_jit(lambda n, f=function: f(n, real=True))(23) == function(23, real=True)
    with pytest.raises(TypeError, match=r"next_fast_len needs a number that is known"):
        graph_jit(lambda x: fft.next_fast_len(np.sum(x)))(np.arange(3))


def test_roots_that_are_complex_are_refused():
    with pytest.raises(ValueError, match=r"astype\(complex\)"):
        graph_jit(lambda a: linalg.sqrtm(a))(-np.eye(2))
    check(lambda a: linalg.sqrtm(a), -np.eye(2) + 0j)


def test_what_is_refused_has_its_name():
    with pytest.raises(TypeError, match=r"scipy.linalg.funm is not supported.*np.linalg.eigh"):
        graph_jit(lambda a: linalg.funm(a, np.sin))(S)
    with pytest.raises(TypeError, match=r"scipy\.ndimage\.map_coordinates with order=3"):
        graph_jit(lambda a: ndimage.map_coordinates(a, a[:2]))(S)
    with pytest.raises(NotImplementedError, match=r"Schur's form has no derivative: np\.linalg\.eig"):
        grad(lambda a: np.sum(linalg.schur(a)[0]))(S)


@pytest.mark.parametrize("function", [linalg.inv, linalg.cholesky, linalg.sqrtm, linalg.eigvals])
def test_errors_of_matrices(function):
    check_error_kind = pytest.raises((ValueError, np.linalg.LinAlgError))
    with check_error_kind:
        graph_jit(lambda a: function(a))(A)


def test_singular_matrices():
    with pytest.raises(np.linalg.LinAlgError):
        graph_jit(lambda a: linalg.inv(a))(np.zeros((2, 2)))
    with pytest.raises(np.linalg.LinAlgError):
        graph_jit(lambda a: linalg.cholesky(a))(-np.eye(2))
    with pytest.raises(np.linalg.LinAlgError):
        graph_jit(lambda a: linalg.inv(a, assume_a="pos"))(np.diag([1.0, -1.0]))


# ---- interpolants ----

SPLINE = interpolate.CubicSpline(KNOTS, HEIGHTS)
OUTSIDE = np.concatenate([RNG.uniform(-0.5, 1.5, 30), KNOTS, [np.nan, -0.0, 1e3]]).reshape(-1, 1)
INTERPOLANTS = {
    "natural": interpolate.CubicSpline(KNOTS, HEIGHTS, bc_type="natural", extrapolate=False),
    "periodic": interpolate.CubicSpline([0.0, 0.3, 1.0], [1.0, 2.0, 1.0], bc_type="periodic"),
    "axis": interpolate.PchipInterpolator(KNOTS, HEIGHTS.T, axis=1),
    "descending": interpolate.PPoly(SPLINE.c[:, ::-1], KNOTS[::-1]),
    "constant": interpolate.PPoly(SPLINE.c[:1], KNOTS),
    "b_spline": interpolate.make_interp_spline(KNOTS, HEIGHTS, 3),
    "b_spline_2": interpolate.BSpline([0.0, 0.0, 0.0, 0.4, 0.4, 1.0, 1.0, 1.0], np.arange(5.0), 2, extrapolate=False),
    "b_spline_0": interpolate.BSpline([0.0, 0.5, 1.0], [1.0, 2.0], 0),
    "b_spline_axis": interpolate.make_interp_spline(KNOTS, HEIGHTS.T, 2, axis=1),
    "periodic_b_spline": interpolate.make_interp_spline([0.0, 0.3, 0.5, 1.0], [1.0, 2.0, 0.0, 1.0], bc_type="periodic"),
    "lines": interpolate.interp1d(KNOTS, HEIGHTS.T, bounds_error=False),
    "lines_beyond": interpolate.interp1d(KNOTS, HEIGHTS[:, 0], fill_value="extrapolate"),
    "fills": interpolate.interp1d(KNOTS, HEIGHTS[:, 0], bounds_error=False, fill_value=(1.0, 2.0)),
    **{
        kind: interpolate.interp1d(KNOTS, HEIGHTS[:, 0], kind=kind, bounds_error=False)
        for kind in ("nearest", "nearest-up", "previous", "next")
    },
}


@pytest.mark.parametrize("name", INTERPOLANTS)
def test_interpolants(name):
    interpolant = INTERPOLANTS[name]
    check(lambda x: interpolant(x), OUTSIDE, rtol=1e-9, again=[(OUTSIDE[:3],), (np.float64(0.3),)])
    if not isinstance(interpolant, interpolate.interp1d):
        for nu in {1, 4} & set(range(1 + getattr(interpolant, "k", 4))):
            check(lambda x, nu=nu: interpolant(x, nu), OUTSIDE, rtol=1e-8)
        check(lambda x: interpolant(x, extrapolate=False), OUTSIDE, rtol=1e-9)


@pytest.mark.parametrize("ext", [0, 1, 2, 3])
@pytest.mark.parametrize("der", [0, 2])
def test_splev(ext, der):
    tck = interpolate.splrep(np.arange(8.0), HEIGHTS[:, 0])
    check(lambda x: interpolate.splev(x, tck, der, ext), 7 * X, rtol=1e-8)
    if ext != 2:
        check(lambda x: interpolate.splev(x, tck, der, ext), 9 * X - 1, rtol=1e-8)
    else:
        with pytest.raises(ValueError, match="bounds"):
            graph_jit(lambda x: interpolate.splev(x, tck, der, ext))(9 * X - 1)


@pytest.mark.parametrize("method", ["linear", "nearest"])
def test_grids(method):
    axes = (np.array([0.0, 0.2, 0.9]), np.array([-1.0, 0.5]), np.array([2.0, 3.0, 3.5, 4.0]))
    values = RNG.normal(size=(3, 2, 4, 2))
    points = np.stack([1.4 * X - 0.2, 2 * X - 1, 3 * X + 1.5], axis=1)
    points[3, 1] = np.nan
    for fill in (np.nan, None, 7.0):
        table = interpolate.RegularGridInterpolator(axes, values, method, bounds_error=False, fill_value=fill)
        check(lambda x, table=table: table(x), points, again=[(points[:2],), (points[0],)])
    strict = interpolate.RegularGridInterpolator(axes, values, method)
    check_error(lambda x: strict(x), points)
    check(lambda v, x: interpolate.interpn(axes, v, x, method, False, None), values, points)


# ---- filters ----

MODES = [
    "reflect",
    "constant",
    *(pytest.param(mode, marks=pytest.mark.repeats) for mode in ("nearest", "mirror", "wrap")),
]


@pytest.mark.parametrize("mode", MODES)
def test_filters_of_images(mode):
    weights = RNG.normal(size=(2, 3))
    whole = np.arange(30, dtype=np.int32).reshape(5, 6) ** 2
    for image in (A, whole, A[:, :1], A[:1, ::2]):
        check(lambda a, w: ndimage.correlate(a, w, mode=mode, cval=2.0), image, weights)
    for image in (A, whole):
        check(lambda a, w: ndimage.convolve(a, w, mode=mode, origin=(-1, 0)), image, weights)
        check(lambda a: ndimage.gaussian_filter(a, (0.6, 1.2), order=(0, 1), mode=mode), image)
        check(lambda a: ndimage.uniform_filter(a, (2, 3), mode=mode), image)
    check(lambda a: ndimage.sobel(a, mode=mode), A)
    check(lambda a: ndimage.laplace(a, mode=mode, output=np.float64), whole)
    check(lambda a: ndimage.maximum_filter(a, 3, mode=mode), A)
    check(lambda a: ndimage.gaussian_filter1d(a, 0.8, order=3, mode=mode), A)
    check(lambda a: ndimage.convolve1d(a, [1.0, 2.0], axis=0, mode=mode), A)
    check(lambda a: ndimage.uniform_filter1d(a, 90, mode=mode), np.tile(X, 5))
    check(lambda a: ndimage.correlate(a, np.ones((9, 9)), mode=mode), np.tile(A, (3, 3)))


@pytest.mark.parametrize("mode", [*MODES, "grid-wrap", "grid-constant", "grid-mirror"])
@pytest.mark.parametrize("order", [0, 1])
def test_coordinates(mode, order):
    at = np.concatenate(
        [RNG.uniform(-14, 19, (2, 60)), [[0.0, 4.0, -1.0, 5.0, -4.0, 8.0], [5.0, 0.0, 2.5, 6.0, -5.0, 10.0]]], 1
    )
    check(lambda a, at: ndimage.map_coordinates(a, at, order=order, mode=mode, cval=-3.0), A, at, rtol=1e-9)
    whole = np.arange(30, dtype=np.uint8).reshape(5, 6)
    check(lambda a, at: ndimage.map_coordinates(a, at, order=order, mode=mode), whole, at)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolutions(mode):
    long, short, plane = RNG.normal(size=300), RNG.normal(size=4), RNG.normal(size=(20, 17))
    for one, other in ((long, short), (short, long), (long, long[:200]), (plane, A), (long[:1], long[:1])):
        for function in (signal.convolve, signal.correlate, signal.fftconvolve):
            check(lambda a, b, f=function: f(a, b, mode), one, other, rtol=1e-9)
    for one, other in ((np.tile(long, 4), short), (short[:2], long + 1j), (np.tile(long, 3), long[:25])):  # in blocks
        check(lambda a, b: signal.oaconvolve(a, b, mode), one, other, rtol=1e-9)
        check(lambda a, b: signal.oaconvolve(a, b, mode, 1), np.stack([one, 2 * one]), other[None], rtol=1e-9)
    check(lambda a, b: signal.oaconvolve(a, b, mode), plane, A, rtol=1e-9)
    check(lambda a, b: signal.convolve(a, b, mode), np.arange(9), np.array([1, 2, 3]))
    check(lambda a, b: signal.correlate(a, b, mode), long + 1j, short - 2j)
    for boundary in ("fill", "wrap", "symm"):
        check(lambda a, b, k=boundary: signal.convolve2d(a, b, mode, k), plane, A)
        check(lambda a, b, k=boundary: signal.correlate2d(a, b, mode, k), plane, A[:4])


def test_recursive_filters():
    b, a = signal.butter(3, 0.2)
    sos = signal.butter(4, 0.3, output="sos")
    state = RNG.normal(size=(3,))
    for x in (X, np.stack([X, X[::-1]]), X[:1], X[:0]):
        check(lambda x: signal.lfilter(b, a, x), x)
        if x.size:
            check(lambda x: signal.sosfilt(sos, x), x)
    check(lambda x: signal.lfilter(b, a, x, zi=state), X)
    check(lambda x: signal.lfilter(b, 2.0, x), X)
    check(lambda x: signal.lfilter([0.5], a, x, axis=0), A)
    check(lambda x, z: signal.sosfilt(sos, x, zi=z), X, RNG.normal(size=(2, 2)))
    check(lambda b: signal.lfilter_zi(b, a), b)
    for kind in ("odd", "even", "constant", None):
        check(lambda x, kind=kind: signal.filtfilt(b, a, x, padtype=kind), np.stack([X, X[::-1]]), rtol=1e-9)
    check_error(lambda x: signal.filtfilt(b, a, x), X[:5])
    check_error(lambda x: signal.lfilter([1], [2, 1], x), np.arange(3))


def test_trends_and_smoothing():
    for mode in ("interp", "mirror", "constant", "nearest", "wrap"):
        check(lambda x, mode=mode: signal.savgol_filter(x, 7, 3, deriv=1, delta=0.5, mode=mode), X, rtol=1e-8)
    check(lambda x: signal.savgol_filter(x, 5, 2, axis=0), np.stack([X, X[::-1]]).T, rtol=1e-8)
    check(lambda x: signal.savgol_filter(x, 4, 2), X, rtol=1e-8)
    for options in ({}, {"type": "constant"}, {"bp": [10, 25]}, {"axis": 0}):
        check(lambda x, options=options: signal.detrend(x, **options), np.stack([X, X[::-1]]), rtol=1e-9)
    check(lambda x: signal.hilbert(x, 50), X)


# ---- distances ----


def test_systems_of_several_matrices_and_a_vector():
    many = np.stack([S, 2 * S, S + np.eye(5)])
    check(lambda a, b: linalg.solve(a, b), many, A[:, 0])
    check(lambda a, b: linalg.solve(a, b, assume_a="pos"), many, A[:, 0])
    check(lambda a, b: linalg.solve(a, b), many, A)


def test_filters_of_integers_are_floats():
    check(lambda h, x: signal.upfirdn(h, x, 2), np.array([1, 2, 1]), np.arange(5))
    check(lambda h, x: signal.upfirdn(h, x, 2), np.array([1, 2, 1], np.float32), np.arange(5, dtype=np.int16))


def test_batches():
    rows = np.stack([X, X[::-1]])
    np.testing.assert_allclose(
        vmap(lambda x: signal.lfilter([0.3], [1.0, -0.5], x))(rows), signal.lfilter([0.3], [1.0, -0.5], rows)
    )
    np.testing.assert_allclose(vmap(lambda x: SPLINE(x))(rows), SPLINE(rows))
    np.testing.assert_allclose(
        vmap(lambda x: ndimage.gaussian_filter(x, 1.0))(rows), ndimage.gaussian_filter(rows, (0, 1.0))
    )
    np.testing.assert_allclose(
        vmap(lambda a: linalg.sqrtm(a))(np.stack([S, 2 * S])), linalg.sqrtm(np.stack([S, 2 * S]))
    )


@pytest.mark.parametrize("action", ["raise", "warn", "ignore"])
def test_errors_of_special_functions_are_not_looked_at(action):
    compiled = graph_jit(lambda a, x: special.betainc(a, 2.0, x))
    with special.errstate(all=action):
        assert np.isnan(compiled(-1.0, 0.5))
        np.testing.assert_array_equal(compiled(np.array([-1.0, 1.0]), 0.5), [np.nan, 0.75])


def test_special_points():
    at = np.array([0.0, -0.0, 1.0, -1.5, 25.0, np.inf, np.nan])
    for n in (0, 1, 2, 5):
        for function in (special.spherical_jn, special.spherical_in):
            check(lambda z, n=n, f=function: f(n, z), at)
            check(lambda z, n=n, f=function: f(n, z, derivative=True), at[:5])
        for function in (special.spherical_yn, special.spherical_kn):
            check(lambda z, n=n, f=function: f(n, z), at)
            check(lambda z, n=n, f=function: f(n, z, derivative=True), at)
        check(lambda z, n=n: special.spherical_kn(n, z), at.astype(np.float32), rtol=1e-6)
        check(lambda x, n=n: special.diric(x, n), np.linspace(-20, 20, 41))
        check(lambda x, n=n: special.diric(x, n), 2 * np.pi * np.arange(-3, 4))
    check(lambda n: special.factorial2(n), np.arange(-3, 12))
    check(lambda n: special.factorialk(n, 3), np.arange(-3, 12))
    check(lambda n: special.comb(n, 2, repetition=True), np.arange(-3.0, 12))
    check(lambda n: special.comb(n, [[0], [1]], repetition=True), np.arange(-3, 4))
    check(lambda x: special.zeta(x), np.array([-171.3, -3.5, -2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 30.0, np.nan, np.inf]))
    check(lambda x: special.lambertw(x, -1), np.array([-0.3, 0.0, 1.0, np.inf]))
    check(lambda x: special.sph_harm_y_all(2, 2, x, x), X[:5])
    check(lambda x: special.assoc_legendre_p_all(3, 2, x, norm=True), X[:5])
    for n in (0, 1, 3, 22):
        check(lambda x, n=n: special.legendre_p_all(n, x), np.array([-1.0, -0.0, 1e-9, 0.3, 1.5, np.nan]))
