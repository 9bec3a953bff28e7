"""Functions of sparse."""
