"""Functions of stats."""
