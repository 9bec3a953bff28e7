"""Functions that are pickled by name, under which stands what a decorator made of them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any


class Pickled:
    """The plain function under a decorated name, which `pickle` would otherwise find to be the decorated one."""

    def __init__(self, function: Callable[..., Any], kind: type, owner: Any) -> None:
        self.module, self.qualname = getattr(function, "__module__", ""), getattr(function, "__qualname__", "")
        self.kind = kind
        self.function = None if self._find() is owner else function

    def _find(self) -> Any:
        found: Any = sys.modules.get(self.module)
        for part in self.qualname.split("."):
            found = getattr(found, part, None)
        return found if isinstance(found, self.kind) else None

    def decorated(self, decorate: Callable[[Callable[..., Any]], Any]) -> Any:
        """What stands under the name; ``decorate`` makes it of a function that has none."""
        if self.function is not None:
            return decorate(self.function)
        importlib.import_module(self.module)
        found = self._find()
        assert found is not None
        return found
