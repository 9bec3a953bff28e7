"""The arguments of NumPy's functions as graph values, in the dtypes that NumPy would compute with (NEP 50)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, INT64, WEAK_TYPES, canonical_dtype
from numbagraph.ir.values import Constant, Value, constant

Kind = Any
"""A dtype, or a Python scalar type where the operand is weak."""
DtypeRule = Callable[[tuple[Kind, ...]], tuple[np.dtype, ...]]
"""A function from the operands' kinds to the dtypes of the loop's operands, followed by that of its result."""

LARGEST_CONSTANT = 16
"""The number of elements up to which an array may become part of the code; a larger one must come in as an argument."""


def as_value(operand: object) -> Value:
    """Return an operand as a graph value. Python scalars are weak, NumPy scalars and small arrays are constants."""
    if isinstance(operand, Value):
        return operand
    if isinstance(operand, (bool, int, float, complex)) and not isinstance(operand, np.generic):
        return weak_constant(operand)
    if isinstance(operand, (list, tuple)):
        return list_value(operand)
    if isinstance(operand, type):
        raise TypeError(f"an operand is the class {operand.__name__}, which is no array and no number")
    data = np.asarray(operand)
    if data.dtype.kind in "OU" and not hasattr(operand, "__array__"):
        instead = ": write float(...) of it" if hasattr(operand, "__float__") else ""
        raise TypeError(f"an operand is of type {type(operand).__name__}, which is no array and no number{instead}")
    dtype = canonical_dtype(data.dtype)
    if data.size > LARGEST_CONSTANT:
        raise ValueError(f"an array of {data.size} elements is data: pass it to the graph as an input")
    return constant(data, dtype=dtype)


def list_value(elements: Sequence[Any]) -> Value:
    """Return nested lists as `numpy.asarray` takes them; numbers in them are part of the code, whatever their
    number."""
    if holds_values(elements):
        return registry["stack"]([as_strong(each) for each in elements])
    data = np.asarray(elements)
    return constant(data, dtype=canonical_dtype(data.dtype))


def holds_values(elements: Any) -> bool:
    if isinstance(elements, (list, tuple)):
        return any(map(holds_values, elements))
    return isinstance(elements, Value)


def as_strong(operand: object) -> Value:
    """Return an operand as `numpy.asarray` takes it: a Python number is no longer weak."""
    value = as_value(operand)
    return convert(value, value.dtype) if value.type.weak else value


def is_large(operand: object) -> bool:
    """Whether an operand is a Python integer that does not fit into int64."""
    return type(operand) is int and not -(2**63) <= operand < 2**63


def number_of(number: int, dtype: np.dtype) -> Constant:
    """Return a Python integer as a constant of a dtype; raise if it does not fit."""
    if dtype.kind in "iu" and not np.iinfo(dtype).min <= number <= np.iinfo(dtype).max:
        raise OverflowError(f"Python integer {number} out of bounds for {dtype}")
    return constant(np.array(number, dtype=dtype), dtype=dtype)


def weak_constant(number: complex) -> Constant:
    if isinstance(number, bool):
        return constant(number, dtype=BOOL, weak=True)
    if isinstance(number, int):
        if not -(2**63) <= number < 2**63:
            raise OverflowError(f"Python integer {number} out of bounds for int64: write np.uint64 or a float")
        return constant(number, dtype=INT64, weak=True)
    return constant(number, weak=True)


def kind_of(value: Value) -> Kind:
    """Return the dtype by which a value takes part in promotion, or a Python type if it is weak. (A Python bool is
    simply a bool: there is no narrower dtype to yield to.)"""
    type_ = value.type
    return WEAK_TYPES[type_.dtype] if type_.weak and type_.dtype != BOOL else type_.dtype


def convert(value: Value, dtype: np.dtype) -> Value:
    """``value`` as a strong value of ``dtype``; a weak integer must fit, as in NumPy."""
    if not value.type.weak and (value.type.dtype is dtype or value.type.dtype == dtype):
        return value
    if value.type.weak and value.dtype.kind == "c" and dtype.kind not in "bc":
        raise TypeError(f"a complex number of Python cannot become {dtype}")
    if isinstance(value, Constant):
        if value.type.weak:
            return constant(np.array(value.data.item(), dtype=dtype), dtype=dtype)
        with np.errstate(all="ignore"):
            return constant(value.data.astype(dtype))
    if value.type.weak and value.dtype == INT64 and dtype.kind in "iu" and dtype != INT64:
        limits = np.iinfo(dtype)
        text = f"Python integer out of bounds for {dtype}"
        shapes.require(registry["greater_equal"].bind(value, weak_constant(int(limits.min))), text, OverflowError)
        if limits.max < np.iinfo(np.int64).max:
            shapes.require(registry["less_equal"].bind(value, weak_constant(int(limits.max))), text, OverflowError)
    return registry["cast"].bind(value, dtype=dtype)


def promote(rule: DtypeRule, operands: Iterable[Any], *, weak: bool = False) -> tuple[Value, ...]:
    """Return the operands, converted to the dtypes of the loop that NumPy would choose.

    With ``weak`` (the operators of Python), an operation on Python scalars alone stays weak.
    """
    operands = list(operands)
    if any(map(is_large, operands)):
        return promote_large(rule, operands)
    values = [operand if isinstance(operand, Value) else as_value(operand) for operand in operands]
    all_weak = all(value.type.weak for value in values)
    kinds = tuple([value.type.dtype if all_weak else kind_of(value) for value in values])
    dtypes = loop_dtypes(rule, kinds)
    fit = weak_convert if all_weak and weak else convert
    return tuple([fit(value, dtype) for value, dtype in zip(values, dtypes, strict=False)])


def promote_large(rule: DtypeRule, operands: Sequence[Any]) -> tuple[Value, ...]:
    """Promote operands of which some are Python integers beyond int64, which only the dtype of an array may hold."""
    values = [operand if is_large(operand) else as_value(operand) for operand in operands]
    if all(isinstance(value, int) or value.type.weak for value in values):
        raise OverflowError(f"Python integers {operands} out of bounds for int64: write np.uint64 or a float")
    dtypes = loop_dtypes(rule, tuple([int if isinstance(value, int) else kind_of(value) for value in values]))
    pairs = zip(values, dtypes, strict=False)
    return tuple([number_of(each, dtype) if isinstance(each, int) else convert(each, dtype) for each, dtype in pairs])


@cache
def loop_dtypes(rule: DtypeRule, kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
    """Return the result of a dtype rule, in canonical dtypes. (Each node calls it several times: hence the cache.)"""
    return tuple(canonical_dtype(dtype) for dtype in rule(kinds))


def weak_convert(value: Value, dtype: np.dtype) -> Value:
    """A weak scalar as another weak scalar: Python's own promotion among bool, int, float and complex."""
    if value.dtype == dtype:
        return value
    if isinstance(value, Constant):
        return constant(value.data.astype(dtype), weak=True)
    return registry["cast"].bind(value, dtype=dtype, weak=True)


def ufunc_rule(ufunc: np.ufunc) -> DtypeRule:
    """Return the rule by which a NumPy ufunc itself chooses its loop."""

    @cache
    def rule(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
        return ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))

    return rule


def inexact_rule(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
    """Return the common dtype of the operands for each of them and the result; it is float64 for integers, as in a sum
    with a Python float."""
    return (common_dtype((*kinds, float)),) * (len(kinds) + 1)


def common_rule(first: int = 0, result: np.dtype | None = None) -> DtypeRule:
    """Return a rule: operands from position ``first`` on share their common dtype, which is also the result's; those
    before keep theirs."""

    @cache
    def rule(kinds: tuple[Kind, ...]) -> tuple[np.dtype, ...]:
        common = common_dtype(kinds[first:])
        return (*kinds[:first], *[common] * (len(kinds) - first), result or common)

    return rule


def common_dtype(kinds: Sequence[Kind]) -> np.dtype:
    """`numpy.result_type` on dtypes and Python scalar types."""
    return np.result_type(*[kind if isinstance(kind, np.dtype) else kind(0) for kind in kinds])
