"""State that outlives a trace: a traced function runs once, so writes to it would be lost, or leave a traced array
there."""

from __future__ import annotations

import functools
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import optree

from numbagraph.ir.array_classes import module_of
from numbagraph.ir.values import Node
from numbagraph.purity.bytecode import facts_of, locations_of
from numbagraph.purity.snapshots import Attributes, Cell, Change, Content, Held, Namespace, Origin, tracer_in
from numbagraph.runtime.arguments import NAMESPACE, taken_apart
from numbagraph.tracing.errors import SideEffectError
from numbagraph.tracing.tracer import Tracer
from numbagraph.tracing.user_code import entries_of, installed_folders, is_home

MOST_OBJECTS = 20_000
LONGEST_TITLE = 100
"""The longest chain of attributes, in characters, that is spelled out. For objects behind longer ones, such as an
element of a linked list, an error names only the class."""
ROOM_FOR_ARRAYS = 1 << 23
"""The number of bytes of arrays that are compared with their former contents."""

_ATOMS = frozenset((int, float, complex, bool, str, bytes, type(None), Tracer, np.ufunc, range, slice, type(...)))
_CALLED = (FunctionType, MethodType, functools.partial, staticmethod, classmethod)
_CONTAINERS = (dict, list, set, deque, tuple, frozenset)
_BY_TEXT = frozenset(("globals", "eval", "exec", "__globals__"))


@functools.lru_cache(maxsize=4096)
def is_library(module: str) -> bool:
    """Whether a module is part of Python, or installed."""
    package = module.partition(".")[0]
    if package in sys.stdlib_module_names:
        return module != "__main__"
    if package == "numpy":
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and file.startswith(installed_folders())


def is_numbagraph(kind: type) -> bool:
    return module_of(kind).partition(".")[0] == "numbagraph"


