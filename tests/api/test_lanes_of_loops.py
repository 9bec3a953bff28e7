"""Batches of loops that end on a condition: blocks of elements go on together, and what is done is masked."""

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import numbagraph as ng


def cube_root(a):
    x, steps = a + 1.0, 0
    while abs(x * x * x - a) > 1e-12 * a and steps < 50:
        x = x - (x * x * x - a) / (3 * x * x)
        steps = steps + 1
    return x, steps


def halved(a):
    """A loop whose step has an infinite derivative where elements begin that take none."""
    x = a
    while x > 0.1:
        x = np.sqrt(x - 0.1) * 0.5
    return x


def damped(a, b):
    x = a
    while x > 0.01:
        x = x * b / (1.0 + x)
    return x


def bounded(a):
    x, steps = a, 0
    while x > 1e-6 and steps < 5:
        if x > 3.0:
            raise ValueError(f"too large: {x} at {steps}")
        x = x * a
        steps = steps + 1
    return x


def slow_or_bounded(a):
    """A loop that never ends for negative numbers."""
    x = a
    while x < 3.0:
        if x > 2.0:
            raise ValueError(f"too large: {x}")
        x = x + 0.25 if a > 0 else x * 0.5
    return x


def turned(a):
    """Steps with branches of several kinds, and several carries, an array and numbers of two dtypes."""
    v = np.stack([a, 2.0 * a])
    steps = 0
    while np.sum(v * v) > 0.1:
        if v[0] > v[1]:
            v = np.stack([v[1], v[0] - v[1]]) * 0.9
        elif steps % 2 == 0:
            v = v * 0.5
        else:
            v = np.where(v > 0.2, np.sqrt(np.abs(v)) * 0.3, v[::-1] * 0.6)
        steps += 1
    return v, steps


def elements(function, *columns):
    rows = [function(*each) for each in zip(*columns, strict=True)]
    return tuple(map(np.array, zip(*rows, strict=True))) if isinstance(rows[0], tuple) else np.array(rows)


@pytest.mark.parametrize("function", [cube_root, turned])
def test_lengths(function):
    compiled = ng.graph_jit(ng.vmap(function))
    for count in (0, 1, 5, 63, 64, 65, 1000):
        a = np.linspace(0.2, 9.0, count)
        values, steps = compiled(a)
        expected = elements(function, a) if count else (np.zeros(np.shape(values)), np.zeros(0))
        np.testing.assert_allclose(values, expected[0], rtol=1e-12)
        np.testing.assert_array_equal(steps, expected[1])
        assert steps.dtype == np.int64


def test_a_known_length():
    a = np.linspace(0.5, 3.0, 5)
    found = ng.graph_jit(lambda x: ng.vmap(lambda k: cube_root(x + k)[0])(np.arange(5.0)))(2.0)
    np.testing.assert_allclose(found, np.cbrt(2.0 + np.arange(5)))
    np.testing.assert_allclose(ng.vmap(cube_root)(a)[0], np.cbrt(a))


def test_operands_of_which_some_are_the_same():
    a, b = np.linspace(0.0, 4.0, 70), np.linspace(0.2, 0.9, 70)
    np.testing.assert_allclose(ng.vmap(damped)(a, b), elements(damped, a, b))
    np.testing.assert_allclose(ng.vmap(damped, in_axes=(0, None))(a, 0.7), [damped(x, 0.7) for x in a])
    np.testing.assert_allclose(ng.vmap(damped, in_axes=(None, 0))(3.0, b), [damped(3.0, x) for x in b])


def test_a_batch_of_batches():
    a, b = np.linspace(0.0, 4.0, 6), np.linspace(0.2, 0.9, 67)
    table = ng.vmap(ng.vmap(damped, in_axes=(None, 0)), in_axes=(0, None))
    np.testing.assert_allclose(table(a, b), [[damped(x, y) for y in b] for x in a])
    few = a * 0.2
    np.testing.assert_allclose(table(b, few), [[damped(x, y) for y in few] for x in b])


def test_a_late_length():
    a = np.linspace(-1.0, 4.0, 90)
    found = ng.graph_jit(lambda a: ng.vmap(halved)(a[a > 0.5]))(a)
    np.testing.assert_allclose(found, [halved(x) for x in a[a > 0.5]])


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_dtypes(dtype):
    def shrunk(a):
        x = a
        while np.abs(x) > 0.3:
            x = x * x * dtype(0.4)
        return x

    a = np.linspace(0.1, 2.0, 70).astype(dtype) * (1 if dtype is np.float32 else np.exp(0.3j))
    found = ng.vmap(shrunk)(a)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, [shrunk(x) for x in a], rtol=1e-6)


