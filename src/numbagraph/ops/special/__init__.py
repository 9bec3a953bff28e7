"""Special functions: those of SciPy, and the distribution functions that are made of them."""
