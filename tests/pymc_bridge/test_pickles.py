"""Compiled log-densities and models are pickled, copied, and sent to other processes."""

import copy
import multiprocessing
import pickle
import threading

import cloudpickle
import numpy as np
import pytest

pm = pytest.importorskip("pymc")
nutpie = pytest.importorskip("nutpie")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pytensor.graph.basic import Apply  # noqa: E402
from pytensor.graph.op import Op  # noqa: E402

from numbagraph.pymc_bridge import compile_logp, compile_model, to_pytensor  # noqa: E402
from tests.support.pymc_regression import regression  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::numbagraph.pymc_bridge.FallbackWarning"),
    pytest.mark.filterwarnings("ignore:.* should implement .pullback.:FutureWarning"),
    pytest.mark.filterwarnings("ignore:The number of samples is too small"),
]
X = np.arange(6.0)
FEW = {"draws": 15, "tune": 15, "chains": 2, "seed": 1, "progress_bar": False}


class Squared(Op):
    def make_node(self, x):
        return Apply(self, [pt.as_tensor(x)], [pt.dscalar()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = np.asarray(inputs[0]) ** 2

    def grad(self, inputs, gradients):
        return [2 * inputs[0] * gradients[0]]


def with_data():
    with pm.Model(coords={"row": list("abcdef")}) as model:
        x = pm.Data("x", X, dims="row")
        slope = pm.HalfNormal("slope")
        pm.Deterministic("line", slope * x, dims="row")
        pm.Normal("y", slope * x, 1.0, observed=X, dims="row")
    return model


def with_shared():
    shared = pytensor.shared(X, name="shared")
    with pm.Model() as model:
        pm.Normal("y", pm.Normal("slope") * shared, 1.0, observed=X)
    model.shared = shared
    return model


def with_lambdas():
    with pm.Model() as model:
        mu = pm.Normal("mu")
        pm.CustomDist("y", mu, logp=lambda value, mu: -((value - mu) ** 2), observed=X)
        pm.Potential("p", to_pytensor(lambda x: np.tanh(x))(mu))
    return model


def with_python():
    with pm.Model() as model:
        pm.Potential("p", -Squared()(pm.Normal("mu")))
    return model


MODELS = {
    "regression": regression,
    "data": with_data,
    "a shared variable": with_shared,
    "lambdas": with_lambdas,
    "Python": with_python,
}
WAYS = {
    "pickle": lambda each: pickle.loads(pickle.dumps(each)),
    "cloudpickle": lambda each: pickle.loads(cloudpickle.dumps(each)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    "twice": lambda each: pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(each)))),
}


