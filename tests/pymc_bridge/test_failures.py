"""Python code that raises while a sampler runs: points are rejected and counted, or the exception is a cause."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

pm = pytest.importorskip("pymc")
nutpie = pytest.importorskip("nutpie")

import pytensor.tensor as pt  # noqa: E402
from pymc.exceptions import SamplingError  # noqa: E402
from pytensor.graph.basic import Apply  # noqa: E402
from pytensor.graph.op import Op  # noqa: E402

from numbagraph import pure_callback  # noqa: E402
from numbagraph.pymc_bridge import RejectionWarning, compile_logp, compile_model, sample, to_pytensor  # noqa: E402
from numbagraph.pymc_bridge.sampling.failures import is_recoverable  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::numbagraph.pymc_bridge.FallbackWarning"),
    # PyTensor 3 says so of ops that are written for both versions.
    pytest.mark.filterwarnings("ignore:.* should implement .pullback.:FutureWarning"),
    pytest.mark.filterwarnings("ignore:The number of samples is too small"),
]
FEW = {"draws": 50, "tune": 50, "chains": 2, "seed": 1}


class Own(Exception):
    pass


class Unsolved(RuntimeError):
    is_recoverable = True


class Checked(Op):
    """``x``, once a function of it and of the number of calls has been called."""

    def __init__(self, check):
        self.check, self.calls = check, 0

    def make_node(self, x):
        return Apply(self, [pt.as_tensor(x)], [pt.dscalar()])

    def perform(self, node, inputs, outputs):
        self.calls += 1
        self.check(float(inputs[0]), self.calls)
        outputs[0][0] = np.array(inputs[0])

    def grad(self, inputs, gradients):
        return [gradients[0]]


def raising(error, when):
    def check(x, calls):
        if when(x, calls):
            raise error("a solver failed")

    return check


def model_of(check, deterministic=None):
    with pm.Model() as model:
        x = pm.Normal("x")
        pm.Potential("p", -0.5 * Checked(check)(x) ** 2)
        if deterministic is not None:
            pm.Deterministic("d", Checked(deterministic)(x))
    return model


def by_sample(model):
    return sample(model, progressbar=False, compute_convergence_checks=False, **FEW)


def by_nutpie(model, **options):
    return nutpie.sample(compile_model(model), progress_bar=False, **{**FEW, **options})


def by_pymc(model):
    options = {"draws": 50, "tune": 50, "chains": 2, "random_seed": 1, "compute_convergence_checks": False}
    return pm.sample(model=model, nuts_sampler="numbagraph", progressbar=False, **options)


def in_background(model):
    sampler = nutpie.sample(compile_model(model), progress_bar=False, blocking=False, **FEW)
    time.sleep(0.2)
    return sampler.wait()


WAYS = (by_sample, by_nutpie, by_pymc, in_background)
REJECTED = (ValueError, ArithmeticError, FloatingPointError, ZeroDivisionError, np.linalg.LinAlgError, Unsolved)
FATAL = (Own, RuntimeError, TypeError, KeyError, AssertionError, SystemExit, KeyboardInterrupt)


@pytest.mark.parametrize(
    ("way", "error"), [(by_nutpie, each) for each in REJECTED] + [(each, Unsolved) for each in WAYS]
)
def test_points_are_rejected_and_counted(way, error):
    with pytest.warns(RejectionWarning, match=rf"(?s)points? w.* rejected.*{error.__name__}: a solver failed.*Checked"):
        trace = way(model_of(raising(error, lambda x, calls: x > 0.5)))
    assert trace.posterior["x"].shape == (2, 50)
    assert trace.posterior["x"].max() <= 0.5
    assert trace.sample_stats["diverging"].any()


@pytest.mark.parametrize(("way", "error"), [(by_nutpie, each) for each in FATAL] + [(each, Own) for each in WAYS])
@pytest.mark.parametrize("first", [1, 250])
def test_other_exceptions_are_causes(way, error, first):
    """Where chains begin, in their tuning, and in their draws."""
    with pytest.raises(SamplingError, match=rf"(?s){error.__name__}: .?a solver failed.*test_failures.py") as found:
        way(model_of(raising(error, lambda x, calls: calls >= first)))
    assert type(found.value.__cause__) is error
    assert "is_recoverable" in found.value.__notes__[0]


@pytest.mark.filterwarnings("ignore::numbagraph.pymc_bridge.RejectionWarning")
@pytest.mark.parametrize(("error", "ended"), [(ValueError, 1), (Own, 29)])
def test_any_call_of_a_chain_may_fail(error, ended):
    """nutpie panics where the density fails at a point that a chain is at already: that is one call of these."""
    ends = []
    for number in range(1, 30):
        check = raising(error, lambda x, calls, number=number: calls == number)
        try:
            by_nutpie(model_of(check), chains=1)
        except SamplingError as found:
            ends.append(found)
    assert [type(each.__cause__) for each in ends] == [error] * ended
    again = ["at a point at which it had a value before" in str(each) for each in ends]
    assert sum(again) == (error is ValueError)


@pytest.mark.parametrize("way", WAYS)
def test_no_point_to_begin_with(way):
    with pytest.raises(
        SamplingError, match=r"(?s)no point to begin with: \d+ points were rejected.*ValueError"
    ) as found:
        way(model_of(raising(ValueError, lambda x, calls: True)))
    assert type(found.value.__cause__) is ValueError


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("error", [ValueError, Own])
def test_variables_of_a_draw(way, error):
    with pytest.raises(SamplingError, match="variables of a draw") as found:
        way(model_of(lambda x, calls: None, raising(error, lambda x, calls: calls > 10)))
    assert type(found.value.__cause__) is error
    assert "var_names" in found.value.__notes__[0]


@pytest.mark.parametrize("way", WAYS)
def test_variables_of_a_draw_without_python(way):
    with pm.Model() as model:
        x = pm.Normal("x")
        pm.Deterministic("chosen", pt.arange(5.0)[pt.switch(x > 0.3, 7, 1)])
    with pytest.raises(SamplingError, match=r"(?s)index 7 is out of bounds.*test_failures.py") as found:
        way(model)
    assert type(found.value.__cause__) is IndexError


@pytest.mark.parametrize("way", WAYS)
def test_callbacks_of_numbagraph(way):
    def python(x):
        if x > 0.5:
            raise error("a solver failed")
        return -0.5 * x**2

    like = np.empty(())
    called = to_pytensor(lambda x: pure_callback(python, like, x, vjp=lambda g, y, x: (-g * x,)))
    with pm.Model() as model:
        pm.Potential("p", called(pm.Normal("x")))
    error = ValueError
    with pytest.warns(RejectionWarning, match="python"):
        assert way(model).posterior["x"].max() <= 0.5
    error = Own
    with pytest.raises(SamplingError, match="python") as found:
        way(model)
    assert type(found.value.__cause__) is Own


class Short(Checked):
    def perform(self, node, inputs, outputs):
        super().perform(node, inputs, outputs)
        if self.calls > 30:
            outputs[0][0] = np.zeros(3)


def test_a_wrong_shape_rejects_no_point():
    with pm.Model() as model:
        pm.Potential("p", Short(lambda x, calls: None)(pm.Normal("x")))
    with pytest.raises(SamplingError, match=r"Short gave float64\[3\], where its type.* says float64\[\]"):
        by_nutpie(model)


def test_what_an_exception_says_counts():
    for error in (ValueError(), np.linalg.LinAlgError(), OverflowError(), Unsolved()):
        assert is_recoverable(error)
        error.is_recoverable = False
        assert not is_recoverable(error)
    assert not any(map(is_recoverable, (Own(), RuntimeError(), MemoryError(), KeyboardInterrupt())))


def test_traces_say_how_many(recwarn):
    check = raising(ValueError, lambda x, calls: x > 0.5)
    trace = sample(model_of(check), progressbar=False, quiet=True, **FEW)
    assert trace.posterior.attrs["rejected_points"] > 0
    assert not [each for each in recwarn if issubclass(each.category, RejectionWarning)]
    assert "rejected_points" not in by_sample(model_of(lambda x, calls: None)).posterior.attrs


def test_a_compiled_model_samples_again():
    failing = [True]
    check = raising(Own, lambda x, calls: failing[0] and calls > 100)
    compiled = compile_model(model_of(check))
    for _ in range(2):
        with pytest.raises(SamplingError):
            nutpie.sample(compiled, progress_bar=False, **FEW)
    failing[0] = False
    assert nutpie.sample(compiled, progress_bar=False, **FEW).posterior["x"].shape == (2, 50)
    assert not compiled.failures.runs


def test_one_of_two_samplers_at_a_time():
    """Both run on one compiled model, whose failures are told to both."""
    compiled = compile_model(model_of(raising(Own, lambda x, calls: calls > 200)))
    samplers = [nutpie.sample(compiled, progress_bar=False, blocking=False, **FEW) for _ in range(2)]
    for each in samplers:
        with pytest.raises(SamplingError):
            each.wait()


def test_draws_so_far_are_not_given_where_a_sampler_has_to_end():
    sampler = nutpie.sample(
        compile_model(model_of(raising(Own, lambda x, calls: calls > 100))), progress_bar=False, blocking=False, **FEW
    )
    while sampler._sampler._run.end is None:
        time.sleep(0.01)
    with pytest.raises(SamplingError):
        sampler.inspect()
    with pytest.raises(SamplingError):
        sampler.abort()


def test_waiting_for_a_while():
    model = model_of(lambda x, calls: time.sleep(0.01))
    sampler = nutpie.sample(compile_model(model), progress_bar=False, blocking=False, **FEW)
    for seconds in (0, 0.05, 0.25):
        begin = time.monotonic()
        with pytest.raises(TimeoutError):
            sampler.wait(timeout=seconds)
        assert time.monotonic() - begin < seconds + 0.5
    sampler.cancel()


def test_an_op_is_not_called_again_once_the_sampler_has_to_end():
    def check(x, calls):
        if calls == 60:
            raise Own("a solver failed")
        if calls > 60:  # the call that the other chain is in
            assert ended.wait(60)
        seen.append(calls)

    seen, ended = [], threading.Event()
    sampler = nutpie.sample(compile_model(model_of(check)), progress_bar=False, blocking=False, **FEW)
    while sampler._sampler._run.end is None:
        time.sleep(0.001)
    ended.set()
    with pytest.raises(SamplingError):
        sampler.wait()
    assert max(seen) <= 61  # two chains are in a call at most


def test_the_exception_reaches_who_calls_from_python_or_from_c(monkeypatch):
    printed = []
    monkeypatch.setattr(sys, "unraisablehook", lambda each: printed.append(each.exc_type))
    compiled = compile_logp(model_of(raising(ValueError, lambda x, calls: x > 0.5)))
    with pytest.raises(ValueError, match="a solver failed"):
        compiled(np.ones(1))
    function, data = compiled.ctypes
    x, gradient, value = np.ones(1), np.empty(1), np.empty(())
    arguments = (1, x.ctypes.data, gradient.ctypes.data, value.ctypes.data, data)
    assert function(*arguments) == -2
    thread = threading.Thread(target=lambda: printed.append(function(*arguments)))
    thread.start()
    thread.join()
    assert printed == [ValueError, ValueError, -2]
    x[0] = 0.0
    assert (function(*arguments), value[()]) == (0, compiled(x)[0])


SCRIPT = """
import nutpie, pymc as pm, warnings
warnings.simplefilter("ignore")
from tests.pymc_bridge.test_failures import model_of, raising
from numbagraph.pymc_bridge import compile_model
model = model_of(raising(ValueError, lambda x, calls: True))
nutpie.sample(compile_model(model), draws=50, tune=50, chains=4, cores=4, progress_bar=False)
"""


def test_no_thread_is_left_when_the_interpreter_ends():
    found = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert found.returncode == 1, found.stderr
    assert "SamplingError" in found.stderr


def test_status_is_that_of_a_check():
    """A point that is rejected has the status of a failing check, for nutpie alone."""
    compiled = compile_model(model_of(raising(ValueError, lambda x, calls: x > 0.5)))
    run = compiled.failures.new_run()
    error = ValueError("a solver failed")
    assert compiled.failures.hear(error, -2, lambda: None)
    assert (run.count, run.first, run.end) == (1, error, None)
    compiled.failures.finished(run)
    assert not compiled.failures.hear(error, -2, lambda: None)


def test_no_memory():
    compiled = compile_model(model_of(lambda x, calls: None))
    run = compiled.failures.new_run()
    assert compiled.failures.hear(None, -1, lambda: None)
    assert type(run.end.__cause__) is MemoryError
