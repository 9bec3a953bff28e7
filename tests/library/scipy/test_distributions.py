"""Densities, distribution functions and quantiles of scipy.stats on traced arrays are SciPy's."""

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import stats

from numbagraph import grad, graph_jit, vmap
from numbagraph.library.scipy.stats.methods import CONTINUOUS, DISCRETE

SHAPES = {
    **dict.fromkeys(
        "norm uniform expon cauchy laplace logistic gumbel_r gumbel_l halfnorm halfcauchy rayleigh maxwell arcsine "
        "halflogistic hypsecant levy moyal".split(),
        (),
    ),
    **dict.fromkeys("gamma chi2 invgamma weibull_min weibull_max pareto t chi fisk lognorm loggamma".split(), (2.5,)),
    **dict.fromkeys("powerlaw gompertz lomax nakagami gennorm laplace_asymmetric truncexpon".split(), (1.6,)),
    **dict.fromkeys("beta betaprime f burr12 johnsonsu".split(), (2.0, 3.5)),
    "genextreme": (0.3,),
    "genpareto": (0.3,),
    "loguniform": (0.1, 3.0),
    "triang": (0.3,),
    "truncnorm": (-1.0, 2.0),
}
OF_COUNTS = {
    "poisson": (2.5,),
    "binom": (7, 0.3),
    "bernoulli": (0.3,),
    "geom": (0.3,),
    "nbinom": (3, 0.4),
    "randint": (2, 9),
    "boltzmann": (0.7, 8),
    "dlaplace": (0.8,),
    "planck": (0.5,),
}
DENSITIES = {
    **{name: (shapes, ("pdf", "logpdf")) for name, shapes in {"skewnorm": (1.5,), "vonmises": (2.0,)}.items()},
    **{
        name: (shapes, ("pmf", "logpmf"))
        for name, shapes in {
            "hypergeom": (20, 7, 12),
            "betabinom": (7, 2.0, 3.0),
            "logser": (0.6,),
            "zipf": (2.5,),
            "betanbinom": (5, 2.0, 3.0),
        }.items()
    },
}
"""Their distribution functions are sums and integrals."""
POINTS = np.array([-5.0, -1, -0.5, 0, 0.2, 0.5, 0.7, 1, 2.3, 6, np.inf, -np.inf, np.nan])
COUNTS = np.array([-2.0, 0, 1, 2, 2.5, 3, 5, 7, 8, 12, np.inf, -np.inf, np.nan])
PROBABILITIES = np.array([-0.1, 0, 0.1, 0.3, 0.5, 0.8, 0.99, 1, 1.1, np.nan])
NORMAL: Any = stats.norm
GAMMA: Any = stats.gamma
POISSON: Any = stats.poisson
BAD = (0.0, -1.5, np.nan)

pytestmark = pytest.mark.filterwarnings("ignore")


def cases():
    for name, shapes in SHAPES.items():
        yield name, shapes, CONTINUOUS
    for name, shapes in OF_COUNTS.items():
        yield name, shapes, DISCRETE
    for name, (shapes, methods) in DENSITIES.items():
        yield name, shapes, methods


def check(function, *arguments, **options):
    expected = function(*arguments)
    compiled: Any = graph_jit(function, **options)
    for found, wanted in zip(compiled(*arguments), expected, strict=True):
        assert (type(found), found.dtype) == (type(wanted), wanted.dtype)
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


def every_method(dist, methods):
    def function(points, probabilities, loc, *rest):
        places = {"loc": loc} if isinstance(dist, stats.rv_discrete) else {"loc": loc, "scale": rest[0]}
        shapes = rest if isinstance(dist, stats.rv_discrete) else rest[1:]
        return [
            getattr(dist, method)(probabilities if method in ("ppf", "isf") else points, *shapes, **places)
            for method in methods
        ]

    return function


CASES = {name: rest for name, *rest in cases()}


