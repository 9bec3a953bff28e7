"""Linear algebra: factorisations, solutions, spectra, and functions of matrices."""

from numbagraph.ops.linalg import determinants, factorisations, solutions, spectra

__all__ = ["determinants", "factorisations", "solutions", "spectra"]
