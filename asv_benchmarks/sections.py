"""Sections of a page of Markdown."""

import re

GROWTH = "Growth of compile time and memory"
"""What `growth` writes, and `compare` leaves as it is."""


def found(page: str, title: str) -> str | None:
    """The section with this title, to the next one or to the end; None if there is none."""
    match = re.search(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    return match.group() if match else None


def replaced(page: str, title: str, text: str) -> str:
    """The page with another text in the section, which is appended if there is none."""
    new, old = f"## {title}\n\n{text.strip()}\n", found(page, title)
    if old is None:
        return f"{page.rstrip()}\n\n{new}"
    start = page.index(old)
    rest = page[start + len(old) :]
    return page[:start] + new + ("\n" + rest if rest else "")
