"""Nonlinear least squares in compiled functions, beside SciPy's: points, counts, reasons, derivatives, errors."""

import warnings

import numpy as np
import pytest
from scipy.optimize import Bounds, bisect, curve_fit, least_squares, leastsq

import numbagraph as ng

RNG = np.random.default_rng(0)
T = np.linspace(0.0, 4.0, 40)
Y = 2.5 * np.exp(-1.3 * T) + 0.5 + 0.2 * RNG.normal(size=40)
ERRORS = 0.1 + 0.02 * T
COVARIANCE = np.diag(ERRORS**2) + 0.001


def model(x, a, b, c):
    return a * np.exp(-b * x) + c


def slopes(x, a, b, c):
    decay = np.exp(-b * x)
    return np.stack([decay, -a * x * decay, np.ones_like(x)], axis=1)


def residuals(p, y):
    return model(T, p[0], p[1], p[2]) - y


def jacobian(p, y):
    return slopes(T, p[0], p[1], p[2])


def rosenbrock(x):
    return np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]])


def rosenbrock_jacobian(x):
    return np.array([[-20 * x[0], 10.0], [-1.0, 0.0]])


def tridiagonal(x):
    """Broyden's function, as in SciPy's tests."""
    f = (3 - x) * x + 1
    return np.concatenate((f[:1] - 2 * x[1:2], f[1:-1] - x[:-2] - 2 * x[2:], f[-1:] - x[-2:-1]))


def tridiagonal_jacobian(x):
    n = len(x)
    return np.diag(3 - 2 * x) - np.diag(np.ones(n - 1), -1) - 2 * np.diag(np.ones(n - 1), 1)


def same(found, expected, rtol=1e-8):
    for name in ("nfev", "njev", "status", "message", "success"):
        assert found[name] == expected[name], name
    for name in ("x", "cost", "fun", "jac", "grad", "active_mask"):
        largest = np.max(np.abs(expected[name]), initial=1.0)
        np.testing.assert_allclose(found[name], expected[name], rtol, rtol * largest, err_msg=name)


OPTIONS = [
    ("trf", {}),
    ("dogbox", {}),
    ("lm", {}),
    ("trf", {"loss": "soft_l1", "f_scale": 0.1}),
    ("trf", {"loss": "cauchy", "f_scale": 0.3, "x_scale": "jac"}),
    ("dogbox", {"loss": "arctan", "f_scale": 0.3}),
    ("trf", {"x_scale": [1.0, 2.0, 0.5]}),
    ("lm", {"x_scale": [1.0, 2.0, 0.5]}),
    ("trf", {"bounds": ([0, 0, 0], [2.2, 3, 1])}),
    ("dogbox", {"bounds": Bounds([0, 0, 0], [5, 1.3, 0.3])}),
    ("trf", {"bounds": (0.0, [5, 1.3, 0.3]), "x_scale": "jac", "loss": "huber"}),
]


@pytest.mark.parametrize(("method", "options"), OPTIONS)
def test_fits_are_those_of_scipy(method, options):
    start = np.array([1.0, 1.0, 0.2])
    found = ng.graph_jit(lambda y: least_squares(residuals, start, args=(y,), method=method, **options))(Y)
    loose = 1e-5 if options.get("loss") == "huber" else 1e-8  # its weights amplify rounding by 1 / sqrt(eps)
    same(found, least_squares(residuals, start, jacobian, args=(Y,), method=method, **options), loose)


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
@pytest.mark.parametrize(
    ("fun", "jac", "start"),
    [(rosenbrock, rosenbrock_jacobian, [-2.0, 1.0]), (tridiagonal, tridiagonal_jacobian, -np.ones(12))],
)
def test_problems_of_scipy(fun, jac, start, method):
    found = ng.graph_jit(lambda x: least_squares(fun, x, method=method))(np.array(start))
    expected = least_squares(fun, start, jac, method=method)
    assert [found[name] for name in ("nfev", "njev", "status")] == [
        expected[name] for name in ("nfev", "njev", "status")
    ]
    np.testing.assert_allclose(found.x, expected.x, 1e-9, 1e-9)


@pytest.mark.parametrize(
    ("start", "bounds"),
    [([-2.0, 1.0], ([-np.inf, -1.5], np.inf)), ([2.0, 2.0], ([-np.inf, 1.5], np.inf)), ([0.0, 2.0], ([-50, 1.5], 50))],
)
@pytest.mark.parametrize("method", ["trf", "dogbox"])
def test_rosenbrock_within_bounds(start, bounds, method):
    found = ng.graph_jit(lambda x: least_squares(rosenbrock, x, bounds=bounds, method=method))(np.array(start))
    same(found, least_squares(rosenbrock, start, rosenbrock_jacobian, bounds, method), 1e-7)


@pytest.mark.parametrize("scheme", ["2-point", "3-point", "cs"])
def test_differences_if_asked_for(scheme):
    bounds = ([-50.0, 1.5], [50.0, 100.0])
    found = ng.graph_jit(lambda x: least_squares(rosenbrock, x, scheme, bounds))(np.array([0.0, 2.0]))
    expected = least_squares(rosenbrock, [0.0, 2.0], scheme, bounds)
    assert (found.nfev, found.njev, found.status) == (expected.nfev, expected.njev, expected.status)
    np.testing.assert_allclose(found.x, expected.x, 1e-7)


