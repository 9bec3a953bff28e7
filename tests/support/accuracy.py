"""Whether one form of a function is at least as accurate as another, measured with many digits."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import mpmath
import numpy as np

from numbagraph.ir.graph import Graph
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import ArrayType, Dim, Input, constant
from numbagraph.rewrite.engine import PatternRule
from numbagraph.rewrite.patterns import Application, Pattern, PatternNumber, PatternVariable
from numbagraph.transforms.interpret import evaluate
from tests.support.rule_checks import build, fired, variables

DIGITS = 380
"""Enough to see exp(-800) beside 1."""

FORMULAS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "power": lambda x, y: x**y,
    "negative": lambda x: -x,
    "square": lambda x: x * x,
    "absolute": abs,
    "log1p": lambda x: mpmath.log(1 + x),
    "expit": lambda x: 1 / (1 + mpmath.exp(-x)),
    "log_expit": lambda x: -mpmath.log(1 + mpmath.exp(-x)),
    "log1mexp": lambda x: mpmath.log(1 - mpmath.exp(x)),
    "ndtr": lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
    "where": lambda c, x, y: x if c else y,
    "xlogy": lambda x, y: x * mpmath.log(y) if x else mpmath.mpf(0),
}
"""The ops that mpmath does not have under their names."""

POINTS = [
    number * sign for number in (1e-200, 1e-17, 1e-9, 1e-3, 0.1, 0.7, 1.0, 2.0, 30.0, 37.5, 750.0) for sign in (1, -1)
]
COARSE = [-750.0, -30.0, -1.0, -1e-9, 1e-17, 0.1, 0.9, 1.0, 40.0, 800.0]


def exactly(pattern: Pattern, values: dict[str, Any]) -> Any:
    """A pattern's value with many digits; NaN where it is not real."""
    if isinstance(pattern, PatternVariable):
        return values[pattern.name]
    if isinstance(pattern, PatternNumber):
        return mpmath.mpf(pattern.number)
    assert isinstance(pattern, Application)
    operands = [exactly(each, values) for each in pattern.operands]
    try:
        result = (FORMULAS.get(pattern.op.name) or getattr(mpmath, pattern.op.name))(*operands)
    except ZeroDivisionError:
        return mpmath.nan
    return mpmath.nan if isinstance(result, mpmath.mpc) else result


def check_accuracy(rule: PatternRule) -> int:
    """Assert that a rule's right side has no larger error than its left side, or one that rounding arguments explains.

    Returns at how many points that was seen. Where a rule needs a constant, its last variable is one.
    """
    names = variables(rule.pattern)
    choices = [{}, {names[-1]: 3.0}, {names[-1]: -4.0}, dict(zip(names[1:], (-0.25, 3.0), strict=False))]
    return sum(check_points(rule, names, fixed) for fixed in choices)


def check_points(rule: PatternRule, names: list[str], fixed: dict[str, float]) -> int:
    free = [name for name in names if name not in fixed]
    if not free:
        return 0
    points = np.array(list(product(*[POINTS if len(free) == 1 else COARSE] * len(free))))
    length = Dim("n")
    inputs = {name: Input(ArrayType(FLOAT64, (length,)), name) for name in free}
    constants = {name: constant(number) for name, number in fixed.items()}
    left = Graph(tuple(inputs.values()), (build(rule.pattern, {**inputs, **constants}),))
    right = fired(rule, left)
    if right is None:
        return 0
    arrays = list(points.T.copy())
    (before,), (after,) = evaluate(left, arrays), evaluate(right, arrays)
    with mpmath.workdps(DIGITS):
        for point, one, other in zip(points, before, after, strict=True):
            arguments = {**dict(zip(free, map(float, point), strict=True)), **fixed}
            assert_no_worse(rule, arguments, float(one), float(other))
    return len(points)


def assert_no_worse(rule: PatternRule, point: dict[str, float], before: float, after: float) -> None:
    truth = exactly(rule.pattern, {name: mpmath.mpf(number) for name, number in point.items()})
    where = f"{rule!r} at {point}: {before!r} became {after!r}, the truth is {mpmath.nstr(truth, 20)}"
    if not mpmath.isfinite(truth):
        assert np.isnan(after) if mpmath.isnan(truth) else after == truth or before != truth, where
        return
    error = abs(after - truth) if np.isfinite(after) else mpmath.inf
    if not np.isfinite(after) and abs(truth) > np.finfo(float).max:
        error = mpmath.mpf(0)
    if error <= 4 * np.spacing(abs(float(truth))) or (np.isfinite(before) and error <= abs(before - truth)):
        return
    assert error <= 4 * np.finfo(float).eps * conditioning(rule.pattern, point, truth), where


def conditioning(pattern: Pattern, point: dict[str, float], truth: Any) -> Any:
    """By how much the value changes when each argument changes by all of itself, to first order."""
    total = abs(truth)
    for name, number in point.items():
        step = mpmath.mpf(number) * mpmath.mpf(10) ** -40
        moved = {each: mpmath.mpf(other) + (step if each == name else 0) for each, other in point.items()}
        total += abs(exactly(pattern, moved) - truth) * mpmath.mpf(10) ** 40
    return total
