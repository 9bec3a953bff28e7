"""PyMC models and PyTensor graphs on numbagraph. PyMC is imported with this package, and never before."""

from numbagraph.pymc_bridge.function_op import to_pytensor
from numbagraph.pymc_bridge.importer import ImportedGraph, UnsupportedOp, from_pytensor
from numbagraph.pymc_bridge.linker import FallbackWarning
from numbagraph.pymc_bridge.logp import CompiledLogp, compile_logp
from numbagraph.pymc_bridge.model import compile_model
from numbagraph.pymc_bridge.sampling.failures import RejectionWarning
from numbagraph.pymc_bridge.sampling.sample import sample
from numbagraph.pymc_bridge.translations import (
    choices,
    indexing,
    linalg,
    mathematics,
    nested_ops,
    scalar_ops,
    scan,
    structure,
)

__all__ = [
    "CompiledLogp",
    "FallbackWarning",
    "ImportedGraph",
    "RejectionWarning",
    "UnsupportedOp",
    "choices",
    "compile_logp",
    "compile_model",
    "from_pytensor",
    "indexing",
    "linalg",
    "mathematics",
    "nested_ops",
    "sample",
    "scalar_ops",
    "scan",
    "structure",
    "to_pytensor",
]
