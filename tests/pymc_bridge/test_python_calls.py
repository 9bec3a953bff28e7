"""Models with ops that are Python alone: native code calls them."""

import warnings

import numpy as np
import pytest

pm = pytest.importorskip("pymc")

import pytensor.tensor as pt  # noqa: E402
from pymc.blocking import DictToArrayBijection  # noqa: E402
from pytensor.compile.ops import wrap_py  # noqa: E402
from pytensor.graph.basic import Apply  # noqa: E402
from pytensor.graph.op import Op  # noqa: E402
from pytensor.tensor.blockwise import Blockwise  # noqa: E402

from numbagraph.pymc_bridge import FallbackWarning, UnsupportedOp, compile_logp, compile_model, sample  # noqa: E402
from tests.support.modes import PLAIN  # noqa: E402

WARNS = pytest.mark.filterwarnings("ignore::numbagraph.pymc_bridge.FallbackWarning")
# PyTensor 3 says so of ops that are written for both versions, PyMC's own among them.
pytestmark = pytest.mark.filterwarnings("ignore:.* should implement .pullback.:FutureWarning")
DATA = np.random.default_rng(0).normal(1.0, 2.0, size=10)


class Score(Op):
    """The derivative of `Density` by the mean."""

    def make_node(self, mean, data):
        return Apply(self, [pt.as_tensor(mean), pt.as_tensor(data)], [pt.dscalar()])

    def perform(self, node, inputs, outputs):
        mean, data = inputs
        outputs[0][0] = np.asarray(np.sum(data - mean) / 4)


class Density(Op):
    """A black box: the log-density of normal numbers, without the constant."""

    calls = 0

    def make_node(self, mean, data):
        return Apply(self, [pt.as_tensor(mean), pt.as_tensor(data)], [pt.as_tensor(data).type()])

    def perform(self, node, inputs, outputs):
        type(self).calls += 1
        mean, data = inputs
        if mean > 1e6:
            raise ArithmeticError("too far")
        outputs[0][0] = -((data - mean) ** 2) / 8

    def grad(self, inputs, gradients):
        return [Score()(*inputs) * gradients[0][0], pt.zeros_like(inputs[1])]


def black_box(op=Density, **options):
    with pm.Model(**options) as model:
        mean = pm.Normal("mean", 0.0, 3.0)
        pm.Potential("y", pt.sum(op()(mean, DATA)))
    return model


def by_pytensor(model, x):
    point = DictToArrayBijection.rmap(DictToArrayBijection.map(model.initial_point())._replace(data=x))
    return model.compile_logp(mode=PLAIN)(point), model.compile_dlogp(mode=PLAIN)(point)


def same_as_pytensor(model, *points):
    compiled = compile_logp(model)
    for x in points:
        value, gradient = compiled(x)
        expected, slope = by_pytensor(model, x)
        np.testing.assert_allclose(value, expected, rtol=1e-10)
        np.testing.assert_allclose(gradient, slope, rtol=1e-8)


@WARNS
def test_a_black_box_with_a_derivative():
    same_as_pytensor(black_box(), np.array([0.3]), np.array([-2.0]))


def test_a_warning_names_the_op_once():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        compile_model(black_box())
    assert {each.category for each in found} == {FallbackWarning}
    assert sorted(str(each.message).split()[2].rstrip(",") for each in found) == ["Density", "Score"]


@WARNS
def test_an_op_is_called_once_an_evaluation():
    compiled = compile_logp(black_box())
    compiled(np.zeros(1))
    before = Density.calls
    compiled(np.ones(1))
    assert Density.calls == before + 1


@WARNS
def test_an_exception_reaches_the_caller():
    compiled = compile_logp(black_box())
    with pytest.raises(ArithmeticError, match="too far") as found:
        compiled(np.array([1e7]))
    assert "in the callback Density" in found.value.__notes__[0]
    assert np.isfinite(compiled(np.zeros(1))[0])


@WARNS
def test_sampling():
    trace = sample(model=black_box(), draws=200, tune=200, chains=2, seed=1, progressbar=False)
    mean = float(trace.posterior["mean"].mean())
    assert abs(mean - DATA.sum() / 4 / (1 / 9 + len(DATA) / 4)) < 0.2


@wrap_py(itypes=[pt.dscalar, pt.dvector], otypes=[pt.dvector])
def scaled(factor, x):
    return factor * x[::-1]


@WARNS
def test_a_function_under_as_op_has_no_derivative():
    with pm.Model() as model:
        factor = pm.Normal("factor")
        pm.Normal("y", scaled(factor, pt.as_tensor(DATA)), 1.0, observed=DATA)
    with pytest.raises(UnsupportedOp, match=r"FromFunctionOp{scaled} has no derivative") as found:
        compile_logp(model)
    assert "gradient=False" in str(found.value.__notes__)
    value = compile_logp(model, gradient=False)(np.array([0.5]))
    np.testing.assert_allclose(value, by_pytensor_value(model, np.array([0.5])))


def by_pytensor_value(model, x):
    point = DictToArrayBijection.rmap(DictToArrayBijection.map(model.initial_point())._replace(data=x))
    return model.compile_logp(mode=PLAIN)(point)


def test_lengths_that_nobody_says():
    with pm.Model() as model:
        data = pm.Data("data", DATA)
        pm.Normal("y", scaled(pm.Normal("factor"), data), 1.0, observed=DATA)
    with pytest.warns(FallbackWarning), pytest.raises(UnsupportedOp, match="is not known") as found:
        compile_logp(model, gradient=False, freeze=False)
    assert "infer_shape" in str(found.value.__notes__)


@WARNS
@pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS:UserWarning")
def test_differential_equations():
    times = np.arange(0.5, 3, 0.5)
    system = pm.ode.DifferentialEquation(
        func=lambda y, t, p: [p[0] * y[0] - y[0] * y[1], y[0] * y[1] - p[1] * y[1]], times=times, n_states=2, n_theta=2
    )
    with pm.Model() as model:
        rates = pm.LogNormal("rates", 0.0, 0.3, shape=2)
        curves = system(y0=[1.0, 0.8], theta=rates)
        pm.Deterministic("curves", curves)
        pm.Normal("y", curves, 0.5, observed=np.ones((len(times), 2)))
    same_as_pytensor(model, np.array([0.1, -0.2]))
    assert compile_model(model).shapes["curves"] == (5, 2)


class Twice(Op):
    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = 2 * inputs[0]

    def infer_shape(self, *arguments):
        return list(arguments[-1])

    def grad(self, inputs, gradients):
        return [2 * gradients[0]]


@WARNS
@pytest.mark.parametrize("freeze", [True, False])
def test_an_op_that_infers_its_shape(freeze):
    with pm.Model() as model:
        data = pm.Data("data", DATA)
        mean = pm.Normal("mean")
        pm.Normal("y", Twice()(mean * data), 1.0, observed=DATA)
    compiled = compile_logp(model, freeze=freeze)
    x = np.array([0.4])
    expected, slope = by_pytensor(model, x)
    np.testing.assert_allclose(compiled(x)[0], expected)
    np.testing.assert_allclose(compiled(x)[1], slope)


@WARNS
def test_an_op_on_batches():
    with pm.Model() as model:
        x = pm.Normal("x", shape=(3, 4))
        pm.Potential("p", pt.sum(Blockwise(Twice(), signature="(n)->(n)")(x) ** 2))
    same_as_pytensor(model, np.arange(12.0) / 10)
