"""Models in the mode ``NUMBAGRAPH``: draws, samples and fits are those of PyTensor's own modes."""

import inspect

import numpy as np
import pytest

pm = pytest.importorskip("pymc")
# What PyMC says of a few samples, and of what its next versions will do, says nothing about a mode.
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore:The number of samples is too small"),
]

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pytensor.compile.mode import get_mode  # noqa: E402

from tests.support.modes import NAME, PLAIN, same  # noqa: E402
from tests.support.pymc_models import MODELS  # noqa: E402

rng = np.random.default_rng(5)
OBSERVED, GROUP = rng.normal(1.0, 1.0, 20), rng.integers(0, 4, 20)
PYMC_6 = "backend" in inspect.signature(pm.sample).parameters


def hierarchical():
    with pm.Model(coords={"group": range(4)}) as model:
        index = pm.Data("index", GROUP)
        mu, scale = pm.Normal("mu"), pm.HalfNormal("scale")
        effect = pm.Normal("effect", mu, scale, dims="group")
        noise = pm.Exponential("noise", 1.0)
        pm.Deterministic("doubled", effect * 2)
        pm.Normal("y", effect[index], noise, observed=OBSERVED)
    return model


def per_mode(run):
    """What ``run(options)`` gives in our mode and by PyTensor's Python code."""
    results = []
    for mode in (NAME, PLAIN):
        with hierarchical():
            results.append(run({"mode": mode}))
    return results


def agree(ours, plain, rtol=1e-10):
    """Whether two groups of a trace have the same variables, with the same values."""
    assert set(ours.data_vars) == set(plain.data_vars)
    for name in plain.data_vars:
        np.testing.assert_allclose(ours[name].values, plain[name].values, rtol=rtol, err_msg=name)


def test_draws_are_the_same():
    with hierarchical() as model:
        ours, plain = (pm.draw([model["mu"], model["y"]], 3, random_seed=3, mode=mode) for mode in (NAME, PLAIN))
    np.testing.assert_array_equal(ours[0], plain[0])
    np.testing.assert_allclose(ours[1], plain[1], rtol=1e-14)


def test_a_state_is_read_before_it_is_changed():
    """The second draw changes the state in place, and needs nothing of a native function; the first one does."""
    results = []
    for mode in (NAME, PLAIN):
        first, second = (pytensor.shared(np.random.default_rng(seed)) for seed in (1, 2))
        waiting = pm.Normal.dist(pt.exp(pm.Normal.dist(0.0, 1.0, rng=second)) * 2, 1.0, rng=first)
        early = pm.Normal.dist(0.0, 1.0, rng=first)
        mode = get_mode(mode).including("random_make_inplace")
        draw = pytensor.function([], [waiting, early], updates={first: early.owner.outputs[0]}, mode=mode)
        results.append([*draw(), *draw()])
        assert any(node.op.destroy_map for node in draw.maker.fgraph.toposort())
    same(*results)


@pytest.mark.filterwarnings("error::numbagraph.pymc_bridge.FallbackWarning")
def test_draws_of_a_variable_that_counts_more_often():
    with pm.Model() as model:
        pm.Poisson("y", pt.exp(pm.Normal("mu")), observed=np.arange(4), total_size=100)
    ours, plain = (pm.draw(model["y"], 3, random_seed=3, mode=mode) for mode in (NAME, PLAIN))
    np.testing.assert_array_equal(ours, plain)


def test_predictions_are_the_same():
    def predict(options):
        options = {"compile_kwargs": options, "random_seed": 3}
        prior = pm.sample_prior_predictive(draws=4, **options)
        points = prior.prior.to_dataset() if hasattr(prior.prior, "to_dataset") else prior.prior
        return prior, pm.sample_posterior_predictive(points, progressbar=False, **options)

    (prior, posterior), (expected, other) = per_mode(predict)
    np.testing.assert_array_equal(prior.prior["mu"].values, expected.prior["mu"].values)
    agree(prior.prior, expected.prior)
    agree(prior.prior_predictive, expected.prior_predictive)
    agree(posterior.posterior_predictive, other.posterior_predictive)


SAMPLING = {"draws": 8, "tune": 8, "random_seed": 4, "progressbar": False, "compute_convergence_checks": False}


def test_samples_are_the_same():
    ours, plain = per_mode(lambda options: pm.sample(chains=1, cores=1, compile_kwargs=options, **SAMPLING))
    agree(ours.posterior, plain.posterior, rtol=1e-6)


