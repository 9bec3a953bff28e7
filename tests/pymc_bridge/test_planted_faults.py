"""The tests of Python ops in models find the faults that are planted here."""

import numpy as np
import pytest

pm = pytest.importorskip("pymc")
nutpie = pytest.importorskip("nutpie")

import pytensor.tensor as pt  # noqa: E402
from pytensor.graph.basic import Apply  # noqa: E402
from pytensor.graph.op import Op  # noqa: E402

from numbagraph.emit.flat_point import ENDED, UNHEARD  # noqa: E402
from numbagraph.pymc_bridge import compile_logp, compile_model  # noqa: E402
from numbagraph.pymc_bridge.python_calls import OpCallback  # noqa: E402
from numbagraph.pymc_bridge.sampling.failures import Failures  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::numbagraph.pymc_bridge.FallbackWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:.* should implement .pullback.:FutureWarning"),
]


class Ends(Op):
    """Zeros, and an exception from the 20th call on."""

    calls = 0

    def make_node(self, x):
        return Apply(self, [pt.as_tensor(x)], [pt.tensor(dtype="float64", shape=(4,))])

    def perform(self, node, inputs, outputs):
        self.calls += 1
        if self.calls > 20:
            raise TypeError("no more")
        outputs[0][0] = np.zeros(4)

    def grad(self, inputs, gradients):
        return [pt.zeros_like(inputs[0])]


class Short(Ends):
    """One number, which could be repeated."""

    def perform(self, node, inputs, outputs):
        outputs[0][0] = np.zeros(1)


def model_of(op):
    with pm.Model() as model:
        pm.Potential("p", pt.sum(op(pm.Normal("x"))))
    return model


def check_exception():
    """An op's exception is the cause of one of Python's errors."""
    with pytest.raises(BaseException) as found:  # noqa: PT011  a panic is no Exception
        nutpie.sample(compile_model(model_of(Ends())), draws=50, tune=50, chains=1, progress_bar=False)
    assert isinstance(found.value, Exception)
    assert type(found.value.__cause__) is TypeError


def check_wrong_shape():
    """An op's result of another shape is refused."""
    with pytest.raises(ValueError, match=r"Short gave float64\[1\]"):
        compile_logp(model_of(Short()))(np.zeros(1))


def test_no_fault():
    check_exception()
    check_wrong_shape()


def test_an_exception_that_is_a_panic(monkeypatch):
    monkeypatch.setattr(Failures, "hear", lambda self, *arguments, **options: UNHEARD)
    with pytest.raises((AssertionError, pytest.fail.Exception)):  # newer versions of nutpie give a trace that is short
        check_exception()


def test_an_exception_that_nobody_hears_of(monkeypatch):
    monkeypatch.setattr(Failures, "hear", lambda self, *arguments, **options: ENDED)
    with pytest.raises((AssertionError, pytest.fail.Exception)):  # what a panic leaves is an error in some versions
        check_exception()


def test_a_wrong_shape_that_is_taken(monkeypatch):
    monkeypatch.setattr(OpCallback, "checked", lambda self, *arrays: self._called(arrays[: len(self.call.inputs)]))
    with pytest.raises(pytest.fail.Exception):
        check_wrong_shape()
