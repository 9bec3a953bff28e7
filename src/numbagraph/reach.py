"""The Python code that a function may run, found by the names that it reads, and what these names stand for.

Names are resolved without running anything: globals, closure cells, and attributes that lie in a dict or a slot. Where
a name leads to a function of the user's, that is followed; methods of objects that are found on the way are followed
where the code has their name.
"""

from __future__ import annotations

import functools
import gc
import sys
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from numbagraph.impure import Watch, spelled, suspicious_names
from numbagraph.runtime.arguments import is_source
from numbagraph.runtime.guards import MISSING, Guard, Guards, read
from numbagraph.runtime.objects import slot_offset
from numbagraph.user_code import OWN, Read, entries_of, library_of, reads

_PLAIN = {int, float, complex, bool, str, bytes, type(None), np.ndarray, np.dtype, np.ufunc, type(np.sum), slice}
_CONTAINERS = (list, tuple, set, frozenset)
_IMMUTABLE_TYPE = 1 << 8
_MOST_ELEMENTS = 64
"""Of a container, that are looked at."""
_ORDINARY = (object.__getattribute__, types.SimpleNamespace.__getattribute__, types.FunctionType.__getattribute__)
_MAKING = {"__init__", "__new__", "__post_init__"}
_NEVER_RUN = {*_MAKING, "__repr__", "__str__", "__eq__", "__hash__", "__reduce__", "__del__", "__init_subclass__"}
_INNER = ("function", "core", "vjp", "forward", "backward", "core_shape")
"""Where objects of numbagraph hold functions of the user's."""

Scope = dict[str, Any]
"""What is known of local names: a `CellType`, or a known object in a `Known`."""


