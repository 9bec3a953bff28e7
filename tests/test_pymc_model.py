"""`compile_model` and `sample`: what nutpie takes, and what PyMC gives."""

import ctypes
import dataclasses
import datetime
import doctest
import inspect
import logging
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest

pm = pytest.importorskip("pymc")
nutpie = pytest.importorskip("nutpie")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
import xarray  # noqa: E402
from nutpie import compile_pymc  # noqa: E402
from pymc.exceptions import SamplingError  # noqa: E402
from pymc.initial_point import make_initial_point_fn  # noqa: E402
from pymc.logprob.utils import ParameterValueError  # noqa: E402
from pymc.stats.convergence import run_convergence_checks  # noqa: E402
from pytensor.compile.builders import OpFromGraph  # noqa: E402
from threadpoolctl import threadpool_info, threadpool_limits  # noqa: E402

from numbagraph.pymc_bridge import (  # noqa: E402
    compile_logp,
    compile_model,
    importer,
    logp,
    model,
    sample,
    sampling,
)
from numbagraph.pymc_bridge.initial_point import InitialPoint  # noqa: E402
from tests.pymc_models import MODELS  # noqa: E402

NUTPIE_BY_DEFAULT = inspect.signature(pm.sample).parameters["nuts_sampler"].default is None
"""Whether `pm.sample` takes nutpie where it can: then results have the names that nutpie gives them."""
rng = np.random.default_rng(7)
Y = rng.normal(1.0, 2.0, size=30)

EXPAND = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)

DENSITY = ctypes.CFUNCTYPE(
    ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)


def regression(observed=Y):
    with pm.Model(coords={"row": range(30), "side": ["left", "right"]}) as model:
        x = pm.Data("x", np.linspace(-1.0, 1.0, 30), dims="row") * pm.Data("unit", 1.0)
        slope = pm.Normal("slope", 0.0, 2.0, dims="side")
        noise = pm.HalfNormal("noise", 3.0)
        mean = pm.Deterministic("mean", slope[0] + slope[1] * x, dims="row")
        pm.Deterministic("positive", slope > 0, dims="side")
        pm.Deterministic("larger", pt.argmax(slope))
        pm.Normal("y", mean, noise, observed=observed, dims="row")
    return model


def expand(compiled, x):
    out = np.full(compiled.n_expanded, np.nan)
    x = np.ascontiguousarray(x, dtype=float)
    address, record = compiled.compiled_expand_func.address, compiled.user_data.ctypes.data
    return EXPAND(address)(x.size, out.size, x.ctypes.data, out.ctypes.data, record), out


def test_expanded_variables_are_those_of_the_model():
    model = regression()
    compiled = compile_model(model)
    x = rng.normal(size=3)
    status, out = expand(compiled, x)
    assert status == 0
    names, slices, shapes = compiled.shape_info
    assert {"mean", "positive", "larger"} <= set(names)
    values = dict(zip(model.initial_point(), np.split(x, [2]), strict=True))
    values["noise_log__"] = values["noise_log__"][0]
    for name, where, shape in zip(names, slices, shapes, strict=True):
        variable = next(each for each in model.unobserved_value_vars if each.name == name)
        given = {each: values[each.name] for each in model.value_vars}
        function = pytensor.function(list(given), variable, on_unused_input="ignore", mode="FAST_COMPILE")
        expected = function(*given.values())
        assert np.shape(expected) == shape
        np.testing.assert_allclose(out[where].reshape(shape), expected, rtol=1e-12, err_msg=name)


def test_wrong_sizes_are_refused():
    compiled = compile_model(regression())
    assert expand(compiled, np.zeros(4))[0] == -1


def test_names_shapes_coordinates_and_dimensions():
    compiled = compile_model(regression())
    assert compiled.n_dim == 3
    assert compiled.shapes == {
        "slope": (2,), "noise_log__": (), "noise": (), "mean": (30,), "positive": (2,), "larger": (),
    }  # fmt: skip
    assert list(compiled.coords["side"]) == ["left", "right"]
    assert list(compiled.coords["unconstrained_parameter"]) == ["slope_0", "slope_1", "noise_log__"]
    assert compiled.dims["mean"] == ("row",)


def test_nutpie_takes_what_it_was_written_for():
    """nutpie's class is private: this says when a release changes it."""
    fields = {field.name for field in dataclasses.fields(compile_pymc.CompiledPyMCModel)}
    later = {"reparameterized_names", "shared_var_keys"}
    assert fields - later == {
        "dims", "compiled_logp_func", "compiled_expand_func", "initial_point_func", "shared_data", "user_data",
        "n_expanded", "shape_info", "logp_func", "expand_func", "_n_dim", "_shapes", "_coords", "_transform_adapt_args",
    }  # fmt: skip
    model = regression()
    compiled = compile_model(model)
    assert {name: tuple(shape) for name, shape in compile_pymc._compute_shapes(model).items()} == compiled.shapes
    hidden = [[]] if later <= fields else []
    dims, coordinates = compile_pymc._prepare_dims_and_coords(model, compiled.shape_info, *hidden)
    assert {name: tuple(each) for name, each in dims.items()} == compiled.dims
    assert getattr(compiled, "reparameterized_names", ["noise_log__"]) == ["noise_log__"]
    assert {name: list(each) for name, each in coordinates.items()} == {
        name: list(each) for name, each in compiled.coords.items()
    }


