"""``print`` of traced values, and in loops and branches on traced values: each time that its line is reached."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import optree

from numbagraph.blockwise.promotion import as_value
from numbagraph.frontend.capture.containers import in_region
from numbagraph.frontend.capture.errors import Text
from numbagraph.frontend.capture.source import CaptureError
from numbagraph.frontend.locating import OnlyTraced
from numbagraph.frontend.ordered import order_here, set_order
from numbagraph.frontend.tracing import Tracer, to_value, user_source
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import at_source
from numbagraph.ops.control.common import strong
from numbagraph.ops.effects import effect
from numbagraph.runtime.arguments import flatten


class Printed(Struct, eq=False):
    """What is printed: trees, some leaves of which come when the program runs, and how."""

    templates: tuple[str | None, ...]
    """For each argument the template of a text, if it is one."""
    spec: optree.PyTreeSpec
    leaves: tuple[Any, ...]
    places: tuple[int, ...]
    """The leaves that come later."""
    are_pythons: tuple[bool, ...]
    """Which of these are numbers of Python's."""
    how: dict[str, Any]

    def __call__(self, *arrays: Any) -> None:
        leaves = list(self.leaves)
        for place, is_pythons, array in zip(self.places, self.are_pythons, arrays, strict=True):
            found = np.asarray(array)
            leaves[place] = found.item() if is_pythons else found[()] if not found.ndim else found
        trees = optree.tree_unflatten(self.spec, leaves)
        pairs = zip(self.templates, trees, strict=True)
        print(*[tree if text is None else text.format(*tree) for text, tree in pairs], **self.how)  # noqa: T201


def printing(*args: Any, file: Any = None, **how: Any) -> None:
    """``print(*args)``."""
    templates = tuple(each.template if isinstance(each, Text) else None for each in args)
    trees = tuple(list(each.values) if isinstance(each, Text) else each for each in args)
    leaves, spec = flatten(trees)
    places = tuple(place for place, leaf in enumerate(leaves) if isinstance(leaf, Tracer))
    if any(isinstance(each, OnlyTraced) for each in leaves):
        raise CaptureError(
            f"print of a value that may be None, or of a list of unknown length: choose with `is None`, or print "
            f"np.array(...)\n  at {user_source()}"
        )
    if file is not None and file is not sys.stdout:
        if not places and not in_region():
            print(*args, file=file, **how)
            return
        raise CaptureError(f"print with file= of traced values, or in a loop or a branch on them\n  at {user_source()}")
    source = user_source()
    with at_source(source):
        values = [as_value(to_value(leaves[place])) for place in places]
        known = tuple(None if isinstance(leaf, Tracer) else leaf for leaf in leaves)
        printed = Printed(templates, spec, known, places, tuple(each.type.weak for each in values), how)
        set_order(Tracer(effect(printed, "print", source, order_here(), list(map(strong, values)))))
