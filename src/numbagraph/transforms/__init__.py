"""Transformations of graphs: derivatives, batches, and their interpretation by NumPy."""
