"""Loops and branches outside of traced functions, which loops are kept, and how they are interrupted."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest

import numbagraph as ng
from numbagraph.api import compiled_loops


def test_outside_of_a_traced_function() -> None:
    total, sums = ng.scan(lambda c, x: (c + x, c), 0.0, np.array([1.0, 2.0]))
    assert (total, sums.tolist()) == (3.0, [0.0, 1.0])
    assert ng.while_loop(lambda n: n < 100, lambda n: 2 * n, 3) == 192
    assert ng.map(lambda x: x**2, np.array([1.0, 3.0])).tolist() == [1.0, 9.0]
    assert ng.cond(True, lambda x: x + 1, lambda x: x, 1) == 2
    assert ng.switch(5, [lambda: 1, lambda: 2]) == 2


class Unhashable:
    """A function that no table can hold."""

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, i: Any, c: Any) -> Any:
        return c + i


def test_any_callable_is_run_outside_of_a_traced_function() -> None:
    assert ng.associative_scan(np.add, np.arange(4.0)).tolist() == [0.0, 1.0, 3.0, 6.0]
    assert ng.map(abs, np.array([-1.0, 2.0])).tolist() == [1.0, 2.0]
    assert ng.fori_loop(0, 3, partial(lambda k, i, c: c + k * i, 2.0), 0.0) == 6.0
    assert ng.fori_loop(0, 3, Unhashable(), 0.0) == 3.0
    with pytest.raises(ng.TraceError, match="must be a function"):
        ng.fori_loop(0, 3, 4, 0.0)  # type: ignore[arg-type]


def test_few_loops_outside_of_traced_functions_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_loops, "MOST_KEPT", 2)
    monkeypatch.setattr(compiled_loops, "_compiled", {})
    functions = [lambda x, k=k: x + k for k in range(4)]
    for number, each in enumerate(functions):
        assert ng.map(each, np.zeros(2)).tolist() == [number] * 2
    assert [key[0] for key in compiled_loops._compiled] == functions[2:]


def test_equal_bodies_are_one() -> None:
    def both(x: Any) -> Any:
        return [ng.scan(lambda c, e: (c + e, None), 0.0, x)[0] for _ in range(2)]

    one, other = ng.graph_jit(both).stages(np.arange(3.0))["traced"].outputs
    assert one is other


def test_results_are_their_own_memory() -> None:
    run = ng.graph_jit(lambda x: ng.scan(lambda c, _: (c, c), x, length=3))
    x = np.arange(2.0)
    last, rows = run(x)
    last += 1
    rows += 1
    assert x.tolist() == [0.0, 1.0]
    assert rows.tolist() == [[1.0, 2.0]] * 3


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
import numbagraph as ng

def forever(x):
    return ng.while_loop(lambda s: s[0] > -1.0, lambda s: (s[0] * 0.5 + 1, s[1] + 1.0), (x, 0.0))

def long(x):
    return ng.fori_loop(0, 10**13, lambda i, s: np.tanh(s) + 0.1, x)

def short(x):
    few = lambda i, s: ng.fori_loop(0, 3, lambda j, t: np.tanh(t) + 0.1, s)
    return ng.fori_loop(0, 10**13, few, x)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background ignores it
for function in (forever, long, short):
    run = ng.graph_jit(function, cache=False)
    threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        run(1.0)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="it has no os.kill for SIGINT")
def test_ctrl_c_ends_a_loop() -> None:
    process = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120, check=False
    )
    assert process.stdout.split() == ["interrupted"] * 3, process.stderr
