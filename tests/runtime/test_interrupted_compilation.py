"""Ctrl-C while a function is compiled: the function can be called again afterwards, and no lock is left held."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager

import numpy as np
import pytest

import numbagraph as ng
from numbagraph import times
from numbagraph.runtime.compile_jobs import CompileJob


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def program():
    """A gradient with a loop, whose module is compiled in parts. Each is new, with a constant of its own."""
    constant = float(np.random.default_rng().random())

    def recurrent(w, u, xs):
        h = np.zeros(w.shape[0])
        for t in range(xs.shape[0]):
            h = np.tanh(w @ h + u @ xs[t]) + constant
            if np.sum(h) > 3.0:
                h = np.exp(-h * h) * np.sin(h)
        return np.sum(h * h)

    return recurrent


def arguments():
    rng = np.random.default_rng(0)
    return 0.3 * rng.random((3, 3)), rng.random((3, 2)), rng.random((7, 2))


def check(function, compiled):
    w, u, xs = arguments()
    value, slope = compiled(w, u, xs)
    change = np.cos(np.arange(9.0)).reshape(3, 3)
    expected = (function(w + 1e-6 * change, u, xs) - function(w - 1e-6 * change, u, xs)) / 2e-6
    np.testing.assert_allclose(value, function(w, u, xs), rtol=1e-12)
    np.testing.assert_allclose(np.sum(slope * change), expected, rtol=1e-6)


def check_that_all_goes_on(function, compiled):
    check(function, compiled)
    other = program()
    with ThreadPoolExecutor(1) as pool:  # a lock that this thread had kept would not let that one go on
        pool.submit(check, other, ng.graph_jit(ng.value_and_grad(other), cache=False)).result(timeout=120)


@pytest.mark.parametrize(
    "name", ["pass CANONICALISE", "pass STABILISE", "loop nests", "emission", "LLVM", "cache and linker"]
)
def test_an_interrupted_stage_is_done_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stage, begun = times.stage, []

    def interrupted(each: str) -> AbstractContextManager[None]:
        if each == name:
            begun.append(each)
            if len(begun) == 1:
                signal.raise_signal(signal.SIGINT)
        return stage(each)

    function = program()
    compiled = ng.graph_jit(ng.value_and_grad(function), cache=False)
    monkeypatch.setattr(times, "stage", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compiled(*arguments())
    assert begun
    check_that_all_goes_on(function, compiled)


@pytest.mark.parametrize("after", [False, True], ids=["before a part", "after a part"])
def test_interrupted_parts_are_compiled_again(after: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    run, begun = CompileJob.run, []

    def interrupted(self: CompileJob) -> None:
        is_first = threading.current_thread() is threading.main_thread() and not begun
        begun.extend([self] if is_first else [])
        if is_first and not after:
            signal.raise_signal(signal.SIGINT)
        run(self)
        if is_first:
            signal.raise_signal(signal.SIGINT)

    function = program()
    compiled = ng.graph_jit(ng.value_and_grad(function), cache=False)
    monkeypatch.setattr(CompileJob, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compiled(*arguments())
    assert begun
    check_that_all_goes_on(function, compiled)
