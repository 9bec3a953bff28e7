"""`dual_annealing` of `scipy.optimize` in compiled functions: points, counts, messages and generators are SciPy's."""

import numpy as np
import pytest
from scipy.optimize import dual_annealing

import numbagraph as ng

BOX = [(-5.12, 5.12)] * 2


def rastrigin(x, shift=0.0):
    return np.sum((x - shift) ** 2 - 10 * np.cos(2 * np.pi * x)) + 10 * len(x)


def slopes(x, shift=0.0):
    return 2 * (x - shift) + 20 * np.pi * np.sin(2 * np.pi * x)


def ackley(x):
    return -20 * np.exp(-0.2 * np.sqrt(np.mean(x**2))) - np.exp(np.mean(np.cos(2 * np.pi * x))) + 20 + np.e


def holed(x):
    return np.where(x[0] > 0.0, np.inf, np.sum((x + 1) ** 2) + np.sin(5 * x[1]))


SEARCH = {"method": "L-BFGS-B", "jac": slopes}
PROBLEMS = {
    "walk": (rastrigin, {"no_local_search": True, "maxiter": 150}),
    "cold": (rastrigin, {"no_local_search": True, "restart_temp_ratio": 0.01, "visit": 2.1, "accept": -8.0}),
    "searches": (rastrigin, {"maxiter": 1100, "minimizer_kwargs": SEARCH, "args": (0.1,)}),
    "start": (ackley, {"no_local_search": True, "maxiter": 50, "x0": [2.0, -3.0]}),
    "calls": (ackley, {"no_local_search": True, "maxfun": 100}),
    "calls of searches": (rastrigin, {"maxfun": 60, "minimizer_kwargs": SEARCH}),
    "infinite": (holed, {"no_local_search": True, "maxiter": 30}),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_searches_are_those_of_scipy(name):
    function, kwargs = PROBLEMS[name]
    mine, theirs = np.random.default_rng(7), np.random.default_rng(7)
    found = ng.graph_jit(lambda rng: dual_annealing(function, BOX, rng=rng, **kwargs))(mine)
    expected = dual_annealing(function, BOX, rng=theirs, **kwargs)
    assert list(found) == list(expected)
    for each in ("success", "status", "nit", "nfev", "njev", "nhev", "message"):
        assert found[each] == expected[each], each
    # steps of up to 1e8 are folded into the box, which leaves half of the digits; slopes are up to 70
    np.testing.assert_allclose(found.x, expected.x, rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(found.fun, expected.fun, rtol=0.0, atol=7e-5)
    assert mine.bit_generator.state == theirs.bit_generator.state


def test_callbacks_see_each_lowest_point_and_may_stop(capsys):
    def run(seen):
        def callback(x, value, context):
            seen(x, value, context)
            return value < 1.0

        return lambda rng: dual_annealing(rastrigin, BOX, rng=rng, minimizer_kwargs=SEARCH, callback=callback)

    points = []
    expected = run(lambda x, value, context: points.append(f"{value:.4f} {context}\n"))(np.random.default_rng(3))
    found = ng.graph_jit(run(lambda x, value, context: print(f"{value:.4f} {context}")))(np.random.default_rng(3))
    assert capsys.readouterr().out == "".join(points)
    assert len(points) > 2
    assert (found.message, found.success, found.nit) == (expected.message, False, expected.nit)


def test_derivatives_are_those_of_the_minimum():
    def program(shift, low):
        bounds = [(low, 5.0), (-4.0, 5.0)]
        options = {"method": "Nelder-Mead", "bounds": bounds, "tol": 1e-10}
        found = dual_annealing(rastrigin, bounds, (shift,), 20, options, rng=1)
        return found.x, found.fun

    of_x, of_value = ng.graph_jit(ng.jacfwd(program, argnums=(0, 1)))(0.1, 1.1)
    x, _ = program(0.1, 1.1)
    curvature = 2 + 40 * np.pi**2 * np.cos(2 * np.pi * x[1])
    np.testing.assert_allclose(x[0], 1.1, rtol=1e-9)  # the box holds the first
    np.testing.assert_allclose(of_x[0], [0.0, 2 / curvature], rtol=1e-6)
    np.testing.assert_allclose(of_x[1], [1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(of_value[0], -2 * np.sum(x - 0.1), rtol=1e-6)
    np.testing.assert_allclose(of_value[1], slopes(x, 0.1)[0], rtol=1e-6)


def test_without_a_search_derivatives_are_nan():
    def program(shift):
        return dual_annealing(rastrigin, BOX, args=(shift,), maxiter=5, rng=1, no_local_search=True).x[0]

    assert np.isnan(ng.grad(program)(0.1))


ERRORS = {
    "start": {"x0": [1.0]},
    "ratio": {"restart_temp_ratio": 1.0},
    "infinite bounds": {"bounds": [(-np.inf, 1.0)]},
    "bounds": {"bounds": [(1.0, 1.0)]},
    "nowhere finite": {"args": (np.nan,)},
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_those_of_scipy(name):
    kwargs = {"bounds": BOX, "rng": 1, "no_local_search": True, "maxiter": 3, **ERRORS[name]}
    with pytest.raises(ValueError, match=r"\w") as plain:
        dual_annealing(rastrigin, **kwargs)
    with pytest.raises(ValueError, match=r"\w") as compiled:
        ng.graph_jit(lambda: dual_annealing(rastrigin, **kwargs).x)()
    assert str(plain.value) in str(compiled.value)


def test_what_is_refused():
    with pytest.raises(ng.errors.TraceError, match="rng="):
        ng.graph_jit(lambda shift: dual_annealing(lambda x: rastrigin(x, shift), BOX).x)(0.1)
