"""Designs of filters whose cutoffs are computed, their forms and responses, and what filters with them."""

import numpy as np
import pytest
from scipy import signal

from numbagraph import grad, graph_jit, jacfwd, vmap
from tests.support.scipy_checks import check, check_error, check_slope

RNG = np.random.default_rng(0)
X = RNG.normal(size=60)
ROWS = RNG.normal(size=(2, 40, 3))
ONE, TWO = np.array(0.3), np.array([0.2, 0.5])
SECTIONS = signal.butter(5, 0.3, output="sos")
FAMILIES = {
    "butter": lambda w, n=3, **options: signal.butter(n, w, **options),
    "cheby1": lambda w, n=4, **options: signal.cheby1(n, 1.0, w, **options),
    "cheby2": lambda w, n=3, **options: signal.cheby2(n, 30.0, w, **options),
    "ellip": lambda w, n=4, **options: signal.ellip(n, 1.0, 40.0, w, **options),
    "bessel": lambda w, n=3, **options: signal.bessel(n, w, **options),
    "iirfilter": lambda w, n=2, **options: signal.iirfilter(n, w, ftype="bessel_delay", **options),
}


def in_order(function):
    """A design as zeros, poles and a gain, whose roots have an order that rounding does not change."""

    def call(*args):
        z, p, k = function(*args)
        return *(np.sort_complex(np.round(each, 9)) for each in (z, p)), k

    return call


@pytest.mark.repeats(but_each=7)
@pytest.mark.parametrize("btype", ["low", "high", "band", "bandstop"])
@pytest.mark.parametrize("family", FAMILIES)
def test_designs(family, btype):
    design, cutoff = FAMILIES[family], ONE if btype in ("low", "high") else TWO
    check(lambda w: design(w, btype=btype), cutoff, rtol=1e-8)
    check(lambda w: design(w, btype=btype, output="sos"), cutoff, rtol=1e-8)
    check(lambda w: design(w, n=2, btype=btype, fs=5.0), cutoff, rtol=1e-8)
    check(lambda w: design(w, btype=btype, analog=True), 3 * cutoff, rtol=1e-8)
    check(lambda w: design(w, btype=btype, analog=True, output="sos"), 3 * cutoff, rtol=1e-8)
    check(in_order(lambda w: design(w, btype=btype, output="zpk")), cutoff, rtol=1e-7)
    check_slope(lambda w: design(w, n=2, btype=btype), cutoff)
    check_slope(lambda w: design(w, btype=btype, output="sos"), cutoff)


def test_ripples_that_are_computed():
    for order in (1, 2, 5):
        check(lambda r, w, n=order: signal.cheby1(n, r, w), 1.5, 0.3, rtol=1e-8)
        check(lambda r, w, n=order: signal.cheby2(n, r, w), 30.0, 0.3, rtol=1e-8)
        check_slope(lambda x, n=order: signal.cheby1(n, x[0], x[1]), np.array([1.5, 0.3]))
    with pytest.raises(TypeError, match="'elliptic' with a traced ripple"):
        graph_jit(lambda r: signal.ellip(3, r[0], 40.0, 0.3))(np.ones(1))


def test_constant_designs_are_those_of_scipy():
    check(lambda x: signal.sosfilt(signal.ellip(5, 1, 40, [0.2, 0.4], "band", output="sos"), x), X)
    check(lambda x: signal.lfilter(signal.firwin(9, 0.3), 1.0, x), X)


def test_resonances():
    for design in (signal.iirnotch, signal.iirpeak):
        check(lambda w, q, d=design: d(w, q), 0.3, 5.0)
        check(lambda w, d=design: d(w, 5.0, fs=7.0), 0.3)
        check_slope(lambda x, d=design: d(x[0], x[1]), np.array([0.3, 5.0]))
        check_error(lambda w, d=design: d(w, 3.0), 1.5)


def test_windowed_designs():
    for options in (
        {}, {"window": ("kaiser", 3.0), "fs": 3.0}, {"pass_zero": False}, {"scale": False}, {"width": 0.1},
        {"pass_zero": "highpass", "scale": True},
    ):  # fmt: skip
        check(lambda w, o=options: signal.firwin(9, w, **o), 0.3)
        check_slope(lambda w, o=options: signal.firwin(9, w[0], **o), np.array([0.3]))
    for kind in ("bandpass", "bandstop", True):
        check(lambda w, k=kind: signal.firwin(9, w, pass_zero=k), TWO)
    check(lambda w: signal.firwin(8, w, pass_zero="bandpass", width=0.4), TWO)
    points, gains = np.array([0.0, 0.3, 0.3, 1.0]), np.array([1.0, 1.0, 0.2, 0.0])
    for taps, options in ((8, {}), (9, {"window": None}), (9, {"nfreqs": 40, "window": "hann"})):
        check(lambda f, g, n=taps, o=options: signal.firwin2(n, f, g, **o), points, gains)
    for taps in (8, 9):
        check(lambda g, n=taps: signal.firwin2(n, points, g, antisymmetric=True), np.array([0.0, 1.0, 0.5, 0.0]))
    check_slope(lambda g: signal.firwin2(9, points, g), gains)
    check_error(lambda w: signal.firwin(9, w), 1.3)
    check_error(lambda w: signal.firwin(9, w), TWO[::-1])
    check_error(lambda w: signal.firwin(9, w, pass_zero="lowpass"), TWO)
    check_error(lambda w: signal.firwin(8, w, pass_zero=False), ONE)
    check_error(lambda g: signal.firwin2(8, points, g), gains + 1)
    check_error(lambda f: signal.firwin2(8, f, gains), points + 1)


