"""What a measurement yields: a median with its samples, or the reason why there is none."""

import json
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Result:
    """One cell of a table: one system on one row."""

    what: str
    row: str
    system: str
    samples: tuple[float, ...] = ()
    absent: str = ""
    """Why there is no time: not installed, not expressible, not tried at this size."""
    failed: str = ""
    """What went wrong: the wrong numbers, an exception, a time limit."""

    @property
    def seconds(self) -> float | None:
        return statistics.median(self.samples) if self.samples else None


class Results:
    """The results so far, by what was measured, row and system."""

    def __init__(self) -> None:
        self._cells: dict[tuple[str, str, str], Result] = {}

    def add(self, results: Iterable[Result]) -> None:
        self._cells.update({(r.what, r.row, r.system): r for r in results})

    def all(self) -> list[Result]:
        return list(self._cells.values())

    def of(self, what: str) -> list[Result]:
        return [result for result in self.all() if result.what == what]

    def seconds(self, what: str, row: str, system: str) -> float | None:
        result = self._cells.get((what, row, system))
        return result.seconds if result else None


def duration(seconds: float) -> str:
    for unit, scale in (("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3)):
        if seconds < 999.5 * scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def read_json(path: Path) -> dict[str, Any]:
    """What `report.write_json` wrote."""
    return json.loads(path.read_text())
