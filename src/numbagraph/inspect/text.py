"""Graphs as text: what writes it is imported when someone asks for it."""

from __future__ import annotations

from numbagraph.forking import importing
from numbagraph.ir.graph import Graph


def graph_as_python(graph: Graph) -> str:
    """The text of a graph: one line an operation, with the user's line beside it. Equal graphs have equal texts."""
    with importing:
        from numbagraph.inspect.printing import Names, Printer  # noqa: PLC0415  few programs need it

    return "\n".join(Printer(graph, Names()).lines())


Graph.__str__ = lambda self: graph_as_python(self)
