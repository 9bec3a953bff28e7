"""Pages that are read in the repository as well: what Sphinx needs beside what is in them."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
OVERVIEW = "README"
"""The page of a folder that the repository shows: the folder's other pages stand below it."""
LISTED = """

```{{toctree}}
:hidden:
:glob:

{}
```
"""


def below(page: Path) -> str | None:
    """The pattern of the pages that stand below a page: those beside an overview, or in a folder of the page's name."""
    if page.stem == OVERVIEW:
        return "*"
    return f"{page.stem}/*" if page.with_suffix("").is_dir() else None


def read(app: Sphinx, name: str, source: list[str]) -> None:
    page = app.env.doc2path(name)

    def without_link(found: re.Match[str]) -> str:
        """A file that is no page is named: the site has no copy of it."""
        text, target = found.groups()
        path = (page.parent / target).resolve()
        if path.is_relative_to(app.srcdir) or not path.is_relative_to(ROOT):
            return found[0]
        return f"{text} (`{path.relative_to(ROOT)}`)"

    source[0] = re.sub(r"\[([^\]]*)\]\((\.\./[^)#\s]+)\)", without_link, source[0])
    # What doctest needs at the end of a block, nobody has to see.
    source[0] = re.sub(r"(^```python\n(?:(?!```).)*?\n)\n```", r"\1```", source[0], flags=re.DOTALL | re.MULTILINE)
    pages = below(page)
    if pages is not None:
        source[0] += LISTED.format(pages)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", read)
    return {"parallel_read_safe": True}
