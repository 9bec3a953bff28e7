"""Derivatives of loops whose number of steps is not known, recomputation, and running combinations."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import numbagraph as ng

RNG = np.random.default_rng(21)


def damped(x: Any, limit: Any) -> Any:
    """A fixed point: how many steps it takes depends on the data."""

    def step(state: Any) -> Any:
        y, count, _ = state
        new = 0.9 * np.cos(y) * x[0] + x[1]
        return new, count + 1, np.abs(new - y)

    return ng.while_loop(lambda state: (state[2] > 1e-9) & (state[1] < limit), step, (x[0], 0, 1.0))[0]


def plain_damped(x: np.ndarray, limit: int) -> float:
    y, count, change = x[0], 0, 1.0
    while change > 1e-9 and count < limit:
        new = 0.9 * np.cos(y) * x[0] + x[1]
        y, count, change = new, count + 1, abs(new - y)
    return y


def with_arrays(a: Any, b: Any) -> Any:
    """Two carried arrays, of which one is an argument, a captured matrix, and an assignment."""

    def step(state: Any) -> Any:
        x, y, count = state
        new = np.tanh(a @ x + y)
        z = y.copy()
        z[count % 3] = new[0] * y[1]
        return new, z, count + 1

    x, y, _ = ng.while_loop(lambda state: (np.sum(state[0] ** 2) > 1e-3) & (state[2] < 7), step, (b, b * 0.5, 0))
    return np.sum(x * np.array([1.0, 2.0, 3.0])) + np.sum(np.sin(y))


def plain_with_arrays(a: np.ndarray, b: np.ndarray) -> float:
    x, y, count = b, b * 0.5, 0
    while np.sum(x**2) > 1e-3 and count < 7:
        new = np.tanh(a @ x + y)
        z = y.copy()
        z[count % 3] = new[0] * y[1]
        x, y, count = new, z, count + 1
    return np.sum(x * np.array([1.0, 2.0, 3.0])) + np.sum(np.sin(y))


def differences(function: Any, args: list[Any], place: int) -> np.ndarray:
    base = args[place]
    result = np.zeros_like(base)
    for index in np.ndindex(base.shape):
        ends = []
        for sign in (1e-6, -1e-6):
            moved = base.copy()
            moved[index] += sign
            ends.append(function(*args[:place], moved, *args[place + 1 :]))
        result[index] = (ends[0] - ends[1]) / 2e-6
    return result


@pytest.mark.parametrize("limit", [0, 1, 2, 63, 64, 65, 200])
def test_gradient_of_a_number(limit: int) -> None:
    x = np.array([0.7, 0.2])
    gradient, value = ng.graph_jit(ng.grad(damped)), ng.graph_jit(damped)
    assert value(x, limit) == pytest.approx(plain_damped(x, limit), rel=1e-14)
    expected = differences(plain_damped, [x, limit], 0)
    np.testing.assert_allclose(gradient(x, limit), expected, rtol=1e-6, atol=1e-8)
    forward = ng.graph_jit(ng.jacfwd(damped))(x, limit)
    np.testing.assert_allclose(forward, expected, rtol=1e-6, atol=1e-8)


def test_forward_mode_on_jax() -> None:
    x = np.array([0.7, 0.2])
    found = ng.graph_jit(lambda x: ng.jacfwd(damped)(x, 40), backend="jax")(x)
    np.testing.assert_allclose(found, differences(plain_damped, [x, 40], 0), rtol=1e-6)
    with pytest.raises(NotImplementedError, match="scan, or jvp"):
        ng.graph_jit(lambda x: ng.grad(damped)(x, 40), backend="jax")(x)


@pytest.mark.parametrize("backend", ["numba", "numpy"])
def test_gradient_of_arrays(backend: str) -> None:
    a, b = RNG.normal(size=(3, 3)) / 2, RNG.normal(size=3)
    found = ng.graph_jit(ng.grad(with_arrays, argnums=(0, 1)), backend=backend)(a, b)
    for place, each in enumerate(found):
        np.testing.assert_allclose(each, differences(plain_with_arrays, [a, b], place), rtol=1e-6, atol=1e-8)


def test_gradients_of_a_batch() -> None:
    xs = np.array([0.7, 0.2]) + RNG.normal(size=(5, 2)) / 10
    found = ng.graph_jit(ng.vmap(ng.grad(lambda x: damped(x, 100))))(xs)
    for x, each in zip(xs, found, strict=True):
        np.testing.assert_allclose(each, differences(plain_damped, [x, 100], 0), rtol=1e-5, atol=1e-8)


def jacobian(function: Any, x: np.ndarray) -> np.ndarray:
    """Of a function of a vector, by differences."""
    columns = [(function(x + step) - function(x - step)) / 2e-6 for step in 1e-6 * np.eye(x.size)]
    return np.stack(columns, axis=-1)


SECOND = {
    "forward over forward": lambda f: ng.jacfwd(ng.jacfwd(f)),
    "forward over reverse": ng.hessian,
    "reverse over forward": lambda f: ng.jacrev(ng.jacfwd(f)),
    "reverse over reverse": lambda f: ng.jacrev(ng.grad(f)),
}


@pytest.mark.repeats(but_each=2)
@pytest.mark.parametrize("order", SECOND)
def test_second_derivatives(order: str) -> None:
    def f(x: Any, limit: int) -> Any:
        return np.sin(damped(x, limit)) * x[0]

    x, first = np.array([0.7, 0.2]), ng.graph_jit(ng.grad(f))
    compiled, plain = (ng.graph_jit(SECOND[order](f), backend=each) for each in ("numba", "numpy"))
    for limit in (0, 1, 2, 64, 65, 100):
        expected = jacobian(lambda x, limit=limit: first(x, limit), x)
        np.testing.assert_allclose(compiled(x, limit), expected, rtol=1e-5, atol=1e-8)
        np.testing.assert_allclose(plain(x, limit), expected, rtol=1e-5, atol=1e-8)


@pytest.mark.repeats(but_each=2)
@pytest.mark.parametrize("order", SECOND)
def test_second_derivatives_of_arrays(order: str) -> None:
    """By what is carried, by a captured matrix, and by both."""
    a, b = RNG.normal(size=(3, 3)) / 2, RNG.normal(size=3)

    def f(x: Any) -> Any:
        return with_arrays(x[3:].reshape(3, 3), x[:3])

    x = np.concatenate([b, a.ravel()])
    expected = jacobian(ng.graph_jit(ng.grad(f)), x)
    backend = "numba" if order == "reverse over reverse" else "numpy"  # the others take LLVM long
    found = ng.graph_jit(SECOND[order](f), backend=backend)(x)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_third_derivatives() -> None:
    x = np.array([0.7, 0.2])
    third = ng.graph_jit(ng.jacrev(ng.hessian(lambda x: damped(x, 60))))
    second = ng.graph_jit(ng.hessian(lambda x: damped(x, 60)))
    np.testing.assert_allclose(third(x), jacobian(second, x), rtol=1e-5)


def test_second_derivatives_of_a_batch() -> None:
    xs = np.array([0.7, 0.2]) + RNG.normal(size=(4, 2)) / 10
    one = ng.graph_jit(ng.hessian(lambda x: damped(x, 30)))
    found = ng.graph_jit(ng.vmap(ng.hessian(lambda x: damped(x, 30))))(xs)
    np.testing.assert_allclose(found, [one(x) for x in xs], rtol=1e-12)


def test_second_derivatives_of_python_loops() -> None:
    def power(x: Any, n: int) -> Any:
        y = x
        while np.abs(y) < n:
            y = y * x
        return y

    found = ng.graph_jit(ng.grad(ng.grad(power)))
    for x, n in ((2.0, 1), (2.0, 3), (1.5, 100), (3.0, 1000)):
        count = int(np.log(power(x, n)) / np.log(x) + 0.5)
        np.testing.assert_allclose(found(x, n), count * (count - 1) * x ** (count - 2), rtol=1e-12)


def test_second_derivatives_of_elements_that_steps_read() -> None:
    def read(x: Any) -> Any:
        return ng.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * x[s[0]] + x[0]), (0, 1.0))[1]

    def plain(x: np.ndarray) -> float:
        total = 1.0
        for number in range(5):
            total = total * x[number] + x[0]
        return total

    x = RNG.normal(size=6)
    gradient = ng.graph_jit(ng.grad(read))
    np.testing.assert_allclose(gradient(x), differences(plain, [x], 0), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ng.graph_jit(ng.hessian(read))(x), jacobian(gradient, x), rtol=1e-5, atol=1e-7)


def test_a_check_in_a_loop_of_second_order() -> None:
    def f(x: Any) -> Any:
        def step(state: Any) -> Any:
            y, number = state
            ng.check(y < 50.0, "{} is too large", y)
            return y * x, number + 1

        return ng.while_loop(lambda s: s[1] < 4, step, (x, 0))[0]

    second = ng.graph_jit(ng.grad(ng.grad(f)))
    assert second(2.0) == pytest.approx(20 * 2.0**3)
    with pytest.raises(ng.CheckError, match=r"81(.|\n)*step 3"):
        second(3.0)


def test_a_scan_in_a_while_loop_of_second_order() -> None:
    def f(x: Any) -> Any:
        def step(state: Any) -> Any:
            return ng.scan(lambda y, u: (np.sin(y + u), None), state[0], x)[0], state[1] + 1

        return ng.while_loop(lambda s: s[1] < 2, step, (x[0], 0))[0]

    x = np.array([0.3, 0.8])
    expected = jacobian(ng.graph_jit(ng.grad(f)), x)
    for order in SECOND.values():
        np.testing.assert_allclose(ng.graph_jit(order(f), backend="numpy")(x), expected, rtol=1e-5)


def test_second_derivatives_through_a_rule_that_is_not_linear() -> None:
    @ng.custom_vjp
    def clipped(x: Any) -> Any:
        return x * 1.0

    clipped.defvjp(lambda x: (x * 1.0, None), lambda _, g: (np.clip(g, -1.0, 1.0),))

    def f(x: Any) -> Any:
        return ng.while_loop(lambda s: s[1] < 3, lambda s: (clipped(s[0] * x), s[1] + 1), (x, 0))[0]

    assert ng.graph_jit(ng.grad(f))(0.5) == pytest.approx(4 * 0.5**3)
    with pytest.raises(NotImplementedError, match="not seen to be linear"):
        ng.graph_jit(ng.grad(ng.grad(f)))(0.5)


def test_an_error_in_a_step_of_what_is_differentiated() -> None:
    def read(x: Any) -> Any:
        return ng.while_loop(lambda s: s[0] < 9, lambda s: (s[0] + 1, s[1] * x[s[0]]), (0, 1.0))[1]

    run = ng.graph_jit(ng.grad(read))
    assert run(np.ones(9)).tolist() == [1.0] * 9
    with pytest.raises(IndexError, match="in step 4"):
        run(np.ones(4))


def test_checkpoint() -> None:
    inner = ng.checkpoint(lambda x, *, scale: (np.sin(np.exp(x)) * scale, x**2))

    def outer(x: Any) -> Any:
        one, other = inner(x, scale=2.0)
        return np.sum(one * other)

    x = RNG.normal(size=4)
    expected = differences(lambda x: np.sum(np.sin(np.exp(x)) * 2.0 * x**2), [x], 0)
    np.testing.assert_allclose(ng.graph_jit(ng.grad(outer))(x), expected, rtol=1e-6)
    assert inner(2.0, scale=1.0)[1] == 4.0


def in_segments(x: Any, us: Any, segments: int) -> Any:
    """A recurrence, of which a gradient stores the states at the ends of segments."""

    def step(x: Any, u: Any) -> Any:
        return np.tanh(0.9 * x + u), None

    rows = us.reshape(segments, -1)
    return np.sum(ng.scan(lambda x, row: ng.scan(step, x, row), x, rows)[0] ** 2)


@pytest.mark.parametrize("segments", [1, 3, 12])
def test_gradients_of_segments(segments: int) -> None:
    x, us = RNG.normal(size=2), RNG.normal(size=12) / 5

    def plain(x: np.ndarray, us: np.ndarray) -> float:
        for u in us:
            x = np.tanh(0.9 * x + u)
        return np.sum(x**2)

    found = ng.graph_jit(ng.grad(in_segments, argnums=(0, 1)), static_argnames="segments")(x, us, segments)
    for place, each in enumerate(found):
        np.testing.assert_allclose(each, differences(plain, [x, us], place), rtol=1e-6, atol=1e-8)


MEMORY = """
import numpy as np
import numbagraph
from tests.api.test_while_gradients import in_segments

