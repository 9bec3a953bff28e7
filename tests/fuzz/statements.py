"""Programs of Python statements against NumPy: values, errors, calls in sequence, writes to results, donations."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from numbagraph import graph_jit
from numbagraph.ir.shapes import ShapeError
from numbagraph.testing.arrays import LAYOUTS
from numbagraph.testing.op_calls import outcome
from numbagraph.tracing.tracer import TraceError
from tests.fuzz.arguments import (
    arrays_of,
    form,
    leaves,
    mapped,
    memories,
    overlapping,
    reordered,
    resized,
    spoiled,
    twice,
    writeable,
)
from tests.fuzz.into import Converting, Into, Over
from tests.fuzz.near import difference
from tests.fuzz.programs import Program, draw, names
from tests.fuzz.runner import Difference, Report

__all__ = ["case", "names"]

REFUSALS = (TraceError, NotImplementedError)
UNRAISED = ("must not contain infs or NaNs", "Python integer", "unexpected array size")
"""Texts of errors that numbagraph has not: SciPy looks for infinities before it solves anything, and its bands of one
column end in an error of its wrappers; numbers that are assigned may be elements, which wrap around."""
REFUSED = ("(dimension must be 3)", "the key is one element", "is complex in Python", "to (0,)")
"""Texts of errors where NumPy or Python have none: cross products of vectors in a plane, which NumPy has deprecated; an
element of a bool array that is set to an array; powers of numbers of Python whose type depends on their values; no
elements of any shape that are assigned to no positions."""
ERRORS_OF_NUMBERS = (IndexError, np.linalg.LinAlgError)
"""What depends on elements: it is found where they are used."""
CONSTANT = {"ones_like", "zeros_like", "full_like", "empty_like", "ones", "zeros", "full"}
"""Ops whose results have the same number everywhere, wherever they are read."""
WITHOUT_WEIGHT = "logsumexp"
"""What has no weight adds nothing to the sum, says SciPy, NaN or not; where nothing else is finite, it does."""
RUNS_WITH_ERRORS, MANY_RUNS = 3, 40
NATIVE_LAYOUTS = ("C order", "read-only", "unaligned", "Fortran order", "strided", "rows apart", "negative strides")


def case(rng: np.random.Generator, report: Report) -> None:
    """One program, called several times."""
    program = draw(rng, names())
    if not program.returned:
        return
    check(program, rng, report)


def check(program: Program, rng: np.random.Generator, report: Report) -> None:
    """Compare a program's compiled function with NumPy, in a sequence of calls."""
    given = program.arguments
    donated = [f"a{number}" for number, each in enumerate(given) if arrays_of(each)]
    f = graph_jit(program.function(), cache=False)
    donating = graph_jit(program.function(), cache=False, donate_argnames=donated)
    for layout in ("C order", str(rng.choice(NATIVE_LAYOUTS)), "C order"):
        if not _compare(program, f, mapped(LAYOUTS[layout], given), f"arguments in {layout}", report):
            return
    for what, arguments in _others(given, rng):
        _compare(program, f, arguments, what, report)
        _compare(program, f, given, f"after {what}", report)
    _compare(program, Into(f, rng), writeable(given), "results in given arrays", report)
    _compare(program, donating, writeable(given), "donated", report, donated=True)
    _compare(program, donating, twice(given), "donated twice", report, donated=True)
    _compare(program, donating, spoiled(given), "spoiled and donated", report, donated=True)
    _compare(program, donating, overlapping(given), "donated, and overlapping", report, donated=True)
    _compare(program, Converting(f), writeable(given), "results in arrays of another dtype", report)
    _compare(program, Over(f, rng), writeable(given), "results over an argument", report)
    report.covered.update(program.ops)


def _others(given: list[Any], rng: np.random.Generator) -> list[tuple[str, list[Any]]]:
    """Arguments that a compiled function has not seen: some of several kinds, and what makes calls fail."""
    others = [
        ("arguments of other lengths", resized(given, rng)),
        ("the same array twice", twice(given)),
        ("arguments that overlap", overlapping(given)),
        ("dicts in another order", reordered(given)),
    ]
    chosen = [each for each in others if rng.random() < 0.5]
    return [*chosen, ("spoiled arguments", spoiled(given))]


