"""Names that pickles and programs of before know; they stand in `numbagraph.frontend`."""

from numbagraph.frontend.decorator import graph_jit
from numbagraph.frontend.jit import GraphFunction, _rebuild

__all__ = ["GraphFunction", "_rebuild", "graph_jit"]
