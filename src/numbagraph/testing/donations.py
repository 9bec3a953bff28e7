"""Checks of donated arguments: a failed call cannot be run again on arguments that it has overwritten."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from numbagraph.jit.graph_function import GraphFunction
from numbagraph.loops.ir import Call as NativeCall
from numbagraph.testing.arrays import memory_of
from numbagraph.testing.op_calls import Call, outcome

SPOILED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "iu": lambda array: array + 10**6,
    "b": np.zeros_like,
    "fc": np.zeros_like,
}
"""Functions that change indices, conditions and matrices, by the kinds of their dtypes, so that ops raise an error."""


def check_donations(call: Call, **options: Any) -> int:
    """A call that fails leaves donated arguments as they were, and so raises what it raises without donation.

    Each argument is used once more, for a result that could live in its memory.

    Returns
    -------
    int
        How many calls have failed as they should.
    """

    def function(*arrays: Any) -> Any:
        return tuple(-~each if np.dtype(each.dtype).kind in "iu" else each * 2 for each in arrays), call.function(
            *arrays
        )

    plain, failed = call.compiled(**options), 0
    function.__signature__ = signature = inspect.signature(call.function)  # type: ignore[attr-defined]
    function.__name__ = call.op.name
    donating = GraphFunction(function, donate_argnames=tuple(signature.parameters), **options)
    for kinds, spoil in SPOILED.items():
        arrays = [spoil(each) if each.dtype.kind in kinds else each.copy() for each in call.arrays]
        expected = outcome(plain, arrays)
        if not isinstance(expected, Exception):
            continue
        given = [each.copy() for each in arrays]
        found = outcome(donating, given)
        if type(found) is not type(expected):
            raise AssertionError(f"{call}, donated: {expected!r} expected, found {found!r}")
        if any(memory_of(one) != memory_of(other) for one, other in zip(given, arrays, strict=True)):
            raise AssertionError(f"{call}: a donated argument was modified by a call that failed")
        failed += 1
    return failed


def may_raise(call: Call) -> bool:
    """Whether a call may fail depending on its arguments' elements."""
    steps = call.compiled()._introspection.program(tuple(call.arrays), {})[0].program.body.steps
    solves = any(isinstance(step, NativeCall) and step.attributes.get("on_error") == "raise" for step in steps)
    return solves or any(step.checks() for step in steps)
