"""Translation of sorting: of a few elements, each is compared with each."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply
from pytensor.tensor.extra_ops import SearchsortedOp
from pytensor.tensor.sort import ArgSortOp, SortOp

from numbagraph import shapes
from numbagraph.blockwise.promotion import convert
from numbagraph.graph import Value
from numbagraph.op import registry
from numbagraph.ops.indexing import set_index
from numbagraph.ops.shape import expand_at
from numbagraph.pymc_bridge.importer import Importer, imports
from numbagraph.types import INT64

MOST = 1000
"""Elements up to which their pairs are compared: PyTensor sorts longer vectors faster."""


def few(x: Value) -> int | None:
    """The length of a vector of which all pairs may be compared."""
    length = shapes.resolve(x.shape[0]) if x.ndim == 1 else None
    return length if isinstance(length, int) and length <= MOST else None


def count(conditions: Any, axis: int) -> Value:
    return registry["sum"](convert(conditions, INT64), axis)


def comes_before(x: Any, y: Any, *, or_equal: bool = False) -> Any:
    """Whether elements come before others in sorted order, in which NaN is last."""
    x_last, y_last = registry["isnan"](x), registry["isnan"](y)
    if or_equal:
        return registry["logical_or"](registry["less_equal"](x, y), y_last)
    return registry["logical_or"](
        registry["less"](x, y), registry["logical_and"](y_last, registry["logical_not"](x_last))
    )


def places(x: Value, length: int) -> Value:
    """Where each element of a vector is, once it is sorted; equal ones keep their order."""
    numbers = registry["iota"](length)
    one, other = expand_at(x, (1,)), expand_at(x, (0,))
    earlier = registry["less"](expand_at(numbers, (0,)), expand_at(numbers, (1,)))
    tie = registry["logical_not"](registry["logical_or"](comes_before(other, one), comes_before(one, other)))
    return count(registry["logical_or"](comes_before(other, one), registry["logical_and"](tie, earlier)), 1)


@imports(SortOp)
def sort(importer: Importer, node: Apply, x: Value, *axis: Value) -> Any:
    length = few(x)
    if length is None:
        return importer.computed_now(node)
    return set_index(registry["zeros_like"](x), (places(x, length),), x)


@imports(ArgSortOp)
def argsort(importer: Importer, node: Apply, x: Value, *axis: Value) -> Any:
    length = few(x)
    if length is None:
        return importer.computed_now(node)
    numbers = registry["iota"](length)
    return set_index(registry["zeros_like"](numbers), (places(x, length),), numbers)


@imports(SearchsortedOp)
def searchsorted(importer: Importer, node: Apply, x: Value, v: Value, *sorter: Value) -> Any:
    if few(x) is None or sorter:
        return importer.computed_now(node)
    edges, values = expand_at(x, range(1, 1 + v.ndim)), expand_at(v, (0,))
    return count(comes_before(edges, values, or_equal=node.op.side == "right"), 0)
