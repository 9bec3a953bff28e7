"""Reports on the work of the compiler on a function."""

from numbagraph.explain.text import graph_as_python

__all__ = ["graph_as_python"]
