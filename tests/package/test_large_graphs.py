"""Graphs of thousands of nodes: each pass takes linear time, and no depth is a limit."""

import gc
import sys

import numpy as np
import pytest

from numbagraph import grad, graph_jit
from numbagraph.intrinsics.emitters.ir import walk
from numbagraph.jit import backends, conversion, dispatch
from numbagraph.loops.fusion import MOST_IN_A_ROW
from numbagraph.loops.ir import Kernel
from numbagraph.runtime.entry import make_callable
from tests.support.tally import Tally

X = np.arange(1.0, 6.0)


@pytest.fixture(autouse=True)
def copies_of_steps(monkeypatch):
    """Loops make large graphs here, rather than regions."""
    monkeypatch.setattr(conversion, "FEW_CALLS", sys.maxsize)


def chain(x, n):
    for _ in range(n):
        x = 0.5 * x + 1
    return x


def wide_sum(x, n):
    return sum(x * (k + 0.5) for k in range(n))


def choices(x, n):
    y = x
    for k in range(n):
        y = np.where(x > k + 0.5, y + k, y)
    return y


def updates(x, n):
    y = x.copy()
    for k in range(n):
        y[k % 2] = y[k % 2] * 2 + k
    return y


def updates_apart(x, n):
    y = np.tile(x, n)
    for k in range(n):
        y[k] = x[0] + k
    return y


def scalars(x, n):
    total = x[0]
    for k in range(n):
        total = total * 0.5 + x[k % 3]
    return total


def sums(x, n):
    return sum(np.sum(np.sin(x) * (k + 0.5)) for k in range(n))


def scans(x, n):
    for _ in range(n):
        x = np.cumsum(x)
    return x


def joined(x, n):
    return np.stack([x * k for k in range(n)])


PROGRAMS = [chain, wide_sum, choices, updates, updates_apart, scalars, sums, scans, joined]


def lines_run(function, *arguments):
    """How many lines of Python are run to make the LLVM of a function."""
    count = 0

    def local(frame, event, argument):
        nonlocal count
        count += event == "line"
        return local

    before = sys.gettrace()
    compiled = graph_jit(function, cache=False)
    gc.collect()  # what goes with the values of other tests is Python, too
    sys.settrace(lambda *_: local)
    try:
        compiled.llvm(*arguments, optimised=False)
    finally:
        sys.settrace(before)
    return count


def check_linear(run, length=25):
    """Twice as much more takes twice as much longer."""
    run(5)  # what is done once a process
    few, some, many = run(length), run(2 * length), run(4 * length)
    assert many - some < 2.2 * (some - few)


@pytest.mark.repeats(but_each=4)
@pytest.mark.parametrize("program", PROGRAMS)
def test_long_programs_take_linear_time(program):
    check_linear(lambda n: lines_run(lambda x: program(x, n), X))


@pytest.mark.repeats(but_each=2)
@pytest.mark.parametrize("program", [chain, scalars])
def test_their_derivatives_take_linear_time(program):
    check_linear(lambda n: lines_run(grad(lambda x: np.sum(program(x, n))), X))


@pytest.mark.repeats(but_each=2)
@pytest.mark.parametrize("different", [False, True])
def test_many_leaves_take_linear_time(different):
    def run(n):
        tree = {f"x{k}": np.ones(2 + k * different) for k in range(n)}
        return lines_run(lambda tree: {name: each * 2 for name, each in tree.items()}, tree)

    check_linear(run, 40)


@pytest.mark.parametrize("program", [chain, choices, wide_sum])
def test_long_rows_of_operations_are_cut(program):
    """LLVM's vectoriser takes quadratic time for what stands in one loop."""

    def function(x):
        y = program(x, 450)
        return y, np.max(y)

    compiled = graph_jit(function)
    for x in (X, np.arange(12.0).reshape(3, 4)):
        for result, expected in zip(compiled(x), function(x), strict=True):
            np.testing.assert_array_equal(result, expected)
        special, _ = compiled._introspection.program((x,), {})
        kernels = [step for step in special.program.body.steps if isinstance(step, Kernel)]
        assert len(kernels) > 2
        assert max(sum(1 for _ in walk(step.scalars())) for step in kernels) < 6 * MOST_IN_A_ROW


def test_derivatives_of_long_rows_of_operations():
    def function(x):
        for _ in range(250):
            x = np.sin(x) + x
        return np.sum(x)

    x, expected = X[:2] * 1e-100, 2.0**250
    np.testing.assert_allclose(graph_jit(grad(function))(x), expected, rtol=1e-12)


def test_a_new_version_leaves_those_for_other_static_values(monkeypatch):
    made = Tally()

    def counting(*args):
        made.step()
        return make_callable(*args)

    for module in (dispatch, backends):
        monkeypatch.setattr(module, "make_callable", counting)
    compiled = graph_jit(lambda x, k: x * k, static_argnames="k")
    counts = []
    for k in range(4):
        assert compiled(2.0, k) == 2.0 * k
        counts.append(len(made))
    assert counts == [2, 4, 6, 8]
    assert [compiled(3.0, k) for k in range(4)] == [0, 3, 6, 9]
    assert len(made) == 8
