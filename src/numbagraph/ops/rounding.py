"""Rounding to integers and to decimals. The functions are flat almost everywhere, so their cotangents are zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.common import flat
from numbagraph.blockwise.kinds import decomposition, draw, elementwise
from numbagraph.blockwise.promotion import as_strong, as_value, convert
from numbagraph.intrinsics.emitters.formula import by_kind, identity, intrinsic, on_parts
from numbagraph.ir.op import registry
from numbagraph.ir.values import Op, Value


def rounding(ufunc: np.ufunc, **properties: Any) -> Op:
    real = intrinsic(ufunc.__name__)
    emit = by_kind(biu=identity, f=real, c=on_parts(real))
    return elementwise(ufunc, emit=emit, vjp=flat, **properties)


floor = rounding(np.floor)
ceil = rounding(np.ceil)
trunc = rounding(np.trunc, implements=(np.fix,))
rint = rounding(np.rint)


def round_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    array = draw(rng, dtype, (3, 4), (-60.0, 60.0))
    return [(array,), (array, 1), (array, -1)] if dtype.kind != "b" else []


@decomposition(np.round, samples=round_samples, implements=(np.around,))
def round(a: Any, decimals: int = 0, out: None = None) -> Value:
    if out is not None:
        raise TypeError("round: out= is not supported in a traced function: return the value")
    value = as_value(a)
    if value.dtype.kind in "iu" and decimals >= 0:
        return as_strong(value)
    if decimals == 0:
        return rint(value)
    if value.dtype.kind == "c":
        return registry["complex_of"](*[round(registry[part](value), decimals) for part in ("real", "imag")])
    multiply, divide = registry["multiply"], registry["divide"]
    scale = 10.0 ** abs(decimals)
    if decimals > 0:
        return divide(rint(multiply(value, scale)), scale)
    rounded = convert(multiply(rint(divide(value, scale)), scale), value.dtype)
    return registry["positive"](rounded)  # a scalar where a conversion would give an array
