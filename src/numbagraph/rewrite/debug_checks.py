"""The checks that `NUMBAGRAPH_CHECK` turns on: that passes keep types (1), and also that they keep values on a call's
own arguments (2)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph
from numbagraph.ir.values import Node, toposort
from numbagraph.rewrite.engine import RewriteError, rewrite
from numbagraph.rewrite.stages import Stage
from numbagraph.transforms.interpret import effects, evaluate


def check_level() -> int:
    """The level of checks in the variable ``NUMBAGRAPH_CHECK``: 1 verifies types after each pass, 2 values on each call
    as well."""
    given = os.environ.get("NUMBAGRAPH_CHECK") or "0"
    if given not in ("0", "1", "2"):
        raise ValueError(f"the environment variable NUMBAGRAPH_CHECK is 0, 1 or 2, not {given!r}")
    return int(given)


TOLERANCE = {np.dtype(np.float32): 1e-3, np.dtype(np.complex64): 1e-3}
"""The largest change of a value by a pass, relative to the largest value; 1e-6 for dtypes that are not listed."""


def verify_types(graph: Graph, stage: str) -> None:
    """Infer the type of every value again, and compare."""
    for value in toposort([*graph.outputs, *[guard.condition for guard in graph.guards]]):
        if isinstance(value, Node):
            seen = value.op.infer(*value.inputs, **value.attrs)
            same_shape = len(seen.shape) == value.ndim and all(map(shapes.same, seen.shape, value.shape))
            if not same_shape or (seen.dtype, seen.weak) != (value.dtype, value.type.weak):
                what = f"{value.op.name} at {value.source} is {value.type}, but its inputs make it {seen}"
                raise RewriteError(f"after {stage}, {what}")


def check_values(stages: Iterable[Stage], arrays: Sequence[Any]) -> None:
    """Run the graph as it was before and after each pass with NumPy; raise an error that names the first rule that
    changed a result.

    A pass that is not exact (it makes results better) may turn what is not finite into something else.
    """
    with effects.suppressed():
        for before, after in pairwise(stages):
            expected = evaluate(before.graph, arrays)
            exact = after.rules is not None and after.rules.exact
            if not agree(expected, evaluate(after.graph, arrays), exact):
                raise RewriteError(blame(before.graph, after, arrays, expected))


def blame(graph: Graph, stage: Stage, arrays: Sequence[Any], expected: Sequence[Any]) -> str:
    """The first rewrite of a pass after which the results are different."""
    if stage.rules is None:
        return f"{stage.name} changed a value: {describe(expected)} became {describe(evaluate(stage.graph, arrays))}"
    for number, applied in enumerate(stage.rewrites, start=1):
        partial, _ = rewrite(graph, stage.rules, limit=number)
        results = evaluate(partial, arrays)
        if not agree(expected, results, stage.rules.exact):
            seen = f"{describe(expected)} became {describe(results)}"
            return f"{stage.name} changed a value: rule {applied}, {applied.node!r} to {applied.replacement!r}; {seen}"
    return f"{stage.name} changed a value, though no single rewrite did"


def describe(results: Sequence[Any]) -> str:
    return ", ".join(np.array2string(np.asarray(each), threshold=8) for each in results)


def agree(expected: Sequence[Any], results: Sequence[Any], exact: bool) -> bool:
    return all(close(np.asarray(one), np.asarray(other), exact) for one, other in zip(expected, results, strict=True))


def close(expected: np.ndarray, result: np.ndarray, exact: bool) -> bool:
    """Whether two results are the same up to rounding."""
    if expected.shape != result.shape or expected.dtype != result.dtype:
        return False
    if expected.dtype.kind not in "fc":
        return bool(np.array_equal(expected, result))
    finite = np.isfinite(expected)
    if not exact:
        expected, result = expected[finite], result[finite]
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=1.0)
    tolerance = TOLERANCE.get(expected.dtype, 1e-6)
    return bool(np.allclose(result, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True))
