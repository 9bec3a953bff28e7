"""Basin hopping in compiled functions: SciPy's walk, with the numbers that SciPy draws."""

import numpy as np
import pytest
from scipy.optimize import basinhopping

import numbagraph as ng

X = np.array([1.0, 1.0])


def wells(x, a=0.3):
    return np.cos(14.5 * x[0] - a) + (x[0] + 0.2) * x[0] + (x[1] + 0.2) * x[1]


@pytest.mark.parametrize("kwargs", [{"niter": 60}, {"T": 0.1, "niter_success": 5, "stepsize": 0.2}], ids=str)
def test_walks_are_those_of_scipy(kwargs):
    def walk(x, rng):
        return basinhopping(wells, x, rng=rng, minimizer_kwargs={"method": "Nelder-Mead"}, **kwargs)

    one, other = np.random.default_rng(3), np.random.default_rng(3)
    found, expected = ng.graph_jit(walk)(X, one), walk(X, other)
    assert list(found) == list(expected)
    for name in ("nit", "nfev", "minimization_failures", "success", "message"):
        assert getattr(found, name) == getattr(expected, name), name
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-10)
    np.testing.assert_allclose(found.fun, expected.fun, rtol=1e-10)
    assert one.random() == other.random()


def test_derivatives_are_those_of_the_lowest_minimum():
    def lowest(a):
        options = {"method": "Nelder-Mead", "tol": 1e-10}
        return basinhopping(lambda x: wells(x, a), X, 9, rng=3, minimizer_kwargs=options).x

    at = ng.graph_jit(lowest)(0.3)[0]
    cosine = np.cos(14.5 * at - 0.3)
    expected = [-14.5 * cosine / (2 - 14.5**2 * cosine), 0.0]
    np.testing.assert_allclose(ng.graph_jit(ng.jacfwd(lowest))(0.3), expected, rtol=1e-5, atol=1e-12)


def turned(x):
    x[0] = 0.2 - 1.3 * x[0]
    return x


def nearby(f_new, x_new, f_old, x_old):
    return (x_new[0] > -0.5) & (f_new < f_old + 1.0)


CALLS = {
    "test": {"accept_test": nearby},
    "step and test": {"take_step": turned, "accept_test": nearby},
    "forced": {"take_step": turned, "accept_test": lambda **_: "force accept"},
    "callback": {"callback": lambda x, f, accept: f < -0.9},
}


@pytest.mark.parametrize("name", CALLS)
def test_steps_tests_and_callbacks_of_the_caller(name):
    def walk(x, rng):
        return basinhopping(wells, x, 12, rng=rng, minimizer_kwargs={"method": "Nelder-Mead"}, **CALLS[name])

    one, other = np.random.default_rng(3), np.random.default_rng(3)
    found, expected = ng.graph_jit(walk)(X, one), walk(X, other)
    for each in ("nit", "nfev", "minimization_failures", "success", "message"):
        assert getattr(found, each) == getattr(expected, each), each
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-10)
    assert one.random() == other.random()


def test_callbacks_may_print(capsys):
    def walk(x):
        options = {"method": "Nelder-Mead"}
        callback = lambda x, f, accept: print(f"{f:.6f} {accept}")  # noqa: E731
        return basinhopping(wells, x, 8, rng=3, minimizer_kwargs=options, callback=callback).nit

    walk(X)
    expected = capsys.readouterr().out
    ng.graph_jit(walk)(X)
    assert capsys.readouterr().out == expected
    assert {"True", "False"} <= set(expected.split())


def test_errors_and_what_is_refused():
    for kwargs in ({"target_accept_rate": 1.5}, {"stepwise_factor": 0.0}):
        with pytest.raises(ValueError, match="has to be in range"):
            ng.graph_jit(lambda x, k=kwargs: basinhopping(wells, x, rng=1, **k).x)(X)

    class Adaptive:
        stepsize = 0.5

        def __call__(self, x):
            return x + self.stepsize

    for kwargs, instead in (
        ({"disp": True}, "callback"),
        ({"take_step": Adaptive()}, "give a function"),
        ({"accept_test": lambda *, res_new, res_old: True}, "take f_new"),
    ):
        with pytest.raises(ng.errors.TraceError, match=instead):
            ng.graph_jit(lambda x, k=kwargs: basinhopping(wells, x, rng=1, **k).x)(X)
    with pytest.raises(TypeError, match="take_step must be callable"):
        ng.graph_jit(lambda x: basinhopping(wells, x, rng=1, take_step=1).x)(X)
    with pytest.raises(ValueError, match="accept_tests must return True"):
        ng.graph_jit(lambda x: basinhopping(wells, x, rng=1, accept_test=lambda **_: None).x)(X)
