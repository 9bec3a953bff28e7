"""Running cases in a process beside this one, which ends those that hang, and outlives those that crash it."""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from tests.fuzz.allocator import allocator_checks, check_compiled_code
from tests.fuzz.runner import Case, Report, run_cases

PATIENCE = 10.0
"""How long a process may take to say where it hangs."""
REFERENCES = ("in _expected", "tests/fuzz/evaluation.py", "pytensor/link/vm.py")
"""Where the stack of a process shows that it waits for NumPy, SciPy or PyTensor, whose own code runs the ops that are
not native: `numpy.linalg.svd` does not end for some matrices with infinities."""


def run_watched(
    case: Case,
    seed: int,
    numbers: Iterable[int],
    *,
    limit: float,
    seconds: float = np.inf,
    most: int = 10,
    found: Callable[[int, str], object] | None = None,
) -> Report:
    """As `run_cases`. A case that takes more than ``limit`` seconds, or that ends its process, is a difference, and the
    next one runs in a new process. One whose reference takes so long is none."""
    report, end, worker = Report(seed), time.monotonic() + seconds, None
    try:
        for number in numbers:
            if time.monotonic() > end or len(report.differences) >= most:
                break
            worker = worker or _Worker(case)
            alone = worker.run(seed, number, limit)
            if not worker.process.is_alive():
                worker = None
            if isinstance(alone, str):
                alone = Report(seed, cases=1, differences=[(number, alone)])
            report.add(alone)
            if found is not None:
                for each in alone.differences:
                    found(*each)
    finally:
        if worker is not None:
            worker.end()
    return report


class _Worker:
    """A process that runs one case after the other. It is a new interpreter: no lock of this one is held there, and
    its allocator checks the heap from the start."""

    def __init__(self, case: Case) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.stack = Path(tempfile.mkdtemp()) / "stack"
        self.process = context.Process(target=_serve, args=(case, other, self.stack), daemon=True)
        with allocator_checks():
            self.process.start()
        other.close()
        self.connection.recv()  # what the case imports is there

    def run(self, seed: int, number: int, limit: float) -> Report | str:
        """What a case gave; or how its process ended, which then is no more."""
        with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
            self.connection.send((seed, number))
            if self.connection.poll(limit):
                return self.connection.recv()
            self.end(signal.SIGABRT)
            return self.late(seed, limit)
        self.end()
        return f"the process ended with exit code {self.process.exitcode}\n{self.stack.read_text()}"

    def late(self, seed: int, limit: float) -> Report | str:
        """What is said of a case that took too long."""
        stack = self.stack.read_text()
        if any(each in stack for each in REFERENCES):
            return Report(seed, cases=1, refused=Counter({f"a reference took more than {limit:g} seconds": 1}))
        return f"the case took more than {limit:g} seconds\n{stack}"

    def end(self, number: int = signal.SIGTERM) -> None:
        self.connection.close()
        self.process.join(PATIENCE if number == signal.SIGTERM else 0)
        if self.process.is_alive():
            os.kill(self.process.pid or 0, number)
            self.process.join(PATIENCE)
        self.process.kill()
        self.process.join()


def _serve(case: Any, connection: Connection, stack: Path) -> None:
    """Run cases that are asked for, until nobody asks any more."""
    faulthandler.enable(stack.open("w"))  # SIGABRT says where code is, in C as well
    check_compiled_code()
    connection.send("ready")
    with contextlib.suppress(EOFError):
        while True:
            seed, number = connection.recv()
            connection.send(run_cases(case, seed, [number]))
