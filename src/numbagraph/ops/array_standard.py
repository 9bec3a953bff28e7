"""Functions of the Python array API standard (2024.12) that are methods of NumPy's arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.kinds import decomposition, draw
from numbagraph.blockwise.promotion import as_strong, as_value
from numbagraph.ir.op import registry
from numbagraph.ir.types import COMPLEX128, FLOAT64, canonical_dtype
from numbagraph.ir.values import Value
from numbagraph.ops.identity import of_dtype, require_cpu


def astype_samples(rng: np.random.Generator, dtype: np.dtype) -> list[tuple[Any, ...]]:
    return [(draw(rng, dtype, (3,)), COMPLEX128 if dtype.kind == "c" else FLOAT64)]


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Value:
    require_cpu(device)
    if as_value(x).type.weak:
        raise TypeError("Input should be an array, not a number of Python")
    value, wanted = as_strong(x), canonical_dtype(dtype)
    return value if not copy and value.dtype == wanted else registry["cast"](value, wanted)


if hasattr(np, "astype"):  # NumPy 2.1
    astype = decomposition(
        np.astype,
        samples=astype_samples,
        view_of=lambda x, dtype, copy=True, **_: None if copy else of_dtype(x, dtype),
    )(astype)
