"""Random numbers: NumPy's draws from the state of a bit generator, and the bits of keys."""
