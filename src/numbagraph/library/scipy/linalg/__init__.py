"""Functions of linalg."""
