"""Each function that `docs/coverage` counts, beside NumPy and SciPy themselves, in one process and interleaved.

``python -m asv_benchmarks.surface [FAMILY ...] --size 1000 1000000 --only PATTERN`` prints the calls that are slower
than NumPy's, and the geometric mean of each family. The calls are those of `tests/support/coverage`, on longer arrays;
where one is bound to its size, or makes a matrix of a vector, `LONGER` has another.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from numbagraph import graph_jit
from tests.support.coverage.families import families
from tests.support.coverage.measure import difference, function_of, writes

from . import report
from .results import duration
from .surface_calls import LARGEST, LONGER, UNSIZED, arguments
from .systems import leaves

BATCH_SECONDS, LONG_SECONDS = 1e-3, 0.2
BAR = 0.95
VIEW = "a view, which takes no time"


class Row(NamedTuple):
    """A call's times, or why there are none."""

    family: str
    name: str
    size: int
    seconds: tuple[float, float] | None = None
    """Ours and NumPy's."""
    reason: str = ""

    @property
    def ratio(self) -> float | None:
        """NumPy's time over ours."""
        return self.seconds[1] / self.seconds[0] if self.seconds else None


def measured(family: str, name: str, call: str, size: int, budget: float) -> Row:
    row = Row(family, name, size)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plain, theirs = function_of(call, arguments(size))
            expected = plain(*theirs)
    except Exception as error:  # noqa: BLE001  a call may be bound to its size
        return row._replace(reason=f"NumPy: {type(error).__name__}: {error}")
    if not writes(call) and is_view(expected, theirs):
        return row._replace(reason=VIEW)
    try:
        compiled = graph_jit(plain)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours = function_of(call, arguments(size))[1]
            wrong = difference(compiled(*ours), expected)
            if wrong:
                return row._replace(reason=wrong)
            return row._replace(seconds=times(lambda: compiled(*ours), lambda: plain(*theirs), budget))
    except Exception as error:  # noqa: BLE001  the others' figures are wanted, too
        return row._replace(reason=f"{type(error).__name__}: {error}")


def is_view(result: Any, given: list[Any]) -> bool:
    """Whether NumPy's result has the memory of an argument; a compiled function's results have memory of their own."""
    arrays = [each for each in given if isinstance(each, np.ndarray)]
    return any(np.may_share_memory(each, other) for each in leaves(result) for other in arrays)


def times(one: Callable[[], Any], other: Callable[[], Any], budget: float) -> tuple[float, float]:
    """Median seconds of a call of each, batch by batch in turn."""
    calls = (one, other)
    counts = [max(1, round(BATCH_SECONDS / batch(call, 1))) for call in calls]
    samples: tuple[list[float], list[float]] = ([], [])
    end = time.perf_counter() + budget
    while time.perf_counter() < end or len(samples[1]) < 3:
        for call, count, found in zip(calls, counts, samples, strict=True):
            found.append(batch(call, count))
        if samples[1][-1] > LONG_SECONDS and len(samples[1]) > 1:
            break
    return statistics.median(samples[0]), statistics.median(samples[1])


def batch(call: Callable[[], Any], count: int) -> float:
    """Seconds a call. One before them brings the data back into the caches."""
    if count > 1:
        call()
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def calls_of(family: str) -> dict[str, str]:
    found = {name: call for name, call in families()[family].calls.items() if call is not None}
    longer = LONGER.get(family, {})
    return {name: longer.get(name, call) for name, call in found.items() if name not in UNSIZED.get(family, "").split()}


def show(console: Console, rows: list[Row]) -> None:
    table = Table("call", "elements", "numbagraph", "NumPy, SciPy", "times as fast")
    timed = sorted(
        (row.ratio, row.family, row.name, row.size, row.seconds) for row in rows if row.ratio and row.seconds
    )
    for ratio, family, name, size, seconds in timed:
        if ratio < BAR:
            table.add_row(f"{family}.{name}", f"{size:,}", *map(duration, seconds), f"{ratio:.2f}")
    console.print(table)
    means = Table("family", "elements", "calls", f"below {BAR}", "geometric mean")
    for family, size in dict.fromkeys((row.family, row.size) for row in rows):
        ratios = [row.ratio for row in rows if (row.family, row.size) == (family, size) and row.ratio]
        if ratios:
            slow = sum(ratio < BAR for ratio in ratios)
            mean = f"{statistics.geometric_mean(ratios):.2f}"
            means.add_row(family, f"{size:,}", str(len(ratios)), str(slow), mean)
    console.print(means)
    views = [f"{row.family}.{row.name}" for row in rows if row.reason == VIEW]
    console.print(f"Views, which are copied here: {', '.join(views)}", style="dim", markup=False)
    for row in rows:
        if row.reason and row.reason != VIEW:
            console.print(f"{row.family}.{row.name} of {row.size:,}: {row.reason}", markup=False)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m asv_benchmarks.surface", description=__doc__)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"default: all of {', '.join(families())}")
    parser.add_argument("--size", nargs="+", type=int, default=[1_000, 1_000_000])
    parser.add_argument("--only", default="*", help="a glob over the names of functions")
    parser.add_argument("--budget", type=float, default=0.1, help="seconds for each call (default: 0.1)")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    rows = []
    for size in options.size:
        for family in options.families or families():
            for name, call in calls_of(family).items():
                if fnmatch(name, options.only):
                    rows.append(measured(family, name, call, min(size, LARGEST.get(family, size)), options.budget))
                    if options.json:
                        options.json.write_text(json.dumps([each._asdict() for each in rows], indent=1))
    show(report.console(), rows)


if __name__ == "__main__":
    main()
