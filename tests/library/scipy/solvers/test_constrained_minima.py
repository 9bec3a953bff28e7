"""The method SLSQP of `scipy.optimize.minimize` against SciPy's: counts, values, and derivatives."""

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint, OptimizeWarning, fmin_slsqp, minimize

import numbagraph as ng

RNG = np.random.default_rng(7)
INF = np.inf


def valley(x, p):
    return np.sum(p[0] * (x - p[1]) ** 4) + np.sum(p[2] * x * x) + 0.3 * x[0] * x[1] + np.sum(np.exp(0.3 * x))


def equations(x, p):
    return np.stack([np.dot(p[3], x) - 1.0, x[0] ** 2 + x[1] * x[2] - p[4][0]])


def inequalities(x, p):
    return np.stack([4.0 - np.dot(x, x), np.dot(p[5], x) + p[4][1], x[0] * x[1] - x[2] + p[4][2]])


slope = ng.graph_jit(ng.grad(valley))
slopes = {"eq": ng.graph_jit(ng.jacfwd(equations)), "ineq": ng.graph_jit(ng.jacfwd(inequalities))}


def constraints_of(kinds, p, jac=False):
    functions = {"eq": equations, "ineq": inequalities}
    given = [{"type": kind, "fun": functions[kind], "args": (p,)} for kind in kinds]
    return [{**each, "jac": slopes[each["type"]]} for each in given] if jac else given


def check(found, expected, rtol=1e-5):
    assert list(found) == list(expected)
    for name in ("nit", "nfev", "njev", "status", "success", "message"):
        assert found[name] == expected[name], name
    for name in ("x", "fun", "jac", "multipliers"):
        np.testing.assert_allclose(found[name], expected[name], rtol, 1e-6, err_msg=name)


def problem(number):
    rng = np.random.default_rng(number)
    p, x = rng.normal(size=(6, 3)), 2.0 * rng.normal(size=3)
    p[0], p[2] = np.abs(p[0]), np.abs(p[2]) - 0.1
    inside = 0.5 * rng.normal(size=3)  # fulfils everything
    p[3] /= np.dot(p[3], inside)
    p[4] = [inside[0] ** 2 + inside[1] * inside[2], 0.2 - np.dot(p[5], inside), inside[2] - inside[0] * inside[1]]
    lower, upper = inside - np.abs(rng.normal(size=3)), inside + np.abs(rng.normal(size=3))
    lower[0], upper[1] = -INF, INF
    return x, p, lower, upper


KINDS = {"inequalities": ["ineq"], "equations": ["eq"], "both": ["ineq", "eq"]}
MAXITER = (100, 3, 0)


@pytest.mark.parametrize("name", KINDS)
def test_counts_and_values_are_those_of_scipy(name):
    def at(x, p, lower, upper, maxiter, jac=False):
        bounds = None if name == "equations" else Bounds(lower, upper)
        constraints = constraints_of(KINDS[name], p, jac)
        options = {"maxiter": maxiter, "ftol": 1e-8}
        return minimize(
            valley, x, (p,), jac=slope if jac else None, bounds=bounds, constraints=constraints, options=options
        )

    compiled = ng.graph_jit(at)
    solved = 0
    for number in range(12):
        for maxiter in MAXITER if number == 0 else MAXITER[:1]:
            given = (*problem(number), maxiter)
            expected = at(*given, jac=True)
            # where the search is stuck, rounding decides how and when it ends
            if expected.status != 8 and (expected.status != 9 or maxiter < MAXITER[0]):
                check(compiled(*given), expected)
                solved += expected.success
    assert solved > 6


def inconsistent(x, shift):
    constraints = (
        {"type": "ineq", "fun": lambda x: x[0] - x[1] - shift, "jac": lambda x: np.array([1.0, -1.0])},
        {"type": "eq", "fun": lambda x: x[0] * x[1] - shift, "jac": lambda x: x[::-1]},
    )
    return minimize(
        lambda x: np.dot(x, x), x, jac=lambda x: 2 * x, bounds=((0, None), (0, None)), constraints=constraints
    )


def test_inconsistent_linear_constraints():
    compiled = ng.graph_jit(inconsistent)
    for x, shift in ((np.array([0.0, 1.0]), 1.0), (np.zeros(2), 1.0)):
        check(compiled(x, shift), inconsistent(x, shift))


def test_more_equations_than_variables():
    at = lambda x: minimize(np.sum, x, constraints={"type": "eq", "fun": lambda x: np.append(x, x[0] - 1)})  # noqa: E731
    found, expected = ng.graph_jit(at)(np.ones(2)), at(np.ones(2))
    for name in ("status", "message", "nit", "njev"):
        assert found[name] == expected[name]


MATRIX = np.array([[1.0, 2.0, -1.0], [0.5, -1.0, 1.0], [1.0, 0.0, 1.0]])
OBJECTS = {
    "linear": lambda p: [
        LinearConstraint(MATRIX, [-INF, 0.1, -1.0], [0.5, INF, 0.3]),
        LinearConstraint(p[3], 1.0, 1.0),
    ],
    "nonlinear": lambda p: NonlinearConstraint(lambda x: inequalities(x, p), 0.05, [INF, 9.0, 2.0]),
    "mixed": lambda p: LinearConstraint(MATRIX, [0.2, -INF, -1.0], [0.2, 0.8, INF]),
}


