"""`sample`: the traces, errors and warnings that PyMC gives."""

import datetime
import inspect
import logging

import numpy as np
import pandas as pd
import pytest

pm = pytest.importorskip("pymc")
pytest.importorskip("nutpie")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
import xarray  # noqa: E402
from pymc.exceptions import SamplingError  # noqa: E402
from pymc.logprob.utils import ParameterValueError  # noqa: E402
from pymc.stats.convergence import run_convergence_checks  # noqa: E402
from pytensor.scan.utils import until  # noqa: E402
from threadpoolctl import threadpool_info, threadpool_limits  # noqa: E402

from numbagraph.pymc_bridge import compile_model, sample  # noqa: E402
from numbagraph.pymc_bridge.sampling import sample as sampling  # noqa: E402
from tests.support.pymc_models import MODELS  # noqa: E402
from tests.support.pymc_regression import Y, regression  # noqa: E402

NUTPIE_BY_DEFAULT = inspect.signature(pm.sample).parameters["nuts_sampler"].default is None
"""Whether `pm.sample` takes nutpie where it can: then results have the names that nutpie gives them."""

COORDINATES = {
    "small integers": np.array([1, 2, 3], dtype=np.int8),
    "times": pd.date_range("2020", periods=3),
    "periods": pd.period_range("2020", "2022", freq="Y"),
    "dates": [datetime.date(2020, 1, day) for day in (1, 2, 3)],
    "intervals": pd.interval_range(0, 3),
    "of several kinds": [None, "a", 3],
    "categories": pd.Categorical(["a", "b", "a"]),
    "complex": [1j, 2.0, 3.0],
}


@pytest.mark.parametrize("kind", COORDINATES)
def test_coordinates_are_the_model_s(kind):
    """nutpie knows few kinds; a trace has those of the model, as PyMC gives them."""
    with pm.Model(coords={"place": COORDINATES[kind]}) as model:
        pm.Normal("x", dims="place")
        prior = pm.sample_prior_predictive(3, random_seed=1).prior
        trace = sample(draws=5, tune=5, chains=2, progressbar=False)
    assert trace.posterior["x"].dims == ("chain", "draw", "place")
    assert trace.posterior["place"].identical(prior["place"])
    assert len(compile_model(model).coords["place"]) == 3


def test_coordinates_that_are_tuples_are_text():
    """PyMC has no traces of them."""
    with pm.Model(coords={"place": [("a", 1), ("b", 2)]}) as model:
        pm.Normal("x", dims="place")
    trace = sample(model, draws=5, tune=5, chains=2, progressbar=False)
    assert list(trace.posterior["place"].values) == ["('a', 1)", "('b', 2)"]


def test_dimensions_without_a_name():
    with pm.Model(coords={"side": ["left", "right"]}) as model:
        x = pm.Normal("x", shape=(3, 2))
        pm.Deterministic("y", 2 * x, dims=(None, "side"))
    trace = sample(model, draws=5, tune=5, chains=2, progressbar=False)
    assert trace.posterior["y"].dims == ("chain", "draw", "y_dim_0", "side")
    assert list(trace.posterior["y_dim_0"]) == [0, 1, 2]
    np.testing.assert_array_equal(trace.posterior["y"], 2 * trace.posterior["x"].values)


def test_dimensions_with_names_in_the_model_itself():
    model = MODELS["sums by name"].build()
    trace = sample(model, draws=5, tune=5, chains=2, progressbar=False)
    assert trace.posterior["mean"].dims == ("chain", "draw", "row")
    x, slope = model["x"].get_value(), trace.posterior["slope"].values
    np.testing.assert_allclose(trace.posterior["mean"], slope.sum(-1)[..., None] * x, rtol=1e-12)


def test_samples_have_the_posterior_s_moments():
    with pm.Model() as model:
        mu = pm.Normal("mu", 0.0, 10.0)
        pm.Normal("y", mu, 2.0, observed=Y)
    trace = sample(model, draws=1500, tune=300, chains=2, seed=11, progressbar=False)
    precision = 30 / 4 + 1 / 100
    draws = trace.posterior["mu"].to_numpy().ravel()
    mean, deviation = Y.sum() / 4 / precision, precision**-0.5
    assert abs(draws.mean() - mean) < 6 * deviation / np.sqrt(800)
    assert draws.std() == pytest.approx(deviation, rel=0.15)


def test_equal_seeds_give_equal_samples():
    options = {"draws": 20, "tune": 20, "chains": 2, "progressbar": False}
    first, second, third = (sample(regression(), seed=seed, **options) for seed in (5, 5, 6))
    assert first.posterior.equals(second.posterior)
    assert not first.posterior.equals(third.posterior)


def groups_of(trace):
    return set(trace.children if isinstance(trace, xarray.DataTree) else trace.groups())


