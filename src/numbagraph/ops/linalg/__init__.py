"""Linear algebra: factorisations, solutions, spectra, and functions of matrices."""

from numbagraph.ops.linalg import factorisations, solutions

__all__ = ["factorisations", "solutions"]
