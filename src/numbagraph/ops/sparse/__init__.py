"""Sparse matrices: products, solutions, and combinations of two sparse matrices."""
