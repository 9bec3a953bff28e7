"""What Python functions that are called from compiled code read and change of the world around them."""

import functools
import sys
import warnings

import numpy as np
import pytest

from numbagraph import grad, graph_jit, pure_callback, vmap
from numbagraph.frontend import jit
from numbagraph.frontend.surroundings import make_while_unchanged

X = np.arange(3.0)


class Log:
    def __init__(self):
        self.seen = []
        self.factor = 2.0

    def __call__(self, x):
        self.seen.append(x)
        return x * self.factor

    def double(self, x):
        self.seen.append(x)
        return x * 2


def of_an_object():
    log = Log()
    return lambda x: pure_callback(log, x, x), log.seen


def of_a_closure():
    seen = []

    def double(x):
        seen.append(x)
        return x * 2

    return lambda x: pure_callback(double, x, x), seen


def of_a_function_inside():
    seen = []

    def f(x):
        def double(x):
            seen.append(x)
            return x * 2

        return pure_callback(double, x, x)

    return f, seen


def of_a_partial():
    seen = []

    def scaled(x, factor):
        seen.append(x)
        return x * factor

    double = functools.partial(scaled, factor=2)
    return lambda x: pure_callback(double, x, x), seen


def of_a_helper():
    seen = {}

    def remember(x):
        return seen.setdefault(x.tobytes(), x * 2)

    def double(x):
        return remember(x)

    return lambda x: pure_callback(double, x, x), seen


def of_a_count():
    counts = {"calls": 0}

    def double(x):
        counts["calls"] += 1
        counts[counts["calls"]] = x
        return x * 2

    return lambda x: pure_callback(double, x, x), counts


def of_a_loop():
    seen = []

    def double(x):
        seen.append(x)
        return x * 2

    def f(x):
        total = np.zeros(3)
        for _ in range(3):
            total = total + pure_callback(double, x, x)
        return total / 3

    return f, seen


def of_a_compiled_function():
    f, seen = of_a_closure()
    compiled = graph_jit(f)
    return lambda x: compiled(x) + 0, seen


def of_a_batch():
    f, seen = of_a_closure()
    return vmap(lambda x: f(x)), seen


def of_a_derivative():
    seen = []
    ones = np.ones(3)

    def total(x):
        return np.sum(pure_callback(lambda x: x * seen_more(x), x, x, vjp=lambda g, _, x: (2 * x * g,)))

    def seen_more(x):
        seen.append(x)
        return x

    return lambda x: grad(total)(x) * ones + total(x) * 0, seen


STATES = [
    of_an_object,
    of_a_closure,
    of_a_function_inside,
    of_a_partial,
    of_a_helper,
    of_a_count,
    of_a_loop,
    of_a_compiled_function,
    of_a_batch,
    of_a_derivative,
]


@pytest.mark.parametrize("make", STATES)
def test_a_callback_changes_its_state_and_nothing_is_traced_again(make, monkeypatch):
    f, state = make()
    traces = []

    def counted(*args):
        traces.append(args)
        return make_while_unchanged(*args)

    monkeypatch.setattr(jit, "make_while_unchanged", counted)
    compiled = graph_jit(f)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for step in range(12):
            np.testing.assert_array_equal(compiled(X + step), 2 * (X + step))
            if step == 1:
                known, before = len(traces), len(state)
    assert len(traces) == known
    assert len(state) > before


def test_what_a_callback_reads_is_read_by_each_call():
    log = Log()
    f = graph_jit(lambda x: pure_callback(log, x, x))
    np.testing.assert_array_equal(f(X), X * 2)
    log.factor = 3.0
    np.testing.assert_array_equal(f(X), X * 3)


def scaled_twice():
    settings = {"factor": 1.0}

    def scaled(x):
        return x * settings["factor"]

    return settings, scaled


@pytest.mark.parametrize("first", ["traced", "called"])
def test_a_function_that_is_traced_as_well(first):
    settings, scaled = scaled_twice()

    def f(x):
        if first == "traced":
            return scaled(x) - pure_callback(scaled, x, x)
        return -pure_callback(scaled, x, x) + scaled(x)

    compiled = graph_jit(f)
    for factor in (1.0, 2.0, 3.0):
        settings["factor"] = factor
        np.testing.assert_array_equal(compiled(X), np.zeros(3))


def test_a_function_that_another_dtype_traces():
    settings, scaled = scaled_twice()

    def f(x):
        return scaled(x) if x.dtype == np.float32 else pure_callback(scaled, x, x)

    compiled = graph_jit(f)
    for factor in (1.0, 2.0, 3.0):
        settings["factor"] = factor
        for x in (X, X.astype(np.float32)):
            np.testing.assert_array_equal(compiled(x), x * factor)


def test_a_compiled_function_that_was_traced_before_traces_it():
    settings, scaled = scaled_twice()
    inner = graph_jit(lambda x: scaled(x))
    outer = graph_jit(lambda x: inner(x) - pure_callback(scaled, x, x))
    np.testing.assert_array_equal(inner(X), X)
    for factor in (1.0, 2.0):
        settings["factor"] = factor
        np.testing.assert_array_equal(outer(X), np.zeros(3))


def test_a_name_of_a_callback_that_is_bound_anew():
    double = functools.partial(np.multiply, 2)

    def f(x):
        return pure_callback(double, x, x)

    compiled = graph_jit(f)
    np.testing.assert_array_equal(compiled(X), X * 2)
    double = functools.partial(np.multiply, 3)
    np.testing.assert_array_equal(compiled(X), X * 3)


def test_a_profiler_of_the_user_stays():
    f, seen = of_a_closure()
    events = []

    def see(*event):
        events.append(event)

    sys.setprofile(see)
    try:
        np.testing.assert_array_equal(graph_jit(f)(X), X * 2)
        assert sys.getprofile() is see
    finally:
        sys.setprofile(None)
    assert events
    assert len(seen) == 1


def test_no_profiler_is_left_behind():
    def f(x):
        pure_callback(np.negative, x, x)
        raise KeyError("x")

    with pytest.raises(KeyError):
        graph_jit(f)(X)
    assert sys.getprofile() is None
