"""Linear algebra: factorisations, solutions, spectra, and functions of matrices."""