def test_special_values_stay_with_their_elements():
    a = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 0.1, 4.0])
    with np.errstate(invalid="ignore"):
        expected = [halved(x) if x != np.inf else np.inf for x in a]
    short = ng.vmap(lambda x: cube_root(np.where(x == np.inf, 8.0, x)))(a)[0]
    assert np.isnan(short[0])
    finite = np.delete(a, 1)
    found = ng.vmap(halved)(finite)
    np.testing.assert_allclose(found, np.delete(np.array(expected), 1))
    np.testing.assert_array_equal(np.signbit(found), np.signbit(np.delete(np.array(expected), 1)) | np.isnan(found) * 0)


def test_derivatives():
    a = np.array([4.0, 0.1, 0.05, 2.0])  # at 0.1 the derivative of a step that is not taken is infinite
    expected = np.array([complex_step(halved, x) for x in a])
    of_batch = ng.graph_jit(ng.grad(lambda a: np.sum(ng.vmap(halved)(a))))
    np.testing.assert_allclose(of_batch(a), expected, rtol=1e-7)
    np.testing.assert_allclose(ng.vmap(ng.grad(halved))(a), expected, rtol=1e-7)
    found, tangent = ng.jvp(ng.vmap(halved), (a,), (np.ones(4),))
    np.testing.assert_allclose(tangent, expected, rtol=1e-7)
    np.testing.assert_allclose(found, [halved(x) for x in a])


def complex_step(function, a):
    h = 1e-6
    return (function(a + h) - function(a - h)) / (2 * h) if a > 0.11 else 1.0


def test_derivatives_by_what_is_the_same_for_all():
    a = np.linspace(0.1, 4.0, 70)
    loss = ng.graph_jit(ng.value_and_grad(lambda b: np.sum(ng.vmap(damped, in_axes=(0, None))(a, b))))

    def plain(b):
        return sum(damped(x, b) for x in a)

    value, slope = loss(0.7)
    np.testing.assert_allclose(value, plain(0.7))
    np.testing.assert_allclose(slope, (plain(0.7 + 1e-7) - plain(0.7 - 1e-7)) / 2e-7, rtol=1e-5)


def test_second_derivatives():
    a = np.linspace(0.5, 4.0, 66)
    second = ng.graph_jit(ng.vmap(ng.grad(ng.grad(lambda a: cube_root(a)[0]))))
    np.testing.assert_allclose(second(a), -2 / 9 * a ** (-5 / 3), rtol=1e-6)


def test_a_branch_that_is_not_taken_has_no_derivative():
    a = np.array([4.0, 0.0, -1.0, 2.0])
    slope = ng.grad(lambda a: np.sum(ng.vmap(lambda x: ng.cond(x > 0, lambda: np.sqrt(x), lambda: 2.0 * x))(a)))
    np.testing.assert_allclose(slope(a), [0.25, 2.0, 2.0, 0.5 / np.sqrt(2.0)])


def test_among_other_operations():
    def program(a, b):
        scaled = np.exp(a) / np.sum(b)
        total = 0.0
        for step in range(3):
            total = total + np.sum(ng.vmap(damped, in_axes=(0, None))(scaled + step, 0.5))
        return np.where(total > 1.0, ng.vmap(halved)(scaled), scaled).cumsum()

    def plain(a, b):
        scaled = np.exp(a) / np.sum(b)
        total = sum(damped(x + step, 0.5) for step in range(3) for x in scaled)
        return np.cumsum([halved(x) for x in scaled] if total > 1.0 else scaled)

    a, b = np.linspace(-1.0, 2.0, 70), np.ones(3)
    np.testing.assert_allclose(ng.graph_jit(program)(a, b), plain(a, b))


def test_in_a_branch_and_a_scan():
    def program(a, flag):
        def one(carry, k):
            return carry + np.sum(ng.vmap(halved)(a + k)), carry

        return ng.cond(flag, lambda: ng.scan(one, 0.0, np.arange(3.0))[0], lambda: 0.0)

    a = np.linspace(0.0, 2.0, 70)
    compiled = ng.graph_jit(program)
    np.testing.assert_allclose(compiled(a, True), sum(halved(x + k) for k in range(3) for x in a))
    assert compiled(a, False) == 0.0