def test_the_last_evaluation_ends_a_search():
    found = ng.graph_jit(lambda x: least_squares(rosenbrock, x, max_nfev=3))(np.array([-2.0, 1.0]))
    same(found, least_squares(rosenbrock, [-2.0, 1.0], rosenbrock_jacobian, max_nfev=3))
    assert found.status == 0

    def early(a):
        return least_squares(lambda x: rosenbrock(x) * a, np.array([-2.0, 1.0]), max_nfev=3).x

    assert np.all(np.isnan(ng.graph_jit(ng.jacfwd(early))(2.0)))


@pytest.mark.parametrize(
    "options",
    [
        {"full_output": True},
        {"full_output": True, "diag": np.array([1.0, 2.0, 0.5]), "factor": 1.0},
        {"full_output": True, "ftol": 1e-3, "maxfev": 4},
        {"full_output": True, "epsfcn": 1e-14},
    ],
)
def test_leastsq(options):
    start = np.array([1.0, 1.0, 0.2])
    found = ng.graph_jit(lambda y: leastsq(residuals, start, args=(y,), **options))(Y)
    given = {} if "epsfcn" in options else {"Dfun": jacobian}
    expected = leastsq(residuals, start, args=(Y,), **given, **options)
    assert (found[2]["nfev"], *found[3:]) == (expected[2]["nfev"], *expected[3:])
    np.testing.assert_array_equal(found[2]["ipvt"], expected[2]["ipvt"])
    rtol = 1e-6 if "epsfcn" in options else 1e-9
    np.testing.assert_allclose(found[0], expected[0], rtol)
    cov = np.full((3, 3), np.nan) if expected[1] is None else expected[1]
    np.testing.assert_allclose(found[1], cov, rtol)
    np.testing.assert_allclose(found[2]["fvec"], expected[2]["fvec"], rtol, 1e-7)
    upper = [np.triu(each[2]["fjac"][:, :3].T) for each in (found, expected)]
    np.testing.assert_allclose(*upper, rtol=1e-5, atol=1e-6)


def test_singular_jacobians_have_no_covariance():
    def flat(p):
        return np.stack([p[0] + p[1] - 1.0, p[0] + p[1] - 2.0, 0.0 * p[0]])

    found = ng.graph_jit(lambda x: leastsq(flat, x, full_output=True))(np.array([0.0, 0.0]))
    expected = leastsq(flat, [0.0, 0.0], Dfun=lambda p: np.array([[1.0, 1], [1, 1], [0, 0]]), full_output=True)
    np.testing.assert_allclose(found[0], expected[0], 1e-9)
    assert found[4] == expected[4]


FITS = [
    {},
    {"p0": [2.0, 1.0, 0.1]},
    {"sigma": ERRORS},
    {"sigma": ERRORS, "absolute_sigma": True},
    {"sigma": COVARIANCE, "absolute_sigma": True},
    {"bounds": (0, [2.2, 3.0, 1.0])},
    {"method": "dogbox", "sigma": ERRORS},
    {"jac": slopes, "sigma": ERRORS},
    {"jac": slopes, "sigma": COVARIANCE},
]


@pytest.mark.parametrize("options", FITS)
def test_curves(options):
    found = ng.graph_jit(lambda x, y: curve_fit(model, x, y, full_output=True, **options))(T, Y)
    expected = curve_fit(model, T, Y, full_output=True, **{**options, "jac": slopes})
    np.testing.assert_allclose(found[0], expected[0], 1e-9)
    np.testing.assert_allclose(found[1], expected[1], 1e-8)
    np.testing.assert_allclose(found[2]["fvec"], expected[2]["fvec"], 1e-6, 1e-9)
    assert (found[2]["nfev"], *found[3:]) == (expected[2]["nfev"], *expected[3:])


def fitted(y):
    return curve_fit(model, T, y, ftol=1e-14, xtol=1e-14)[0]


def sensitivity(p, y):
    """The derivatives of a fit by the data: the normal equations, with second derivatives of the model."""
    a, b, c = p
    decay, jac, r = np.exp(-b * T), slopes(T, a, b, c), model(T, a, b, c) - y
    second = np.zeros((3, 3))
    second[0, 1] = second[1, 0] = np.sum(-T * decay * r)
    second[1, 1] = np.sum(a * T**2 * decay * r)
    return np.linalg.solve(jac.T @ jac + second, jac.T)


def test_derivatives_of_fits():
    expected = sensitivity(curve_fit(model, T, Y, jac=slopes, ftol=1e-14, xtol=1e-14)[0], Y)
    for mode in (ng.jacrev, ng.jacfwd):
        np.testing.assert_allclose(ng.graph_jit(mode(fitted))(Y), expected, 1e-5, 1e-6)


