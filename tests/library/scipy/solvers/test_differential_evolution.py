"""Differential evolution in compiled functions: the numbers that SciPy draws, and so its populations."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import (
    Bounds,
    LinearConstraint,
    NonlinearConstraint,
    OptimizeResult,
    differential_evolution,
    minimize,
)

import numbagraph as ng

BOUNDS = [(0, 2), (-1, 2.5), (0.5, 2)]


def valley(x):
    """A function of a vector, or of the columns of an array."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2, axis=0)


def evolve(rng, factor=1.0, **kwargs):
    return differential_evolution(lambda x: factor * valley(x), BOUNDS, rng=rng, polish=False, **kwargs)


CONSTRAINTS = (
    LinearConstraint(np.array([[1.0, 1.0, 0.0]]), -np.inf, 1.5),
    NonlinearConstraint(lambda x: np.stack([x[0] * x[1], x[2]]), [0.1, 0.6], [np.inf, 1.9]),
)
NARROW = NonlinearConstraint(lambda x: x[0] * x[1] * x[2], 1.7, 1.71)

CASES = [
    {},
    {"strategy": "rand2exp", "maxiter": 9},
    {"updating": "deferred", "strategy": "currenttobest1exp", "maxiter": 9},
    {"init": "random", "mutation": 0.8, "strategy": "randtobest1bin", "maxiter": 9, "popsize": 5},
    {"vectorized": True, "updating": "deferred", "strategy": "best2bin", "maxiter": 9},
    {"init": np.linspace(-1, 3, 18).reshape(6, 3), "strategy": "rand1exp", "x0": np.ones(3), "maxiter": 9},
    {"maxiter": 0, "popsize": 1},
    {"integrality": [True, False, False], "maxiter": 9},
    {"integrality": True, "updating": "deferred", "maxiter": 9},
    {"constraints": CONSTRAINTS, "maxiter": 9},
    {"constraints": CONSTRAINTS, "updating": "deferred", "maxiter": 9},
    {"constraints": NARROW, "maxiter": 9, "popsize": 5},
    {"constraints": Bounds([0.2, -1.0, 0.5], [0.9, 1.0, 1.5]), "maxiter": 9, "popsize": 5},
    {"callback": lambda x, convergence: convergence > 2e-3, "maxiter": 40},
    {"callback": lambda intermediate_result: intermediate_result.fun < 9.0, "maxiter": 40, "popsize": 5},
]


@pytest.mark.parametrize("kwargs", CASES, ids=lambda kwargs: "-".join(map(str, kwargs)) or "plain")
def test_results_are_those_of_scipy(kwargs):
    found, expected = ng.graph_jit(lambda a: evolve(3, a, **kwargs))(1.0), evolve(3, **kwargs)
    assert list(found) == list(expected)
    for name in ("nit", "nfev", "success"):
        assert getattr(found, name) == getattr(expected, name), name
    assert found.message == expected.message.partition(", MAXCV")[0]
    for name in found.keys() - {"message", "constr"}:
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), 1e-12, 1e-15, err_msg=name)


def test_a_generator_is_left_where_scipy_leaves_it():
    compiled = ng.graph_jit(lambda rng, high: differential_evolution(valley, [(0, high)] * 2, rng=rng, polish=False))
    one, other = np.random.default_rng(5), np.random.default_rng(5)
    for high in (2.0, 1.5):
        found = compiled(one, high)
        expected = differential_evolution(valley, [(0, high)] * 2, rng=other, polish=False)
        assert found.nfev == expected.nfev
        np.testing.assert_allclose(found.x, expected.x, rtol=1e-12)
    assert one.random() == other.random()


def nearest(fun, x, bounds, constraints):
    """A search that polishes: one step of Newton's, for a function whose curvature is 2."""
    better = x - ng.grad(fun)(x) / 2.0
    return OptimizeResult(x=better, fun=fun(better), success=True, nfev=1, jac=0.0 * x)


def test_a_search_at_the_end():
    def polished(a):
        return differential_evolution(lambda x: np.sum((x - a) ** 2), Bounds([-1] * 2, [1] * 2), rng=1, polish=nearest)

    found = ng.graph_jit(polished)(0.3)
    np.testing.assert_allclose(found.x, [0.3, 0.3], rtol=1e-14)
    assert found.fun < 1e-28
    plain = differential_evolution(lambda x: np.sum((x - 0.3) ** 2), [(-1, 1)] * 2, rng=1, polish=False)
    assert found.nfev == plain.nfev + 1


def test_a_search_at_the_end_of_integers():
    def polished(a):
        return differential_evolution(
            lambda x: np.sum((x - a) ** 2), [(0, 5), (0, 5)], rng=1, tol=0.5, integrality=[True, False]
        )

    expected = polished(1.3)
    assert expected.success

    def program(a):
        found = polished(a)
        return found.x, np.float64(found.nit)

    (x, nit), (slopes, _) = ng.graph_jit(lambda a: ng.jvp(program, (a,), (1.0,)))(1.3)
    np.testing.assert_allclose(x, [1.0, 1.3], rtol=1e-6)
    np.testing.assert_allclose(x, expected.x, rtol=1e-6)
    assert nit == expected.nit
    np.testing.assert_allclose(slopes, [0.0, 1.0], atol=1e-9)


