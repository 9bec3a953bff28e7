"""Whether arrays are equal or close, and which kind of number an element is."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import Keywords, decomposition, draw
from numbagraph.blockwise.lengths import both
from numbagraph.blockwise.promotion import as_strong, as_value, convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, FLOAT64, canonical_dtype
from numbagraph.ir.values import Extent, Op, Value, constant
from numbagraph.ops.arithmetic import absolute, imag
from numbagraph.ops.comparison import (
    equal,
    isfinite,
    isinf,
    isnan,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    not_equal,
)
from numbagraph.ops.creation import ones_like, zeros_like
from numbagraph.ops.floating import signbit
from numbagraph.ops.indexing.slicing import narrow
from numbagraph.ops.reduction import all


@decomposition(np.asarray_chkfinite, samples=lambda rng, dtype: [(draw(rng, dtype, (3, 4)),)], view_of=True)
def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Value:
    value = as_strong(a) if dtype is None else convert(as_strong(a), canonical_dtype(dtype))
    if value.dtype.kind in "fc":
        shapes.require(all(isfinite(value)), "array must not contain infs or NaNs", ValueError)
    return registry["asarray"](value)


def close_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    """Return numbers that are close, and numbers that are not; special ones against each other."""
    if dtype.kind == "b":
        return []
    left, right = draw(rng, dtype, (3, 4)), draw(rng, dtype, (4,))
    near = (left + left * 1e-6).astype(dtype)
    calls: list[tuple[Any, ...]] = [(left, near), (left, right), (left, near, 1e-9, 0.0), (left, 1.0)]
    if dtype.kind in "fc":
        one, beside = np.ones(2, dtype), 1.0 - 2.0**-52  # a number of Python takes the dtype of the array
        calls += [(one, beside, 0.0, 0.0), (beside, one, 0.0, 0.0), (one, 2, 0.4999999999999999, 0.0), (2, one, 1, 0)]
        special = np.array([np.nan, np.inf, -np.inf, 0.0, 1.0, np.nan, 1e-9, np.inf], dtype)
        calls += [(special, special), (special, special[::-1], 1e-5, 1e-8, True), (special, special, 0.5, 0.5, True)]
    return calls


@decomposition(np.isclose, samples=close_samples)
def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Value:
    left, right = as_value(a), as_value(b)
    if right.dtype.kind not in "fc":  # NumPy compares with a number of at least float64, or with a float of Python
        right = registry["cast"].bind(right, dtype=FLOAT64, weak=right.type.weak)
    size = absolute(right)
    size = registry["cast"].bind(size, dtype=FLOAT64, weak=True) if right.type.weak else size
    tolerance = as_value(atol) + as_value(rtol) * size
    near = logical_and(less_equal(absolute(left - right), tolerance), isfinite(right))
    result = logical_or(near, equal(left, right))
    if equal_nan and left.dtype.kind in "fc":
        result = logical_or(result, logical_and(isnan(left), isnan(right)))
    return result


@decomposition(np.allclose, samples=close_samples)
def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Value:
    return truth(all(isclose(a, b, rtol, atol, equal_nan)))


def equality_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    left, right = draw(rng, dtype, (3, 4)), draw(rng, dtype, (3, 4))
    calls: list[tuple[Any, ...]] = [(left, left), (left, right), (left, left[0]), (left[0], left), (left, left[:, :3])]
    if dtype.kind in "fc":
        gaps = np.where(np.real(left) > 0, np.nan, left).astype(dtype)
        calls += [(gaps, gaps)]
    return calls


def with_gaps(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    calls = equality_samples(rng, dtype)
    return [*calls, (*calls[-1], Keywords(equal_nan=True))]


@decomposition(np.array_equal, samples=with_gaps)
def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Value:
    left, right = as_strong(a1), as_strong(a2)
    if left.ndim != right.ndim:
        return truth(False)
    fit, (left, right) = where_lengths_fit(left, right)
    same = equal(left, right)
    if equal_nan and left.dtype.kind in "fc" and right.dtype.kind in "fc":
        same = logical_or(same, logical_and(isnan(left), isnan(right)))
    return truth(both(fit, truth(all(same))))


def where_lengths_fit(left: Value, right: Value) -> tuple[Value | bool, tuple[Value, Value]]:
    """Return whether two shapes are equal, and both arrays, cut to their common lengths."""
    fit: Value | bool = True
    for axis in range(-left.ndim, 0):
        lengths = left.shape[axis], right.shape[axis]
        if not shapes.same(*lengths):
            alike = shapes.compare("equal", *lengths)
            fit = both(fit, alike)
            left, right = (narrow(each, axis, 0, shapes.minimum(*lengths)) for each in (left, right))
    return fit, (left, right)


def truth(value: Value | bool) -> Value:
    """Return a bool as a Python bool, which NumPy's function gives here, too."""
    found = constant(value, dtype=BOOL, weak=True) if isinstance(value, bool) else value
    return found if found.type.weak else registry["cast"].bind(found, dtype=BOOL, weak=True)


