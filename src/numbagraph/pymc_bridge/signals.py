"""Translation of convolution."""

from __future__ import annotations

from typing import Any

from pytensor.graph.basic import Apply
from pytensor.tensor.signal.conv import Convolve1d

from numbagraph.ir.values import Value
from numbagraph.ops.convolution import convolved
from numbagraph.pymc_bridge.importer import Importer, imports


@imports(Convolve1d)
def convolution(importer: Importer, node: Apply, a: Value, v: Value, full: Value) -> Any:
    known = importer.data_of(full)
    if known is None:
        return importer.computed_now(node)
    return convolved(a, v, "full" if known else "valid")
