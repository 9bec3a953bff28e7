"""Indexing: elements that are read, and arrays to whose elements values are assigned."""