@pytest.mark.filterwarnings("ignore:Equality and inequality")
@pytest.mark.parametrize("name", OBJECTS)
def test_constraints_as_objects(name):
    def at(x, p, jac=None):
        return minimize(valley, x, (p,), jac=jac, constraints=OBJECTS[name](p), options={"ftol": 1e-9})

    x, p, _, _ = problem(1)
    found, expected = ng.graph_jit(at)(x, p), at(x, p, slope)
    assert (found.nit, found.status) == (expected.nit, expected.status)
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-5)
    np.testing.assert_allclose(found.multipliers, expected.multipliers, rtol=1e-5, atol=1e-6)


def test_sides_of_objects_may_be_traced():
    def at(x, p, jac=None):
        rows = [LinearConstraint(MATRIX[:2], p[0] - 1.0, p[1] * np.ones(2)), LinearConstraint(MATRIX[2:], p[0], p[0])]
        return minimize(
            lambda x: np.sum((x - 1.0) ** 4 + x * x), x, jac=jac, constraints=rows, options={"ftol": 1e-12}
        ).x

    p, h = np.array([0.4, 0.3]), 1e-4
    exact = lambda x: 4 * (x - 1.0) ** 3 + 2 * x  # noqa: E731
    expected = [(at(np.zeros(3), p + e, exact) - at(np.zeros(3), p - e, exact)) / (2 * h) for e in np.eye(2) * h]
    found = ng.graph_jit(ng.jacfwd(lambda p: at(np.zeros(3), p)))(p)
    np.testing.assert_allclose(found, np.transpose(expected), rtol=1e-4, atol=1e-5)


def test_warnings_are_those_of_scipy():
    function = lambda x: minimize(lambda x: np.sum(x * x), x, constraints=OBJECTS["mixed"](x)).x  # noqa: E731
    for each in (function, ng.graph_jit(function)):
        with pytest.warns(
            OptimizeWarning, match="Equality and inequality constraints are specified in the same element"
        ):
            each(np.ones(3))


def test_derivatives_of_the_point_the_value_and_the_multipliers():
    def at(p, jac=None):
        constraints = [
            {"type": "eq", "fun": lambda x: np.sum(x) - p[0]},
            {"type": "ineq", "fun": lambda x: np.stack([p[1] - x[0] * x[1], 5.0 - np.dot(x, x)])},
        ]
        found = minimize(
            lambda x: np.sum((x - 1.0) ** 4) + p[2] * np.dot(x, x), np.array([0.4, 0.3, 0.2, 0.9]), jac=jac,
            constraints=constraints, bounds=[(None, None), (None, None), (None, p[3]), (0, None)],
            options={"ftol": 1e-13, "maxiter": 300},
        )  # fmt: skip
        return np.concatenate((found.x, found.multipliers, found.fun * np.ones(1)))

    p, h = np.array([1.9, 0.2, 0.7, 0.35]), 1e-4
    found = ng.graph_jit(ng.jacrev(at))(p)
    exact = lambda p: lambda x: 4 * (x - 1.0) ** 3 + 2 * p[2] * x  # noqa: E731
    expected = [(at(p + e, exact(p + e)) - at(p - e, exact(p - e))) / (2 * h) for e in np.eye(4) * h]
    assert np.linalg.norm(expected[1]) > 0.1
    np.testing.assert_allclose(found, np.transpose(expected), rtol=1e-3, atol=2e-4)
    # where the bound and the inequality are active, and nothing else, they and the equation fix the derivative of x
    np.testing.assert_allclose(found[2], [0, 0, 0, 1], atol=1e-9)
    np.testing.assert_allclose(np.sum(found[:4], axis=0), [1, 0, 0, 0], atol=1e-9)


def test_older_name():
    def at(x, fprime=None):
        return fmin_slsqp(
            lambda x, a: np.sum((x - a) ** 2), x, eqcons=[lambda x, a: x[0] - x[1]],
            f_ieqcons=lambda x, a: np.stack([1.0 - x[2], x[1] - 3.0]), bounds=[(-1, 5)] * 3, fprime=fprime, args=(2.0,),
            iprint=0, full_output=True,
        )  # fmt: skip

    found = ng.graph_jit(at)(np.zeros(3))
    expected = at(np.zeros(3), lambda x, a: 2 * (x - a))
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-7)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-7)
    assert found[2:] == expected[2:]


def square(x):
    return np.sum(x * x)


ERRORS = {
    "no type": (KeyError, lambda x: minimize(square, x, constraints={"fun": square})),
    "no function": (ValueError, lambda x: minimize(square, x, constraints={"type": "eq"})),
    "type": (ValueError, lambda x: minimize(square, x, constraints={"type": "less", "fun": square})),
    "no text": (TypeError, lambda x: minimize(square, x, constraints={"type": 1, "fun": square})),
    "no constraint": (TypeError, lambda x: minimize(square, x, constraints=[square])),
    "bounds": (ValueError, lambda x: minimize(square, x, method="SLSQP", bounds=[(1, 0)] * 3)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_scipy(name):
    error, function = ERRORS[name]
    with pytest.raises(error) as plain:
        function(np.ones(3))
    with pytest.raises(error) as compiled:
        ng.graph_jit(function)(np.ones(3))
    assert str(plain.value).splitlines()[0][:40] in str(compiled.value)
