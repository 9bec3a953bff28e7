"""Steady state: the time of a call, all systems in turn, so that what disturbs one disturbs all."""

import timeit
import traceback
from dataclasses import dataclass
from typing import Any

import numpy as np

from .results import Result
from .systems import SYSTEMS, System, Unsupported, leaves
from .workloads import Case, Problem

BATCH_SECONDS = 2e-3
WARM_BELOW_SECONDS = 20e-3
ROUNDS = (7, 200)


class Disagreement(Exception):
    """A system computed something else than NumPy."""


@dataclass(frozen=True)
class Candidate:
    """A compiled system with its first result and the expression to time."""

    system: System
    result: Any
    statement: str
    scope: dict[str, Any]

    def timer(self) -> timeit.Timer:
        return timeit.Timer(self.statement, globals=self.scope)


def expected(problem: Problem) -> list[np.ndarray]:
    return leaves(SYSTEMS["numpy"].compile(problem)(*problem.args))


def check(result: Any, reference: list[np.ndarray], rtol: float) -> None:
    """Same number of arrays, dtypes, shapes, and values within `rtol` of each array's largest magnitude."""
    actual = leaves(result)
    if len(actual) != len(reference):
        raise Disagreement(f"{len(actual)} results, NumPy has {len(reference)}")
    for index, (ours, theirs) in enumerate(zip(actual, reference, strict=True)):
        if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
            ours_is, theirs_is = f"{ours.dtype}{ours.shape}", f"{theirs.dtype}{theirs.shape}"
            raise Disagreement(f"result {index} is {ours_is}, NumPy's {theirs_is}")
        scale = np.max(np.abs(theirs), initial=0.0)
        difference = np.max(np.abs(ours - theirs), initial=0.0)
        if not difference <= rtol * scale:  # so written that NaN fails
            raise Disagreement(f"result {index} is {difference:.3g} off NumPy's at a scale of {scale:.3g}")


def reason_absent(system: System, case: Case, every_size: bool) -> str:
    if not system.installed():
        return "not installed"
    largest = case.workload.largest.get(system.name)
    if largest is not None and case.size > largest and not every_size:
        return f"takes minutes above {largest}; --every-size tries it"
    return ""


def prepare(system: System, problem: Problem) -> Candidate:
    """Compile and call once. NumPy may have a statement of its own, over the names of the parameters."""
    arguments = system.arguments(problem)
    call = system.compile(problem)
    result = call(*arguments)
    scope: dict[str, Any] = {"call": call} | {f"a{i}": argument for i, argument in enumerate(arguments)}
    statement = system.statement(problem)
    if system.name == "numpy" and problem.statement:
        statement = problem.statement
        scope |= {"np": np} | dict(zip(call.__code__.co_varnames, arguments, strict=False))
    return Candidate(system, result, statement, scope)


def run_case(case: Case, systems: list[System], budget: float, every_size: bool) -> list[Result]:
    """Time one case on each system that can; a wrong result is a failure and is not timed."""
    problem = case.problem()
    reference = expected(problem)
    ready, results = [], []
    for system in systems:
        absent = reason_absent(system, case, every_size)
        if absent:
            results.append(Result("run", case.label, system.name, absent=absent))
            continue
        try:
            candidate = prepare(system, problem)
            check(candidate.result, reference, case.workload.rtol)
            ready.append(candidate)
        except Unsupported as reason:
            results.append(Result("run", case.label, system.name, absent=str(reason)))
        except Exception as error:  # noqa: BLE001 - must not hide the others' figures; `compare` exits with 1
            if not isinstance(error, Disagreement):
                traceback.print_exc()
            results.append(Result("run", case.label, system.name, failed=f"{type(error).__name__}: {error}"))
    samples = interleave([candidate.timer() for candidate in ready], budget)
    results += (
        Result("run", case.label, candidate.system.name, samples=tuple(times))
        for candidate, times in zip(ready, samples, strict=True)
    )
    return results


def interleave(timers: list[timeit.Timer], budget: float) -> list[list[float]]:
    """Round after round, one batch of calls of each timer, starting with another one each time."""
    single = [_time_of_one(timer) for timer in timers]
    numbers = [max(1, round(BATCH_SECONDS / seconds)) for seconds in single]
    round_seconds = sum(n * s for n, s in zip(numbers, single, strict=True)) or 1.0
    rounds = int(min(max(budget * len(timers) / round_seconds, ROUNDS[0]), ROUNDS[1]))
    samples: list[list[float]] = [[] for _ in timers]
    for turn in range(rounds):
        for offset in range(len(timers)):
            index = (turn + offset) % len(timers)
            if single[index] < WARM_BELOW_SECONDS:
                timers[index].timeit(1)  # the other systems had the caches
            samples[index].append(timers[index].timeit(numbers[index]) / numbers[index])
    return samples


def _time_of_one(timer: timeit.Timer) -> float:
    """Rough seconds a call, from growing batches, the first calls left out."""
    timer.timeit(2)
    number = 1
    while (seconds := timer.timeit(number)) < BATCH_SECONDS / 2:
        number *= 4
    return seconds / number
