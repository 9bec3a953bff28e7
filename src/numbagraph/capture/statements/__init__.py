"""Python's statements on traced values."""
