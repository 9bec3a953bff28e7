"""Python ops that declare other shapes than they give, which PyTensor does not look at."""

import numpy as np
import pytest

pm = pytest.importorskip("pymc")

import pytensor.tensor as pt  # noqa: E402
from pytensor.graph.basic import Apply  # noqa: E402
from pytensor.graph.op import Op  # noqa: E402

from numbagraph.pymc_bridge import UnsupportedOp, compile_logp, compile_model, sample  # noqa: E402
from tests.support.modes import PLAIN  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::numbagraph.pymc_bridge.FallbackWarning"),
    pytest.mark.filterwarnings("ignore:.* should implement .pullback.:FutureWarning"),
    pytest.mark.filterwarnings("ignore:The number of samples is too small"),
]
TIMES = 5
WEIGHTS = np.arange(float(TIMES))
X = np.array([0.3, -0.2])


class Slope(Op):
    """The cotangent of `Line` by its parameters. Its type is that of its last operand, which is longer."""

    def make_node(self, x, g):
        x, g = pt.as_tensor(x), pt.as_tensor(g)
        return Apply(self, [x, g], [g.type()])

    def perform(self, node, inputs, outputs):
        _, g = inputs
        outputs[0][0] = np.array([np.sum(g * WEIGHTS), np.sum(g)])


class Line(Op):
    """A curve of two parameters at some times, declared with its length."""

    length = TIMES

    def make_node(self, x):
        x = pt.as_tensor(x)
        return Apply(self, [x], [pt.tensor(dtype="float64", shape=(self.length,))])

    def perform(self, node, inputs, outputs):
        outputs[0][0] = inputs[0][0] * WEIGHTS + inputs[0][1]

    def grad(self, inputs, gradients):
        return [Slope()(inputs[0], gradients[0])]


class LikeItsOperand(Line):
    """As in a published model of Lotka and Volterra."""

    def make_node(self, x):
        x = pt.as_tensor(x)
        return Apply(self, [x], [x.type()])


class OfNoLength(Line):
    length = None


class Twice(LikeItsOperand):
    def grad(self, inputs, gradients):
        return [2.0 * Slope()(inputs[0], gradients[0]) / 2.0]


class WrongSlope(Slope):
    def perform(self, node, inputs, outputs):
        outputs[0][0] = np.zeros(3)


class WithWrongSlope(Line):
    def grad(self, inputs, gradients):
        return [WrongSlope()(inputs[0], gradients[0])]


class WithWrongGraph(Line):
    def grad(self, inputs, gradients):
        return [gradients[0]]


class TooShort(Line):
    def perform(self, node, inputs, outputs):
        outputs[0][0] = np.zeros(3)


class Unsolved(OfNoLength):
    def perform(self, node, inputs, outputs):
        raise ArithmeticError("no solution")


def model_of(op):
    with pm.Model() as model:
        curve = op(pm.Normal("x", shape=2))
        pm.Deterministic("curve", curve)
        pm.Potential("p", -pt.sum((curve - 1.0) ** 2))
    return model


VALUE = -np.sum((X[0] * WEIGHTS + X[1] - 1) ** 2)
RESIDUALS = -2 * (X[0] * WEIGHTS + X[1] - 1)
SLOPE = np.array([np.sum(RESIDUALS * WEIGHTS), np.sum(RESIDUALS)]) - X


@pytest.mark.parametrize("op", [Line, LikeItsOperand, OfNoLength, Twice])
def test_values_and_derivatives(op):
    value, gradient = compile_logp(model_of(op()))(X)
    np.testing.assert_allclose(value, VALUE + np.sum(-0.5 * X**2 - 0.5 * np.log(2 * np.pi)), rtol=1e-12)
    np.testing.assert_allclose(gradient, SLOPE, rtol=1e-12)


@pytest.mark.parametrize("op", [LikeItsOperand, OfNoLength])
def test_they_are_pytensor_s(op):
    model = model_of(op())
    value, gradient = compile_logp(model)(X)
    np.testing.assert_allclose(value, model.compile_logp(mode=PLAIN)({"x": X}), rtol=1e-12)
    np.testing.assert_allclose(gradient, model.compile_dlogp(mode=PLAIN)({"x": X}), rtol=1e-12)


@pytest.mark.parametrize("op", [Line, LikeItsOperand, OfNoLength])
def test_they_are_sampled(op):
    assert compile_model(model_of(op())).shapes["curve"] == (TIMES,)
    trace = sample(model_of(op()), draws=10, tune=10, chains=1, progressbar=False, compute_convergence_checks=False)
    x = trace.posterior["x"].values
    np.testing.assert_allclose(trace.posterior["curve"], x[..., :1] * WEIGHTS + x[..., 1:], rtol=1e-12)


def test_a_derivative_of_another_shape_names_the_op_and_both_shapes():
    compiled = compile_logp(model_of(WithWrongSlope()))
    with pytest.raises(ValueError, match=r"WrongSlope gave float64\[3\].*its derivative's argument says float64\[2\]"):
        compiled(X)
    with pytest.raises(ValueError, match=r"WithWrongGraph gives a derivative of shape \(5,?\) by 'x'.*is \(2,?\)"):
        compile_logp(model_of(WithWrongGraph()))


def test_a_result_of_another_shape_names_the_op_and_both_shapes():
    compiled = compile_logp(model_of(TooShort()), gradient=False)
    with pytest.raises(ValueError, match=r"TooShort gave float64\[3\], where its type.*float64\[5\]"):
        compiled(X)


def test_an_op_that_fails_where_chains_begin():
    with pytest.raises(UnsupportedOp, match="is not known") as found:
        compile_logp(model_of(Unsolved()))
    assert type(found.value.__cause__) is ArithmeticError
