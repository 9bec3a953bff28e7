"""Functions of scipy."""
