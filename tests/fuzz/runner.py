"""Running cases of a fuzzer, one after the other, until the time is over."""

from __future__ import annotations

import contextlib
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np


class Difference(AssertionError):
    """What numbagraph gives is not what the reference gives. The message has the program."""


@dataclass
class Report:
    """What has been run, and what was found."""

    seed: int
    cases: int = 0
    covered: Counter[str] = field(default_factory=Counter)
    """How often each op was part of a program whose results were compared."""
    refused: Counter[str] = field(default_factory=Counter)
    """How often a program was refused, by the beginning of the message."""
    differences: list[tuple[int, str]] = field(default_factory=list)

    def add(self, other: Report) -> None:
        """Take in what other cases of the same seed gave."""
        self.cases += other.cases
        self.covered += other.covered
        self.refused += other.refused
        self.differences += other.differences

    def text(self, names: Iterable[str]) -> str:
        missing = sorted(set(names) - set(self.covered))
        lines = [
            f"seed {self.seed}: {self.cases} cases, {len(self.differences)} differences",
            f"ops covered: {len(set(names)) - len(missing)} of {len(set(names))}",
            f"not covered: {' '.join(missing) or 'none'}",
            *(f"refused {count} times: {reason}" for reason, count in self.refused.most_common(8)),
        ]
        return "\n".join(lines)


class OutOfTime(BaseException):
    """What `limited` raises, which code that survives any `Exception` does not catch."""


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` where a reference takes more of the processor's time. (For the main thread.)"""

    def end(*_: object) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


Case = Callable[[np.random.Generator, Report], None]
"""Makes a program of random numbers, compares, and raises `Difference`."""


def run_cases(
    case: Case,
    seed: int,
    numbers: Iterable[int],
    *,
    seconds: float = np.inf,
    most: int = 10,
    found: Callable[[int, str], object] | None = None,
) -> Report:
    """Run cases by their numbers. Each has random numbers of its own, so that one can be run again alone. ``found``
    is called with each difference at once."""
    report, end = Report(seed), time.monotonic() + seconds
    for number in numbers:
        if time.monotonic() > end or len(report.differences) >= most:
            break
        before = len(report.differences)
        try:
            case(np.random.default_rng([seed, number]), report)
        except Difference as difference:
            report.differences.append((number, str(difference)))
        except Exception:  # noqa: BLE001  whatever a program provokes is a finding
            report.differences.append((number, traceback.format_exc()))
        report.cases += 1
        if found is not None and len(report.differences) > before:
            found(*report.differences[-1])
    return report
