"""PyMC models and PyTensor graphs on numbagraph. PyMC is imported with this package, and never before."""

from numbagraph.pymc_bridge import (
    choices,
    control,
    elementwise,
    indexing,
    linalg,
    mathematics,
    scan,
    structure,
)
from numbagraph.pymc_bridge.failures import RejectionWarning
from numbagraph.pymc_bridge.function_op import to_pytensor
from numbagraph.pymc_bridge.importer import ImportedGraph, UnsupportedOp, from_pytensor
from numbagraph.pymc_bridge.linker import FallbackWarning
from numbagraph.pymc_bridge.logp import CompiledLogp, compile_logp
from numbagraph.pymc_bridge.model import compile_model
from numbagraph.pymc_bridge.sampling import sample

__all__ = [
    "CompiledLogp",
    "FallbackWarning",
    "ImportedGraph",
    "RejectionWarning",
    "UnsupportedOp",
    "choices",
    "compile_logp",
    "compile_model",
    "control",
    "elementwise",
    "from_pytensor",
    "indexing",
    "linalg",
    "mathematics",
    "sample",
    "scan",
    "structure",
    "to_pytensor",
]
