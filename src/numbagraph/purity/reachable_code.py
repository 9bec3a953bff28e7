"""The Python code that a function may run, found by the names that it reads, and the objects behind these.

Names are resolved without running anything: globals, closure cells, and attributes that lie in a dict or a slot. Where
a name leads to a function of the user's, that is followed; methods of objects that are found on the way are followed
where the code has their name.

A container that a name leads to is guarded with all its contents, unless a constant subscript says which entry of a
dict is read. An attribute of an object that only running code could find, such as an element in a loop, is guarded for
every object on the way that has one of its name.

The same walk finds whether state that outlives a trace may be written. None is, where none of the code stores anything
and all functions that it may call are known; otherwise `outer_state.py` notes the state before the trace.
"""

from __future__ import annotations

import functools
import gc
import sys
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from numbagraph.ir.array_classes import module_of
from numbagraph.purity.bytecode import Facts, Item, Read, asked_of, facts_of, takes_errors
from numbagraph.purity.containers import (
    ATOMS,
    element_of,
    fields_of,
    is_changing,
    is_container,
    is_plain_dict,
    parts_of,
)
from numbagraph.purity.known_pure import are_methods, is_harmless, is_harmless_module, may_write_unasked, of_builtins
from numbagraph.purity.nondeterminism import Watch, spelled, suspicious_names
from numbagraph.purity.trace_profile import CodeKey, key_of
from numbagraph.runtime.arguments import is_source
from numbagraph.runtime.guards import CLASS, CONTENT, DEFINITION, MISSING, NameGuard, content_guard, read
from numbagraph.runtime.objects import slot_offset
from numbagraph.tracing.errors import TraceError
from numbagraph.tracing.user_code import HARMLESS, OWN, entries_of, is_home, library_of

_PLAIN = {int, float, complex, bool, str, bytes, type(None), np.ndarray, np.dtype, np.ufunc, type(np.sum), slice}
_CONTAINERS = (list, tuple, set, frozenset)
_IMMUTABLE_TYPE = 1 << 8
_MOST_ELEMENTS = 64
"""The largest number of elements of a container that are checked for whether they write nothing."""
MOST_GUARDS = 100_000
_ORDINARY = (object.__getattribute__, types.SimpleNamespace.__getattribute__, types.FunctionType.__getattribute__)
_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)
_ASKING = {"type", "hasattr", "getattr", "nditer", "deque", "default_rng"}
"""Functions that look at an object's class or memory without calling it (as `deque(maxlen=k)`), or make a generator."""
_SOLVING = {
    "curve_fit", "fsolve", "least_squares", "leastsq", "quad", "root", "solve_bvp",
    "bracket_minimum", "bracket_root", "cubature", "find_minimum", "find_root", "nsum", "quad_vec", "tanhsinh",
}  # fmt: skip
"""SciPy's functions whose compiled code prints errors, or whose Python warns or may run on traced values."""
_MAKING = {"__init__", "__new__", "__post_init__"}
_NEVER_RUN = {*_MAKING, "__repr__", "__str__", "__eq__", "__hash__", "__reduce__", "__del__", "__init_subclass__"}
_CALLBACK = ("numbagraph.api.callbacks", "pure_callback")
_INNER = ("__wrapped__", "function", "of", "again", "core", "vjp", "forward", "backward", "core_shape")
"""Attributes in which objects of numbagraph hold functions of the user's."""

Scope = dict[str, Any]
"""The objects that are known of local names: a `CellType`, or a known object in a `Known`."""


