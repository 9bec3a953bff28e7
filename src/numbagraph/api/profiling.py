"""`profile`: where the time of a compiled function goes, loop nest by loop nest."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from numbagraph.api.graph_jit import graph_jit
from numbagraph.api.transformed import Transformed
from numbagraph.explain.profile import Profile, ProfiledStep
from numbagraph.explain.report import lengths_of
from numbagraph.explain.steps import KINDS, line_of, name_of
from numbagraph.explain.viewer import Part, page
from numbagraph.ir.values import Value
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.jit.phases import Phases
from numbagraph.jit.version import Traced
from numbagraph.loops.ir import Step
from numbagraph.runtime.arguments import Abstract
from numbagraph.runtime.entry import make_callable
from numbagraph.runtime.specialise import Specialisation, signature_of
from numbagraph.runtime.timed import TimedProgram
from numbagraph.tracing.tracebacks import for_users
from numbagraph.tracing.tracer import any_traced

BUDGET = 0.2
"""The seconds of calls after which no more calls are made."""

LEAST_CALLS, MOST_CALLS = 3, 1000

COPIED = tuple(2**exponent for exponent in range(15, 28, 2))
"""The numbers of bytes that are moved to measure the bandwidth of copies: from first-level caches to memory."""

ELEMENT = np.dtype(np.float64)


@for_users
def profile(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Profile:
    """Measure the loop nests and calls of a compiled function: their times, bytes, and bandwidth.

    The function is compiled once more, with a clock that is read around each loop nest, call, loop and branch, and is
    called for a fifth of a second. The bandwidth of each step is compared with that of a plain copy of as many bytes.

    Parameters
    ----------
    function : callable
        What `graph_jit` returned, or a function that it takes.
    *args, **kwargs
        The arguments of the calls. What the function would write into them, and into shared variables and random
        generators, is not written.

    Returns
    -------
    Profile
        ``print`` shows a table; ``steps``, ``seconds``, ``result`` and ``as_dict()`` are for programs.

    Raises
    ------
    TypeError
        If ``function`` cannot be called, or if an argument is a `numbagraph.Abstract`, which has no elements.
    ValueError
        If its backend is not Numba's.
    NotImplementedError
        Inside of a traced function, and on Windows, which has no ``clock_gettime``.

    Notes
    -----
    Times are medians of the calls, without what reading the clock takes itself. Inside of loops the clock keeps LLVM
    from joining neighbouring steps, so that short steps of many runs take longer than in the function as it is: single
    numbers are not measured, and what they take is part of the loop's own time. Donated arguments are not
    reused. A function that prints (`debug_print`) is called once. Where a step reads or writes through indices, it
    counts as many elements as it can have met at most. A copy writes half of what it moves, so that steps which mostly
    read may pass its bandwidth.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> found = numbagraph.profile(lambda x: np.sum(np.cumsum(x) ** 2), np.ones(1000))
    >>> [(each.kind, each.runs, each.bytes) for each in found.steps]
    [('nest', 1, 8000)]
    >>> found.result
    np.float64(333833500.0)
    """
    if not hasattr(time, "clock_gettime"):
        raise NotImplementedError("profile reads the clock with clock_gettime, which this platform does not have")
    compiled = as_compiled(function)
    if compiled.backend != "numba":
        raise ValueError(
            f"{compiled!r} has backend {compiled.backend!r}, which runs no loop nests: profile measures "
            'those of backend="numba"; numpy and jax have profilers of their own'
        )
    arguments = compiled.definition.bind(args, kwargs)
    if any_traced(arguments.leaves):
        raise NotImplementedError("profile calls a function with arrays: call it outside of traced functions")
    if any(isinstance(each, Abstract) for each in arguments.leaves):
        raise TypeError("profile calls the function, for which numbagraph.Abstract has no elements: give an array")
    if arguments.generators is not None:
        arguments.generators.read()
    traced, leaves = compiled.versions.find(arguments)
    measured = Measured(traced, [*leaves, *traced.shared.values()], compiled.__name__)
    found = measured.call()
    if found is NotImplemented:
        compiled.execution.run_by_numpy(traced, traced.inputs(leaves))
        raise NotImplementedError(f"{compiled!r}: native code does not take these arguments, NumPy runs the graph")
    measured.repeat()
    limits = copy_rates(compiled.definition.parallel)
    result = traced.outputs.rebuild([found] if traced.outputs.single else found)
    times = {each: steps_of(each, measured.records(each), limits) for each in measured.programs}
    parts = [Part(each.stages, each.emitted, measured.lengths(each), times[each]) for each in measured.programs]
    return Profile(
        compiled._described,
        [step for each in times.values() for step in each.values()],
        seconds=float(np.median(measured.elapsed)) * 1e-9,
        calls=len(measured.elapsed),
        reading=max(each.reading for each in measured.programs) * 1e-9,
        limits=limits,
        result=result,
        page=lambda title: page(title, parts),
    )


def as_compiled(function: Callable[..., Any]) -> GraphFunction[..., Any]:
    if isinstance(function, Transformed):
        return function.compiled
    return function if isinstance(function, GraphFunction) else graph_jit(function)


class Measured:
    """A version that is compiled to be measured, and the measurements of its calls."""

    def __init__(self, traced: Traced, given: list[Any], name: str) -> None:
        self.traced = traced
        self.given = given
        self.elapsed: list[int] = []
        """The nanoseconds of each call."""
        if traced.phases is None:
            self.programs = [TimedProgram.of(without_writes(traced))]
            self.run: Callable[..., Any] = make_callable([self.programs[0].make_plan(guarded=False)], name)
        else:
            self.programs = [TimedProgram.of(each) for each in traced.phases.specialisations]
            self.run = Phases(traced.phases.phases, tuple(self.programs)).runner(guarded=False)
        self._counted: dict[TimedProgram, list[np.ndarray]] = {each: [] for each in self.programs}

    def call(self) -> Any:
        begin = time.perf_counter_ns()
        found = self.run(*self.given)
        self.elapsed.append(time.perf_counter_ns() - begin)
        for timed, counted in self._counted.items():
            counted.append(timed.without_clock(timed.records()))
        return found

    def repeat(self) -> None:
        """Call the version until there is enough to take medians of; the first call, which met cold memory, does not
        count."""
        if self.traced.outputs.has_effects:
            return
        self.elapsed.clear()
        for counted in self._counted.values():
            counted.clear()
        end, enough = time.perf_counter() + BUDGET, False
        while not enough:
            self.call()
            calls, is_long = len(self.elapsed), self.elapsed[-1] > BUDGET * 1e9
            enough = is_long or calls == MOST_CALLS or (calls >= LEAST_CALLS and time.perf_counter() > end)

    def records(self, timed: TimedProgram) -> np.ndarray:
        """The median of each measured number, over the calls."""
        return np.median(self._counted[timed], axis=0)

    def lengths(self, timed: TimedProgram) -> Mapping[Value, int]:
        """The lengths that are known before the call."""
        inputs, first = timed.graph.inputs, len(self.given)
        captured = len(timed.captured)
        known = lengths_of(inputs[:first], self.given)
        return known | lengths_of(inputs[len(inputs) - captured :], timed.captured)

    def quickest(self) -> float:
        """The seconds that all steps took in the quickest call."""
        totals = [sum(int(each[:, 0].sum()) for each in call) for call in zip(*self._counted.values(), strict=True)]
        return max(min(totals), 1) * 1e-9


def without_writes(traced: Traced) -> Specialisation:
    """Return a version's program in a form all of whose results are new arrays."""
    special = traced.specialisation
    assert special is not None
    signature = signature_of(traced.graph, traced.leaves, len(traced.captured), traced.outputs.single)
    return Specialisation(traced.graph, signature, traced.captured, special.name, None, special.parallel)


