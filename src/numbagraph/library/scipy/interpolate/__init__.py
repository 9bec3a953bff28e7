"""`scipy.interpolate`: interpolants, splines and piecewise polynomials."""