@pytest.mark.parametrize("name", ["lp2lp", "lp2hp", "lp2bp", "lp2bs", "bilinear"])
def test_transformations(name):
    of_polynomials, of_roots = getattr(signal, name), getattr(signal, f"{name}_zpk")
    b, a = signal.cheby2(3, 30, 1.0, analog=True)
    z, p, k = signal.cheby2(3, 30, 1.0, analog=True, output="zpk")
    given = (2.0, 0.5) if name in ("lp2bp", "lp2bs") else (2.0,)
    check(lambda b, a, *w: of_polynomials(b, a, *w), b, a, *given, rtol=1e-9)
    check(lambda z, p, k, *w: of_roots(z, p, k, *w), z, p, k, *given, rtol=1e-9)
    check(lambda a, *w: of_polynomials([1.0], a, *w), a, *given, rtol=1e-9)
    check_slope(lambda w: of_polynomials(b, a, *w), np.array(given))
    check_slope(lambda w: of_polynomials(b * w[0], a, *given), np.array(given))


def test_forms():
    z, p, k = signal.cheby2(5, 30, TWO, "band", output="zpk")
    b, a = signal.cheby1(4, 1.0, 0.3)
    check(lambda z, p, k: signal.zpk2tf(z, p, k), z, p, k)
    check(lambda k: signal.zpk2tf([1.0], [0.5, 0.2], k), 2.0)
    check(in_order(lambda b, a: signal.tf2zpk(b, a)), b + 0.01, a)
    check(lambda b, a: signal.tf2sos(b, a), np.poly([0.1, -0.2, 0.3 + 0.4j, 0.3 - 0.4j]), a, rtol=1e-7)
    for pairing in (None, "nearest", "keep_odd", "minimal"):
        check(lambda z, p, k, how=pairing: signal.zpk2sos(z, p, k, how), z, p, k)
        check(lambda p, k, how=pairing: signal.zpk2sos([0.3], p, k, how), np.array([0.1, 0.2, 0.3]), 2.0)
    check(lambda p, k: signal.zpk2sos([-3.0], p, k, analog=True), np.array([-0.1, -0.2, -2.0]), 2.0)
    check(lambda p, k: signal.zpk2sos([], p, k, analog=True), np.array([-0.1 - 1j, -0.1 + 1j, -2.0]), 2.0)
    check(lambda k: signal.zpk2sos([], [], k), 2.0)
    check(lambda s: signal.sos2tf(s), SECTIONS)
    check(in_order(lambda s: signal.sos2zpk(s)), signal.butter(4, TWO, "band", output="sos") + 0.0)
    check_error(lambda z: signal.zpk2tf([], z, 1.0) if np.isrealobj(z) else signal.lp2lp_zpk(z, z[:1], 1.0), z)
    with pytest.raises(ValueError, match="needs its conjugate"):
        graph_jit(lambda p: signal.zpk2tf([], p, 1.0))(np.array([1j, 0.5]))


def test_responses():
    b, a = signal.cheby1(4, 1.0, 0.3)
    z, p, k = signal.cheby1(4, 1.0, 0.3, output="zpk")
    points = np.linspace(0.1, 3.0, 5)
    for options in ({"worN": 8}, {"worN": 7, "whole": True, "fs": 3.0}, {"worN": points}):
        check(lambda s, o=options: signal.freqz_sos(s, **o), SECTIONS)
        check(lambda z, p, k, o=options: signal.freqz_zpk(z, p, k, **o), z, p, k)
        given = {("w" if name == "worN" else name): each for name, each in options.items()}
        check(lambda b, a, o=given: signal.group_delay((b, a), **o), b, a, rtol=1e-8)
    check(lambda s: signal.sosfreqz(s, 5), SECTIONS)
    b, a = signal.cheby2(3, 30, 1.0, analog=True)
    z, p, k = signal.cheby2(3, 30, 1.0, analog=True, output="zpk")
    for given in (None, 9, points):
        check(lambda b, a, w=given: signal.freqs(b, a, w), b, a)
        check(lambda z, p, k, w=given: signal.freqs_zpk(z, p, k, w), z, p, k)
    check(lambda a: signal.freqs([1.0], a, 5), np.array([1.0, 0.0, 0.0]))
    check_slope(lambda b: signal.group_delay((b, [1.0, 0.5]), 6)[1], np.array([1.0, 0.3, 0.2]))
    check_slope(lambda b: np.abs(signal.freqs(b, [1.0, 0.5], points)[1]), np.array([1.0, 0.3, 0.2]))


