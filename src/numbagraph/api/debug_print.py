"""`debug_print`: prints from traced functions while they run."""

from __future__ import annotations

from typing import Any

import optree

from numbagraph.blockwise.promotion import as_value
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import at_source
from numbagraph.ops.control.operands import strong
from numbagraph.ops.effects import effect
from numbagraph.runtime.arguments import flatten
from numbagraph.tracing.effect_tokens import order_here, set_order
from numbagraph.tracing.trace import current_trace
from numbagraph.tracing.tracer import Tracer, to_value, user_source


class Text(Struct, eq=False):
    """A text to be printed, and a tree of the values that fill it, some leaves of which are known."""

    text: str
    spec: optree.PyTreeSpec
    leaves: tuple[Any, ...]
    places: tuple[int, ...]
    """The places of the leaves that are arrays, which are known when the text is printed."""

    def __call__(self, *arrays: Any) -> None:
        given = dict(zip(self.places, arrays, strict=True))
        leaves = [given.get(place, leaf) for place, leaf in enumerate(self.leaves)]
        args, named = optree.tree_unflatten(self.spec, leaves)
        print(self.text.format(*args, **named))  # noqa: T201  what it is for


def debug_print(text: str, *args: Any, **named: Any) -> None:
    """Print values of a traced function, each time that it runs.

    Prints take place in their order, those of loops and branches too: in each step, and in the branch that is taken.
    They are never left out. Of a batch (`vmap`) each element is printed, and for a gradient what the function itself
    prints. A call that fails may have printed less than what stands before the failure, or more.

    Parameters
    ----------
    text : str
        As for `str.format`: ``"x = {x}, step {}"``.
    *args, **named
        What it is filled with: arrays, numbers, trees of them, and anything that is known while the function is traced.

    Notes
    -----
    A print takes microseconds, keeps loops apart, and prevents the code around it from being fused. Conditions of
    `while_loop` cannot print, nor can those of Python's own loops.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> @numbagraph.graph_jit
    ... def halved(x):
    ...     def step(i, x):
    ...         numbagraph.debug_print("step {}: {x}", i, x=x)
    ...         return x / 2
    ...     return numbagraph.fori_loop(0, 2, step, x)
    >>> halved(np.array([4.0, 8.0]))
    step 0: [4. 8.]
    step 1: [2. 4.]
    array([1., 2.])
    """
    leaves, spec = flatten((args, named))
    if current_trace() is None:
        Text(text, spec, tuple(leaves), ())()
        return
    source = user_source()
    places = tuple(place for place, leaf in enumerate(leaves) if isinstance(leaf, Tracer))
    with at_source(source):
        operands = [strong(as_value(to_value(leaves[place]))) for place in places]
        known = tuple(None if isinstance(leaf, Tracer) else leaf for leaf in leaves)
        printed = Text(text, spec, known, places)
        set_order(Tracer(effect(printed, f"debug_print({text!r})", source, order_here(), operands)))
