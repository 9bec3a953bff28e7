"""One run of `compare`: measure what was asked for, in that order, and print it."""

from argparse import Namespace
from collections.abc import Iterable
from functools import partial
from typing import TypeVar

from rich.console import Console
from rich.progress import track

from . import cold, kernels, page, programs, report, steady
from .results import Result, Results
from .systems import SYSTEMS, System
from .workloads import select

T = TypeVar("T")


def hold(options: Namespace) -> int:
    """The exit status: 1 if any system failed or disagreed."""
    systems, results, console = chosen(options.systems), Results(), report.console()
    for what in options.what:
        if what == "kernels":
            measure_kernels(options, results, console)
            continue
        if what == "programs":
            results.add(programs.measure(options, progress))
            programs.print_all(console, results)
            continue
        measured = measure(what, options, systems)
        results.add(measured)
        report.print_results(console, what, systems, measured)
    report.print_bars(console, results)
    if options.json:
        report.write_json(options.json, report.document(options.threads, results))
    if options.page:
        page.write(report.document(options.threads, results), options.page)
    return 1 if any(result.failed for result in results.all()) else 0


def chosen(names: list[str] | None) -> list[System]:
    unknown = set(names or ()) - set(SYSTEMS)
    if unknown:
        raise SystemExit(f"no such system: {', '.join(sorted(unknown))}; there are {', '.join(SYSTEMS)}")
    return [system for name, system in SYSTEMS.items() if not names or name in names]


def measure(what: str, options: Namespace, systems: list[System]) -> list[Result]:
    every, repeats, limit = options.every_size, options.repeats, options.limit
    if what == "import":
        return cold.imports(systems, repeats, limit)
    if what == "second":
        one = partial(cold.second_process, repeats=repeats, limit=limit, every_size=every)
    elif what in ("compile", "growth"):
        one = partial(cold.compile_case, what, repeats=repeats, limit=limit, every_size=every)
    else:
        load(systems)
        one = partial(steady.run_case, budget=options.budget, every_size=every)
    cases = select(what, options.workloads)
    return [result for case in progress(cases, what) for result in one(case=case, systems=systems)]


def measure_kernels(options: Namespace, results: Results, console: Console) -> None:
    results.add(kernels.measure(options, progress))
    for what in kernels.TITLES:
        report.print_results(console, what, list(kernels.SYSTEMS.values()), results.of(what), kernels.TITLES)
    kernels.print_means(console, results)


def load(systems: list[System]) -> None:
    for system in systems:
        if system.installed():
            system.load()


def progress(items: list[T], title: str) -> Iterable[T]:
    """A bar on the error stream, so that the tables can be sent to a file."""
    return track(items, description=title, console=Console(stderr=True), transient=True)
