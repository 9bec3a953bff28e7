"""Derivatives at special points, up to third order: what masks protect, ties, equal operands, and edges of domains."""

from itertools import permutations

import mpmath
import numpy as np
import pytest
import scipy.spatial.distance
import scipy.special
import scipy.stats

from numbagraph import grad, graph_jit, hessian, jacfwd, jacrev
from numbagraph.ir.op import registry
from numbagraph.ir.values import Unsupported
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.special import logsumexp
from numbagraph.testing.exact_kernels import FUNCTIONS as KERNELS
from numbagraph.testing.special_points import check_special_points, has_points

ELEMENTWISE = [op.name for op in registry if op.kind == "elementwise" and has_points(op)]
LONG = ("hankel_j", "hankel_y", "owens_t", "gammainc_by_a", "betainc_by_a", "betainc_by_b")
"""They take as long as all others together."""


@pytest.mark.repeats(but_each=2)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.repeats if name in LONG else ()) for name in ELEMENTWISE]
)
def test_derivatives_at_special_points(name):
    assert check_special_points(registry[name])


@pytest.mark.parametrize("kernel", ["rgamma", "binom", "poch", "beta", "betaln", "special.cbrt", "exprel"])
def test_derivatives_of_functions_of_scipy_at_special_points(kernel):
    assert check_special_points(registry[kernel])
    assert check_special_points(registry[kernel], order=2, backend="numba")


@pytest.mark.repeats
@pytest.mark.parametrize("kernel", KERNELS)
def test_derivatives_of_scipys_kernels_at_special_points(kernel):
    """Series beside removable singularities, and infinities at the edges of domains."""
    name, _, result = kernel.rstrip("]").partition("[")
    order = 2 if name == "pseudo_huber" else 3  # its second derivatives have no limit at the origin
    assert check_special_points(registry[name], result=int(result) if result else None, order=order)


UNKNOWN_TO_MPMATH = {
    *("cast", "complex_of", "conjugate", "imag", "real", "where", "replace_special", "check"),
    *("heaviside", "ldexp", "nextafter", "polygamma_of", "spacing", "frexp_mantissa", "to_bits", "from_bits"),
    *("von_mises_cdf", "von_mises_slope"),
}
"""What mpmath has not; what is linear, or constant but for jumps."""


def test_every_elementwise_op_is_checked():
    differentiable = {op.name for op in registry if op.kind == "elementwise" and not isinstance(op.vjp, Unsupported)}
    assert differentiable - {*ELEMENTWISE} == UNKNOWN_TO_MPMATH


@pytest.mark.parametrize("name", ["logaddexp", "power", "rel_entr", "j1", "log_ndtr", "arcsin"])
def test_native_derivatives_at_special_points(name):
    """Rules rewrite what is differentiated before it is compiled."""
    assert check_special_points(registry[name], order=2, backend="numba")


@pytest.mark.parametrize("name", ["logaddexp", "power", "xlogy", "i1", "log_ndtr", "gammainc"])
def test_derivatives_at_special_points_in_float32(name):
    assert check_special_points(registry[name], order=2, dtype=np.float32, tolerance=1e-4)


def test_powm1_is_differentiated_as_a_power():
    x, y = np.array([(x, y) for x in (0.0, 0.5, 2.0) for y in (0.0, 0.5, 1.0, 2.0, -1.0)]).T

    def slopes(function):
        first = [grad(lambda x, y: function(x, y).sum(), argnums=by) for by in (0, 1)]
        second = [grad(lambda x, y, each=each: each(x, y).sum(), argnums=by) for each in first for by in (0, 1)]
        return graph_jit(lambda x, y: [each(x, y) for each in (*first, *second)])(x, y)

    np.testing.assert_allclose(slopes(scipy.special.powm1), slopes(np.power), rtol=1e-14)


