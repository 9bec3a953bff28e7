"""Least squares: nonlinear ones with and without bounds, fits of curves, and linear ones with constraints."""
