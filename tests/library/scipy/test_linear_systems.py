"""Linear systems whose coefficients, times and inputs are computed: values, errors and derivatives are SciPy's."""

import numpy as np
import pytest
from scipy import signal

from numbagraph import grad, graph_jit, vmap
from tests.support.scipy_checks import check, check_error, check_slope

RNG = np.random.default_rng(0)
NUM, DEN = np.array([2.0, 1.0]), np.array([2.0, 1.0, 3.0])
ZEROS, POLES = np.array([-0.5]), np.array([-1.0 + 2j, -1.0 - 2j])
A, B, C, D = np.array([[-1.0, 2.0], [-2.0, -0.5]]), RNG.normal(size=(2, 2)), RNG.normal(size=(3, 2)), np.ones((3, 2))
T = np.linspace(0, 3, 12)
U = np.sin(T)
SAMPLES = np.arange(5) * 0.1
STILL = np.array([[0.1, 0.2], [-0.3, 0.5]])


def test_forms():
    check(lambda n, d: signal.tf2ss(n, d), NUM, DEN)
    check(lambda n, d: signal.tf2ss(n, d), np.array([[1.0, 2.0, 0.5], [0.0, 1.0, 0.0]]), DEN)
    check(lambda k: signal.tf2ss([k], [2.0]), 3.0)
    check(lambda z, p: signal.zpk2ss(z, p, 2.0), ZEROS, POLES)
    for given in ((A, B, C, D), (np.diag(np.arange(1.0, 14.0)), np.ones((13, 1)), np.ones((1, 13)), np.ones((1, 1)))):
        check(lambda a, b, c, d: signal.ss2tf(a, b, c, d), *given, rtol=1e-9)
    check(lambda a, b, c, d: signal.ss2tf(a, b, c, d, input=1), A, B, C, D, rtol=1e-9)
    check(lambda a, b, c: signal.abcd_normalize(a, b, c), A, B, C)
    check_slope(lambda a: signal.ss2tf(a, B, C, D), np.eye(2))
    check_slope(lambda d: signal.tf2ss(NUM, d), DEN)
    check_error(lambda n: signal.tf2ss(n, [1.0, 2.0]), DEN)
    check_error(lambda b: signal.abcd_normalize(A, b[:1], C, D), B)
    check_error(lambda b: signal.ss2tf(A, b, C, D, input=2), B)


@pytest.mark.parametrize("interp", [True, False])
def test_answers_to_inputs(interp):
    check(lambda n, d, u: signal.lsim((n, d), u, T, interp=interp), NUM, DEN, U)
    check(lambda z, p, t: signal.lsim((z, p, 2.0), U, t, interp=interp), ZEROS, POLES, T)
    check(lambda a, u: signal.lsim((a, B, C, D), u, T, [1.0, 2.0], interp), A, np.stack([U, U**2], 1))
    check(lambda a, t: signal.lsim((a, B, C, D), None, t, np.ones(2), interp), A, T + 0.5)
    check(lambda u: signal.lsim(signal.lti(NUM, DEN), u, T, interp=interp), U)
    check(lambda d, u: signal.lsim((NUM, d), u, [0.5], np.ones(2)), DEN, U[:1])
    check_slope(lambda d: signal.lsim((NUM, d), U, T, interp=interp)[1], DEN)
    check_slope(lambda t: signal.lsim((NUM, DEN), U, T * t, interp=interp)[1], np.array(1.5))


def test_pulses_and_steps():
    for response in (signal.impulse, signal.step):
        check(lambda n, d, f=response: f((n, d), T=T), NUM, DEN)
        check(lambda n, d, f=response: f((n, d), N=7), NUM, DEN)
        check(lambda k, f=response: f((k, DEN), X0=[1.0, 0.5], T=T) if f is signal.step else f((k, DEN), T=T), NUM)
        check(lambda d, f=response: f(([1.0], d), N=5), np.array([1.0, 2.0]))
        check_slope(lambda d, f=response: f((NUM, d), T=T)[1], DEN)


