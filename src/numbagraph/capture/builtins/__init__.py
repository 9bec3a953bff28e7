"""Python's functions and containers on traced values."""
