"""Linear algebra: factorisations, solutions, spectra, and functions of matrices."""

from numbagraph.ops.linalg import determinants, factorisations, functions, general, solutions, spectra

__all__ = ["determinants", "factorisations", "functions", "general", "solutions", "spectra"]
