"""`sample` with the options of `pm.sample`, `pm.sample` by way of `sample`, and draws after Ctrl-C."""

import inspect
import logging
import sys
import time

import numpy as np
import pytest

pm = pytest.importorskip("pymc")
pytest.importorskip("nutpie")
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore:The number of samples is too small"),
]

import xarray  # noqa: E402
from pymc.stats.log_density import compute_log_likelihood, compute_log_prior  # noqa: E402

from numbagraph.pymc_bridge import FallbackWarning, sample  # noqa: E402
from numbagraph.pymc_bridge.sampling import interrupted  # noqa: E402
from numbagraph.pymc_bridge.sampling.options import moves_at_random, of_pymc, seed_of  # noqa: E402
from tests.support.modes import PLAIN  # noqa: E402
from tests.support.pymc_regression import regression  # noqa: E402

PYMC_6 = "backend" in inspect.signature(pm.sample).parameters
FEW = {"draws": 12, "tune": 12, "chains": 2, "progressbar": False}


@pytest.mark.parametrize("make", [lambda: [3, 4], lambda: np.random.default_rng(3), lambda: np.random.RandomState(3)])
def test_seeds_are_numbers_sequences_and_generators(make):
    first, second = (sample(regression(), random_seed=make(), **FEW) for _ in range(2))
    assert first.posterior.equals(second.posterior)


def test_seeds_of_both_names():
    first, second = sample(regression(), random_seed=7, **FEW), sample(regression(), seed=7, **FEW)
    assert first.posterior.equals(second.posterior)
    assert seed_of([5], None) == seed_of(5, None) == 5
    assert seed_of(np.int64(5), None) == 5
    with pytest.raises(TypeError, match="give one of them"):
        seed_of(1, 2)
    with pytest.raises(ValueError, match="not negative"):
        seed_of(-1, None)
    for wrong in ("seven", [], 1.5):
        with pytest.raises(TypeError, match="random_seed is"):
            seed_of(wrong, None)


