"""Functions as they are written, with Python's loops, branches and assignments, as functions that can be traced."""
