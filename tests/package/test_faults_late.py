"""Faults of loops over late lengths, and of what users are told of faults, are found: each of these plants one."""

import numpy as np
import pytest

from numbagraph import graph_jit
from numbagraph.errors import InternalError
from numbagraph.loops import control, schedule
from numbagraph.testing.op_calls import outcome
from numbagraph.tracing import internal_errors as faults
from numbagraph.tracing import tracebacks
from tests.fuzz import late_loops
from tests.fuzz.runner import run_cases
from tests.support.planted import planted


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("NUMBAGRAPH_CACHE", "0")


def test_a_length_without_memory_is_found_by_programs(monkeypatch):
    monkeypatch.setattr(control, "is_condition", lambda node: True)
    monkeypatch.setattr(control, "is_reduced", lambda node: False)
    for name, value in {"BACKENDS": ("numba",), "WITH_DERIVATIVES": 0.0, "MOST_TRIALS": 0}.items():
        monkeypatch.setattr(late_loops, name, value)
    ((_, difference),) = run_cases(late_loops.case, 0, [12]).differences  # of those before, none has such a loop
    assert "found InternalError" in difference
    assert "has no memory" in difference


def fails_inside(x):
    return np.sin(x) + 1.0


def check_told(body):
    """Whatever arises inside, users get an error with their line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schedule, "plan_memory", planted("loops/planted.py", body))
        error = outcome(graph_jit(fails_inside), [np.ones(3)])
    assert type(error) is InternalError
    assert f"{__file__}:{fails_inside.__code__.co_firstlineno}" in str(error)


BODIES = ("assert False, 'planted'", "return {}['planted']", "return None.planted", "return int('planted')")


@pytest.mark.parametrize("body", BODIES)
def test_an_internal_error_that_reaches_users_is_found(body, monkeypatch):
    check_told(body)
    monkeypatch.setattr(tracebacks, "fault_of", lambda error, described: None)
    with pytest.raises(AssertionError):
        check_told(body)


def test_a_user_s_error_that_is_taken_for_a_fault_is_found(monkeypatch):
    monkeypatch.setattr(faults, "library_of", lambda filename: faults.OWN)
    monkeypatch.setattr(faults, "file_of", lambda place: f"{faults.OWN}loops/planted.py")

    def asserts(x):
        assert x.ndim == 2, "of the user"

    with pytest.raises(InternalError):
        graph_jit(asserts)(np.ones(3))