def steps_of(timed: TimedProgram, records: np.ndarray, limits: Mapping[int, float]) -> dict[Step, ProfiledStep]:
    """The steps that ran, with their measurements."""
    found = {}
    for watched, (nanoseconds, runs, moved, iterations) in zip(timed.watched, records, strict=True):
        if runs:
            limit = limit_of(moved / runs, limits) if moved else 0.0
            step = watched.step
            described = KINDS[type(step)], name_of(step), line_of(step)
            counts = int(runs), float(nanoseconds) * 1e-9, int(moved), int(iterations)
            found[step] = ProfiledStep(*described, watched.depth, *counts, limit)
    return found


def limit_of(moved: float, limits: Mapping[int, float]) -> float:
    """The bandwidth of a copy that moves as many bytes, or else the largest that was measured."""
    return next((rate for size, rate in limits.items() if size >= moved), list(limits.values())[-1])


@cache
def copy_rates(parallel: bool) -> Mapping[int, float]:
    """The bandwidth of copies on this machine, by the number of bytes that are read and written; measured once."""
    copied = graph_jit(lambda x: x.copy(), parallel=parallel)
    return {size: copy_rate(copied, size) for size in COPIED}


def copy_rate(copied: GraphFunction[..., Any], size: int) -> float:
    arguments = copied.definition.bind((np.ones(size // 2 // ELEMENT.itemsize, ELEMENT),), {})
    traced, leaves = copied.versions.find(arguments)
    measured = Measured(traced, leaves, "copied")
    for _ in range(LEAST_CALLS + 2):
        measured.call()
    return size / measured.quickest()
