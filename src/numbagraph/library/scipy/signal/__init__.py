"""Functions of signal."""
