"""Cases of fuzzers that hang, end their process, or harm its heap."""

from __future__ import annotations

import ctypes
import itertools
import os
import signal
from typing import Any

import numpy as np

from numbagraph.runtime.memory import pool


def hangs_or_dies(rng: np.random.Generator, report: Any) -> None:
    """The second case never comes back from C, and the third ends its process."""
    _, number = rng.bit_generator.seed_seq.entropy  # type: ignore[attr-defined]
    if number == 1:
        sum(itertools.repeat(0))
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    report.covered["fine"] += 1


def writes_past_an_end(rng: np.random.Generator, report: Any) -> None:
    """The second case writes a byte more than an array has, and the third does so in a temporary of compiled code."""
    _, number = rng.bit_generator.seed_seq.entropy  # type: ignore[attr-defined]
    if number == 1:
        array = np.empty(12345)
        ctypes.memset(array.ctypes.data, 1, array.nbytes + 1)
    if number == 2:
        take = pool.get().part.function("take", ctypes.c_void_p, ctypes.c_int64)
        give = pool.get().part.function("give", None, ctypes.c_void_p)
        size, alignment = 256, 64
        memory = take(size)
        ctypes.memset(memory, 1, size + alignment)
        give(memory)
    report.covered["fine"] += 1