@pytest.mark.parametrize("first", [0, 1])
def test_incomplete_functions_by_a_parameter_and_the_number_at_edges(first):
    """In either order, against the derivatives of the density by its parameter."""

    def mixed(function, places):
        one, other = places[:: 1 - 2 * first]
        slope = grad(lambda *at: function(*at).sum(), argnums=one)
        return GraphFunction(grad(lambda *at: slope(*at).sum(), argnums=other), backend="numpy")

    a, b, x = np.array([1.0, 1.5, 2.0, 3.0, 2.0]), np.array([3.0, 1.0, 2.0, 1.0, 2.0]), np.array([0.0, 0, 0, 0, 0.5])
    density = scipy.stats.gamma.pdf(x, a)
    wanted = scipy.special.xlogy(density, x) - density * scipy.special.digamma(a)
    np.testing.assert_allclose(mixed(scipy.special.gammainc, (0, 1))(a, x), wanted, rtol=1e-12)
    np.testing.assert_allclose(mixed(scipy.special.gammaincc, (0, 1))(a, x), -wanted, rtol=1e-12)
    density, both = scipy.stats.beta.pdf(x, a, b), scipy.special.digamma(a + b)
    wanted = scipy.special.xlogy(density, x) + density * (both - scipy.special.digamma(a))
    np.testing.assert_allclose(mixed(scipy.special.betainc, (0, 2))(a, b, x), wanted, rtol=1e-12)
    np.testing.assert_allclose(mixed(scipy.special.betainc, (1, 2))(b, a, 1 - x), wanted, rtol=1e-12)


@pytest.mark.parametrize("edge", [0.0, 1.0])
def test_quantiles_at_the_edges_do_not_move_with_parameters(edge):
    a, b, p = np.array([1.0, 2.0, 3.0]), np.array([3.0, 1.0, 2.0]), np.full(3, edge)
    slopes = grad(lambda a, b: scipy.special.betaincinv(a, b, p).sum(), argnums=(0, 1))
    np.testing.assert_array_equal(GraphFunction(slopes)(a, b), np.zeros((2, 3)))
    quantile = [scipy.special.gammaincinv, scipy.special.gammainccinv][int(edge)]
    np.testing.assert_array_equal(GraphFunction(grad(lambda a: quantile(a, p).sum()))(a), np.zeros(3))


@pytest.mark.parametrize("inverse", ["gdtrix", "gdtria", "betainccinv", "fdtri"])
def test_inverses_that_are_zero_do_not_move_with_parameters(inverse):
    """They stay at the end of the support, where the density is 0, too."""
    function = getattr(scipy.special, inverse)
    at = {"gdtria": (0.0, 2.0, 1.5), "betainccinv": (2.0, 3.0, 1.0)}.get(inverse, (2.0, 3.0, 0.0))
    parameters = (1, 2) if inverse == "gdtria" else (0, 1)
    assert function(*at) == 0
    for backend in ("numpy", "numba"):
        found = GraphFunction(grad(function, argnums=parameters), backend=backend)(*at)
        np.testing.assert_array_equal(found, np.zeros(2))


def f_distribution(m, n, x):
    return mpmath.betainc(m / 2, n / 2, 0, m * x / (n + m * x), regularized=True)


@pytest.mark.parametrize(
    "at", [(2.0, 3.0, 1.2), (2.0, 1e-20, 1.2), (2.0, 1e-100, 1.2), (3.0, 2.0, 1e20), (3.0, 2.0, 1e-9)]
)
def test_derivatives_of_the_f_distribution_where_one_share_rounds_to_1(at):
    with mpmath.workdps(250):
        step = mpmath.mpf(10) ** -60
        wanted = [float(mpmath.diff(f_distribution, at, by, h=step * min(at))) for by in ((0, 1, 0), (0, 0, 1))]
    found = GraphFunction(grad(scipy.special.fdtr, argnums=(1, 2)), backend="numpy")(*at)
    np.testing.assert_allclose(found, wanted, rtol=1e-11)


