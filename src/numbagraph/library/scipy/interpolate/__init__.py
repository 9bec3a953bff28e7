"""Functions of interpolate."""
