"""Names that pickles and programs of before know; they stand in `numbagraph.frontend.jit`."""

from numbagraph.frontend.jit import GraphFunction, _rebuild, graph_jit

__all__ = ["GraphFunction", "_rebuild", "graph_jit"]
