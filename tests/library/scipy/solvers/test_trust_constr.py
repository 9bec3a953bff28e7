"""The method trust-constr of `scipy.optimize.minimize` against SciPy's on its own test problems, and derivatives."""

import numpy as np
import pytest
from scipy.optimize import (
    BFGS,
    SR1,
    Bounds,
    LinearConstraint,
    NonlinearConstraint,
    minimize,
    rosen,
    rosen_der,
    rosen_hess,
)

import numbagraph as ng

INF = np.inf
FLAT = "ignore:delta_grad == 0.0"
COUNTS = ("nit", "nfev", "njev", "nhev", "cg_niter", "cg_stop_cond", "niter", "status", "success", "message", "method")
LISTS = ("constr", "v", "jac", "constr_nfev", "constr_njev", "constr_nhev")
NUMBERS = (
    "x", "fun", "grad", "lagrangian_grad", "optimality", "constr_violation", "constr_penalty", "barrier_parameter",
    "barrier_tolerance",
)  # fmt: skip


def dense(a):
    return a.toarray() if hasattr(a, "toarray") else np.asarray(a)


def check(found, expected, rtol=1e-5):
    assert list(found) == [name for name in expected if name != "execution_time"]
    for name in COUNTS:
        assert found[name] == expected[name], name
    for name in NUMBERS:
        if name in expected:
            np.testing.assert_allclose(found[name], expected[name], rtol, 1e-6, err_msg=name)
    for name in LISTS:
        for one, other in zip(found[name], expected[name], strict=True):
            np.testing.assert_allclose(one, dense(other), rtol, 1e-6, err_msg=name)


class Maratos:
    """Problem 15.4 of Nocedal and Wright."""

    start = np.array([0.5, 0.75**0.5])
    bounds = None

    def fun(self, x):
        return 2 * (x[0] ** 2 + x[1] ** 2 - 1) - x[0]

    def jac(self, x):
        return np.stack([4 * x[0] - 1, 4 * x[1]])

    def hess(self, x):
        return 4 * np.eye(2)

    def constraints(self, hess=None, plain=True):
        given = hess or (lambda x, v: 2 * v[0] * np.eye(2))
        jac = (lambda x: [[2 * x[0], 2 * x[1]]]) if plain else "2-point"
        return NonlinearConstraint(lambda x: x[0] ** 2 + x[1] ** 2, 1, 1, jac, given)


class Hyperbolic:
    """Problem 15.1 of Nocedal and Wright."""

    start = np.zeros(2)
    bounds = Bounds(0, INF)

    def fun(self, x):
        return 0.5 * (x[0] - 2) ** 2 + 0.5 * (x[1] - 0.5) ** 2

    def jac(self, x):
        return np.stack([x[0] - 2, x[1] - 0.5])

    def hess(self, x):
        return np.eye(2)

    def constraints(self, hess=None, plain=True):
        given = hess or (lambda x, v: np.array([[2 * v[0] / (x[0] + 1) ** 3, 0.0], [0.0, 0.0]]))
        jac = (lambda x: [[-1 / (x[0] + 1) ** 2, -1.0]]) if plain else "2-point"
        return NonlinearConstraint(lambda x: 1 / (x[0] + 1) - x[1], 0.25, INF, jac, given)


class Rosenbrock:
    """Rosenbrock's function within different constraints."""

    start, bounds, rows = np.array([0.1, 0.4, -0.3]), None, ()
    fun, jac, hess = staticmethod(rosen), staticmethod(rosen_der), staticmethod(rosen_hess)

    def constraints(self, hess=None, plain=True):
        return self.rows


class Equations(Rosenbrock):
    start, rows = np.array([-1.0, -0.5]), (LinearConstraint([[1, 2]], -INF, 1), LinearConstraint([[2, 1]], 1, 1))


class Within(Rosenbrock):
    start, bounds = np.array([-0.2, 0.2]), Bounds([-2, 0], [0, 2], keep_feasible=True)


class Intervals(Rosenbrock):
    start = np.array([-0.2, 0.2])

    def constraints(self, hess=None, plain=True):
        jac = (lambda x: np.stack([x[::-1], np.ones(2), np.array([1.0, -1.0])])) if plain else "2-point"
        fun = lambda x: np.stack([x[0] * x[1], x[0] + x[1], x[0] - x[1]])  # noqa: E731
        rows = NonlinearConstraint(fun, [-1, 0.1, 0.3], [0.2, 0.1, INF], jac)
        return [rows, {"type": "ineq", "fun": lambda x, a: a - x[0], "args": (9.0,), "jac": lambda x, a: [[-1.0, 0.0]]}]