def moving_average():
    """Errors of a moving average, one after the other in a loop."""
    with pm.Model() as model:
        weight, scale = pm.Uniform("weight", -0.9, 0.9), pm.HalfNormal("scale")
        steps = {"input": pt.as_tensor(OBSERVED), "taps": [0]}
        errors = pytensor.scan(
            lambda y, error, weight: y - weight * error,
            steps,
            pt.constant(0.0, dtype="float64"),
            weight,
            return_updates=False,
        )
        pm.Potential("y", pm.logp(pm.Normal.dist(0.0, scale), errors).sum())
    return model


@pytest.mark.filterwarnings("ignore")
def test_loops_in_models():
    traces = []
    with pytensor.config.change_flags(mode=PLAIN):
        for mode in (NAME, PLAIN):
            with moving_average():
                traces.append(pm.sample(chains=1, cores=1, compile_kwargs={"mode": mode}, **SAMPLING).posterior)
        agree(*traces, rtol=1e-6)


def test_several_processes():
    options = {"backend": "numbagraph", "nuts_sampler": "pymc"} if PYMC_6 else {"compile_kwargs": {"mode": NAME}}

    def sample(cores):
        with hierarchical():
            return pm.sample(chains=2, cores=cores, mp_ctx="spawn", **options, **SAMPLING).posterior

    agree(sample(2), sample(1))


@pytest.mark.filterwarnings("ignore:Data in y contains missing values")
def test_all_that_sampling_compiles_is_in_the_mode(monkeypatch):
    """Deterministic variables of draws, and step methods of discrete variables: PyMC names a mode for some of them."""
    compiled, original = [], pytensor.function

    def recorded(*arguments, mode=None, **options):
        compiled.append(get_mode(mode))
        return original(*arguments, mode=mode, **options)

    monkeypatch.setattr(pytensor, "function", recorded)
    data = rng.normal(size=(20, 3))
    with pm.Model() as model:
        values = pm.Data("values", data) @ pm.Normal("slopes", shape=3)
        kind = pm.Categorical("kind", [0.2, 0.3, 0.5])
        mean = pm.Deterministic("mean", values + kind + pm.Poisson("shift", 1.0))
        pm.Normal("y", mean, pm.HalfNormal("scale"), observed=np.where(GROUP > 2, np.nan, OBSERVED))
    for options in ({"compile_kwargs": {"mode": NAME}}, {"backend": "numbagraph"} if PYMC_6 else None):
        if options is not None:
            with model:
                trace = pm.sample(chains=1, cores=1, **options, **SAMPLING)
            assert trace.posterior["mean"].shape == (1, 8, 20)
    assert len(compiled) > 4
    linkers = [each.linker for each in compiled]
    initial = pytensor.compile.mode.FAST_COMPILE.linker  # PyMC says so for initial points
    assert {type(each).__name__ for each in linkers if each is not initial} == {"NumbagraphLinker"}
    assert type(get_mode(None).linker) is not type(get_mode(NAME).linker)


def test_variational_inference_is_the_same():
    def fit(options):
        return pm.fit(30, random_seed=1, progressbar=False, compile_kwargs=options).hist

    np.testing.assert_allclose(*per_mode(fit), rtol=1e-9)


def test_the_maximum_is_the_same():
    found = []
    for mode in (get_mode(NAME), PLAIN):
        with pm.Model(), pytensor.config.change_flags(mode=mode):
            pm.Normal("y", pm.Normal("mu"), pm.Gamma("scale", 2.0, 1.0), observed=OBSERVED)
            found.append(pm.find_MAP(progressbar=False))
    for name, value in found[1].items():
        np.testing.assert_allclose(found[0][name], value, rtol=1e-5, atol=1e-8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.filterwarnings("error::numbagraph.pymc_bridge.FallbackWarning")
@pytest.mark.parametrize(
    "name", ["radon", "stochastic volatility", "multivariate normal", "normal mixture", "branches"]
)
def test_models(name, capfd):
    model = MODELS[name].build()
    start = model.initial_point(0)
    point = np.concatenate([np.ravel(each) for each in start.values()])
    point = point + np.random.default_rng(3).normal(size=point.size) * 0.1
    results = []
    for mode in (NAME, PLAIN):
        function = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
        function.set_extra_values({})
        results.append(function(point))
    (value, gradient), (expected, derivatives) = results
    np.testing.assert_allclose(value, expected, rtol=1e-11)
    np.testing.assert_allclose(gradient, derivatives, rtol=1e-8, atol=1e-9)
    assert "remark" not in capfd.readouterr().err, "LLVM complains"
