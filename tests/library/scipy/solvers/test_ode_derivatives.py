"""Derivatives of `scipy.integrate.solve_ivp`, against the variational equations that SciPy solves."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import bisect

import numbagraph as ng

P, Y = np.array([1.5, 1.0, 1.0, 3.0]), np.array([10.0, 5.0])
TIMES = np.linspace(0.0, 3.0, 7)
TIGHT: Any = {"rtol": 1e-8, "atol": 1e-8}


def slope(t, y, p):
    return np.stack([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])


def variational(times):
    """States, and their derivatives by the state at the start and by the parameters, at some times."""

    def augmented(t, z):
        y, slopes = z[:2], z[2:].reshape(2, 6)
        jacobian = np.array([[P[0] - P[1] * y[1], -P[1] * y[0]], [P[2] * y[1], P[2] * y[0] - P[3]]])
        change = jacobian @ slopes
        change[:, 2:] += [[y[0], -y[0] * y[1], 0, 0], [0, 0, y[0] * y[1], -y[1]]]
        return np.concatenate([slope(t, y, P), change.ravel()])

    start = np.concatenate([Y, np.hstack([np.eye(2), np.zeros((2, 4))]).ravel()])
    found = solve_ivp(augmented, (0.0, 3.0), start, "DOP853", times, rtol=1e-12, atol=1e-12).y
    return found[:2], found[2:].reshape(2, 6, -1)


@pytest.mark.parametrize("mode", [ng.jacrev, ng.jacfwd])
def test_by_state_parameters_and_both_ends(mode: Any):
    def end(y0, p, first, last):
        return solve_ivp(slope, (first, last), y0, args=(p,), **TIGHT).y[:, -1]

    states, slopes = variational([3.0])
    compiled: Any = ng.graph_jit(mode(end, argnums=(0, 1, 2, 3)))
    found = compiled(Y, P, 0.0, 3.0)
    np.testing.assert_allclose(found[0], slopes[:, :2, -1], atol=2e-6)
    np.testing.assert_allclose(found[1], slopes[:, 2:, -1], atol=2e-6)
    np.testing.assert_allclose(found[2], -slopes[:, :2, -1] @ slope(0.0, Y, P), atol=2e-6)
    np.testing.assert_allclose(found[3], slope(0.0, states[:, -1], P), atol=2e-6)


def test_at_given_times_of_parameters_in_a_closure():
    def at(p, times):
        return solve_ivp(lambda t, y: slope(t, y, p), (0.0, 3.0), Y, t_eval=times, **TIGHT).y

    states, slopes = variational(TIMES)
    by_parameters, by_times = ng.graph_jit(ng.jacrev(at, argnums=(0, 1)))(P, TIMES)
    np.testing.assert_allclose(by_parameters, slopes[:, 2:].transpose(0, 2, 1), atol=2e-6)
    expected = slope(0.0, states, P)[:, :, None] * np.eye(len(TIMES))
    np.testing.assert_allclose(by_times, expected, atol=2e-5)


def test_after_each_step():
    def states(p):
        return solve_ivp(slope, (0.0, 3.0), Y, args=(p,), **TIGHT).y

    times = solve_ivp(slope, (0.0, 3.0), Y, args=(P,), **TIGHT).t
    found = ng.graph_jit(ng.jacrev(states))(P)
    np.testing.assert_allclose(found, variational(times)[1][:, 2:].transpose(0, 2, 1), atol=2e-6)


def test_by_dop853():
    found = ng.graph_jit(
        ng.grad(lambda p: np.sum(solve_ivp(slope, (0.0, 3.0), Y, "DOP853", args=(p,), **TIGHT).y[:, -1]))
    )(P)
    np.testing.assert_allclose(found, np.sum(variational([3.0])[1][:, 2:, -1], axis=0), atol=2e-6)


def decay(rate):
    return solve_ivp(lambda t, y: -rate * y, (0.0, 2.0), [3.0], **TIGHT).y[0, -1]


def exact(rate, order=0):
    return (-2.0) ** order * 3.0 * np.exp(-2.0 * rate)


def test_second_derivatives_and_batches():
    rates = np.array([0.5, 1.0, 2.0])
    np.testing.assert_allclose(ng.graph_jit(ng.vmap(ng.grad(decay)))(rates), exact(rates, 1), rtol=1e-6)
    np.testing.assert_allclose(ng.graph_jit(ng.hessian(decay))(0.7), exact(0.7, 2), rtol=1e-5)


def test_inside_of_loops_and_branches():
    def program(rate):
        total = 0.0
        for step in range(20):
            total += decay(rate + 0.1 * step) if step % 3 == 0 else rate
        return total

    def plain(rate, order=0):
        rest = rate if order == 0 else float(order == 1)
        return sum(exact(rate + 0.1 * step, order) if step % 3 == 0 else rest for step in range(20))

    value, found = ng.graph_jit(ng.value_and_grad(program))(0.5)
    np.testing.assert_allclose([value, found], [plain(0.5), plain(0.5, 1)], rtol=1e-6)

    def by_scan(rates):
        return np.sum(ng.scan(lambda y, rate: (y + decay(rate), y), 0.0, rates)[0])

    rates = np.array([0.5, 1.0, 2.0])
    np.testing.assert_allclose(ng.graph_jit(ng.grad(by_scan))(rates), exact(rates, 1), rtol=1e-6)


def test_a_root_in_the_right_hand_side():
    def end(a):
        def right(t, y):
            root: Any = bisect(lambda x: x**3 + x - a * y[0], 0.0, 10.0)
            return -np.stack([root])  # z' = -x, z = (x³ + x) / a

        return solve_ivp(right, (0.0, 1.0), [2.0], **TIGHT).y[0, -1]

    value, found = ng.graph_jit(ng.value_and_grad(end))(1.0)
    np.testing.assert_allclose(value, end(1.0), rtol=1e-8)
    h = 1e-4
    np.testing.assert_allclose(found, (end(1 + h) - end(1 - h)) / (2 * h), rtol=1e-5)


def test_nothing_solved_has_no_derivative():
    def end(y):
        found = solve_ivp(lambda t, y: y**2, (0.0, 2.0), np.stack([y]))
        return found.y[0, -1], found.status

    (value, status), found = ng.graph_jit(ng.value_and_grad(end, has_aux=True))(1.0)
    assert status == -1
    assert value > 1e10
    assert np.isnan(found)


@pytest.mark.parametrize("mode", [ng.grad, ng.jacfwd])
def test_a_rejected_trial_has_no_derivative(mode: Any):
    def end(rate):  # the first trial goes below 0, where the slope is NaN
        return solve_ivp(lambda t, y: -rate * np.sqrt(y), (0.0, 1.9), [1.0], first_step=1.9, rtol=1e-8).y[0, -1]

    compiled: Any = ng.graph_jit(mode(end))
    np.testing.assert_allclose(compiled(1.0), -1.9 * (1 - 1.9 / 2), rtol=1e-4)


def test_a_batch_at_given_times():
    def at(rate):
        return solve_ivp(lambda t, y: -rate * y, (0.0, 2.0), [3.0], t_eval=[0.5, 2.0], **TIGHT).y[0]

    rates = np.array([0.5, 1.0, 2.0])
    found = ng.graph_jit(ng.vmap(at))(rates)
    np.testing.assert_allclose(found, [at(rate) for rate in rates], rtol=1e-10)


def van_der_pol(t, y, mu):
    return np.stack([y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]])


@pytest.mark.parametrize("method", ["RK45", "BDF", "DOP853", "Radau", "LSODA"])
def test_steps_that_are_computed_again(method):
    """The steps of a repeated pass are those of the first, also after thousands of trials, where another rounding
    would have led to other lengths of steps."""

    def end(mu, last):
        return solve_ivp(van_der_pol, (0.0, last), [2.0, 0.0], method, args=(mu,), rtol=1e-6, atol=1e-8).y[0, -1]

    f = ng.graph_jit(ng.grad(end))
    less = ng.graph_jit(ng.grad(ng.checkpoint(end, loops=True)))
    for last in (1.0, 200.0):
        np.testing.assert_allclose(less(5.0, last), f(5.0, last), rtol=1e-10)
