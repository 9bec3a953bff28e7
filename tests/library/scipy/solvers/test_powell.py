"""Powell's method, the nearly exact trust region and searches on grids in compiled functions, against SciPy's."""

import warnings

import numpy as np
import pytest
from scipy.optimize import Bounds, OptimizeWarning, brute, fmin_powell, minimize, rosen

import numbagraph as ng

X = np.array([0.3, 0.7, 0.8])


def beale(x):
    """Beale's function in products, which have one rounding: line searches go on until rounding decides."""
    a, b = x[0], x[1]
    first, second, third = 1.5 - a + a * b, 2.25 - a + a * (b * b), 2.625 - a + a * (b * b * b)
    return first * first + second * second + third * third


def unbounded(x):
    return -(x[0] ** 3) - np.sum(x)


def flat(x):
    return 0.0 * np.sum(x) + 1.0


def not_a_number(x):
    return np.sum(np.sqrt(x - 5.0)) + np.sum(x**2)


EMPTY = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
CASES = [
    pytest.param(rosen, {}, id="rosen"),
    pytest.param(beale, {"tol": 1e-8}, id="beale"),
    pytest.param(flat, {}, id="flat"),
    pytest.param(unbounded, {}, id="unbounded"),
    pytest.param(not_a_number, {}, id="nan"),
    pytest.param(rosen, {"options": {"maxfev": 50}}, id="maxfev"),
    pytest.param(rosen, {"options": {"maxiter": 2}}, id="maxiter"),
    pytest.param(rosen, {"bounds": [(0, 0.9), (-2, 0.8), (-1, 5)]}, id="bounds"),
    pytest.param(rosen, {"bounds": [(0, 0.9), (None, 0.8), (-1, None)], "tol": 1e-2}, id="half open"),  # by tangents
    pytest.param(rosen, {"bounds": [(None, None), (None, 0.5), (1.2, 1.2)]}, id="fixed"),
    pytest.param(rosen, {"bounds": Bounds([0.5, 0, 0], [1, 1, 2]), "options": {"direc": EMPTY}}, id="directions"),
]


@pytest.mark.parametrize(("fun", "kwargs"), CASES)
def test_powell_is_that_of_scipy(fun, kwargs):
    def run(function):
        with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
            warnings.simplefilter("always")
            found = function(X)
        return found, {str(each.message) for each in caught if each.category is OptimizeWarning}

    def function(x):
        options = dict(kwargs.get("options", {}))
        if "direc" in options:
            options["direc"] = options["direc"].copy()  # SciPy writes into it
        return minimize(fun, x, method="Powell", **(kwargs | {"options": options}))

    (found, warned), (expected, other) = run(ng.graph_jit(function)), run(function)
    assert list(found) == list(expected)
    assert warned == other
    for name in ("nit", "nfev", "status", "success", "message"):
        assert getattr(found, name) == getattr(expected, name), name
    for name in ("x", "direc"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), 1e-8, 1e-10, err_msg=name)
    if fun is not unbounded:
        np.testing.assert_allclose(found.fun, expected.fun, rtol=1e-8, atol=1e-15)


def test_derivatives_of_free_variables_and_of_those_at_a_bound():
    def at(p):
        bounds = [(None, p[0]), (-1.0, 5.0)]
        return minimize(lambda x: np.sum((x - p[1]) ** 2), np.zeros(2), method="Powell", bounds=bounds).x

    np.testing.assert_allclose(ng.graph_jit(ng.jacfwd(at))(np.array([2.0, 3.0])), np.eye(2), atol=1e-9)


def test_the_older_name(capfd):
    function = lambda x: fmin_powell(lambda x: np.sum((x - 3.0) ** 2), x, full_output=1)  # noqa: E731
    found = ng.graph_jit(function)(X)
    printed = capfd.readouterr().out
    expected = function(X)
    assert printed == capfd.readouterr().out
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def waves(x, a):
    return np.sum((x - a) ** 2) + np.sum(np.cos(3 * x))


GRIDS = [((-2, 2),), ((-2, 2.0), slice(-1, 2, 0.25)), ((-1, 3, 0.5), (0, 2, 4j))]


@pytest.mark.parametrize(
    "options", [{}, {"finish": None}, {"finish": minimize, "Ns": 7}], ids=["default", "none", "minimize"]
)
@pytest.mark.parametrize("ranges", GRIDS, ids=("line", "plane", "steps"))
def test_grids_are_those_of_scipy(ranges, options):
    function = lambda a: brute(waves, ranges, args=(a,), full_output=True, **options)  # noqa: E731
    for one, other in zip(ng.graph_jit(function)(0.3), function(0.3), strict=True):
        assert np.shape(one) == np.shape(other)
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_a_grid_that_moves_and_derivatives_of_what_is_found():
    def lowest(a, low):
        return brute(waves, ((low, 2.0),), args=(a,), Ns=5, full_output=True)[:2]

    expected = lowest(0.3, -1.0)
    found = ng.graph_jit(lowest)(0.3, -1.0)
    np.testing.assert_allclose(np.ravel(found[0]), np.ravel(expected[0]), 1e-6)
    x = found[0][0]
    slope, envelope = ng.graph_jit(ng.jacfwd(lowest))(0.3, -1.0)
    np.testing.assert_allclose(slope, [2 / (2 - 9 * np.cos(3 * x))], rtol=1e-6)
    np.testing.assert_allclose(envelope, -2 * (x - 0.3), rtol=1e-4)


def test_what_is_refused():
    others = {"COBYLA": "SLSQP", "COBYQA": "trust-constr", "trust-krylov": "trust-exact", "TNC": "L-BFGS-B"}
    for method, instead in others.items():
        with pytest.raises(ng.errors.TraceError, match=f"{method}.*{instead}"):
            ng.graph_jit(lambda x, m=method: minimize(rosen, x, method=m).x)(X)
    with pytest.raises(ValueError, match="more than 40 variables"):
        ng.graph_jit(lambda a: brute(waves, ((-1, 1),) * 41, args=(a,)))(0.3)
