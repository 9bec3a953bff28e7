"""The declarations of all ops. Importing this package fills the registry."""

from numbagraph.ir.op import registry
from numbagraph.ops import (
    arithmetic,
    checking,
    comparison,
    creation,
    exponentials,
    identity,
    integers,
    joining,
    product,
    reduction,
    rounding,
    selection,
    shape,
)
from numbagraph.ops.deferred import CALLED, NAMES
from numbagraph.ops.indexing import gathering, masks, slicing, subscripts, view_assignment
from numbagraph.ops.special import reductions

for _module, _names in NAMES.items():
    registry.defer(f"{__name__}.{_module}", {name: CALLED.get(name, "").split() for name in _names.split()})

__all__ = [
    "arithmetic",
    "checking",
    "comparison",
    "creation",
    "exponentials",
    "gathering",
    "identity",
    "integers",
    "joining",
    "masks",
    "product",
    "reduction",
    "reductions",
    "rounding",
    "selection",
    "shape",
    "slicing",
    "subscripts",
    "view_assignment",
]
