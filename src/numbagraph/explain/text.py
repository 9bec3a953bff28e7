"""Graphs as text. The code that writes them is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numbagraph.ir.graph import Graph
from numbagraph.ir.later import Later

if TYPE_CHECKING:
    from numbagraph.explain import html, printing
else:  # few programs show their graphs
    html = Later("numbagraph.explain.html")
    printing = Later("numbagraph.explain.printing")


def graph_as_python(graph: Graph) -> str:
    """The text of a graph: one line an operation, with the user's line beside it. Equal graphs have equal texts."""
    return "\n".join(printing.Printer(graph, printing.Names()).lines())


def graph_as_html(graph: Graph) -> str:
    return html.block(map(html.commented, graph_as_python(graph).splitlines()))


Graph.__str__ = lambda self: graph_as_python(self)
Graph._repr_html_ = lambda self: graph_as_html(self)  # type: ignore[attr-defined]
