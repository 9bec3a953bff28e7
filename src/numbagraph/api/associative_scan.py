"""Running combinations of elements, with JAX's name and conventions."""

from __future__ import annotations

from typing import Any

import numpy as np
import optree

from numbagraph.api.compiled_loops import outside
from numbagraph.api.loops import scan
from numbagraph.api.transformed import Function, plain
from numbagraph.blockwise.promotion import as_value
from numbagraph.runtime.arguments import flatten
from numbagraph.tracing.trace import as_traced, current_trace
from numbagraph.tracing.tracebacks import for_users
from numbagraph.tracing.tracer import Tracer, to_value


@for_users
def associative_scan(fn: Function, elems: Any, reverse: bool = False, axis: int = 0) -> Any:
    """The running combination of elements along an axis: ``y[0] = x[0]``, ``y[i] = fn(y[i - 1], x[i])``.

    Parameters
    ----------
    fn : callable
        ``fn(a, b)``, associative, of elements: arrays, or trees of them.
    elems
        An array with at least one element along ``axis``, or a tree of arrays of one length.
    reverse : bool, optional
        Whether to begin with the last element.
    axis : int, optional
        Along which the elements stand.

    Returns
    -------
    tree
        The results, like ``elems``. One after the other is computed: `jax.lax.associative_scan` combines them in
        another order, and rounds otherwise.

    Examples
    --------
    >>> import numpy as np, numbagraph
    >>> numbagraph.associative_scan(np.maximum, np.array([1.0, 3.0, 2.0]))
    array([1., 3., 3.])
    """
    if current_trace() is None:
        make = lambda: lambda elems: associative_scan(fn, elems, reverse, axis)  # noqa: E731
        return outside(fn, ("associative_scan", bool(reverse), axis), make)(elems)
    leaves, spec = flatten(elems)
    columns = [np.moveaxis(as_array(leaf), axis, 0) for leaf in leaves]
    first = optree.tree_unflatten(spec, [column[-1 if reverse else 0] for column in columns])
    others = optree.tree_unflatten(spec, [column[:-1] if reverse else column[1:] for column in columns])

    def step(carried: Any, x: Any) -> tuple[Any, Any]:
        result = as_traced(plain(fn))(carried, x)
        return result, result

    _, ys = scan(step, first, others, reverse=reverse)
    pairs = zip(flatten(first)[0], flatten(ys)[0], strict=True)
    parts = [[rows, one[None]] if reverse else [one[None], rows] for one, rows in pairs]
    return optree.tree_unflatten(spec, [np.moveaxis(np.concatenate(each), 0, axis) for each in parts])


def as_array(leaf: Any) -> Any:
    return leaf if isinstance(leaf, Tracer) else Tracer(as_value(to_value(leaf)))
