"""Random programs with state, and with arguments that choose how they are traced: they agree with Python, few of them
are refused, and faults that are planted are found."""

import pytest

from numbagraph.capture.statements import extended_state
from numbagraph.jit import binding, written_state
from tests.fuzz import choices, storage, storage_source
from tests.fuzz.runner import run_cases

MOST_REFUSED = 0.65
"""The share of programs with state that may be refused: most write several places, of which one is of a kind that is
refused (elements of lists, arrays in place, slots, globals in loops)."""


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("NUMBAGRAPH_CACHE", "0")


def first_difference(fuzzer, cases, first=0):
    report = run_cases(fuzzer.case, 0, range(first, first + cases), most=1)
    return report.differences[0][1] if report.differences else ""


def test_without_a_fault_programs_with_state_agree():
    report = run_cases(storage.case, 0, range(16))
    refused = sum(count for name, count in report.covered.items() if "refused" in name)
    assert report.differences == []
    assert refused <= MOST_REFUSED * report.cases


@pytest.mark.repeats
def test_many_programs_with_state_agree():
    report = run_cases(storage.case, 1, range(150))
    refused = sum(count for name, count in report.covered.items() if "refused" in name)
    assert report.differences == []
    assert refused <= MOST_REFUSED * report.cases
    assert min(report.covered[each] for each in ("compared", "grad", "vmap")) > 2


@pytest.fixture
def calls(monkeypatch):
    """Programs that are called as they are, without a compiler, and as they were drawn."""
    for name, value in {"BACKENDS": ("numpy",), "KINDS": ("calls",), "MOST_TRIALS": 0}.items():
        monkeypatch.setattr(storage, name, value)
    monkeypatch.setattr(storage_source.Draw, "chance", lambda draw, probability: draw.rng.random() < probability > 0.07)


@pytest.mark.usefixtures("calls")
def test_a_write_that_a_loop_or_a_branch_loses_is_found(monkeypatch):
    monkeypatch.setattr(extended_state, "store", lambda place, value: None)
    assert "expected, found" in first_difference(storage, 60)


@pytest.mark.usefixtures("calls")
def test_a_write_that_a_call_loses_is_found(monkeypatch):
    monkeypatch.setattr(written_state.StateCell, "__setitem__", lambda cell, number, new: None)
    assert "expected, found" in first_difference(storage, 60)


def test_without_a_fault_arguments_that_choose_agree():
    report = run_cases(choices.case, 0, range(40))
    assert report.differences == []
    assert len(report.covered) > 40


@pytest.mark.repeats
def test_many_arguments_that_choose_agree():
    report = run_cases(choices.case, 1, range(300))
    assert report.differences == []


def test_a_version_that_serves_other_values_is_found(monkeypatch):
    monkeypatch.setattr(choices, "BACKENDS", ("numpy",))
    monkeypatch.setattr(binding, "key_of", type)
    assert "expected, found" in first_difference(choices, 40)
