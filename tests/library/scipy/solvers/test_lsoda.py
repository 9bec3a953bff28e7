"""`scipy.integrate.odeint` and LSODA of `solve_ivp`, against SciPy's own steps, counts and warnings."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.integrate import ODEintWarning, odeint, solve_ivp
from scipy.linalg import expm

import numbagraph as ng

COUNTS = ("nst", "nfe", "nje", "nqu", "mused")
P = np.array([1.5, 1.0, 1.0, 3.0])
STIFF_TIMES = np.concatenate([[0.0], 4 * 10.0 ** np.arange(-1, 6)])
STIFF_BANDED = np.diag(-(10.0 ** np.arange(6))) + np.diag(np.full(5, 0.5), 1) + np.diag(np.full(5, 0.25), -1)


def lotka_volterra(y, t, p):
    return np.stack([p[0] * y[0] - p[1] * y[0] * y[1], p[2] * y[0] * y[1] - p[3] * y[1]])


def robertson(t, y):
    fast = 1e4 * y[1] * y[2]
    return np.stack([-0.04 * y[0] + fast, 0.04 * y[0] - fast - 3e7 * y[1] ** 2, 3e7 * y[1] ** 2])


def robertson_jacobian(t, y):
    zero = 0.0 * y[0]
    return np.stack([
        np.stack([zero - 0.04, 1e4 * y[2], 1e4 * y[1]]),
        np.stack([zero + 0.04, -1e4 * y[2] - 6e7 * y[1], -1e4 * y[1]]),
        np.stack([zero, 6e7 * y[1], zero]),
    ])  # fmt: skip


def van_der_pol(t, y):
    return np.stack([y[1], 100.0 * (1 - y[0] ** 2) * y[1] - y[0]])


def van_der_pol_jacobian(t, y):
    return np.stack([
        np.stack([0.0 * y[0], 1.0 + 0.0 * y[0]]), np.stack([-200.0 * y[0] * y[1] - 1.0, 100.0 * (1 - y[0] ** 2)])
    ])  # fmt: skip


def quietly(function, *args):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        return function(*args), [(each.category, str(each.message)) for each in seen]


def check(function, *args, rtol=1e-9, rows=None, counts=COUNTS):
    """A compiled function gives SciPy's states, dict and warnings."""
    (expected, about), warned = quietly(function, *args)
    compiled: Any = ng.graph_jit(function)
    (found, told), warned_too = quietly(compiled, *args)
    assert warned_too == warned
    assert found.shape == expected.shape
    least = float(np.min(np.max(np.abs(expected[:rows]), 0)))
    np.testing.assert_allclose(found[:rows], expected[:rows], rtol, rtol * least)
    others = slice(None if rows is None else rows - 1)
    for name in counts:
        assert told[name].dtype == about[name].dtype
        np.testing.assert_array_equal(told[name][others], about[name][others], name)
    for name in ("hu", "tcur", "tsw", "tolsf"):
        np.testing.assert_allclose(told[name][others], about[name][others], 1e-3, 1e-9, err_msg=name)
    assert [told[name] for name in ("imxer", "lenrw", "leniw", "message")] == [
        about[name] for name in ("imxer", "lenrw", "leniw", "message")
    ]
    return told


def test_adams_forwards_and_backwards_with_repeated_times():
    def run(y0, p, t):
        return odeint(lotka_volterra, y0, t, args=(p,), full_output=True)

    forwards = np.array([0.0, 0.0, 1.0, 1.0, 1.01, 8.0, 15.0])
    compiled: Any = ng.graph_jit(run)
    for times in (forwards, forwards[::-1].copy(), np.full(3, 2.0)):
        (expected, about), (found, told) = run([10.0, 5.0], P, times), compiled(np.array([10.0, 5.0]), P, times)
        np.testing.assert_allclose(found, expected, 1e-9, 1e-9)
        first = np.argmax(times != times[0]) - 1 if np.any(times != times[0]) else len(times) - 1
        for name in COUNTS:
            np.testing.assert_array_equal(told[name][first:], about[name][first:], name)
        assert told["message"] == about["message"]


def test_switch_of_methods():
    def run(y0, t):
        return odeint(
            robertson, y0, t, Dfun=robertson_jacobian, full_output=1, rtol=1e-6, atol=np.full(3, 1e-10),
            tfirst=True,
        )  # fmt: skip

    assert check(run, np.array([1.0, 0.0, 0.0]), STIFF_TIMES, rtol=1e-8)["mused"][-1] == 2


