"""Arrays whose bytes are read as elements of another dtype: `numpy.ndarray.view`."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.ir.types import canonical_dtype
from numbagraph.ops.bits import reinterpreted
from numbagraph.tracing.tracer import Tracer, apply, new_view


def view(array: Tracer, dtype: Any = None) -> Any:
    """Return ``array.view(dtype)``. A view with another dtype cannot be written into, nor read once the array has been
    assigned to."""
    if dtype in (None, np.ndarray) or canonical_dtype(dtype) == array.dtype:
        return array[...] if array._is_array else array
    found = apply(reinterpreted, array, canonical_dtype(dtype))
    return new_view(found.value, array, None) if array._is_array else found