def _expected(program: Program, arguments: list[Any], count: int = RUNS_WITH_ERRORS) -> tuple[Any, list[Any]]:
    """What NumPy gives, or the error that it raises; and what it gives with other rounding errors."""
    given = writeable(arguments)
    expected = outcome(program.function(), given)
    if isinstance(expected, OverflowError) and "boost::math" in str(expected):
        return None, []  # of a probability that scipy.stats does not hand on
    if isinstance(expected, Exception):
        return expected, []
    runs = [outcome(program.function(np.random.default_rng(seed)), writeable(arguments)) for seed in range(count)]
    if memories(given) != memories(writeable(arguments)) or any(isinstance(each, Exception) for each in runs):
        return None, []
    return expected, runs


def _compare(
    program: Program, f: Any, arguments: list[Any], what: str, report: Report, *, donated: bool = False
) -> bool:
    """Whether there was something to compare."""
    if "spoiled" in what and WITHOUT_WEIGHT in program.ops:
        return True
    expected, spread = _expected(program, arguments)
    before = memories(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = outcome(f, arguments)
    if isinstance(found, REFUSALS) or (isinstance(found, Exception) and any(text in str(found) for text in REFUSED)):
        report.refused[str(found).partition("\n")[0][:80]] += 1
        return False
    if before != memories(arguments) and (not donated or isinstance(found, Exception)):
        raise Difference(f"{what}: an argument was changed\n{program}")
    if isinstance(expected, Exception) and (not program.returns_all or any(text in str(expected) for text in UNRAISED)):
        return True
    if isinstance(found, ShapeError) and "insert" in program.ops:
        return True  # how many elements NumPy inserts follows from how long a slice is
    if not isinstance(found, Exception) and _needs_less(program, expected, found):
        return True
    if _is_singular(expected, found) or _is_singular(found, expected):
        return True
    if isinstance(expected, Exception) != isinstance(found, Exception) and expected is not None:
        raise Difference(f"{what}: {expected!r} expected, found {found!r}\n{program}")
    if isinstance(found, Exception) or expected is None:
        return True
    try:
        _compare_results(program, expected, found, spread, what)
    except Difference:  # of few runs all may round to the same side of a step
        if donated:
            raise
        _compare_results(program, expected, found, _expected(program, arguments, MANY_RUNS)[1], what)
    _check_memory(program, [] if donated else arguments, found, what)
    return True


def _needs_less(program: Program, expected: Any, found: Any) -> bool:
    """Whether what has an error need not be computed: it is overwritten, or a position of no element, or one in an
    array whose elements are all the same."""
    is_read = not any(np.size(each) == 0 for each in leaves(found)) and CONSTANT.isdisjoint(program.ops)
    if isinstance(expected, IndexError) and not is_read:
        return True
    return isinstance(expected, ERRORS_OF_NUMBERS) and not program.uses_all


def _is_singular(error: Any, other: Any) -> bool:
    """Whether a matrix that one order of operations finds singular has an inverse, or a factor, of rounding errors in
    another."""
    if not isinstance(error, np.linalg.LinAlgError) or isinstance(other, Exception):
        return False
    floats = [each for each in map(np.asarray, leaves(other)) if each.dtype.kind in "fc" and each.size]
    if "positive definite" in str(error):
        return any(has_rounding_errors(np.abs(each[each != 0])) for each in floats)
    return any(np.abs(each).max() > 0.01 / np.finfo(each.dtype).eps for each in floats)


def has_rounding_errors(sizes: np.ndarray) -> bool:
    """Whether some of a factor's numbers are the roots of rounding errors."""
    return bool(sizes.size) and sizes.min() < 100 * np.sqrt(np.finfo(sizes.dtype).eps) * sizes.max()


def _compare_results(program: Program, expected: Any, found: Any, spread: list[Any], what: str) -> None:
    if form(expected) != form(found):
        raise Difference(f"{what}: {form(expected)} expected, found {form(found)}\n{program}")
    for number, (wanted, each) in enumerate(zip(leaves(expected), leaves(found), strict=True)):
        differs = difference(each, wanted, [leaves(run)[number] for run in spread])
        if differs is not None:
            raise Difference(f"{what}: result {number}: {differs}\n{program}")


def _check_memory(program: Program, arguments: list[Any], found: Any, what: str) -> None:
    """Each result has memory of its own, which the caller may write to."""
    arrays, others = arrays_of(found), arrays_of(arguments)
    for number, each in enumerate(arrays):
        if any(np.may_share_memory(each, other) for other in (*arrays[:number], *others)):
            raise Difference(f"{what}: results share memory with each other or with arguments\n{program}")
        each[...] = 1
