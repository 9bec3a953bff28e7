"""Rewrites the syntax tree of a function into calls of operators."""
