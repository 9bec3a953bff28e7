"""Distributions of `numbagraph.random`: their probabilities, their derivatives, and the same numbers everywhere."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from numbagraph import grad, graph_jit, random, scan, value_and_grad, vmap

KEY = random.key(20)
COUNT = 4000
LEAST = 1e-3
"""Probabilities of tests of distributions: seeds are fixed, so that they are what they are."""

CONTINUOUS = {
    "uniform": ((), stats.uniform),
    "normal": ((), stats.norm),
    "exponential": ((), stats.expon),
    "laplace": ((), stats.laplace),
    "logistic": ((), stats.logistic),
    "gumbel": ((), stats.gumbel_r),
    "cauchy": ((), stats.cauchy),
    "lognormal": ((0.5,), stats.lognorm(0.5)),
    "truncated_normal": ((1.0, 3.0), stats.truncnorm(1, 3)),
    "rayleigh": ((2.0,), stats.rayleigh(scale=2)),
    "weibull": ((1.7,), stats.weibull_min(1.7)),
    "pareto": ((1.7,), stats.pareto(1.7)),
    "triangular": ((-1.0, 0.5, 3.0), stats.triang(0.375, -1, 4)),
    "gamma": ((0.3,), stats.gamma(0.3)),
    "beta": ((0.5, 2.0), stats.beta(0.5, 2)),
    "chisquare": ((3.0,), stats.chi2(3)),
    "student_t": ((3.0,), stats.t(3)),
    "f": ((3.0, 5.0), stats.f(3, 5)),
}
DISCRETE = [
    ("bernoulli", (0.3,), stats.bernoulli(0.3)),
    ("geometric", (0.3,), stats.geom(0.3)),
    *[("poisson", (mean,), stats.poisson(mean)) for mean in (0.1, 9.9, 10.1, 300.0)],
    *[("binomial", (n, p), stats.binom(n, p)) for n, p in ((10, 0.3), (3000, 0.001), (25, 0.5), (1000, 0.9))],
]


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_are_of_the_distribution(name, dtype):
    parameters, distribution = CONTINUOUS[name]
    found = getattr(random, name)(KEY, *parameters, shape=COUNT, dtype=dtype)
    assert (found.dtype, found.shape) == (dtype, (COUNT,))
    assert stats.kstest(found.astype(np.float64), distribution.cdf).pvalue > LEAST


@pytest.mark.parametrize("a", [0.01, 1.0, 40.0, 1e5])
def test_gamma_numbers_of_small_and_large_parameters(a):
    found = random.loggamma(KEY, a, COUNT)
    assert np.isfinite(found).all()
    assert stats.kstest(found, stats.loggamma(a).cdf).pvalue > LEAST


@pytest.mark.parametrize(("name", "parameters", "distribution"), DISCRETE)
def test_counts_are_of_the_distribution(name, parameters, distribution):
    assert of_counts(getattr(random, name)(KEY, *parameters, shape=COUNT), distribution) > LEAST


def of_counts(found, distribution):
    """How probable counts are at least as far from what is expected, by Pearson's test on cells of 5 at least."""
    values = np.arange(int(np.min(found)), int(np.max(found)) + 1)
    expected = distribution.pmf(values) * len(found)
    often = values[expected >= 5]
    inner = np.array([np.sum(found == value) for value in often])
    observed, wanted = [*inner, len(found) - inner.sum()], expected[expected >= 5]
    wanted = [*wanted, max(len(found) - wanted.sum(), 1e-9)]
    if wanted[-1] < 1e-6:
        observed, wanted = observed[:-1], wanted[:-1]
    return stats.chisquare(observed, np.array(wanted) * (sum(observed) / sum(wanted))).pvalue


