"""A case of a fuzzer that hangs, and one that ends its process. The module imports little: processes begin with it."""

from __future__ import annotations

import itertools
import os
import signal
from typing import Any

import numpy as np


def hangs_or_dies(rng: np.random.Generator, report: Any) -> None:
    """The second case never comes back from C, and the third ends its process."""
    _, number = rng.bit_generator.seed_seq.entropy  # type: ignore[attr-defined]
    if number == 1:
        sum(itertools.repeat(0))
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    report.covered["fine"] += 1
