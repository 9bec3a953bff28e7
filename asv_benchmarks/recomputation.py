"""How much memory gradients of long loops take: as they are, as loops of loops, and in segments (``checkpoint``).

``python -m asv_benchmarks.recomputation`` prints a row for each form, measured in a process of its own: by how much the
first call of a compiled gradient lets the process grow, and how long the second one takes.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph import checkpoint, grad, graph_jit, scan

STEPS, WIDTH = 317**2, 1000


def step(x: Any, u: Any) -> Any:
    return np.tanh(0.9 * x + u), None


def recurrence(x: Any, us: Any) -> Any:
    return np.sum(scan(step, x, us)[0] ** 2)


def rows(x: Any, us: Any) -> Any:
    """The recurrence as a scan over scans."""
    segments = us.reshape(us.shape[0] // 317, 317)
    return np.sum(scan(lambda x, row: scan(step, x, row), x, segments)[0] ** 2)


def in_segments(x: Any, us: Any) -> Any:
    return np.sum(scan(step, x, us, checkpoint=True)[0] ** 2)


def heat(x: Any, us: Any) -> Any:
    """The heat equation by assignments to a slice."""
    x = x.copy()
    for u in us:
        x[1:-1] = x[1:-1] + 0.1 * (x[2:] - 2 * x[1:-1] + x[:-2]) * np.cos(x[1:-1] * u)
    return np.sum(x**2)


def unknown(x: Any, us: Any) -> Any:
    """A loop whose number of steps is not known before."""
    count = 0
    while count < us.shape[0] and x[0] < 10.0:
        x = np.tanh(0.9 * x + us[count])
        count += 1
    return np.sum(x**2)


def filled(x: Any, us: Any) -> Any:
    """A loop that fills an array."""
    y = np.zeros(us.shape[0] + 1)
    y[0] = x[0]
    for i in range(us.shape[0]):
        y[i + 1] = np.tanh(0.9 * y[i] + us[i])
    return np.sum(y**2)


FORMS: dict[str, tuple[Callable[..., Any], int]] = {
    "one scan": (recurrence, STEPS),
    "317 scans of 317 steps": (rows, STEPS),
    "scan(checkpoint=True)": (in_segments, STEPS),
    "heat": (heat, 20_000),
    "heat, in segments": (checkpoint(heat, loops=True), 20_000),
    "while": (unknown, 20_000),
    "while, in segments": (checkpoint(unknown, loops=True), 20_000),
    "filled": (filled, 10**6),
    "filled, in segments": (checkpoint(filled, loops=True), 10**6),
}
"""Functions, and numbers of steps."""


def measure(name: str) -> None:
    """Print by how much a call lets the process grow, and how long the next one takes."""
    function, steps = FORMS[name]
    gradient, us = graph_jit(grad(function)), np.sin(np.arange(float(steps)))
    gradient(np.ones(WIDTH), us[: 2 * 317])  # compiles
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    gradient(np.ones(WIDTH), us)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    start = time.perf_counter()
    gradient(np.ones(WIDTH), us)
    print(f"{name}: {grown / 1024:.1f} MiB, {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1])
    else:
        for form in FORMS:
            subprocess.run([sys.executable, "-m", "asv_benchmarks.recomputation", form], check=True)
