"""`scipy.integrate.solve_ivp` by explicit Runge-Kutta methods, against SciPy's own steps."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import OdeSolver, solve_ivp

import numbagraph as ng

METHODS = ["RK23", "RK45", "DOP853"]


def lotka_volterra(t, y, p):
    return [p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]]


def rational(t, y):
    return np.stack([y[1] / t, y[1] * (y[0] + 2 * y[1] - 1) / (t * (y[0] - 1))])


P = np.array([1.5, 1.0, 1.0, 3.0])


def fields(found):
    return found.t, found.y, found.nfev, found.njev, found.nlu, found.status, found.message, found.success


def check(function: Callable[..., Any], *args, rtol=1e-9):
    """Results of a compiled solution are SciPy's: times, states, counts, and their types."""
    compiled: Callable[..., Any] = ng.graph_jit(function)
    expected, found = function(*args), compiled(*args)
    for one, other in zip(found, expected, strict=True):
        if isinstance(other, np.ndarray):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            np.testing.assert_allclose(one, other, rtol, rtol * np.max(np.abs(other), initial=1.0))
        else:
            assert one == other
            assert type(one) is type(other)


def ends(found):
    return found.nfev, found.status, found.message, found.success, found.y[:, -1]


@pytest.mark.parametrize("method", METHODS)
def test_times_states_and_counts(method):
    check(lambda p: fields(solve_ivp(lotka_volterra, (0, 5), [10, 5], method, args=(p,), rtol=1e-6)), P)


@pytest.mark.parametrize("method", METHODS)
def test_states_at_given_times(method):
    def run(p, times):
        return fields(solve_ivp(lotka_volterra, (0, 5), [10, 5], method, times, args=(p,), rtol=1e-6))

    check(run, P, np.array([0.0, 0.1, 0.11, 0.12, 3.0, 4.9]))
    if method == "RK45":
        check(run, P, np.array([5.0]))


def test_no_times():
    found = ng.graph_jit(lambda p: fields(solve_ivp(lotka_volterra, (0, 5), [10, 5], t_eval=[], args=(p,)))[:3])(P)
    assert found == ([], [], solve_ivp(lotka_volterra, (0, 5), [10, 5], args=(P,)).nfev)


def test_backwards():
    y0 = np.array([1 / 3, 2 / 9])
    check(lambda y, end: fields(solve_ivp(rational, (5.0, end), y)), y0, 1.0)
    check(lambda y, end: fields(solve_ivp(rational, (5.0, end), y, "RK23", [4.5, 2.0, 1.0])), y0, 1.0)


def test_equal_ends():
    check(lambda y, end: fields(solve_ivp(rational, (5.0, end), y)), np.array([1 / 3, 2 / 9]), 5.0)


@pytest.mark.parametrize(
    "options",
    [
        {"first_step": 0.01, "max_step": 0.3, "atol": np.array([1e-4, 1e-9]), "method": "RK23"},
        {"rtol": np.array([1e-9, 1e-7]), "vectorized": True},
    ],
)
def test_options(options):
    check(lambda y: ends(solve_ivp(lambda t, y: np.stack([y[1], -y[0]]), (0, 2), y, **options)), [1.0, 0.0])


@pytest.mark.parametrize("method", ["RK45", "DOP853"])
def test_complex_states(method):
    check(lambda y: ends(solve_ivp(lambda t, y: (0.3 - 2j) * y, (0, 3.0), y, method)), np.array([0.5 + 1j, 2.0]))


def test_steps_that_become_too_short():
    check(lambda y: fields(solve_ivp(lambda t, y: y**2, (0, 2.0), y))[1:], np.array([1.0]), rtol=0.05)


@pytest.mark.parametrize("method", ["RK23", "DOP853"])
def test_slopes_that_are_nan_end_as_they_do_for_scipy(method):
    def blind(y):
        return ends(solve_ivp(lambda t, y: np.where(t > 0.5, np.nan, -y), (0, 2.0), y, method))

    check(blind, np.array([1.0]))


