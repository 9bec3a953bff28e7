"""Programs of Python statements against NumPy: values, errors, calls in sequence, writes to results, donations."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from numbagraph import graph_jit
from numbagraph.testing.arrays import LAYOUTS, memory_of
from numbagraph.testing.calls import outcome
from numbagraph.tracing import TraceError
from tests.fuzz.near import difference
from tests.fuzz.programs import Program, draw, names
from tests.fuzz.runner import Difference, Report

__all__ = ["case", "names"]

REFUSALS = (TraceError, NotImplementedError)
UNCHECKED = "must not contain infs or NaNs"
"""SciPy looks for these before it solves anything; numbagraph's results are NaN."""
FAR = 10**6
"""A position out of bounds. (NumPy wraps one that is far larger by subtracting the length again and again.)"""
RUNS_WITH_ERRORS = 3
NATIVE_LAYOUTS = ("C order", "read-only", "unaligned", "Fortran order", "strided", "negative strides")


def case(rng: np.random.Generator, report: Report) -> None:
    """One program, called several times."""
    program = draw(rng, names())
    if not program.returned:
        return
    check(program, rng, report)


def check(program: Program, rng: np.random.Generator, report: Report) -> None:
    """Compare a program's compiled function with NumPy, in a sequence of calls."""
    donated = [f"a{number}" for number, each in enumerate(program.arguments) if isinstance(each, np.ndarray)]
    f = graph_jit(program.function(), cache=False)
    donating = graph_jit(program.function(), cache=False, donate_argnames=donated)
    for layout in ("C order", str(rng.choice(NATIVE_LAYOUTS)), "C order"):
        arguments = [LAYOUTS[layout](each) if isinstance(each, np.ndarray) else each for each in program.arguments]
        if not _compare(program, f, arguments, f"arguments in {layout}", report):
            return
    spoiled = [_spoiled(each) for each in program.arguments]
    _compare(program, f, spoiled, "spoiled arguments", report)
    _compare(program, f, program.arguments, "after a call that may have failed", report)
    _compare(program, donating, [_writeable(each) for each in program.arguments], "donated", report, donated=True)
    _compare(program, donating, [_writeable(each) for each in spoiled], "spoiled and donated", report, donated=True)
    report.covered.update(program.ops)


def _writeable(value: Any) -> Any:
    return np.array(value) if isinstance(value, np.ndarray) else value


def _spoiled(value: Any) -> Any:
    """An array such that indices are out of bounds, matrices singular, and numbers special."""
    if not isinstance(value, np.ndarray):
        return value
    result = np.array(value)
    if result.dtype.kind in "iu":
        result[...] = min(FAR, np.iinfo(result.dtype).max)
    elif result.dtype.kind in "fc":
        result.flat[::2] = 0
        result.flat[1::3] = np.nan
    return result


def _expected(program: Program, arguments: list[Any]) -> tuple[Any, list[Any]]:
    """What NumPy gives, or the error that it raises; and what it gives with other rounding errors."""
    given = [_writeable(each) for each in arguments]
    expected = outcome(program.function(), given)
    if isinstance(expected, Exception):
        return expected, []
    changed = any(
        isinstance(one, np.ndarray) and memory_of(one) != memory_of(_writeable(other))
        for one, other in zip(given, arguments, strict=True)
    )
    runs = [
        outcome(program.function(np.random.default_rng(seed)), [_writeable(each) for each in arguments])
        for seed in range(RUNS_WITH_ERRORS)
    ]
    if changed or any(isinstance(each, Exception) for each in runs):
        return None, []
    return expected, runs


def _compare(
    program: Program, f: Any, arguments: list[Any], what: str, report: Report, *, donated: bool = False
) -> bool:
    """Whether there was something to compare."""
    expected, spread = _expected(program, arguments)
    before = [memory_of(each) if isinstance(each, np.ndarray) else None for each in arguments]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = outcome(f, arguments)
    if isinstance(found, REFUSALS):
        report.refused[str(found).partition("\n")[0][:80]] += 1
        return False
    after = [memory_of(each) if isinstance(each, np.ndarray) else None for each in arguments]
    if before != after and (not donated or isinstance(found, Exception)):
        raise Difference(f"{what}: an argument was changed\n{program}")
    if isinstance(expected, Exception) and (not program.returns_all or UNCHECKED in str(expected)):
        return True
    if isinstance(expected, Exception) != isinstance(found, Exception) and expected is not None:
        raise Difference(f"{what}: {expected!r} expected, found {found!r}\n{program}")
    if isinstance(found, Exception) or expected is None:
        return True
    _compare_results(program, expected, found, spread, what)
    _check_memory(program, [] if donated else arguments, found, what)
    return True


def _compare_results(program: Program, expected: Any, found: Any, spread: list[Any], what: str) -> None:
    for number, (wanted, each) in enumerate(zip(expected, found, strict=True)):
        runs = [run[number] for run in spread]
        if isinstance(wanted, (tuple, list)):
            continue
        differs = difference(each, wanted, runs)
        if differs is not None:
            raise Difference(f"{what}: {program.returned[number]}: {differs}\n{program}")


def _check_memory(program: Program, arguments: list[Any], found: Any, what: str) -> None:
    """Each result has memory of its own, which the caller may write to."""
    arrays = [each for each in found if isinstance(each, np.ndarray)]
    others = [each for each in arguments if isinstance(each, np.ndarray)]
    for number, each in enumerate(arrays):
        if any(np.may_share_memory(each, other) for other in (*arrays[:number], *others)):
            raise Difference(f"{what}: results share memory with each other or with arguments\n{program}")
        each[...] = 1
