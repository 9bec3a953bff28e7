"""What a traced function may write: what it made itself; and writes in traces inside of traces and on other threads."""

import functools
import threading
import types
import warnings

import numpy as np
import pytest

import numbagraph
from numbagraph import graph_jit

X = np.arange(3.0) + 1
COUNTED = types.SimpleNamespace(calls=0)


class Weighted:
    @functools.cached_property
    def weights(self):
        return np.arange(3.0)


WEIGHTED = Weighted()


class Layer:
    def __init__(self, scale):
        self.scale = scale
        self.outputs = []
        self.count = 0

    def __call__(self, x):
        self.count += 1
        self.outputs.append(x * self.scale)
        return self.outputs[-1]


def own_objects(x):
    layer, found, table = Layer(2.0), [], {}
    for number in range(3):
        found.append(layer(x))
        table[number] = x
    namespace = types.SimpleNamespace(total=0)
    for each in found:
        namespace.total = namespace.total + each
    count = 0

    def step():
        nonlocal count
        count += 1
        return count

    buffer = np.zeros(3)
    buffer[0] = step() + layer.count
    return namespace.total + buffer


@functools.lru_cache
def constants(n):
    return np.arange(float(n))


def memoised(x):
    return x + constants(3) + WEIGHTED.weights


def with_warning(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.warn("once", stacklevel=1)
    return x


def arguments_are_copied(x, *rest, **options):
    options["new"] = x
    options.pop("given", None)
    return options["new"] + sum(rest)


@pytest.mark.parametrize("function", [own_objects, memoised, with_warning, arguments_are_copied])
def test_writes_that_outlive_nothing(function):
    vars(WEIGHTED).pop("weights", None)
    np.testing.assert_array_equal(graph_jit(function, backend="numpy")(X), function(X))
    vars(WEIGHTED).pop("weights", None)


def test_the_caller_s_dict_is_copied_before_a_function_gets_it_as_keywords():
    def function(x, **options):
        options.clear()
        return x

    np.testing.assert_array_equal(graph_jit(function, backend="numpy")(X, a=X, b=X), X)


def test_traces_inside_of_traces():
    inner = graph_jit(lambda x: np.sum(x**2))

    @graph_jit
    def writes(x):
        COUNTED.calls += 1
        return x * 2

    constant = np.ones(2)
    with_concrete = graph_jit(
        lambda x: x * inner(constant) + numbagraph.grad(inner)(x) + numbagraph.vmap(inner)(x[:, None])
    )
    np.testing.assert_array_equal(with_concrete(X), X * 2 + 2 * X + X**2)
    for function in (lambda x: writes(x), lambda x: x + writes(constant)[0]):
        COUNTED.calls = 0
        compiled = graph_jit(function)
        for count in (1, 2):
            compiled(X)
            assert COUNTED.calls == count
    COUNTED.calls = 0
    with pytest.raises(numbagraph.TraceError, match="'calls' is assigned to in vmap"):
        graph_jit(numbagraph.vmap(lambda x: writes(x)))(X)
    assert COUNTED.calls == 0


def test_threads_trace_at_the_same_time():
    errors, results = [], []

    def work(number):
        local = []

        def bad(x):
            local.append(x)
            return x

        def good(x):
            return x * number

        try:
            results.append(graph_jit(good, backend="numpy")(X)[0] == number)
            graph_jit(bad, backend="numpy")(X)
        except TypeError as error:
            errors.append("local" in str(error) and not local)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert (results, errors) == ([True] * 6, [True] * 6)