def test_degrees_of_freedom_at_probability_0_have_the_reciprocal_derivative():
    """SciPy's are those where its search begins."""
    at = scipy.special.fdtridfd(2.0, 0.0, 1.2)
    assert at == 1e-100
    with mpmath.workdps(250):
        slope = mpmath.diff(lambda n: f_distribution(2, n, 1.2), at, h=mpmath.mpf(10) ** -160)
    for backend in ("numpy", "numba"):
        found = GraphFunction(grad(scipy.special.fdtridfd, argnums=(0, 1, 2)), backend=backend)(2.0, 0.0, 1.2)
        np.testing.assert_allclose(found, [0, float(1 / slope), 0], rtol=1e-12, atol=1e-90)


# ---- what users differentiate ----

X = np.random.default_rng(0).normal(size=(20, 3))


@pytest.mark.parametrize(
    "loss",
    [
        lambda z: np.logaddexp(0, z),
        lambda z: np.log(1 + np.exp(z)),
        lambda z: np.log1p(np.exp(z)),
        lambda z: np.log(np.exp(0 * z) + np.exp(z)),
        lambda z: -np.log(1 / (1 + np.exp(-z))) + z,
    ],
    ids=["logaddexp", "log", "log1p", "log of a sum", "logistic"],
)
def test_hessian_of_logistic_regression_at_zero(loss):
    slope = grad(lambda w: loss(X @ w).sum())
    for found in graph_jit(lambda w: [jacfwd(slope)(w), jacrev(slope)(w)])(np.zeros(3)):
        np.testing.assert_allclose(found, X.T @ X / 4, rtol=1e-12)


@pytest.mark.parametrize("at", [-1e8, -1e4, -40.0, -6.0, -5.9, 37.0, 40.0, 1e8])
def test_derivatives_of_log_ndtr_far_out(at):
    """Against Laplace's continued fraction of the inverse Mills ratio, in many digits."""
    with mpmath.workdps(60):
        x = mpmath.mpf(at)
        density = mpmath.exp(-x * x / 2) / mpmath.sqrt(2 * mpmath.pi)
        slope = density / (mpmath.erfc(-x / mpmath.sqrt(2)) / 2) if at > -1e5 else -x - 1 / x
        bend = -slope * (x + slope) if at > -1e5 else -1 + 1 / x**2
        wanted = float(slope), float(bend)
    slope_of = grad(lambda x: scipy.special.log_ndtr(x))
    found = GraphFunction(lambda x: (slope_of(x), grad(slope_of)(x)), backend="numpy")(at)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-300)


def test_log_of_erfc_is_differentiated_as_one_function():
    """It has two forms, and one of them was chosen at the point where both are right."""
    slope = grad(lambda x: np.log(scipy.special.erfc(x)).sum())
    found = GraphFunction(slope, backend="numpy")(np.array([0.5, 1.0, 30.0]))
    with mpmath.workdps(600):
        wanted = [float(mpmath.diff(lambda x: mpmath.log(mpmath.erfc(x)), x)) for x in (0.5, 1, 30)]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


# ---- roots, products, sums of exponentials ----


@pytest.mark.parametrize(
    "function",
    [
        np.std,
        np.nanstd,
        lambda x: np.std(x, 0).sum(),
        lambda x: np.linalg.norm(x - 1),
        lambda x: np.linalg.norm(x - x.mean(), axis=0).sum(),
        lambda x: np.linalg.norm((x - 1).ravel(), 3),
    ],
)
def test_deviations_and_lengths_have_no_slope_where_they_are_zero(function):
    derivatives = GraphFunction(lambda x: (grad(function)(x), hessian(function)(x)), backend="numpy")
    for found in derivatives(np.ones((3, 2))):
        np.testing.assert_array_equal(found, np.zeros_like(found))
    beside = derivatives(np.array([[1.0, 1], [1, 2], [1, 4]]))
    assert np.isfinite(beside[0]).all()
    assert np.abs(beside[0]).max() > 0.1


