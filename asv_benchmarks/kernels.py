"""The kernels of `examples/kernels` as they are written: plain, `graph_jit`, `numba.njit`, and versions for JAX.

`python -m asv_benchmarks.kernels SYSTEM KERNEL` times the first call in that process, as `cold` asks for it.
"""

import copy
import json
import statistics
import sys
import time
import traceback
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from types import FunctionType
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from examples.kernels import KERNELS, SIZES, arguments

from . import kernels_jax, kernels_jax_algorithms
from .cold import Absent, Cell, empty_cache, environment, run_child
from .results import Result, Results
from .steady import Disagreement
from .systems import Jax, Numba, Numbagraph, Numpy, System, Unsupported, copied, leaves
from .workloads import Problem

VERSIONS = {**kernels_jax.VERSIONS, **kernels_jax_algorithms.VERSIONS}
MEASURED = tuple(size for size in SIZES if size != "other")
FIRST = "first call"
TITLES = {
    **{f"kernels {size}": f"Kernels as they are written, {size}: time a call" for size in MEASURED},
    f"kernels {FIRST}": "Their first call in a new process, empty cache, import excluded",
}
ROUNDS = (3, 200)
PATIENCE_SECONDS = 1.0
"""No further sample of what took this long together."""
COPIES = {"common_subsequence_loops", "knapsack_loops"}
"""Of which numbagraph copies a large array in each step, since a branch assigns to it: hours at the last size."""
LONG_SECONDS = 0.1
"""What takes plain Python this long is not called again after the call that gives the expected results."""
SAME = 1e-9
SAME_FLOAT32 = 1e-4


class Njit(Numba):
    """The same source under `numba.njit`, with the functions of its module that it calls."""

    def compile(self, problem: Problem) -> Callable[..., Any]:
        import numba

        kernel: Any = problem.function
        scope = dict(kernel.__globals__)
        for name in kernel.__code__.co_names:
            helper = scope.get(name)
            if isinstance(helper, FunctionType) and helper.__module__ == kernel.__module__:
                scope[name] = numba.njit(helper)
        return numba.njit(copied(kernel, scope))


class JaxVersion(Jax):
    """A version in `jax.numpy`, whose numbers of steps are static."""

    def arguments(self, problem: Problem) -> tuple[Any, ...]:
        import jax.numpy as jnp

        return tuple(each if isinstance(each, int) else jnp.asarray(each) for each in problem.args)

    def compile(self, problem: Problem) -> Callable[..., Any]:
        import jax

        version = VERSIONS.get(problem.function.__name__)
        if version is None:
            raise Unsupported("no version of it")
        static = [number for number, each in enumerate(problem.args) if isinstance(each, int)]
        return jax.jit(version, static_argnums=static)


SYSTEMS: dict[str, System] = {system.name: system for system in (Numbagraph(), Numpy(), Njit(), JaxVersion())}


def problem(name: str, size: str) -> Problem:
    return Problem(KERNELS[name], arguments(name, size))


@dataclass(frozen=True)
class Expected:
    """What plain Python gives, and which arguments it changes."""

    results: list[np.ndarray]
    changed: tuple[int, ...]
    seconds: float

    @classmethod
    def of(cls, name: str, size: str) -> "Expected":
        given, args = arguments(name, size), arguments(name, size)
        start = time.perf_counter()
        results = found(KERNELS[name](*args))
        seconds = time.perf_counter() - start
        pairs = enumerate(zip(given, args, strict=True))
        changed = tuple(number for number, (old, new) in pairs if not np.array_equal(old, new, equal_nan=True))
        return cls(results + [args[number] for number in changed], changed, seconds)

    def check(self, results: Sequence[np.ndarray], exactly: bool) -> None:
        """Same number of arrays, shapes and values; dtypes too if ``exactly`` (Numba gives Python's numbers).

        Values are as exact as the largest of all: some are residuals, of which nothing but rounding is left.
        """
        scale = max(np.max(np.abs(each[np.isfinite(each)], dtype=float), initial=0.0) for each in self.results)
        if len(results) != len(self.results):
            raise Disagreement(f"{len(results)} results, Python has {len(self.results)}")
        for number, (ours, theirs) in enumerate(zip(results, self.results, strict=True)):
            if ours.shape != theirs.shape or (exactly and ours.dtype != theirs.dtype):
                raise Disagreement(
                    f"result {number} is {ours.dtype}{ours.shape}, Python's {theirs.dtype}{theirs.shape}"
                )
            rtol = SAME_FLOAT32 if theirs.dtype == np.float32 else SAME
            if not np.all(np.isclose(ours, theirs, rtol=0, atol=rtol * scale)):
                raise Disagreement(f"result {number} differs from Python's")


