"""`newton_krylov` and `root(method="krylov")` in compiled functions: points, counts, statuses, errors."""

import numpy as np
import pytest
from scipy.optimize import NoConvergence, newton_krylov, root

import numbagraph as ng

A = np.array([[-2.0, 1.0, 0.0], [1.0, -3.0, 1.0], [0.0, 1.0, -2.5]])


def damped(x):
    """The function of SciPy's own tests."""
    return -np.array([3.0, 2.0, 1.5, 1.0, 0.5]) * x - 0.01 * np.sum(x * x) * x


def linear(x):
    return A @ x - np.array([1.0, 2.0, 3.0])


def square(x):
    """A function of a matrix."""
    return x + 0.1 * x @ x - np.array([[1.0, 0.5], [0.2, 2.0]])


def rod(x, source=3.0):
    """A boundary value problem by differences."""
    inside = np.concatenate((np.zeros(1), x, np.ones(1)))
    return (inside[2:] - 2 * inside[1:-1] + inside[:-2]) * (len(x) + 1) ** 2 - source * np.exp(x) - x**3


def rootless(x):
    return np.array([x[0] ** 2 + 1.0, x[1] - 1.0])


PROBLEMS = {
    "damped": (damped, np.ones(5), {}),
    "linear": (linear, np.zeros(3), {}),
    "matrix": (square, np.zeros((2, 2)), {}),
    "rod": (rod, np.linspace(0, 1, 50), {}),
    "rootless": (rootless, np.array([2.0, 3.0]), {"options": {"maxiter": 30}}),
    "steps": (rod, np.linspace(0, 1, 20), {"options": {"nit": 3, "line_search": None}}),
}


@pytest.mark.parametrize("method", ["lgmres", "gmres"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_roots_are_those_of_scipy(name, method):
    fun, start, kwargs = PROBLEMS[name]
    options = {**kwargs.get("options", {}), "jac_options": {"method": method}}
    function = lambda x: root(fun, x, method="krylov", **{**kwargs, "options": options})  # noqa: E731
    found, expected = ng.graph_jit(function)(start), function(start)
    assert list(found) == list(expected)
    for each in ("status", "success", "message", "method", "nit", "nfev"):
        assert found[each] == expected[each], each
    assert found.x.shape == start.shape
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-6, atol=1e-8)


SETTINGS = [
    {"inner_maxiter": 4, "method": "gmres", "rdiff": 1e-6},
    {"outer_k": 2, "inner_inner_m": 8, "tol_norm": np.linalg.norm},
    {"outer_k": 0, "inner_rtol": 1e-2, "f_tol": 1e-8},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_settings(settings):
    start = np.linspace(0, 1, 30)
    found = ng.graph_jit(lambda x: newton_krylov(rod, x, **settings))(start)
    np.testing.assert_allclose(found, newton_krylov(rod, start, **settings), rtol=1e-7, atol=1e-9)


def test_singular_systems_have_the_shortest_step():
    def plane(x):
        return np.stack([x[0] + x[1] - 1.0, 2.0 * x[0] + 2.0 * x[1] - 2.0, x[2] - 3.0])

    found = ng.graph_jit(lambda x: newton_krylov(plane, x))(np.zeros(3))
    np.testing.assert_allclose(found, newton_krylov(plane, np.zeros(3)), rtol=1e-6)


def test_errors_warnings_and_what_is_refused():
    start = np.linspace(0, 1, 10)
    with pytest.raises(NoConvergence):
        ng.graph_jit(lambda x: newton_krylov(rod, x, maxiter=1))(start)
    with pytest.raises(ValueError, match="Unknown parameter foo"):
        ng.graph_jit(lambda x: newton_krylov(rod, x, foo=1))(start)
    with pytest.warns(UserWarning, match="Did you mean 'maxiter'"):
        ng.graph_jit(lambda x: newton_krylov(rod, x, inner_maxitre=1))(start)
    undefined = lambda x: np.sqrt(x - 0.5)  # noqa: E731
    nowhere = lambda x: np.where(x == start, 1.0, np.nan)  # noqa: E731
    for fun, error in ((undefined, "array must not contain infs"), (nowhere, "Function returned non-finite")):
        for call in (newton_krylov, ng.graph_jit(newton_krylov, static_argnames="F")):
            with pytest.raises(ValueError, match=error), np.errstate(all="ignore"):
                call(fun, start)
    for kwargs, instead in (
        ({"method": "tfqmr"}, "gmres"),
        ({"inner_M": np.eye(10)}, "preconditioner"),
        ({"inner_callback": print}, "inner_rtol"),
        ({"line_search": "wolfe"}, "armijo"),
    ):
        with pytest.raises(ng.errors.TraceError, match=instead):
            ng.graph_jit(lambda x, kwargs=kwargs: newton_krylov(rod, x, **kwargs))(start)


@pytest.mark.parametrize("method", ["lgmres", "gmres"])
def test_derivatives_are_those_of_the_equations(method):
    start = np.linspace(0, 1, 12)

    def temperature(source):
        options = {"jac_options": {"method": method}, "fatol": 1e-11}
        return root(rod, start, args=(source,), method="krylov", options=options).x

    x, slopes = ng.graph_jit(lambda source: (temperature(source), ng.jacfwd(temperature)(source)))(3.0)
    count = (len(x) + 1) ** 2
    jacobian = np.diag(-2.0 * count - 3.0 * np.exp(x) - 3 * x**2) + count * (np.eye(12, k=1) + np.eye(12, k=-1))
    np.testing.assert_allclose(slopes, np.linalg.solve(jacobian, np.exp(x)), rtol=1e-8)
