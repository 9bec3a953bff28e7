"""Functions of `numpy.polynomial` whose number of coefficients need not be known."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.frontend.assembled import array_of
from numbagraph.frontend.assembled import polyval as highest_first
from numbagraph.frontend.tracing import apply
from numbagraph.ir import shapes
from numbagraph.ir.op import registry


def polyval(x: Any, c: Any, tensor: bool = True) -> Any:
    """`numpy.polynomial.polynomial.polyval`."""
    series = array_of(c)
    if series.ndim != 1 or isinstance(shapes.resolve(series.value.shape[0]), int):
        return apply(registry["polynomial_value"], x, series, tensor)
    series = series if series.dtype.kind in "fc" else series.astype(np.float64)
    return highest_first(series[::-1], x)