def found(result: Any) -> list[np.ndarray]:
    return [] if result is None else leaves(result)


@dataclass(frozen=True, eq=False)
class Candidate:
    """A compiled kernel. Arguments that it changes are new for each call, and no part of its time."""

    system: System
    call: Callable[..., Any]
    args: tuple[Any, ...]
    changed: tuple[int, ...]

    @classmethod
    def of(cls, system: System, call: Callable[..., Any], task: Problem, expected: Expected) -> "Candidate":
        """Called, and compared."""
        changed = () if system.name == "jax" else expected.changed  # its versions return what others change
        made = cls(system, call, system.arguments(task), changed)
        args = made.fresh()
        results = found(system.wait(made.call(*args))) + [args[number] for number in changed]
        expected.check(results, exactly=system.name in ("numbagraph", "numpy"))
        return made

    def fresh(self) -> tuple[Any, ...]:
        return tuple(copy.copy(each) if number in self.changed else each for number, each in enumerate(self.args))

    def seconds(self) -> float:
        args, call, wait = self.fresh(), self.call, self.system.wait
        start = time.perf_counter()
        wait(call(*args))
        return time.perf_counter() - start


def refusal(system: System, error: Exception) -> str:
    """Why a system does not compile a kernel, if that is what an error says."""
    if isinstance(error, Unsupported):
        return str(error)
    if system.name == "numba" and type(error).__module__ == "numba.core.errors":
        return f"refused ({type(error).__name__})"
    is_ours = system.name == "numbagraph" and isinstance(error, TypeError)
    return str(error).partition("\n")[0].partition(": ")[0] if is_ours else ""


def compiled(name: str, systems: Iterable[System]) -> dict[str, Callable[..., Any] | Unsupported]:
    """Once for all sizes."""
    calls: dict[str, Callable[..., Any] | Unsupported] = {}
    for system in systems:
        try:
            calls[system.name] = system.compile(problem(name, MEASURED[0]))
        except Unsupported as reason:
            calls[system.name] = reason
    return calls


def steady(name: str, systems: Sequence[System], budget: float, every_size: bool) -> list[Result]:
    """Of each size, all systems in turn, starting with another one each time."""
    calls, results = compiled(name, systems), []
    for size in MEASURED:
        ready, row, task, expected = [], f"kernels {size}", problem(name, size), Expected.of(name, size)
        for system in systems:
            if system.name == "numpy" and expected.seconds > LONG_SECONDS:
                results.append(Result(row, name, system.name, (expected.seconds,)))
                continue
            try:
                call = calls[system.name]
                if name in COPIES and size == MEASURED[-1] and system.name == "numbagraph" and not every_size:
                    raise Unsupported("takes hours; --every-size tries it")
                if isinstance(call, Unsupported):
                    raise call
                ready.append(Candidate.of(system, call, task, expected))
            except Exception as error:  # noqa: BLE001 - must not hide the others' figures
                absent = refusal(system, error)
                failed = "" if absent else f"{type(error).__name__}: {error}"
                if not (absent or isinstance(error, Disagreement)):
                    traceback.print_exc()
                results.append(Result(row, name, system.name, absent=absent, failed=failed))
        samples = interleaved(ready, budget)
        results += [Result(row, name, each.system.name, tuple(samples[each])) for each in ready]
    return results


