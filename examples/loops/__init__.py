"""Idioms with loops and branches, each in a file of its own, to be copied."""
