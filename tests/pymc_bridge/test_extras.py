"""Models of pymc-extras beside PyTensor's Python code; `make nightly` installs it."""

import numpy as np
import pytest

pm = pytest.importorskip("pymc")
extras = pytest.importorskip("pymc_extras")
pytestmark = pytest.mark.filterwarnings("ignore")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pymc_extras.statespace import BayesianSARIMAX  # noqa: E402

from numbagraph.pymc_bridge import compile_logp, sample  # noqa: E402
from tests.support.modes import NAME, PLAIN  # noqa: E402

rng = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def without_a_compiler_of_pytensor_s():
    """It compiles the steps of loops in its default mode, whatever the mode of the loop is."""
    with pytensor.config.change_flags(cxx="", mode=PLAIN):
        yield


def agree(model):
    """The same log-density and gradient, at several points."""
    compiled, plain = compile_logp(model), model.logp_dlogp_function(ravel_inputs=True, mode=PLAIN)
    plain.set_extra_values({})
    begin = np.concatenate([np.ravel(each).astype(float) for each in model.initial_point(0).values()])
    for distance in (0.0, 0.1, -0.2):
        value, gradient = compiled(begin + distance)
        expected, slopes = plain(begin + distance)
        np.testing.assert_allclose(value, expected, rtol=1e-9)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-7, atol=1e-7 * np.abs(slopes).max())


def test_a_state_space_model_with_gaps():
    series = rng.normal(size=(20, 1))
    series[[3, 4, 11]] = np.nan
    states = BayesianSARIMAX(order=(1, 0, 1), stationary_initialization=True, verbose=False)
    with pm.Model(coords=states.coords) as model:
        for name, each in states.param_info.items():
            kind = pm.Exponential if "sigma" in name else pm.Normal
            kind(name, 1.0 if "sigma" in name else 0.0, shape=each["shape"])
        states.build_statespace_graph(series)
    agree(model)


def test_a_marginalised_model():
    with pm.Model() as model:
        share, means = pm.Beta("share", 1.0, 1.0), pm.Normal("means", shape=2)
        kind = pm.Bernoulli("kind", share, shape=10)
        pm.Normal("y", pt.switch(kind, means[0], means[1]), 1.0, observed=rng.normal(size=10))
    marginal = extras.marginalize(model, ["kind"])
    agree(marginal)
    trace = sample(marginal, draws=10, tune=20, chains=1, random_seed=1, progressbar=False)
    assert trace.posterior["means"].shape == (1, 10, 2)


def occupancy():
    """Sites are occupied or not; where they are not, nothing is detected. At some there are no visits."""
    visits, seen = np.array([4, 4, 0, 4, 2]), np.array([0, 2, 0, 1, 0])
    share, detection = pm.Beta("share", 1.0, 1.0), pm.Beta("detection", 1.0, 1.0)
    occupied = pm.Bernoulli("occupied", share, shape=5)
    pm.Binomial("seen", visits, occupied * detection, observed=seen)
    return ["occupied"]


def counts_with_exposures_of_zero():
    rates = pm.HalfNormal("rates", shape=2)
    kind = pm.Bernoulli("kind", 0.4, shape=4)
    pm.Poisson("y", np.array([0.0, 1.0, 2.0, 0.0]) * rates[kind], observed=[0, 1, 3, 0])
    return ["kind"]


def zero_inflation():
    rate, share = pm.HalfNormal("rate"), pm.Beta("share", 1.0, 1.0)
    present = pm.Bernoulli("present", share, shape=4)
    pm.NegativeBinomial("y", mu=present * rate, alpha=2.0, observed=[0, 0, 2, 5])
    return ["present"]


def three_kinds():
    weights, means = pm.Dirichlet("weights", np.ones(3)), pm.Normal("means", shape=3)
    kind = pm.Categorical("kind", weights, shape=6)
    pm.Normal("y", means[kind], 1.0, observed=np.linspace(-2.0, 2.0, 6))
    return ["kind"]


def two_indicators():
    share, slope = pm.Beta("share", 1.0, 1.0), pm.Normal("slope")
    first, second = pm.Bernoulli("first", share), pm.Bernoulli("second", 0.3)
    pm.Normal("y", slope * first + 2.0 * second, 1.0, observed=[0.0, 1.0, 2.0])
    return ["first", "second"]


def change_point():
    early, late = pm.Exponential("early", 1.0), pm.Exponential("late", 1.0)
    at = pm.DiscreteUniform("at", 0, 5)
    pm.Poisson("y", pt.switch(np.arange(6) < at, early, late), observed=[1, 0, 1, 4, 5, 3])
    return ["at"]


MARGINALISED = [
    occupancy,
    counts_with_exposures_of_zero,
    zero_inflation,
    three_kinds,
    two_indicators,
    change_point,
]


@pytest.mark.parametrize("build", MARGINALISED)
def test_marginalised_indicators(build):
    with pm.Model() as model:
        names = build()
    agree(extras.marginalize(model, names))


def test_a_marginalised_chain_of_states():
    with pm.Model() as model:
        rows = pm.Dirichlet("rows", np.ones((2, 2)))
        begin = pm.Categorical.dist([0.5, 0.5])
        states = extras.distributions.DiscreteMarkovChain("states", P=rows, init_dist=begin, shape=(8,))
        pm.Normal("y", pm.Normal("means", shape=2)[states], 1.0, observed=np.linspace(-1.0, 1.0, 8))
    agree(extras.marginalize(model, ["states"]))


def test_an_approximation_by_laplace():
    data = rng.normal(2.0, 1.0, size=30)
    with pm.Model():
        pm.Normal("y", pm.Normal("mean", 0.0, 10.0), 1.0, observed=data)
        options = {"draws": 200, "progressbar": False, "random_seed": 1}
        found = extras.fit_laplace(compile_kwargs={"mode": NAME}, **options)
    precision = 30 + 1 / 100
    mean = found.posterior["mean"].values
    assert abs(mean.mean() - data.sum() / precision) < 5 / np.sqrt(precision * mean.size)
