"""Functions of numpy."""
