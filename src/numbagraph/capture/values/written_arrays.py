"""Arrays from outside that a region writes: their values before, and those that the region gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar
from weakref import ref

import numpy as np

from numbagraph.capture.syntax.source import CaptureError
from numbagraph.ir import shapes
from numbagraph.ir.graph import Guard
from numbagraph.ir.op import registry
from numbagraph.ir.values import Node, Value
from numbagraph.tracing.effect_tokens import without_order
from numbagraph.tracing.regions import guards_inside
from numbagraph.tracing.retrace import OrderMissing, PlacesWritten
from numbagraph.tracing.stale_arrays import OUTSIDE, Stale
from numbagraph.tracing.trace import Scope, active, current_trace, region
from numbagraph.tracing.tracer import Tracer, user_source

Result = TypeVar("Result")


class Saved(NamedTuple):
    """An array, or a view of one, as it was outside of a region."""

    array: Tracer
    value: Value
    scope: Scope | None
    views: list[Any]

    def restore(self) -> None:
        self.array.value, self.array._scope, self.array._views = self.value, self.scope, self.views


class Journal:
    """The arrays of a region's surroundings that it writes."""

    def __init__(self) -> None:
        self.saved: list[Saved] = []
        self.roots: dict[int, tuple[Tracer, Value]] = {}
        """The arrays that are no views, and their first values."""
        self.changed: dict[int, int] = {}
        """The number of guards when each array was changed first, in the order of `Traced.guards`."""
        self.holders: dict[int, tuple[Any, int]] = {}
        """The objects and containers that were changed, with the number of guards by then."""
        self.first_guard = len(shapes.current_collector().guards)
        self.made: dict[int, Any] = {}
        """The lists, dicts and sets that were made in the region."""
        self.originals: dict[int, Any] = {}
        """The originals outside of the lists and dicts that variables of the region hold as copies, by the copy's
        identity."""
        self.hidden: dict[int, tuple[Any, Any]] = {}
        """The originals that are unreadable as long as the region lasts, with their contents."""
        self.outdated: dict[int, Any] = {}
        """The originals that may have changed by another name, and stay unreadable after the region."""
        self.places: dict[Any, tuple[Any, Any]] = {}
        """The attributes and elements that were assigned to though they are no variables, with their first values."""
        self.variables: set[Any] = set()
        """The keys of attributes and elements that are variables."""
        self.read: dict[int, Tracer] = {}
        """The arrays from outside that were read, and are no views."""
        self.kept: dict[int, Tracer] = {}
        """The arrays that were put into lists, which hold copies of them."""
        self.assigns_to_elements = False
        """Whether arrays that are elements of lists are assigned to."""

    def note(self, root: Tracer) -> None:
        """Let an array and its views belong to the active region from now on, until `close`."""
        if id(root) in self.roots:
            return
        self._save(root)
        if isinstance(root.value, Node) and root.value.op.name == "set_slice":
            # what is assigned here is no part of what was assigned outside: that array is updated where it lies
            root.value = registry["alias"].bind(root.value, number=-1)
        self.roots[id(root)] = (root, root.value)

    def note_change(self, root: Tracer) -> None:
        self.changed.setdefault(id(root), self._guards())

    def note_holder(self, holder: Any) -> None:
        """Note that an object or a container changes, which may be one from outside."""
        if isinstance(holder, Tracer):
            return
        if id(holder) not in self.made or id(holder) in self.originals:
            self.holders.setdefault(id(holder), (holder, self._guards()))

    def _guards(self) -> int:
        return len(shapes.current_collector().guards) - self.first_guard

    def _save(self, array: Tracer) -> None:
        scope = active.scope
        assert scope is not None
        views = array._live_views()
        self.saved.append(Saved(array, array.value, array._scope, list(array._views)))
        if array._scope is not None and array._scope is not scope and isinstance(array.value, Value):
            scope.admits(array._scope, array.value)
        array._scope = scope
        for view in views:
            if view._scope is not scope:
                self._save(view)

    def close(self) -> list[tuple[Tracer, Value]]:
        """Restore all arrays to their values outside, and return those whose values have changed, with the new ones."""
        found = [(root, root.value) for root, old in self.roots.values() if root.value is not old]
        for each in reversed(self.saved):
            each.restore()
        for original, held in self.hidden.values():
            original.clear()
            original.update(held) if type(original) is dict else original.extend(held)
        self.hidden.clear()
        for place, old in self.places.values():
            place.set(old)
        return found


class Traced(NamedTuple):
    """The result of a function that was traced in a region, with the values that it uses, its guards and its writes."""

    result: Any
    used: frozenset[Value]
    guards: tuple[Guard, ...]
    written: list[tuple[Tracer, Value]]
    journal: Journal

    def also(self, function: Callable[[], Result]) -> tuple[Result, Traced]:
        """Return the result of a function of the region's values, and the region with the guards that arise from it."""
        guards: list[Guard] = []
        with guards_inside(guards):
            result = function()
        return result, self._replace(guards=(*self.guards, *guards))


@contextmanager
def without_effects(what: str) -> Iterator[None]:
    """Raise a `CaptureError` for an effect inside the block."""
    try:
        yield
    except OrderMissing as missing:
        raise CaptureError(
            f"a print in {what}, which has no place in the order of prints: write a loop\n  at {missing.source}"
        ) from None


