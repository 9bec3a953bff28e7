"""Looking at what the compiler makes of a function."""

from numbagraph.explain.text import graph_as_python

__all__ = ["graph_as_python"]
