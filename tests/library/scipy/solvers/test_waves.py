"""Integrals with the weights ``cos`` and ``sin``: `scipy.integrate.quad`, and their derivatives."""

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.integrate import IntegrationWarning, quad

import numbagraph as ng


def kink(x, c):
    return np.exp(-c * x) * np.abs(x - 0.7)


def between(a, b, c, w, weight):
    return quad(kink, a, b, (c,), weight=weight, wvar=w, full_output=1)[:3]


def to_infinity(a, c, w, weight):
    if weight == "cos":
        return quad(lambda x: 1 / (c + x * x), a, np.inf, weight=weight, wvar=w, full_output=1)[:3]
    return quad(lambda x: 1 / (c + x * x), -np.inf, -a, weight=weight, wvar=w, full_output=1)[:3]


def agree(found, expected, count, names):
    np.testing.assert_allclose(found[:2], expected[:2], rtol=1e-11, atol=1e-13)
    last = expected[2][count]
    assert (found[2][count], found[2]["neval"]) == (last, expected[2]["neval"])
    for name in names:
        np.testing.assert_allclose(found[2][name][:last], expected[2][name][:last], rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("weight", ["cos", "sin"])
def test_values_errors_and_counts_are_quadpacks(weight):
    compiled = ng.graph_jit(between)
    # intervals that are smooth at once, after a bisection, and later; a moment of each kind; one rule that is enough
    for case in [(0, 1, 1, 1), (0, 1, 1, 5), (0, 2, 1, 30), (3, 0, 0.7, -100), (0.001, 5, 2, 1000), (0.8, 1, 2, 0)]:
        given: Any = (*map(float, case), weight)
        agree(
            compiled(*given), between(*given), "last",
            ("alist", "blist", "rlist", "elist", "nnlog"),
        )  # fmt: skip
    assert compiled(0.7, 0.7, 1.0, 2.0, weight)[:2] == (0.0, 0.0)


@pytest.mark.parametrize("weight", ["cos", "sin"])
def test_half_lines_are_quadpacks(weight):
    compiled = ng.graph_jit(to_infinity)
    for case in [(0, 1, 1), (0, 1, 5), (2, 1, -30), (-1, 0.3, 3), (0, 0.7, 0.1), (0, 1, 0)]:
        given: Any = (*map(float, case), weight)
        agree(compiled(*given), to_infinity(*given), "lst", ("rslst", "erlst", "ierlst"))


def test_without_waves_half_lines_start_at_their_bound():
    found = ng.graph_jit(lambda w: quad(lambda x: np.exp(-x), 1.0, np.inf, weight="cos", wvar=w)[0])(0.0)
    np.testing.assert_allclose(found, np.exp(-1.0), rtol=1e-9)  # SciPy's one starts at zero


def test_warnings_are_scipys():
    def many_cycles(c):
        return quad(lambda x: c / (1 + x), 0.0, np.inf, weight="sin", wvar=2.0, limlst=5)

    def bad_cycles(c):
        return quad(lambda x: c * np.exp(-x) / np.sqrt(np.abs(x - 0.4)), 0.0, np.inf, weight="cos", wvar=2.0, limit=3)

    def few_intervals(c):
        return quad(lambda x: c / np.abs(x - 0.3), 0.0, 1.0, weight="cos", wvar=3.0, limit=5, points=[0.3])

    def texts(function):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = function(1.0)
        return found, [str(each.message) for each in caught if issubclass(each.category, IntegrationWarning)]

    for function in (many_cycles, bad_cycles, few_intervals):
        (found, given), (expected, wanted) = texts(ng.graph_jit(function)), texts(function)
        assert given == wanted
        assert given
        np.testing.assert_allclose(found, expected, rtol=1e-11)


def transform(a, w, weight):
    return quad(lambda x: np.exp(-a * x), 0.0, np.inf, weight=weight, wvar=w, epsabs=1e-12)[0]


def closed(a, w, weight):
    return (a if weight == "cos" else w) / (a * a + w * w)


@pytest.mark.parametrize("weight", ["cos", "sin"])
def test_derivatives_are_those_of_fouriers_transform(weight):
    a, w = 0.8, 1.7
    found = ng.graph_jit(ng.grad(lambda a, w: transform(a, w, weight), argnums=(0, 1)))(a, w)
    np.testing.assert_allclose(found, ng.grad(lambda a, w: closed(a, w, weight), argnums=(0, 1))(a, w), rtol=1e-9)


def wave(k, a, b, w, weight="cos"):
    return quad(lambda x: np.exp(k * x), a, b, weight=weight, wvar=w, epsabs=1e-12, epsrel=1e-12)[0]


def exact(k, a, b, w):
    def antiderivative(x):
        return np.exp(k * x) * (k * np.cos(w * x) + w * np.sin(w * x)) / (k * k + w * w)

    return antiderivative(b) - antiderivative(a)


def test_derivatives_between_bounds():
    p = 0.8, -1.0, 2.0, 5.0
    numbers = (0, 1, 2, 3)
    found = ng.graph_jit(ng.grad(wave, argnums=numbers))(*p)
    np.testing.assert_allclose(found, ng.grad(exact, argnums=numbers)(*p), rtol=1e-9)


def test_second_derivatives_by_the_frequency():
    p = 0.8, -1.0, 2.0, 5.0
    found = ng.graph_jit(ng.jacfwd(ng.grad(wave, argnums=3), argnums=3))(*p)
    np.testing.assert_allclose(found, ng.jacfwd(ng.grad(exact, argnums=3), argnums=3)(*p), rtol=1e-8)


def test_batches_loops_and_branches():
    frequencies = np.array([0.3, 4.0, -70.0, 1.0])
    expected = [wave(0.5, 0.0, 1.0, w) for w in frequencies]
    np.testing.assert_allclose(
        ng.graph_jit(ng.vmap(lambda w: wave(0.5, 0.0, 1.0, w)))(frequencies), expected, rtol=1e-12
    )

    def total(frequencies):
        found = 0.0
        for w in frequencies:
            if w > 0.0:
                found += transform(0.8, w, "sin")
        return found

    np.testing.assert_allclose(
        ng.graph_jit(total)(frequencies), sum(closed(0.8, w, "sin") for w in frequencies if w > 0)
    )


def test_bad_input_is_refused():
    def integral(b=np.inf, **options):
        return ng.graph_jit(lambda c: quad(lambda x: c * x, 0.0, b, weight="sin", wvar=1.0, **options)[0])(1.0)

    with pytest.raises(ValueError, match="must have 'epsabs'>0"):
        integral(epsabs=0.0)
    with pytest.raises(ValueError, match="limlst must be >=3"):
        integral(limlst=2)
    with pytest.raises(ValueError, match="maxp1 must be >=1"):
        integral(b=1.0, maxp1=0)
    with pytest.raises(ValueError, match="from -Inf to"):
        ng.graph_jit(lambda c: quad(lambda x: c * x, -np.inf, np.inf, weight="sin", wvar=1.0)[0])(1.0)