def same_density(first, second):
    x = np.linspace(0.2, 0.7, first.point.size)
    for found, expected in zip(second(x), first(x), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("freeze", [True, False])
def test_densities(name, way, freeze):
    compiled = compile_logp(MODELS[name](), freeze=freeze)
    again = WAYS[way](compiled)
    same_density(compiled, again)
    assert repr(again) == repr(compiled)
    if name != "Python":  # of which there are two in one process
        assert again.function.special.key == compiled.function.special.key  # so that the code is found on disk


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("freeze", [True, False])
def test_models(name, way, freeze):
    compiled = compile_model(MODELS[name](), freeze=freeze)
    again = WAYS[way](compiled)
    assert again.shapes == compiled.shapes
    assert all(again.coords[name].equals(each) for name, each in compiled.coords.items())
    found, expected = (nutpie.sample(each, **FEW).posterior for each in (again, compiled))
    assert found.equals(expected)


def test_no_gradient():
    compiled = compile_logp(with_data(), gradient=False)
    again = WAYS["pickle"](compiled)
    assert not again.has_gradient
    assert again(np.ones(1)) == compiled(np.ones(1))


def test_options_are_kept():
    options = {"var_names": ["slope"], "initial_points": {"slope": 3.0}, "jitter": False}
    compiled = compile_model(with_data(), **options)
    again = WAYS["pickle"](compiled)
    assert set(again.shapes) == set(compiled.shapes) == {"slope_log__", "slope"}
    assert again.initial_point_func(1) == compiled.initial_point_func(1) == np.log(3.0)


@pytest.mark.parametrize("build", [with_data, with_shared])
def test_constants_are_those_of_the_compilation(build):
    """Though the data have changed since."""
    model = build()
    density, compiled = compile_logp(model), compile_model(model)
    if build is with_data:
        pm.set_data({"x": X + 1}, model=model)
    else:
        model.shared.set_value(X + 1)
    same_density(density, WAYS["pickle"](density))
    assert nutpie.sample(WAYS["pickle"](compiled), **FEW).posterior.equals(nutpie.sample(compiled, **FEW).posterior)


def test_data_are_those_of_now():
    model = with_data()
    density, compiled = compile_logp(model, freeze=False), compile_model(model, freeze=False)
    pm.set_data({"x": X + 1}, model=model)
    again = WAYS["pickle"](density)
    same_density(density, again)
    pm.set_data({"x": X}, model=model)
    assert density(np.zeros(1))[0] != again(np.zeros(1))[0]
    changed = compiled.with_data(x=X + 2)
    found, expected = (nutpie.sample(each, **FEW).posterior for each in (WAYS["pickle"](changed), changed))
    assert found.equals(expected)
    assert not found.equals(nutpie.sample(compiled, **FEW).posterior)
    again = WAYS["pickle"](compiled).with_data(x=X + 2)
    assert nutpie.sample(again, **FEW).posterior.equals(expected)


def test_minibatches():
    with pm.Model() as model:
        batch = pm.Minibatch(X, batch_size=2)
        pm.Normal("y", pm.Normal("mu"), 1.0, observed=batch, total_size=6)
    compiled = compile_logp(model)
    again = WAYS["pickle"](compiled)
    for _ in range(4):
        same_density(compiled, again)


def test_a_model_that_has_changed_since_is_refused():
    model = with_python()
    density, compiled = compile_logp(model), compile_model(model)
    with model:
        pm.Potential("later", model["mu"] ** 3)
    for each in (density, compiled):
        with pytest.raises(pickle.PicklingError, match="compile it again"):
            pickle.dumps(each)


def test_what_cannot_be_pickled_is_refused_in_words():
    op = Squared()
    op.lock = threading.Lock()
    with pm.Model() as model:
        pm.Potential("p", -op(pm.Normal("mu")))
    with pytest.raises(
        pickle.PicklingError, match=r"cannot be pickled: cannot pickle '_thread.lock'.*compile it there"
    ):
        pickle.dumps(compile_logp(model))


def test_a_warning_is_given_once(recwarn):
    recwarn.clear()
    again = WAYS["pickle"](compile_logp(with_python()))
    assert len({str(each.message) for each in recwarn}) == len(recwarn) <= 1
    assert again(np.ones(1))[0] < 0


def density_at(compiled, x):
    return compiled(x)


def mean_of(compiled, seed):
    return float(nutpie.sample(compiled, **{**FEW, "seed": seed}).posterior["slope"].mean())


def test_processes_that_are_spawned():
    compiled = compile_logp(regression())
    points = [np.linspace(0.1, each, compiled.point.size) for each in (0.3, 0.6)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.starmap(density_at, [(compiled, x) for x in points])
    for (value, gradient), x in zip(found, points, strict=True):
        assert value == compiled(x)[0]
        np.testing.assert_array_equal(gradient, compiled(x)[1])


def test_joblib_and_loky():
    joblib = pytest.importorskip("joblib")
    loky = pytest.importorskip("joblib.externals.loky")
    compiled = compile_model(with_data())
    expected = [mean_of(compiled, seed) for seed in (1, 2)]
    assert joblib.Parallel(n_jobs=2)(joblib.delayed(mean_of)(compiled, seed) for seed in (1, 2)) == expected
    density, x = compile_logp(with_lambdas()), np.array([0.3])
    future = loky.get_reusable_executor(max_workers=2).submit(lambda: density(x)[0])
    assert future.result() == density(x)[0]
    loky.get_reusable_executor().shutdown(wait=True)
