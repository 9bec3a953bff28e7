"""Loops over lengths that elements decide, which fill arrays: values against Python's, and derivatives against its
differences."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from numbagraph import graph_jit
from numbagraph.testing.op_calls import outcome
from tests.fuzz import nests
from tests.fuzz.late_source import Draw, as_number
from tests.fuzz.nest_source import source_of
from tests.fuzz.python_source import Block, without_one
from tests.fuzz.runner import Difference, Report

__all__ = ["case", "names"]

LENGTHS = ((5, 3), (4, 4), (1, 1), (3, 1), (0, 2), (6, 0))
CALLS = 4
WITH_DERIVATIVES = 0.3
BACKENDS = ("numba", "numba", "numpy")
MOST_TRIALS = 40
NOISE = 1e-11

Compared = Callable[[Block, Report], str | None]


def names() -> list[str]:
    """There is no op that these programs are about."""
    return []


def case(rng: np.random.Generator, report: Report) -> None:
    """One program, called several times."""
    block, calls = Draw(rng).program(), arguments_of(rng)
    backend, derivatives = str(rng.choice(BACKENDS)), bool(rng.random() < WITH_DERIVATIVES)

    def compared(block: Block, report: Report) -> str | None:
        if (found := values_differ(block, calls, backend, report)) is not None or not derivatives:
            return found
        return nests.compared(as_number(block), calls, backend, "", report)

    difference = compared(block, report)
    if difference is None:
        return
    for _ in range(MOST_TRIALS):
        smaller = next(((each, found) for each, found in differing(block, compared) if found), None)
        if smaller is None:
            break
        block, difference = smaller
    raise Difference(f"backend {backend}: {difference}\n{source_of(block)}")


def differing(block: Block, compared: Compared) -> Iterator[tuple[Block, str | None]]:
    for each in without_one(block):
        if each[-1].line.startswith("return"):
            yield each, compared(each, Report(0))


def arguments_of(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Two vectors, a matrix, a number, and keys, as the fuzzer of nests has them; lengths of 0 and 1 are among them."""
    lengths = [LENGTHS[0], *(LENGTHS[each] for each in rng.permutation(np.arange(1, len(LENGTHS)))[: CALLS - 1])]
    return [
        (
            rng.uniform(-1, 1, n),
            rng.uniform(-1, 1, p),
            rng.uniform(-1, 1, (2, 3)),
            float(rng.uniform(-1, 1)),
            rng.integers(0, 4, n),
        )
        for n, p in lengths
    ]


def values_differ(block: Block, calls: Any, backend: str, report: Report) -> str | None:
    """How what a compiled program gives differs from what Python gives, if it does."""
    plain = nests.function_of(source_of(block))
    compiled = graph_jit(plain, backend=backend, cache=False)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for number, given in enumerate(calls):
            own = copy.deepcopy(given)
            expected, found = outcome(plain, list(given)), outcome(compiled, list(own))
            if isinstance(expected, NameError) or isinstance(
                found, NameError
            ):  # a smaller program that has lost a name
                return None
            if isinstance(found, nests.REFUSALS):
                report.refused[str(found).partition("\n")[0][:80]] += 1
                return None
            if isinstance(expected, Exception):
                if not isinstance(found, (IndexError, ValueError)) and nests.is_read(expected):
                    return f"call {number}, {given}: {expected!r} expected, found {found!r}"
                continue
            difference = unequal(found, expected)
            if difference is not None and unequal(outcome(plain, with_noise(given)), expected) is None:
                return f"call {number}, {given}: {difference}"
    return None


def with_noise(given: Any) -> list[Any]:
    """Arguments with errors: where these change much, rounding decides a branch."""
    return [each * (1 + NOISE) if np.asarray(each).dtype.kind == "f" else each for each in given]


def unequal(found: Any, expected: Any) -> str | None:
    if isinstance(found, Exception):
        return f"{expected!r} expected, found {found!r}"
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        is_equal = np.shape(one) == np.shape(other) and np.allclose(one, other, 1e-8, 1e-8, equal_nan=True)
        if not is_equal:
            return f"result {number}: {other!r} expected, found {one!r}"
    return None
