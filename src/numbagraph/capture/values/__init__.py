"""Python's values whose contents are traced."""
