"""Loops whose number of steps is a constant of the program are regions, where their steps are alike."""

import copy
import math
import threading
from typing import Any

import numpy as np
import optree
import pytest

from numbagraph import grad, graph_jit, vmap
from numbagraph.capture.statements import control_flow
from numbagraph.jit import conversion
from numbagraph.testing.gradients import check_gradients
from numbagraph.tracing.unrolled_loops import MOST_STEPS
from tests.support.programs import long_loops
from tests.support.programs.declared import LONG

BY_NAME = {function.__name__: (function, arguments) for function, arguments in LONG}
STEP_BY_STEP = {"by_axes", "by_names", "layers", "series"}


def compiled(function: Any) -> Any:
    return graph_jit(function)


def parts(result: Any) -> Any:
    return result if isinstance(result, tuple) else (result,)


def unrolled(function, monkeypatch):
    """A compiled function whose loops are traced step by step."""
    monkeypatch.setattr(conversion, "FEW_CALLS", 10**9)
    return compiled(function)


def size(function, *arguments):
    return len(str(compiled(function).graph(*arguments)).splitlines())


@pytest.mark.parametrize("name", BY_NAME)
def test_values_are_those_of_numpy(name):
    function, arguments = BY_NAME[name]
    expected, given = function(*copy.deepcopy(arguments)), copy.deepcopy(arguments)
    found = compiled(function)(*given)
    for one, other in zip(parts(found), parts(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)
    for one, other in zip(optree.tree_leaves(given), optree.tree_leaves(arguments), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", BY_NAME)
def test_derivatives_agree_with_differences(name):
    function, arguments = BY_NAME[name]
    if name not in ("layers", "american_put"):  # a tree, and edges where the early exercise begins
        check_gradients(graph_jit(function), arguments, order=1, compiled=1)


@pytest.mark.parametrize("name", sorted({*BY_NAME} - STEP_BY_STEP))
def test_steps_and_copies_of_them_give_the_same(name, monkeypatch):
    function, arguments = BY_NAME[name]
    rolled = compiled(function)(*copy.deepcopy(arguments))
    copied = unrolled(function, monkeypatch)(*copy.deepcopy(arguments))
    for one, other in zip(parts(rolled), parts(copied), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


def test_the_gradient_of_steps_and_of_copies_is_one(monkeypatch):
    function, arguments = BY_NAME["american_put"]
    rolled = graph_jit(grad(function, argnums=(0, 3)))(*arguments)
    copied = unrolled(grad(function, argnums=(0, 3)), monkeypatch)(*arguments)
    np.testing.assert_allclose(rolled, copied, rtol=1e-11)


@pytest.mark.parametrize("name", sorted({*BY_NAME} - STEP_BY_STEP))
def test_the_graph_has_one_step(name, monkeypatch):
    function, arguments = BY_NAME[name]
    rolled = size(function, *copy.deepcopy(arguments))
    monkeypatch.setattr(conversion, "FEW_CALLS", 10**9)
    try:
        copied = size(function, *copy.deepcopy(arguments))
    except TypeError:  # captured whatever its loops are
        return
    assert rolled < 120 or rolled <= copied


def repeated(steps):
    def function(x):
        for k in range(steps):
            x = x + 0.1 * np.sin(x) * np.cos(0.1 * k) - 0.01 * x * x
        return x

    return function


def test_a_graph_does_not_grow_with_the_number_of_steps():
    x = np.linspace(0.1, 1.0, 3)
    assert size(repeated(20), x) == size(repeated(100_000), x) < 60
    found = graph_jit(repeated(100_000))(x)
    np.testing.assert_allclose(found, repeated(100_000)(x), rtol=1e-9)


def test_few_steps_are_copies():
    x = np.linspace(0.1, 1.0, 3)
    assert "scan" not in str(graph_jit(repeated(8)).graph(x))
    assert "scan" in str(graph_jit(repeated(30)).graph(x))


def test_numbers_that_leave_64_bits_are_known_step_by_step():
    def function(x, n):
        total = x
        for k in range(30):
            total = total * n + x**k / math.factorial(k)
        return total

    x = np.linspace(0.1, 1.0, 3)
    run = graph_jit(function)
    for n in (0.5, 0.25):
        np.testing.assert_allclose(run(x, n), function(x, n), rtol=1e-13)


def test_numbers_of_a_call_that_leave_64_bits_are_refused_as_ever():
    def function(x, n):
        for _ in range(30):
            x = x * 0.5 + n * 0.25 + np.sin(x)
        return x + n * n

    run = graph_jit(function)
    np.testing.assert_allclose(run(np.ones(2), 3), function(np.ones(2), 3), rtol=1e-13)
    with pytest.raises(OverflowError, match="an integer of Python leaves int64"):
        run(np.ones(2), 2**40)
    np.testing.assert_allclose(run(np.ones(2), 4), function(np.ones(2), 4), rtol=1e-13)


def test_a_loop_that_cannot_be_a_region_and_has_no_end_in_sight_says_why(monkeypatch):
    def function(x):
        for k in range(3000):
            x = np.sin(x) + float(f"{k}") * 0.001
        return x

    monkeypatch.setattr(conversion, "MOST_CALLS", 300)
    with pytest.raises(TypeError, match=r"test_long_loops\.py"):
        graph_jit(function)(np.ones(2))


def test_a_handler_of_the_user_does_not_see_how_loops_are_found():
    def function(x):
        try:
            for _ in range(50):
                x = np.sin(x) + 0.5 * x
        except TypeError:
            return np.zeros_like(x)
        return x

    x = np.linspace(0.1, 1.0, 3)
    np.testing.assert_allclose(graph_jit(function)(x), function(x), rtol=1e-12)


def test_loops_of_helpers_and_of_methods():
    class Smoother:
        def __init__(self, weight):
            self.weight = weight

        def __call__(self, x):
            for _ in range(20):
                x = self.step(x)
            return x

        def step(self, x):
            return self.weight * x + (1 - self.weight) * np.roll(x, 1) * np.cos(x)

    def function(x):
        return Smoother(0.9)(x) + Smoother(0.5)(x)[::-1]

    x = np.linspace(0.1, 1.0, 7)
    np.testing.assert_allclose(graph_jit(function)(x), function(x), rtol=1e-12)
    assert size(function, x) < 80


@pytest.mark.parametrize("name", ["string", "likelihood", "attractor", "stacked"])
def test_inside_of_transformations(name):
    function, (first, *others) = BY_NAME[name]

    def scalar(x):
        found = function(x, *others)
        return sum(np.sum(each**2) for each in (found if isinstance(found, tuple) else (found,)))

    rows = np.stack([first, 0.5 * first, 0.25 * first])
    np.testing.assert_allclose(graph_jit(vmap(scalar))(rows), [scalar(each) for each in rows], rtol=1e-11)
    found = graph_jit(vmap(grad(scalar)))(rows)
    np.testing.assert_allclose(found, [grad(scalar)(each) for each in rows], rtol=1e-9, atol=1e-11)
    nested = graph_jit(lambda x: graph_jit(scalar)(x) + scalar(2 * x))
    np.testing.assert_allclose(nested(first), scalar(first) + scalar(2 * first), rtol=1e-11)


def test_on_several_threads():
    x, found = np.linspace(0.1, 1.0, 5), {}

    def run(steps):
        found[steps] = graph_jit(repeated(steps))(x)

    threads = [threading.Thread(target=run, args=(steps,)) for steps in range(20, 26)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for steps in range(20, 26):
        np.testing.assert_allclose(found[steps], repeated(steps)(x), rtol=1e-12)


def test_lists_and_tuples_are_those_of_python():
    def function(x):
        kept = [np.sum(np.sin(x * k)) + np.cos(x[k]) * np.mean(x) for k in range(12)]
        fixed = tuple(np.sum(np.cos(x * k)) + np.sin(x[k]) * np.mean(x) for k in range(12))
        return kept, fixed, [each * 2 for each in kept], len(fixed)

    found, expected = graph_jit(function)(long_loops.X), function(long_loops.X)
    assert [type(each) for each in found] == [type(each) for each in expected]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_iterators_are_used_up():
    def function(x):
        places = iter(range(20))
        for k in places:
            x = 0.5 * x + np.sin(k * x) * 0.1 + np.cos(x)
        return x, next(places, -1)

    found, expected = graph_jit(function)(long_loops.X), function(long_loops.X)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-9)
    assert found[1] == expected[1] == -1


def sweeps(number):
    """Loops over elements, so many times."""

    def function(x):
        for _ in range(number):
            y = x.copy()
            for i in range(1, len(y)):
                y[i] = 0.5 * y[i - 1] + np.sin(y[i])
            x = y[::-1].copy()
        return x

    return function


def test_few_steps_around_loops_are_one_step(monkeypatch):
    x = np.linspace(0.1, 1.0, 7)
    assert size(sweeps(8), x) == size(sweeps(3), x) < 1.5 * size(sweeps(1), x)
    found = graph_jit(sweeps(4))(x)
    np.testing.assert_allclose(found, sweeps(4)(x), rtol=1e-12)
    check_gradients(graph_jit(lambda x: sweeps(4)(x)), (x,), order=1, compiled=1)
    monkeypatch.setattr(control_flow, "FEWEST_AROUND", MOST_STEPS + 1)
    np.testing.assert_array_equal(graph_jit(lambda x: sweeps(4)(x))(x), found)
    assert size(lambda x: sweeps(8)(x), x) > size(lambda x: sweeps(3)(x), x) > size(sweeps(1), x)


@pytest.mark.parametrize("length", [0, 1, 5])
def test_numbers_that_few_steps_count_stay_known(length):
    def function(x):
        axis, kept = 0, []
        for k in range(3):
            total = 0.0
            for i in range(len(x)):
                total += x[i] * np.cos(total)
            axis += k
            kept.append(np.sum(np.ones((2, 3, 4, 5)) * total, axis=axis))
        return kept, axis

    x = np.linspace(0.1, 1.0, length)
    found, expected = graph_jit(function)(x), function(x)
    assert found[1] == expected[1]
    for one, other in zip(found[0], expected[0], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_number_that_follows_a_loop_of_few_steps_chooses_an_axis():
    def function(x):
        axis = 0
        for _ in range(3):
            for i in range(1, len(x)):
                x = x * np.cos(x[i])
            axis += 1
        return np.sum(np.ones((2, 3, 4, 5)) * x[0], axis=axis), axis

    x = np.linspace(0.1, 1.0, 4)
    found, expected = graph_jit(function)(x), function(x)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    assert found[1] == expected[1] == 3


def test_few_steps_around_a_loop_may_end():
    def function(x, bound):
        taken = 0.0
        for k in range(5):
            for i in range(len(x)):
                taken += x[i] * (k + 1)
            if taken > bound:
                break
        return taken, k

    x = np.linspace(0.1, 1.0, 4)
    for bound in (0.0, 7.0, 1e9):
        assert graph_jit(function)(x, bound) == pytest.approx(function(x, bound), rel=1e-12)
