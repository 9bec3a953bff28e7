"""Finds the library's implementations: by the function of NumPy's or SciPy's that is called, or by their role.

The library stands on traced arrays, and nothing below it imports it. `numbagraph.library.index` registers here, by
name, what traced arrays and converted code look up; a module is imported by its first use.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from numbagraph.ir.op import load
from numbagraph.ir.structs import Struct


class Finder(Struct):
    """A function of the library that may have a replacement for functions of one kind, and gives None for others."""

    is_for: Callable[[Any], bool]
    """Whether a function is of that kind; cheap, since it is called for every function that the traced code calls."""
    path: str

    def find(self, function: Any) -> Any:
        return load(self.path)(function) if self.is_for(function) else None


class Replacements:
    """The table of implementations, which `fill` has filled when numbagraph is imported."""

    def __init__(self) -> None:
        self._functions: dict[Any, str] = {}
        self._roles: dict[str, str] = {}
        self._before_ops: Sequence[Finder] = ()
        self._after_ops: Sequence[Finder] = ()

    def fill(
        self,
        functions: Mapping[Any, str],
        roles: Mapping[str, str],
        before_ops: Sequence[Finder],
        after_ops: Sequence[Finder],
    ) -> None:
        """Register implementations by their paths, ``module:name``.

        Parameters
        ----------
        functions
            Those of NumPy's functions that are written in other functions.
        roles
            Those that a method or an operator of a traced array needs, by what they are for.
        before_ops, after_ops
            What finds a replacement where there is no such function: before ops are looked up, and afterwards.
        """
        self._functions.update(functions)
        self._roles.update(roles)
        self._before_ops, self._after_ops = tuple(before_ops), tuple(after_ops)

    def __contains__(self, function: Any) -> bool:
        return isinstance(function, Hashable) and function in self._functions

    def __getitem__(self, function: Any) -> Callable[..., Any]:
        """The implementation of a function of NumPy's."""
        return load(self._functions[function])

    def for_role(self, role: str) -> Any:
        """The implementation that has a role."""
        return load(self._roles[role])

    def before_ops(self, function: Any) -> Any:
        """The replacement of a function for which no op is looked up; None if there is none."""
        return _first(self._before_ops, function)

    def after_ops(self, function: Any) -> Any:
        """The replacement of a function that has no op; None if there is none."""
        return _first(self._after_ops, function)


def _first(finders: Sequence[Finder], function: Any) -> Any:
    for each in finders:
        found = each.find(function)
        if found is not None:
            return found
    return None


replacements = Replacements()
