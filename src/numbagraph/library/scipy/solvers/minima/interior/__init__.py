"""Minimisers within constraints by trust regions and barriers, as SciPy's method ``trust-constr`` has them."""
