"""How long gradients of programs with loops, branches and assignments take, beside their values.

``python -m asv_benchmarks.gradients [NAME ...]`` prints a row for each: kernels of ``examples/kernels`` as they are
written, an integrator with given steps, one that chooses them, and loops of 4,000 steps that end by a condition and
fill a table. A kernel's value is the sum of the squares of all that it gives and writes. Times are processor times,
medians of interleaved calls; each gradient is compared with a difference of values along a random direction.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from examples.kernels import KERNELS, arguments
from numbagraph import graph_jit, value_and_grad

CALLS, STEP = 41, 1e-6
CHOSEN = (
    "jacobi_2d", "heat_3d", "jacobi_2d_loops", "lu", "lu_loops", "cholesky", "forward_substitution_loops",
    "viterbi", "viterbi_loops", "n_body", "k_means", "soft_k_means", "conv2d", "conv2d_loops", "vertical_advection",
    "vertical_advection_loops",
)  # fmt: skip


def pendulum(y: Any) -> Any:
    return np.stack([y[1], -np.sin(y[0]) - 0.1 * y[1]])


def runge_kutta(y: Any, steps: int) -> Any:
    """The classical method of fourth order (Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I,
    table II.1.2)."""
    h = 0.01
    for _ in range(steps):
        first = pendulum(y)
        second = pendulum(y + h / 2 * first)
        third = pendulum(y + h / 2 * second)
        fourth = pendulum(y + h * third)
        y = y + h / 6 * (first + 2 * second + 2 * third + fourth)
    return np.sum(y**2)


def adaptive(y: Any, end: float, tolerance: float) -> Any:
    """Steps of Bogacki and Shampine (1989), as long as the estimated error allows."""
    t, h = 0.0, 0.1
    while t < end:
        if t + h > end:
            h = end - t
        first = pendulum(y)
        second = pendulum(y + h / 2 * first)
        third = pendulum(y + 3 * h / 4 * second)
        new = y + h * (2 * first + 3 * second + 4 * third) / 9
        error = h * (-5 * first / 72 + second / 12 + third / 9 - pendulum(new) / 8)
        size = np.sqrt(np.mean(error**2)) + 1e-300
        if size < tolerance:
            t = t + h
            y = new
        h = h * min(5.0, max(0.2, 0.9 * (tolerance / size) ** (1 / 3)))
    return np.sum(y**2)


def filled(x: Any, bound: float) -> Any:
    """A table that is filled as long as its elements are small."""
    a = np.zeros(len(x))
    i = 1
    while i < len(x) and abs(a[i - 1]) < bound:
        a[i] = 0.9 * np.sin(a[i - 1]) + x[i]
        i += 1
    return np.sum(a**2)


def filled_until(x: Any, bound: float) -> Any:
    """The same in a loop that is left, and in place."""
    a = x.copy()
    for i in range(1, len(x)):
        a[i] = 0.9 * np.sin(a[i - 1]) + a[i]
        if abs(a[i]) > bound:
            break
    return np.sum(a**2)


def updated_in_branches(x: Any) -> Any:
    a = x.copy()
    for i in range(1, len(x)):
        if a[i] > a[i - 1]:
            a[i] = 0.5 * np.sin(a[i - 1]) + a[i]
        else:
            a[i - 1] = 0.9 * a[i]
    return np.sum(a**2)


OWN: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "runge_kutta": (runge_kutta, (np.array([1.0, 0.0]), 2000)),
    "adaptive": (adaptive, (np.array([1.0, 0.0]), 20.0, 1e-8)),
    "filled": (filled, (np.linspace(-1.0, 1.0, 4001), 10.0)),
    "filled_until": (filled_until, (np.linspace(-1.0, 1.0, 4001), 10.0)),
    "updated_in_branches": (updated_in_branches, (np.linspace(-1.0, 1.0, 4001),)),
}


def problem(name: str) -> tuple[Callable[..., Any], tuple[Any, ...], tuple[int, ...]]:
    """A function of arrays that gives a number, its arguments, and those that are differentiated."""
    if name in OWN:
        function, given = OWN[name]
        return function, given, (0,)
    kernel, given = KERNELS[name], tuple(arguments(name, "medium"))
    floats = tuple(number for number, each in enumerate(given) if is_float(each))

    def loss(*values: Any) -> Any:
        copies = [each.copy() if number in floats else each for number, each in enumerate(values)]
        returned = kernel(*copies)
        found = returned if isinstance(returned, tuple) else (returned,)
        results = [each for each in (*found, *(copies[number] for number in floats)) if is_float(each)]
        return sum(np.sum(each**2) for each in results)

    return loss, given, floats


def is_float(value: Any) -> bool:
    return hasattr(value, "dtype") and value.dtype.kind == "f"


def measure(name: str) -> list[str]:
    function, given, floats = problem(name)
    value = graph_jit(function)
    gradient = graph_jit(value_and_grad(function, argnums=floats))
    value(*given)
    slopes = gradient(*given)[1]
    seconds: dict[Any, list[float]] = {value: [], gradient: []}
    for _ in range(CALLS):
        for each, found in seconds.items():
            start = time.process_time()
            each(*given)
            found.append(time.process_time() - start)
    first, second = (statistics.median(each) for each in seconds.values())
    error = deviation(value, given, floats, slopes)
    return [name, f"{first * 1e6:.0f}", f"{second * 1e6:.0f}", f"{second / first:.1f}", f"{error:.0e}"]


def deviation(value: Any, given: tuple[Any, ...], floats: tuple[int, ...], slopes: Any) -> float:
    """By how much a slope along a random direction differs from a difference of values, in shares of it."""
    rng = np.random.default_rng(0)
    directions = [rng.normal(size=given[number].shape) * np.abs(given[number]) for number in floats]
    values = []
    for sign in (1, -1):
        moved = list(given)
        for number, each in zip(floats, directions, strict=True):
            moved[number] = given[number] + sign * STEP * each  # of float32 in double precision
        values.append(float(value(*moved)))
    expected = (values[0] - values[1]) / (2 * STEP)
    found = sum(float(np.sum(pair[0] * pair[1])) for pair in zip(slopes, directions, strict=True))
    return abs(found - expected) / abs(expected)


if __name__ == "__main__":
    table = Table(
        "", "value, µs", "value and gradient, µs", "ratio", "beside a difference", title="Gradients of programs"
    )
    for chosen in sys.argv[1:] or (*CHOSEN, *OWN):
        table.add_row(*measure(chosen))
    Console(width=100).print(table)
