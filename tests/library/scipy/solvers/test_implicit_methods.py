"""`scipy.integrate.solve_ivp` by Radau and BDF, against SciPy's own steps with the exact Jacobian."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.integrate import solve_ivp

import numbagraph as ng

METHODS = ["Radau", "BDF"]
SOME = [pytest.param("Radau", marks=pytest.mark.repeats), "BDF"]


def robertson(t, y):
    slow, fast, square = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]
    return np.stack([fast - slow, slow - fast - square, square])


def robertson_jacobian(t, y):
    slow, fast = -0.04, 1e4 * np.array([y[2], y[1]])
    return np.array([[slow, *fast], [-slow, -fast[0] - 6e7 * y[1], -fast[1]], [0, 6e7 * y[1], 0]])


def van_der_pol(t, y):
    return np.stack([y[1], 1000 * (1 - y[0] ** 2) * y[1] - y[0]])


def van_der_pol_jacobian(t, y):
    return np.array([[0, 1], [-2000 * y[0] * y[1] - 1, 1000 * (1 - y[0] ** 2)]])


def rational(t, y):
    return np.stack([y[1] / t, y[1] * (y[0] + 2 * y[1] - 1) / (t * (y[0] - 1))])


def rational_jacobian(t, y):
    below = t * (y[0] - 1)
    return np.array([[0, 1 / t], [-2 * y[1] ** 2 / (t * (y[0] - 1) ** 2), (y[0] + 4 * y[1] - 1) / below]])


STIFF = np.array([[-1000.0, 1.0], [0.5, -1.0]])
PROBLEMS = {
    "robertson": (robertson, (0, 1e4), [1.0, 0.0, 0.0], robertson_jacobian, {"rtol": 1e-6, "atol": 1e-10}),
    "van der Pol": (van_der_pol, (0, 3000.0), [2.0, 0.0], van_der_pol_jacobian, {"rtol": 1e-5}),
    "blows up": (lambda t, y: y**2, (0, 2.0), [1.0], lambda t, y: np.array([[2 * y[0]]]), {}),
    "backwards": (rational, (5.0, 1.0), [1 / 3, 2 / 9], rational_jacobian, {"rtol": 1e-5, "atol": 1e-8}),
    "long": (lambda t, y: STIFF @ y, (0, 1e8), [1.0, 1.0], lambda t, y: STIFF, {}),
    "steps held": (rational, (5.0, 9.0), [1 / 3, 2 / 9], rational_jacobian, {"max_step": 0.3, "first_step": 0.1}),
    "nothing changes": (lambda t, y: 0 * y, (0, 2.0), [1.0, 2.0], lambda t, y: np.zeros((2, 2)), {}),
    "no length": (rational, (5.0, 5.0), [1 / 3, 2 / 9], rational_jacobian, {}),
}
FIRST = ("robertson", "van der Pol", "backwards")
CASES = [pytest.param(name, marks=() if name in FIRST else pytest.mark.repeats) for name in PROBLEMS]


def ends(found):
    return found.nfev, found.njev, found.nlu, found.status, found.message, found.success, found.t[-1], found.y[:, -1]


def check(run: Any, expected: Any, *args: Any, rtol: float = 1e-6) -> None:
    """Counts, statuses and ends of a compiled solution are those of one of SciPy's."""
    *found, t, y = ng.graph_jit(lambda *args: ends(run(*args)))(*args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        *counts, t_end, y_end = ends(expected)
    assert found == counts
    np.testing.assert_allclose(t, t_end, rtol)
    np.testing.assert_allclose(y, y_end, rtol, rtol * np.max(np.abs(y_end)))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CASES)
def test_counts_and_ends_by_the_exact_jacobian(name, method):
    fun, span, y0, jac, options = PROBLEMS[name]
    expected = solve_ivp(fun, span, y0, method, jac=jac, **options)
    rtol = 1e-6 if expected.success else 0.05
    check(lambda y: solve_ivp(fun, span, y, method, **options), expected, np.array(y0), rtol=rtol)


def apex(t, y):
    return y[0] - 1.5