@pytest.mark.parametrize("bounds", [(-3, 7), (0, 2**62 + 2**61)])
def test_integers_are_equally_probable(bounds):
    found = random.randint(KEY, COUNT, *bounds)
    assert found.min() >= bounds[0]
    assert found.max() < bounds[1]
    cells = np.floor((found - bounds[0]) / ((bounds[1] - bounds[0]) / 10)).astype(int)
    assert stats.chisquare(np.bincount(cells, minlength=10)).pvalue > LEAST


def test_integers_are_the_upper_part_of_a_product():
    """128 random bits times the width, as Python computes it."""
    for low, high, dtype in ((-128, 128, np.int8), (0, 2**64 - 1, np.uint64), (-(2**63), 2**63 - 1, np.int64)):
        found = random.randint(KEY, 20, low, np.uint64(high) if high > 2**63 else high, dtype)
        words = np.transpose([random.bits(each, 20) for each in random.split(KEY)]).astype(object)
        assert found.dtype == dtype
        expected = [low + ((upper << 64 | lower) * (high - low) >> 128) for upper, lower in words]
        assert [int(each) for each in found] == expected


def test_choices_are_of_their_probabilities():
    p = np.array([0.1, 0.0, 0.2, 0.7])
    distribution = stats.rv_discrete(values=(np.arange(4), p))
    with np.errstate(divide="ignore"):
        logits = np.log(p)
    for found in (random.choice(KEY, 4, COUNT, p=3 * p), random.categorical(KEY, logits, shape=COUNT)):
        assert set(found) == {0, 2, 3}
        assert of_counts(found, distribution) > LEAST
    first = vmap(lambda key: random.choice(key, 4, 2, replace=False, p=p))(random.split(KEY, COUNT))
    assert (first[:, 0] != first[:, 1]).all()
    assert of_counts(first[:, 0], distribution) > LEAST


def test_orders_are_equally_probable():
    orders = vmap(lambda key: random.permutation(key, 3))(random.split(KEY, COUNT))
    assert (np.sort(orders) == np.arange(3)).all()
    assert stats.chisquare(np.unique(orders @ [9, 3, 1], return_counts=True)[1]).pvalue > LEAST
    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(random.permutation(KEY, x, 1), x[:, random.permutation(KEY, 4)])


def test_vectors_have_their_moments():
    mean, cov = np.array([1.0, -2.0]), np.array([[2.0, 1.0], [1.0, 1.5]])
    found = random.multivariate_normal(KEY, mean, cov, COUNT)
    whitened = np.linalg.solve(np.linalg.cholesky(cov), (found - mean).T)
    assert stats.kstest(whitened.ravel(), stats.norm.cdf).pvalue > LEAST
    shares = random.dirichlet(KEY, [0.5, 1.0, 2.5], COUNT)
    np.testing.assert_allclose(shares.sum(-1), 1, rtol=1e-14)
    assert stats.kstest(shares[:, 0], stats.beta(0.5, 3.5).cdf).pvalue > LEAST


MATRIX = np.arange(12.0).reshape(3, 4)
EVERYWHERE = {
    "uniform": lambda key: random.uniform(key, None, np.float32, [0.0, 1.0], [2.0, 3.0]),
    "normal": lambda key: (random.normal(key), random.normal(key, (3, 4), np.float32)),
    "truncated_normal": lambda key: random.truncated_normal(key, [-np.inf, 1.0, 30.0, 50.0], [np.inf, 3.0, 31.0, 60.0]),
    "gamma": lambda key: random.gamma(key, [0.1, 1.0, 100.0]),
    "beta": lambda key: random.beta(key, 0.01, [0.01, 2.0], (3, 2)),
    "dirichlet": lambda key: (random.dirichlet(key, [1.0, 2.0, 0.01]), random.dirichlet(key, np.ones((2, 3)), (4, 2))),
    "student_t": lambda key: random.student_t(key, [3.0, 4.0]),
    "f": lambda key: random.f(key, 3.0, [4.0, 5.0]),
    "randint": lambda key: random.randint(key, None, np.array([0, -5]), np.array([2**62, 100])),
    "signs": lambda key: (random.bernoulli(key), random.rademacher(key, 4), random.geometric(key, [0.1, 1.0])),
    "poisson": lambda key: random.poisson(key, [0.0, 1.0, 9.9, 10.0, 1e9]),
    "binomial": lambda key: random.binomial(key, [0, 5, 100, 10**9], [[0.5], [0.01], [1.0], [0.99]]),
    "categorical": lambda key: random.categorical(key, np.log([[0.1, 0.9], [0.3, 0.7]]), 0, (5, 2)),
    "permutation": lambda key: (random.permutation(key, 6), random.permutation(key, MATRIX, 1)),
    "choice": lambda key: (random.choice(key, 5, (2, 3)), random.choice(key, MATRIX, 2, replace=False, axis=1)),
    "multivariate_normal": lambda key: random.multivariate_normal(key, [1.0, 2.0], np.eye(2)),
    "nothing": lambda key: (random.normal(key, 0), random.gamma(key, 2.0, (0, 3)), random.poisson(key, 2.0, 0)),
}


