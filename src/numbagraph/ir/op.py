"""The registry of ops, by name and by the functions that they implement."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from numbagraph.forking import import_module, importing
from numbagraph.ir.values import Input, Node, Op, Value


def boxing(value: Value) -> str:
    """Return the kind of object that a rank-0 result becomes, as in NumPy (or, for weak values, in Python itself):
    "array", "scalar" or "python"."""
    if value.type.weak and not value.ndim:
        return "python"
    if value.ndim:
        return "array"
    if isinstance(value, Node):
        if value.op.zero_dim != "operand":
            return value.op.zero_dim
        return "scalar" if boxing(value.inputs[0]) == "scalar" else "array"
    return "scalar" if isinstance(value, Input) else "array"  # a constant is what a creation function gave


class Registry:
    """Ops by name and by the NumPy function that they implement."""

    def __init__(self) -> None:
        self._ops: dict[str, Op] = {}
        self._by_function: dict[Any, Op] = {}
        self._lazy: dict[str, list[tuple[str, Op]]] = {}
        self._deferred: dict[str, str] = {}
        self._deferred_functions: dict[str, list[str]] = {}

    def defer(self, module: str, names: Mapping[str, Sequence[str]]) -> None:
        """Leave ops to a module that is imported when one of them is asked for.

        ``names`` says how the functions are called that each op implements ("add.accumulate" is the method of a ufunc);
        where nothing is said, like the op without its prefix.
        """
        for name, functions in names.items():
            self._deferred[name] = module
            for each in functions or [name.rpartition(".")[2]]:
                self._deferred_functions.setdefault(each, []).append(name)

    def _declare(self, name: str) -> None:
        """Import the module that declares an op, if there is one that has not been imported."""
        with importing:
            module = self._deferred.get(name)
            if module is None:  # another thread may just have imported it
                return
            import_module(module)
            for each in [each for each, other in self._deferred.items() if other == module]:
                self._deferred.pop(each, None)

    def register(self, op: Op) -> Op:
        missing = [name for name in op.__fields__ if getattr(op, name) is None]
        if missing:
            raise TypeError(f"op {op.name!r} leaves {', '.join(missing)} open: give it, or Unsupported(reason)")
        if op.name in self._ops:
            raise ValueError(f"op {op.name!r} is declared twice")
        self._ops[op.name] = op
        self._deferred.pop(op.name, None)  # whoever has imported its module
        for function in op.implements:
            if isinstance(function, str):
                self._lazy.setdefault(function.rpartition(":")[2], []).append((function, op))
            else:
                self._by_function[function] = op
        return op

    def __getitem__(self, name: str) -> Op:
        try:
            return self._ops[name]
        except KeyError:
            self._declare(name)
            return self._ops[name]

    def __contains__(self, name: str) -> bool:
        return name in self._ops or name in self._deferred

    @property
    def count(self) -> int:
        """The number of ops that are declared by now."""
        return len(self._ops)

    def is_deferred(self, names: Iterable[str]) -> bool:
        """Whether one of the named ops is left to a module that has not been imported."""
        return any(name in self._deferred for name in names)

    def names(self) -> list[str]:
        """Return the names of all ops, without importing a module."""
        return [*self._ops, *self._deferred]

    def holds(self, op: Op) -> bool:
        """Whether an op is registered, and so lives as long as the process."""
        return self._ops.get(op.name) is op

    def declared(self) -> list[Op]:
        """Return the ops of modules that have been imported."""
        return list(self._ops.values())

    def __iter__(self) -> Iterator[Op]:
        for name in list(self._deferred):
            self._declare(name)
        return iter(self._ops.values())

    def find(self, function: Any) -> Op | None:
        """The op that implements a NumPy or SciPy function, or None.

        SciPy's functions are declared by name, so that SciPy is imported only where a user has done so.
        """
        found = self._declared(function)
        if found is None:
            for name in self._deferred_functions.get(called(function), ()):
                self._declare(name)
            found = self._declared(function)
        return found

    def named(self, path: str) -> Op | None:
        """The op that implements a function of SciPy's, at "module:name", or None."""
        function = path.rpartition(":")[2]
        for name in (None, *self._deferred_functions.get(function, ())):
            if name is not None:
                self._declare(name)
            for found, op in self._lazy.get(function, ()):
                if found == path:
                    return op
        return None

    def _declared(self, function: Any) -> Op | None:
        """Return the op that implements a function, if the module of the function has been imported; else None."""
        try:
            return self._by_function[function]
        except (KeyError, TypeError):
            pass
        name = getattr(function, "__name__", "")
        for path, op in self._lazy.get(name, ()):
            if path.partition(":")[0] in sys.modules and load(path) is function:  # a name alone imports nothing
                self._by_function[function] = op
                return op
        return None


def called(function: Any) -> str:
    """The name of a function, or of a ufunc's method, which is given as a pair."""
    if isinstance(function, tuple):
        return ".".join(getattr(each, "__name__", str(each)) for each in function)
    return getattr(function, "__name__", "")


def load(path: str) -> Any:
    """The object at "module:name"."""
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def imported(path: str) -> Any:
    """Return a module that has been imported already; else None, also while another thread is importing it."""
    module = sys.modules.get(path)
    return None if getattr(getattr(module, "__spec__", None), "_initializing", False) else module


def numpy_function(op: Op) -> Callable[..., Any] | None:
    """Return the function of NumPy or SciPy that an op stands for; None for an op of numbagraph's own."""
    if not op.implements:
        return None
    first = op.implements[0]
    if isinstance(first, tuple):
        ufunc, method = first
        return getattr(ufunc, method)
    return load(first) if isinstance(first, str) else first


def ufunc_of(op: Op) -> np.ufunc | None:
    """Return the ufunc of NumPy or SciPy that an op stands for, or None. SciPy's modules take time to import, and only
    `special` has ufuncs, so no other is imported."""
    path = next(iter(op.implements), None)
    if isinstance(path, str) and not path.startswith("scipy.special:"):
        return None
    function = numpy_function(op)
    return function if isinstance(function, np.ufunc) else None


def is_elementwise(function: Any) -> bool:
    """Whether NumPy or SciPy broadcast the operands to the array that the result is written into."""
    function = ufunc_of(function) if isinstance(function, Op) else function
    return isinstance(function, np.ufunc) and function.signature is None


def lazy(path: str) -> Callable[..., Any]:
    """A function that imports "module:name" when it is first called."""
    found: list[Callable[..., Any]] = []

    def call(*args: Any, **kwargs: Any) -> Any:
        if not found:
            with importing:
                found.append(load(path))
        return found[0](*args, **kwargs)

    call.__name__ = path.rpartition(":")[2]
    return call


registry = Registry()


class FloatErrors(threading.local):
    """The handling of floating-point errors in NumPy's references, on this thread. By default they are ignored, as in
    compiled code."""

    state: Mapping[str, Any] = {"all": "ignore"}

    @contextmanager
    def as_chosen(self) -> Iterator[None]:
        """Let the modes of `numpy.errstate` count inside the context, except "warn", which is NumPy's default."""
        before = self.state
        self.state = {name: "ignore" if way == "warn" else way for name, way in np.geterr().items()}
        try:
            yield
        finally:
            self.state = before


float_errors = FloatErrors()


def quiet(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a NumPy reference without floating-point warnings: compiled code gives none."""
    with np.errstate(**float_errors.state):
        return function(*args, **kwargs)