def test_arguments_that_are_refused_by_scipy():
    def run(**options):
        given = {"fun": lambda t, y: -y, "t_span": (0.0, 1.0), "y0": [1.0, 2.0]} | options
        solve = lambda scale: solve_ivp(**given).y[:, -1] * scale  # noqa: E731
        with pytest.raises((ValueError, TypeError)) as plain:
            solve(1.0)
        with pytest.raises(type(plain.value)) as compiled:
            ng.graph_jit(solve)(1.0)
        assert str(plain.value).splitlines()[0][:30] in str(compiled.value)

    run(method="Euler")
    run(max_step=0.0)
    run(first_step=-1.0)
    run(first_step=2.0)
    run(y0=np.ones((2, 2)))
    run(y0=[1.0, np.nan])
    run(atol=-1.0)
    run(t_eval=[0.5, 0.2])
    run(t_eval=[0.5, 1.2])
    run(t_eval=[[0.5]])
    run(args=3)


def test_warnings():
    def tight(y):
        return solve_ivp(lambda t, y: -y, (0.0, 1.0), y, rtol=1e-16, max_step=0.3).y[:, -1]

    with pytest.warns(UserWarning, match="`rtol` is too small"):
        expected = tight(np.ones(1))
    with pytest.warns(UserWarning, match="`rtol` is too small"):
        found = ng.graph_jit(tight)(np.ones(1))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    with pytest.warns(UserWarning, match="no effect for a chosen solver: `jac`"):
        ng.graph_jit(lambda y: solve_ivp(lambda t, y: -y, (0.0, 1.0), y, jac=None).y[:, -1])(np.ones(1))


def test_what_is_not_compiled_says_what_to_write():
    several: Any = ({"method": OdeSolver},)
    for options in several:
        with pytest.raises(TypeError, match="not supported in a traced function"):
            ng.graph_jit(lambda y, o=options: solve_ivp(lambda t, y: -y, (0.0, 1.0), y, **o).y[:, -1])(np.ones(1))


def test_no_steps_are_kept_for_the_last_state_alone():
    def last(y):
        return solve_ivp(lambda t, y: -y, (0.0, 1.0), y).y[:, -1]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "scan" not in ng.graph_jit(last).explain(np.ones(2))


@pytest.mark.parametrize(("method", "span"), [("RK45", (0.0, 5.0)), ("RK23", (5.0, 0.0)), ("DOP853", (0.0, 5.0))])
def test_solutions_at_any_time(method, span):
    times = np.array([0.1, 4.9, 1.0, 5.0, 0.0])

    def run(p, times, time):
        found = solve_ivp(lotka_volterra, span, [10, 5], method, args=(p,), dense_output=True)
        return found.sol(times), found.sol(time), found.nfev

    check(run, P, times, 1.7)


def test_solutions_at_any_time_as_results_are_scipys():
    def run(p):
        return solve_ivp(lotka_volterra, (0.0, 5.0), [10, 5], args=(p,), dense_output=True, t_eval=[1.0])

    expected, found = run(P), ng.graph_jit(run)(P)
    assert type(found) is type(expected)
    assert type(found.sol) is type(expected.sol)
    np.testing.assert_allclose(found.sol([0.3, 2.0]), expected.sol([0.3, 2.0]), rtol=1e-10)
    np.testing.assert_allclose(found.y, expected.y, rtol=1e-10)
    assert (found.sol.t_min, found.sol.t_max, found.nfev) == (0.0, 5.0, expected.nfev)


def test_derivatives_of_solutions_at_any_time():
    def at(rate, time):
        return solve_ivp(lambda t, y: -rate * y, (0.0, 2.0), [1.0], rtol=1e-9, dense_output=True).sol(time)[0]

    found: Any = ng.graph_jit(ng.grad(at, argnums=(0, 1)))(0.5, 1.3)
    np.testing.assert_allclose(found, np.array([-1.3, -0.5]) * np.exp(-0.65), rtol=1e-4)


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "BDF"])
def test_states_of_no_numbers_take_one_step(method):
    def run(y0, end):
        found = solve_ivp(lambda t, y: -y, (0.0, end), y0, method)
        return found.t, found.y, found.status, found.message

    check(run, np.zeros(0), 2.0)
