"""Converts functions as they are written, with Python's loops, branches and assignments, to functions that can be
traced."""
