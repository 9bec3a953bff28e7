"""What is said of functions of SciPy that are refused: the name, and what to write instead, which gives the same."""

import inspect
import runpy
import sys

import numpy as np
import pytest
import scipy
import scipy.cluster.hierarchy
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse.linalg
import scipy.spatial.distance
import scipy.spatial.transform
import scipy.stats as stats

from numbagraph import graph_jit
from numbagraph.library.scipy.advice import ADVICE, OUTSIDE
from numbagraph.library.scipy.stats import samples

RNG = np.random.default_rng(3)
X, Y = RNG.uniform(0.5, 2.0, 12), RNG.normal(size=12)
POINTS, COV = RNG.normal(size=(6, 2)), np.array([[2.0, 0.3], [0.3, 1.0]])
TIES = np.round(2 * X)

SAME = {
    "pmean": ({"x": X, "p": 3.0}, stats.pmean(X, 3.0)),
    "median_abs_deviation": ({"x": Y}, stats.median_abs_deviation(Y)),
    "mode": ({"x": np.round(X)}, stats.mode(np.round(X))[0]),
    "wasserstein_distance": ({"x": X, "y": Y}, stats.wasserstein_distance(X, Y)),
    "scoreatpercentile": ({"x": Y, "per": 30.0}, stats.scoreatpercentile(Y, 30)),
    "percentileofscore": ({"x": Y, "score": 0.3}, stats.percentileofscore(Y, 0.3)),
    "chisquare": ({"x": X}, tuple(stats.chisquare(X))),
    "gzscore": ({"x": X}, stats.gzscore(X)),
    "gstd": ({"x": X}, stats.gstd(X)),
    "tmin": ({"x": Y, "lower": 0.1}, stats.tmin(Y, 0.1)),
    "tmax": ({"x": Y, "upper": 0.1}, stats.tmax(Y, 0.1)),
    "quantile": ({"x": Y, "p": 0.3}, stats.quantile(Y, 0.3)),
    "cumfreq": ({"x": X, "bins": 4, "first": 0.0, "last": 2.0}, stats.cumfreq(X, 4, (0.0, 2.0))[0]),
    "relfreq": ({"x": X, "bins": 4, "first": 0.0, "last": 2.0}, stats.relfreq(X, 4, (0.0, 2.0))[0]),
    "pointbiserialr": ({"x": TIES > 2, "y": Y}, stats.pointbiserialr(TIES > 2, Y)[0]),
    "energy_distance": ({"x": X, "y": Y[:7]}, stats.energy_distance(X, Y[:7])),
    "jarque_bera": ({"x": Y}, tuple(stats.jarque_bera(Y))),
    "circmean": ({"x": Y}, stats.circmean(Y)),
    "circvar": ({"x": Y}, stats.circvar(Y)),
    "circstd": ({"x": Y}, stats.circstd(Y)),
    "boxcox_llf": ({"lmb": 0.3, "x": X}, stats.boxcox_llf(0.3, X)),
    "expected_freq": ({"table": TIES.reshape(3, 4)}, stats.contingency.expected_freq(TIES.reshape(3, 4))),
    "dirichlet": (
        {"x": np.array([0.2, 0.3, 0.5]), "alpha": X[:3]},
        stats.dirichlet.logpdf([0.2, 0.3, 0.5], X[:3]),
    ),
    "multinomial": (
        {"x": np.array([1.0, 2.0, 3.0]), "p": np.array([0.2, 0.3, 0.5])},
        stats.multinomial.logpmf([1, 2, 3], 6, [0.2, 0.3, 0.5]),
    ),
}
"""Advice that is a formula: its arguments, and SciPy's result."""
BY_NAME = {name: text for table in ADVICE.values() for name, text in table.items()}


@pytest.mark.parametrize("name", SAME)
def test_formulas_give_what_scipy_gives(name, tmp_path):
    given, expected = SAME[name]
    *statements, result = BY_NAME[name].split("; ")
    lines = [f"def formula({', '.join(given)}):", *(f"    {each}" for each in statements), f"    return {result}"]
    file = tmp_path / "formula.py"  # conversion reads the source
    file.write_text("\n".join(lines))
    function = runpy.run_path(str(file), {"np": np, "scipy": scipy})["formula"]
    found = graph_jit(function)(**given)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_names_are_scipy_s():
    for module, table in ADVICE.items():
        assert not [name for name in table if not hasattr(sys.modules[module], name)], module


