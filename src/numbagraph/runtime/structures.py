"""The structures of trees in words, for errors."""

from __future__ import annotations

import optree


def structure_of(spec: optree.PyTreeSpec) -> str:
    """Say what a tree is made of: "an array", "a tuple of 2 arrays", "a dict of 'a' (an array) and 'b' (None)"."""
    if spec.is_leaf():
        return "an array or a number"
    children = spec.children()
    if spec.type is None or not children:
        return "None" if spec.type in (None, type(None)) else f"an empty {spec.type.__name__}"
    name = spec.type.__name__
    article = "an" if name[0].lower() in "aeiou" else "a"
    if spec.type in (tuple, list):
        if all(each.is_leaf() for each in children):
            return f"{article} {name} of {_counted(len(children))}"
        return f"{article} {name} of {_listed([structure_of(each) for each in children])}"
    parts = [
        repr(key) if each.is_leaf() else f"{key!r} ({structure_of(each)})"
        for key, each in zip(spec.entries(), children, strict=True)
    ]
    return f"{article} {name} of {_listed(parts)}"


def _counted(number: int) -> str:
    return "one array or number" if number == 1 else f"{number} arrays or numbers"


def _listed(parts: list[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
