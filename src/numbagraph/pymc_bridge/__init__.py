"""PyMC models and PyTensor graphs on numbagraph. PyMC is imported with this package, and never before."""

from numbagraph.pymc_bridge import control, elementwise, indexing, linalg, mathematics, structure
from numbagraph.pymc_bridge.importer import ImportedGraph, UnsupportedOp, from_pytensor

__all__ = [
    "ImportedGraph",
    "UnsupportedOp",
    "control",
    "elementwise",
    "from_pytensor",
    "indexing",
    "linalg",
    "mathematics",
    "structure",
]