PROBLEMS = {
    "equation": (Maratos(), "exact", None),
    "equation, learned": (Maratos(), SR1(), BFGS()),
    "inequality": (Hyperbolic(), "exact", None),
    "inequality, learned": (Hyperbolic(), None, BFGS(exception_strategy="damp_update")),
    "free": (Rosenbrock(), "exact", None),
    "free, learned": (Rosenbrock(), BFGS(), None),
    "free, product": (Rosenbrock(), "product", None),
    "equations": (Equations(), BFGS(exception_strategy="damp_update"), None),
    "strict bounds": (Within(), SR1(init_scale=2.0), None),
    "intervals": (Intervals(), BFGS(init_scale=np.eye(2)), None),
}
REPEATED = ("equation, learned", "inequality", "free", "free, product", "equations")


@pytest.mark.filterwarnings(FLAT)
@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.repeats) if each in REPEATED else each for each in PROBLEMS]
)
def test_counts_and_values_are_those_of_scipy(name):
    problem, hess, learned = PROBLEMS[name]

    def at(x, maxiter, plain):
        second = {"hess": problem.hess if hess == "exact" else hess}
        if hess == "product":
            second = {"hessp": lambda x, p: np.dot(rosen_hess(x), p)}
        return minimize(
            problem.fun, x, method="trust-constr", jac=problem.jac if plain else None, bounds=problem.bounds,
            constraints=problem.constraints(learned, plain), options={"maxiter": maxiter}, **second,
        )  # fmt: skip

    compiled = ng.graph_jit(lambda x, maxiter: at(x, maxiter, False))
    for maxiter in (1000, 5):
        check(compiled(problem.start, maxiter), at(problem.start, maxiter, True))


def constrained(p, jac=None, method="trust-constr", **options):
    constraints = [
        {"type": "eq", "fun": lambda x: np.sum(x) - p[0]},
        {"type": "ineq", "fun": lambda x: np.stack([p[1] - x[0] * x[1], 5.0 - np.dot(x, x)])},
    ]
    return minimize(
        lambda x: np.sum((x - 1.0) ** 4) + p[2] * np.dot(x, x), np.array([0.4, 0.3, 0.2, 0.9]), method=method, jac=jac,
        constraints=constraints, bounds=[(None, None), (None, None), (None, p[3]), (0, None)], options=options,
    )  # fmt: skip


@pytest.mark.filterwarnings(FLAT)
def test_derivatives_of_the_point_the_value_and_the_multipliers():
    p, h = np.array([1.9, 0.2, 0.7, 0.35]), 1e-4

    def at(p, maxiter):
        found = constrained(p, gtol=1e-10, barrier_tol=1e-10, maxiter=maxiter)
        return np.concatenate((found.x, *found.v[:2], found.v[2][2:3], found.fun * np.ones(1)))

    def plain(p):
        exact = lambda x: 4 * (x - 1.0) ** 3 + 2 * p[2] * x  # noqa: E731
        found = constrained(p, exact, "SLSQP", ftol=1e-13, maxiter=300)
        x, (one, two, three) = found.x, found.multipliers
        fourth = -(exact(x)[2] - one + two * 0 + three * 2 * x[2])  # the bound's share of the slope
        return np.concatenate((x, [-one, -two, -three, fourth, found.fun]))

    compiled = ng.graph_jit(ng.jacrev(at))
    found = compiled(p, 1000)
    expected = [(plain(p + e) - plain(p - e)) / (2 * h) for e in np.eye(4) * h]
    assert np.linalg.norm(expected[1]) > 0.1
    np.testing.assert_allclose(found, np.transpose(expected), rtol=1e-3, atol=2e-4)
    np.testing.assert_allclose(found[2], [0, 0, 0, 1], atol=1e-9)  # it is at its bound
    np.testing.assert_allclose(np.sum(found[:4], axis=0), [1, 0, 0, 0], atol=1e-9)  # the equation
    assert np.all(np.isnan(compiled(p, 3)))