def grown(segments):
    gradient = numbagraph.graph_jit(numbagraph.grad(in_segments), static_argnames="segments")
    us = np.sin(np.arange(71.0**2))
    gradient(np.ones(2000), us[: 2 * segments], segments)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # from now on the peak is that of this call, not of the compilation
    before = memory("VmRSS")
    gradient(np.ones(2000), us, segments)
    return (memory("VmHWM") - before) / 1024

def memory(name):
    lines = open("/proc/self/status").read().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(name)))

print(grown(71), grown(1))  # the largest last, since a process's peak stays
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the unit of what is measured is Linux's")
def test_memory_of_segments() -> None:
    """States of 71 steps of 71 are 2.3 MB, those of 5041 are 81 MB."""
    call = [sys.executable, "-c", MEMORY]
    root = Path(__file__).parents[2]
    found = subprocess.run(call, capture_output=True, text=True, check=True, cwd=root).stdout
    segments, one = map(float, found.split())
    assert segments < 16
    assert one > 64


def test_truncated_backpropagation() -> None:
    """Nothing goes back beyond every third step."""

    def f(x: Any, us: Any) -> Any:
        def step(carry: Any, u: Any) -> Any:
            x, number = carry
            x = np.where(number % 3 == 0, ng.stop_gradient(x), x)
            x = np.tanh(x * u)
            return (x, number + 1), x

        return np.sum(ng.scan(step, (x, 0), us)[1])

    def plain(x: float, us: np.ndarray) -> np.ndarray:
        """The derivative by each of ``us``, by hand."""
        states = [x]
        for u in us:
            states.append(np.tanh(states[-1] * u))
        slopes, back = np.zeros(len(us)), 0.0
        for k in range(len(us) - 1, -1, -1):
            back = (back + 1.0) * (1 - states[k + 1] ** 2)
            slopes[k] = back * states[k]
            back = 0.0 if k % 3 == 0 else back * us[k]
        return slopes

    us = RNG.normal(size=8)
    for_x, for_us = ng.graph_jit(ng.grad(f, argnums=(0, 1)))(0.7, us)
    assert for_x == 0.0
    np.testing.assert_allclose(for_us, plain(0.7, us), rtol=1e-12)


