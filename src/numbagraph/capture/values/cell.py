"""Variables that functions share: those that a nested function assigns to (``nonlocal``), or reads after they have
changed."""

from __future__ import annotations

from typing import Any

from numbagraph.tracing.errors import OnlyTraced


class Cell(OnlyTraced):
    """A variable of a function that nested functions share, as the attribute ``value``."""

    value: Any

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        if name != "value":
            raise AttributeError(name)
        raise UnboundLocalError(
            f"cannot access local variable {self.__name__!r} where it is not associated with a value"
        )