@pytest.mark.parametrize("distribution", CASES)
def test_values_are_scipy_s(distribution):
    """Inside and outside of the support, at its ends, and for parameters that are none."""
    dist, (shapes, methods) = getattr(stats, distribution), CASES[distribution]
    counts = isinstance(dist, stats.rv_discrete)
    function, points = every_method(dist, methods), COUNTS if counts else POINTS
    given = [1] if counts else [0.2, 1.3]
    check(function, points, PROBABILITIES, *given, *shapes, backend="numpy")
    check(function, np.float32(2.0), np.float64(0.25), *given, *shapes, backend="numpy")
    if not counts:
        scales = np.array([[1.0], *[[each] for each in BAD]])
        check(function, points[:, None].T, PROBABILITIES, 0.2, scales, *shapes, backend="numpy")
        if shapes:
            first = np.array([[shapes[0]], [np.nan]])
            check(function, points, PROBABILITIES, 0.2, 1.3, first, *shapes[1:], backend="numpy")


@pytest.mark.parametrize("distribution", SHAPES)
def test_tails(distribution):
    """Small probabilities and their logarithms keep their digits, and the ends of the support are SciPy's."""
    dist, shapes = getattr(stats, distribution), SHAPES[distribution]
    ends = np.array([each for each in dist.support(*shapes) if np.isfinite(each)])
    points = dist.ppf([1e-9, 1e-4, 0.3, 0.7, 0.9999, 1 - 1e-9], *shapes)

    def function(ends, points, *shapes):
        densities = [dist.pdf(ends, *shapes), dist.logpdf(ends, *shapes)]
        return [*densities, *(getattr(dist, name)(points, *shapes) for name in ("cdf", "sf", "logcdf", "logsf"))]

    for found, wanted in zip(graph_jit(function)(ends, points, *shapes), function(ends, points, *shapes), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-7)


INTEGRATED = set("truncnorm gompertz fisk loggamma gennorm betaprime genpareto".split())
"""SciPy integrates for their moments, or chooses its formula by the numbers themselves."""
OF_PARAMETERS = {
    **{name: shapes for name, shapes in SHAPES.items() if name not in INTEGRATED},
    **{name: shapes for name, shapes in OF_COUNTS.items() if name not in ("boltzmann", "planck")},
    "hypergeom": (20, 7, 12),
}


@pytest.mark.parametrize("distribution", OF_PARAMETERS)
def test_moments_and_intervals(distribution):
    dist, shapes = getattr(stats, distribution), OF_PARAMETERS[distribution]
    counts = isinstance(dist, stats.rv_discrete)

    def function(loc, scale, *shapes):
        places = {"loc": loc} if counts else {"loc": loc, "scale": scale}
        frozen = dist(*shapes, **places)
        found = [frozen.mean(), dist.var(*shapes, **places), frozen.std(), dist.median(*shapes, **places)]
        return [*found, *frozen.interval(confidence=0.9), *dist.interval(0.5, *shapes, **places)]

    for given in ([1, 1.3], [np.array([1, 2]), np.array([1.3, 1.0 if counts else -1.0])]):
        check(function, *given, *shapes, backend="numpy")
        check(function, *given, *(0.25 * each if type(each) is float else each for each in shapes), backend="numpy")


@pytest.mark.parametrize("distribution", [*"norm expon gamma beta t uniform laplace cauchy logistic lognorm".split()])
def test_entropies(distribution):
    dist, shapes = getattr(stats, distribution), SHAPES[distribution]
    check(lambda scale, *s: [dist.entropy(*s, scale=scale), dist(*s, 0.2, scale).entropy()], 1.3, *shapes)


def test_a_share_beyond_one_is_an_error():
    for share in (1.5, -0.1):
        with pytest.raises(ValueError, match="between 0 and 1 inclusive"):
            graph_jit(lambda share, loc: NORMAL.interval(share, loc))(share, 0.5)


@pytest.mark.parametrize("method", ["ppf", "isf"])
def test_quantiles_have_derivatives_by_the_scale(method):
    for name in ("norm", "gamma", "beta", "weibull_max"):
        dist, shapes = getattr(stats, name), SHAPES[name]
        function = getattr(dist, method)
        found = graph_jit(grad(lambda s, f=function, a=shapes: f(0.37, *a, loc=0.1, scale=s)))(1.3)
        np.testing.assert_allclose(found, function(0.37, *shapes), 1e-12)


