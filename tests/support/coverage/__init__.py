"""Which functions of NumPy and SciPy work in compiled functions: names, a usual call of each, the measurement."""