def test_groups_and_names_are_those_of_pymc():
    with regression() as model:
        options = {"compute_convergence_checks": False, "cores": 1, "random_seed": 1}
        options |= {} if NUTPIE_BY_DEFAULT else {"compile_kwargs": {"mode": "FAST_COMPILE"}}
        expected = pm.sample(draws=5, tune=5, chains=2, progressbar=False, **options)
        found = sample(draws=5, tune=5, chains=2, progressbar=False)
    assert type(found) is type(expected)
    assert groups_of(found) == groups_of(expected)
    assert list(found.posterior) == list(expected.posterior)
    names = {"diverging", "energy", "n_steps", "step_size", "energy_error"}
    names |= {"depth", "logp"} if NUTPIE_BY_DEFAULT else {"tree_depth", "lp", "acceptance_rate"}
    assert names <= set(found.sample_stats)
    assert names <= set(expected.sample_stats)
    for group in ("observed_data", "constant_data"):
        assert found[group].equals(expected[group])
        assert found[group].attrs.keys() == expected[group].attrs.keys()
    for name, each in expected.posterior.items():
        assert found.posterior[name].dims == each.dims
        assert found.posterior[name].shape == each.shape
        assert found.posterior[name].dtype == model[name].dtype
    assert found.posterior.attrs["tuning_steps"] == 5
    assert found.posterior.attrs["sampling_time"] > 0
    del model


def test_warmup_is_kept_if_wanted():
    trace = sample(regression(), draws=5, tune=10, chains=2, progressbar=False, discard_tuned_samples=False)
    assert {"warmup_posterior", "warmup_sample_stats"} <= groups_of(trace)
    assert trace.warmup_posterior["slope"].shape == (2, 10, 2)
    assert "noise_log__" not in trace.warmup_posterior


def test_variables_are_chosen():
    trace = sample(regression(), draws=5, tune=5, chains=2, progressbar=False, var_names=["slope"])
    assert set(trace.posterior) == {"slope"}


def test_a_failing_check_is_a_divergence_and_no_crash():
    with pm.Model() as model:
        scale = pm.Normal("scale", 1.0, 1.0)
        pm.Normal("y", 0.0, scale, observed=[0.1, -0.2])
    trace = sample(model, draws=20, tune=20, chains=2, seed=2, progressbar=False)
    assert np.all(trace.posterior["scale"] > 0)


def of_scale(scale, **data):
    with pm.Model() as model:
        pm.Normal("y", pm.Normal("mu", shape=3)[[0, 1]], scale, **data)
    return model


def with_bad_index():
    with pm.Model() as model:
        effect, group = pm.Normal("effect", shape=3), pm.Data("group", np.array([0, 3]))
        pm.Normal("y", effect[group], 1.0, observed=[0.0, 1.0])
    return model


def with_infinite_derivative():
    with pm.Model() as model:
        mu, large = pm.Normal("mu"), pm.Normal("large")
        pm.Potential("p", pt.arctan(pt.exp(1000.0 + large)) + mu)
    return model


def with_a_variable_of_no_effect():
    with pm.Model() as model:
        mu, fixed = pm.Normal("mu"), pm.Flat("fixed", initval=0.0)
        pm.Potential("p", pt.sqrt(fixed * 0) + mu)  # PyTensor cancels the zero
    return model


REASONS = {
    "a term that is no number": (
        lambda: of_scale(1.0, observed=np.array([np.inf, 0.0])),
        SamplingError,
        r"not finite.*: y: -inf\. The point is \{'mu'",
    ),
    "a derivative": (with_infinite_derivative, SamplingError, "derivative is not finite: that by large"),
    "no derivative": (
        with_a_variable_of_no_effect,
        SamplingError,
        "derivative of the log-density by fixed is zero where chains begin, .*: remove",
    ),
    "a parameter": (lambda: of_scale(-1.0, observed=np.zeros(2)), ParameterValueError, r"(?s)sigma > 0.* at y_logprob"),
    "an index": (with_bad_index, IndexError, r"(?s)index 3 is out of bounds.*effect\[group\]"),
    "no variables": (lambda: pm.Model(), SamplingError, "no free variables"),
}
"""Models that cannot be sampled: the error that says why."""


@pytest.mark.parametrize("name", REASONS)
def test_why_there_is_no_point_to_begin_with(name):
    build, error, message = REASONS[name]
    with pytest.raises(error, match=message):
        sample(build(), draws=5, tune=5, chains=1, cores=1, progressbar=False)


def test_unknown_names_and_options():
    options = {"draws": 5, "tune": 0, "chains": 1, "progressbar": False}
    with pytest.raises(ValueError, match="nothing: not among the variables larger, mean, noise, positive, slope"):
        sample(regression(), var_names=["nothing"], **options)
    with pytest.raises(TypeError, match="one mapping"):
        sample(regression(), initvals=[{"slope": [0.0, 1.0]}], **options)
    with pytest.raises(TypeError, match=r"tree_size.*options of pm.sample and of nutpie"):
        sample(regression(), tree_size=1, **options)
    assert sample(regression(), **options).posterior["slope"].shape == (1, 5, 2)