SQUARES = {
    "norm": (lambda x: np.linalg.norm(x) ** 2, 2 * np.eye(3)),
    "norms": (lambda x: 0.5 * np.sum(np.linalg.norm(x[:, None], axis=1) ** 2), np.eye(3)),
    "product": (lambda x: np.linalg.norm(x) * np.linalg.norm(x), 2 * np.eye(3)),
    "root": (lambda x: np.sqrt(np.sum(x * x)) ** 2, 2 * np.eye(3)),
    "std": (lambda x: np.std(x) ** 2, (np.eye(3) - 1 / 3) * 2 / 3),
    "abs": (lambda x: np.sum(np.abs(x) ** 2), 2 * np.eye(3)),
    "hypot": (lambda x: np.hypot(x[0], x[1]) ** 2 + np.sum(np.hypot(x[2], x[1:]) ** 2), np.diag([2.0, 4.0, 6.0])),
}


@pytest.mark.parametrize("name", SQUARES)
def test_squares_of_lengths_and_deviations_have_second_derivatives_where_they_are_zero(name):
    function, wanted = SQUARES[name]
    for backend in ("numpy", "numba"):
        derivatives = GraphFunction(lambda x: (grad(function)(x), hessian(function)(x)), backend=backend)
        slope, bend = derivatives(np.zeros(3))
        np.testing.assert_array_equal(slope, np.zeros(3))
        np.testing.assert_allclose(bend, wanted, rtol=1e-14)


def test_squares_of_roots_of_negative_numbers_stay_nan():
    x = np.array([-1.0, -0.0, 2.0, np.inf])
    found = graph_jit(lambda x: np.sqrt(x) ** 2)(x)
    np.testing.assert_array_equal(found, [np.nan, 0, 2, np.inf])
    assert not np.signbit(found[1])


@pytest.mark.parametrize(
    "likeness",
    [
        lambda x: np.corrcoef(x[:4], x[4:])[0, 1],
        lambda x: scipy.spatial.distance.cosine(x[:4], x[4:]),
        lambda x: scipy.spatial.distance.correlation(x[:4], x[4:]),
    ],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_likeness_of_parallel_vectors_is_clipped_for_rounding_alone(likeness, sign):
    x = np.array([1.0, 2.0, 4.0, 3.0])
    point = np.concatenate([x, sign * 2 * x])
    slope = GraphFunction(grad(likeness), backend="numpy")
    bend = GraphFunction(hessian(likeness), backend="numpy")(point)
    step = 1e-5 * np.eye(8)
    beside = np.stack([(slope(point + each) - slope(point - each)) / 2e-5 for each in step])
    np.testing.assert_allclose(bend, beside, atol=1e-8)


def test_interpolation_at_a_point_has_the_mean_slope_of_both_sides():
    points, heights = np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 3.0])
    at = np.array([-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0])
    by_x, by_points, by_heights = GraphFunction(
        grad(lambda x, points, heights: np.sum(np.interp(x, points, heights)), argnums=(0, 1, 2))
    )(at, points, heights)
    np.testing.assert_allclose(by_x, [0, 1, 2, 1.25, 0.5, 0.25, 0], rtol=1e-14)
    np.testing.assert_allclose(by_heights, [2.5, 2.0, 2.5], rtol=1e-14)
    np.testing.assert_allclose(by_points.sum(), -by_x.sum(), rtol=1e-14)


@pytest.mark.parametrize("points", [[1.0], [np.nan], [np.inf], [1.0, 2.0]])
def test_interpolation_between_one_point_gives_its_height_everywhere(points):
    at, heights = np.array([np.nan, 0, 1, 2, np.inf, -np.inf]), np.arange(5.0, 5 + len(points))
    np.testing.assert_array_equal(graph_jit(np.interp)(at, points, heights), np.interp(at, points, heights))


def test_a_gradient_of_deviations_is_zero_in_native_code():
    x = np.array([[1.0, 2.0], [1.0, 3.0]])
    found = graph_jit(grad(lambda x: np.std(x, 0).sum() + np.linalg.norm(x[:, 0] - 1)))(x)
    np.testing.assert_allclose(found, [[0, -0.5], [0, 0.5]], rtol=1e-15)


def products_of_others(x, orders):
    """The derivatives of a product by some elements, all different."""
    found = np.zeros((len(x),) * orders)
    for places in permutations(range(len(x)), orders):
        found[places] = np.prod(np.delete(x, places))
    return found


