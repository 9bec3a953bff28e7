"""Minima of functions of one variable and of several."""
