"""Every model of the zoo against PyTensor: log-density and gradient, at several points and at the edges."""

import contextlib
import functools
import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

if importlib.util.find_spec("pymc") is None:
    pytest.skip("PyMC is not installed", allow_module_level=True)

import pytensor
from pymc.logprob.utils import ParameterValueError
from pytensor.compile.mode import Mode
from pytensor.compile.sharedvalue import SharedVariable

from numbagraph.pymc_bridge import compile_logp, compile_model
from tests.support.pymc_models import MODELS

PLAIN = Mode(linker="py", optimizer="None")
"""PyTensor's Python code: of all its modes the one that is there soonest."""
STABLE = Mode(linker="py", optimizer="fast_run")
"""The same with PyTensor's stable forms: for points where formulas as they are written lose their digits."""


@pytest.fixture(autouse=True)
def without_a_c_compiler():
    """PyTensor compiles the steps of loops in its default mode, whatever the mode of the loop is."""
    with pytensor.config.change_flags(cxx="", mode=PLAIN):
        yield


def reference_of(model, mode):
    """The value and the gradient of a point (None where a variable is discrete), by PyTensor."""
    if model.discrete_value_vars:
        function, gradient = model.compile_logp(mode=mode), False
    else:
        function, gradient = model.logp_dlogp_function(ravel_inputs=True, mode=mode), True
        function.set_extra_values({})

    def evaluate(compiled, x):
        with np.errstate(all="ignore"):
            if gradient:
                return function(x)
            parts = zip(compiled.point.variables, compiled.point.split(x), strict=True)
            return function({each.name: part.astype(each.type.dtype) for each, part in parts}), None

    return evaluate


def points_of(compiled, model):
    """Where chains begin, near there, and far away; and whether it is far away."""
    rng = np.random.default_rng(3)
    begin = np.concatenate([np.ravel(each).astype(float) for each in model.initial_point(0).values()] or [np.zeros(0)])
    yield begin, False
    if not compiled.point.is_continuous:
        yield begin + 1, False
        yield begin - 9, False
        return
    yield begin + rng.normal(size=begin.size), False
    yield begin - rng.normal(size=begin.size) * 2, False
    yield begin + rng.normal(size=begin.size) * 4, True
    for distance in (-begin, 5.0, -5.0, 10.0, -10.0):
        yield begin + distance, True


def close(found, expected, rtol):
    """Equal to within a part of the largest; what is not finite is the same."""
    finite = np.isfinite(expected)
    scale = np.abs(np.where(finite, expected, 0.0)).max(initial=1.0)
    np.testing.assert_array_equal(np.where(finite, 0.0, found), np.where(finite, 0.0, expected))
    np.testing.assert_allclose(
        np.where(finite, found, 0.0), np.where(finite, expected, 0.0), rtol=rtol, atol=rtol * scale
    )


def check(compiled, x, reference, *, stable=False):
    """Compare one point; says whether the log-density is finite there. What is not finite has to be the same.

    As it is written, a formula may have NaN for a derivative, where a branch that is not taken has none: PyTensor's
    stable form has a number there.
    """
    try:
        expected, gradient = reference(compiled, x)
    except ParameterValueError as error:
        with pytest.raises(ParameterValueError, match=re.escape(str(error).split("\n")[0])):
            compiled(x)
        return False
    found = compiled(x)
    found, derivatives = found if compiled.has_gradient else (found, None)
    close(found, expected, 1e-10)
    if gradient is not None and np.isfinite(expected):
        assert stable or not np.isnan(gradient).any(), "nothing to compare with"
        # Of a value that is finite, PyTensor's derivative is NaN where it came out as 0 * inf.
        close(derivatives, np.where(np.isnan(gradient), derivatives, gradient), 1e-8)
    return bool(np.isfinite(expected))


def can_be_evaluated(compiled, x):
    """Where there is nothing to compare with: a number comes out, or an error about a parameter."""
    with contextlib.suppress(ParameterValueError):
        compiled(x)


def check_with_changing_data(model, compiled):
    """The numbers are the same where data and lengths are arguments of the native code."""
    x, _ = next(points_of(compiled, model))
    unfrozen = compile_logp(model, freeze=False)
    np.testing.assert_allclose(np.hstack(unfrozen(x)), np.hstack(compiled(x)), rtol=1e-10, atol=1e-10)
    assert "loop nest" in unfrozen.explain()


def may_change(model):
    return any(isinstance(each, SharedVariable) for each in (*model.data_vars, *model.dim_lengths.values()))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name, each in MODELS.items() if not each.unsupported])
def test_model(name, capfd):
    model = MODELS[name].build()
    compiled, plain, finite = compile_logp(model), reference_of(model, PLAIN), 0
    if may_change(model):
        check_with_changing_data(model, compiled)
    stable = functools.cache(lambda: reference_of(model, STABLE))
    for x, far in points_of(compiled, model):
        if far and MODELS[name].far:
            can_be_evaluated(compiled, x)
            continue
        try:
            finite += check(compiled, x, plain)
        except (AssertionError, ParameterValueError, pytest.fail.Exception):
            finite += check(compiled, x, stable(), stable=True)
    assert finite or MODELS[name].kind == "edge"
    assert "remark" not in capfd.readouterr().err, "LLVM was told something of a loop that it cannot follow"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name, each in MODELS.items() if each.unsupported])
def test_what_a_model_waits_for_is_named(name):
    with pytest.raises(NotImplementedError, match=MODELS[name].unsupported):
        compile_model(MODELS[name].build())


def test_the_page_of_coverage_is_that_of_the_zoo():
    path = Path(__file__).parents[2] / "tools" / "pymc_coverage.py"
    specification = importlib.util.spec_from_file_location("pymc_coverage", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    assert module.PAGE.read_text() == module.page(), "run tools/pymc_coverage.py"
