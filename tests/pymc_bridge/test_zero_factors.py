"""Distributions with a parameter some elements of which are 0 times a variable, and data at the ends of their support:
values and derivatives beside PyTensor's, of the graph that it has rewritten."""

import numpy as np
import pytest

pm = pytest.importorskip("pymc")
pytestmark = pytest.mark.filterwarnings("ignore")

import pytensor.tensor as pt  # noqa: E402
from pytensor.compile.mode import Mode  # noqa: E402

from numbagraph.pymc_bridge import compile_logp  # noqa: E402

MODE = Mode(linker="py", optimizer="fast_run")
RATES, SHARES = np.array([0.0, 1.0, 2.0, 1.0]), np.array([0.0, 1.0, 0.5, 0.7])
REAL, POSITIVE, UNIT = np.array([0.0, 0.0, 1.5, -1.0]), np.array([0.0, 0.0, 1.5, 2.0]), np.array([0.0, 0.0, 0.5, 0.7])
COUNTS, TRIALS, TRUTHS = np.array([0, 0, 2, 3]), np.array([0, 0, 4, 2]), np.array([0, 0, 1, 1])
ABOVE = np.array([1.0, 1.0, 2.0, 3.0])


def of(kind, *args, data, c=RATES, **kwargs):
    """A distribution of which ``...`` is the parameter."""

    def build(p):
        given = {name: p if each is ... else each for name, each in kwargs.items()}
        kind("y", *(p if each is ... else each for each in args), observed=data, **given)

    return build, c


def mixed(dist, other, data, c=RATES):
    return lambda p: pm.Mixture("y", w=[0.3, 0.7], comp_dists=[dist(p), other], observed=data), c


def limited(kind, dist, data):
    return lambda p: kind("y", dist(p), lower=None, upper=3, observed=data), RATES


def potential(formula, c=RATES):
    return lambda p: pm.Potential("y", formula(p)), c


def occupied(p):
    """What `pymc_extras.marginalize` makes of an indicator: the logarithm of a sum over its values."""
    absent = pt.switch(pt.eq(TRIALS, 0), 0.0, -np.inf)
    return pt.logsumexp(
        pt.stack([pt.log(p) + pm.logp(pm.Binomial.dist(4, 0.3), TRIALS), pt.log1p(-p) + absent]), axis=0
    )


def detected(p):
    by_kind = [pm.logp(pm.Binomial.dist(4, each), TRIALS) for each in (p, 0.2)]
    return pt.logsumexp(pt.stack(by_kind) + np.log([[0.4], [0.6]]), axis=0)


def pair(p):
    return pt.stack([p, 1 - p], axis=-1)


