"""Whole programs beside their peers: calls, gradients, first calls of both, and the memory of gradients.

`python -m asv_benchmarks.programs MEASURE SYSTEM PROGRAM TASK` measures in that process, as `cold` asks for it.
"""

import ctypes
import json
import os
import statistics
import sys
import time
import traceback
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from types import FunctionType
from typing import Any

from rich.console import Console
from rich.table import Table

from . import report
from .cold import Absent, Cell, empty_cache, environment, run_child
from .kernels import LONG_SECONDS, Candidate, Expected, found, interleaved, refusal
from .results import Result, Results
from .steady import Disagreement
from .systems import Jax, Numba, Numbagraph, Numpy, System, Unsupported, copied
from .workloads import Problem
from .workloads.programs import PROGRAMS, Program, of_squares

VALUE, GRADIENT = "value", "gradient"
FIRST, NEXT, MEMORY = "first call", "next process", "memory"
TITLES = {
    "programs value": "Whole programs: time a call",
    "programs gradient": "Their value and gradient: time a call",
    "programs first call value": "Their first call in a new process, empty cache, import excluded",
    "programs first call gradient": "The first call of the gradient in a new process, empty cache, import excluded",
    "programs next process value": "The first call in a further process, full cache",
    "programs next process gradient": "The first call of the gradient in a further process, full cache",
}
PEAK = "programs memory gradient"
MEBIBYTE = 2.0**20


class NjitProgram(Numba):
    """The loops by hand, or else the program itself, with the functions of its module that it calls."""

    def compile(self, problem: Problem) -> Callable[..., Any]:
        import numba

        if problem.argnums:
            raise Unsupported("no derivatives")
        function: Any = problem.loops or problem.function
        cached = "NUMBA_CACHE_DIR" in os.environ
        scope = dict(function.__globals__)
        for name in function.__code__.co_names:
            called = scope.get(name)
            if isinstance(called, FunctionType) and called.__module__ == function.__module__:
                scope[name] = numba.njit(called, cache=cached)
        return numba.njit(copied(function, scope), cache=cached)


class JaxProgram(Jax):
    """The version by hand. Integers of Python are static, as lengths of loops have to be."""

    def arguments(self, problem: Problem) -> tuple[Any, ...]:
        import jax.numpy as jnp

        return tuple(each if isinstance(each, int) else jnp.asarray(each) for each in problem.args)

    def compile(self, problem: Problem) -> Callable[..., Any]:
        import jax

        function: Any = PROGRAMS[problem.function.__name__].jax
        static = [number for number, each in enumerate(problem.args) if isinstance(each, int)]
        if problem.argnums:
            function = jax.value_and_grad(of_squares(function), argnums=problem.argnums)
        return jax.jit(function, static_argnums=static)


class NumbagraphProgram(Numbagraph):
    def compile(self, problem: Problem) -> Callable[..., Any]:
        import numbagraph as ng

        if not problem.argnums:
            return ng.graph_jit(problem.function)
        return ng.graph_jit(ng.value_and_grad(of_squares(problem.function), argnums=problem.argnums))


SYSTEMS: dict[str, System] = {
    system.name: system for system in (NumbagraphProgram(), Numpy(), NjitProgram(), JaxProgram())
}
PEERS = [name for name in SYSTEMS if name != "numbagraph"]


def problem(program: Program, task: str) -> Problem:
    return Problem(
        program.function, program.args(), argnums=program.argnums if task == GRADIENT else (), loops=program.loops
    )


def tasks(program: Program) -> tuple[str, ...]:
    return (VALUE, GRADIENT) if program.argnums else (VALUE,)


# ---- the steady state ----


def expected_value(program: Program) -> Expected:
    start = time.perf_counter()
    results = found(program.function(*program.args()))
    return Expected(results, (), time.perf_counter() - start)


def steady(program: Program, task: str, systems: Sequence[System], budget: float) -> list[Result]:
    """All systems in turn. A gradient has to be that of JAX, or else of the first system that has one."""
    what, results, ready = f"programs {task}", [], []
    expected = expected_value(program) if task == VALUE else None
    given = problem(program, task)
    for system in sorted(systems, key=lambda each: each.name != "jax"):
        if expected and system.name == "numpy" and expected.seconds > LONG_SECONDS:
            results.append(Result(what, program.name, system.name, (expected.seconds,)))
            continue
        try:
            call = system.compile(given)
            expected = expected or Expected(found(system.wait(call(*system.arguments(given)))), (), 0.0)
            ready.append(Candidate.of(system, call, given, expected))
        except Exception as error:  # noqa: BLE001 - must not hide the others' figures
            absent = refusal(system, error)
            failed = "" if absent else f"{type(error).__name__}: {error}"
            if not (absent or isinstance(error, Disagreement)):
                traceback.print_exc()
            results.append(Result(what, program.name, system.name, absent=absent, failed=failed))
    samples = interleaved(ready, budget)
    return results + [Result(what, program.name, each.system.name, tuple(samples[each])) for each in ready]


# ---- processes of their own ----


