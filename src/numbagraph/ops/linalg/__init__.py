"""Linear algebra: factorisations, solutions, spectra, and functions of matrices."""

from numbagraph.ops.linalg import (
    banded,
    determinants,
    equations,
    factorisations,
    functions,
    general,
    least_squares,
    solutions,
    spectra,
)

__all__ = [
    "banded",
    "determinants",
    "equations",
    "factorisations",
    "functions",
    "general",
    "least_squares",
    "solutions",
    "spectra",
]
