"""Numbers that `tools/coefficients.py` wrote."""
