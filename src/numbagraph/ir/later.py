"""Modules that are imported when one of their attributes is asked for: most programs do without them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from numbagraph.forking import import_module


class Later:
    """A stand-in for a module, which is imported when an attribute is asked for.

    Its user imports the module under ``TYPE_CHECKING`` by the same name. So type checkers know what is in it,
    and `tools/check_layers.py` that it is imported.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._module: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:
        if self._module is None:
            self._module = import_module(self._path)
        return getattr(self._module, name)
