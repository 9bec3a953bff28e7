"""Sparse matrices: products, solutions, and sparse matrices that are made of two."""