def test_back_to_adams_with_exact_jacobians():
    def run(y0, t):
        return odeint(van_der_pol, y0, t, full_output=1, tfirst=True)

    told = check(run, np.array([2.0, 0.0]), np.linspace(0, 300, 201), counts=("nst", "nje", "nqu", "mused"))
    assert set(told["mused"]) == {1, 2}
    evaluations = odeint(
        van_der_pol, [2.0, 0.0], np.linspace(0, 300, 201), Dfun=van_der_pol_jacobian, full_output=1, tfirst=True
    )[1]["nfe"]
    np.testing.assert_array_equal(told["nfe"], evaluations)


def test_bands():
    packed = np.zeros((3, 6))
    packed[0, 1:], packed[1], packed[2, :-1] = 0.5, np.diag(STIFF_BANDED), 0.25

    def run(y0, t, jacobian):
        return odeint(
            lambda y, t: STIFF_BANDED @ y, y0, t, Dfun=jacobian, col_deriv=True, ml=1, mu=1, full_output=1,
            rtol=1e-6, atol=1e-6, mxstep=2000,
        )  # fmt: skip

    y0, times = np.ones(6), np.linspace(0, 2, 4)
    expected, about = run(y0, times, lambda y, t: packed.T)
    for jacobian in (lambda y, t: packed.T, None):
        found, told = ng.graph_jit(lambda y0, t, given=jacobian: run(y0, t, given))(y0, times)
        np.testing.assert_allclose(found, expected, 1e-7, 1e-9)
        assert all(np.array_equal(told[name], about[name]) for name in COUNTS)


def test_options_of_steps():
    def run(y0, p, hmax, tcrit):
        return odeint(
            lotka_volterra, y0, np.array([0.0, 1.0, 2.5, 4.0]), args=(p,), full_output=1, tcrit=tcrit, h0=1e-3,
            hmax=hmax, hmin=1e-9, mxordn=5, mxstep=900,
        )  # fmt: skip

    check(run, np.array([10.0, 5.0]), P, 0.04, np.array([1.7, 3.0]))


def test_too_many_steps():
    def run(y0, p):
        return odeint(lotka_volterra, y0, np.array([0.0, 0.1, 9.0, 10.0]), args=(p,), full_output=1, mxstep=40)

    told = check(run, np.array([10.0, 5.0]), P, rtol=1e-7, rows=3)
    assert told["message"].startswith("Excess work")
    found, warned = quietly(ng.graph_jit(lambda y0, p: run(y0, p)[0]), np.array([10.0, 5.0]), P)
    assert np.all(np.isnan(found[3]))
    assert warned[0][0] is ODEintWarning


def test_illegal_and_too_exact():
    def run(y0, rtol, h0):
        return odeint(lambda y, t: -y, y0, np.array([0.0, 1.0]), full_output=1, rtol=rtol, atol=0.0, h0=h0)

    compiled: Any = ng.graph_jit(run)
    for y0, rtol, h0 in (([1.0], 1e-20, 0.0), ([1.0], 1e-8, -0.1), ([0.0], 1e-8, 0.0), ([1.0], -1.0, 0.0)):
        (_, about), warned = quietly(run, y0, rtol, h0)
        (_, told), warned_too = quietly(compiled, np.array(y0), rtol, h0)
        assert (told["message"], warned_too) == (about["message"], warned)


