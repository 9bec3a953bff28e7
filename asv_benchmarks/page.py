"""The page `docs/benchmarks.md` with its plots, from the JSON of a run.

`compare --page FILE` writes it at once, `python -m asv_benchmarks.page FILE.json... docs/benchmarks.md` later.
"""

import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import sections
from .results import Result, Results, duration, read_json

OURS = "numbagraph"
HEADER = """# Benchmarks

Written by `python -m asv_benchmarks.compare --page docs/benchmarks.md`; its [README](../asv_benchmarks/README.md) says
what is measured, and how. Systems take turns in one run, and their results are checked to be the same. Ratios are a
peer's time over numbagraph's: above 1, numbagraph is faster. Ratios of one run are comparable; times of two runs are
not.
"""
BUSY = """
```{{note}}
The machine had other work meanwhile (a load of {load}, where {own} would be this run's own): single ratios may be far
off, and are to be measured again on a quiet machine.
```
"""
KERNELS = """The functions of `examples/kernels`, without a change: plain NumPy, `graph_jit`,
`numba.njit` of the same source where that compiles it, and a version in `jax.numpy` where one is written."""
TITLES = {
    "run": ("A call", "In the steady state, at the largest size of each workload that was measured."),
    "scaling": ("By size", "Time a call over the number of what the workload counts."),
    "compile": ("The first call", "From the function to its first result: empty caches, libraries imported before."),
    "growth": ("Compile time by size", "The first call of random graphs, by their number of operations."),
    "second": ("The first call in the next process", "With caches that an earlier process filled."),
    "import": ("Import", "In a new process."),
    **{
        f"kernels {size}": (f"Kernels as they are written, {size}", KERNELS)
        for size in ("small", "medium", "large", "first call")
    },
}
PEERS = ("numpy", "numba", "jax")
SLOW = 0.9
"""Ratios to the best peer below this are named."""


@dataclass(frozen=True)
class Row:
    """One workload at one size."""

    workload: str
    size: int
    times: dict[str, float]

    @property
    def label(self) -> str:
        return f"{self.workload}, {self.size:,}" if self.size else self.workload

    def ratios(self) -> dict[str, float]:
        """Of the peers, where numbagraph has a time."""
        ours = self.times.get(OURS)
        return {} if not ours else {name: time / ours for name, time in self.times.items() if name != OURS}


def rows_of(results: Results, what: str) -> list[Row]:
    rows: dict[str, dict[str, float]] = {}
    for result in results.of(what):
        if result.seconds is not None:
            rows.setdefault(result.row, {})[result.system] = result.seconds
    return [Row(*named(label), times) for label, times in rows.items()]


def named(label: str) -> tuple[str, int]:
    name, _, size = label.rpartition("-")
    return (name, int(size)) if name and size.isdecimal() else (label, 0)


def largest(rows: list[Row]) -> list[Row]:
    """Of each workload the row with the largest size."""
    return list({row.workload: row for row in sorted(rows, key=lambda row: row.size)}.values())


def scaled(rows: list[Row]) -> dict[str, list[Row]]:
    """The workloads with three sizes or more, by name."""
    groups: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.size):
        groups.setdefault(row.workload, []).append(row)
    return {name: found for name, found in groups.items() if len(found) >= 3}


def table(rows: list[Row]) -> Iterator[str]:
    """Times of numbagraph, ratios of the peers."""
    peers = list(dict.fromkeys(name for row in rows for name in row.times if name != OURS))
    yield "| | " + " | ".join([OURS, *peers]) + " |"
    yield "| --- |" + " ---: |" * (1 + len(peers))
    for row in rows:
        ratios, ours = row.ratios(), row.times.get(OURS)
        cells = [f"{ratios[name]:.3g} ×" if name in ratios else "–" for name in peers]
        yield f"| {row.label} | " + " | ".join([duration(ours) if ours else "–", *cells]) + " |"


def parts(results: Results) -> dict[str, list[Row]]:
    """What there is to show, by the names of `TITLES`."""
    run = rows_of(results, "run")
    many = [row for group in scaled(run).values() for row in group]
    others = {what: rows_of(results, what) for what in TITLES if what not in ("run", "scaling")}
    return {what: rows for what, rows in {"run": largest(run), "scaling": many, **others}.items() if rows}


def against_the_best(rows: list[Row]) -> Iterator[str]:
    """Of the kernels in NumPy's style: the geometric mean of the best peer's time over numbagraph's, and what is slow.

    Those in loops have a mean of their own, against `numba.njit` of that source.
    """
    loops = [row for row in rows if row.workload.endswith("_loops")]
    arrays = [row for row in rows if row not in loops]
    for name, found, peers in (("NumPy's style", arrays, PEERS), ("loops", loops, ("numba",))):
        best = {
            row.label: min(row.ratios()[peer] for peer in peers if peer in row.ratios())
            for row in found
            if any(peer in row.ratios() for peer in peers)
        }
        if best:
            slow = [f"{label} ({ratio:.2g})" for label, ratio in best.items() if ratio < SLOW]
            mean = statistics.geometric_mean(best.values())
            yield (
                f"{len(best)} kernels in {name}, against the best of {', '.join(peers)}: a geometric mean of {mean:.3g}"
                f"; below {SLOW}: {', '.join(slow) or 'none'}."
            )
            yield ""


def about_machine(document: dict[str, Any]) -> Iterator[str]:
    machine, threads = document["machine"], document["threads"]
    load = machine["load"]
    if threads and load > threads + 0.5:
        yield BUSY.format(load=load, own=threads)
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    yield f"{machine['processor']}, {threads or 'all'} thread(s), {machine['system']}, Python {machine['python']}:"
    yield f"{versions}."
    yield ""


def text(document: dict[str, Any], images: dict[str, str]) -> str:
    """The page. `images` are the files of the plots, by section."""
    lines = [HEADER, *about_machine(document)]
    for what, rows in parts(results_of(document)).items():
        title, about = TITLES[what]
        lines += [f"## {title}", "", about, ""]
        if what in images:
            lines += [f"![{title}]({images[what]})", ""]
        if what.startswith("kernels"):
            lines += against_the_best(rows)
        if what != "scaling":
            lines += [*table(rows), ""]
    return "\n".join(lines)


def results_of(document: dict[str, Any]) -> Results:
    results = Results()
    for each in document["results"]:
        fields = {name: each[name] for name in ("what", "row", "system", "absent", "failed")}
        results.add([Result(**fields, samples=tuple(each["samples"]))])
    return results


def joined(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """Several runs as one: parts of one comparison, on one machine."""
    machine = max((each["machine"] for each in documents), key=lambda machine: machine["load"])
    return {
        "machine": machine,
        "threads": documents[0]["threads"],
        "versions": {name: version for each in documents for name, version in each["versions"].items()},
        "results": [result for each in documents for result in each["results"]],
    }


def write(document: dict[str, Any], page: Path) -> None:
    """The page, and its plots in a folder `images` beside it. The section that `growth` writes there stays."""
    from . import plots  # matplotlib takes its time, and is needed by nothing else

    folder = page.parent / "images"
    drawn = plots.draw(parts(results_of(document)), folder)
    new = text(document, {what: f"images/{name}" for what, name in drawn.items()})
    kept = sections.found(page.read_text(), sections.GROWTH) if page.exists() else None
    page.write_text(f"{new.rstrip()}\n\n{kept}" if kept else new)


if __name__ == "__main__":
    *files, target = map(Path, sys.argv[1:])
    write(joined([read_json(file) for file in files]), target)