FAMILIES = {
    "Normal": of(pm.Normal, ..., 1.0, data=REAL),
    "Normal by deviation": of(pm.Normal, 0.0, ..., data=REAL),
    "HalfNormal": of(pm.HalfNormal, ..., data=POSITIVE),
    "TruncatedNormal": of(pm.TruncatedNormal, ..., 1.0, lower=0.0, upper=2.0, data=POSITIVE),
    "Exponential": of(pm.Exponential, ..., data=POSITIVE),
    "Gamma": of(pm.Gamma, ..., 1.0, data=POSITIVE),
    "Gamma by rate": of(pm.Gamma, 1.0, ..., data=POSITIVE),
    "InverseGamma": of(pm.InverseGamma, 2.0, ..., data=POSITIVE),
    "Weibull": of(pm.Weibull, 1.0, ..., data=POSITIVE, c=RATES + 1),
    "Weibull by exponent": of(pm.Weibull, ..., 1.0, data=POSITIVE),
    "Beta": of(pm.Beta, ..., 1.0, data=UNIT),
    "Kumaraswamy": of(pm.Kumaraswamy, ..., 1.0, data=UNIT),
    "LogNormal": of(pm.LogNormal, ..., 1.0, data=ABOVE),
    "ChiSquared": of(pm.ChiSquared, ..., data=POSITIVE),
    "StudentT": of(pm.StudentT, nu=3.0, mu=..., sigma=1.0, data=REAL),
    "Cauchy": of(pm.Cauchy, ..., 1.0, data=REAL),
    "Laplace": of(pm.Laplace, ..., 1.0, data=REAL),
    "AsymmetricLaplace": of(pm.AsymmetricLaplace, kappa=1.0, mu=..., b=1.0, data=REAL),
    "Logistic": of(pm.Logistic, ..., 1.0, data=REAL),
    "Gumbel": of(pm.Gumbel, ..., 1.0, data=REAL),
    "SkewNormal": of(pm.SkewNormal, mu=0.0, sigma=1.0, alpha=..., data=REAL),
    "ExGaussian": of(pm.ExGaussian, mu=..., sigma=1.0, nu=1.0, data=REAL),
    "VonMises": of(pm.VonMises, 0.0, ..., data=REAL),
    "Wald": of(pm.Wald, 1.0, 1.0, alpha=..., data=ABOVE + 2),
    "Pareto": of(pm.Pareto, ..., 1.0, data=ABOVE),
    "Rice": of(pm.Rice, nu=..., sigma=1.0, data=ABOVE),
    "Moyal": of(pm.Moyal, ..., 1.0, data=REAL),
    "Triangular": of(pm.Triangular, 0.0, ..., 5.0, data=ABOVE),
    "Uniform": potential(lambda p: pm.logp(pm.Uniform.dist(0.0, p + 2), UNIT)),
    "Poisson": of(pm.Poisson, ..., data=COUNTS),
    "Binomial": of(pm.Binomial, 4, ..., data=TRIALS, c=SHARES),
    "Binomial of the rest": potential(lambda p: pm.logp(pm.Binomial.dist(4, 1 - p), 4 - TRIALS), SHARES),
    "BetaBinomial": of(pm.BetaBinomial, alpha=..., beta=1.0, n=4, data=TRIALS),
    "Bernoulli": of(pm.Bernoulli, ..., data=TRUTHS, c=SHARES),
    "Geometric": of(pm.Geometric, ..., data=np.array([1, 1, 2, 3]), c=SHARES),
    "Geometric of the rest": potential(lambda p: pm.logp(pm.Geometric.dist(1 - p), [1, 1, 2, 3]), SHARES),
    "NegativeBinomial": of(pm.NegativeBinomial, mu=..., alpha=2.0, data=COUNTS),
    "NegativeBinomial by alpha": of(pm.NegativeBinomial, mu=2.0, alpha=..., data=COUNTS),
    "ZeroInflatedPoisson": of(pm.ZeroInflatedPoisson, psi=0.4, mu=..., data=COUNTS),
    "ZeroInflatedPoisson by share": of(pm.ZeroInflatedPoisson, psi=..., mu=2.0, data=COUNTS, c=SHARES),
    "ZeroInflatedBinomial": of(pm.ZeroInflatedBinomial, psi=0.4, n=4, p=..., data=TRIALS, c=SHARES),
    "ZeroInflatedBinomial by share": of(pm.ZeroInflatedBinomial, psi=..., n=4, p=0.3, data=TRIALS, c=SHARES),
    "ZeroInflatedNegativeBinomial": of(pm.ZeroInflatedNegativeBinomial, psi=0.4, mu=..., alpha=2.0, data=COUNTS),
    "HurdlePoisson": of(pm.HurdlePoisson, psi=0.4, mu=..., data=COUNTS),
    "HurdlePoisson by share": of(pm.HurdlePoisson, psi=..., mu=2.0, data=COUNTS, c=SHARES),
    "DiscreteWeibull": of(pm.DiscreteWeibull, q=..., beta=1.0, data=COUNTS, c=SHARES),
    "Categorical": potential(lambda p: pm.logp(pm.Categorical.dist(p / p.sum()), [1, 3, 2]), SHARES),
    "Multinomial": potential(lambda p: pm.logp(pm.Multinomial.dist(4, p / p.sum()), COUNTS[[0, 2, 1, 2]]), SHARES),
    "DirichletMultinomial": of(pm.DirichletMultinomial, n=5, a=..., data=COUNTS),
    "Dirichlet": potential(lambda p: pm.logp(pm.Dirichlet.dist(p + 1), np.array([0.0, 0.3, 0.3, 0.4]))),
    "OrderedLogistic": of(pm.OrderedLogistic, eta=..., cutpoints=[-1.0, 1.0], data=np.array([0, 0, 2, 1])),
    "Censored": limited(pm.Censored, pm.Poisson.dist, COUNTS),
    "Truncated": limited(pm.Truncated, lambda p: pm.Poisson.dist(p + 1), COUNTS),
    "a mixture of Poissons": mixed(pm.Poisson.dist, pm.Poisson.dist(2.0), COUNTS + 1),
    "a mixture of exponentials": mixed(pm.Exponential.dist, pm.Exponential.dist(2.0), POSITIVE),
    "a mixture of gammas": mixed(lambda p: pm.Gamma.dist(1.0, p), pm.Gamma.dist(1.0, 2.0), POSITIVE),
    "a mixture of geometrics": mixed(pm.Geometric.dist, pm.Geometric.dist(0.4), COUNTS + 1, SHARES),
    "a mixture of Bernoullis": mixed(pm.Bernoulli.dist, pm.Bernoulli.dist(0.4), 1 - TRUTHS, SHARES),
    "a mixture of Paretos": mixed(lambda p: pm.Pareto.dist(p, 1.0), pm.Pareto.dist(2.0, 1.0), ABOVE),
    "weights": (lambda p: pm.NormalMixture("y", pair(p), mu=[0.0, 1.0], sigma=[1.0, 2.0], observed=REAL), SHARES),
    "a sum of logarithms": potential(lambda p: pt.logsumexp(pt.log(p))),
    "an outer product": potential(lambda p: pt.logsumexp(pt.log(pt.outer(p, pt.as_tensor(RATES))))),
    "indicators of occupancy": potential(occupied, SHARES),
    "shares of detection": potential(detected, SHARES),
}


