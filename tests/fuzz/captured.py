"""Python's own loops, branches and assignments against Python: values, errors, and what arguments are afterwards.

All numbers are small integers, those in floats too, so that results are equal and not only near."""

from __future__ import annotations

import copy
import linecache
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from numbagraph import ShapeError, TraceError, graph_jit
from numbagraph.loops.schedule import LengthNotKnown
from numbagraph.testing.op_calls import outcome
from tests.fuzz.python_source import Block, Draw, source_of, with_all_returned, without_one
from tests.fuzz.runner import Difference, Report

__all__ = ["case", "names"]

REFUSALS = (TraceError, NotImplementedError, OverflowError, LengthNotKnown)
ERRORS = (IndexError, ValueError, ZeroDivisionError, TypeError)
"""Which of several errors comes first is not compared: lengths are checked before elements."""
LEFT_AS_IT_IS = "must leave it as it is"
"""Arrays of other lengths on each path are refused when their lengths are known, if these are not equal then."""
CALLS = 6
MOST_TRIALS = 60
"""Smaller programs that are tried when one differs."""


def names() -> list[str]:
    """There is no op that these programs are about."""
    return []


def case(rng: np.random.Generator, report: Report) -> None:
    """One program, called several times."""
    block = Draw(rng).program()
    arguments = [arguments_of(rng) for _ in range(CALLS)]
    difference = compared(block, arguments, report)
    if difference is None:
        return
    for _ in range(MOST_TRIALS):
        smaller = next(((each, found) for each, found in differing(block, arguments) if found is not None), None)
        if smaller is None:
            break
        block, difference = smaller
    raise Difference(f"{difference}\n{source_of(block)}")


def differing(block: Block, arguments: list[tuple[Any, ...]]) -> Iterator[tuple[Block, str | None]]:
    for each in without_one(block):
        yield each, compared(each, arguments, Report(0))


def arguments_of(rng: np.random.Generator) -> tuple[Any, ...]:
    """Two vectors of one length, a matrix, integers as array, two integers and a float."""
    length = int(rng.integers(0, 6))
    dtype = "d" if rng.random() < 0.8 else "f"
    floats = lambda *shape: rng.integers(-4, 5, size=shape).astype(dtype)  # noqa: E731
    matrix = floats(length, int(rng.integers(1, 4)))
    if rng.random() < 0.2:  # in Fortran's order
        matrix = matrix.copy(order="F")
    return (
        floats(length),
        floats(2 * length)[::2] if rng.random() < 0.2 else floats(length),
        matrix,
        rng.integers(-2, 4, size=length),
        int(rng.integers(0, 4)),
        int(rng.integers(-3, 4)),
        float(rng.integers(-3, 4)),
    )


def compared(block: Block, arguments: list[tuple[Any, ...]], report: Report) -> str | None:
    """How a compiled program differs from Python's, if it does."""
    plain, with_all = (function_of(source_of(each)) for each in (block, with_all_returned(block)))
    backends = ("numba", "numpy")
    compiled = {backend: graph_jit(plain, backend=backend, cache=False) for backend in backends}
    complete = {backend: graph_jit(with_all, backend=backend, cache=False) for backend in backends}
    for given in arguments:
        for backend, function in compiled.items():
            difference = called(plain, function, given, report)
            if difference is not None and not is_of_no_use(plain, complete[backend], given):
                return f"backend {backend}, arguments {given}: {difference}"
    return None


def is_of_no_use(plain: Callable[..., Any], complete: Callable[..., Any], given: tuple[Any, ...]) -> bool:
    """Whether lengths do not fit in a loop or a branch whose results nobody uses: a listed limit. They are compared
    where all results are used."""
    expected = outcome(plain, list(copy.deepcopy(given)))
    if not isinstance(expected, ValueError) or "broadcast" not in str(expected):
        return False
    return isinstance(outcome(complete, list(copy.deepcopy(given))), ShapeError)


def function_of(source: str) -> Callable[..., Any]:
    name = f"<program {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names: dict[str, Any] = {"np": np}
    exec(compile(source, name, "exec"), names)
    return names["program"]


def called(plain: Callable[..., Any], function: Any, given: tuple[Any, ...], report: Report) -> str | None:
    changed, own = copy.deepcopy(given), copy.deepcopy(given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = outcome(plain, list(changed))
        found = outcome(function, list(own))
    if isinstance(found, REFUSALS) or (isinstance(found, ShapeError) and LEFT_AS_IT_IS in str(found)):
        report.refused[str(found).partition("\n")[0][:80]] += 1
        return None if same(own, given) else f"refused, but arguments are {own}"
    if isinstance(expected, NameError) or isinstance(found, NameError):
        return None
    if isinstance(expected, IndexError) and not isinstance(found, Exception):
        return None  # of an element that nobody uses
    if isinstance(expected, Exception):
        if not isinstance(found, ERRORS):
            return f"{expected!r} expected, found {found!r}"
        return None if same(own, given) else f"failed, but arguments are {own}"
    if isinstance(found, Exception):
        return f"{expected!r} expected, found {found!r}"
    if not same(found, expected):
        return f"{expected!r} expected, found {found!r}"
    return None if same(own, changed) else f"arguments {changed!r} expected, found {own!r}"


def same(found: Any, expected: Any) -> bool:
    """Numbers are compared by value, and arrays may be of a wider dtype: a branch has results of one type, where Python
    has that of one path."""
    if isinstance(expected, tuple):
        return isinstance(found, tuple) and len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, np.ndarray) != isinstance(found, np.ndarray):
        return False
    if isinstance(expected, np.ndarray):
        return np.can_cast(expected.dtype, found.dtype, "safe") and np.array_equal(
            found, expected, equal_nan=expected.dtype.kind == "f"
        )
    return bool(found == expected or (found != found and expected != expected))