@pytest.mark.parametrize("method", METHODS)
def test_all_steps_events_and_solutions_at_any_time(method):
    def run(y):
        options: Any = {"jac": van_der_pol_jacobian, "dense_output": True, "events": apex}
        return solve_ivp(van_der_pol, (0, 1200.0), y, method, **options)

    y0 = np.array([2.0, 0.0])
    expected, found = run(y0), ng.graph_jit(run)(y0)
    times = np.concatenate([expected.t, np.linspace(0.0, 1200.0, 50)])
    np.testing.assert_allclose(found.t, expected.t, rtol=1e-6)
    np.testing.assert_allclose(found.y, expected.y, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found.sol(times[times < 800]), expected.sol(times[times < 800]), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found.t_events[0], expected.t_events[0], rtol=1e-6)
    assert len(found.t_events[0]) == 1
    pieces = found.sol.interpolants, expected.sol.interpolants
    assert [(type(each), each.order) for each in pieces[0]] == [(type(each), each.order) for each in pieces[1]]
    assert (found.nfev, found.njev, found.nlu) == (expected.nfev, expected.njev, expected.nlu)


@pytest.mark.parametrize("method", SOME)
def test_given_times_and_an_event_that_ends_the_solution(method):
    def event(t, y):
        return y[0] - 0.4

    event.terminal = True  # type: ignore[attr-defined]
    times = np.array([5.0, 5.01, 6.0, 7.0, 8.0])

    def run(y):
        return solve_ivp(rational, (5.0, 9.0), y, method, times, events=event, jac=rational_jacobian)

    y0 = np.array([1 / 3, 2 / 9])
    expected, found = run(y0), ng.graph_jit(run)(y0)
    np.testing.assert_allclose(found.t, expected.t)
    np.testing.assert_allclose(found.y, expected.y, rtol=1e-9)
    np.testing.assert_allclose(found.t_events[0], expected.t_events[0], rtol=1e-9)
    assert found.status == expected.status == 1


def test_jacobians_that_are_given():
    def scaled(t, y, k):
        return k * (STIFF @ y)

    y0 = np.array([1.0, 1.0])
    by_args: Any = {"jac": lambda t, y, k: k * STIFF, "args": (2.0,)}
    expected = solve_ivp(scaled, (0, 10), y0, "BDF", **by_args)
    check(lambda y: solve_ivp(scaled, (0, 10), y, "BDF", **by_args), expected, y0)
    fixed: Any = {"jac": sparse.csc_matrix(STIFF), "args": (1.0,)}
    expected = solve_ivp(scaled, (0, 10), y0, "Radau", jac=STIFF, args=(1.0,))
    check(lambda y: solve_ivp(scaled, (0, 10), y, "Radau", **fixed), expected, y0)


def test_a_pattern_leaves_elements_of_the_jacobian_out():
    pattern = np.eye(2)

    def run(y, **options):
        return solve_ivp(lambda t, y: STIFF @ y, (0, 10.0), y, "BDF", **options)

    y0 = np.array([1.0, 1.0])
    expected = run(y0, jac=lambda t, y: STIFF * pattern)
    check(lambda y: run(y, jac_sparsity=pattern), expected, y0)


def test_complex_states():
    def run(y, **options):
        return solve_ivp(lambda t, y: (0.3 - 2j) * y, (0, 2.0), y, "BDF", **options)

    y0 = np.array([0.5 + 1j, 2.0])
    check(run, run(y0, jac=lambda t, y: (0.3 - 2j) * np.eye(2)), y0)
    with pytest.raises(ValueError, match="`y0` is complex"):
        ng.graph_jit(lambda y: solve_ivp(lambda t, y: y, (0, 2.0), y, "Radau").y[:, -1])(y0)


@pytest.mark.parametrize("method", SOME)
def test_slopes_that_are_nan_end(method):
    def run(y):
        return solve_ivp(lambda t, y: np.where(t > 0.5, np.nan, -y), (0, 2.0), y, method)

    y0 = np.array([1.0, 2.0])
    found = ng.graph_jit(lambda y: ends(run(y)))(y0)
    assert found[3] == -1
    assert found[-2] == pytest.approx(0.5)


def test_a_singular_matrix_makes_the_step_shorter():
    h = 0.5  # 1 - h J is singular
    options: Any = {"jac": np.eye(2) / h, "first_step": h}
    y0 = np.array([1.0, 2.0])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = solve_ivp(lambda t, y: y / h, (0, 2.0), y0, "BDF", **options)
    check(lambda y: solve_ivp(lambda t, y: y / h, (0, 2.0), y, "BDF", **options), expected, y0)


def test_a_jacobian_of_another_shape():
    with pytest.raises(ValueError, match="`jac` is expected to have shape"):
        ng.graph_jit(lambda y: solve_ivp(robertson, (0, 1.0), y, "BDF", jac=np.eye(2)).y[:, -1])(np.ones(3))
