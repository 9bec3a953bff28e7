"""Checks of a rewrite rule: does it fire on its own left side, and are both sides equal?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, product

import numpy as np

from numbagraph.ir.graph import Graph
from numbagraph.ir.types import BOOL, DTYPES, WEAK_TYPES
from numbagraph.ir.values import ArrayType, Dim, Input, Value, constant
from numbagraph.rewrite.debug_checks import verify_types
from numbagraph.rewrite.engine import PatternRule, RuleSet, rewrite
from numbagraph.rewrite.patterns import Application, Pattern, PatternNumber, PatternVariable
from numbagraph.transforms.interpret import evaluate

NOT_FOR_THESE_OPERANDS = (TypeError, ValueError, OverflowError, NotImplementedError)
CONSTANTS = (2, 3, -1.5, 0.25, -4)


def special_values(dtype: np.dtype) -> np.ndarray:
    """Numbers with which a rule that is almost right goes wrong."""
    if dtype == BOOL:
        return np.array([False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.array([limits.min, limits.max, 0, 1, 2, 3, 7, limits.max - 1, limits.min + 1], dtype)
    if dtype.kind == "c":
        parts = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan]
        return np.array([complex(real, imag) for real, imag in product(parts, repeat=2)], dtype)
    limits = np.finfo(dtype)
    positive = [0.0, 1.0, 0.1, 0.5, 2.5, 3.0, 37.7, limits.tiny, limits.smallest_subnormal, limits.max, np.inf, np.nan]
    return np.array([sign * number for sign in (1, -1) for number in positive], dtype)


def variables(pattern: Pattern) -> list[str]:
    if isinstance(pattern, PatternVariable):
        return [pattern.name]
    if isinstance(pattern, Application):
        return list(dict.fromkeys(chain.from_iterable(map(variables, pattern.operands))))
    return []


def is_elementwise(pattern: Pattern) -> bool:
    """Whether a pattern's left side can be built from nothing but operands."""
    if not isinstance(pattern, Application):
        return True
    plain = pattern.op.kind == "elementwise" and pattern.op.name != "cast" and not pattern.attributes
    return plain and all(map(is_elementwise, pattern.operands))


def build(pattern: Pattern, values: dict[str, Value]) -> Value:
    """The left side of a rule, as a user who calls NumPy's functions (or Python's operators, on scalars) writes it."""
    if isinstance(pattern, PatternVariable):
        return values[pattern.name]
    if isinstance(pattern, PatternNumber):
        return pattern.number
    assert isinstance(pattern, Application)
    operands = [build(each, values) for each in pattern.operands]
    weak = bool(pattern.op.operator) and all(value.type.weak for value in values.values())
    return pattern.op.frontend(pattern.op, *operands, weak=weak)


Instance = tuple[Graph, list[np.ndarray]]


def operands(name: str, number: int, dtype: np.dtype, kind: object) -> tuple[Value, np.ndarray | None]:
    """What a variable stands for: an array, no numbers at all, one number, or a constant."""
    if isinstance(kind, (int, float)):
        return constant(np.array(kind).astype(dtype)), None
    if isinstance(kind, str) and kind.startswith("python "):
        return constant(float(kind.split()[1]), dtype=dtype, weak=True), None
    numbers = special_values(dtype)
    if kind in ("number", "python"):
        return Input(ArrayType(dtype, weak=kind == "python"), name), np.random.default_rng(number).choice(numbers)
    if kind == "empty":
        numbers = numbers[:0]
    # every number of the first variable meets every one of the second; further ones come as they like
    grid = np.broadcast_to(np.expand_dims(numbers, 1 - number % 2), (len(numbers), len(numbers)))
    if number >= 2:
        grid = np.random.default_rng(number).permuted(grid)
    return Input(ArrayType(dtype, (Dim("n"), Dim("m"))), name), np.array(grid)