def test_a_search_at_the_end_within_constraints():
    def polished(a, polish):
        sphere = NonlinearConstraint(lambda x: np.sum(x**2), -np.inf, a**2)
        return differential_evolution(
            lambda x: np.sum((x - 2.0) ** 2), [(0, 2)] * 2, rng=1, maxiter=4, constraints=sphere, polish=polish
        )

    search = partial(minimize, method="SLSQP")
    x, slopes = ng.graph_jit(lambda a: (polished(a, search).x, ng.jacfwd(lambda a: polished(a, search).x)(a)))(1.5)
    np.testing.assert_allclose(x, polished(1.5, search).x, rtol=1e-6)
    np.testing.assert_allclose(slopes, np.full(2, 0.5**0.5), rtol=1e-5)
    assert np.all(np.isnan(ng.graph_jit(ng.jacfwd(lambda a: polished(a, False).x))(1.5)))


def test_a_search_from_where_constraints_do_not_hold():
    with pytest.warns(UserWarning, match="didn't find a solution satisfying the constraints"):
        ng.graph_jit(
            lambda a: differential_evolution(
                lambda x: a * valley(x), BOUNDS, rng=3, maxiter=1, constraints=NARROW,
                polish=partial(minimize, method="SLSQP", options={"maxiter": 1}),
            ).x
        )(1.0)  # fmt: skip


def test_derivatives_of_free_variables_and_of_those_at_a_bound():
    def at(p):
        bounds = [(-1.0, p[0]), (-1.0, 5.0)]
        return differential_evolution(lambda x: np.sum((x - p[1]) ** 2), bounds, rng=2, polish=False, tol=1e-14).x

    np.testing.assert_allclose(ng.graph_jit(ng.jacfwd(at))(np.array([2.0, 3.0])), np.eye(2), atol=1e-9)


ERRORS = [
    (lambda a: evolve(1, a, strategy="foo"), ValueError, "Please select a valid mutation strategy"),
    (lambda a: evolve(1, a, mutation=2.5), ValueError, "The mutation constant must be a float"),
    (lambda a: evolve(1, a, init="foo"), ValueError, "The population initialization method"),
    (lambda a: evolve(1, a, init=np.ones((3, 3))), ValueError, "The population supplied needs to have shape"),
    (lambda a: evolve(1, a, x0=np.full(3, 9.0)), ValueError, "Some entries in x0 lay outside"),
    (
        lambda a: differential_evolution(lambda x: a * x[0], [(0.2, 0.8)], rng=1, integrality=True),
        ValueError,
        "One of the integrality constraints",
    ),
    (lambda a: evolve(1, a, constraints=(1,)), ValueError, "`constraint` of an unknown type"),
    (
        lambda a: differential_evolution(lambda x: a * valley(x), [(0, np.inf)], rng=1, polish=False),
        ValueError,
        "bounds should be a sequence",
    ),
]


@pytest.mark.parametrize(("failing", "error", "text"), ERRORS, ids=[each[2][:20] for each in ERRORS])
def test_errors_are_those_of_scipy(failing, error, text):
    for function in (failing, ng.graph_jit(failing)):
        with pytest.raises(error, match=text):
            function(1.0)


def refused(kwargs):
    return ng.graph_jit(lambda a: evolve(1, a, **kwargs).x)


def test_warnings_and_what_is_refused():
    with pytest.warns(UserWarning, match="'vectorized' keyword has overridden updating='immediate'"):
        ng.graph_jit(lambda a: evolve(1, a, vectorized=True, maxiter=1).x)(1.0)
    for kwargs, instead in (
        ({"disp": True}, "callback"),
        ({"constraints": NARROW, "vectorized": True, "updating": "deferred"}, "loops are compiled"),
        ({"init": "sobol"}, "qmc"),
        ({"strategy": print}, "best1"),
    ):
        with pytest.raises(ng.errors.TraceError, match=instead):
            refused(kwargs)(1.0)
    for kwargs in ({}, {"seed": 1}):
        with pytest.raises(ng.errors.TraceError, match="give rng="):
            ng.graph_jit(lambda a, k=kwargs: differential_evolution(lambda x: np.sum((x - a) ** 2), [(0, 1)], **k).x)(
                0.5
            )


def test_polish_under_constraints():
    """Trust-constr polishes, and gives the derivative of the point on the active constraint."""

    def nearest(s, polish=True):
        constraints = LinearConstraint(np.array([[1.0, 1.0]]), -np.inf, 2.0)
        others = {"constraints": constraints, "rng": 1, "polish": polish}
        return differential_evolution(lambda x: (x[0] - 1) ** 2 + (x[1] - s) ** 2, [(0, 3), (0, 3)], **others).x

    np.testing.assert_allclose(ng.graph_jit(nearest)(2.0), nearest(2.0), atol=1e-7)
    np.testing.assert_allclose(ng.jacrev(nearest)(2.0), [-0.5, 0.5], atol=1e-4)
    assert np.isnan(ng.jacfwd(lambda s: nearest(s, polish=False))(2.0)).all()