def test_states_and_both_ways():
    check(lambda s: signal.sosfilt_zi(s), SECTIONS)
    for options in ({}, {"padtype": "even"}, {"padlen": 5}, {"padtype": None}):
        check(lambda x, o=options: signal.sosfiltfilt(SECTIONS, x, **o), X)
    check(lambda s, x: signal.sosfiltfilt(s, x, axis=1, padlen=9), SECTIONS, ROWS)
    check(lambda x: signal.sosfiltfilt(SECTIONS, x), X.astype(np.float32), rtol=1e-5)
    check_error(lambda x: signal.sosfiltfilt(SECTIONS, x), X[:5])
    for order, kind in ((4, "odd"), (3, "even"), (5, "constant")):

        def smooth(x, cutoff, order=order, kind=kind):
            return signal.sosfiltfilt(signal.butter(order, cutoff, output="sos"), x, padtype=kind)

        check(smooth, np.cumsum(np.cos(np.arange(60.0) ** 2)), 0.2)
    with pytest.raises(ValueError, match="must be greater than padlen"):
        graph_jit(lambda s, x: signal.sosfiltfilt(s, x))(SECTIONS, X[:5])
    for b, a in (([1.0, 0.5], [2.0, 0.3, 0.1]), ([1.0, 0.5, 0.2, 0.1], [1.0, 0.2])):
        check(lambda y, x, b=b, a=a: signal.lfiltic(b, a, y, x), X[:3], X[3:5])
        check(lambda y, b=b, a=a: signal.lfiltic(b, a, y), X[:1])
    check(lambda y: signal.lfiltic([1, 2], [1, 1], y), np.arange(3))
    check_slope(lambda a: signal.lfiltic([1.0, 0.5], a, X[:3], X[3:5]), np.array([2.0, 0.3, 0.1]))


def test_fewer_samples():
    systems = (
        signal.dlti([0.2, 0.3], [1.0]), signal.dlti(*signal.butter(2, 0.3)), signal.dlti([0.2], [1.0, -0.5]), "fir",
        "iir",
    )  # fmt: skip
    for system in systems:
        for zero_phase in (True, False):
            check(lambda x, s=system, z=zero_phase: signal.decimate(x, 3, ftype=s, zero_phase=z), X)
    check(lambda x: signal.decimate(x, 2, 4, axis=1), ROWS)
    check(lambda x: signal.decimate(x, 2, 20, "fir"), X.astype(np.float32), rtol=1e-5)
    check(lambda x: signal.decimate(x, 2), np.arange(40) % 7)
    check_slope(lambda x: signal.decimate(x, 3), X)
    check_error(lambda x: signal.decimate(x, 3, ftype="none"), X)


def test_errors_of_designs():
    check_error(lambda w: signal.butter(2, w), 1.2)
    check_error(lambda w: signal.butter(2, w), -0.2)
    check_error(lambda w: signal.butter(2, w, fs=3.0), 1.7)
    check_error(lambda w: signal.butter(2, w, "band"), TWO[::-1])
    check_error(lambda w: signal.butter(2, w, "band"), ONE)
    check_error(lambda w: signal.butter(2, w), TWO)
    check_error(lambda w: signal.butter(2, w, "none"), ONE)
    check_error(lambda w: signal.butter(2, w, output="none"), ONE)
    check_error(lambda w: signal.butter(2, w, analog=True, fs=2.0), ONE)
    check_error(lambda w: signal.iirfilter(2, w, btype="low", ftype="none"), ONE)
    check_error(lambda w: signal.iirfilter(2, w, btype="low", ftype="cheby1"), ONE)


def test_batches_and_derivatives_of_whole_programs():
    """The cutoff of a filter, as a parameter of what comes out of it."""

    def power(w):
        return np.sum(signal.sosfilt(signal.butter(4, w, output="sos"), X) ** 2)

    cutoffs = np.array([0.2, 0.3, 0.45])
    np.testing.assert_allclose(vmap(power)(cutoffs), [power(each) for each in cutoffs], 1e-9)
    slope = (power(0.3 + 1e-6) - power(0.3 - 1e-6)) / 2e-6
    np.testing.assert_allclose(grad(power)(0.3), slope, 1e-6)
    np.testing.assert_allclose(jacfwd(power)(0.3), slope, 1e-6)
    np.testing.assert_allclose(vmap(grad(power))(cutoffs), [grad(power)(each) for each in cutoffs], 1e-9)
