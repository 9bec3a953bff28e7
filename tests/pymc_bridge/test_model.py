"""What `compile_model` gives nutpie: names, shapes, first points, and native functions."""

import dataclasses
import doctest
import subprocess
import sys
import threading

import numpy as np
import pytest

pm = pytest.importorskip("pymc")
nutpie = pytest.importorskip("nutpie")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from nutpie import compile_pymc  # noqa: E402
from pymc.initial_point import make_initial_point_fn  # noqa: E402
from pytensor.compile.builders import OpFromGraph  # noqa: E402

from numbagraph.pymc_bridge import compile_logp, compile_model, importer, logp, model  # noqa: E402
from numbagraph.pymc_bridge.sampling import sample  # noqa: E402
from numbagraph.pymc_bridge.sampling.initial_point import InitialPoint  # noqa: E402
from tests.support.pymc_regression import Y, expand, regression, rng  # noqa: E402


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


def test_discrete_variables_are_refused():
    with pm.Model() as model:
        pm.Poisson("count", 2.0)
    with pytest.raises(ValueError, match=r"count: discrete .* step methods"):
        compile_model(model)


def test_nutpie_samples_it():
    compiled = compile_model(regression())
    trace = nutpie.sample(compiled, draws=100, tune=200, chains=2, cores=2, seed=3, progress_bar=False)
    assert trace.posterior["mean"].dims == ("chain", "draw", "row")


def test_the_density_is_that_of_compile_logp():
    model = regression()
    compiled = compile_model(model)
    x = rng.normal(size=3)
    assert compiled.logp_func.entry(x)[0] == compile_logp(model)(x)[0]


@pytest.mark.parametrize("module", [importer, logp, model, sample])
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