def model_of(name):
    build, c = FAMILIES[name]
    with pm.Model(check_bounds=False) as model:
        p = pm.Beta("p", 2.0, 2.0) if c is SHARES else pm.Uniform("p", 0.1, 3.0)
        build(c * p)
    return model


def compare(name):
    model = model_of(name)
    with model:
        known = model.logp_dlogp_function(ravel_inputs=True, mode=MODE)
    known.set_extra_values({})
    at, step = np.array([0.3]), np.array([1e-5])
    value, gradient = compile_logp(model)(at)
    expected, slopes = known(at)
    np.testing.assert_allclose(value, expected, rtol=1e-6)
    if np.isfinite(expected):
        if not np.isfinite(slopes).all():  # as there is where PyTensor cancels nothing
            slopes = (known(at + step)[0] - known(at - step)[0]) / (2 * step)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-6)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_variable_times_zero(name):
    compare(name)


@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_a_power_of_zero_that_is_known(exponent):
    """PyTensor does not ask what has a factor of 0."""
    with pm.Model() as model:
        pm.Weibull("y", exponent, pm.HalfNormal("p"), observed=[0.0, 1.0] if exponent == 1 else [0.5, 1.0])
    known = model.logp_dlogp_function(ravel_inputs=True, mode=MODE)
    known.set_extra_values({})
    found, expected = compile_logp(model)(np.array([0.2])), known(np.array([0.2]))
    for one, other in zip(found, expected, strict=True):
        assert np.isfinite(one).all()
        np.testing.assert_allclose(one, other, rtol=1e-6)