def assert_alike(found, expected):
    """Rounding may differ, not numbers: of gammas, it is that of a logarithm, which may be a hundred."""
    for one, other in zip(leaves(found), leaves(expected), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        tolerance = 500 * np.finfo(one.dtype).eps if one.dtype.kind == "f" else 0
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=0)


def leaves(tree):
    return [np.asarray(each) for each in (tree if isinstance(tree, tuple) else (tree,))]


@pytest.mark.parametrize("name", EVERYWHERE)
def test_numbers_are_the_same_compiled(name):
    draw = EVERYWHERE[name]
    assert_alike(graph_jit(draw)(KEY), draw(KEY))


@pytest.mark.repeats
@pytest.mark.parametrize("name", EVERYWHERE)
def test_numbers_are_the_same_everywhere(name):
    draw, keys = EVERYWHERE[name], random.split(KEY, 3)
    for backend in ("jax", "numpy"):
        assert_alike(graph_jit(draw, backend=backend)(KEY), draw(KEY))
    expected = tuple(np.stack(each) for each in zip(*[leaves(draw(key)) for key in keys], strict=True))
    assert_alike(vmap(draw)(keys), expected)
    assert_alike(scan(lambda carry, key: (carry, draw(key)), 0.0, keys)[1], expected)


@pytest.mark.parametrize("a", [1e-3, 0.3, 1.0, 2.5, 30.0, 1e4])
def test_gamma_numbers_have_implicit_derivatives(a):
    """Minus the derivative of the distribution function by the parameter, over the density, by mpmath."""
    for seed in range(3):
        logarithm, slope = value_and_grad(lambda a, seed=seed: random.loggamma(random.key(seed), a))(a)
        with mpmath.workdps(30):
            number = mpmath.exp(mpmath.mpf(float(logarithm)))
            density = mpmath.exp(a * mpmath.mpf(float(logarithm)) - number - mpmath.loggamma(a))
            by_a = mpmath.diff(lambda b, x=number: mpmath.gammainc(b, 0, x, regularized=True), mpmath.mpf(a))
            np.testing.assert_allclose(slope, float(-by_a / density), rtol=1e-11 if a < 1e3 else 1e-10)


def of_mean(name, *parameters, argnums=1, count=20000):
    """The derivative of the mean of many numbers."""
    draw = getattr(random, name)
    return grad(lambda *given: np.mean(draw(KEY, *given, shape=count)), argnums=argnums - 1)(*parameters)


