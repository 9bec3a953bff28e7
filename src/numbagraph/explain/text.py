"""Graphs as text: what writes it is imported when someone asks for it."""

from __future__ import annotations

from numbagraph.forking import importing
from numbagraph.ir.graph import Graph


def graph_as_python(graph: Graph) -> str:
    """The text of a graph: one line an operation, with the user's line beside it. Equal graphs have equal texts."""
    with importing:
        from numbagraph.explain.printing import Names, Printer  # noqa: PLC0415  few programs need it

    return "\n".join(Printer(graph, Names()).lines())


def graph_as_html(graph: Graph) -> str:
    with importing:
        from numbagraph.explain.html import block, commented  # noqa: PLC0415  notebooks need it

    return block(map(commented, graph_as_python(graph).splitlines()))


Graph.__str__ = lambda self: graph_as_python(self)
Graph._repr_html_ = lambda self: graph_as_html(self)  # type: ignore[attr-defined]
