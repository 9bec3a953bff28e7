"""Comparisons, extrema, tests of numbers, and logic."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import elementwise
from numbagraph.blockwise.promotion import DtypeRule, Kind, is_large, promote, ufunc_rule
from numbagraph.intrinsics.emitters import reals, scalar
from numbagraph.ir.types import FLOAT32, INT64, UINT64
from numbagraph.ir.values import Op, Value
from numbagraph.ops.selection import DISCRETE, where


def by_value(ufunc: np.ufunc) -> DtypeRule:
    """Return the dtype rule of a comparison. A Python integer is compared by value, though it may be out of the array's
    range."""
    loop = ufunc_rule(ufunc)

    @cache
    def rule(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
        if any(isinstance(kind, np.dtype) and kind.kind in "iu" for kind in kinds):
            kinds = tuple(INT64 if kind is int else kind for kind in kinds)
        return loop(kinds)

    return rule


def as_number(operand: Any, other: Any) -> Any:
    """Return a Python integer beyond int64 as a number that compares like it."""
    if not is_large(operand):
        return operand
    dtype = getattr(other, "dtype", INT64)
    if dtype == UINT64 and 0 <= operand < 2**64:
        return np.uint64(operand)
    return float(operand) if dtype.kind in "fc" else np.copysign(np.inf, operand)


def comparison(ufunc: np.ufunc, predicate: str, **properties: Any) -> Op:
    rule = by_value(ufunc)

    def frontend(op: Op, x1: Any, x2: Any, *, weak: bool = False) -> Value:
        return op.bind(*promote(rule, (as_number(x1, x2), as_number(x2, x1)), weak=weak))

    return elementwise(ufunc, emit=scalar.compare(predicate), dtype=rule, frontend=frontend, vjp=DISCRETE, **properties)


equal = comparison(np.equal, "==", commutative=True)
not_equal = comparison(np.not_equal, "!=", commutative=True)
less = comparison(np.less, "<", operator="lt")
less_equal = comparison(np.less_equal, "<=", operator="le")
greater = comparison(np.greater, ">", operator="gt")
greater_equal = comparison(np.greater_equal, ">=", operator="ge")


def share(g: Value, wins: Value, a: Value, b: Value) -> Value:
    """Return the cotangent of an operand of an extremum: whole where it wins, half where the operands are equal."""
    return where(wins, g, where(equal(a, b), g * 0.5, 0.0))


def share_of_number(g: Value, wins: Value, a: Value, b: Value) -> Value:
    """Return the cotangent of an operand of an extremum in which a number wins against NaN: half where the operands are
    equal."""
    return where(logical_or(wins, isnan(b)), g, where(equal(a, b), g * 0.5, 0.0))


def tied(a: Any, b: Any) -> Any:
    return a == b


maximum = elementwise(
    np.maximum,
    emit=scalar.extremum(">", accumulate=False),
    vjp=lambda g, y, a, b: (share(g, a > b, a, b), share(g, b > a, a, b)),
    kinks=tied,
)
minimum = elementwise(
    np.minimum,
    emit=scalar.extremum("<", accumulate=False),
    vjp=lambda g, y, a, b: (share(g, a < b, a, b), share(g, b < a, a, b)),
    kinks=tied,
)
fmax = elementwise(
    np.fmax,
    emit=scalar.extremum_ignoring_nan(">"),
    vjp=lambda g, y, a, b: (share_of_number(g, a > b, a, b), share_of_number(g, b > a, b, a)),
    kinks=tied,
    cost=2,
)
fmin = elementwise(
    np.fmin,
    emit=scalar.extremum_ignoring_nan("<"),
    vjp=lambda g, y, a, b: (share_of_number(g, a < b, a, b), share_of_number(g, b < a, b, a)),
    kinks=tied,
    domain=((-4.0, 4.0), (-3.0, 3.0)),
    cost=2,
)


def sign_rule(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
    """Return the dtypes of `signbit`'s operand and result. NumPy looks at the sign of a small integer as a float16,
    which numbagraph lacks: float32 takes its place."""
    operand, result = ufunc_rule(np.signbit)(kinds)
    return (FLOAT32 if operand.itemsize < FLOAT32.itemsize else operand), result


isnan = elementwise(np.isnan, emit=scalar.is_nan, vjp=DISCRETE)
isinf = elementwise(np.isinf, emit=scalar.is_infinite, vjp=DISCRETE)
isfinite = elementwise(np.isfinite, emit=scalar.is_finite, vjp=DISCRETE)
signbit = elementwise(np.signbit, emit=reals.sign_bit, dtype=sign_rule, vjp=DISCRETE)

logical_and = elementwise(np.logical_and, emit=scalar.logical("and_"), vjp=DISCRETE, commutative=True)
logical_or = elementwise(np.logical_or, emit=scalar.logical("or_"), vjp=DISCRETE, commutative=True)
logical_xor = elementwise(np.logical_xor, emit=scalar.logical("xor"), vjp=DISCRETE, commutative=True)
logical_not = elementwise(np.logical_not, emit=scalar.logical("not_"), vjp=DISCRETE)
