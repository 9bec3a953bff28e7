"""Loops that fill a table by rows: a step of theirs, and of their derivatives, works on rows and never on the table."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import numbagraph as ng

STEPS, WIDTH = 37, 11


def rows(x: Any, w: Any) -> Any:
    y = np.zeros((len(x), WIDTH))
    y[0] = w
    for i in range(len(x) - 1):
        y[i + 1] = np.sin(y[i] * w) + x[i]
    return np.sum(y**2)


def columns(x: Any, w: Any) -> Any:
    y = np.zeros((WIDTH, len(x)))
    y[:, 0] = w
    for i in range(len(x) - 1):
        y[:, i + 1] = np.sin(y[:, i] * w) + x[i]
    return np.sum(y**2)


def parts_of_rows(x: Any, w: Any) -> Any:
    y = np.zeros((len(x), WIDTH))
    y[:2] = w
    for i in range(1, len(x) - 1):
        y[i + 1, 1:-1] = 2 * y[i, 1:-1] - y[i - 1, 1:-1] + x[i] * (y[i, 2:] - 2 * y[i, 1:-1] + y[i, :-2])
    return np.sum(y**2)


def two_tables(x: Any, w: Any) -> Any:
    position, speed = np.zeros((len(x), WIDTH)), np.zeros((len(x), WIDTH))
    position[0] = w
    for i in range(len(x) - 1):
        speed[i + 1] = speed[i] - 0.1 * np.sin(position[i])
        position[i + 1] = position[i] + x[i] * speed[i + 1]
    return np.sum(position**2 + speed)


def earlier_rows(x: Any, w: Any) -> Any:
    y = np.zeros((len(x), WIDTH))
    y[0] = w
    for i in range(len(x) - 1):
        y[i + 1] = np.sin(y[i, ::-1]) + y[i // 2] * x[i]
    return np.sum(y**2)


def updated_rows(x: Any, w: Any) -> Any:
    y = np.zeros((len(x), WIDTH)) + w
    for i in range(len(x) - 1):
        y[i + 1] += np.sin(y[i])
        y[i + 1] *= x[i]
    return np.sum(y**2)


def until(x: Any, w: Any) -> Any:
    y = np.zeros((len(x), WIDTH))
    y[0] = w
    i = 0
    while i < len(x) - 1 and y[i, 0] < 1e9:
        y[i + 1] = np.sin(y[i]) + x[i]
        i += 1
    return np.sum(y**2)


def branches(x: Any, w: Any) -> Any:
    y = np.zeros((len(x), WIDTH))
    y[0] = w
    for i in range(len(x) - 1):
        if x[i] > 0.5:
            y[i + 1] = np.sin(y[i])
        else:
            y[i + 1] = np.cos(y[i]) * x[i]
    return np.sum(y**2)


def branches_of_columns(x: Any, w: Any) -> Any:
    y = np.zeros((WIDTH, len(x)))
    y[:, 0] = w
    for i in range(len(x) - 1):
        if x[i] > 0.5:
            y[:, i + 1] = np.sin(y[:, i])
        elif x[i] > 0.3:
            y[3, i + 1] = y[2, i] * x[i]
    return np.sum(y**2)


def buffer_in_a_ring(x: Any, w: Any) -> Any:
    y, total = np.zeros((5, WIDTH)), 0.0
    y[0] = w
    for i in range(len(x) - 1):
        if x[i] > 0.5:
            y[(i + 1) % 5] = np.sin(y[i % 5])
        else:
            y[(i + 1) % 5] = y[(i + 3) % 5] * x[i] + y[i % 5]
        total += np.sum(y[i % 5]) * x[i]
    return np.sum(y**2) + total


def rows_or_columns(x: Any, w: Any) -> Any:
    """Overwritten rows and columns have one rank and different lengths: the table is stored as a whole."""
    y = np.zeros((len(x), WIDTH))
    y[0] = w
    for i in range(len(x) - 1):
        if x[i] > 0.5:
            y[i + 1] = np.sin(y[i]) + x[i]
        else:
            y[:, i % WIDTH] = y[:, (i + 1) % WIDTH] * x[i]
    return np.sum(y**2)


def blocks(x: Any, w: Any) -> Any:
    y = np.zeros((len(x), 3, 2))
    y[0] = w[:6].reshape(3, 2)
    for i in range(len(x) - 1):
        if x[i] > 0.7:
            y[-i - 2] = np.sin(y[-i - 1])
            y[-i - 2] = y[-i - 2] * x[i]
        elif x[i] > 0.3:
            y[i + 1, 2] = y[i, 1] * 2.0
        else:
            y[i + 1, 1, 1] += y[i, 2, 0] * x[i]
    return np.sum(y**2)


BY_ROWS = [rows, columns, parts_of_rows, two_tables, earlier_rows, updated_rows, until, branches, branches_of_columns]
FUNCTIONS = [*BY_ROWS, buffer_in_a_ring, rows_or_columns, blocks]


def names(functions: Any) -> Any:
    return pytest.mark.parametrize("function", functions, ids=[each.__name__ for each in functions])


def problem(steps: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(steps)
    return rng.random(steps), rng.random(WIDTH) + 0.1


def slope(function: Any, x: Any, w: Any, dx: Any, dw: Any, step: float = 1e-6) -> Any:
    return (function(x + step * dx, w + step * dw) - function(x - step * dx, w - step * dw)) / (2 * step)


@names(FUNCTIONS)
def test_derivatives_are_those_of_differences(function: Any) -> None:
    gradient = ng.graph_jit(ng.grad(function, argnums=(0, 1)))
    pushed = ng.graph_jit(lambda x, w, dx, dw: ng.jvp(function, (x, w), (dx, dw))[1])
    for steps in (1, 2, 3, 12):
        x, w = problem(steps)
        if steps > 1 or function is not parts_of_rows:
            dx, dw = np.random.default_rng(0).standard_normal(steps), np.cos(np.arange(WIDTH))
            along_x, along_w = gradient(x, w)
            expected = slope(function, x, w, dx, dw)
            np.testing.assert_allclose(along_x @ dx + along_w @ dw, expected, rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose(pushed(x, w, dx, dw), expected, rtol=1e-6, atol=1e-6)


@names([rows, columns, until, branches, branches_of_columns, blocks])
def test_batches_and_second_derivatives_are_those_of_first_ones(function: Any) -> None:
    gradient = ng.graph_jit(ng.grad(function, argnums=1))
    batch = ng.graph_jit(ng.vmap(ng.grad(function, argnums=1)))
    second = ng.graph_jit(ng.grad(lambda x, w: np.sum(ng.grad(function, argnums=1)(x, w) * np.cos(w)), argnums=1))
    x, w = problem(9)
    found = batch(np.stack([x, x[::-1]]), np.stack([w, 1.1 * w]))
    np.testing.assert_allclose(found[0], gradient(x, w), rtol=1e-12)
    np.testing.assert_allclose(found[1], gradient(x[::-1].copy(), 1.1 * w), rtol=1e-12)
    direction = np.sin(np.arange(WIDTH))
    expected = slope(lambda _, v: np.sum(gradient(x, v) * np.cos(v)), x, w, 0.0, direction)
    np.testing.assert_allclose(second(x, w) @ direction, expected, rtol=1e-5, atol=1e-6)


@names(BY_ROWS)
@pytest.mark.parametrize("derive", [lambda f: f, lambda f: ng.grad(f, argnums=(0, 1))], ids=["value", "gradient"])
def test_no_step_runs_over_the_table(function: Any, derive: Any) -> None:
    text = ng.graph_jit(derive(function)).explain(*problem(STEPS))
    whole = [f"i0 < {STEPS} x i1 < {WIDTH}", f"i0 < {WIDTH} x i1 < {STEPS}", f"i < {STEPS * WIDTH}"]
    within = [line for line in text.splitlines() if line.startswith("    ") and " nest " in line]
    assert within
    assert not [line for line in within if any(each in line for each in whole)]
    memory = text[text.index("memory:") :]
    sizes = [float(each) for each in re.findall(r"([\d.]+) KiB", memory)]
    assert "MiB" not in memory
    assert max(sizes) < 10  # of the table and its records: all tables before each step would be 117 KiB