def equivalence_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array = draw(rng, dtype, (3, 4))
    others = (array[:, :2], array[:2], array[:1], array[:, 1:2], array[0, :2], array[0], array[:0], array[0, 0])
    return [*equality_samples(rng, dtype)[:4], *((array, each) for each in others)]


@decomposition(np.array_equiv, samples=equivalence_samples)
def array_equiv(a1: Any, a2: Any) -> Value:
    left, right = as_strong(a1), as_strong(a2)
    fit: Value | bool = True
    for axis in range(-min(left.ndim, right.ndim), 0):
        lengths = left.shape[axis], right.shape[axis]
        if shapes.same(*lengths) or 1 in lengths:
            continue
        fits = shapes.minimum(1, shapes.add(is_equal(*lengths), shapes.add(*(is_equal(each, 1) for each in lengths))))
        fit = both(fit, shapes.compare("equal", fits, 1))
        left, right = (narrow(each, axis, 0, shapes.multiply(each.shape[axis], fits)) for each in (left, right))
    return truth(both(fit, truth(all(equal(left, right)))))


def is_equal(left: Extent, right: Extent) -> Extent:
    """Return 1 if two lengths are equal, else 0."""
    apart = shapes.subtract(shapes.maximum(left, right), shapes.minimum(left, right))
    return shapes.subtract(1, shapes.minimum(1, apart))


def number_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array: Any = draw(rng, dtype, (3, 4))
    if dtype.kind == "f":
        array.flat[:4] = np.inf, -np.inf, np.nan, -0.0
    if dtype.kind == "c":
        array.imag[0] = 0
    return [(array,), (array[0, :1],)]


def real_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    return number_samples(rng, dtype) if dtype.kind != "c" else []


def declare_infinity(reference: Any, is_negative: bool) -> Op:
    @decomposition(reference, samples=real_samples)
    def is_infinity(x: Any, out: None = None) -> Value:
        if out is not None:
            raise TypeError("out= is not supported in a traced function by position: give it by name")
        value = as_strong(x)
        if value.dtype.kind == "c":
            raise TypeError(f"This operation is not supported for {value.dtype} values because it would be ambiguous.")
        sign = signbit(value) if value.dtype.kind == "f" else zeros_like(value, BOOL)
        return logical_and(isinf(value), sign if is_negative else logical_not(sign))

    return is_infinity


isneginf = declare_infinity(np.isneginf, True)
isposinf = declare_infinity(np.isposinf, False)


@decomposition(np.iscomplex, samples=number_samples, scalar=True)
def iscomplex(x: Any) -> Value:
    value = as_strong(x)
    return not_equal(imag(value), 0) if value.dtype.kind == "c" else zeros_like(value, BOOL)


@decomposition(np.isreal, samples=number_samples, scalar=True)
def isreal(x: Any) -> Value:
    value = as_strong(x)
    return equal(imag(value), 0) if value.dtype.kind == "c" else ones_like(value, BOOL)


@decomposition(
    np.real_if_close, samples=lambda rng, dtype: [(draw(rng, dtype, (3,)),)] if dtype.kind != "c" else [], view_of=True
)
def real_if_close(a: Any, tol: Any = 100) -> Value:
    value = as_strong(a)
    if value.dtype.kind == "c":
        raise TypeError(
            "real_if_close: whether a complex array becomes a real one depends on its elements: write x.real"
        )
    return registry["asarray"](value)
