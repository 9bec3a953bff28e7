"""Derivatives of `scipy.integrate.solve_ivp` by Radau and BDF, against closed forms."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import numbagraph as ng

METHODS = ["Radau", "BDF"]
TIGHT: Any = {"rtol": 1e-8, "atol": 1e-10}
K, Y, START = 50.0, 0.3, 0.1


def exact(k, y, start, end):
    """The solution of ``y' = -k (y - cos t)``."""

    def slow(t):
        return (k**2 * np.cos(t) + k * np.sin(t)) / (k**2 + 1)

    return slow(end) + (y - slow(start)) * np.exp(-k * (end - start))


def slopes(*point):
    """The derivatives of a solution, by complex steps."""
    return [exact(*(each + 1e-30j * (k == number) for k, each in enumerate(point))).imag / 1e-30 for number in range(4)]


def slope(t, y, k):
    return np.stack([-k * (y[0] - np.cos(t)), y[0] * y[1]])


def last(method, k, y, start, end):
    return solve_ivp(slope, (start, end), np.stack([y, 1.0 + 0.0 * y]), method, args=(k,), **TIGHT).y[0, -1]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mode", [ng.grad, pytest.param(ng.jacfwd, marks=pytest.mark.repeats)])
def test_by_parameters_the_state_and_both_ends(mode: Any, method):
    end = START + 0.08
    compiled: Any = ng.graph_jit(mode(lambda *point: last(method, *point), argnums=(0, 1, 2, 3)))
    found, expected = compiled(K, Y, START, end), slopes(K, Y, START, end)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_second_derivatives(method):
    def end(rate):
        return solve_ivp(lambda t, y: -rate * y, (0.0, 2.0), [1.0], method, **TIGHT).y[0, -1]

    np.testing.assert_allclose(ng.graph_jit(ng.hessian(end))(0.7), 4 * np.exp(-1.4), rtol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_a_batch_that_ends_by_events(method):
    def crossing(rate):
        def event(t, y):
            return y[0] - 0.5

        event.terminal = True  # type: ignore[attr-defined]
        return solve_ivp(lambda t, y: -rate * y, (0.0, 9.0), [1.0], method, events=event, **TIGHT).t[-1]

    rates = np.array([0.5, 1.0])
    found = ng.graph_jit(ng.vmap(ng.value_and_grad(crossing)))(rates)
    np.testing.assert_allclose(found, [np.log(2.0) / rates, -np.log(2.0) / rates**2], rtol=1e-5)


def test_at_given_times():
    times = np.array([0.15, 0.3, 0.7])

    def at(k):
        return solve_ivp(lambda t, y: slope(t, y, k), (START, 0.7), [Y, 1.0], "Radau", times, **TIGHT).y[0]

    expected = [slopes(K, Y, START, end)[0] for end in times]
    np.testing.assert_allclose(ng.graph_jit(ng.jacrev(at))(K), expected, rtol=1e-4, atol=1e-7)


def test_at_any_time():
    def at(k, time):
        return solve_ivp(slope, (START, 0.7), [Y, 1.0], "BDF", args=(k,), dense_output=True, **TIGHT).sol(time)[0]

    by_k, _, _, by_time = slopes(K, Y, START, 0.2)
    found: Any = ng.graph_jit(ng.grad(at, argnums=(0, 1)))(K, 0.2)
    np.testing.assert_allclose(found, [by_k, by_time], rtol=1e-3)


def test_of_complex_states():
    def end(rate):
        return solve_ivp(lambda t, y: rate * 1j * y, (0, 1.0), [1.0 + 0j], "BDF", **TIGHT).y[0, -1].real

    np.testing.assert_allclose(ng.graph_jit(ng.grad(end))(2.0), -np.sin(2.0), rtol=1e-4)


@pytest.mark.parametrize("method", ["BDF", pytest.param("Radau", marks=pytest.mark.repeats)])
def test_nothing_solved_has_no_derivative(method):
    def end(y):
        found = solve_ivp(lambda t, y: y**2, (0.0, 2.0), np.stack([y]), method)
        return found.y[0, -1], found.status

    (_, status), found = ng.graph_jit(ng.value_and_grad(end, has_aux=True))(1.0)
    assert status == -1
    assert np.isnan(found)
