"""`dict`, `set`, `defaultdict` and `Counter` in converted code, and those of their methods that take traced keys."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

from numbagraph.capture.builtins.dict_of_lists import begun
from numbagraph.capture.builtins.elements import has_traced
from numbagraph.capture.builtins.hash_table import Table, require_table
from numbagraph.capture.builtins.sorted_lists import is_lazy, list_of
from numbagraph.capture.polyfills import hash_table
from numbagraph.capture.values.containers import in_region, refuse_change
from numbagraph.capture.values.iterables import require_known
from numbagraph.capture.values.traced_keys import KINDS, Defaulting

Function = Callable[..., Any]
CLASSES = (dict, set, collections.defaultdict, collections.Counter)
_KEYED = ("get", "setdefault", "pop", "add", "discard", "remove")


def dict_(*pairs: tuple[Any, Any]) -> Any:
    """``{key: value, ...}``."""
    traced = [each for each in pairs if has_traced(each[0])]
    found = begun({} if traced else dict(pairs))
    for key, value in pairs if traced else ():
        if isinstance(found, Table):
            found[key] = value
        else:
            require_table(found, key, value)
    return found


def set_(*elements: Any) -> Any:
    """``{element, ...}``."""
    traced = [each for each in elements if has_traced(each)]
    found = begun(set() if traced else set(elements))
    for each in elements if traced else ():
        if isinstance(found, Table):
            found.add(each)
        else:
            require_table(found, each)
    return found


def made_by(call: Callable[[Any], Any], kind: Any) -> Function:
    """Return the replacement of one of these classes in converted code."""
    if kind is collections.defaultdict:
        kind = Defaulting

    def of_lazy(fill: Function, container: Any, elements: Any) -> Any:
        found = begun(container)
        call(fill)(found, elements)
        return found

    def make(*args: Any, **named: Any) -> Any:
        if named or not args:
            return begun(kind(*args, **named))
        *first, last = args
        if isinstance(last, Table) and kind is dict:
            return last.copy_as("dict")
        if kind is Defaulting and len(args) == 1:
            return begun(kind(*args))
        if kind is set and isinstance(last, (list, tuple)) and any(map(has_traced, last)):
            return set_(*last)
        if is_lazy(last):
            fill = {set: hash_table.of_elements, collections.Counter: hash_table.counted}.get(kind, hash_table.of_pairs)
            return of_lazy(fill, kind(*first), last)
        return begun(kind(*args))

    return make


def set_of(call: Callable[[Any], Any], generator: Any) -> Any:
    """``{element for ...}``."""
    return made_by(call, set)(listed(generator))


def dict_of(call: Callable[[Any], Any], generator: Any) -> Any:
    """``{key: value for ...}``."""
    return made_by(call, dict)(listed(generator))


def listed(generator: Any) -> Any:
    """Return a generator whose elements are not traced, as a list."""
    return generator if is_lazy(generator.iterable) else list_of(generator)


def method_of(holder: Any, function: Any) -> Function | None:
    """Return the replacement of a method of a dict or a set of Python's that may take a traced key; None for others."""
    if type(holder) not in KINDS or (name := function.__name__) not in _KEYED:
        return None

    def ask(key: Any, *others: Any) -> Any:
        if has_traced(key) or (in_region() and type(holder) is set):
            require_table(holder, key, *(others[:1] if name == "setdefault" else ()))
        refuse_change(function)
        require_known(holder)
        return function(key, *others)

    return ask