def test_discrete_systems():
    check(lambda n, d, u: signal.dlsim((n, d, 0.5), u), NUM, 3 * DEN, U)
    check(lambda a, u: signal.dlsim((a, B, C, D, 0.1), u, x0=[1.0, 0.5]), STILL, np.stack([U, U**2], 1))
    check(lambda n, u: signal.dlsim((n, 3 * DEN, 0.4), u, t=T), NUM, U)
    check(lambda u: signal.dlsim(signal.dlti(NUM, 3 * DEN, dt=0.5), u), U)
    for response in (signal.dimpulse, signal.dstep):
        check(lambda d, f=response: f((NUM, d, 0.1), n=6)[1], 3 * DEN)
        check(lambda a, f=response: f((a, B, C, D, 0.1), n=5)[1], STILL)
        check(lambda a, f=response: f((a, B, C, D, 0.1), t=SAMPLES)[0], STILL)
    check_slope(lambda d: signal.dlsim((NUM, d, 0.5), U)[1], 3 * DEN)


def test_discrete_counterparts():
    for method in ("zoh", "foh", "bilinear", "euler", "backward_diff"):
        check(lambda a, dt, m=method: signal.cont2discrete((a, B, C, D), dt, m)[:4], A, 0.1)
        check(lambda n, d, m=method: signal.cont2discrete((n, d), 0.1, m)[:2], NUM, DEN, rtol=1e-9)
    check(lambda a, h: signal.cont2discrete((a, B, C, D), 0.1, "gbt", h)[:4], A, 0.3)
    check(lambda a: signal.cont2discrete((a, B, C, 0 * D), 0.1, "impulse")[:4], A)
    check_slope(lambda dt: signal.cont2discrete((A, B, C, D), dt, "foh")[:4], np.array(0.1))
    check_error(lambda a: signal.cont2discrete((a, B, C, D), 0.1, "none"), A)
    check_error(lambda a: signal.cont2discrete((a, B, C, D), 0.1, "gbt"), A)
    check_error(lambda a: signal.cont2discrete((a, B, C, D), 0.1, "gbt", 2.0), A)
    check_error(lambda a: signal.cont2discrete((a, B, C, D), 0.1, "impulse"), A)


def test_frequencies():
    points = np.linspace(0.1, 5.0, 7)
    for options in ({"w": points}, {"n": 9}):
        check(lambda n, d, o=options: signal.freqresp((n, d), **o), NUM, DEN)
        check(lambda p, o=options: signal.bode((ZEROS, p, 2.0), **o), POLES)
        check(lambda n, d, o=options: signal.bode((n, d), **o), NUM, DEN)
        check(lambda n, d, o=options: signal.dbode((n, d, 0.1), **o), NUM, DEN)
        check(lambda p, o=options: signal.dfreqresp((ZEROS, p, 2.0, 0.1), **o), POLES)
    check(lambda a, w: signal.freqresp((a, B[:, :1], C[:1], D[:1, :1]), w), A, points)
    check(lambda w: signal.bode(signal.lti(NUM, DEN), w), points)
    check(lambda w: signal.dbode(signal.dlti(NUM, DEN, dt=0.1), w), points)
    check_slope(lambda d: signal.bode((NUM, d), points)[1:], DEN)


def test_errors():
    check_error(lambda u: signal.lsim((NUM, DEN), u, T[:5]), U)
    check_error(lambda t: signal.lsim((NUM, DEN), U, t), T**2)
    check_error(lambda t: signal.lsim((NUM, DEN), U, t), T - 1)
    check_error(lambda u: signal.lsim((A, B, C, D), u, T), U)
    check_error(lambda u: signal.lsim((DEN,), u, T), U)
    with pytest.raises(AttributeError, match="can only be used with continuous-time systems"):
        graph_jit(lambda u: signal.lsim(signal.dlti(NUM, DEN), u, T))(U)


def test_batches_and_fits():
    """An oscillator's damping, found from its step response by its derivative."""

    def misfit(damping, measured):
        return np.sum((signal.step(([1.0], [1.0, damping, 1.0]), T=T)[1] - measured) ** 2)

    measured = signal.step(([1.0], [1.0, 0.4, 1.0]), T=T)[1]
    damping, slope = 0.6, graph_jit(lambda d: (misfit(d, measured), grad(lambda e: misfit(e, measured))(d)))
    for _ in range(30):
        damping -= 0.2 * slope(damping)[1]
    np.testing.assert_allclose(damping, 0.4, 1e-4)
    dampings = np.array([0.2, 0.5, 1.5])
    expected = [misfit(each, measured) for each in dampings]
    np.testing.assert_allclose(vmap(lambda d: misfit(d, measured))(dampings), expected, 1e-9)
