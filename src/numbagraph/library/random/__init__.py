"""Functions of random."""