class Outside:
    """The objects that a function and its arguments reach by the names in its bytecode, and in that of functions it
    calls."""

    def __init__(self, function: Callable[..., Any], arguments: Iterable[Any]) -> None:
        arguments = list(arguments)
        package = (getattr(function, "__module__", None) or "").partition(".")[0]
        self.package = package if is_home(package) else ""
        self.held: list[Held] = []
        self.arguments = {id(each) for each in containers_in(arguments)}
        """The containers that are made anew for each trace, by identity."""
        self.origins: list[Origin | None] = []
        """The entries of dicts and lists that were written; None for state of other kinds."""
        self.codes: dict[int, CodeType] = {}
        self.names: set[str] = set()
        self.seen: dict[int, Any] = {}
        self.members: list[tuple[Any, str]] = []
        """The user's classes and modules, of which the members that some function names are visited."""
        self.modules: list[ModuleType] = []
        self.arrays: list[tuple[np.ndarray, str]] = []
        self.stack: list[tuple[Any, str]] = [(function, ""), *((each, "an argument") for each in arguments)]
        self.walk()

    def is_own(self, module: Any) -> bool:
        """Whether a module is the user's rather than a library's. (The module name of some classes in C is not a
        text.)"""
        if not module or type(module) is not str or (top := module.partition(".")[0]) == "numbagraph":
            return False
        return top == self.package or not is_library(module)

    def walk(self) -> None:
        while self.stack and len(self.seen) < MOST_OBJECTS:
            while self.stack and len(self.seen) < MOST_OBJECTS:
                self.visit(*self.stack.pop())
            for owner, title in self.members:
                for name, member in list(vars(owner).items()):
                    used = name in self.names or (type(member) in _CALLED and name.startswith("__"))
                    if used and type(member) not in _ATOMS and id(member) not in self.seen:
                        self.stack.append((member, f"{title}.{name}"))
        names = {name for kind, name in self.stored() if kind == "attribute"}
        if names:
            self.held += [Namespace(vars(each), "attribute", f"{each.__name__}.{{}}", names) for each in self.modules]
            owners = [owner for owner, _ in self.members if isinstance(owner, type)]
            self.held += [Attributes(each, names, f"{each.__name__}.{{}}") for each in owners]
        self.changes_content = any(facts_of(code).changes for code in self.codes.values())
        if self.changes_content:
            room = ROOM_FOR_ARRAYS
            for array, title in self.arrays:
                if array.nbytes <= room:
                    room -= array.nbytes
                    self.held.append(Content(array, title))

    def stored(self) -> set[tuple[str, str]]:
        """The kinds and names of the variables that the functions store."""
        return {pair for code in self.codes.values() for pair in facts_of(code).stored}

    def visit(self, thing: Any, title: str) -> None:
        kind = type(thing)  # isinstance would ask proxies for what they stand for
        if kind in _ATOMS or id(thing) in self.seen:
            return
        self.seen[id(thing)] = thing
        if kind is FunctionType:
            self.visit_function(thing)
        elif kind is BuiltinFunctionType:  # such as the method append of a list
            self.stack += [(thing.__self__, title)] if isinstance(thing.__self__, (*_CONTAINERS, np.ndarray)) else []
        elif kind is MethodType:
            self.stack += [(thing.__func__, title), (thing.__self__, title or "self")]
        elif kind is functools.partial:
            self.stack += [(thing.func, title), (thing.args, title), (thing.keywords, title)]
        elif issubclass(kind, (staticmethod, classmethod)):
            self.stack.append((thing.__func__, title))
        elif issubclass(kind, property):
            self.stack += [(each, title) for each in (thing.fget, thing.fset)]
        elif issubclass(kind, functools.cached_property):
            self.stack.append((thing.func, title))
        elif issubclass(kind, ModuleType):
            self.modules.append(thing)
            if self.is_own(thing.__name__):
                self.members.append((thing, thing.__name__))
        elif issubclass(kind, type):
            self.members.extend((each, each.__name__) for each in thing.__mro__ if self.is_own(module_of(each)))
            self.stack += [(kind, kind.__name__)] if kind is not type else []
        elif issubclass(kind, np.ndarray):
            if thing.dtype.hasobject:
                self.stack += [(each, title) for each in islice(thing.flat, MOST_OBJECTS)]
            elif thing.flags.writeable:
                self.arrays.append((thing, title))
        elif issubclass(kind, _CONTAINERS) and not is_numbagraph(kind):
            if not issubclass(kind, (tuple, frozenset)):
                self.held.append(Content(thing, title))
            parts = list(dict.values(thing) if issubclass(kind, dict) else thing)  # other threads may change it
            self.stack += [(each, title) for each in islice(parts, MOST_OBJECTS) if type(each) not in _ATOMS]
        else:
            self.visit_instance(thing, title)

    def visit_function(self, function: FunctionType) -> None:
        code, own = function.__code__, self.is_own(function.__globals__.get("__name__"))
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            held = Cell(cell, name)
            if own:
                self.held.append(held)
            if own or callable(held.old):
                self.stack.append((held.old, f"{name!r} of an enclosing function"))
        if not own:
            return
        self.codes[id(code)] = code
        facts, known = facts_of(code), function.__globals__
        self.names |= facts.names
        self.held.append(Namespace(function.__dict__, "attribute", f"{function.__name__}.{{}}"))
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        self.stack += [(each, "a default argument") for each in defaults]
        named = [(name, known[name]) for name in facts.names if name in known]
        self.stack += [(each, name) for name, each in named if type(each) not in _ATOMS and id(each) not in self.seen]
        if not _BY_TEXT.isdisjoint(facts.names):  # globals are then read and written by any name
            self.held.append(Namespace(known, "global", "the global {!r}"))
            self.stack += [(each, name) for name, each in list(known.items()) if type(each) is not ModuleType]
        elif stored := [name for kind, name in facts.stored if kind == "global"]:
            self.held.append(Namespace(known, "global", "the global {!r}", stored))

    def visit_instance(self, thing: Any, title: str) -> None:
        kind = type(thing)
        if is_numbagraph(kind):
            parts = entries_of(thing) or {}
            self.stack += [(each, title) for each in parts.values() if type(each) in _CALLED]
            return
        own = kind is SimpleNamespace or self.is_own(module_of(kind))
        title = title if 0 < len(title) < LONGEST_TITLE else kind.__name__
        space = entries_of(thing)
        if space is not None:
            self.held.append(Namespace(space, "attribute", f"{title}.{{}}"))
            self.stack += [
                (each, f"{title}.{name}") for name, each in list(space.items()) if own or name == "__wrapped__"
            ]
        if own:
            self.stack.append((kind, kind.__name__))
            names = [name for each in kind.__mro__ for name in slots_of(each)]
            if names:
                slots = Attributes(thing, names, f"{title}.{{}}")
                self.held.append(slots)
                self.stack += [(each, f"{title}.{name}") for name, each in slots.old.items()]

    def undo(self) -> list[tuple[Change, Tracer | None]]:
        """Restore variables that the functions have written, or that hold a traced array now. Other changes by
        libraries may stay: they are caches. Return the changes, each with the traced array that it left, first those
        that no call can make (`Origin.is_storable`)."""
        stored = self.stored()
        found: list[tuple[Change, Tracer | None]] = []
        storable: list[tuple[Change, Tracer | None]] = []
        for held in self.held:
            for change in list(held.changes()):
                tracer = tracer_in(change.new)
                written = self.changes_content if change.kind == "content" else (change.kind, change.name) in stored
                if written or tracer is not None:
                    origins = self.origins_of(held, change.name)
                    can_store = all(each is not None and each.is_storable() for each in origins)
                    (storable if can_store else found).append((change, tracer))
                    self.origins += origins
                    held.restore(change.name)
        return found + storable

    def origins_of(self, held: Held, name: str) -> list[Origin | None]:
        if not isinstance(held, (Namespace, Content)):
            return [None]
        if id(held.container if isinstance(held, Content) else held.space) in self.arguments:
            return [None]
        found: list[Origin | None] = [*held.origins(name)]
        return found or [None]

    def describe(self, change: Change, tracer: Tracer | None, name: str) -> str:
        locations = (each for code in self.codes.values() for each in locations_of(code, change.kind, change.name))
        lines = list(dict.fromkeys(map(str, islice(locations, 4))))
        if not lines and tracer is not None and isinstance(tracer.value, Node):
            lines = [str(tracer.value.source)]
        where = " or ".join(lines) or f"inside of {name}"
        return (
            f"{change.title} was changed while {name} was traced, and has been restored: a compiled function runs in "
            f"Python once, so later calls would not change it. Return the new value, and assign it outside"
            f"\n  at {where}"
        )


