"""Finds the state that a function reads, writes and calls beside its arguments."""
