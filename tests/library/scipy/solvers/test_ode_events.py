"""Events of `scipy.integrate.solve_ivp`: SciPy's times and states, and their derivatives."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import numbagraph as ng

TIMES = np.linspace(0.0, 30.0, 40)


def fall(t, y, g):
    return np.stack([y[1], -g])


def oscillate(t, y, k):
    return np.stack([y[1], -k * y[0]])


def ground(t, y, g):
    return y[0]


def apex(t, y, g):
    return y[1]


def third_height(t, y, g):
    return y[0] - 0.1


def watched(event: Any, terminal: Any, direction: float = 0) -> Any:
    event.terminal, event.direction = terminal, direction
    return event


watched(ground, True, -1)
watched(third_height, 3)


def check(function, *args):
    """Times, counts, statuses, and times and states of events are SciPy's."""
    compiled: Any = ng.graph_jit(function)
    expected, found = function(*args), compiled(*args)
    for name in ("nfev", "status", "message", "success"):
        assert getattr(found, name) == getattr(expected, name)
    np.testing.assert_allclose(found.t, expected.t, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.y, expected.y, rtol=1e-5, atol=1e-5)
    assert len(found.t_events) == len(expected.t_events)
    for one, other in zip(found.t_events, expected.t_events, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)
    for one, other in zip(found.y_events, expected.y_events, strict=True):
        np.testing.assert_allclose(one, other.reshape(-1, len(expected.y)), rtol=1e-9, atol=1e-9)
    return found, expected


def test_one_that_ends_the_solution_and_one_that_does_not():
    check(lambda g: solve_ivp(fall, (0, 100), [0.0, 10.0], args=(g,), events=(ground, apex)), 9.81)


def test_backwards():
    def height(t, y, k):
        return y[0] - 0.1

    check(lambda k: solve_ivp(oscillate, (30, 0), [0.0, 10.0], args=(k,), events=[height, apex], rtol=1e-8), 1.3)


def test_several_at_given_times():
    def run(k):
        events = [apex, third_height]
        return solve_ivp(oscillate, (0, 30), [0.0, 10.0], "DOP853", TIMES, events=events, args=(k,), rtol=1e-8)

    check(run, 1.3)


def test_solutions_at_any_time_end_at_the_event():
    def run(k):
        return solve_ivp(oscillate, (0, 30), [0.0, 10.0], dense_output=True, events=third_height, args=(k,))

    found, expected = check(run, 1.3)
    assert found.sol.t_max == pytest.approx(expected.sol.t_max, rel=1e-12)
    times = np.linspace(0.0, found.t[-1], 20)
    np.testing.assert_allclose(found.sol(times), expected.sol(times), rtol=1e-9, atol=1e-9)


def test_none_occurs():
    found, _ = check(lambda g: solve_ivp(fall, (0, 1.0), [0.0, 10.0], args=(g,), events=ground), 9.81)
    assert found.status == 0
    first: Any = ng.graph_jit(lambda g: solve_ivp(fall, (0, 1.0), [0.0, 10.0], args=(g,), events=ground).t_events[0][0])
    with pytest.raises(IndexError, match="out of bounds"):
        first(9.81)


def test_a_wrong_limit():
    def event(t, y):
        return y[0]

    watched(event, 1.5)
    with pytest.raises(ValueError, match="`terminal` attribute"):
        ng.graph_jit(lambda y: solve_ivp(lambda t, y: -y, (0.0, 1.0), y, events=event).t[-1])(np.ones(1))


def thrown(v):
    return solve_ivp(fall, (0, 3.0), np.stack([0.0 * v, v]), args=(9.81,), events=ground, rtol=1e-8)


@pytest.mark.parametrize("mode", [ng.grad, ng.jacfwd])
def test_derivatives_of_the_time_and_the_state(mode: Any):
    def time_and_speed(v):
        found = thrown(v)
        return found.t_events[0][0] + found.t[-1] + found.y[1, -1]

    compiled: Any = ng.graph_jit(mode(time_and_speed))
    np.testing.assert_allclose(compiled(10.0), 4 / 9.81 - 1, rtol=1e-9)


def test_second_derivative():
    def crossing(a):
        def event(t, y):
            return y[0] - 0.5

        watched(event, True)
        return solve_ivp(lambda t, y: -a * y, (0.0, 9.0), [1.0], events=event, rtol=1e-10, atol=1e-12).t[-1]

    np.testing.assert_allclose(ng.graph_jit(ng.hessian(crossing))(0.7), 2 * np.log(2.0) / 0.7**3, rtol=1e-4)


def test_elements_of_a_batch_end_by_themselves():
    speeds = np.array([10.0, 20.0, 5.0])
    found = ng.graph_jit(ng.vmap(lambda v: (thrown(v).t[-1], thrown(v).y[0, -1], thrown(v).status)))(speeds)
    np.testing.assert_allclose(found[0], np.minimum(2 * speeds / 9.81, 3.0), rtol=1e-9)
    np.testing.assert_allclose(found[1], np.where(speeds == 20.0, 60 - 9 * 9.81 / 2, 0.0), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(found[2], [1, 0, 1])
    first = ng.graph_jit(ng.vmap(lambda v: thrown(v).t_events[0][0]))(speeds[[0, 2]])
    np.testing.assert_allclose(first, 2 * speeds[[0, 2]] / 9.81, rtol=1e-9)


def test_a_ball_that_bounces():
    def time(v):
        total = 0.0
        for _ in range(4):
            if v > 6.0:
                total += thrown(v).t[-1]
                v = -0.8 * thrown(v).y[1, -1]
        return total

    value, slope = ng.graph_jit(ng.value_and_grad(time))(10.0)
    expected = 2 / 9.81 * (1 + 0.8 + 0.64)
    np.testing.assert_allclose([value, slope], [10 * expected, expected], rtol=1e-9)
