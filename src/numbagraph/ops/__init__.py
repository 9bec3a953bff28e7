"""The declarations of all ops. Importing this package fills the registry."""

from numbagraph.ir.op import registry
from numbagraph.ops import (
    arithmetic,
    checking,
    comparison,
    creation,
    exponential,
    gathering,
    identity,
    indexing,
    integers,
    joining,
    masks,
    product,
    reduction,
    rounding,
    selection,
    shape,
    slicing,
    special_reductions,
)
from numbagraph.ops import view_assignment as through
from numbagraph.ops.deferred import CALLED, NAMES

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
