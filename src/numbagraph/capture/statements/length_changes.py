"""Arrays whose length changes from step to step of a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.capture.values.loop_state import shown
from numbagraph.ir import shapes
from numbagraph.ir.values import Value
from numbagraph.tracing.regions import dependents
from numbagraph.tracing.retrace import LengthChanges
from numbagraph.tracing.tracer import Tracer, user_source


def require_lasting_shape(name: str, start: Any, end: Value, parameters: Sequence[Value]) -> None:
    """Raise where lengths after a step depend on the loop's carries, or are known to differ from those before it."""
    lengths = [each for each in map(shapes.resolve, end.shape) if isinstance(each, Value)]
    before = start.shape if isinstance(start, (Tracer, np.ndarray)) else end.shape  # a variable may have no value yet
    known = len(before) == end.ndim == 1 and isinstance(before[0], int) and isinstance(end.shape[0], int)
    if dependents(parameters, lengths).isdisjoint(lengths) and not (known and before[0] != end.shape[0]):
        return
    error = LengthChanges(
        f"the shape of {shown(name)} changes from step to step of a loop, or cannot be seen to stay: carry a mask and "
        f"take x[mask] or np.flatnonzero(mask) in the step, or a list\n  at {user_source()}"
    )
    error.start = start
    raise error
