"""The version, which is part of the key of cached code."""

__version__ = "0.1.0"