def test_the_first_element_that_fails_raises():
    compiled = ng.graph_jit(ng.vmap(bounded))
    np.testing.assert_allclose(compiled(np.linspace(0.1, 1.1, 70)), [bounded(x) for x in np.linspace(0.1, 1.1, 70)])
    for place in (0, 2, 66):
        a = np.full(70, 0.5)
        a[place], a[place + 1 :] = 1.6, 3.5  # later elements fail in earlier steps
        with pytest.raises(ValueError, match="too large") as expected:
            bounded(1.6)
        with pytest.raises(ValueError, match="too large") as found:
            compiled(a)
        assert str(found.value) == str(expected.value)
        assert f"in element {place} of the batch" in "\n".join(found.value.__notes__)


def test_elements_behind_one_that_fails_do_not_matter():
    compiled = ng.graph_jit(ng.vmap(slow_or_bounded))
    with pytest.raises(ValueError, match=r"too large: 2\.25"):
        compiled(np.array([3.5, 1.0, -1.0]))


def test_integers_that_are_too_large():
    def counted(a):
        steps = 2**63 - 8
        while a > 0:
            a = a - 1.0
            steps = steps + 1
        return steps

    compiled = ng.graph_jit(ng.vmap(counted))
    np.testing.assert_array_equal(compiled(np.array([1.0, 0.0, 6.5])), 2**63 - 8 + np.array([1, 0, 7]))
    with pytest.raises(OverflowError):
        compiled(np.array([1.0, 9.0, 0.5]))


def test_a_loop_of_integers():
    def collatz(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    numbers = np.arange(1, 71)
    np.testing.assert_array_equal(ng.graph_jit(ng.vmap(collatz))(numbers), [collatz(int(n)) for n in numbers])


def test_a_loop_in_a_loop():
    def nested(a):
        total, x = 0.0, a
        while x > 0.5:
            y = x
            while y > 0.25:
                y = y * 0.6
                total = total + y
            x = x - 0.5
        return total

    a = np.linspace(0.0, 3.0, 67)
    np.testing.assert_allclose(ng.graph_jit(ng.vmap(nested))(a), [nested(x) for x in a])


def test_threads():
    compiled, a = ng.graph_jit(ng.vmap(cube_root)), np.linspace(0.1, 9.0, 5000)
    with ThreadPoolExecutor(4) as pool:
        for found, _ in pool.map(compiled, [a] * 16):
            np.testing.assert_allclose(found, np.cbrt(a), rtol=1e-12)


def test_roots():
    a = np.linspace(0.1, 9.0, 130)
    compiled = ng.graph_jit(ng.vmap(lambda a: brentq(lambda x: x**3 + x - a, 0.0, 10.0)))
    expected: Any = np.array([brentq(lambda x, a=a: x**3 + x - a, 0.0, 10.0) for a in a])
    found: Any = compiled(a)
    np.testing.assert_allclose(found, expected, rtol=0, atol=4e-12)
    a[77] = -1.0
    with pytest.raises(ValueError, match="different signs"):
        compiled(a)
    few = a[:5]
    slope = ng.vmap(ng.grad(lambda a: brentq(lambda x: x**3 + x - a, 0.0, 10.0)))(few)
    np.testing.assert_allclose(slope, 1 / (3 * expected[:5] ** 2 + 1), rtol=1e-10)


def test_initial_value_problems():
    def spring(k, times):
        return solve_ivp(lambda t, y: np.stack([y[1], -k * y[0]]), (0.0, 5.0), np.array([1.0, 0.0]), t_eval=times).y

    stiffness, times = np.linspace(0.5, 9.0, 66), np.linspace(0.0, 5.0, 4)
    found = ng.graph_jit(ng.vmap(spring, in_axes=(0, None)))(stiffness, times)
    np.testing.assert_allclose(found, [spring(k, times) for k in stiffness], rtol=1e-9, atol=1e-9)


def test_checks_of_branches_along_several_axes():
    """They arise while the first axis is batched, and hold along the others, too."""

    def taken(x):
        return ng.cond(x > 0, lambda: math.exp(x), lambda: x)

    def left(x):
        return ng.cond(x > 0, lambda: math.exp(-x), lambda: x)

    x = np.array([[-1000.0, 1.0, 2.0], [0.5, -3.0, 4.0]])
    for rows in (x, x.T, x[None], x[:, None]):
        grown = np.exp(np.minimum(rows, 9.0))
        np.testing.assert_allclose(ng.graph_jit(ng.vectorize(taken))(rows), np.where(rows > 0, grown, rows))
        found = ng.graph_jit(ng.vectorize(left))(rows)
        np.testing.assert_allclose(found, np.where(rows > 0, np.exp(-np.abs(rows)), rows))
        with pytest.raises(OverflowError):
            ng.graph_jit(ng.vectorize(taken))(-rows)
