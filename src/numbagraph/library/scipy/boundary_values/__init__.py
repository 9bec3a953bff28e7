"""Boundary value problems of ordinary differential equations, by collocation."""
