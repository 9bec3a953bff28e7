"""Calls of NumPy's functions with odd operands: of any dtype and layout, empty, with any axes and options.

What a compiled call gives must be what NumPy gives: values, dtypes and shapes. A call that is refused, or that NumPy
refuses itself, is counted; an error that is none of those which users are told of is a difference.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import optree

from numbagraph import graph_jit
from numbagraph.testing.arrays import LAYOUTS
from tests.fuzz.runner import Difference, Report

DTYPES = "float64 float32 int64 int32 int8 uint8 uint64 bool complex64 complex128"
REAL = "float64 float32 int64 int32 int8 uint8 uint64 bool"
FLOATS = "float64 float32"
REFUSALS = (TypeError, ValueError, IndexError, NotImplementedError, OverflowError, ZeroDivisionError)
CHOICES = {
    "keep": ["", ", keepdims=True", ", keepdims=False"],
    "dtype": ["", "", "", ", dtype=np.float64", ", dtype=np.float32", ", dtype=np.int64", ", dtype=np.complex128"],
    "number": ["0", "1", "-2", "2.5", "True", "1j", "300", "np.float32(2)", "np.uint64(3)", "np.int8(-3)"],
    "count": ["0", "1", "2", "5", "-1"],
    "position": ["0", "-1", "[0, 1]", "[[0, -1], [1, 0]]", "[]", "3"],
    "slice": [f"slice({ends})" for ends in ("7, None", "3, 1", "-9, -7", "-9, -9, -1", "1, 7, 2", "None, 0, -2")],
    "k": ["0", "1", "-1", "7"],
    "mode": ["'edge'", "'reflect'", "'symmetric'", "'wrap'", "'maximum'", "'mean'", "'constant'"],
}
"""What stands for a name in a call. Besides, ``{a}`` is an array and ``{b}`` another one that broadcasts against it, of
the dtypes of a family; ``{axis}`` is one of the axes of ``a``, ``{axes}`` any set of them or None, ``{mask}`` a
mask."""

CALLS: dict[str, tuple[str, str]] = {}
"""The dtypes and the text of each call."""


def add(dtypes: str, names: str, text: str) -> None:
    CALLS.update({f"{name} {text}": (dtypes, text.replace("FUNCTION", name)) for name in names.split()})


add(DTYPES, "sum prod", "np.FUNCTION({a}, axis={axes}{keep}{dtype}, where={mask})")
add(DTYPES, "mean std var", "np.FUNCTION({a}, axis={axes}{keep}, where={mask})")
add(DTYPES, "max min ptp all any count_nonzero nansum nanprod nanmax nanmin", "np.FUNCTION({a}, axis={axes}{keep})")
add(REAL, "median nanmean nanstd", "np.FUNCTION({a}, axis={axes}{keep})")
add(DTYPES, "argmax argmin", "np.FUNCTION({a}, axis={axis}{keep})")
add(DTYPES, "cumsum cumprod nancumsum", "np.FUNCTION({a}, axis={axis}{dtype})")
add(REAL, "sort", "np.FUNCTION({a}, axis={axis})")
add(REAL, "argsort", "np.FUNCTION({a}, axis={axis}, kind='stable')")
add(FLOATS, "quantile", "np.FUNCTION({a}, 0.25, axis={axes}{keep})")
add(DTYPES, "negative square sign conjugate isnan logical_not real imag absolute nan_to_num", "np.FUNCTION({a})")
add(FLOATS, "sqrt exp log1p arctan sinh rint floor signbit spacing frexp modf", "np.FUNCTION({a})")
ARITHMETIC = "add subtract multiply maximum minimum equal less logical_and logical_xor"
add(DTYPES, f"{ARITHMETIC} divide not_equal", "np.FUNCTION({a}, {b})")
add(DTYPES, ARITHMETIC, "np.FUNCTION({a}, {number})")
add(DTYPES, "add multiply equal maximum logical_or", "np.FUNCTION({a}, {b}{dtype}, casting='same_kind')")
add(REAL, "floor_divide remainder fmod bitwise_or bitwise_xor gcd lcm", "np.FUNCTION({a}, {b})")
add(REAL, "add multiply maximum logical_or bitwise_and logical_xor", "np.FUNCTION.reduce({a}, axis={axes}{keep})")
add(REAL, "add multiply logical_and bitwise_or", "np.FUNCTION.reduce({a}, axis={axes}, where={mask})")
add(REAL, "subtract maximum hypot logical_xor gcd", "np.FUNCTION.accumulate({a}, axis={axis})")
add(REAL, "subtract divide", "np.FUNCTION.reduce({a}, axis={axis}{keep})")
add(DTYPES, "multiply less", "np.FUNCTION.outer({a}, {b})")
add(DTYPES, "where", "np.FUNCTION({mask}, {a}, {b})")
add(DTYPES, "nonzero flatnonzero argwhere atleast_2d atleast_3d flipud fliplr ravel copy", "np.FUNCTION({a})")
add(DTYPES, "flip", "np.FUNCTION({a}, {axes})")
add(DTYPES, "roll", "np.FUNCTION({a}, {count}, axis={axis})")
add(DTYPES, "concatenate stack", "np.FUNCTION(({a}, {a}), axis={axis})")
add(DTYPES, "vstack hstack dstack column_stack", "np.FUNCTION([{a}, {a}])")
add(DTYPES, "swapaxes rollaxis", "np.FUNCTION({a}, {axis}, 0)")
add(DTYPES, "expand_dims", "np.FUNCTION({a}, {axis})")
add(DTYPES, "repeat", "np.FUNCTION({a}, {count}, axis={axis})")
add(DTYPES, "take delete", "np.FUNCTION({a}, {position}, axis={axis})")
add(DTYPES, "insert", "np.FUNCTION({a}, {position}, 1, axis={axis})")
add(DTYPES, "delete", "np.FUNCTION({a}, {slice}, axis={axis})")
add(DTYPES, "insert", "np.FUNCTION({a}, {slice}, 1, axis={axis})")
add(DTYPES, "append", "np.FUNCTION({a}, {b})")
add(DTYPES, "tril triu diag trace", "np.FUNCTION({a}, {k})")
add(DTYPES, "diff", "np.FUNCTION({a}, n={count}, axis={axis})")
add(DTYPES, "extract", "np.FUNCTION({mask}, {a})")
add(DTYPES, "index", "{a}[{mask}]")
add(DTYPES, "sum mean max prod", "{a}[{mask}].FUNCTION()")
add(DTYPES, "dot inner vdot matmul", "np.FUNCTION({a}, {a}.T)")
add(DTYPES, "array_equal isclose", "np.FUNCTION({a}, {b})")
add(REAL, "unique unique_counts", "np.FUNCTION({a})")
add(REAL, "isin union1d intersect1d setdiff1d", "np.FUNCTION({a}, {b})")
add(REAL, "searchsorted", "np.FUNCTION(np.sort({a}.ravel()), {b})")
add(FLOATS, "pad", "np.FUNCTION({a}, ((1, 2),), {mode})")
add(FLOATS, "gradient", "np.FUNCTION({a}, axis={axis})")
add(FLOATS, "fft rfft ihfft", "np.fft.FUNCTION({a}, axis={axis})")
add(FLOATS, "norm", "np.linalg.FUNCTION({a}, axis={axis}{keep})")


def names() -> list[str]:
    return list(CALLS)


class Operands:
    """The arrays of one call, whose text it completes."""

    def __init__(self, rng: np.random.Generator, dtypes: str) -> None:
        self.rng, self.dtypes = rng, dtypes.split()
        self.shape = tuple(
            int(each) for each in rng.choice([0, 1, 2, 3, 4], rng.integers(4), p=[0.1, 0.2, 0.3, 0.2, 0.2])
        )
        self.arrays: dict[str, Any] = {}

    def text(self, template: str) -> str:
        texts: dict[str, Callable[[], str]] = {
            "{a}": lambda: self.array("a", self.shape, self.dtypes),
            "{b}": lambda: self.array("b", self.broadcasting(), self.dtypes),
            "{mask}": lambda: self.array("mask", self.shape, ["bool"]),
            "{axis}": lambda: str(self.rng.integers(-len(self.shape), len(self.shape)) if self.shape else 0),
            "{axes}": lambda: str(self.axes()),
            **{f"{{{name}}}": (lambda each=each: str(self.rng.choice(each))) for name, each in CHOICES.items()},
        }
        for name, make in texts.items():
            if name in template:
                template = template.replace(name, make())
        return template

    def axes(self) -> Any:
        if self.rng.random() < 0.3:
            return None
        count = self.rng.integers(len(self.shape) + 1)
        return tuple(int(each) for each in self.rng.choice(len(self.shape), count, replace=False)) if count else ()

    def broadcasting(self) -> tuple[int, ...]:
        kept = tuple(1 if self.rng.random() < 0.3 else length for length in self.shape)
        return kept[1:] if kept and self.rng.random() < 0.2 else kept

    def array(self, name: str, shape: tuple[int, ...], dtypes: list[str]) -> str:
        dtype = np.dtype(str(self.rng.choice(dtypes)))
        numbers = np.round(self.rng.normal(scale=2.0, size=shape), 1)
        if dtype.kind in "iub":
            numbers = self.rng.integers(0 if dtype.kind != "i" else -5, 2 if dtype.kind == "b" else 6, shape)
        if dtype.kind == "c":
            numbers = numbers + 1j * np.round(self.rng.normal(size=shape), 1)
        made = np.asarray(numbers).astype(dtype)
        layout = LAYOUTS[str(self.rng.choice(list(LAYOUTS)))]
        self.arrays[name] = layout(made) if made.ndim else made[()]
        return name


def case(rng: np.random.Generator, report: Report) -> None:
    """One call, compiled and not."""
    name = str(rng.choice(names()))
    operands = Operands(rng, CALLS[name][0])
    text = operands.text(CALLS[name][1])
    function = eval(f"lambda {', '.join(operands.arrays)}: {text}", {"np": np})
    backend = str(rng.choice(["numba", "numpy"]))
    given = {name: f"{each.dtype}{np.shape(each)}" for name, each in operands.arrays.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = function(**operands.arrays)
        except REFUSALS:
            expected = None
        try:
            found = graph_jit(function, backend=backend)(**operands.arrays)
        except REFUSALS as error:
            report.refused[str(error).splitlines()[0][:60]] += 1
            return
    if expected is None:
        report.refused["by NumPy alone"] += 1
        return
    problem = differs(found, expected)
    if problem:
        raise Difference(f"{text} of {given} on {backend}: {problem}")
    report.covered[name] += 1


def differs(found: Any, expected: Any) -> str:
    """How two results differ. Zeros may have another sign, and numbers of rank 0 be arrays."""
    ours, theirs = (optree.tree_leaves(each) for each in (found, expected))
    if len(ours) != len(theirs):
        return f"{len(ours)} results, not {len(theirs)}"
    for one, other in zip(map(np.asarray, ours), map(np.asarray, theirs), strict=True):
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return f"{one.dtype}{one.shape}, not {other.dtype}{other.shape}"
        tolerance = 1e-4 if one.dtype.name in ("float32", "complex64") else 1e-9
        scale = np.max(np.abs(other), initial=1.0, where=np.isfinite(other)) if other.dtype.kind in "fc" else 0
        same = np.allclose(one, other, tolerance, tolerance * scale, equal_nan=True) if scale else (one == other).all()
        if not same:
            return f"{one.ravel()[:6]}, not {other.ravel()[:6]}"
    return ""
