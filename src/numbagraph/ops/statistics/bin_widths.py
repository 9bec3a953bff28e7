"""The number of bins of a histogram by a rule: NumPy's estimators of their width."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.types import FLOAT64, INT64
from numbagraph.ir.values import Value
from numbagraph.ops.comparison import equal, greater
from numbagraph.ops.creation import filled, number_as
from numbagraph.ops.selection import where


def size_of(x: Value) -> Value:
    return convert(shapes.as_value(shapes.product(x.shape)), FLOAT64)


def spread(x: Value, low: Value, high: Value) -> Value:
    return convert(high, FLOAT64) - convert(low, FLOAT64)


def sqrt(x: Value, reach: Value) -> Value:
    return reach / registry["sqrt"](size_of(x))


def sturges(x: Value, reach: Value) -> Value:
    return reach / (registry["log2"](size_of(x)) + 1.0)


def rice(x: Value, reach: Value) -> Value:
    return reach / (2.0 * size_of(x) ** (1.0 / 3))


def scott(x: Value, reach: Value) -> Value:
    return (24.0 * np.pi**0.5 / size_of(x)) ** (1.0 / 3.0) * registry["std"](x)


def freedman_diaconis(x: Value, reach: Value) -> Value:
    missing = shapes.maximum(shapes.subtract(1, shapes.product(x.shape)), 0)  # a quantile needs an element
    padded = registry["concatenate"]([x, filled(number_as(0, x.dtype), (missing,))])
    quartiles = registry["percentile"](padded, np.array([75.0, 25.0]))
    return 2.0 * (quartiles[0] - quartiles[1]) * size_of(x) ** (-1.0 / 3.0)


def doane(x: Value, reach: Value) -> Value:
    count, deviation = size_of(x), registry["std"](x)
    some = registry["logical_and"](greater(count, 2), greater(deviation, 0))
    scale = registry["sqrt"](6.0 * (count - 2.0) / ((count + 1.0) * (count + 3.0)))
    away = (x - registry["mean"](x)) / where(some, deviation, 1.0)
    skewness = registry["absolute"](registry["mean"](away * away * away))
    log2 = registry["log2"]
    width = reach / (1.0 + log2(count) + log2(1.0 + skewness / where(some, scale, 1.0)))
    return where(some, width, 0.0)


def automatic(x: Value, reach: Value) -> Value:
    widest = registry["maximum"](freedman_diaconis(x, reach), sqrt(x, reach) / 2.0)
    return registry["minimum"](widest, sturges(x, reach))


RULES: dict[str, Callable[[Value, Value], Value]] = {
    "auto": automatic, "doane": doane, "fd": freedman_diaconis, "rice": rice, "scott": scott, "sqrt": sqrt,
    "sturges": sturges,
}  # fmt: skip
"""The width of bins by a rule's name, for the elements and the distance between the smallest and the largest."""


def count_of(rule: str, x: Value, low: Value, high: Value) -> Value:
    """Return the number of bins between two edges, by NumPy's named rules and their formulas."""
    if rule not in RULES:
        if rule == "stone":
            raise NotImplementedError(
                "bins='stone' is not supported in a traced function: it tries many numbers of bins"
            )
        raise ValueError(f"{rule!r} is not a valid estimator for `bins`")
    nothing = equal(size_of(x), 0)
    least, greatest = registry["min"](x, initial=highest(x)), registry["max"](x, initial=lowest(x))
    # the distance of two integers may be none of their dtype
    reach = greatest - least if x.dtype.kind == "f" else spread(x, least, greatest)
    width = convert(RULES[rule](x, convert(reach, FLOAT64)), FLOAT64)
    if x.dtype.kind in "iu":
        width = where(registry["logical_and"](greater(width, 0), registry["less"](width, 1)), 1.0, width)
    alone = registry["logical_or"](nothing, registry["logical_not"](greater(width, 0)))
    number = registry["ceil"](spread(x, low, high) / where(alone, 1.0, width))
    return convert(where(alone, as_value(1.0), number), INT64)


def lowest(x: Value) -> Value:
    return as_value(-np.inf if x.dtype.kind == "f" else x.dtype.type(np.iinfo(x.dtype).min))


def highest(x: Value) -> Value:
    return as_value(np.inf if x.dtype.kind == "f" else x.dtype.type(np.iinfo(x.dtype).max))
