"""The table and the plots of `growth`.

``python -m asv_benchmarks.growth_report FILE.json docs/benchmarks.md`` writes the section of the page later.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .growth_fits import Growth, fitted
from .growth_programs import FAMILIES
from .results import duration, read_json
from .sections import GROWTH, replaced

ABOUT = """Written by `python -m asv_benchmarks.growth --page docs/benchmarks.md`. Each compilation is a process of its
own with empty caches, in which a small program of the same family was compiled before, so that imports are excluded:
tracing, passes, emission and LLVM, without a call. Times are processor times, and memory is by how much the peak of the
process grows; both the least of {repeats}, since other processes used the machine, too. An exponent is the slope of the
logarithms over the sizes from a twentieth of the largest on, without what the smallest program takes; "flat" is what
grows by less than 1.3. What one more costs is the mean from the smallest size to the largest."""
IMAGES = {"seconds": "growth-time.png", "bytes": "growth-memory.png"}
MEBIBYTE = 2.0**20


def exponent(growth: Growth) -> str:
    found = growth.exponent
    return "–" if found is None else "flat" if found == 0 else f"{found:.2f}"


def memory(count: float) -> str:
    for unit, scale in (("B", 1.0), ("KiB", 1024.0)):
        if abs(count) < 999.5 * scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count / MEBIBYTE:.3g} MiB"


def table(samples: list[dict[str, Any]]) -> Iterator[str]:
    """Of each family the smallest and the largest size, and how it grows between them."""
    yield "| | sizes | time | exponent | one more | memory | exponent | one more |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    times, room = fitted(samples, "seconds"), fitted(samples, "bytes")
    for name, time in times.items():
        grown = room[name]
        cells = [
            f"{min(time.points):,} to {max(time.points):,}",
            f"{duration(time.first)} to {duration(time.last)}",
            exponent(time),
            "–" if time.exponent == 0 else f"{duration(time.per_unit)} per {FAMILIES[name].unit}",
            f"{memory(grown.first)} to {memory(grown.last)}",
            exponent(grown),
            "–" if grown.exponent == 0 else memory(grown.per_unit),
        ]
        yield f"| {name} | {' | '.join(cells)} |"


def absences(samples: list[dict[str, Any]]) -> Iterator[str]:
    """What was not measured, and why."""
    for each in samples:
        for kind in ("absent", "failed"):
            if kind in each:
                size = f" of size {each['size']:,}" if each["size"] else ""
                yield f"{each['family']}{size}: {each[kind]}."


def about(document: dict[str, Any]) -> str:
    machine = document["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    system = f"{machine['cores']} cores, one thread, {machine['system']}, Python {machine['python']}"
    return f"{machine['date']}, {machine['processor']}, {system}: {versions}."


def repeats(samples: list[dict[str, Any]]) -> str:
    counts: dict[tuple[str, int], int] = {}
    for each in samples:
        counts[each["family"], each["size"]] = counts.get((each["family"], each["size"]), 0) + 1
    most = max(counts.values(), default=1)
    return {1: "one run", 2: "two", 3: "three"}.get(most, str(most))


def section(document: dict[str, Any]) -> str:
    samples = document["samples"]
    lines = [ABOUT.format(repeats=repeats(samples)), "", about(document), ""]
    lines += [f"![{GROWTH}](images/{name})\n" for name in IMAGES.values()]
    missing = list(absences(samples))
    lines += [*table(samples), *(["", *missing] if missing else [])]
    return "\n".join(lines)


def print_document(document: dict[str, Any]) -> None:
    print(about(document), "", *table(document["samples"]), "", *absences(document["samples"]), sep="\n")


def write(document: dict[str, Any], page: Path) -> None:
    """The section of a page, and its plots in a folder `images` beside it."""
    from .growth_plots import draw  # matplotlib takes its time, and is needed by nothing else

    folder = page.parent / "images"
    folder.mkdir(parents=True, exist_ok=True)
    for quantity, name in IMAGES.items():
        draw(fitted(document["samples"], quantity), quantity).savefig(folder / name, dpi=80, bbox_inches="tight")
    page.write_text(replaced(page.read_text() if page.exists() else "# Benchmarks\n", GROWTH, section(document)))


if __name__ == "__main__":
    write(read_json(Path(sys.argv[1])), Path(sys.argv[2]))