def test_derivatives_of_means_are_those_of_the_formulas():
    np.testing.assert_allclose(of_mean("beta", 2.0, 3.0), 3.0 / 25, rtol=0.05)
    np.testing.assert_allclose(of_mean("beta", 2.0, 3.0, argnums=2), -2.0 / 25, rtol=0.05)
    np.testing.assert_allclose(of_mean("rayleigh", 2.0), np.sqrt(np.pi / 2), rtol=0.05)
    found = grad(lambda alpha: np.mean(random.dirichlet(KEY, alpha, 20000)[:, 0]))(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(found, [5 / 36, -1 / 36, -1 / 36], rtol=0.05)


@pytest.mark.repeats
def test_derivatives_in_batches_and_other_backends():
    keys, a = random.split(KEY, 3), np.array([0.5, 1.0, 20.0])
    slope = grad(lambda a, key: random.gamma(key, a))
    np.testing.assert_allclose(vmap(slope)(a, keys), [slope(*each) for each in zip(a, keys, strict=True)], rtol=1e-12)
    for backend in ("jax", "numpy"):
        np.testing.assert_allclose(graph_jit(slope, backend=backend)(a[0], KEY), slope(a[0], KEY), rtol=1e-11)


@pytest.mark.parametrize(
    ("draw", "text"),
    [
        (lambda: random.gamma(KEY, [1.0, -1.0]), "positive"),
        (lambda: random.gamma(KEY, np.nan), "positive"),
        (lambda: random.weibull(KEY, 0.0), "positive"),
        (lambda: random.pareto(KEY, -1.0), "positive"),
        (lambda: random.triangular(KEY, 0.0, 2.0, 1.0), "left <= mode <= right"),
        (lambda: random.truncated_normal(KEY, 1.0, 1.0), "below"),
        (lambda: random.bernoulli(KEY, 1.5), "between 0 and 1"),
        (lambda: random.geometric(KEY, 0.0), "above 1e-16"),
        (lambda: random.poisson(KEY, -1.0), "between 0"),
        (lambda: random.poisson(KEY, np.inf), "between 0"),
        (lambda: random.binomial(KEY, -1, 0.5), "a count"),
        (lambda: random.binomial(KEY, 3, np.nan), "between 0 and 1"),
        (lambda: random.randint(KEY, 3, 5, 5), "below"),
        (lambda: random.randint(KEY, 3, 0, 300, np.int8), "out of bounds"),
        (lambda: random.randint(KEY, 3, -1, 3, np.uint64), "out of bounds"),
        (lambda: random.randint(KEY, 3, 0, np.uint64(2**63)), "out of bounds"),
        (lambda: random.choice(KEY, 0), "nothing to choose"),
        (lambda: random.choice(KEY, 3, 5, replace=False), "fewer"),
        (lambda: random.choice(KEY, 3, 2, replace=False, p=[0.0, 0.0, 1.0]), "fewer"),
        (lambda: random.choice(KEY, 3, 5, p=[0.5, 0.5]), "another length"),
        (lambda: random.choice(KEY, 2, 5, p=[1.5, -0.5]), "negative"),
        (lambda: random.dirichlet(KEY, 1.0), "dimension"),
        (lambda: random.categorical(KEY, 1.0), "dimension"),
        (lambda: random.multivariate_normal(KEY, 1.0, 1.0), "vector"),
        (lambda: random.uniform(KEY, 2, minval=[0.0, 1.0, 2.0]), "broadcast"),
    ],
)
def test_parameters_that_are_none_are_refused(draw, text):
    for function in (draw, graph_jit(lambda: draw())):
        with pytest.raises(ValueError, match=text):
            function()


@pytest.mark.parametrize("bad", [-1.0, -0.9, np.nan, np.inf])
def test_parameters_that_are_none_end_loops_when_the_program_runs(bad):
    """Compiled code may draw before it looks at parameters."""
    for draw in (random.gamma, random.poisson, lambda key, p: random.binomial(key, 100, p)):
        with pytest.raises(ValueError, match=r"positive|between"):
            graph_jit(draw)(KEY, bad)


def test_integers_are_asked_for():
    with pytest.raises(TypeError, match="bounds are integers"):
        random.randint(KEY, 3, 0.0, 5.0)
    with pytest.raises(TypeError, match="randint draws integers"):
        random.randint(KEY, 3, 0, 5, np.float64)