def containers_in(things: Iterable[Any]) -> Iterator[Any]:
    """The containers and objects among some trees, and the attributes of these objects."""
    for each in things:
        if optree.tree_is_leaf(each, none_is_leaf=True, namespace=NAMESPACE):
            continue
        yield from (each, entries_of(each))
        yield from containers_in(taken_apart(each, none_is_leaf=True)[0])


def slots_of(cls: type) -> tuple[str, ...]:
    """The attributes of a class's objects that have slots of their own."""
    names = cls.__dict__.get("__slots__", ())
    names = (names,) if isinstance(names, str) else tuple(names)
    return tuple(name for name in names if name not in ("__dict__", "__weakref__"))


def are_harmless(arguments: Iterable[Any]) -> bool:
    """Whether arguments are arrays, numbers, and plain containers of them, which cannot write by themselves."""
    for each in arguments:
        kind = type(each)
        if kind in (tuple, list, dict):
            if not are_harmless(each.values() if kind is dict else each):
                return False
        elif kind not in _ATOMS:
            return False
    return True


@contextmanager
def nothing_written(function: Callable[..., Any], arguments: Iterable[Any]) -> Iterator[None]:
    """Raise where ``function``, which is called inside, writes into state that outlives the call; restore it in any
    case."""
    outside = Outside(function, arguments)
    try:
        yield
    except BaseException:
        outside.undo()
        raise
    changes = outside.undo()
    if changes:
        name = getattr(function, "__name__", type(function).__name__)
        raise SideEffectError(outside.describe(*changes[0], name), outside.origins)
