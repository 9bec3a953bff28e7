"""How much memory the gradient of a long scan takes, in one piece and as segments that are computed again.

``python -m asv_benchmarks.recomputation`` prints a row for each number of segments, measured in a process of its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

from numbagraph import grad, graph_jit, scan

STEPS, WIDTH = 317**2, 1000


def step(x: Any, u: Any) -> Any:
    return np.tanh(0.9 * x + u), None


def loss(x: Any, us: Any, segments: int) -> Any:
    """What a scan over ``us`` gives, or one over segments of it."""
    rows = us.reshape(segments, -1)
    return np.sum(scan(lambda x, row: scan(step, x, row), x, rows)[0] ** 2) if segments > 1 else (
        np.sum(scan(step, x, us)[0] ** 2)
    )  # fmt: skip


def measure(segments: int) -> None:
    """Print by how much a call lets the process grow, and how long it takes."""
    gradient, us = graph_jit(grad(loss), static_argnames="segments"), np.sin(np.arange(float(STEPS)))
    gradient(np.ones(WIDTH), us[: 2 * segments], segments)  # compiles
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    gradient(np.ones(WIDTH), us, segments)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"{segments} segments: {grown / 1024:.1f} MiB, {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(int(sys.argv[1]))
    else:
        for count in (1, 317):
            subprocess.run([sys.executable, "-m", "asv_benchmarks.recomputation", str(count)], check=True)