@pytest.mark.parametrize("zeros", range(4))
@pytest.mark.parametrize("product", [np.prod, lambda x: np.cumprod(x)[-1], lambda x: np.cumprod(x[::-1])[-1]])
def test_derivatives_of_products_with_zeros(product, zeros):
    x = np.array([0.0] * zeros + [2.0, 3.0, 5.0, 7.0][zeros:])
    slope = grad(product)
    found = GraphFunction(lambda x: [slope(x), jacrev(slope)(x), jacrev(jacrev(slope))(x)], backend="numpy")(x)
    for order, each in enumerate(found, 1):
        np.testing.assert_allclose(each, products_of_others(x, order), rtol=1e-14)


def test_logsumexp_has_derivatives_by_weights_that_are_zero():
    x, w = np.array([0.0, 1.0, 2.0]), np.array([1.0, 0.0, 2.0])
    share = np.exp(x) / np.sum(w * np.exp(x))
    for zero in (0, 0j):
        slope = grad(lambda x, w, zero=zero: logsumexp(x + zero, b=w).real, argnums=(0, 1))
        by_x, by_w = GraphFunction(slope, backend="numpy")(x, w)
        np.testing.assert_allclose(by_x, w * share, rtol=1e-14)
        np.testing.assert_allclose(by_w, share, rtol=1e-14)
    second = jacrev(grad(lambda x, w: logsumexp(x, b=w), argnums=(0, 1)), argnums=(0, 1))
    (_, mixed), (other, by_w) = GraphFunction(second, backend="numpy")(x, w)
    np.testing.assert_allclose(by_w, -np.outer(share, share), rtol=1e-13)
    np.testing.assert_allclose(mixed, np.diag(share) - np.outer(w * share, share), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(other, mixed.T, rtol=1e-13, atol=1e-15)


# ---- determinants ----


def minors(matrix, order):
    """The derivatives of a determinant, from Leibniz's formula."""
    n = len(matrix)
    found = np.zeros((n, n) * order)
    for columns in permutations(range(n)):
        sign = round(np.linalg.det(np.eye(n)[list(columns)]))
        for rows in permutations(range(n), order):
            place = sum(((row, columns[row]) for row in rows), ())
            found[place] += sign * np.prod([matrix[row, columns[row]] for row in range(n) if row not in rows])
    return found


def of_rank(n, rank):
    rng = np.random.default_rng(n * 10 + rank)
    return rng.integers(-3, 4, (n, rank)).astype(float) @ rng.integers(-3, 4, (rank, n)).astype(float)


SINGULAR = [
    *[of_rank(n, rank) for n in (1, 2, 3, 4) for rank in range(n)],
    *(of_rank(5, 4), of_rank(5, 3), np.eye(4, k=1), np.eye(3, k=-1), np.diag([1e10, 0, 1e-10]), np.eye(3) * 1e-9),
    np.diag([1.0, 1.0, 1e-9]) + 1e-10,
]


def test_derivatives_of_determinants_of_singular_matrices():
    slope = grad(np.linalg.det)
    first = GraphFunction(slope)
    second = GraphFunction(lambda a: [jacrev(slope)(a), jacfwd(slope)(a)], backend="numpy")
    third = GraphFunction(jacrev(jacrev(slope)), backend="numpy")
    for matrix in SINGULAR:
        found = [(1, first(matrix)), *[(2, each) for each in second(matrix)]]
        if len(matrix) < 4:
            found.append((3, third(matrix)))
        for order, each in found:
            wanted = minors(matrix, order)
            np.testing.assert_allclose(each, wanted, rtol=1e-9, atol=1e-13 * (np.abs(wanted).max() or 100))


def test_gradients_of_determinants_of_complex_and_of_long_singular_matrices():
    slope = GraphFunction(grad(lambda a: np.linalg.det(a).real))
    matrix = of_rank(3, 2)
    np.testing.assert_allclose(slope(matrix + 0j), minors(matrix, 1), rtol=1e-12, atol=1e-12)
    found = slope(np.eye(20, k=1))  # the determinant of what is left without its first column and last row is 1
    np.testing.assert_allclose(found, -np.eye(20, k=-19), atol=1e-11)


def test_the_logarithm_of_a_singular_determinant_has_no_derivative():
    found = GraphFunction(grad(lambda a: np.linalg.slogdet(a)[1]), backend="numpy")
    assert not np.isfinite(found(np.diag([1.0, 0.0]))).all()


# ---- eigenvalues and singular values that are equal ----


def symmetric_with(values):
    vectors = np.linalg.qr(np.random.default_rng(1).normal(size=(len(values),) * 2))[0]
    matrix = vectors @ np.diag(values) @ vectors.T
    return (matrix + matrix.T) / 2


def by_differences(function, matrix, step=1e-5):
    found = np.zeros_like(matrix)
    for place in np.ndindex(matrix.shape):
        change = np.zeros_like(matrix)
        change[place] = step
        found[place] = (function(matrix + change) - function(matrix - change)) / (2 * step)
    return found


WEIGHTS = np.arange(16.0).reshape(4, 4)


def of_eigenvalues(a):
    return np.sum(np.exp(np.linalg.eigh((a + a.T) / 2)[0]))


def of_eigenspace(a):
    vectors = np.linalg.eigh((a + a.T) / 2)[1][:, :2]
    return np.sum(vectors @ vectors.T * WEIGHTS)


def of_singular_values(a):
    return np.sum(np.linalg.svd(a)[1])


def of_singular_space(a):
    u, _, vh = np.linalg.svd(a)
    return np.sum(u[:, 2:] @ vh[2:] * WEIGHTS)


@pytest.mark.parametrize("function", [of_eigenvalues, of_eigenspace, of_singular_values, of_singular_space])
@pytest.mark.parametrize("values", [(1.0, 1.0, 2.0, 3.0), (1.0, 1.0, 3.0, 3.0)])
def test_gradients_where_eigenvalues_are_equal(function, values):
    """What depends on eigenspaces, but not on the vectors that span them, has a derivative."""
    slope = GraphFunction(grad(function), backend="numpy")
    for matrix in (symmetric_with(values), np.diag(values)):
        np.testing.assert_allclose(slope(matrix), by_differences(function, matrix), rtol=1e-6, atol=1e-6)


def kronecker_density(length):
    """Its first factor has rank 2: the other eigenvalues are zero to rounding."""
    x = np.linspace(0, 3, 6)
    apart = x[:, None] - x[None, :]
    values, vectors = np.linalg.eigh(np.cos(apart / length))
    others, other_vectors = np.linalg.eigh(np.exp(-0.5 * (apart[:4, :4] / 0.7) ** 2))
    turned = vectors.T @ np.sin(np.arange(24.0)).reshape(6, 4) @ other_vectors
    variances = values[:, None] * others[None, :] + 0.01
    return 0.5 * np.sum(turned**2 / variances) + 0.5 * np.sum(np.log(variances))


def test_gradient_of_a_gaussian_process_of_low_rank():
    slope, step = graph_jit(grad(kronecker_density)), 1e-5
    for length in (0.7, 1.3, 4.0):
        wanted = (kronecker_density(length + step) - kronecker_density(length - step)) / (2 * step)
        np.testing.assert_allclose(slope(length), wanted, rtol=1e-5)


def test_gradients_of_eigenvalues_and_singular_values_are_finite_where_they_are_zero():
    for function in (of_eigenvalues, of_singular_values, lambda a: np.linalg.norm(a, "nuc"), of_singular_space):
        slope = GraphFunction(grad(function), backend="numpy")
        for matrix in (np.zeros((4, 4)), np.eye(4), np.diag([1.0, 1.0, 0.0, 0.0])):
            assert np.isfinite(slope(matrix)).all()
    slope = GraphFunction(grad(lambda a: np.sum(np.abs(np.linalg.eigvals(a)) ** 2)), backend="numpy")
    np.testing.assert_allclose(slope(np.eye(3)), 2 * np.eye(3), atol=1e-12)
