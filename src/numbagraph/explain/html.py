"""Graphs, reports and compiled functions as notebooks show them: HTML without scripts or files beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, Self

from numbagraph.ir.public import Public

STYLE = "text-align: left; white-space: pre; font-family: monospace; line-height: 1.35"
MARKED = {
    "note:": "#b35900",
    "copies": "#b35900",
    "checked": "#b35900",
    "fused:": "#1a7f37",
    "nest ": "#0550ae",
    "loop (": "#0550ae",
    "call ": "#8250df",
}
"""The colour of a line of `explain` by its beginning."""


class Explanation(Public, str):
    """The text of `explain`, which interpreters and notebooks show as lines, and `to_html` as a page."""

    __slots__ = ("_page",)

    def __new__(cls, text: str, page: Callable[[], str]) -> Self:
        found = super().__new__(cls, text)
        found._page = page
        return found

    def __repr__(self) -> str:
        return str(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)

    def _repr_html_(self) -> str:
        return block(map(coloured, self.splitlines()))

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """A page for browsers: the graph after each pass, loop nests and calls, and the source lines beside them.

        Parameters
        ----------
        path : path, optional
            Where to write it: one file, which loads nothing from elsewhere.

        Returns
        -------
        str
            The page.

        Examples
        --------
        >>> import numpy as np, numbagraph
        >>> page = numbagraph.graph_jit(lambda x: np.sum(x**2)).explain(np.ones(3)).to_html()
        >>> page.splitlines()[0]
        '<!doctype html>'
        """
        return written(self._page(), path)


def written(page: str, path: str | PathLike[str] | None) -> str:
    """Return a page, after writing it to a file if there is a path."""
    if path is not None:
        Path(path).write_text(page, encoding="utf-8")
    return page


def coloured(line: str) -> str:
    """One line of a report."""
    text, found = line.strip(), escape(line)
    colour = next((colour for start, colour in MARKED.items() if text.startswith(start)), None)
    if colour is not None:
        return f'<span style="color: {colour}">{found}</span>'
    return f"<b>{found}</b>" if line[:1].strip() else found


def commented(line: str) -> str:
    """One line of a graph, with the user's line beside it in grey."""
    code, mark, comment = line.partition("  # ")
    return escape(code) + (f'<span style="color: #6e7781">{escape(mark + comment)}</span>' if mark else "")


def block(lines: Iterable[str]) -> str:
    content = "\n".join(lines)
    return f'<div style="{STYLE}; overflow-x: auto">{content}</div>'


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of texts."""
    cells = [
        "".join(f"<{tag} style='text-align: left'>{escape(each)}</{tag}>" for each in row)
        for tag, row in (("th", head), *(("td", row) for row in rows))
    ]
    return f"<table>{''.join(f'<tr>{each}</tr>' for each in cells)}</table>"
