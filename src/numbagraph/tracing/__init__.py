"""Traced arrays, the trace that they belong to, and the errors of both."""