def test_closed_form():
    """The nearest point of a half-space, of a plane, and of a ball."""

    def nearest(a):
        rows = [LinearConstraint(np.ones((1, 3)), -INF, a[0]), NonlinearConstraint(lambda x: np.dot(x, x), -INF, 4.0)]
        found = minimize(lambda x: np.sum((x - a) ** 2), np.zeros(3), method="trust-constr", hess="2-point",
                         constraints=rows, tol=1e-10)  # fmt: skip
        return found.x, found.x

    a = np.array([0.3, 0.6, 0.9])
    slopes, value = ng.graph_jit(ng.jacfwd(nearest, has_aux=True))(a)
    np.testing.assert_allclose(value, a - (np.sum(a) - a[0]) / 3, rtol=1e-5)
    np.testing.assert_allclose(slopes, np.eye(3) - np.array([0, 1, 1]) / 3, atol=1e-6)


@pytest.mark.repeats
def test_traced_sides():
    def at(b, jac=None):
        rows = [
            LinearConstraint(np.array([[1.0, 2.0, -1.0]]), b[0], b[0]),
            LinearConstraint(np.eye(3)[1:], -INF, b[1:]),
        ]
        bounds = Bounds([-INF, 0.0, -1.0], b[:3])
        return minimize(
            lambda x: np.sum((x - 1) ** 4), np.zeros(3), method="trust-constr", constraints=rows, bounds=bounds, jac=jac
        )

    b = np.array([0.5, 0.4, INF])
    found, expected = ng.graph_jit(at)(b), at(b, lambda x: 4 * (x - 1) ** 3)
    np.testing.assert_allclose(found.x, expected.x, atol=1e-4)
    for one, other in zip(found.v, expected.v, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-3)


def test_rows_that_depend_on_each_other():
    def at(x, factorization=None):
        rows = LinearConstraint(np.ones((2, 3)), 1.0, 1.0)
        return minimize(
            lambda x: np.sum((x - 0.5) ** 4), x, method="trust-constr", constraints=rows,
            jac=lambda x: 4 * (x - 0.5) ** 3, options={"factorization_method": factorization},
        )  # fmt: skip

    x = np.array([1.0, -0.5, 0.1])
    with pytest.warns(UserWarning, match="Singular Jacobian matrix"):
        found = ng.graph_jit(at)(x)
    expected = at(x, "SVDFactorization")
    assert (found.nit, found.nfev, found.status) == (expected.nit, expected.nfev, expected.status)
    np.testing.assert_allclose(found.x, expected.x, atol=1e-4)


def square(x):
    return np.sum(x * x)


STRICT = Bounds(2.0, 3.0, keep_feasible=True)
ERRORS = {
    "type": (
        ValueError,
        lambda x: minimize(square, x, method="trust-constr", constraints={"type": "less", "fun": square}),
    ),
    "no type": (KeyError, lambda x: minimize(square, x, method="trust-constr", constraints={"fun": square})),
    "infeasible": (
        ValueError,
        lambda x: minimize(square, x, method="trust-constr", bounds=STRICT, jac=lambda x: 2 * x),
    ),
    "equations": (
        ValueError,
        lambda x: minimize(
            square, x, method="trust-constr", constraints=LinearConstraint(np.eye(3)[[0, 1, 2, 0]], 0, 0)
        ),
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_scipy(name):
    error, function = ERRORS[name]
    with pytest.raises(error) as plain:
        function(np.ones(3))
    with pytest.raises(error) as compiled:
        ng.graph_jit(function)(np.ones(3))
    assert str(plain.value).splitlines()[0][:40] in str(compiled.value)


def test_warning_of_linear_functions():
    def at(x):
        rows = {"type": "eq", "fun": lambda x: x[:1] - x[1:], "jac": lambda x: [[1.0, -1.0]]}
        return minimize(square, x, method="trust-constr", jac=lambda x: 2 * x, constraints=rows).x

    for function in (at, ng.graph_jit(at)):
        with pytest.warns(UserWarning, match="delta_grad == 0.0"):
            np.testing.assert_allclose(function(np.array([1.0, 0.5])), [0, 0], atol=1e-6)


def test_what_is_printed(capsys):
    ng.graph_jit(lambda x: minimize(square, x, method="trust-constr", options={"verbose": 1}).x)(np.ones(2))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "`gtol` termination condition is satisfied."
    assert lines[1].startswith("Number of iterations: ")
