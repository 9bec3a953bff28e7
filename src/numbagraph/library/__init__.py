"""NumPy's and SciPy's functions on traced arrays, written in NumPy as a user would write them."""
