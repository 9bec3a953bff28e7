"""Nested functions beside loops and branches that bind the variables which they read."""

import functools

import numpy as np
import pytest

from numbagraph import graph_jit

X = np.array([3.0, 1.0, 4.0])


def of_a_lambda(x):
    k, total = 1.0, 0.0
    f = lambda t: t * k  # noqa: E731
    for v in x:
        k = v
        total += f(1.0)
    return total


def of_a_target(x):
    total = 0.0
    f = lambda t: t * k  # noqa: E731
    for k in x:  # noqa: B007
        total += f(1.0)
    return total


def of_a_while_loop(x):
    k, total, i = 1.0, 0.0, 0

    def f(t):
        return t * k

    while i < len(x):
        k = x[i]
        total += f(1.0)
        i += 1
    return total


def of_a_branch(x):
    k = 1.0

    def f(t):
        return t * k

    if x[0] > 0:
        k = 5.0
    return f(1.0)


def afterwards(x):
    k = 1.0

    def f(t):
        def inner():
            return t * k

        return inner()

    for v in x:
        k = v
    return f(1.0)


def by_another_name(x):
    k = 1.0
    f = lambda t: t * k  # noqa: E731
    g = f
    table = {"f": g}
    for v in x:
        k = v
    return table["f"](1.0)


def by_another_function(x):
    k, total = 1.0, 0.0

    def f(t):
        return t * k

    def g(t):
        return f(t) + 1

    for v in x:
        k = v
        total += g(1.0)
    return total


def by_a_partial(x):
    k = 1.0
    f = functools.partial(lambda s, t: s * t * k, 2.0)
    for v in x:
        k = v
    return f(1.0)


def in_a_list(x):
    k, held = 1.0, []
    held.append(lambda t: t * k)
    for v in x:
        k = v
    return held[0](1.0)


def of_a_function_inside(x):
    k, total = 1.0, 0.0
    f = lambda t: sum(map(lambda s: s * k, [t]))  # noqa: C417, E731
    for v in x:
        k = v
        total += f(1.0)
    return total


def of_what_a_comprehension_goes_over(x):
    k, total = (1.0, 2.0), 0.0
    f = lambda t: sum([k * t for k in k])  # noqa: E731
    for v in x:
        k = (v, v)
        total += f(1.0)
    return total


STALE = [
    of_a_function_inside,
    of_what_a_comprehension_goes_over,
    of_a_lambda,
    of_a_target,
    of_a_while_loop,
    of_a_branch,
    afterwards,
    by_another_name,
    by_another_function,
    by_a_partial,
    in_a_list,
]


@pytest.mark.parametrize("function", STALE)
def test_functions_read_variables_that_change_afterwards(function):
    np.testing.assert_allclose(graph_jit(function)(X), function(X))


def in_the_step(x):
    k, total = 1.0, 0.0
    for v in x:
        k = v
        f = lambda t: t * k  # noqa: B023, E731
        total += f(2.0)
    return total


def with_a_default(x):
    k = 1.0
    f = lambda t, k=k: t * k  # noqa: E731
    for v in x:
        k = v
    return f(1.0) + k


def not_called_any_more(x):
    k = 2.0
    f = lambda t: t * k  # noqa: E731
    total = f(x[0])
    for v in x:
        k = v * v
        total += k
    return total


def with_a_parameter_inside(x):
    def doubled(t):
        added = lambda k: k + k  # noqa: E731
        return added(t)

    k = 1.0
    for v in x:
        k = doubled(k) - v
    return k


def with_a_variable_inside(x):
    def doubled(t):
        def added(s):
            k = s + t
            read = lambda: k  # noqa: E731
            return read()

        return added(t)

    k = 1.0
    for v in x:
        k = doubled(k) - v
    return k


def with_a_comprehension_inside(x):
    def added(t):
        return sum([k * t for k in (1.0, 2.0)])

    k = 1.0
    for v in x:
        k = added(k) - v
    return k


def of_a_call(x):
    first = min(range(3), key=lambda i: (i - 1) ** 2)
    total = 0.0
    for i in range(len(x)):
        total += x[i] * i
    return total + first


SOUND = [
    in_the_step,
    with_a_default,
    not_called_any_more,
    with_a_parameter_inside,
    with_a_variable_inside,
    with_a_comprehension_inside,
    of_a_call,
]


@pytest.mark.parametrize("function", SOUND)
def test_functions_that_nobody_calls_with_other_values_are_compiled(function):
    np.testing.assert_allclose(graph_jit(function)(X), function(X), rtol=1e-15)


def test_insertion_into_a_list_that_a_loop_fills():
    def reverse(x):
        out = []
        for v in x:
            out.insert(0, v)
        return out

    assert graph_jit(reverse)(X) == reverse(X)


power = lambda n: lambda x: np.sum(x**n)  # noqa: E731


def test_lambdas_in_lambdas_on_one_line():
    """The outer one makes the inner one and does nothing else: every instruction of it is at the inner one's place."""

    def grown(x):
        size = power(2)
        while size(x) < 100.0:
            x = x * power(0)(x)
        return x

    np.testing.assert_array_equal(graph_jit(grown)(X), grown(X))
