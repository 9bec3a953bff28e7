"""Lists of Python's numbers that get wider elements later (``table = [0] * n``, then ``table[i] = 0.5 * x``): the
function is traced again, and such a list holds wider numbers from the beginning."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import as_value
from numbagraph.capture.syntax.source import CaptureError, site
from numbagraph.capture.values.raised_errors import Raised
from numbagraph.ir.op import registry
from numbagraph.ir.types import BOOL, COMPLEX128, FLOAT64, INT64, WEAK_TYPES
from numbagraph.ir.values import Value
from numbagraph.tracing.trace import active
from numbagraph.tracing.tracer import to_value, user_source

ORDER = (BOOL, INT64, FLOAT64, COMPLEX128)
"""The dtypes of Python's numbers. A NumPy number of another dtype beside them is computed with in its own."""
EXACT = 2**53
"""The largest integer up to which each integer is a float."""


def place_of(array: Any, are_pythons: bool, *what: Any) -> Any:
    """The place where a list is made in the user's code, if its elements are Python's numbers, which may become
    wider."""
    return (*site(), *what) if are_pythons and array.dtype in ORDER else None


def begun(array: Any, place: Any) -> Any:
    """Return the elements of a list that is made at a place, in the dtype that it needs."""
    dtype = active.widened.get(place)
    return array if dtype is None else array.astype(dtype)


def require_wide(own: np.dtype, value: Any, are_pythons: bool, place: Any) -> None:
    """Raise where elements of a dtype cannot hold a number. Where they may be wider, the function is traced again."""
    new = as_value(to_value(value))
    is_alike = are_pythons and not new.type.weak and new.dtype.kind == own.kind
    if not (is_alike and new.dtype != own) and np.result_type(own, new.dtype) == own:
        if place in active.widened and new.dtype == INT64 != own:
            require_exact(new)
        return
    if place is not None and new.ndim == 0 and own in ORDER and new.dtype in ORDER:
        active.widened[place] = max(own, new.dtype, key=ORDER.index)
    start = f"{WEAK_TYPES[new.dtype](0)}" if new.dtype in WEAK_TYPES else f"np.{new.dtype}(0)"
    raise CaptureError(
        f"a number of dtype {new.dtype} is assigned to an element of a list of {own}, whose length is traced: begin "
        f"with such numbers, [{start}] * n\n  at {user_source()}"
    )


def require_exact(number: Value) -> None:
    """Raise where an integer, which Python's list would keep as it is, is not exact as a wider number."""
    fits = [registry["greater_equal"](number, -EXACT), registry["less_equal"](number, EXACT)]
    text = (
        f"an integer beyond 2**53 in a list that holds floats, too: begin with floats, [0.0] * n\n  at {user_source()}"
    )
    Raised(OverflowError, (text,)).require(registry["logical_and"](*fits))


def require_numbers(elements: list[Any]) -> None:
    """Raise where a list of None is repeated: each read would have to check which of its elements are numbers by
    now."""
    if any(each is None for each in elements):
        raise CaptureError(
            f"[None] * n of a traced length: begin with a number that stands for what is not there yet, [-1] * n or "
            f"[math.nan] * n, or append to an empty list\n  at {user_source()}"
        )
