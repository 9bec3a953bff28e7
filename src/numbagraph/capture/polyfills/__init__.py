"""Functions of Python's library as Python would write them: they are captured as a user's functions are."""
