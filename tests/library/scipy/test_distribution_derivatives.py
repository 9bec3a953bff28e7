"""Derivatives of distributions by their numbers and shapes, also at shapes for which SciPy has another formula."""

import itertools

import numpy as np
import pytest
from scipy import stats

from numbagraph import grad, graph_jit
from numbagraph.library.scipy.stats.limiting_shapes import LIMITING

pytestmark = pytest.mark.filterwarnings("ignore")

SHAPES = {
    "alpha": (1.5,), "anglit": (), "arcsine": (), "argus": (1.5,), "beta": (2.0, 3.0), "betaprime": (2.0, 3.0),
    "bradford": (1.5,), "burr": (2.0, 3.0), "burr12": (2.0, 3.0), "cauchy": (), "chi": (3.0,), "chi2": (3.0,),
    "cosine": (), "dgamma": (1.5,), "dweibull": (1.5,), "erlang": (3.0,), "expon": (), "exponnorm": (1.5,),
    "exponpow": (1.5,), "exponweib": (1.5, 2.0), "f": (3.0, 4.0), "fatiguelife": (1.5,), "fisk": (2.0,),
    "foldcauchy": (1.5,), "foldnorm": (1.5,), "gamma": (2.0,), "genexpon": (1.0, 2.0, 3.0), "genextreme": (0.3,),
    "gengamma": (2.0, 1.5), "genhalflogistic": (0.5,), "genlogistic": (1.5,), "gennorm": (1.5,), "genpareto": (0.3,),
    "gompertz": (1.5,), "gumbel_l": (), "gumbel_r": (), "halfcauchy": (), "halfgennorm": (1.5,), "halflogistic": (),
    "halfnorm": (), "hypsecant": (), "invgamma": (2.0,), "invgauss": (1.5,), "invweibull": (2.0,),
    "johnsonsb": (1.0, 2.0), "johnsonsu": (1.0, 2.0), "laplace": (), "laplace_asymmetric": (1.5,), "levy": (),
    "levy_l": (), "loggamma": (2.0,), "logistic": (), "loglaplace": (2.0,), "lognorm": (1.5,), "loguniform": (0.5, 2.0),
    "lomax": (2.0,), "maxwell": (), "mielke": (2.0, 3.0), "moyal": (), "nakagami": (1.5,), "ncx2": (3.0, 1.0),
    "norm": (), "norminvgauss": (2.0, 1.0), "pareto": (2.0,), "powerlaw": (2.0,), "powerlognorm": (2.0, 1.5),
    "powernorm": (2.0,), "rayleigh": (), "rdist": (2.0,), "recipinvgauss": (1.5,), "rice": (1.5,), "semicircular": (),
    "skewcauchy": (0.5,), "skewnorm": (1.5,), "t": (3.0,), "trapezoid": (0.2, 0.8), "triang": (0.3,),
    "truncexpon": (2.0,), "truncnorm": (-1.0, 2.0), "uniform": (), "vonmises": (1.5,), "wald": (),
    "weibull_max": (1.5,), "weibull_min": (1.5,), "wrapcauchy": (0.5,),
}  # fmt: skip
QUANTILES = ("ppf", "isf")
METHODS = ("logpdf", "pdf", "cdf", "logcdf", "sf", "logsf", *QUANTILES)
OTHERS = (0.0, 1.0, 2.0, -1.0)
STEP = 1e-4
UNSUPPORTED = "derivative"
"""What the error says of methods that have none: SciPy integrates, sums or searches."""


def shapes_of(name):
    """The usual ones, and these with one of some other numbers in place of each."""
    usual = SHAPES[name]
    others = [(*usual[:i], other, *usual[i + 1 :]) for i in range(len(usual)) for other in OTHERS]
    distribution = getattr(stats, name)
    return [each for each in dict.fromkeys([usual, *others]) if np.isfinite(distribution.ppf(0.4, *each))]


def difference(function, at):
    """By numbers on both sides or, where those of the left are outside of the domain, of the right; None at a kink."""
    below, here, above, further = (float(function(at + shift * STEP)) for shift in (-1, 0, 1, 2))
    if not np.isfinite(here):
        return None
    if np.isfinite(below):
        left, right = here - below, above - here
        return (above - below) / (2 * STEP) if abs(left - right) < 0.02 * abs(left + right) + 1e-6 else None
    slope = (4 * above - 3 * here - further) / (2 * STEP)
    return slope if np.isfinite(slope) else None


def slope_of(function, arguments, number):
    try:
        return float(graph_jit(grad(lambda *given: function(*given), number), backend="numpy")(*arguments))
    except (TypeError, NotImplementedError) as error:
        assert UNSUPPORTED in str(error)  # noqa: PT017
        return None


@pytest.mark.parametrize("distribution", SHAPES)
def test_derivatives_by_numbers_and_shapes(distribution):
    wrong, checked = [], 0
    for method, shapes, shares in itertools.product(METHODS, shapes_of(distribution), (0.4, 0.65)):
        function = getattr(getattr(stats, distribution), method)
        at = shares if method in QUANTILES else float(getattr(stats, distribution).ppf(shares, *shapes))
        arguments = (at, *shapes)
        for number, each in enumerate(arguments):
            before, after = arguments[:number], arguments[number + 1 :]
            wanted = difference(lambda moved, f=function, b=before, a=after: f(*b, moved, *a), each)
            found = None if wanted is None else slope_of(function, arguments, number)
            if found is not None:
                checked += 1
                if not abs(found - wanted) < 1e-4 * (1 + abs(wanted)):
                    wrong.append(f"{method}{arguments} by {number}: {found}, not {wanted}")
    assert checked
    assert not wrong, "\n".join(wrong)


