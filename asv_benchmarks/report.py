"""Tables of medians and ratios, and the JSON of a run."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from .bars import BARS, Bar
from .machine import machine
from .results import Result, Results, duration
from .systems import SYSTEMS, System

TITLES = {
    "import": "Import, new process",
    "run": "Steady state, time a call",
    "overhead": "Steady state, time a call",
    "scaling": "Steady state by size, time a call",
    "functions": "One function of each element, time a call",
    "compile": "Cold: from the function to its first result, empty cache, import excluded",
    "second": "The same in a second process, full cache",
    "growth": "Cold, by the number of nodes",
}


def console() -> Console:
    """As wide as the tables where the output goes to a file."""
    terminal = Console(highlight=False)
    return terminal if terminal.is_terminal else Console(highlight=False, width=140)


def cell(result: Result | None, base: float | None) -> str:
    if result is None:
        return "-"
    if result.failed:
        return "[bold red]FAILED[/]"
    if result.seconds is None:
        return "-"
    ratio = f" [dim]x{result.seconds / base:.3g}[/]" if base else ""
    return duration(result.seconds) + ratio


def base_system(what: str, systems: list[System], results: list[Result]) -> str:
    """Ratios are to numbagraph; without it, to the first system that has a time."""
    timed = {result.system for result in results if result.samples}
    preferred = ["numba"] if what == "import" else []
    return next((name for name in [*preferred, *(s.name for s in systems)] if name in timed), "")


def print_results(
    console: Console, what: str, systems: list[System], results: list[Result], titles: dict[str, str] = TITLES
) -> None:
    base = base_system(what, systems, results)
    title = f"{titles[what]} (x: ratio to {base})" if base else titles[what]
    console.print(f"\n[bold]{title}[/]")
    table = Table()
    table.add_column("", no_wrap=True)
    for system in systems:
        table.add_column(system.name, justify="right", no_wrap=True)
    cells = {(result.row, result.system): result for result in results}
    for row in dict.fromkeys(result.row for result in results):
        reference = cells.get((row, base))
        seconds = reference.seconds if reference else None
        table.add_row(row, *(cell(cells.get((row, system.name)), seconds) for system in systems))
    console.print(table)
    print_reasons(console, results)


def print_reasons(console: Console, results: list[Result]) -> None:
    """Why cells are empty, one line a reason."""
    rows: dict[tuple[str, str], list[str]] = {}
    for result in results:
        if result.absent:
            rows.setdefault((result.system, result.absent), []).append(result.row)
    for (system, reason), names in rows.items():
        shown = "" if reason == "not installed" else f" ({', '.join(names)})"
        console.print(f"- {system}: {reason}{shown}", style="dim", markup=False)
    for result in results:
        if result.failed:
            line = f"FAILED {result.system} on {result.row}: {result.failed}"
            console.print(line, style="bold red", markup=False)


def print_bars(console: Console, results: Results, bars: tuple[Bar, ...] = BARS) -> None:
    """The bars that have their figures."""
    measured = [(bar, figure) for bar in bars if (figure := bar.measure(results)) is not None]
    if not measured:
        return
    console.print("\n[bold]What numbagraph is held to[/]")
    table = Table("bar", "measured", "at most", "")
    for bar, figure in measured:
        verdict = "met" if figure <= bar.limit else "[bold red]missed[/]"
        table.add_row(bar.text, f"{figure:.3g}", f"{bar.limit:.3g}", verdict)
    console.print(table)


def document(threads: int, results: Results, bars: tuple[Bar, ...] = BARS) -> dict[str, Any]:
    """All of a run, as JSON has it."""
    return {
        "machine": machine(),
        "versions": {name: system.version() for name, system in SYSTEMS.items() if system.installed()},
        "threads": threads,
        "results": [asdict(result) | {"median": result.seconds} for result in results.all()],
        "bars": [{"bar": b.text, "measured": b.measure(results), "at_most": b.limit} for b in bars],
    }


def write_json(path: Path, found: dict[str, Any]) -> None:
    path.write_text(json.dumps(found, indent=1) + "\n")
