"""Versions for lengths that do not fit the usual one: a call is tried again, or a function traced again.

Computed lengths that a statement requires to be equal are one in the usual version, where they follow from lengths of
arguments that are equal in the call for which it is traced: so loop nests fuse, and exist once. A call in which these
differ has a version of its own, for any lengths.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from numbagraph.ir.abi import Leaf
from numbagraph.ir.shapes import ShapeError
from numbagraph.jit.shared_variables import layout_of
from numbagraph.runtime.garbage_collection import collector_at_rest
from numbagraph.runtime.specialise import compiler
from numbagraph.tracing.errors import ListFull
from numbagraph.tracing.static_lengths import Known, integers_of, lengths_of

if TYPE_CHECKING:
    from numbagraph.jit.binding import Arguments
    from numbagraph.jit.conversion import Conversion
    from numbagraph.jit.version import Traced


MORE_ROOM, MOST_ROOM = 16, 16**6
"""The factor by which lists get more room where they have too little, and the greatest room that they get."""

UNEQUAL = "unequal"
"""A mark in the key of a version for calls whose lengths differ where the usual version takes them to be equal."""


class Retried:
    """The part of a compiled function that calls a version which the dispatcher has not found."""

    backend: str
    convert: Conversion
    _traced: dict[Any, dict[Any, Traced]]
    _shared: dict[Any, Any]
    _alone: set[Hashable]
    """The lengths and integers that have versions made for them alone, since others do not fit."""
    _lock: Any
    _find: Any
    _call_version: Any
    _specialise: Any
    _traced_anew: Any
    _forget: Any
    _reach: Any

    def _call_slowly(self, arguments: Arguments) -> Any:
        """Handle a call with a new dispatch key, with arguments that must be converted first, or with an error."""
        if self._alone and known_of(arguments) in self._alone:
            return self._call_with_numbers(arguments)
        traced, leaves = self._find(arguments)
        try:
            return self._call_version(arguments, traced, leaves)
        except ListFull:
            if traced.outputs.has_effects or self.convert.room >= MOST_ROOM:
                raise
            self.convert.room *= MORE_ROOM
            self._forget(arguments.key)
            return self._call_slowly(arguments)
        except ShapeError as error:
            if traced.outputs.has_effects:
                raise
            if traced.may_skip_statements:
                try:
                    return self._call_version(arguments, self._apart(arguments, traced), leaves)
                except ShapeError:
                    pass
            return self._call_with_numbers_after(error, arguments)
        except compiler.LengthNotKnown as error:  # of an array on one of the paths, of which numbers say which is taken
            return self._call_with_numbers_after(error, arguments)

    def _apart(self, arguments: Arguments, traced: Traced) -> Traced:
        """Return the version that compares lengths where a statement is reached that requires them to be equal."""
        with self._lock, collector_at_rest:
            if traced.apart is not None:
                return traced.apart
            made = self._traced_anew(arguments, arguments.described()[0], apart=True)
            found: Traced = made.found
            found.watched = arguments.watched
            self._specialise(found, arguments, made.reach)
            if made.is_valid:
                traced.apart = found
            return found

    def _call_with_numbers_after(self, error: Exception, arguments: Arguments) -> Any:
        """Retry a call with known lengths and integers after ``error``; raise ``error`` if that fails too, or if the
        function is not converted."""
        if not self.convert.needed:
            raise error
        try:
            return self._call_with_numbers(arguments)
        except Exception:  # noqa: BLE001  the first one speaks of the function as it is
            raise error from None

    def _call_with_numbers(self, arguments: Arguments) -> Any:
        """Call a version for these lengths and integers of Python's, which may decide the paths that are taken. If it
        fits, later calls with them begin with it."""
        known = known_of(arguments)
        arguments.know(Known.NUMBERS)
        traced, leaves = self._find(arguments)
        result = self._call_version(arguments, traced, leaves)
        self._alone.add(known)
        return result

    def _versions_for(self, arguments: Arguments, layouts: tuple[Leaf, ...]) -> tuple[Traced | None, Traced | None]:
        """The versions for some layouts: one that may take lengths to be equal, and one that does not."""
        shared = map(layout_of, self._shared.get(arguments.key, ()))
        group, key = self._traced.get(arguments.key, {}), (self._reach(arguments), *layouts, *shared)
        return group.get(key), group.get((*key, UNEQUAL))

    def _add(self, arguments: Arguments, layouts: tuple[Leaf, ...], leaves: list[Any]) -> Traced:
        """Add a version that was traced while the state that the function reads did not change; otherwise make one for
        this call alone."""
        is_general = self._versions_for(arguments, layouts)[0] is not None
        lengths = None if is_general or self.backend != "numba" else lengths_of(leaves)
        try:
            made = self._traced_anew(arguments, layouts, lengths=lengths)
        except (ShapeError, IndexError) as error:
            try:  # lengths that a statement requires, which may not be reached, may contradict others
                made = self._traced_anew(arguments, layouts, apart=True)
            except Exception:  # noqa: BLE001  the first one speaks of the function as it is
                raise error from None
        traced: Traced = made.found
        traced.is_kept, traced.watched = made.is_valid, arguments.watched
        self._specialise(traced, arguments, made.reach)
        group = self._traced.setdefault(arguments.key, {}) if traced.is_kept else {}
        self._shared[arguments.key], shared = traced.shared.after(self._shared.get(arguments.key, ()))
        return group.setdefault((made.reach, *layouts, *shared, *([UNEQUAL] if is_general else [])), traced)


def known_of(arguments: Arguments) -> Hashable:
    return lengths_of(arguments.leaves), integers_of(arguments.leaves)
