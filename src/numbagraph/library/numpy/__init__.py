"""NumPy's functions that are written in others: polynomials, along axes, methods of ufuncs, views."""