def test_kept_variables():
    assert set(compile_model(regression(), var_names=["noise"]).shapes) == {"slope", "noise_log__", "noise"}
    with pytest.raises(ValueError, match="nothing: not among the variables"):
        compile_model(regression(), var_names=["nothing"])


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


def test_initial_points_need_no_compiler():
    """What is inside of ops and loops would be compiled by PyTensor's C or Numba compiler: a wait of many seconds."""
    with pm.Model() as model:
        pm.LKJCholeskyCov("c", n=3, eta=2.0, sd_dist=pm.Exponential.dist(1.0))
        pm.ZeroSumNormal("z", shape=3)
    function, _ = InitialPoint(model, [each.name for each in model.value_vars]).function
    assert not any(isinstance(each.op, OpFromGraph) for each in function.maker.fgraph.apply_nodes)


def test_the_initial_point_is_pymc_s():
    model = regression()
    compiled = compile_model(model)
    function = make_initial_point_fn(model=model, jitter_rvs=set(model.free_RVs))
    for seed in (1, 2):
        expected = np.concatenate([np.ravel(each) for each in function(seed).values()])
        np.testing.assert_allclose(compiled.initial_point_func(seed), expected, rtol=1e-13)
    points = []
    threads = [threading.Thread(target=lambda: points.append(compiled.initial_point_func(2))) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert all(np.array_equal(each, points[0]) for each in points)


def test_chains_begin_where_they_are_told():
    compiled = compile_model(regression(), initial_points={"slope": np.array([3.0, 4.0])}, jitter=False)
    np.testing.assert_allclose(compiled.initial_point_func(0)[:2], [3.0, 4.0])


def test_data_are_replaced():
    compiled = compile_model(regression(), freeze=False)
    moved = compiled.with_data(x=np.ones(30))
    x = np.array([0.5, 2.0, 0.0])
    before, after = expand(compiled, x)[1], expand(moved, x)[1]
    where = compiled.shape_info[1][compiled.shape_info[0].index("mean")]
    np.testing.assert_allclose(after[where], 2.5)
    np.testing.assert_array_equal(before, expand(compiled, x)[1])
    with pytest.raises(KeyError):
        compiled.with_data(unknown=1.0)


def of_any_length():
    with pm.Model(coords={"side": ["left", "right"]}) as model:
        x, weight = pm.Data("x", np.linspace(-1.0, 1.0, 30)), pm.Data("weight", 2.0)
        known = pm.Data("known", Y, shape=(30,))
        slope = pm.Normal("slope", 0.0, weight, dims="side")
        pm.Deterministic("mean", slope[0] + slope[1] * x)
        pm.Normal("y", slope.sum() * x, 1.0, observed=pm.Data("seen", Y))
        pm.Normal("z", slope[0], 1.0, observed=known)
    return model


def test_data_that_change_shapes_are_refused():
    """Before native code writes more than there is room for, or reads more than there is."""
    compiled = compile_model(of_any_length(), freeze=False)
    for length in (20, 4000):
        with pytest.raises(ValueError, match=rf"'mean' would have the shape \({length},\) instead of \(30,\)"):
            compiled.with_data(x=np.ones(length), seen=np.ones(length))
    for length in (29, 31):
        with pytest.raises(ValueError, match=r"'known' must have the shape \(30,\)"):
            compiled.with_data(known=np.ones(length))
    with pytest.raises(ValueError, match="rank 0"):
        compiled.with_data(weight=np.ones(1))
    assert expand(compiled.with_data(weight=3.0), np.zeros(2))[0] == 0


@pytest.mark.parametrize("data", [{"x": np.ones(4000), "seen": np.ones(4000)}, {"known": np.ones(29)}], ids=list)
def test_native_code_refuses_them_too(data):
    compiled = compile_model(of_any_length(), freeze=False)
    with_data = super(type(compiled), compiled).with_data(**data)
    if "x" in data:
        assert expand(with_data, np.zeros(2))[0] == -2
    else:
        x, gradient, value = np.zeros(2), np.zeros(2), np.zeros(1)
        arrays = [each.ctypes.data for each in (x, gradient, value)]
        assert DENSITY(compiled.compiled_logp_func.address)(2, *arrays, with_data.user_data.ctypes.data) == 1


def test_data_that_do_not_fit_each_other_are_refused():
    with pm.Model() as model:
        x = pm.Data("x", np.zeros(4))
        pm.Normal("y", pm.Normal("slope") * x, 1.0, observed=pm.Data("seen", np.zeros(4)))
    compiled = compile_model(model, freeze=False)
    assert compiled.with_data(x=np.zeros(5), seen=np.zeros(5)).shared_data["x"].shape == (5,)
    with pytest.raises(ValueError, match=r"5.*4|4.*5"):
        compiled.with_data(seen=np.zeros(5))


def test_frozen_data_are_not_replaced():
    with pytest.raises(KeyError, match="freeze=False"):
        compile_model(regression()).with_data(x=np.ones(30))


def test_discrete_variables_are_refused():
    with pm.Model() as model:
        pm.Poisson("count", 2.0)
    with pytest.raises(ValueError, match=r"count: discrete .* step methods"):
        compile_model(model)


def test_nutpie_samples_it():
    compiled = compile_model(regression())
    trace = nutpie.sample(compiled, draws=100, tune=200, chains=2, cores=2, seed=3, progress_bar=False)
    assert trace.posterior["mean"].dims == ("chain", "draw", "row")


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
        mu, fixed = pm.Normal("mu"), pm.Flat("fixed", initval=0.0)
        pm.Potential("p", pt.sqrt(fixed * 0) + mu)
    return model


REASONS = {
    "a term that is no number": (
        lambda: of_scale(1.0, observed=np.array([np.inf, 0.0])),
        SamplingError,
        r"not finite.*: y: -inf\. The point is \{'mu'",
    ),
    "a derivative": (with_infinite_derivative, SamplingError, "derivative is not finite: that by fixed"),
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
    with pytest.raises(TypeError, match=r"random_seed.*nutpie's options; seed is"):
        sample(regression(), random_seed=1, **options)
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


@pytest.mark.parametrize("value", [10**12, 1.7, 1j])
def test_data_that_the_dtype_cannot_hold_are_refused(value):
    with pm.Model() as model:
        index = pm.Data("index", np.zeros(3, np.int32))
        pm.Normal("y", pm.Normal("x", shape=2)[index], observed=np.zeros(3))
    compiled = compile_model(model, freeze=False)
    assert compiled.with_data(index=np.ones(3)).shared_data["index"].dtype == np.int32
    with pytest.raises(ValueError, match="'index' holds int32"):
        compiled.with_data(index=np.full(3, value))


def test_data_named_like_arrays_of_the_model_are_refused():
    with pm.Model() as model:
        data = pm.Data("logp 0", np.full((3, 3), 7.0))
        pm.Potential("p", pt.sum(pm.Normal("x", shape=3) @ (data + np.arange(9.0).reshape(3, 3))))
    with pytest.raises(ValueError, match="data cannot be called 'logp 0'"):
        compile_logp(model, freeze=False)


def test_blas_cores_are_a_number():
    with pytest.raises(ValueError, match="a number of threads, 'auto' or None, not 0"):
        sample(regression(), blas_cores=0, progressbar=False)


def test_variables_without_translation_can_be_left_out():
    with regression() as model:
        begin = pt.constant(0.0, dtype="float64")
        sums = pytensor.scan(lambda x, s: x + s, model["mean"], begin, return_updates=False)
        pm.Deterministic("sum", sums[-1])
    options = {"draws": 5, "tune": 5, "chains": 1, "progressbar": False}
    with pytest.raises(NotImplementedError, match=r"loop \(Scan\)") as found:
        sample(model, **options)
    advice, where, alternative = found.value.__notes__
    assert '"mode": "NUMBAGRAPH"' in advice
    assert "test_pymc_model.py" in where
    assert "var_names" in alternative
    assert set(sample(model, var_names=["slope"], **options).posterior) == {"slope"}


def test_the_density_is_that_of_compile_logp():
    model = regression()
    compiled = compile_model(model)
    x = rng.normal(size=3)
    assert compiled.logp_func.entry(x)[0] == compile_logp(model)(x)[0]


@pytest.mark.parametrize("module", [importer, logp, model, sampling])
def test_examples_of_docstrings(module):
    results = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert results.attempted
    assert not results.failed


def test_deterministic_functions_of_data_alone():
    with pm.Model() as model:
        data = pm.Data("data", Y)
        pm.Deterministic("total", pt.sum(data))
        pm.Normal("x")
    status, out = expand(compile_model(model), np.array([0.5]))
    assert status == 0
    np.testing.assert_allclose(out, [0.5, Y.sum()])


BEYOND_PYMC = """
import sys, pymc
before = {*sys.modules}
import numbagraph.pymc_bridge
print(*{name.partition(".")[0] for name in {*sys.modules} - before} & {"arviz_base", "nutpie", "numba", "scipy"})
"""


def test_what_takes_long_to_import_is_imported_when_it_is_used():
    command = [sys.executable, "-c", BEYOND_PYMC]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


# ---- warnings ----


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


# ---- what changes, and has no name ----


def test_shared_variables_without_names():
    first, second = (pytensor.shared(np.array(each)) for each in ([1.0, 2.0], [3.0, 6.0]))
    with pm.Model() as model:
        pm.Normal("x", first + second, 1.0, shape=2)
    density = compile_logp(model, freeze=False)
    for value in ([1.0, 2.0], [0.0, 0.5]):
        first.set_value(np.array(value))
        np.testing.assert_allclose(density(np.zeros(2))[1], np.add(value, [3.0, 6.0]))
    compiled = compile_model(model, freeze=False)
    assert set(compiled.shared_data) == {"shared variable 0", "shared variable 1"}


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
