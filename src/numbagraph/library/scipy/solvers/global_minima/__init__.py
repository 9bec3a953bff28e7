"""Lowest minima of functions that have many."""
