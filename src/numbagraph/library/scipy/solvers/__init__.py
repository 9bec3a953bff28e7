"""SciPy's solvers, written as users write theirs, which are converted; solutions have the derivatives of equations."""
