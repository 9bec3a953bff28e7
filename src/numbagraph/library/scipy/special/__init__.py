"""Functions of special."""