ROUNDED = {"vonmises": ("logcdf", "logsf")}
"""SciPy subtracts numbers of about 1, which spoils logarithms of small probabilities: test_vonmises has others."""


@pytest.mark.parametrize("distribution", sorted({name for name, _ in LIMITING}))
def test_values_at_limits(distribution):
    """At the ends of the support and beyond them, too."""
    for method, shapes in itertools.product(METHODS, shapes_of(distribution)):
        if method in ROUNDED.get(distribution, ()):
            continue
        function = getattr(getattr(stats, distribution), method)
        inside = getattr(stats, distribution).ppf([0.0, 1e-9, 0.1, 0.5, 0.9, 1 - 1e-9, 1.0], *shapes)
        x = (
            np.array([0.0, 1e-300, 0.3, 0.5, 0.7, 1.0, -0.1, np.nan])
            if method in QUANTILES
            else np.array([*inside, -np.inf, np.inf, np.nan, 0.0, -1.0, 1.0, 1e300])
        )
        found = graph_jit(lambda x, *shapes, f=function: f(x, *shapes))(x, *shapes)
        np.testing.assert_allclose(found, function(x, *shapes), rtol=1e-11, atol=1e-15, err_msg=f"{method}{shapes}")


def test_t_of_few_many_and_infinitely_many_degrees_of_freedom():
    x, df = np.meshgrid([0.0, 1e-9, 0.3, -4.0, 1e3], [1e-12, 0.1, 3.0, 15.99, 16.0, 17.0, 1e5, 1e15, 1e300, np.inf])
    found = graph_jit(lambda x, df: stats.t.logpdf(x, df))(x, df)
    np.testing.assert_allclose(found, stats.t.logpdf(x, df), rtol=1e-13)
    slope = graph_jit(grad(lambda df: stats.t.logpdf(0.3, df).sum()))(df)
    wanted = [difference(lambda moved: stats.t.logpdf(0.3, moved), each) for each in df[1:6, 0]]
    np.testing.assert_allclose(slope[1:6, 0], wanted, rtol=1e-4)
    assert slope[-1, 0] == 0


def test_probabilities_of_counts_of_large_populations():
    """Where logarithms of factorials cancel."""
    k, numbers = np.arange(8), (10**9, 10**6, 1000)
    found = graph_jit(lambda k, numbers: stats.hypergeom.pmf(k, *numbers))(k, numbers)
    np.testing.assert_allclose(found, stats.hypergeom.pmf(k, *numbers), rtol=1e-14)


@pytest.mark.parametrize("distribution", ["genextreme", "genpareto", "ncx2", "rice", "skewnorm"])
def test_second_derivatives_at_limits(distribution):
    *held, _ = SHAPES[distribution]
    x = float(getattr(stats, distribution).ppf(0.4, *held, 0.0))

    def value(shape):
        return getattr(stats, distribution).logpdf(x, *held, shape)

    slope = graph_jit(grad(value))
    here, above, further = (slope(shift * STEP) for shift in range(3))
    bend = (4 * above - 3 * here - further) / (2 * STEP)
    np.testing.assert_allclose(graph_jit(grad(grad(value)))(0.0), bend, rtol=1e-4)


@pytest.mark.parametrize(
    ("distribution", "method", "k", "shapes", "wanted"),
    [
        ("bernoulli", "pmf", 0, (0.0,), -1.0),
        ("bernoulli", "pmf", 1, (1.0,), 1.0),
        ("bernoulli", "sf", 0, (1.0,), 1.0),
        ("poisson", "pmf", 0, (0.0,), -1.0),
        ("poisson", "cdf", 0, (0.0,), -1.0),
        ("geom", "pmf", 1, (1.0,), 1.0),
    ],
)
def test_derivatives_of_probabilities_that_are_0_or_1(distribution, method, k, shapes, wanted):
    function = getattr(getattr(stats, distribution), method)
    assert graph_jit(grad(lambda shape: function(k, shape)))(*shapes) == wanted


@pytest.mark.parametrize(
    ("distribution", "method", "shapes", "first", "second"),
    [  # of the counts from 0 on
        ("poisson", "pmf", (0.0,), [-1, 1, 0, 0], [1, -2, 1, 0]),
        ("binom", "pmf", (3, 0.0), [-3, 3, 0, 0], [6, -12, 6, 0]),
        ("binom", "pmf", (3, 1.0), [0, 0, -3, 3], [0, 6, -12, 6]),
        ("nbinom", "pmf", (3, 1.0), [3, -3, 0, 0], [6, -18, 12, 0]),
        ("geom", "cdf", (1.0,), [0, 1, 0, 0], [0, 0, -2, 0]),
        ("geom", "sf", (1.0,), [0, -1, 0, 0], [0, 0, 2, 0]),
    ],
)
def test_derivatives_of_probabilities_of_counts_at_edges(distribution, method, shapes, first, second):
    *held, last = shapes
    function = getattr(getattr(stats, distribution), method)
    for k, (slope, bend) in enumerate(zip(first, second, strict=True)):
        value = lambda shape, k=k: function(k, *held, shape)  # noqa: E731
        np.testing.assert_allclose(graph_jit(grad(value))(last), slope, rtol=1e-14)
        np.testing.assert_allclose(graph_jit(grad(grad(value)))(last), bend, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("method", QUANTILES)
def test_extreme_quantiles_are_those_on_jax(method):
    """JAX has no exprel."""
    pytest.importorskip("jax")
    function, q = getattr(stats.genextreme, method), np.array([0.1, 0.5, 0.9])
    for c in (0.0, 1e-3, 0.3, -2.0):
        found = graph_jit(lambda q, c: function(q, c), backend="jax")(q, c)
        np.testing.assert_allclose(found, function(q, c), rtol=1e-12)
