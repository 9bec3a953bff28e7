"""`scipy.special`: functions that are no ufuncs, and those of two numbers."""
