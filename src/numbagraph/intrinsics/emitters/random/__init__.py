"""The bit generators and distributions of NumPy's `Generator`."""