def first_calls(program: Program, task: str, systems: Iterable[System], repeats: int, limit: float) -> list[Result]:
    """With an empty cache and with a full one. JAX keeps one for the latter only, because it has none by default."""
    measured = [system for system in systems if system.compiles and (task == VALUE or system.name != "numba")]
    cold = [Cell(f"programs {FIRST} {task}", program.name, system) for system in measured]
    warm = [Cell(f"programs {NEXT} {task}", program.name, system) for system in measured]
    for _ in range(repeats):
        for first, further in zip(cold, warm, strict=True):
            arguments = [FIRST, first.system.name, program.name, task]
            with empty_cache() as cache:
                first.measure(lambda a=arguments, c=cache: in_child(a, environment(c, False), limit))
                if first.failed or first.absent:
                    further.absent = "no first call"
                    continue
                kept = environment(cache, True)
                if first.system.name == "jax":
                    in_child(arguments, kept, limit)
                further.measure(lambda a=arguments, e=kept: in_child(a, e, limit))
    return [cell.result() for cell in (*cold, *warm)]


def memory(program: Program, systems: Iterable[System], limit: float) -> list[Result]:
    """Bytes, in the place of seconds."""
    cells = [Cell(PEAK, program.name, system) for system in systems if system.name in ("numbagraph", "jax")]
    for cell in cells:
        with empty_cache() as cache:
            arguments = [MEMORY, cell.system.name, program.name, GRADIENT]
            cell.measure(lambda a=arguments, c=cache: in_child(a, environment(c, False), limit))
    return [cell.result() for cell in cells]


def in_child(arguments: list[str], variables: dict[str, str], limit: float) -> float:
    answer = json.loads(run_child(["-m", "asv_benchmarks.programs", *arguments], variables, limit))
    if "absent" in answer:
        raise Absent(answer["absent"])
    return answer["figure"]


def measured_here(measure: str, name: str, program: str, task: str) -> dict[str, float | str]:
    system, given = SYSTEMS[name], problem(PROGRAMS[program], task)
    system.load()
    args = system.arguments(given)
    start = time.perf_counter()
    try:
        call = system.compile(given)
        system.wait(call(*args))
    except Exception as error:
        absent = refusal(system, error)
        if not absent:
            raise
        return {"absent": absent}
    seconds = time.perf_counter() - start
    return {"figure": seconds if measure == FIRST else growth_of_peak(system, lambda: call(*args))}


def growth_of_peak(system: System, call: Callable[[], Any]) -> float:
    """By how many bytes a call raises the peak of this process over what is resident before it."""
    marks = Path("/proc/self/clear_refs")
    if not marks.exists():
        return float("nan")
    if system.name == "numbagraph":
        import numbagraph

        numbagraph.release_memory()
    ctypes.CDLL(None).malloc_trim(0)
    marks.write_text("5")  # the peak begins anew
    before = kibibytes("VmHWM")
    system.wait(call())
    return max(1024.0 * (kibibytes("VmHWM") - before), MEBIBYTE)


def kibibytes(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


# ---- all of them ----


def measure(options: Namespace, progress: Callable[[list[str], str], Iterable[str]]) -> list[Result]:
    systems = [each for name, each in SYSTEMS.items() if not options.systems or name in options.systems]
    systems = [each for each in systems if each.installed()]
    for system in systems:
        system.load()
    patterns = options.workloads
    names = [each for each in PROGRAMS if not patterns or any(fnmatch(each, p) or p in each for p in patterns)]
    results: list[Result] = []
    for name in progress(names, "programs"):
        program = PROGRAMS[name]
        for task in tasks(program):
            able = [each for each in systems if task == VALUE or each.name in ("numbagraph", "jax")]
            results += steady(program, task, able, options.budget)
            results += first_calls(program, task, able, options.repeats, options.limit)
        if program.argnums:
            results += memory(program, systems, options.limit)
    return results


def print_all(console: Console, results: Results) -> None:
    print_ratios(console, results)
    for what, title in TITLES.items():
        if results.of(what):
            report.print_results(console, what, list(SYSTEMS.values()), results.of(what), {what: title})
    table = Table("", *(name for name in SYSTEMS if name in ("numbagraph", "jax")))
    for row in dict.fromkeys(result.row for result in results.of(PEAK)):
        sizes = [results.seconds(PEAK, row, name) for name in ("numbagraph", "jax")]
        table.add_row(row, *("-" if size is None else f"{size / MEBIBYTE:.3g} MiB" for size in sizes))
    console.print("\n[bold]Growth of the process's peak by a gradient (what is below 1 MiB counts as one)[/]")
    console.print(table)


def print_ratios(console: Console, results: Results) -> None:
    """The best peer's figure over ours, with its name; above 1, ours is better."""
    kinds = [*TITLES, PEAK]
    table = Table("", *(kind.removeprefix("programs ") for kind in kinds))
    columns: dict[str, list[float]] = {kind: [] for kind in kinds}
    for name in PROGRAMS:
        cells = []
        for kind in kinds:
            peers = {peer: figure for peer in PEERS if (figure := results.seconds(kind, name, peer))}
            ours = results.seconds(kind, name, "numbagraph")
            if not (ours and peers):
                cells.append("-")
                continue
            best = min(peers, key=lambda peer: peers[peer])
            columns[kind].append(peers[best] / ours)
            cells.append(f"{peers[best] / ours:.2f} {best}")
        if set(cells) != {"-"}:
            table.add_row(name, *cells)
    for title, reduce in (("geometric mean", statistics.geometric_mean), ("the worst", min)):
        table.add_row(title, *(f"{reduce(found):.2f}" if found else "-" for found in columns.values()))
    console.print("\n[bold]Whole programs: the best peer's figure over ours[/]")
    console.print(table)


if __name__ == "__main__":
    print(json.dumps(measured_here(*sys.argv[1:])))
