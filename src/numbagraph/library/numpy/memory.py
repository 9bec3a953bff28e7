"""`numpy.require`: an array with the required memory layout, which is the array itself where it has that."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from numbagraph.capture.builtins.replacements import as_numpy_array
from numbagraph.tracing import memory_layout
from numbagraph.tracing.tracer import Tracer, new_view

FLAGS = {
    **dict.fromkeys(("C", "C_CONTIGUOUS", "CONTIGUOUS"), "C"),
    **dict.fromkeys(("F", "F_CONTIGUOUS", "FORTRAN"), "F"),
    **dict.fromkeys(("A", "ALIGNED"), "A"),
    **dict.fromkeys(("W", "WRITEABLE"), "W"),
    **dict.fromkeys(("O", "OWNDATA"), "O"),
    **dict.fromkeys(("E", "ENSUREARRAY"), "E"),
}
"""The letters of requirements, by NumPy's names for them."""


def require(a: Any, dtype: Any = None, requirements: Iterable[str] | None = None, *, like: Any = None) -> Any:
    """`numpy.require`. Arrays are aligned. It is not known which of NumPy's arrays own their memory: one that must own
    it cannot be written into."""
    del like
    wanted = set(map(flag, requirements or ()))
    if wanted >= {"C", "F"}:
        raise ValueError('Cannot specify both "C" and "F" order')
    order = next((each for each in ("F", "C") if each in wanted), "A")
    found: Tracer = as_numpy_array(np.asarray)(a, dtype, order)
    if "W" in wanted and is_for_reading(found):
        return found.copy(order)
    return new_view(found.value, found, None) if "O" in wanted else found


def flag(requirement: str) -> str:
    """The letter of a requirement."""
    found = FLAGS.get(requirement.upper())
    if found is None:
        raise KeyError(requirement.upper())
    return found


def is_for_reading(array: Tracer) -> bool:
    """Whether an array is a read-only view, or perhaps a copy of one."""
    whole: Tracer | None = array
    while whole is not None and whole._foreign is not memory_layout.READ_ONLY:
        whole = whole._parent
    return whole is not None