REFUSED = {
    "step": {"step": [1]},
    "callback": {"callback": print},
    "trace": {"trace": object()},
    "return_inferencedata": {"return_inferencedata": False},
    "idata_kwargs": {"idata_kwargs": {"coords": {}}},
    "progressbar": {"progress_bar": False},
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_say_what_to_use(name):
    with pytest.raises(TypeError, match=name):
        sample(regression(), **REFUSED[name])


def test_other_refusals():
    with pytest.raises(ValueError, match="init is one of"):
        sample(regression(), init="advi")
    with pytest.raises(TypeError, match="write draws=500"):
        sample(500)
    with pytest.raises(ValueError, match="given twice"):
        sample(regression(), maxdepth=3, nuts={"maxdepth": 4})
    assert (moves_at_random("auto"), moves_at_random("adapt_diag")) == (True, False)


def test_options_of_pymc_that_have_no_effect_are_taken():
    options = {"mp_ctx": "spawn", "n_init": 10, "step": None, "callback": None, "return_inferencedata": True}
    trace = sample(regression(), random_seed=1, **options, **FEW)
    assert trace.posterior.equals(sample(regression(), random_seed=1, **FEW).posterior)


def test_depths_of_trees_by_pymc_s_name():
    trace = sample(regression(), random_seed=1, nuts={"max_treedepth": 2}, **FEW)
    assert trace.sample_stats["n_steps"].max() <= 3


def groups_of(trace):
    return set(trace.children if isinstance(trace, xarray.DataTree) else trace.groups())


def test_log_densities_beside_draws():
    wanted = {"log_likelihood": True, "log_prior": ["slope"], "include_transformed": False}
    with regression():
        trace = sample(idata_kwargs=wanted, random_seed=1, **FEW)
        options = {"extend_inferencedata": False, "progressbar": False, "compile_kwargs": {"mode": PLAIN}}
        likelihood = compute_log_likelihood(trace, **options)
        prior = compute_log_prior(trace, var_names=["slope"], **options)
    for found, expected in ((trace.log_likelihood, likelihood), (trace.log_prior, prior)):
        assert set(found.data_vars) == set(expected.data_vars)
        for name, each in expected.data_vars.items():
            np.testing.assert_allclose(found[name], each, rtol=1e-12)
    assert "noise_log__" not in trace.posterior


def test_transformed_variables_are_kept_if_wanted():
    trace = sample(regression(), idata_kwargs={"include_transformed": True}, random_seed=1, **FEW)
    group = trace.posterior if "noise_log__" in trace.posterior else trace.unconstrained_posterior
    np.testing.assert_allclose(np.exp(group["noise_log__"].values), trace.posterior["noise"].values, rtol=1e-12)


def test_quiet_says_nothing(caplog, capfd):
    with caplog.at_level(logging.INFO, "pymc"):
        sample(regression(), quiet=True, random_seed=1, draws=12, tune=12, chains=2)
    assert not caplog.records
    assert not capfd.readouterr().out


def test_pm_sample_reaches_it():
    with regression():
        found = pm.sample(nuts_sampler="numbagraph", random_seed=3, **FEW)
        assert found.posterior.equals(sample(random_seed=3, **FEW).posterior)
        two = pm.sample(10, nuts_sampler="numbagraph", tune=10, cores=1, chains=1, random_seed=3, progressbar=False)
        assert dict(two.posterior["slope"].sizes)["draw"] == 10
        with pytest.raises(TypeError, match="callback"):
            pm.sample(nuts_sampler="numbagraph", callback=print, **FEW)
    assert of_pymc({"draws": 5, "nuts_sampler": "numbagraph", "cores": 1, "tune": None})["chains"] == 2
    assert "tune" not in of_pymc({"tune": None})


def test_pm_sample_of_discrete_variables_is_refused():
    with pm.Model():
        pm.Poisson("count", 2.0)
        with pytest.raises(ValueError, match="discrete"):
            pm.sample(nuts_sampler="numbagraph", **FEW)


@pytest.mark.skipif(not PYMC_6, reason="pm.sample of PyMC 5 has no backend")
@pytest.mark.parametrize("sampler", [None, "nutpie"])
def test_the_backend_reaches_it(sampler):
    with regression():
        found = pm.sample(backend="numbagraph", nuts_sampler=sampler, random_seed=3, **FEW)
        assert found.posterior.equals(sample(random_seed=3, **FEW).posterior)


@pytest.mark.skipif(not PYMC_6, reason="pm.sample of PyMC 5 has no backend")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.filterwarnings("error::numbagraph.pymc_bridge.FallbackWarning")
def test_the_backend_with_pymc_s_own_sampler():
    with regression():
        trace = pm.sample(backend="numbagraph", nuts_sampler="pymc", cores=1, random_seed=3, **FEW)
    assert trace.posterior.attrs["inference_library"] == "pymc"


@pytest.mark.skipif(not PYMC_6, reason="pm.sample of PyMC 5 has no backend")
def test_the_backend_where_a_log_density_has_no_translation():
    rows = np.arange(24.0)
    with pm.Model():
        batch = pm.Minibatch(rows, batch_size=6)
        pm.Normal("y", pm.Normal("mu"), 1.0, observed=batch, total_size=24)
        with pytest.warns(FallbackWarning, match="PyMC's own sampler"):
            trace = pm.sample(backend="numbagraph", cores=1, random_seed=3, compute_convergence_checks=False, **FEW)
    assert trace.posterior.attrs["inference_library"] == "pymc"


def test_ctrl_c_leaves_the_draws_so_far(monkeypatch, caplog):
    def interrupt(self):
        time.sleep(1.0)
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["nutpie.sample"]._BackgroundSampler, "wait", interrupt)
    options = {"tune": 20, "chains": 2, "progressbar": False, "discard_tuned_samples": False}
    trace = sample(regression(), draws=10**8, random_seed=1, **options)
    draws = trace.posterior.sizes["draw"]
    assert 0 < draws < 10**8
    assert trace.sample_stats.sizes["draw"] == draws
    assert not any(np.isnan(each).any() for each in trace.posterior.data_vars.values())
    assert trace.warmup_posterior.sizes["draw"] == 20
    assert f"interrupted: {draws} of {10**8} draws" in caplog.text


class Trace:
    """Groups of a trace whose chains have these lengths."""

    def __init__(self, lengths, most):
        there = np.arange(most) < np.array(lengths)[:, None]
        values = xarray.DataArray(np.where(there, 1.0, np.nan), dims=("chain", "draw"))
        self.posterior, self.sample_stats = xarray.Dataset({"x": values}), xarray.Dataset({"logp": values})

    def groups(self):
        return ["posterior", "sample_stats"]

    def __getitem__(self, name):
        return getattr(self, name)


@pytest.mark.parametrize(
    ("lengths", "chains", "draws"), [([5, 5], 2, 5), ([5, 1], 1, 5), ([4, 3], 2, 3), ([0, 9, 8], 2, 8), ([1], 1, 1)]
)
def test_chains_of_several_lengths(lengths, chains, draws):
    trace = Trace(lengths, 9)
    interrupted.uninterrupted(trace, 9)
    assert dict(trace.posterior.sizes) == {"chain": chains, "draw": draws}
    assert not np.isnan(trace.posterior["x"]).any()


def test_chains_without_draws():
    assert not interrupted.is_whole(Trace([0, 0], 0))
    assert interrupted.is_whole(Trace([3, 3], 3))
    with pytest.raises(KeyboardInterrupt):
        interrupted.uninterrupted(Trace([0, 0], 0), 5)