A = np.eye(3) + 0.1
CALLS = {
    "scipy.optimize.direct": lambda x: scipy.optimize.direct(lambda p: np.sum((p - x) ** 2), [(0, 1)]),
    "scipy.signal.buttord": lambda x: scipy.signal.buttord(x[0] / 9, x[0] / 4, 3, 40)[1],
    "scipy.sparse.linalg.eigsh": lambda x: scipy.sparse.linalg.eigsh(A * x[0], 1)[0],
    "scipy.spatial.Delaunay": lambda x: scipy.spatial.Delaunay(x.reshape(6, 2)).simplices,
    "scipy.stats.skewtest": lambda x: stats.skewtest(x)[0],
    "scipy.stats.norm.fit": lambda x: stats.norm.fit(x)[0],
    "scipy.stats.contingency.association": lambda x: stats.contingency.association(x.astype(int).reshape(3, 4)),
    "scipy.stats.contingency.odds_ratio": lambda x: stats.contingency.odds_ratio(np.int64(x[:4]).reshape(2, 2)),
    "scipy.stats.ttest_ind_from_stats": lambda x: stats.ttest_ind_from_stats(x[0], x[1], 9, x[2], x[3], 9)[0],
    "scipy.stats.multivariate_normal.cdf": lambda x: stats.multivariate_normal.cdf(x[:2], POINTS[0], COV),
    "scipy.interpolate.splprep": lambda x: scipy.interpolate.splprep([np.arange(12.0), x])[1],
    "scipy.ndimage.find_objects": lambda x: scipy.ndimage.find_objects(np.rint(x).astype(int))[0],
}


@pytest.mark.parametrize("name", CALLS)
def test_errors_have_the_name_and_the_advice(name):
    function = CALLS[name]
    function(X)
    last = name.split(".")[-2 if name.endswith(".cdf") else -1]
    advice = BY_NAME.get(last, OUTSIDE)
    with pytest.raises(TypeError) as error:
        graph_jit(lambda x: function(x))(X)
    first = str(error.value).splitlines()[0]
    assert first == f"{name} is not supported in a traced function: {advice}"


TAKE_NO_ARRAY = {
    "binomtest",
    "poisson_means_test",
    "make_distribution",
    "truncate",
    "order_statistic",
    "ttest_ind_from_stats",
}
FUNCTIONS_OF_STATS = sorted(
    {name for name in stats.__all__ if inspect.isfunction(getattr(stats, name))} - TAKE_NO_ARRAY - {*samples.FUNCTIONS}
)


@pytest.mark.parametrize("name", FUNCTIONS_OF_STATS)
def test_functions_of_stats_are_refused_by_their_name(name):
    """Of one sample, two, or three: whichever SciPy takes."""
    function = getattr(stats, name)
    refused = 0
    for given in ((X,), (X, Y), (X, Y, X)):
        with pytest.raises(Exception) as error:  # noqa: PT011  SciPy's kinds of errors are compared below
            graph_jit(lambda *args: function(*args))(*given)
        if str(error.value).startswith(f"scipy.stats.{name} is not supported in a traced function: "):
            refused += 1
        else:
            with pytest.raises(type(error.value)):
                function(*given)
    assert refused


def test_what_is_not_traced_is_scipy_s_own():
    """With arguments from outside these functions run, and raise their own errors, while a function is traced."""
    found = graph_jit(lambda x: x * stats.skew(Y) + scipy.optimize.brentq(lambda p: p - 2.0, 0, 5))(X)
    np.testing.assert_allclose(found, X * stats.skew(Y) + 2.0)
    with pytest.raises(ValueError, match="different signs"):
        graph_jit(lambda x: x * scipy.optimize.brentq(lambda p: p - 9.0, 0, 5))(X)
