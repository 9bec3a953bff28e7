"""The declarations of all ops. Importing this package fills the registry."""

from numbagraph.ir.op import registry
from numbagraph.ops import (
    arithmetic,
    checking,
    comparison,
    creation,
    identity,
    integers,
    joining,
    product,
    reduction,
    rounding,
    selection,
    shape,
)
from numbagraph.ops import exponentials as exponential
from numbagraph.ops.deferred import CALLED, NAMES
from numbagraph.ops.indexing import gathering, masks, slicing
from numbagraph.ops.indexing import subscripts as indexing
from numbagraph.ops.indexing import view_assignment as through
from numbagraph.ops.special import reductions as special_reductions

for _module, _names in NAMES.items():
    registry.defer(f"{__name__}.{_module}", {name: CALLED.get(name, "").split() for name in _names.split()})

__all__ = [
    "arithmetic",
    "checking",
    "comparison",
    "creation",
    "exponential",
    "gathering",
    "identity",
    "indexing",
    "integers",
    "joining",
    "masks",
    "product",
    "reduction",
    "rounding",
    "selection",
    "shape",
    "slicing",
    "special_reductions",
    "through",
]
