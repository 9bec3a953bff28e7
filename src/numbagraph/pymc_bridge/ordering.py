"""Translation of sorting, and of looking up in what is sorted."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply
from pytensor.tensor.extra_ops import SearchsortedOp
from pytensor.tensor.sort import ArgSortOp, SortOp

from numbagraph.ir.op import registry
from numbagraph.ir.values import Value
from numbagraph.pymc_bridge.compatibility import sorted_axis
from numbagraph.pymc_bridge.importer import Importer, imports


@imports(SortOp, ArgSortOp)
def sort(importer: Importer, node: Apply, x: Value, *axis: Value) -> Any:
    known = [importer.data_of(each) for each in axis]
    if any(each is None for each in known):
        return importer.computed_now(node)
    name = "sort" if isinstance(node.op, SortOp) else "argsort"
    return registry[name](x, sorted_axis(node.op, *known))


@imports(SearchsortedOp)
def searchsorted(importer: Importer, node: Apply, x: Value, v: Value, *sorter: Value) -> Value:
    return registry["searchsorted"](x, v, node.op.side, *sorter)