class Known:
    """An object that a local name stands for."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Walk:
    """One walk through all code and objects that a function reaches."""

    def __init__(self, function: Any, arguments: Iterable[Any], called_back: frozenset[CodeKey] = frozenset()) -> None:
        self.guards: dict[tuple[int, Any], NameGuard] = {}
        self.codes: dict[int, types.CodeType] = {}
        self.draws = False
        """Whether a name may lead to a nondeterministic function."""
        self.may_write = False
        """Whether state that outlives a trace may be written."""
        self.pure_callback: Any = None
        """`numbagraph.pure_callback`, if a name leads to it."""
        self.home: str | None = ""
        """The library that the function itself is part of, if any: its code counts as the user's. Not known yet: ""."""
        self._called_back = called_back
        """Code that is not entered."""
        self._names: set[str] = set()
        self._computed: set[str] = set()
        """Attributes that the code reads of computed objects."""
        self._seen: dict[int, Any] = {}
        self._queue: list[tuple[types.FunctionType, Any]] = []
        self._entered: dict[tuple[int, int], tuple[Any, Any]] = {}
        self._instances: list[tuple[type, Any]] = []
        self._modules: list[types.ModuleType] = []
        self._asked: set[str] = set()
        """Attributes that the code reads by constant texts, as ``getattr`` does, and that may be missing."""
        self._by_any_name = False
        """Whether the code reads attributes by names that it computes."""
        self._watched: dict[int, int] = {}
        """The number of names for which each object's attributes were looked up, by the object's identity."""
        self._opened: dict[int, Any] = {}
        """Containers whose contents are guarded at every depth."""
        self._suspicious = suspicious_names()
        self._follow(function)
        for each in arguments:
            self._follow(each)
            self._open(each, "an argument that is static")
        self._run()

    def _run(self) -> None:
        asked, instances, modules = -1, 0, 0  # how many objects have been asked for how many names
        while self._queue or asked != self._count_asked() or (instances, modules) != self._count_found():
            while self._queue:
                self._enter(*self._queue.pop())
            if asked != self._count_asked():
                asked, instances, modules = self._count_asked(), 0, 0
            for kind, instance in self._instances[instances:]:
                instances += 1
                self._follow_methods(kind, instance)
                self._watch_attributes(kind, kind if instance is MISSING else instance)
            for each in self._modules[modules:]:
                modules += 1
                self._watch_attributes(types.ModuleType, each)
        self.may_write = self.may_write or not are_methods(self._computed) or any(map(self._is_odd, self._instances))

    def _count_found(self) -> tuple[int, int]:
        return len(self._instances), len(self._modules)

    def _count_asked(self) -> int:
        return sum(map(len, (self._names, self._computed, self._asked))) + self._by_any_name

    @property
    def converts_at_once(self) -> bool:
        """Whether a trace of the unconverted code may go wrong: it asks for the class of a traced array, makes a
        generator, runs a solver of SciPy's itself, or catches errors that only the program raises, as in loops."""
        return not self._names.isdisjoint(_ASKING | _SOLVING) or any(map(takes_errors, self.codes.values()))

    def watch(self) -> Watch | None:
        """The watch over calls while the function is traced; None where it needs none."""
        return Watch(self.codes.values(), self.home) if self.draws else None

    # ---- objects ----

    def _is_odd(self, found: tuple[type, Any]) -> bool:
        """Whether an object of the user's may do more than the names in the code show."""
        kind, instance = found
        entries = {} if instance is MISSING else entries_of(instance) or {}
        return type(kind) is not type or may_write_unasked(kind) or not self._computed.isdisjoint(entries)

    def _follow(self, thing: Any) -> None:
        """Follow an object that the code can get hold of."""
        kind = type(thing)
        if kind in _PLAIN or id(thing) in self._seen:
            self.may_write = self.may_write or (kind is np.ndarray and thing.dtype.hasobject)
            return
        self._seen[id(thing)] = thing
        if kind is types.ModuleType:
            self._modules += [thing] if self._is_users(thing) else []
            return
        if kind is types.FunctionType:
            self._enqueue(thing, MISSING)
        elif spelled(thing) is not None:
            self.draws = self.may_write = True
        elif kind is types.MethodType:
            self._follow_bound(thing.__func__, thing.__self__)
        elif kind is functools.partial:
            self._follow_all((thing.func, *thing.args, *thing.keywords.values()))
            self._open(thing, "an argument of functools.partial")
        elif kind in _CONTAINERS or kind is dict:
            self._follow_all(thing.values() if kind is dict else thing)
        elif issubclass(type(thing), type) and not thing.__flags__ & _IMMUTABLE_TYPE:
            self._instances.append((thing, MISSING))
        elif _is_own(kind):
            self._follow_inner(thing)
        elif kind is functools._lru_cache_wrapper:
            self.may_write = True
            self._follow(thing.__wrapped__)
        elif is_source(thing):
            self.draws = self.may_write = True
        elif not kind.__flags__ & _IMMUTABLE_TYPE or kind is types.SimpleNamespace:
            self._instances.append((kind, thing))
        elif not is_harmless(thing):
            self.may_write = True

    def _follow_all(self, things: Iterable[Any]) -> None:
        found = list(things)
        self.may_write = self.may_write or len(found) > _MOST_ELEMENTS
        for each in found:
            if type(each) not in _PLAIN or type(each) is np.ndarray:
                self._follow(each)

    def _follow_inner(self, thing: Any) -> None:
        """Follow the functions of the user's in an object of numbagraph."""
        own = entries_of(thing) or {}
        self._follow_all(own[name] for name in _INNER if name in own)
        self.may_write = self.may_write or any(type(own[name]) in _FUNCTIONS for name in own if name not in _INNER)

    def _follow_bound(self, function: Any, instance: Any) -> None:
        """Follow a function that is called with ``instance`` before its arguments."""
        if instance is not MISSING:
            self._follow(instance)
        if issubclass(type(function), types.FunctionType):
            self._enqueue(function, instance)
        elif _is_own(type(function)):  # a compiled method
            self._follow_bound(vars(function).get("function"), instance)
        else:
            self.may_write = True

    def _follow_methods(self, kind: type, instance: Any) -> None:
        """Follow the methods of a class of the user's that the code may call."""
        for each in kind.__mro__:
            if each.__flags__ & _IMMUTABLE_TYPE:
                continue
            for name, method in list(vars(each).items()):
                is_named = name in self._names
                special = name.startswith("__") and (instance is MISSING or name not in _NEVER_RUN)
                if not (is_named or special) or type(method) in _PLAIN:
                    continue
                if is_named or type(method) is types.FunctionType:
                    self._follow_method(method, kind, instance)
                elif callable(method):
                    self.may_write = True

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
            self.may_write = True
            self._follow_bound(method.func, instance)
        elif _is_own(type(method)) and instance is not MISSING:
            self._follow_bound(method, instance)
        else:
            self.may_write = True

    # ---- code ----

    def _enqueue(self, function: types.FunctionType, instance: Any) -> None:
        key = (id(function), id(instance))
        if key not in self._entered and not self._is_called_back(function.__code__):
            self._entered[key] = function, instance
            self._queue.append((function, instance))

    def _enter(self, function: types.FunctionType, instance: Any) -> None:
        code, cells = function.__code__, function.__closure__ or ()
        library = library_of(code.co_filename)
        if library != OWN and self.home == "" and is_home(library or ""):
            self.home = library if "-packages" in (library or "") else None
        if library not in (None, self.home) or library == OWN:
            if (function.__module__, function.__name__) == _CALLBACK:
                self.pure_callback = function
            self.draws = self.draws or spelled(function) is not None
            self.may_write = self.may_write or library not in HARMLESS
            for cell in cells:
                self._follow(read(cell, None))
            return
        scope: Scope = dict(zip(code.co_freevars, cells, strict=True))
        if instance is not MISSING and code.co_argcount:
            scope[code.co_varnames[0]] = Known(instance)
        self._guard(function, DEFINITION, read(function, DEFINITION), f"the code or a default of {function.__name__}")
        self._follow_all((*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()))
        self._open(function.__defaults__, f"a default of {function.__name__}")
        self._open(function.__kwdefaults__, f"a default of {function.__name__}")
        facts = facts_of(code)
        self.may_write = self.may_write or facts.writes
        self._names |= facts.names
        self._scan(code, facts, function.__globals__, scope)

    def _scan(self, code: types.CodeType, facts: Facts, names: dict[str, Any], scope: Scope) -> None:
        self.codes[id(code)] = code
        for each in facts.reads:
            self._resolve(each, names, scope)
        if "super" in facts.names:
            self._follow_super(code, scope)
        asked = asked_of(code)
        if library_of(code.co_filename) is None:
            self._by_any_name = self._by_any_name or not all(self._is_foreign(names.get(each)) for each in asked.owners)
        self._asked.update(asked.names)
        for each in facts.inner:
            if self._is_called_back(each):
                continue
            self._scan(each, facts_of(each), names, {name: scope[name] for name in each.co_freevars if name in scope})
        if "getattr" in facts.names and any(type(each) is str and each in self._suspicious for each in code.co_consts):
            self.draws = True

    def _is_called_back(self, code: types.CodeType) -> bool:
        """Whether no trace has run some code, nor any other code with its key, such as another lambda on its line."""
        return bool(self._called_back) and key_of(code) in self._called_back

    def _follow_super(self, code: types.CodeType, scope: Scope) -> None:
        """Follow methods of base classes, which ``super()`` finds."""
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
        spelling, value, rest, is_users = each.name, MISSING, each.attributes, True
        if each.scope == "global":
            value = names.get(each.name, MISSING)
            if value is MISSING:
                self.may_write = self.may_write or not is_harmless(of_builtins(each.name, names))
            elif not each.name.startswith("__"):
                self._guard(names, each.name, value, spelling)
        elif each.scope == "local":
            found = scope.get(each.name)
            if type(found) is types.CellType:
                value = read(found, None)
                if each.name != "__class__":
                    self._guard(found, None, value, spelling)
            elif found is not None:
                value = found.value
        while value is not MISSING:
            if type(value) not in _PLAIN or type(value) is np.ndarray:
                self._follow(value)
            is_users = is_users and not self._is_foreign(value)
            step, rest = (rest[0], rest[1:]) if rest else (None, ())
            if is_users and (step is None or (isinstance(step, str) and is_container(value))):
                self._open(value, spelling)
            if step is None:
                break
            if isinstance(step, Item):
                spelling = f"{spelling}{step}"
                value = self._item(value, step.key, spelling)
            else:
                spelling = f"{spelling}.{step}"
                value = self._attribute(value, step, spelling)
        else:
            self._computed.update(name for name in rest if type(name) is str)
        if issubclass(type(value), types.ModuleType) and not is_harmless_module(value):
            self.may_write = True
        self.draws = self.draws or not self._suspicious.isdisjoint(each.names)

    # ---- elements ----

    def _open(self, thing: Any, name: str) -> None:
        """Guard all contents of a container, at any depth."""
        stack = [] if type(thing) in ATOMS else [thing]
        while stack:
            each = stack.pop()
            if type(each) in ATOMS or id(each) in self._opened or _is_own(type(each)):
                continue
            self._opened[id(each)] = each
            self._follow(each)
            if is_changing(each):
                self._guard_content(each, name)
            stack += [part for part in parts_of(each) if type(part) not in ATOMS]
            stack += [self._attribute(each, field, f"{name}.{field}") for field in fields_of(each)]

    def _guard_content(self, container: Any, name: str) -> None:
        if (id(container), CONTENT) not in self.guards:
            self._add(content_guard(container, f"an element of {name}"))

    def _item(self, owner: Any, key: Any, spelling: str) -> Any:
        """Return the element ``owner[key]``, guarded; `MISSING` where only running the code could tell."""
        if is_plain_dict(owner) and type(key) is str and key in owner:
            value = dict.__getitem__(owner, key)
            self._guard(owner, key, value, spelling)
            return value
        self._open(owner, spelling)
        return next(element_of(owner, key), MISSING) if type(key) is int else MISSING

    # ---- attributes ----

    def _guard(self, owner: Any, key: Any, value: Any, name: str) -> None:
        if not issubclass(type(value), types.ModuleType) and (id(owner), key) not in self.guards:
            self._add(NameGuard(owner, key, value, name))

    def _add(self, guard: NameGuard) -> None:
        if len(self.guards) == MOST_GUARDS:
            raise TraceError(
                f"the function reads more than {MOST_GUARDS:,} names, attributes and containers ({guard.name} among "
                f"them), and each call would compare them all: pass them as arguments, or as arrays"
            )
        self.guards[id(guard.owner), guard.key] = guard

    def _watch_attributes(self, kind: type, owner: Any) -> None:
        """Guard the attributes of an object that the code reads of computed objects. Attributes of an installed package
        are left unguarded: a function of SciPy's leads to all of SciPy."""
        count, library = self._count_asked(), self._library_of_kind(kind, owner)
        if self._watched.get(id(owner)) == count or library not in (None, "Python"):
            return
        self._watched[id(owner)] = count
        spaces = [vars(each) for each in kind.__mro__ if not each.__flags__ & _IMMUTABLE_TYPE]
        spaces += [] if owner is kind else [entries_of(owner) or {}]
        known = [name for each in spaces for name in each if not name.startswith("__")]
        if not self._by_any_name or library is not None:
            known = [*(name for name in known if name in self._computed), *self._asked]
        for name in dict.fromkeys(known):
            spelling = f"{kind.__name__}.{name}"
            value = self._attribute(owner, name, spelling)
            if value is not MISSING and type(value) not in _PLAIN:
                self._follow(value)
                self._open(value, spelling)

    def _attribute(self, owner: Any, name: str, spelling: str) -> Any:
        """Return the attribute ``owner.name``, guarded; `MISSING` where only running the code could tell."""
        kind = type(owner)
        if issubclass(type(owner), types.ModuleType):
            value = vars(owner).get(name, MISSING)
            if value is MISSING:
                self.may_write = True
            elif self._is_users(owner):
                self._guard(vars(owner), name, value, spelling)
            return value
        if issubclass(type(owner), type):
            return self._bound(self._in_classes(owner, name, spelling), MISSING, owner)
        if kind in _PLAIN:
            self._computed.add(name)
            return MISSING
        if kind.__getattribute__ not in _ORDINARY or is_source(owner):
            self.may_write = True
            return MISSING
        if not kind.__flags__ & _IMMUTABLE_TYPE:
            self._guard(owner, CLASS, kind, f"the class of {spelling.rpartition('.')[0] or 'an object'}")
        on_class = next((vars(each)[name] for each in kind.__mro__ if name in vars(each)), MISSING)
        if isinstance(on_class, types.MemberDescriptorType):
            if slot_offset(on_class) is None:
                self.may_write = True
                return MISSING
            value = read(owner, on_class)
            self._guard(owner, on_class, value, spelling)
            return value
        if hasattr(type(on_class), "__set__"):
            self._follow_method(on_class, kind, owner)
            return MISSING
        own = entries_of(owner)
        value = own.get(name, MISSING) if type(own) is dict else MISSING
        if type(own) is dict:
            self._guard(own, name, value, spelling)
        if value is not MISSING:
            return value
        return self._bound(self._in_classes(kind, name, spelling), owner, kind)

    def _is_users(self, module: types.ModuleType) -> bool:
        file = vars(module).get("__file__")
        if not isinstance(file, str):
            return module.__name__ not in sys.builtin_module_names
        return library_of(file) in (None, self.home)

    def _is_foreign(self, thing: Any) -> bool:
        """Whether something is a module that is taken as it is."""
        return type(thing) is types.ModuleType and not self._is_users(thing)

    def _library_of_kind(self, kind: type, owner: Any) -> str | None:
        """The library that an object of a class, or a module, is part of; None for the user's."""
        module = owner if kind is types.ModuleType else sys.modules.get(module_of(kind))
        if module is None or kind is types.SimpleNamespace:
            return None
        file = vars(module).get("__file__")
        if not isinstance(file, str):
            return "Python" if module.__name__ in sys.builtin_module_names else None
        return library_of(file)

    def _in_classes(self, kind: type, name: str, spelling: str) -> Any:
        """Return a class attribute, guarded in each class where it is looked up."""
        for each in kind.__mro__ if any(name in vars(each) for each in kind.__mro__) else ():
            value = vars(each).get(name, MISSING)
            if not each.__flags__ & _IMMUTABLE_TYPE:
                (entries,) = (one for one in gc.get_referents(vars(each)) if issubclass(type(one), dict))
                self._guard(entries, name, value, spelling)
            if value is not MISSING:
                return value
        return MISSING

    def _bound(self, found: Any, instance: Any, kind: type) -> Any:
        """Return a class attribute as an instance, or (if there is none) the class, sees it."""
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
    return module_of(kind).startswith("numbagraph.")
