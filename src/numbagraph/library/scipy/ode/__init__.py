"""Steps of SciPy's solvers of ordinary differential equations, and the loops that take them."""
