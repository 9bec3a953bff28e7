"""Distributions that are drawn by formulas in a loop: NumPy's bits, where the formula holds and where it does not."""

import platform

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.intrinsics.emitters.random.draw_formulas import FORMULAS, Formula, given
from numbagraph.intrinsics.emitters.random.inlined_draws import Plain, is_numpys

KINDS = ("PCG64", "PCG64DXSM", "SFC64", "MT19937")
LEAST, GREATEST = 5e-324, 1e308

ODD = {
    "standard_gamma": [(1.0,), (np.nextafter(1.0, 2.0),), (0.3,), (LEAST,), (GREATEST,)],
    "chisquare": [(2.0,), (0.5,), (GREATEST,)],
    "noncentral_chisquare": [(3.0, 1.0), (0.5, 2.0), (4.0, 1e-300), (1e6, 1e200)],
    "f": [(2.0, 5.0), (5.0, 2.0), (0.5, 0.5), (GREATEST, GREATEST)],
    "noncentral_f": [(3.0, 5.0, 1.0), (0.5, 2.0, 2.0), (1e200, 4.0, 1e-300)],
    "beta": [(1.0, 1.0), (0.3, 0.3), (0.3, 5.0), (5.0, 0.3), (1e100, 1e-100)],
    "standard_t": [(2.0,), (0.5,), (GREATEST,)],
    "standard_cauchy": [()],
    "pareto": [(LEAST,), (1e-3,), (GREATEST,)],
    "weibull": [(LEAST,), (1e-3,), (GREATEST,)],
    "power": [(1e-3,), (GREATEST,)],
    "rayleigh": [(LEAST,), (GREATEST,)],
    "lognormal": [(800.0, 1.0), (-800.0, 1.0), (0.0, GREATEST), (-GREATEST, 1.0)],
    "laplace": [(GREATEST, GREATEST), (0.0, LEAST)],
    "gumbel": [(-GREATEST, GREATEST), (0.0, LEAST)],
    "logistic": [(GREATEST, GREATEST), (0.0, LEAST)],
    "triangular": [(0.0, 0.0, 1.0), (0.0, 1.0, 1.0), (-GREATEST, 0.0, GREATEST), (0.0, LEAST, 2 * LEAST)],
    "wald": [(LEAST, 1.0), (GREATEST, 1.0), (1.0, LEAST), (1.0, GREATEST), (1e-150, 1e150)],
    "logseries": [(0.0,), (1e-300,), (0.01,), (0.999,), (np.nextafter(1.0, 0.0),)],
    "poisson": [(1e-300,), (10.0,), (np.nextafter(10.0, 0.0),), (1e6,), (1e18,)],
    "binomial": [(0, 0.5), (1, 0.0), (1, 1.0), (60, 0.5), (61, 0.5), (10**9 - 1, 1e-10), (1000, 0.999), (5, 1e-300)],
    "geometric": [(0.5,), (1.0,), (1 / 3,), (1e-300,), (np.nextafter(1 / 3, 0.0),)],
}


def generators(kind):
    return [np.random.Generator(getattr(np.random, kind)(11)) for _ in range(2)]


def same(name, parameters, size, kind="PCG64"):
    """Compare numbers bit by bit, and what is drawn behind them."""
    expected, found = generators(kind)
    compiled = graph_jit(lambda rng, *given: getattr(rng, name)(*given, size))
    for _ in range(2):
        wanted, drawn = getattr(expected, name)(*parameters, size), compiled(found, *parameters)
        assert wanted.dtype == drawn.dtype
        np.testing.assert_array_equal(wanted.view(np.int64), drawn.view(np.int64))
        assert expected.random() == found.random()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("distribution", FORMULAS)
def test_many_numbers(distribution, kind):
    """So many that each of what is not usual happens: a corner of a ziggurat, and a number that is rejected."""
    same(distribution, FORMULAS[distribution].examples[0], 5000, kind)


@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize("distribution", FORMULAS)
def test_few_numbers(distribution, size):
    same(distribution, FORMULAS[distribution].examples[0], size)


@pytest.mark.parametrize(("distribution", "parameters"), [(name, each) for name in ODD for each in ODD[name]])
def test_parameters_at_the_edge(distribution, parameters):
    same(distribution, parameters, 50)


@pytest.mark.parametrize("distribution", [name for name in ODD if FORMULAS[name].examples[0]])
def test_parameters_of_each_number(distribution):
    """Usual ones next to others: what is computed of the parameters of one number is not that of the next."""
    rows = [*FORMULAS[distribution].examples, *ODD[distribution]] * 40
    same(distribution, [np.array(column) for column in zip(*rows, strict=True)], len(rows))


def test_every_formula_is_tested_at_the_edge():
    assert set(ODD) == set(FORMULAS)


def contracted(draws, loc, scale):
    """As a C compiler may do it: with one rounding of the product and the sum."""
    u = draws.uniform()
    logarithm = draws.libm("log", u / (1.0 - u))
    return draws.libm("fma", scale, logarithm, loc)


def test_a_formula_that_is_not_numpys_is_not_used(monkeypatch):
    monkeypatch.setitem(FORMULAS, "logistic", Formula(contracted, given, ((0.3, 1.2),)))
    monkeypatch.setattr(Plain, "libm", lambda _, name, *numbers: by_long_double(name, *numbers))
    is_numpys.cache_clear()
    try:
        assert not is_numpys("logistic")
        same("logistic", (0.3, 1.2), 100)
    finally:
        is_numpys.cache_clear()


def by_long_double(name, *numbers):
    if name == "fma":
        x, y, z = map(np.longdouble, numbers)
        return float(x * y + z)
    return float(np.log(np.longdouble(numbers[0])))


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="there C compilers contract")
def test_this_numpy_has_all_formulas():
    assert [name for name in FORMULAS if not is_numpys(name)] == []
