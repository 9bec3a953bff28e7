"""Arrays with named dimensions (`pymc.dims`): their ops become PyTensor's other ops, and names are dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.graph.traversal import ancestors
from pytensor.xtensor.basic import XTypeCastOp

from numbagraph.pymc_bridge.importer import Importer, imports


@imports(XTypeCastOp)
def renamed(importer: Importer, node: Apply, x: Any) -> Any:
    return x


def without_names(outputs: Sequence[Variable]) -> list[Variable]:
    """Rewrite variables, of the same inputs, to ops on arrays without names."""
    if not any(type(each.type).__name__ == "XTensorType" for each in ancestors(outputs)):
        return list(outputs)
    graph = FunctionGraph(outputs=list(outputs), clone=True, copy_inputs=False)
    return list(rewrite_graph(graph, include=("lower_xtensor",)).outputs)