def test_nan_ends():
    def run(y0):
        return odeint(lambda y, t: y * np.nan, y0, np.array([0.0, 1.0, 2.0]), full_output=1)

    (expected, about), _ = quietly(run, [1.0, 2.0])
    (found, told), _ = quietly(ng.graph_jit(run), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    assert told["message"] == about["message"]


@pytest.mark.repeats
def test_one_equation_of_a_number():
    def run(y0, rate):
        return odeint(lambda y, t: -rate * y, y0, [0, 1, 2])

    np.testing.assert_allclose(ng.graph_jit(run)(3.0, 0.5), run(3.0, 0.5), 1e-9)


@pytest.mark.parametrize(
    "run",
    [
        lambda y0: odeint(lambda y, t: y, y0, [0.0, 2.0, 1.0]),
        lambda y0: odeint(lambda y, t: y[:, None], y0, [0.0, 1.0]),
        lambda y0: odeint(lambda y, t: y[:1], y0, [0.0, 1.0]),
        lambda y0: odeint(lambda y, t: y, y0[None], [0.0, 1.0]),
        lambda y0: odeint(lambda y, t: y, y0, [[0.0, 1.0]]),
    ],
)
def test_errors(run: Any):
    with pytest.raises((ValueError, RuntimeError)) as plain:
        run(np.ones(2))
    function: Any = ng.graph_jit(run)
    with pytest.raises(type(plain.value)) as compiled:
        function(np.ones(2))
    assert " ".join(str(plain.value).split())[:50] in " ".join(str(compiled.value).split())


def fields(found):
    return found.t, found.y, found.nfev, found.njev, found.nlu, found.status, found.message


@pytest.mark.parametrize("times", [None, pytest.param(np.linspace(0, 40, 7), marks=pytest.mark.repeats)])
def test_method_of_solve_ivp(times):
    def run(y0):
        return fields(
            solve_ivp(robertson, (0, 40), y0, "LSODA", times, jac=robertson_jacobian, rtol=1e-6, atol=1e-9)
        )  # fmt: skip

    expected, found = run([1.0, 0.0, 0.0]), ng.graph_jit(run)(np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(found[0], expected[0], 1e-6)
    np.testing.assert_allclose(found[1], expected[1], 1e-9, 1e-9)
    assert found[2:] == expected[2:]


def test_dense_output_of_solve_ivp():
    def run(y0):
        return solve_ivp(lambda t, y: np.stack([y[1], -y[0]]), (0, 3), y0, "LSODA", dense_output=True).sol

    expected, found = run([1.0, 0.0]), ng.graph_jit(run)(np.array([1.0, 0.0]))
    times = np.linspace(0, 3, 50)
    np.testing.assert_allclose(found(times), expected(times), 1e-9, 1e-9)


@pytest.mark.parametrize("mode", [ng.jacrev, pytest.param(ng.jacfwd, marks=pytest.mark.repeats)])
def test_derivatives_by_state_times_and_parameters(mode: Any):
    matrix = np.array([[-0.5, 2.0], [-1.5, 0.1]])
    times = np.array([0.3, 1.0, 2.0])

    def run(y0, t, matrix):
        return odeint(lambda y, t: matrix @ y, y0, t, rtol=1e-10, atol=1e-10)

    y0, step = np.array([1.0, 2.0]), 1e-5
    compiled: Any = ng.graph_jit(mode(run, argnums=(0, 1, 2)))
    by_state, by_times, by_matrix = compiled(y0, times, matrix)
    exact = [expm(matrix * (t - times[0])) for t in times]
    np.testing.assert_allclose(by_state, exact, atol=1e-7)
    slopes = [matrix @ each @ y0 for each in exact]
    np.testing.assert_allclose([by_times[i, :, i] for i in (1, 2)], slopes[1:], atol=1e-7)
    np.testing.assert_allclose(by_times[:, :, 0], [0 * y0, -slopes[1], -slopes[2]], atol=1e-7)
    shift = np.zeros((2, 2))
    shift[0, 1] = step
    ends = [expm((matrix + sign * shift) * (2.0 - 0.3)) @ y0 for sign in (1, -1)]
    np.testing.assert_allclose(by_matrix[-1, :, 0, 1], (ends[0] - ends[1]) / (2 * step), atol=1e-7)


def test_gradient_of_stiff_equations_by_a_closure():
    def loss(k):
        def slope(y, t):
            fast, slow = k[1] * y[1] * y[2], k[0] * y[0]
            return np.stack([fast - slow, slow - fast - k[2] * y[1] ** 2, k[2] * y[1] ** 2])

        return np.sum(
            odeint(slope, np.array([1.0, 0.0, 0.0]), STIFF_TIMES[:5], rtol=1e-10, atol=1e-12, mxstep=3000)[-1, 0]
        )

    k = np.array([0.04, 1e4, 3e7])
    found = ng.graph_jit(ng.grad(loss))(k) * k
    expected = [(loss(k * (1 + e)) - loss(k * (1 - e))) / 2e-3 for e in 1e-3 * np.eye(3)]
    np.testing.assert_allclose(found, expected, rtol=2e-4)


def test_states_of_lengths_that_only_the_arguments_tell():
    def at_end(y0):
        return odeint(lambda y, t: -y, y0, [0.0, 1.0])[-1], solve_ivp(lambda t, y: -y, (0, 1), y0, "LSODA").y[:, -1]

    compiled: Any = ng.graph_jit(at_end)
    for count in (1, 2, 5):
        y0 = np.linspace(1.0, 2.0, count)
        np.testing.assert_allclose(compiled(y0), at_end(y0), rtol=1e-9)


def test_states_of_no_numbers():
    for call in (lambda y: odeint(lambda y, t: -y, y, [0.0, 1.0]), lambda y: solve_ivp(np.add, (0, 1), y, "LSODA").y):
        with pytest.raises(ValueError, match="one"):
            ng.graph_jit(call)(np.zeros(0))
