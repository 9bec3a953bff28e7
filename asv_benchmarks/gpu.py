"""`backend="jax"` beside `jax.jit` of the same function by hand, on the device that JAX has: a GPU, where there is one.

    python -m asv_benchmarks.gpu                          # every workload that JAX can say, and what a call costs
    python -m asv_benchmarks.gpu --workloads chain radon

Arguments are arrays of JAX on the device, results are compared with NumPy's, and calls are interleaved. `run` waits for
the results, `dispatch` does not: it is the time until a call returns, of the smallest workloads.
"""

import argparse
import statistics
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from . import steady
from .results import Result
from .systems import Jax, System, has_loops, rebind
from .workloads import Case, Problem, select

CALLS = 200
"""That are dispatched before one waits."""
ROUNDS = 30


class ByHand(Jax):
    """`jax.jit` on the device that JAX chooses."""

    def load(self) -> None:
        import jax

        jax.config.update("jax_enable_x64", True)
        jax.devices()


class Ours(ByHand):
    """The plain function under `graph_jit`, run by JAX."""

    name = "numbagraph"
    modules = ("numbagraph", "jax")

    def compile(self, problem: Problem) -> Callable[..., Any]:
        import numbagraph as ng

        function = rebind(problem.function, np, ng) if has_loops(problem.function) else problem.function
        if problem.argnums:
            function = ng.value_and_grad(function, argnums=problem.argnums)
        return ng.graph_jit(function, backend="jax")


def dispatch(case: Case, systems: list[System]) -> list[Result]:
    """Seconds until a call returns, as many calls in a row as a program has that waits for the last one only."""
    problem = case.problem()
    calls = []
    for system in systems:
        call, arguments = system.compile(problem), system.arguments(problem)
        system.wait([call(*arguments) for _ in range(3)])
        calls.append((system, call, arguments))
    samples: list[list[float]] = [[] for _ in systems]
    for turn in range(ROUNDS):
        for offset in range(len(calls)):
            index = (turn + offset) % len(calls)
            system, call, arguments = calls[index]
            results: list[Any] = []
            seconds = timeit.timeit(lambda: results.append(call(*arguments)), number=CALLS)  # noqa: B023
            samples[index].append(seconds / CALLS)
            system.wait(results)
    return [Result("dispatch", case.label, each.name, tuple(s)) for each, s in zip(systems, samples, strict=True)]


def table(title: str, rows: list[list[Result]]) -> Table:
    found = Table("workload", "jax.jit by hand", 'backend="jax"', "ratio", title=title)
    ratios = []
    for theirs, ours in rows:
        if theirs.seconds is None or ours.seconds is None:
            found.add_row(ours.row, *(each.failed or each.absent or "" for each in (theirs, ours)), "")
            continue
        ratios.append(ours.seconds / theirs.seconds)
        times = (theirs.seconds, ours.seconds)
        found.add_row(ours.row, *(f"{each * 1e6:.1f} us" for each in times), f"{ratios[-1]:.3f}")
    if ratios:
        found.add_row("geometric mean", "", "", f"{statistics.geometric_mean(ratios):.3f}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description='backend="jax" beside jax.jit by hand')
    parser.add_argument("--workloads", nargs="*", default=[], help="globs over labels, or parts of them")
    parser.add_argument("--budget", type=float, default=0.2, help="seconds a workload and system")
    options = parser.parse_args()
    systems: list[System] = [ByHand(), Ours()]
    for system in systems:
        system.load()
    console = Console(width=120)
    import jax

    console.print(f"JAX {jax.__version__} on {jax.devices()[0]}")
    runs = [steady.run_case(case, systems, options.budget, False) for case in select("run", options.workloads)]
    console.print(table("dispatch", [dispatch(case, systems) for case in select("overhead", options.workloads)]))
    ordered = [sorted(each, key=lambda result: result.system) for each in runs]
    console.print(table("run", ordered))
    return 1 if any(result.failed for results in runs for result in results) else 0


if __name__ == "__main__":
    raise SystemExit(main())