class Known:
    """An object that a local name stands for."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Reach:
    """What one compiled function reaches."""

    def __init__(self, function: Any, arguments: Iterable[Any] = ()) -> None:
        walk = _Walk(function, arguments)
        self.guards = Guards(walk.guards.values())
        self._codes = tuple(walk.codes) if walk.draws else None
        self._home = walk.home

    def watch(self) -> Watch | None:
        """What must be watched while the function is traced."""
        return None if self._codes is None else Watch(self._codes, self._home)


class _Walk:
    """One way through all that a function reaches."""

    def __init__(self, function: Any, arguments: Iterable[Any]) -> None:
        self.guards: dict[tuple[int, Any], Guard] = {}
        self.codes: dict[types.CodeType, None] = {}
        self.draws = False
        """Whether a name may lead to what answers otherwise each time."""
        self.home: str | None = ""
        """The library that the function itself is part of, if any: its code counts as the user's. Not known yet: ""."""
        self._names: set[str] = set()
        self._seen: dict[int, Any] = {}
        self._queue: list[tuple[types.FunctionType, Any]] = []
        self._entered: dict[tuple[int, int], tuple[Any, Any]] = {}
        self._instances: list[tuple[type, Any]] = []
        self._suspicious = suspicious_names()
        self._follow(function)
        for each in arguments:
            self._follow(each)
        self._run()

    def _run(self) -> None:
        count = -1
        while self._queue or count != len(self._names) + len(self._instances):
            count = len(self._names) + len(self._instances)
            while self._queue:
                self._enter(*self._queue.pop())
            for kind, instance in list(self._instances):
                self._follow_methods(kind, instance)

    # ---- objects ----

    def _follow(self, thing: Any) -> None:
        """Go on from an object that the code can get hold of."""
        kind = type(thing)
        if kind in _PLAIN or kind is types.ModuleType or id(thing) in self._seen:
            return
        self._seen[id(thing)] = thing
        if spelled(thing) is not None:
            self.draws = True
        elif kind is types.FunctionType:
            self._enqueue(thing, MISSING)
        elif kind is types.MethodType:
            self._follow_bound(thing.__func__, thing.__self__)
        elif kind is functools.partial:
            self._follow_all((thing.func, *thing.args, *thing.keywords.values()))
        elif kind in _CONTAINERS or kind is dict:
            self._follow_all(thing.values() if kind is dict else thing)
        elif issubclass(type(thing), type) and not thing.__flags__ & _IMMUTABLE_TYPE:
            self._instances.append((thing, MISSING))
        elif _is_own(kind):
            self._follow_all(vars(thing).get(name) for name in _INNER if hasattr(thing, "__dict__"))
        elif kind is functools._lru_cache_wrapper:
            self._follow(thing.__wrapped__)
        elif is_source(thing):
            self.draws = True
        elif not kind.__flags__ & _IMMUTABLE_TYPE:
            self._instances.append((kind, thing))

    def _follow_all(self, things: Iterable[Any]) -> None:
        for _, each in zip(range(_MOST_ELEMENTS), list(things), strict=False):
            self._follow(each)

    def _follow_bound(self, function: Any, instance: Any) -> None:
        """A function that is called with ``instance`` before its arguments."""
        if instance is not MISSING:
            self._follow(instance)
        if issubclass(type(function), types.FunctionType):
            self._enqueue(function, instance)
        elif _is_own(type(function)):  # a compiled method
            self._follow_bound(vars(function).get("function"), instance)

    def _follow_methods(self, kind: type, instance: Any) -> None:
        """The methods of a class of the user's that the code may call."""
        for each in kind.__mro__:
            if each.__flags__ & _IMMUTABLE_TYPE:
                continue
            for name, method in list(vars(each).items()):
                if type(method) in _PLAIN:
                    continue
                special = name.startswith("__") and (instance is MISSING or name not in _NEVER_RUN)
                if (special and type(method) is types.FunctionType) or name in self._names:
                    self._follow_method(method, kind, instance)

    def _follow_method(self, method: Any, kind: type, instance: Any) -> None:
        if issubclass(type(method), types.FunctionType):
            self._enqueue(method, instance)
        elif issubclass(type(method), classmethod):
            self._follow_bound(method.__func__, kind)
        elif issubclass(type(method), staticmethod):
            self._follow(method.__func__)
        elif issubclass(type(method), property) and issubclass(type(method.fget), types.FunctionType):
            self._enqueue(method.fget, instance)
        elif issubclass(type(method), functools.cached_property):
            self._follow_bound(method.func, instance)
        elif _is_own(type(method)) and instance is not MISSING:
            self._follow_bound(method, instance)

    # ---- code ----

    def _enqueue(self, function: types.FunctionType, instance: Any) -> None:
        key = (id(function), id(instance))
        if key not in self._entered:
            self._entered[key] = function, instance
            self._queue.append((function, instance))

    def _enter(self, function: types.FunctionType, instance: Any) -> None:
        code, cells = function.__code__, function.__closure__ or ()
        library = library_of(code.co_filename)
        if library != OWN and self.home == "":
            self.home = library if "-packages" in (library or "") else None
        if library not in (None, self.home) or library == OWN:
            for cell in cells:
                self._follow(read(cell, None))
            return
        scope: Scope = dict(zip(code.co_freevars, cells, strict=True))
        if instance is not MISSING and code.co_argcount:
            scope[code.co_varnames[0]] = Known(instance)
        self._follow_all((*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()))
        self._scan(code, function.__globals__, scope)

    def _scan(self, code: types.CodeType, names: dict[str, Any], scope: Scope) -> None:
        self.codes[code] = None
        self._names.update(code.co_names)
        for each in reads(code):
            self._resolve(each, names, scope)
        if "super" in code.co_names:
            self._follow_super(code, scope)
        for each in code.co_consts:
            if isinstance(each, types.CodeType):
                self._scan(each, names, {name: scope[name] for name in each.co_freevars if name in scope})
            elif isinstance(each, str) and each in self._suspicious and "getattr" in code.co_names:
                self.draws = True

    def _follow_super(self, code: types.CodeType, scope: Scope) -> None:
        """Methods of base classes, which ``super()`` finds."""
        instance, cell = scope.get(code.co_varnames[0] if code.co_varnames else ""), scope.get("__class__")
        if not isinstance(instance, Known) or not isinstance(cell, types.CellType):
            return
        order = type(instance.value).__mro__
        owner = read(cell, None)
        for kind in order[order.index(owner) + 1 :] if owner in order else ():
            for name in code.co_names:
                if name in vars(kind):
                    self._follow_method(vars(kind)[name], type(instance.value), instance.value)

    def _resolve(self, each: Read, names: dict[str, Any], scope: Scope) -> None:
        spelling, value = each.name, MISSING
        if each.scope == "global":
            value = names.get(each.name, MISSING)
            if value is not MISSING and not each.name.startswith("__"):
                self._guard(names, each.name, value, spelling)
        elif each.scope == "local":
            found = scope.get(each.name)
            if issubclass(type(found), types.CellType):
                value = read(found, None)
                if each.name != "__class__":
                    self._guard(found, None, value, spelling)
            elif found is not None:
                value = found.value
        rest = list(each.attributes)
        while value is not MISSING:
            self._follow(value)
            if not rest:
                return
            spelling = f"{spelling}.{rest[0]}"
            value = self._attribute(value, rest.pop(0), spelling)
        self.draws |= not self._suspicious.isdisjoint(each.attributes)

    # ---- attributes ----

    def _guard(self, owner: Any, key: Any, value: Any, name: str) -> None:
        if not issubclass(type(value), types.ModuleType):
            self.guards.setdefault((id(owner), key), Guard(owner, key, value, name))

    def _attribute(self, owner: Any, name: str, spelling: str) -> Any:
        """What ``owner.name`` is, guarded; `MISSING` where only running code could tell."""
        kind = type(owner)
        if issubclass(type(owner), types.ModuleType):
            value = vars(owner).get(name, MISSING)
            if value is not MISSING and self._is_users(owner):
                self._guard(vars(owner), name, value, spelling)
            return value
        if issubclass(type(owner), type):
            return self._bound(self._in_classes(owner, name, spelling), MISSING, owner)
        if kind in _PLAIN or kind.__getattribute__ not in _ORDINARY or is_source(owner):
            return MISSING
        on_class = next((vars(each)[name] for each in kind.__mro__ if name in vars(each)), MISSING)
        if isinstance(on_class, types.MemberDescriptorType):
            if slot_offset(on_class) is None:
                return MISSING
            value = read(owner, on_class)
            self._guard(owner, on_class, value, spelling)
            return value
        if hasattr(type(on_class), "__set__"):
            self._follow_method(on_class, kind, owner)
            return MISSING
        own = entries_of(owner)
        value = own.get(name, MISSING) if type(own) is dict else MISSING
        if type(own) is dict and (value is not MISSING or on_class is not MISSING):
            self._guard(own, name, value, spelling)
        if value is not MISSING:
            return value
        return self._bound(self._in_classes(kind, name, spelling), owner, kind)

    def _is_users(self, module: types.ModuleType) -> bool:
        file = vars(module).get("__file__")
        if not isinstance(file, str):
            return module.__name__ not in sys.builtin_module_names
        return library_of(file) in (None, self.home)

    def _in_classes(self, kind: type, name: str, spelling: str) -> Any:
        """A class attribute, guarded in each class where it is looked for."""
        for each in kind.__mro__ if any(name in vars(each) for each in kind.__mro__) else ():
            value = vars(each).get(name, MISSING)
            if not each.__flags__ & _IMMUTABLE_TYPE:
                (entries,) = (one for one in gc.get_referents(vars(each)) if type(one) is dict)
                self._guard(entries, name, value, spelling)
            if value is not MISSING:
                return value
        return MISSING

    def _bound(self, found: Any, instance: Any, kind: type) -> Any:
        """A class attribute as an instance, or (if there is none) the class, has it."""
        if issubclass(type(found), staticmethod):
            return found.__func__
        if issubclass(type(found), (classmethod, types.ClassMethodDescriptorType)):
            return found.__get__(None, kind)
        if instance is MISSING:
            return found
        if issubclass(type(found), types.FunctionType):
            return types.MethodType(found, instance)
        if hasattr(type(found), "__get__"):
            self._follow_method(found, kind, instance)
            return MISSING
        return found


def _is_own(kind: type) -> bool:
    return str(kind.__module__).startswith("numbagraph.")
