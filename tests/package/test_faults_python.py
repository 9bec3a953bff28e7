"""The tests of calls of Python catch faults: each of these plants one, and sees a test of theirs fail."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from numbagraph.jit.version import Outputs
from numbagraph.ops import callback
from numbagraph.ops.control import scan, switch, while_pullback
from numbagraph.purity import trace_profile
from numbagraph.rewrite import engine, fold_captured
from numbagraph.runtime import replay
from numbagraph.tracing import regions
from numbagraph.transforms import interpret
from tests.api import test_callback_lifetimes, test_callbacks, test_debug_print
from tests.api.test_debug_print import printed
from tests.purity import test_callback_state

__all__ = ["printed"]


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """No code of a fault stays on disk."""
    monkeypatch.setenv("NUMBAGRAPH_CACHE", "0")


def of_views(self: Any, arrays: Any, sizes: Any) -> Any:
    """No copies for the function."""
    return list(self.checked(*arrays, *self.targets(callback.zeros, sizes)))


def copies(backend: str) -> None:
    call = test_callbacks.Counted(lambda x: np.add(x, 1, out=x))
    x = np.arange(3.0)
    test_callbacks.graph_jit(lambda x: test_callbacks.pure_callback(call, x, x), backend=backend)(x)
    assert x[0] == 0


def without_checks(self: Any, *arrays: Any) -> Any:
    return self._called(arrays[: len(self.call.inputs)])


def wrong_results() -> None:
    try:
        test_callbacks.test_results_of_other_types(test_callbacks.X[:1], ValueError, "", compiled=True)
    except pytest.fail.Exception as error:  # nothing was raised
        raise AssertionError from error


def unmarked(self: Outputs) -> Outputs:
    return self.with_hidden(0, 1)


Check = Callable[..., Any]
CALLBACKS: dict[str, tuple[list[tuple[Any, str, Any]], Check]] = {
    "the function gets views": ([(callback.Callback, "results", of_views)], lambda: copies("numpy")),
    "results are not checked": ([(callback.Callback, "checked", without_checks)], wrong_results),
    "calls leave loops that take no step": (
        [(regions, "may_fail", lambda node: False)],
        lambda: test_callbacks.test_loops_and_branches_call_in_the_steps_that_run("numba"),
    ),
    "errors of callbacks are rewritten": (
        [(callback, "note_callback", lambda *args: None)],
        lambda: test_callbacks.test_an_exception_reaches_the_caller(KeyError("x"), "numpy", "straight"),
    ),
    "what depends on captured arrays is called once": (
        [(fold_captured, "CALLED", ())],
        test_callbacks.test_unused_ones_are_not_called_and_equal_ones_once,
    ),
    "what is traced as well is read by the callback alone": (
        [(trace_profile.Profile, "called_back", property(lambda self: frozenset(self._given)))],
        lambda: test_callback_state.test_a_function_that_is_traced_as_well("traced"),
    ),
    "rules keep the functions of callbacks": (
        [(engine.registry, "holds", lambda op: True)],
        test_callback_lifetimes.test_the_function_lives_as_long_as_the_version,
    ),
}
PRINTS: dict[str, tuple[list[tuple[Any, str, Any]], Check]] = {
    "the search for an error prints": (
        [(interpret.Effects, "suppressed", lambda self: nullcontext())],
        lambda lines: test_debug_print.test_nothing_is_printed_again_when_a_call_fails(lines, "numba"),
    ),
    "a call that fails is run again": (
        [(Outputs, "behind_effects", unmarked), (replay, "stop_of", lambda *args: None)],
        lambda lines: test_debug_print.test_nothing_is_printed_again_when_a_call_fails(lines, "numba"),
    ),
    "derivatives print again": (
        [(each, "without_effects", lambda region: region) for each in (scan, switch, while_pullback)],
        lambda lines: test_debug_print.test_gradients_print_what_the_function_does(lines, "numba"),
    ),
}


@pytest.mark.parametrize("fault", CALLBACKS)
def test_a_fault_of_callbacks_is_seen(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    patches, check = CALLBACKS[fault]
    for each in patches:
        monkeypatch.setattr(*each)
    with pytest.raises((AssertionError, pytest.fail.Exception, RuntimeWarning)):  # one that says what is traced often
        check()


@pytest.mark.parametrize("fault", PRINTS)
def test_a_fault_of_prints_is_seen(fault: str, monkeypatch: pytest.MonkeyPatch, printed: Any) -> None:
    patches, check = PRINTS[fault]
    for each in patches:
        monkeypatch.setattr(*each)
    with pytest.raises(AssertionError):
        check(printed)


def test_without_a_fault_the_checks_pass(printed: Any) -> None:
    for _, check in CALLBACKS.values():
        check()
    for _, check in PRINTS.values():
        check(printed)
