"""The directive `namespace`: a table of a module's functions, with their signatures and the first sentence of each."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def signature(function: Any) -> str:
    try:
        return str(inspect.signature(function))
    except ValueError:  # a ufunc of NumPy has none
        return "(...)"


def summary(function: Any) -> str:
    """What the library says first: the facts about the op are the first paragraph, and its text follows."""
    _, *paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    return " ".join(paragraphs[0].split()) if paragraphs else "numbagraph's own."


class Namespace(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module = importlib.import_module(self.arguments[0])
        table = nodes.table()
        group = nodes.tgroup(cols=2)
        body = nodes.tbody()
        for name in dir(module):
            found = getattr(module, name)
            if not callable(found) or isinstance(found, type):
                continue
            call = nodes.paragraph("", "", nodes.literal("", name), nodes.Text(" " + signature(found)))
            body += nodes.row("", nodes.entry("", call), nodes.entry("", nodes.paragraph(text=summary(found))))
        group += [nodes.colspec(colwidth=50), nodes.colspec(colwidth=50), body]
        table += group
        return [table]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("namespace", Namespace)
    return {"parallel_read_safe": True}
