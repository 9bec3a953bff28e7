"""Functions that are pickled by name, where the name stands for a decorated object."""

from __future__ import annotations

import io
import pickle
import sys
import threading
from collections import ChainMap
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

from numbagraph.forking import import_module

_BY_VALUE = ("cloudpickle", "joblib.externals.cloudpickle")
"""Modules that pickle functions of a script or a notebook by their code, for workers that do not run the script."""


class _Active(threading.local):
    def __init__(self) -> None:
        self.pickling: list[Any] = []


_active = _Active()


def dumps(module: ModuleType, function: Callable[..., Any]) -> bytes:
    """Pickle a function by a module of `_BY_VALUE`, but let code keep the name of its file, by which its source is
    found. Newer versions of cloudpickle leave it out."""
    reduce = module.Pickler.dispatch_table[CodeType]
    own = {CodeType: lambda code: (code_of, (*reduce(code)[:2], code.co_filename))}
    table = ChainMap(own, module.Pickler.dispatch_table)
    made = type("Pickler", (module.Pickler,), {"dispatch_table": table})
    file = io.BytesIO()
    made(file).dump(function)
    return file.getvalue()


def code_of(make: Callable[..., CodeType], parts: tuple[Any, ...], filename: str) -> CodeType:
    """Make a code object from its pickled parts."""
    return make(*parts).replace(co_filename=filename)


class Pickled:
    """The plain function under a decorated name, which `pickle` would otherwise find to be the decorated one."""

    def __init__(self, function: Callable[..., Any], kind: type, owner: Any) -> None:
        self.module, self.qualname = getattr(function, "__module__", ""), getattr(function, "__qualname__", "")
        self.kind = kind
        self.function = None if self._find() is owner else function
        self.by_value = self._by_value(function) if self.function is None and self.module == "__main__" else None

    def _by_value(self, function: Callable[..., Any]) -> bytes | None:
        """Pickle the plain function of a script, if a module that can do so has been imported; None otherwise."""
        found = next((sys.modules[each] for each in _BY_VALUE if each in sys.modules), None)
        if found is None or any(function is each for each in _active.pickling):  # it reads itself
            return None
        _active.pickling.append(function)
        try:
            dumped = dumps(found, function)
        except Exception:  # noqa: BLE001  whatever it reads that nobody can pickle; by its name it may be found
            return None
        finally:
            _active.pickling.pop()
        return dumped

    def _find(self) -> Any:
        found: Any = sys.modules.get(self.module)
        for part in self.qualname.split("."):
            found = getattr(found, part, None)
        return found if isinstance(found, self.kind) else None

    def decorated(self, decorate: Callable[[Callable[..., Any]], Any]) -> Any:
        """Return the decorated object under the name. Where there is none, apply ``decorate`` to the function."""
        if self.function is not None:
            return decorate(self.function)
        import_module(self.module)
        found = self._find()
        if found is None and self.by_value is not None:
            return decorate(pickle.loads(self.by_value))
        if found is None:
            raise AttributeError(f"the compiled function {self.qualname} is not to be found in {self.module}")
        return found