def unified(values: dict[str, Value]) -> None:
    """Arrays of one shape have the same lengths."""
    arrays = [value for value in values.values() if isinstance(value, Input) and value.ndim]
    for value in arrays[1:]:
        for mine, first in zip(value.shape, arrays[0].shape, strict=True):
            mine.unify(first)


def instances(rule: PatternRule, dtypes: Sequence[np.dtype] = DTYPES) -> Iterator[Instance]:
    """The left side of an elementwise rule for some dtypes, with arrays, single numbers and constants."""
    names = variables(rule.pattern)
    alone = [{name: number} for name in names for number in CONSTANTS]
    kinds = [{}, dict.fromkeys(names, "number"), dict.fromkeys(names, "empty"), *alone]
    kinds += [{name: "number"} for name in names]
    kinds += [dict.fromkeys(names, "python") | {name: f"python {one}"} for name in names for one in CONSTANTS]
    kinds.append(dict.fromkeys(names, "python"))
    kinds += [dict(zip(pair, (2, 3), strict=True)) for pair in product(names, repeat=2) if pair[0] != pair[1]]
    for dtype, boolean, kind in product(dtypes, (None, *names), kinds):
        scalars = any(str(each).startswith("python") for each in kind.values())
        if scalars and (boolean is not None or dtype == BOOL or dtype not in WEAK_TYPES):
            continue
        with np.errstate(all="ignore"):
            chosen = {
                name: operands(name, number, BOOL if name == boolean else dtype, kind.get(name, "array"))
                for number, name in enumerate(names)
            }
        values = {name: value for name, (value, _) in chosen.items()}
        lengths = {data.shape for _, data in chosen.values() if data is not None and data.ndim}
        if len(lengths) > 1:
            continue
        unified(values)
        try:
            left = build(rule.pattern, values)
        except NOT_FOR_THESE_OPERANDS:
            continue
        inputs = tuple(value for value in values.values() if isinstance(value, Input))
        yield Graph(inputs, (left,)), [data for _, data in chosen.values() if data is not None]


def fired(rule: PatternRule, graph: Graph) -> Graph | None:
    """The graph after the rule alone; None if it does not fire."""
    rules = RuleSet("alone", [rule])
    after, rewrites = rewrite(graph, rules)
    if not rewrites:
        return None
    verify_types(after, "alone")
    return after


def check(rule: PatternRule, ulp: float = 0, dtypes: Sequence[np.dtype] = DTYPES) -> int:
    """Compare both sides wherever the rule fires; returns how often it did."""
    count = 0
    for graph, arrays in instances(rule, dtypes):
        after = fired(rule, graph)
        if after is not None:
            compare(rule, graph, after, arrays, ulp)
            count += 1
    return count


def compare(rule: PatternRule, before: Graph, after: Graph, arrays: list[np.ndarray], ulp: float = 0) -> None:
    try:
        expected = evaluate(before, arrays)
    except NOT_FOR_THESE_OPERANDS:
        return
    for one, other in zip(expected, evaluate(after, arrays, check=True), strict=True):
        wrong = differences(np.asarray(one), np.asarray(other), ulp)
        seen = f"{np.asarray(one)[wrong][:3]} became {np.asarray(other)[wrong][:3]}"
        assert not wrong.any(), f"{rule!r} ({rule.source}) on {before}\n{arrays}: {seen}"


def differences(expected: np.ndarray, result: np.ndarray, ulp: float) -> np.ndarray:
    """Where two results differ in a bit (but for those of a NaN), or by more than some units in the last place."""
    assert (expected.dtype, expected.shape) == (result.dtype, result.shape)
    if expected.dtype.kind == "c":
        return differences(expected.real, result.real, ulp) | differences(expected.imag, result.imag, ulp)
    if expected.dtype.kind != "f":
        return expected != result
    with np.errstate(all="ignore"):
        near = (expected == result) & (np.signbit(expected) == np.signbit(result))
        if ulp:
            near |= np.isfinite(expected) & (np.abs(expected - result) <= ulp * np.spacing(np.abs(expected)))
    return ~(near | (np.isnan(expected) & np.isnan(result)))
