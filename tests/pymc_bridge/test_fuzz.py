"""The fuzzers of PyTensor's graphs and of models find faults of each kind: each test plants one."""

import numpy as np
import pytest

pytest.importorskip("pymc")

import pytensor.tensor as pt

from numbagraph.ir.op import registry
from numbagraph.ir.structs import replace
from numbagraph.pymc_bridge import importer, linker
from numbagraph.pymc_bridge.array_function import ArrayFunction
from numbagraph.pymc_bridge.logp import CompiledLogp
from numbagraph.pymc_bridge.translations import indexing, structure
from tests.fuzz import models, pytensor_graphs, pytensor_matrices, pytensor_ops
from tests.fuzz.evaluation import Evaluation, Failures
from tests.fuzz.runner import run_cases

pytestmark = pytest.mark.filterwarnings("ignore")
CASES = 12


@pytest.fixture(autouse=True)
def without_cache(monkeypatch):
    """No code with a fault stays on disk, or comes from there."""
    monkeypatch.setenv("NUMBAGRAPH_CACHE", "0")
    monkeypatch.setattr(registry, "_ops", dict(registry._ops))


def found(fuzzer, names, monkeypatch, cases=CASES):
    """The first difference that a fuzzer finds with some ops."""
    monkeypatch.setattr(fuzzer, "names", lambda: names)
    report = run_cases(fuzzer.case, 0, range(cases), most=1)
    return report.differences[0][1] if report.differences else ""


def plant(monkeypatch, kind, handler):
    """Replace the translation of an op of PyTensor."""
    monkeypatch.setitem(importer._handlers, kind, handler)


# ---- graphs ----


def test_what_is_drawn_is_what_is_translated():
    assert set(pytensor_ops.names()) <= set(pytensor_matrices.makers())


def test_an_error_that_many_ways_lead_from_is_there_once():
    x = pt.dvector("x")
    value = x[5]
    for _ in range(20):
        value = value + value
    with pytest.raises(Failures) as caught:
        Evaluation([value, value], [x])({x: np.zeros(3)})
    assert [type(each) for each in caught.value.errors] == [IndexError]
    assert len(str(caught.value)) < 200


def test_without_a_fault_graphs_agree(monkeypatch):
    names = ["Mul of elements", "CAReduce", "IncSubtensor", "DimShuffle"]
    assert found(pytensor_graphs, names, monkeypatch, cases=4) == ""


def test_a_wrong_value_is_found(monkeypatch):
    registry._ops["multiply"] = replace(registry["multiply"], lower=registry["add"].lower)
    assert "expected, found" in found(pytensor_graphs, ["Mul of elements"], monkeypatch)


def test_a_lost_update_of_an_array_is_found(monkeypatch):
    for kind in (indexing.ops.IncSubtensor, indexing.ops.AdvancedIncSubtensor):
        plant(monkeypatch, kind, lambda importer, node, x, *_: x)
    assert "expected, found" in found(pytensor_graphs, ["IncSubtensor"], monkeypatch)


def test_swapped_operands_are_found(monkeypatch):
    join = importer._handlers[structure.basic.Join]
    plant(monkeypatch, structure.basic.Join, lambda i, node, axis, *rest: join(i, node, axis, *rest[::-1]))
    assert found(pytensor_graphs, ["Join"], monkeypatch)


def test_a_check_that_does_not_fail_is_found(monkeypatch):
    plant(monkeypatch, structure.SpecifyShape, lambda importer, node, x, *lengths: x)
    assert "found None" in found(pytensor_graphs, ["SpecifyShape"], monkeypatch, cases=60)


def test_a_lost_update_of_a_shared_variable_is_found(monkeypatch):
    run = linker.LinkedProgram.__call__

    def forgetful(program, output_subset=None):
        program.updates = []
        return run(program, output_subset)

    monkeypatch.setattr(linker.LinkedProgram, "__call__", forgetful)
    assert found(pytensor_graphs, ["Add of elements", "Sub of elements"], monkeypatch, cases=60)


def test_results_in_one_array_are_found(monkeypatch):
    monkeypatch.setattr(ArrayFunction, "_spread", lambda self, results: [results[slot] for slot in self.slots])
    assert "share memory" in found(pytensor_graphs, ["Add of elements", "Neg of elements"], monkeypatch, cases=60)


def test_arguments_that_are_overwritten_are_found(monkeypatch):
    call = ArrayFunction.__call__

    def careless(self, *arrays):
        results = call(self, *arrays)
        for each in arrays:
            each[...] = 0
        return results

    monkeypatch.setattr(ArrayFunction, "__call__", careless)
    assert found(pytensor_graphs, ["Add of elements"], monkeypatch)


# ---- models ----

NORMAL = ["Normal"]


def test_without_a_fault_models_agree(monkeypatch):
    assert found(models, NORMAL, monkeypatch, cases=1) == ""


@pytest.mark.parametrize("fails", [True, False])
def test_where_rounding_decides_whether_there_is_a_value_there_is_no_verdict(fails):
    def reference(point, *, stable, rounding=None):
        return Failures([ValueError("posdef")]) if fails and rounding is not None else np.array([-np.inf])

    check = object.__new__(models.Check)
    assert (check.is_wrong(np.array([-5.0]), {}, reference) is None) == fails


def test_a_wrong_density_is_found(monkeypatch):
    registry._ops["square"] = replace(registry["square"], lower=registry["absolute"].lower)
    assert "expected, found" in found(models, NORMAL, monkeypatch)


def test_a_wrong_derivative_is_found(monkeypatch):
    registry._ops["log"] = replace(registry["log"], vjp=lambda g, y, x: (g * x,))
    difference = found(models, ["Gamma", "potential"], monkeypatch)
    assert "expected, found" in difference
    assert "value:" not in difference


def test_a_parameter_that_is_not_checked_is_found(monkeypatch):
    monkeypatch.setattr(importer.Importer, "require", lambda *_: None)
    assert "found" in found(models, ["scale that may be negative"], monkeypatch, cases=3)


def test_a_gradient_that_the_next_call_overwrites_is_found(monkeypatch):
    call, kept = CompiledLogp.__call__, {}

    def reusing(self, x):
        value, gradient = call(self, x)
        memory = kept.setdefault(id(self), np.empty_like(gradient))
        memory[...] = gradient
        return value, memory

    monkeypatch.setattr(CompiledLogp, "__call__", reusing)
    assert "share memory" in found(models, NORMAL, monkeypatch)