def test_a_carry_that_is_held() -> None:
    """Of an exponential average that normalises what is seen, no derivative is taken."""

    def f(us: Any) -> Any:
        def step(mean: Any, u: Any) -> Any:
            mean = 0.9 * ng.stop_gradient(mean) + 0.1 * ng.stop_gradient(u)
            return mean, (u - mean) ** 2

        return np.sum(ng.scan(step, 0.0, us)[1])

    us = RNG.normal(size=6)
    mean, expected = 0.0, []
    for u in us:
        mean = 0.9 * mean + 0.1 * u
        expected.append(2 * (u - mean))
    np.testing.assert_allclose(ng.graph_jit(ng.grad(f))(us), expected, rtol=1e-12)

    def until(x: Any) -> Any:
        return ng.while_loop(lambda s: s[1] < 5, lambda s: (s[0] * ng.stop_gradient(s[0]) + x, s[1] + 1), (x, 0))[0]

    state, slope = 0.3, 1.0
    for _ in range(5):
        state, slope = state * state + 0.3, slope * state + 1
    np.testing.assert_allclose(ng.graph_jit(ng.grad(until))(0.3), slope, rtol=1e-12)


@ng.custom_vjp
def clipped_exp(x: Any, limit: Any) -> Any:
    return np.exp(x)


