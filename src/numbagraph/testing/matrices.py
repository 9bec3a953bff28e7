"""Linear algebra at its limits: matrices that are empty, zero, singular, huge, subnormal or not finite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from numbagraph.runtime.arguments import flatten
from numbagraph.testing.op_calls import Call, is_supported, outcome

ACCURACY = 1e-6
"""The tolerance relative to the largest element of a matrix: results need the right size, not full accuracy."""


def scaled(exponent: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that scales an array by a power of two."""
    return lambda array: array * array.dtype.type(2.0**exponent)


def with_element(number: float, index: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that replaces an element on the diagonal of each matrix, or in a vector."""

    def change(array: np.ndarray) -> np.ndarray:
        result = array.copy()
        if result.size:
            result[(..., *[index] * min(result.ndim, 2))] = number
        return result

    return change


SPECIAL: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "zero": lambda array: array * 0,
    "huge": scaled(990),
    "nearly subnormal": scaled(-990),
    "subnormal": scaled(-1060),
    "a zero first": with_element(0.0, 0),
    "a huge element": with_element(1e300, -1),
    "a tiny element": with_element(5e-324, 0),
    "an infinity first": with_element(np.inf, 0),
    "an infinity last": with_element(-np.inf, -1),
    "a NaN first": with_element(np.nan, 0),
    "a NaN last": with_element(np.nan, -1),
}


def check_special_matrices(
    call: Call, backend: str = "numba", *, left_out: tuple[str, ...] = (), **options: Any
) -> int:
    """Compare a function of matrices with NumPy's where numbers are special, in each of the operands, and in all.

    Both raise an error, or what NumPy finds is found. Where NumPy's result is not finite ours is not, either.

    Returns
    -------
    int
        The number of results, or errors, that were compared.
    """
    compiled, failures, compared = call.compiled(backend=backend, **options), [], 0
    for what, arrays in variations(call, left_out):
        expected, found = call.expected(arrays), outcome(compiled, arrays)
        compared += 1
        wrong = difference(call, expected, found)
        if wrong:
            failures.append(f"{call}, {what}, {backend}: {wrong}")
    if failures:
        raise AssertionError("\n".join(failures))
    return compared


def variations(call: Call, left_out: tuple[str, ...]) -> Iterator[tuple[str, list[np.ndarray]]]:
    positions = [position for position, each in enumerate(call.arrays) if each.dtype.kind in "fc"]
    if "no matrices at all" not in left_out:
        yield "no matrices at all", [np.empty((0, *each.shape), each.dtype) for each in call.arrays]
    if "of length 0" not in left_out:
        yield "of length 0", [each[(..., *[slice(0)] * min(each.ndim, 2))] for each in call.arrays]
    for name, change in SPECIAL.items():
        for chosen in [positions] if len(positions) == 1 else [positions, *[[position] for position in positions]]:
            if name not in left_out:
                with np.errstate(all="ignore"):
                    arrays = [change(each) if position in chosen else each for position, each in enumerate(call.arrays)]
                yield f"{name} in {chosen}", arrays


def difference(call: Call, expected: Any, found: Any) -> str | None:
    """A description of the difference between a result and NumPy's; None if there is none."""
    if not is_supported(expected):
        return None if isinstance(found, Exception) else f"{expected!r} expected, found {found!r}"
    if isinstance(found, Exception):
        return f"{expected!r} expected, found {found!r}"
    left, right = (
        [np.asarray(each) for each in flatten(call.op.determined(result))[0]] for result in (found, expected)
    )
    for each, wanted in zip(left, right, strict=True):
        if each.shape != wanted.shape or each.dtype != wanted.dtype:
            return f"{wanted.dtype}{wanted.shape} expected, found {each.dtype}{each.shape}"
        finite = np.isfinite(wanted)
        size = np.abs(wanted[finite]).max(initial=0)
        with np.errstate(all="ignore"):
            near = np.abs(each[finite] / 2 - wanted[finite] / 2) <= ACCURACY * size
        if not near.all() or np.isfinite(each[~finite]).any():
            return f"{wanted!r} expected, found {each!r}"
    return None
