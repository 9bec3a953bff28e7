"""The attributes that objects show to users: their names in `dir`, which completion asks for."""

from __future__ import annotations


class Public:
    """A base class of the objects that users get."""

    __slots__ = ()

    def __dir__(self) -> list[str]:
        """The names without an underscore in front, and Python's own special ones."""
        special = set(dir(object))
        return [name for name in super().__dir__() if not name.startswith("_") or name in special]