def test_derivatives_of_covariances():
    options = {"sigma": ERRORS, "method": "trf", "ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15}

    def covariance(y):
        return curve_fit(model, T, y, **options)[1]

    found = ng.graph_jit(ng.jacfwd(covariance))(Y)[:, :, 3]
    step = np.where(np.arange(40) == 3, 1e-3, 0.0)
    ends = [curve_fit(model, T, Y + each, jac=slopes, **options)[1] for each in (step, -step)]
    np.testing.assert_allclose(found, (ends[0] - ends[1]) / 2e-3, 3e-4, 1e-8)


def test_derivatives_by_errors_and_closures():
    def fit(scale):
        return curve_fit(lambda x, a, b: a * np.exp(-b * x * scale), T, Y, method="trf", gtol=1e-13, ftol=1e-15)[0]

    first, second = ng.graph_jit(ng.jacfwd(fit))(1.5), ng.graph_jit(ng.jacfwd(ng.jacfwd(fit)))(1.5)
    popt = ng.graph_jit(fit)(1.5)
    np.testing.assert_allclose(first, [0.0, -popt[1] / 1.5], 1e-6, 1e-7)  # b * scale stays
    np.testing.assert_allclose(second, [0.0, 2 * popt[1] / 1.5**2], 1e-6, 1e-6)


@pytest.mark.parametrize("method", ["trf", "dogbox"])
def test_derivatives_at_active_bounds(method):
    def fit(bound):
        high = np.stack([bound, 3.0, 1.0])
        found = least_squares(residuals, np.array([1.0, 1.0, 0.2]), args=(Y,), bounds=(0.0, high), method=method,
                              xtol=1e-14, ftol=1e-14, gtol=1e-12)  # fmt: skip
        return found.x

    found = ng.graph_jit(ng.jacfwd(fit))(2.2)
    _, b, c = ng.graph_jit(fit)(2.2)
    decay, jac, r = np.exp(-b * T), slopes(T, 2.2, b, c), model(T, 2.2, b, c) - Y
    hessian = jac.T @ jac
    hessian[0, 1] += np.sum(-T * decay * r)
    hessian[1, 1] += np.sum(2.2 * T**2 * decay * r)
    expected = np.linalg.solve(hessian[1:, 1:], -hessian[0, 1:])
    np.testing.assert_allclose(found, [1.0, *expected], 1e-5)


def test_fits_in_batches_loops_branches_and_other_solvers():
    many = Y + 0.05 * RNG.normal(size=(3, 40))
    plain = np.array([curve_fit(model, T, each, jac=slopes)[0] for each in many])

    def popt(y):
        return curve_fit(model, T, y)[0]

    np.testing.assert_allclose(ng.vmap(popt)(many), plain, 1e-9)

    @ng.graph_jit
    def loop(many):
        total = np.zeros(3)
        for y in many:
            if y[0] > 0.0:
                total += popt(y)
        return total

    np.testing.assert_allclose(loop(many), plain.sum(0), 1e-9)

    @ng.graph_jit
    def level(y):
        return bisect(lambda s: popt(y + s)[2] - 1.0, 0.0, 1.0)

    np.testing.assert_allclose(level(Y), 1.0 - curve_fit(model, T, Y, jac=slopes)[0][2], 1e-6)


def test_a_covariance_that_is_not_known_is_infinite_and_warned_of():
    x, y = np.array([1.0, 2.0]), np.array([1.0, 3.0])
    fit = ng.graph_jit(lambda x, y: curve_fit(lambda x, a, b: a + b * x, x, y))
    with pytest.warns(UserWarning, match="Covariance of the parameters could not be estimated"):
        popt, cov = fit(x, y)
    np.testing.assert_allclose(popt, [-1.0, 2.0], 1e-9)
    assert np.all(np.isinf(cov))


def short(x):
    return curve_fit(model, T[:2], x[:2])


FAILURES = [
    lambda y: least_squares(lambda p: p - np.nan, y[:2]),
    lambda y: least_squares(lambda p: p[:1], y[:2], method="lm"),
    lambda y: least_squares(rosenbrock, y[:2], bounds=([3.0, 3.0], [1.0, 1.0])),
    lambda y: least_squares(rosenbrock, y[:2], bounds=([30.0, 30.0], [50.0, 50.0])),
    lambda y: least_squares(rosenbrock, y[:2], method="newton"),
    lambda y: least_squares(rosenbrock, y[:2], x_scale=-1.0),
    lambda y: curve_fit(model, T, y, maxfev=2),
    lambda y: curve_fit(model, T, y, method="trf", max_nfev=2),
    lambda y: curve_fit(model, T, y / 0.0),
    lambda y: curve_fit(model, T, y, bounds=(0.0, 9.0), method="lm"),
    lambda y: leastsq(lambda p: p[:1], y[:2]),
    short,
]


@pytest.mark.parametrize("failing", FAILURES)
def test_errors_are_those_of_scipy(failing):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with pytest.raises((ValueError, TypeError, RuntimeError)) as plain:
            failing(Y)
    with pytest.raises(plain.type) as compiled:
        ng.graph_jit(failing)(Y)
    assert str(plain.value).splitlines()[0][:40] in str(compiled.value)