@pytest.mark.parametrize(
    ("blas_cores", "cores", "chains", "threads"),
    [("auto", 2, 4, 1), ("auto", 4, 2, 2), (8, 4, 4, 2), (1, 4, 4, 1), ("auto", 1, 1, 1)],
)
def test_threads_of_the_blas(monkeypatch, blas_cores, cores, chains, threads):
    seen, draw = [], sampling.drawn

    def spy(compiled, model, **options):
        seen.extend(each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas")
        return draw(compiled, model, **options)

    monkeypatch.setattr(sampling, "drawn", spy)
    options = {"draws": 5, "tune": 5, "progressbar": False}
    with threadpool_limits(3, user_api="blas"):
        sample(regression(), cores=cores, blas_cores=blas_cores, chains=chains, **options)
    assert set(seen) == {threads}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"cores": 0}, ValueError, "cores is a whole number of at least 1, not 0"),
        ({"cores": "2"}, ValueError, "cores is a whole number"),
        ({"chains": 0}, ValueError, "chains is a whole number"),
        ({"tune": None}, ValueError, "tune is a whole number of at least 0, not None"),
        ({"tune": -1}, ValueError, "tune is a whole number"),
        ({"save_warmup": True}, TypeError, "give discard_tuned_samples"),
        ({"blocking": False}, TypeError, "nutpie.sample of compile_model takes it"),
    ],
)
def test_arguments_are_checked(options, error, message):
    with pytest.raises(error, match=message):
        sample(regression(), progressbar=False, **options)


def test_numbers_of_numpy_are_numbers():
    trace = sample(regression(), draws=5, tune=5, chains=np.int64(2), cores=np.int64(8), seed=1, progressbar=False)
    assert trace.posterior.sizes["chain"] == 2


def test_blas_cores_are_a_number():
    with pytest.raises(ValueError, match="a number of threads, 'auto' or None, not 0"):
        sample(regression(), blas_cores=0, progressbar=False)


def test_variables_without_translation_can_be_left_out():
    with regression() as model:
        begin = pt.constant(0.0, dtype="float64")
        step = lambda x, s: (x + s, until(x + s > 10))  # noqa: E731
        sums = pytensor.scan(step, model["mean"], begin, return_updates=False)
        pm.Deterministic("sum", sums[-1])
    options = {"draws": 5, "tune": 5, "chains": 1, "progressbar": False}
    with pytest.raises(NotImplementedError, match="a loop that ends when a condition holds") as found:
        sample(model, **options)
    advice, where, alternative = found.value.__notes__
    assert '"mode": "NUMBAGRAPH"' in advice
    assert "test_sample.py" in where
    assert "var_names" in alternative
    assert set(sample(model, var_names=["slope"], **options).posterior) == {"slope"}


def funnel():
    with pm.Model() as model:
        width = pm.Normal("width", 0.0, 3.0)
        pm.Normal("narrow", 0.0, pt.exp(width / 2), shape=9)
        pm.Deterministic("doubled", width * 2)
    return model


def test_what_pymc_says_of_a_trace_is_said(caplog):
    caplog.set_level(logging.INFO, logger="pymc.stats.convergence")
    options = {"draws": 200, "tune": 100, "chains": 4, "seed": 1, "progressbar": False}
    model = funnel()
    trace = sample(model, **options)
    count = int(trace.sample_stats["diverging"].sum())
    assert count > 0
    expected = [each.message for each in run_convergence_checks(trace, model)]
    assert caplog.messages == expected
    assert any(f"{count} divergence" in each for each in expected)
    assert any("rhat" in each for each in expected)
    caplog.clear()
    sample(model, var_names=["doubled"], **options)
    assert caplog.messages == expected[:1]
    caplog.clear()
    sample(model, compute_convergence_checks=False, **options)
    assert caplog.messages == []


def test_dimensions_beside_unconstrained_draws():
    with pm.Model(coords={"side": ["left", "right"]}) as model:
        pm.Deterministic("sum", pm.HalfNormal("x", dims="side") + pm.Normal("y", shape=2), dims="side")
    options = {"draws": 10, "tune": 10, "chains": 1, "seed": 1, "progressbar": False, "store_unconstrained": True}
    trace = sample(model, compute_convergence_checks=False, **options)
    assert trace.posterior["sum"].dims == trace.posterior["x"].dims == ("chain", "draw", "side")
    assert list(trace.posterior["side"].values) == ["left", "right"]
    drawn = trace.sample_stats["unconstrained_draw"]
    assert drawn.dims == ("chain", "draw", "unconstrained_parameter")
    names = list(drawn["unconstrained_parameter"].values)
    np.testing.assert_allclose(np.exp(drawn[0, :, names.index("x_log___0")]), trace.posterior["x"][0, :, 0])