def in_region(function: Callable[[Journal], Any], what: str) -> Traced:
    """Call a function, which returns no traced array, in a region that may write arrays from outside."""
    guards: list[Guard] = []
    trace = current_trace()
    assert trace is not None
    with guards_inside(guards), without_order(trace, len(trace.guards.guards)), region(what) as scope:
        scope.journal = journal = Journal()
        written: list[tuple[Tracer, Value]] = []
        try:
            result = function(journal)
        except Exception as error:
            raise_written(journal, error)
            raise
        finally:
            written = journal.close()
        raise_written(journal)
    return Traced(result, frozenset(scope.used), tuple(guards), written, journal)


def raise_written(journal: Journal, error: Exception | None = None) -> None:
    """Raise if the region has assigned to attributes or elements that are no variables of it; an error may have arisen
    from that, unless a function calls itself without end: each of its calls would be traced again."""
    if journal.places and not isinstance(error, RecursionError):
        place, _ = next(iter(journal.places.values()))
        text = (
            f"assignment to {place} in a loop or a branch on traced values: use a variable, and assign it afterwards"
            f"\n  at {user_source()}"
        )
        raise PlacesWritten([each for each, _ in journal.places.values()], text) from error


ELEMENT = "an array that is an element of a list"


def journals() -> Iterator[Journal]:
    """The journals of the regions around, innermost first."""
    scope = active.scope
    while scope is not None and scope.journal is not None:
        yield scope.journal
        scope = scope.parent


class Lent:
    """The arrays that were put into a list, and those that were read from it: it holds copies of them, and gives
    copies."""

    def __init__(self) -> None:
        self.given: list[ref[Tracer]] = []
        self.copies: list[ref[Tracer]] = []

    def keep(self, array: Tracer, leaf: Any) -> None:
        """Note that a copy of an array has been put into the list, whose elements lie in ``array``."""
        if not isinstance(leaf, Tracer) or not leaf._is_array:
            return
        root = root_of(leaf)
        share(array, leaf, foreign="")
        self.given = [*living(self.given), ref(root)]
        for each in journals():
            each.kept[id(root)] = root

    def lend(self, copy: Tracer) -> Tracer:
        copy._foreign = ELEMENT
        self.copies = [*living(self.copies), ref(copy)]
        return copy

    def take_back(self) -> None:
        """Make these arrays unreadable, since an element of the list is assigned to."""
        for each in journals():
            each.assigns_to_elements = True
        text = "it is an element of a list, of whose arrays one has been assigned to since: copy it before"
        for array in (found for each in self.given if (found := each()) is not None):
            if array._foreign:
                what = str(array._foreign).removesuffix(",")
                raise CaptureError(
                    f"an element of a list is assigned to, which is {what}: put a copy into the list (x.copy())"
                    f"\n  at {user_source()}"
                )
            forget(array, text)
        for copy in (found for each in self.copies if (found := each()) is not None):
            forget(copy, text)


def living(references: Iterable[ref[Tracer]]) -> list[ref[Tracer]]:
    return [each for each in references if each() is not None]


def assign(root: Tracer, value: Value) -> None:
    """Give an array the value that a loop or a branch has made of it."""
    if root._scope is not active.scope:
        root._enter_region()
    root._renew(value)
    if active.scope is not None and active.scope.journal is not None:
        active.scope.journal.note_change(root)


def root_of(array: Tracer) -> Tracer:
    while array._parent is not None:
        array = array._parent
    return array


def forget(array: Tracer, why: str) -> None:
    """Make an array unreadable whose elements are not known any more."""
    array._renew(Stale(array.value, why))


class Chosen(tuple["Tracer", ...]):
    """The arrays that the result of a branch may be."""

    join: Any
    """The branch, which chooses all its results together."""
    paths: tuple[Tracer | None, ...]
    """The array of each path, if the result of the path is one."""

    @classmethod
    def of(cls, result: Tracer, join: Any, sources: Iterable[Any]) -> Chosen:
        found = cls(result._origins)
        found.join = join
        found.paths = tuple(root_of(each) if isinstance(each, Tracer) and each._is_array else None for each in sources)
        return found


def is_outside(source: Any) -> bool:
    """Whether something is, or may be, an array of an enclosing scope."""
    if isinstance(source, np.ndarray):
        return source.ndim > 0
    if not isinstance(source, Tracer) or not source._is_array:
        return False
    root = root_of(source)
    return any(each is not None and each._foreign == OUTSIDE for each in (source, root, *root._origins))


def share(result: Tracer, source: Any, foreign: str = Stale.OWNED) -> None:
    """Note that an array may be the same as another one, or (``foreign=""``) is a copy where Python would share it: it
    becomes unreadable once the other one changes."""
    if result.ndim and is_outside(source):
        result._foreign = OUTSIDE
    if not result.ndim or not isinstance(source, Tracer) or not source._is_array:
        return
    root = root_of(source)
    for each in (root, *root._origins):
        if each._scope is not None and not each._scope.ended:
            each._share_with(result, foreign)
            result._origins = (*result._origins, each)