def interleaved(ready: Sequence[Candidate], budget: float) -> dict[Candidate, list[float]]:
    rounds = budget * len(ready) / (sum(each.seconds() for each in ready) or 1.0)
    samples: dict[Candidate, list[float]] = {each: [] for each in ready}
    for turn in range(int(min(max(rounds, ROUNDS[0]), ROUNDS[1]))):
        for offset in range(len(ready)):
            each = ready[(turn + offset) % len(ready)]
            if sum(samples[each]) < PATIENCE_SECONDS:
                samples[each].append(each.seconds())
    return samples


# ---- the first call ----


def first_calls(name: str, systems: Iterable[System], repeats: int, limit: float) -> list[Result]:
    cells = [Cell(f"kernels {FIRST}", name, system) for system in systems if system.compiles]
    for _ in range(repeats):
        for cell in cells:
            with empty_cache() as cache:
                variables = environment(cache, jax_cache=False)
                cell.measure(lambda cell=cell, variables=variables: first_in_child(cell.system, name, variables, limit))
    return [cell.result() for cell in cells]


def first_in_child(system: System, name: str, variables: dict[str, str], limit: float) -> float:
    report = json.loads(run_child(["-m", "asv_benchmarks.kernels", system.name, name], variables, limit))
    if "absent" in report:
        raise Absent(report["absent"])
    return report["seconds"]


def first_call(name: str, kernel: str) -> dict[str, float | str]:
    system, task = SYSTEMS[name], problem(kernel, MEASURED[0])
    system.load()
    args = system.arguments(task)
    start = time.perf_counter()
    try:
        system.wait(system.compile(task)(*args))
    except Exception as error:
        absent = refusal(system, error)
        if not absent:
            raise
        return {"absent": absent}
    return {"seconds": time.perf_counter() - start}


# ---- all of them ----


def measure(options: Namespace, progress: Callable[[list[str], str], Iterable[str]]) -> list[Result]:
    systems = [each for name, each in SYSTEMS.items() if not options.systems or name in options.systems]
    systems = [each for each in systems if each.installed()]
    for system in systems:
        system.load()
    patterns = options.workloads
    names = [each for each in KERNELS if not patterns or any(fnmatch(each, p) or p in each for p in patterns)]
    results: list[Result] = []
    for name in progress(names, "kernels"):
        results += steady(name, systems, options.budget, options.every_size)
        results += first_calls(name, systems, options.repeats, options.limit)
    return results


def print_means(console: Console, results: Results) -> None:
    """Geometric means of a peer's time over ours, of the kernels that both have."""
    peers = [peer for peer in SYSTEMS if peer != "numbagraph"]
    table = Table("times as fast as", *peers, "the best")
    for what in TITLES:
        cells = [mean(results, what, [peer]) for peer in peers] + [mean(results, what, peers)]
        table.add_row(what.removeprefix("kernels "), *cells)
    console.print("\n[bold]Geometric means (number of kernels, how many are slower than 0.8 times the peer)[/]")
    console.print(table)


def mean(results: Results, what: str, peers: Sequence[str]) -> str:
    """Of the ratios to the best of some peers."""
    ratios = []
    for row in {result.row for result in results.of(what)}:
        theirs = [time for peer in peers if (time := results.seconds(what, row, peer))]
        ours = results.seconds(what, row, "numbagraph")
        ratios += [min(theirs) / ours] if ours and theirs else []
    if not ratios:
        return "-"
    return f"{statistics.geometric_mean(ratios):.3g} ({len(ratios)}, {sum(each < 0.8 for each in ratios)})"


if __name__ == "__main__":
    print(json.dumps(first_call(*sys.argv[1:])))
