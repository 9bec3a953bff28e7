"""Formulas that are evaluated in double precision, whatever their operands are, as SciPy's functions are."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from numbagraph.intrinsics.formula import Number
from numbagraph.ir.types import FLOAT64


def wide(formula: Callable[..., Number]) -> Callable[..., Number]:
    """The formula in double precision."""

    @wraps(formula)
    def computed(*numbers: Number) -> Number:
        return formula(*[each.cast(FLOAT64) for each in numbers]).cast(numbers[0].dtype)

    return computed
