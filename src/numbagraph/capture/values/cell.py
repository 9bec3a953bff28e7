"""Variables that a nested function assigns to (``nonlocal``): numbers in storage, which loops and branches may write
wherever they call the function."""

from __future__ import annotations

from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import as_value
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.containers import in_region
from numbagraph.capture.values.loop_state import is_number
from numbagraph.ir.op import registry
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.tracer import Tracer, to_value, user_source


class Cell(OnlyTraced):
    """A variable of a function that its nested functions assign to."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.held: Any = None
        self.is_set = False
        self.array: Any = None
        """The storage of a number."""
        self.is_weak = False

    @property
    def value(self) -> Any:
        if not self.is_set:
            raise UnboundLocalError(
                f"cannot access local variable {self.name!r} where it is not associated with a value"
            )
        if self.array is None:
            return self.held
        found = self.array[()]
        if not self.is_weak:
            return found
        return Tracer(registry["cast"].bind(as_value(to_value(found)), dtype=found.dtype, weak=True))

    @value.setter
    def value(self, value: Any) -> None:
        if in_region():
            self.write(value)
            return
        self.held, self.is_set, self.array = value, True, None
        if is_number(value) and not np.ndim(value):
            number = as_value(to_value(value))
            self.array, self.is_weak = Tracer(registry["asarray"](number)).copy(), number.type.weak

    def write(self, value: Any) -> None:
        """Assign to the variable in a loop or a branch."""
        number = as_value(to_value(value)) if is_number(value) else None
        if self.array is None or number is None or number.ndim:
            raise CaptureError(
                f"{self.name!r} is assigned to (nonlocal) in a loop or a branch on traced values, and it is no number "
                f"before and after: return the new value\n  at {user_source()}"
            )
        kind = self.array.dtype
        narrows = self.is_weak and not number.type.weak and number.dtype != kind
        if narrows or np.result_type(kind, number.dtype) != kind:
            raise CaptureError(
                f"{self.name!r} is of dtype {kind}, and a number of dtype {number.dtype} is assigned to it (nonlocal) "
                f"in a loop or a branch: begin with such a number\n  at {user_source()}"
            )
        self.is_weak &= number.type.weak
        self.array[...] = value