def test_values_in_native_code():
    for name in ("norm", "t", "truncnorm", "binom"):
        dist = getattr(stats, name)
        counts = isinstance(dist, stats.rv_discrete)
        shapes = {**SHAPES, **OF_COUNTS}[name]
        given = [1] if counts else [0.2, 1.3]
        function = every_method(dist, DISCRETE if counts else CONTINUOUS)
        check(function, COUNTS if counts else POINTS, PROBABILITIES, *given, *shapes)


def by_difference(function, value, step=1e-6):
    return (function(value + step) - function(value - step)) / (2 * step)


@pytest.mark.parametrize("distribution", SHAPES)
def test_derivatives(distribution):
    """By the place, the number and the first shape, where numbers outside of the support must not spoil a sum."""
    dist, shapes = getattr(stats, distribution), SHAPES[distribution]
    density = dist.pdf(POINTS, *shapes, loc=0.2, scale=1.3)
    x = np.append(POINTS[np.isfinite(density) & (density > 0) & (POINTS != 0.2)], -9.5 if dist.a > -9 else 40.0)

    def total(loc, scale):
        value = dist.logpdf(x, *shapes, loc=loc, scale=scale)
        return np.sum(np.where(np.isfinite(value), value, 0.0))

    found = graph_jit(grad(total, argnums=(0, 1)), backend="numpy")(0.2, 1.3)
    wanted = by_difference(lambda loc: total(loc, 1.3), 0.2), by_difference(lambda scale: total(0.2, scale), 1.3)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("distribution", ["poisson", "binom", "bernoulli", "geom", "nbinom", "planck"])
def test_derivatives_by_parameters_of_counts(distribution):
    dist, shapes = getattr(stats, distribution), OF_COUNTS[distribution]
    k = np.array([-1.0, 0.0, 1.0, 1.5, 30.0])

    def total(parameter):
        value = dist.logpmf(k, *shapes[:-1], parameter)
        return np.sum(np.where(np.isfinite(value), value, 0.0)) + np.sum(dist.cdf(k, *shapes[:-1], parameter))

    found = graph_jit(grad(total), backend="numpy")(shapes[-1])
    np.testing.assert_allclose(found, by_difference(total, shapes[-1]), rtol=1e-6)


