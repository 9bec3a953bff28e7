"""First calls that several threads make at the same time, of different functions: what all functions share is prepared
once, whoever comes first."""

import dataclasses
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from numbagraph import graph_jit
from numbagraph.runtime import arguments

THREADS = 8


def at_once(function, *arguments):
    """The results of calls that as many threads begin together, one of each argument."""
    ready = threading.Barrier(len(arguments))

    def begin(argument):
        ready.wait()
        return function(argument)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(len(arguments)) as pool:
            return list(pool.map(begin, arguments))
    finally:
        sys.setswitchinterval(interval)


def test_instances_of_a_new_class():
    for _ in range(20):
        kind = dataclasses.make_dataclass("Pair", ["first", "second"])
        functions = [graph_jit(lambda pair: pair.first + pair.second) for _ in range(THREADS)]
        found = at_once(lambda f, kind=kind: f(kind(1.0, np.arange(3.0))), *functions)
        for each in found:
            np.testing.assert_array_equal(each, [1, 2, 3])


def test_a_class_that_is_being_registered_is_waited_for():
    """optree knows the class of an object before it finds the class's functions."""
    with ThreadPoolExecutor(1) as pool:
        with arguments._registering:
            waiting = pool.submit(arguments.taken_apart, {"a": 1.0})
            with pytest.raises(TimeoutError):
                waiting.result(timeout=0.05)
        assert waiting.result(timeout=60)[0] == [1.0]


def summed(n):
    total = 0.0
    for i in range(n):
        if i % 3:
            total += i
    return total


def halved(n):
    steps = 0
    while n > 1:
        n //= 2
        steps += 1
    return steps


def calls() -> list[tuple[Any, Any]]:
    """Functions of different kinds, and an argument of each."""
    x = np.arange(3.0)
    matrix = scipy.sparse.csr_array(np.eye(3) * 2)
    return [
        (lambda each: each @ x, matrix),
        (lambda each: each.T @ x, matrix),
        (lambda each: each @ x, matrix.tocoo()),
        (summed, 10),
        (halved, 99),
        (lambda each: np.exp(each).sum(), x),
        (np.linalg.inv, np.eye(3)),
        (lambda each: each["a"] + 1, {"a": x}),
    ]


def begin_a_process():
    together = calls() * 2
    found: list[Any] = at_once(lambda call: graph_jit(call[0])(call[1]), *together)
    for one, (function, argument) in zip(found, together, strict=True):
        np.testing.assert_allclose(one, function(argument), rtol=1e-14)


def test_the_first_calls_of_a_process():
    command = [sys.executable, "-W", "error", "-c", f"from {__name__} import begin_a_process; begin_a_process()"]
    for _ in range(3):
        subprocess.run(command, check=True, timeout=300, cwd=Path(__file__).parents[2])
