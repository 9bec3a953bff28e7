"""Write a README into each folder of the package: ``python tools/readmes.py``. ``--check`` fails when they differ.

A README has the docstring of the folder's package, and a line for each module and folder: the first sentence of its
docstring.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from written import write

PACKAGE = Path(__file__).parents[1] / "src" / "numbagraph"
ABBREVIATIONS = ("e.g.", "i.e.", "cf.", "vs.")


def docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def first_sentence(text: str) -> str:
    """Return the first sentence of the first paragraph, in one line and without its full stop."""
    line = " ".join(text.partition("\n\n")[0].split())
    end = 0
    while (end := line.find(". ", end)) >= 0:
        if not line[: end + 1].endswith(ABBREVIATIONS):
            return line[:end]
        end += 1
    return line.removesuffix(".")


def readme(folder: Path) -> str:
    """The text of the README of a folder."""
    name = ".".join(folder.relative_to(PACKAGE.parent).parts)
    own = docstring(folder / "__init__.py")
    folders = sorted(each for each in folder.iterdir() if (each / "__init__.py").exists())
    modules = sorted(each for each in folder.glob("*.py") if each.name != "__init__.py")
    lines = [f"# `{name}`", "", own.partition("\n\n")[0], ""] if own else [f"# `{name}`", ""]
    lines += [
        f"- [`{each.name}/`]({each.name}/README.md): {first_sentence(docstring(each / '__init__.py'))}"
        for each in folders
    ]
    lines += [f"- [`{each.stem}`]({each.name}): {first_sentence(docstring(each))}" for each in modules]
    return "\n".join([*lines, "", "Written by `python tools/readmes.py` from the docstrings.", ""])


def main() -> int:
    folders = sorted({each.parent for each in PACKAGE.rglob("__init__.py")})
    return max(write(folder / "README.md", readme(folder)) for folder in folders)


if __name__ == "__main__":
    sys.exit(main())
