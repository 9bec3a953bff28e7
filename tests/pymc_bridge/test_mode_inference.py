"""What PyMC does with models beside sampling, in the mode ``NUMBAGRAPH``: the same as in PyTensor's Python code."""

import numpy as np
import pytest

pm = pytest.importorskip("pymc")
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:The number of samples is too small"),
    pytest.mark.filterwarnings("ignore:More chains"),
    pytest.mark.filterwarnings("error::numbagraph.pymc_bridge.FallbackWarning"),
]

import pytensor  # noqa: E402
from pymc.stats.log_density import compute_log_likelihood, compute_log_prior  # noqa: E402
from pytensor.compile.mode import get_mode  # noqa: E402

from numbagraph.pymc_bridge import compile_logp, sample  # noqa: E402
from tests.support.modes import NAME, PLAIN  # noqa: E402
from tests.support.pymc_regression import regression  # noqa: E402

X = np.linspace(-1.0, 1.0, 15)
Y = 1.0 + 2.0 * X + np.random.default_rng(4).normal(0.0, 0.3, 15)


def line():
    with pm.Model(coords={"row": range(15)}) as model:
        x = pm.Data("x", X, dims="row")
        level, slope = pm.Normal("level", 0.0, 2.0), pm.Normal("slope", 0.0, 2.0)
        mean = pm.Deterministic("mean", level + slope * x, dims="row")
        pm.Normal("y", mean, pm.HalfNormal("noise", 1.0), observed=Y, dims="row")
    return model


def in_both(run):
    """What ``run()`` gives where a mode is the default one: ours, and PyTensor's Python code."""
    results = []
    for mode in (get_mode(NAME), PLAIN):
        with pytensor.config.change_flags(mode=mode):
            results.append(run())
    return results


def agree(ours, plain, rtol=1e-9):
    assert set(ours.data_vars) == set(plain.data_vars)
    for name in plain.data_vars:
        np.testing.assert_allclose(ours[name].values, plain[name].values, rtol=rtol, atol=1e-12, err_msg=name)


@pytest.fixture(scope="module")
def trace():
    return sample(line(), draws=10, tune=50, chains=2, random_seed=1, progressbar=False, quiet=True)


@pytest.mark.parametrize("compute", [compute_log_likelihood, compute_log_prior])
def test_log_densities_of_draws(trace, compute):
    options = {"model": line(), "extend_inferencedata": False, "progressbar": False}
    agree(*(compute(trace, compile_kwargs={"mode": mode}, **options) for mode in (NAME, PLAIN)))


def test_sequential_monte_carlo():
    def draw():
        with line():
            options = {"chains": 1, "cores": 1, "random_seed": 2, "progressbar": False}
            return pm.sample_smc(60, compute_convergence_checks=False, **options).posterior

    agree(*in_both(draw), rtol=1e-6)


@pytest.mark.parametrize("method", ["advi", "fullrank_advi"])
def test_variational_inference_with_minibatches(method):
    def fit():
        rows = np.arange(60.0) / 60
        with pm.Model():
            x, y = pm.Minibatch(rows, 3 * rows - 1, batch_size=10)
            pm.Normal("y", pm.Normal("level") + pm.Normal("slope") * x, 0.5, observed=y, total_size=60)
            return pm.fit(20, method=method, random_seed=3, progressbar=False).hist

    ours, plain = in_both(fit)
    assert ours.shape == plain.shape == (20,)
    assert np.isfinite(ours).all()


def test_the_maximum():
    def maximum():
        with line():
            return pm.find_MAP(progressbar=False)

    ours, plain = in_both(maximum)
    for name, value in plain.items():
        np.testing.assert_allclose(ours[name], value, rtol=1e-4, atol=1e-6)


def test_interventions_and_observations(trace):
    done = pm.do(line(), {"slope": -1.0})
    seen = pm.observe(pm.do(line(), {"x": np.zeros(15)}), {"level": 0.5})

    def predict():
        with done:
            options = {"random_seed": 5, "progressbar": False, "var_names": ["mean", "y"]}
            return pm.sample_posterior_predictive(trace, **options).posterior_predictive

    agree(*in_both(predict))
    for model in (done, seen):
        function = model.logp_dlogp_function(ravel_inputs=True, mode=PLAIN)
        function.set_extra_values({})
        compiled = compile_logp(model)
        point = np.linspace(-0.4, 0.3, compiled.point.size)
        for found, expected in zip(compiled(point), function(point), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    drawn = sample(seen, draws=10, tune=20, chains=1, random_seed=1, progressbar=False, quiet=True)
    assert set(drawn.posterior) == {"slope", "noise", "mean"}


def test_predictions_for_other_data(trace):
    def predict():
        model = line()
        with model:
            pm.set_data({"x": X[:4]}, coords={"row": range(4)})
            options = {"random_seed": 5, "progressbar": False, "var_names": ["mean"], "predictions": True}
            return pm.sample_posterior_predictive(trace, **options).predictions

    ours, plain = in_both(predict)
    assert ours["mean"].shape == (2, 10, 4)
    agree(ours, plain)


def test_prior_draws_of_a_regression():
    def draw():
        with regression():
            return pm.sample_prior_predictive(5, random_seed=8).prior

    agree(*in_both(draw))