def test_densities_on_jax():
    pytest.importorskip("jax")

    def function(x, a, s):
        return [stats.norm.logpdf(x, a, s), stats.gamma.logpdf(x, a, scale=s), stats.expon.ppf(x / 9, scale=s)]

    x = np.array([0.5, 1.0, 2.5, -1.0])
    for found, wanted in zip(graph_jit(function, backend="jax")(x, 2.5, 1.5), function(x, 2.5, 1.5), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_frozen_distributions():
    def function(x, mu, s):
        of_normal, of_gamma, of_counts = NORMAL(mu, s), GAMMA(s, scale=mu), POISSON(mu)
        densities = [of_normal.logpdf(x), of_gamma.logpdf(x), of_counts.logpmf(np.round(x))]
        return [*densities, of_normal.cdf(x), of_gamma.sf(x)]

    check(function, np.array([0.5, 1.0, 2.5]), 0.7, 1.2)
    outside = NORMAL(0.5, 2.0)
    check(lambda x: [outside.logpdf(x), outside.ppf(x / 5)], np.array([0.5, 1.0, 2.5]))


def test_parameters_alone_may_be_traced():
    x = np.array([0.5, 1.0, 2.5])
    check(lambda mu, s: [stats.norm.logpdf(x, mu, s), stats.norm.logpdf(0.5, loc=mu, scale=s)], 0.7, 1.2)


def test_a_log_density_has_a_gradient_in_native_code():
    x = np.array([0.5, 1.0, 2.5])

    def loss(mu, s):
        return np.sum(stats.norm.logpdf(x, mu, s))

    mu, s = graph_jit(grad(loss, argnums=(0, 1)))(0.7, 1.2)
    z = (x - 0.7) / 1.2
    np.testing.assert_allclose([mu, s], [np.sum(z) / 1.2, np.sum(z * z - 1) / 1.2], rtol=1e-13)


def test_batches():
    x = np.arange(6.0).reshape(2, 3)
    found = graph_jit(vmap(lambda row: stats.expon.logpdf(row, scale=2.0)))(x)
    np.testing.assert_allclose(found, stats.expon.logpdf(x, scale=2.0), rtol=1e-14)


CALLED = {
    "skewnorm": (1.5,), "vonmises": (2.0,), "invgauss": (0.7,), "cosine": (), "truncpareto": (2.0, 5.0),
    "irwinhall": (3,), "kappa4": (0.1, 0.2), "trapezoid": (0.2, 0.8), "hypergeom": (20, 7, 12),
    "betabinom": (7, 2.0, 3.0), "logser": (0.6,), "zipf": (2.5,), "skellam": (3.0, 2.0), "nhypergeom": (20, 7, 3),
    "zipfian": (1.3, 8), "nchypergeom_fisher": (20, 7, 12, 0.5), "nchypergeom_wallenius": (20, 7, 12, 0.5),
}  # fmt: skip
"""SciPy integrates, sums or searches for some of their methods."""


NOT_AS_EXACT_ON_JAX = {"vonmises", "hypergeom", "betabinom", "zipf", "nhypergeom"}
"""JAX lacks functions of their formulas, or has them with fewer digits."""
BACKENDS = [
    *((each, "numba") for each in CALLED),
    *(pytest.param(each, "jax", marks=pytest.mark.repeats) for each in CALLED if each not in NOT_AS_EXACT_ON_JAX),
]


@pytest.mark.parametrize(("distribution", "backend"), BACKENDS)
def test_methods_that_scipy_is_called_for(distribution, backend):
    dist, shapes = getattr(stats, distribution), CALLED[distribution]
    counts = isinstance(dist, stats.rv_discrete)

    def function(points, probabilities, *shapes):
        methods = every_method(dist, DISCRETE if counts else CONTINUOUS)
        return methods(points, probabilities, 1.0, *(() if counts else (0.7,)), *shapes)

    points = COUNTS if counts else POINTS
    found = graph_jit(function, backend=backend)(points, PROBABILITIES, *shapes)
    for own, wanted in zip(found, function(points, PROBABILITIES, *shapes), strict=True):
        assert (own.shape, own.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(own, wanted, rtol=1e-10, atol=1e-13)
    empty = graph_jit(lambda x: dist.cdf(x, *shapes))(np.zeros((0, 2)))
    assert empty.shape == (0, 2)
    bad = graph_jit(lambda x, *shapes: dist.cdf(x, *shapes), backend=backend)
    if shapes and distribution not in ("skewnorm", "kappa4"):
        assert np.isnan(bad(0.5, *(-1.0 for _ in shapes)))


@pytest.mark.parametrize("distribution", [each for each, shapes in CALLED.items() if len(shapes) < 2][:5])
def test_derivatives_of_methods_that_scipy_is_called_for(distribution):
    """By the argument, the location and the scale they follow from the density; by shapes there is none."""
    dist, shapes = getattr(stats, distribution), CALLED[distribution]
    counts = isinstance(dist, stats.rv_discrete)
    for name in () if counts else ("cdf", "sf", "logcdf", "logsf", "ppf", "isf"):
        method, x = getattr(dist, name), 0.4 if name in ("ppf", "isf") else 1.3

        def function(x, loc, scale, method=method):
            return method(x, *shapes, loc=loc, scale=scale)

        point = np.array([x, 0.1, 1.2])
        slopes = graph_jit(grad(function, (0, 1, 2)))(*point)
        for number, slope in enumerate(slopes):
            step = 1e-5 * (np.arange(3) == number)
            difference = (function(*(point + step)) - function(*(point - step))) / 2e-5
            np.testing.assert_allclose(slope, difference, rtol=2e-5)
        np.testing.assert_allclose(graph_jit(vmap(lambda x: function(x, 0.1, 1.2)))(np.full(3, x)), function(*point))


def test_derivatives_by_shapes_that_have_no_formula_are_refused():
    for function in (lambda a: stats.skewnorm.cdf(0.3, a), lambda a: stats.vonmises.ppf(0.3, a)):
        with pytest.raises(TypeError, match=r"the derivative of scipy\.stats\.\w+\.\w+ by its shapes"):
            graph_jit(grad(function))(1.5)
    with pytest.raises(TypeError, match=r"the derivative of scipy\.stats\.kappa4\.pdf"):
        graph_jit(grad(lambda x: stats.kappa4.pdf(x, 0.1, 0.2)))(0.3)
    found = graph_jit(grad(lambda x, a: stats.skewnorm.cdf(x, a)))(0.3, 1.5)
    np.testing.assert_allclose(found, stats.skewnorm.pdf(0.3, 1.5), rtol=1e-12)
    assert graph_jit(grad(lambda k: stats.zipf.cdf(k, 2.5)))(3.0) == 0


FAR = np.array([-1e10, -1e5, -300.0, -40.0, -1e-10, 1e-300, 1e-20, 1e-5, 40.0, 400.0, 1e5, 1e10, 1e100])


@pytest.mark.parametrize("distribution", [*SHAPES, *OF_COUNTS])
def test_far_tails(distribution):
    """Where probabilities are 0 or 1 their logarithms are SciPy's, which rounds those of counts near 1."""
    dist, shapes = getattr(stats, distribution), {**SHAPES, **OF_COUNTS}[distribution]
    counts = distribution in OF_COUNTS
    points, rounding = (np.concatenate([np.arange(9.0), FAR]), 1e-15) if counts else (FAR, 1e-300)
    for name in ("logcdf", "logsf"):
        found = graph_jit(lambda x, name=name: getattr(dist, name)(x, *shapes))(points)
        np.testing.assert_allclose(found, getattr(dist, name)(points, *shapes), rtol=1e-9, atol=rounding, err_msg=name)


@pytest.mark.parametrize("mu", [1e-3, 0.1, 3.0, 1e6])
def test_tails_of_the_inverse_gaussian(mu):
    """SciPy subtracts probabilities, whose logarithms it rounds: at 1e5 and 1e-4 it gives NaN."""

    def log_ndtr(z):
        return mp.log(mp.erfc(-z / mp.sqrt(2)) / 2)

    x = np.array([0.02, 0.5, 1.5, 3.0, 10.0, 1e3, 1e5, 1e8, 1e10, 1e16, 1e20])
    x = x[x > mu / 100]
    logsf, logcdf = graph_jit(lambda x, mu: (stats.invgauss.logsf(x, mu), stats.invgauss.logcdf(x, mu)))(x, mu)
    for point, upper, lower in zip(map(mp.mpf, x), logsf, logcdf, strict=True):
        with mp.workdps(60):
            m, root = mp.mpf(mu), mp.sqrt(point)
            above, below = log_ndtr((1 - point / m) / root), log_ndtr((point / m - 1) / root)
            second = 2 / m + log_ndtr(-(point / m + 1) / root)
            expected = above + mp.log1p(-mp.exp(second - above)), below + mp.log1p(mp.exp(second - below))
        np.testing.assert_allclose(upper, float(expected[0]), rtol=1e-11)
        np.testing.assert_allclose(lower, float(expected[1]), rtol=1e-11, atol=1e-58)


def test_counts_near_one():
    """The logarithm of a probability near 1 is that of one minus the other tail."""
    k = np.array([3.0, 40.0, 1000.0])
    found = graph_jit(lambda k: (stats.nbinom.logcdf(k, 3, 0.2), stats.binom.logcdf(k, 2000, 0.01)))(k)
    for number, count in enumerate(k.astype(int)):
        with mp.workdps(120):
            tails = (
                1 - mp.betainc(3, int(count) + 1, 0, mp.mpf(0.2), regularized=True),
                mp.betainc(int(count) + 1, 2000 - int(count), 0, mp.mpf(0.01), regularized=True),
            )
            expected = [float(mp.log1p(-tail)) for tail in tails]
        np.testing.assert_allclose([each[number] for each in found], expected, rtol=1e-10)


def test_complex_numbers_are_refused():
    with pytest.raises(TypeError, match=r"scipy\.stats\.norm\.logpdf .* complex number"):
        graph_jit(lambda x: stats.norm.logpdf(x))(np.ones(3) * 1j)