clipped_exp.defvjp(lambda x, limit: (np.exp(x), (x, limit)), lambda kept, g: (g * np.exp(np.minimum(*kept)), None))


def with_python_s_loop(step: Any, x: Any, us: Any) -> Any:
    for u in us:
        x = step(x, u)
    return x


@pytest.mark.parametrize("loop", ["scan", "while", "for", "nested", "branch"])
def test_a_rule_inside_of_a_loop(loop: str) -> None:
    """A rule for derivatives counts in each step, with what the step has."""

    def step(x: Any, u: Any) -> Any:
        return 0.1 * clipped_exp(x * u, 0.5)

    def f(x: Any, us: Any) -> Any:
        if loop == "scan":
            return ng.scan(lambda x, u: (step(x, u), None), x, us)[0]
        if loop == "while":
            return ng.while_loop(lambda s: s[1] < 6, lambda s: (step(s[0], us[s[1]]), s[1] + 1), (x, 0))[0]
        if loop == "for":
            return with_python_s_loop(step, x, us)
        if loop == "nested":
            return ng.scan(
                lambda x, row: (ng.scan(lambda x, u: (step(x, u), None), x, row)[0], None), x, us.reshape(2, 3)
            )[0]
        return ng.scan(lambda x, u: (ng.cond(u > 0, lambda: step(x, u), lambda: step(x, u)), None), x, us)[0]

    def by_hand(x: float, us: np.ndarray) -> tuple[float, np.ndarray]:
        states = [x]
        for u in us:
            states.append(0.1 * np.exp(states[-1] * u))
        back, slopes = 1.0, np.zeros(len(us))
        for k in range(len(us) - 1, -1, -1):
            inner = back * 0.1 * np.exp(min(states[k] * us[k], 0.5))
            slopes[k], back = inner * states[k], inner * us[k]
        return back, slopes

    us = np.array([0.5, 20.0, -1.0, 3.0, 30.0, 0.2])
    for backend in ("numba", "numpy"):
        found = ng.graph_jit(ng.grad(f, argnums=(0, 1)), backend=backend)(1.5, us)
        for one, other in zip(found, by_hand(1.5, us), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_associative_scan(axis: int, reverse: bool) -> None:
    def combine(left: Any, right: Any) -> Any:
        """Of linear recurrences."""
        return left[0] * right[0], left[1] * right[0] + right[1]

    a, b = RNG.normal(size=(4, 5)), RNG.normal(size=(4, 5))
    found = ng.graph_jit(lambda a, b: ng.associative_scan(combine, (a, b), reverse=reverse, axis=axis))(a, b)
    rows = [np.moveaxis(each, axis, 0)[:: -1 if reverse else 1] for each in (a, b)]
    state, expected = (rows[0][0], rows[1][0]), [(rows[0][0], rows[1][0])]
    for one, other in zip(rows[0][1:], rows[1][1:], strict=True):
        state = combine(state, (one, other))
        expected.append(state)
    for number in (0, 1):
        whole = np.stack([each[number] for each in expected])[:: -1 if reverse else 1]
        np.testing.assert_allclose(found[number], np.moveaxis(whole, 0, axis), rtol=1e-12)
