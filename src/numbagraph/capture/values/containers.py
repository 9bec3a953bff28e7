"""Python's lists, dicts and sets in loops and branches on traced values, which change copies of them."""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.append_log import Appended, resolved
from numbagraph.capture.values.list_aliases import (
    LISTS,
    Ends,
    contents,
    hide_original,
    hide_originals,
    holds_others,
    is_made_here,
    is_tuple,
    note_rebound,
    originals_of,
    outdate,
    outdate_aliases,
    paired,
    parts_of,
    shared_names,
    sharing,
    stand_in,
)
from numbagraph.capture.values.objects import is_object, with_attributes
from numbagraph.capture.values.places import Place, write
from numbagraph.capture.values.traced_keys import with_place
from numbagraph.tracing.trace import active, current_trace
from numbagraph.tracing.tracer import Tracer, user_source

State = Sequence[Any]
Function = Callable[..., Any]
Path = tuple[Any, ...]
"""The keys that lead from a variable to a list or a dict within it."""


def in_region() -> bool:
    """Whether the code being traced is that of a loop or a branch of the program, rather than run once."""
    return active.scope is not None and active.scope.journal is not None


class Containers:
    """The lists and dicts among variables: a branch or a body changes copies of them, and the originals are changed
    once the results are known."""

    def __init__(self, state: State, carried: Ends | None = None) -> None:
        self.state = state
        self.carried = carried
        """The variables at the end of each step, with which the next one begins; None for branches."""
        self.same = [holds_others(each) or resolved(each) is not each for each in state]
        self.touched: set[int] = set()
        """The variables whose lists and dicts an earlier pass has changed."""
        self.changed: dict[int, set[Path]] = {}
        """The paths to the lists and dicts in these that have changed in place."""
        self.replaced: set[int] = set()
        """The lists and dicts within others that have been replaced by others, by identity."""
        self.written: set[int] = set()
        """The lists and dicts that have changed, by identity."""
        self.outdated: dict[int, Any] = {}
        """The lists and dicts from outside that may have changed by other names, by identity."""

    def changed_by(self, function: Callable[[State], State], state: State) -> Callable[[], State]:
        """Return a function without arguments that runs ``function`` on copies of the variables."""
        return lambda: self.run(function, state)

    def run(self, function: Callable[[State], State], state: State) -> State:
        given = [copied(each) for each in state]
        for number, (old, new) in enumerate(zip(self.state, given, strict=True)):
            stand_in(old, new)
            if number in self.touched:
                hide_originals(new)
        if self.carried is not None:
            self.carried.note_carried(given)
            for each in self.outdated.values():
                outdate(each, and_copies=False)
        before = [copied(each) for each in given]
        held = list(held_in(self.state, given))
        found = function(given)
        self.note_changes(held)
        if active.scope is not None and active.scope.journal is not None:
            self.outdated |= active.scope.journal.outdated
        pairs_of_copies = zip(before, given, strict=True)
        for number, pair in enumerate(pairs_of_copies):
            if not is_unchanged(*pair):
                self.touched.add(number)
                self.changed.setdefault(number, set()).update(changes(*pair))
        pairs = zip(self.same, found[-len(given) :] if given else (), given, strict=True)
        self.same = [flag and one is other for flag, one, other in pairs]
        if self.carried is not None:
            ends = found[-len(given) :] if given else ()
            self.touch_sources(given, ends)
            for number, paths in self.changed.items():
                for path in paths:
                    require_unshared(ends[number], path)
        return found

    def touch_sources(self, given: State, ends: State) -> None:
        """Mark the variables whose lists become, after a step of a loop, the lists of variables that a later step
        changes."""
        sources = {
            number: source
            for number, end in enumerate(ends)
            for source, each in enumerate(given)
            if end is each and holds_others(each) and number != source
        }
        for number in list(self.touched):
            source = sources.get(number)
            while source is not None and source not in self.touched:
                self.touched.add(source)
                self.changed[source] = self.changed.get(number, set())
                source = sources.get(source)

    def note_changes(self, held: Sequence[tuple[Any, Any, dict[Any, Any]]]) -> None:
        """Note the lists and dicts whose copies the function has changed, and those that are in other places now."""
        originals = {id(copy): old for old, copy, _ in held}
        for old, copy, before in held:
            now = contents(copy)
            if before.keys() != now.keys() or any(now[key] is not each for key, each in before.items()):
                self.written.add(id(old))
            for key, each in before.items():
                self.replaced |= {
                    id(originals[id(one)]) for one in left_out(each, now.get(key)) if id(one) in originals
                }

    def after(self, variables: State) -> list[Any]:
        """Return the variables behind the loop or the branch, with the lists and dicts that they were before, changed
        in place."""
        shared = sharing(self.state)
        triples = enumerate(zip(self.same, self.state, variables, strict=True))
        in_place = {number for number, (same, old, new) in triples if same and not is_unchanged(old, new)}
        if not shared.isdisjoint(in_place | self.touched):
            raise CaptureError(
                f"a list or a dict that two variables or places share changes in a loop or a branch on traced values: "
                f"use one of them there, or make a copy\n  at {user_source()}"
            )
        for each in self.outdated.values():
            outdate(each)
        return [
            self.updated(old, new) if flag else new
            for flag, old, new in zip(self.same, self.state, variables, strict=True)
        ]

    def updated(self, old: Any, new: Any) -> Any:
        """Change a container in place to hold the elements of another one, and return it."""
        kind = type(old)
        if id(old) in self.replaced:
            may_be_any = self.carried is not None and not self.written.isdisjoint(self.replaced)
            note_rebound(old, new, may_be_any or id(old) in self.written)
            return made_whole(new)
        if resolved(old) is not old and resolved(old) is resolved(new):
            return old
        if kind is not type(new) or not holds_others(old):
            return new
        if is_tuple(old):
            parts = list(map(self.updated, old, new))
            return old if all(map(operator.is_, parts, old)) else tuple_of(kind, parts)
        if in_region() and not is_made_here(old) and len(contents(old)) == len(contents(new)):
            return self.assigned(old, new)
        require_changeable(old)
        if kind in LISTS:
            found = [self.updated(old[number], each) if number < len(old) else each for number, each in enumerate(new)]
            old.clear()
            old.extend(found)
            return old
        held, after = (old, new) if kind is dict else (vars(old), vars(new))
        kept = {key: self.updated(held[key], each) if key in held else each for key, each in after.items()}
        held.clear()
        held.update(kept)
        return old

    def assigned(self, old: Any, new: Any) -> Any:
        """Assign the elements of another container to one from outside of the loop or branch around."""
        held = contents(old)
        for key, each in contents(new).items():
            value = self.updated(held[key], each) if key in held else each
            if key not in held or value is not held[key]:
                write(Place(old, key, is_attribute=is_object(old)), value)
        return old


def changes(old: Any, new: Any, path: Path = ()) -> Iterator[Path]:
    """The paths to the lists and dicts within a variable of which an element is another one."""
    before, after = contents(old), contents(new) if type(new) is type(old) else {}
    if before.keys() != after.keys():
        yield path
        return
    for key, each in before.items():
        if holds_others(each):
            yield from changes(each, after[key], (*path, key))
        elif each is not after[key]:
            yield path[:-1] if is_tuple(old) else path


def require_unshared(end: Any, path: Path) -> None:
    """Raise if a step of a loop puts a list or a dict that others may have where a step changes one in place."""
    for key in path:
        end = contents(end).get(key) if holds_others(end) else None
    trace = current_trace()
    if trace is not None and holds_others(end) and not is_tuple(end):
        if is_made_here(end) and id(end) not in trace.bound:
            return
        raise CaptureError(
            f"a loop on traced values binds a variable to a {type(end).__name__} that another variable may have, too, "
            f"and then changes it in place: bind it to a copy (copy.deepcopy(x))\n  at {user_source()}"
        )


def held_in(state: Sequence[Any], given: Sequence[Any]) -> Iterator[tuple[Any, Any, dict[Any, Any]]]:
    """The lists and dicts in variables, with the copies that a region is given of them, and the contents of these."""
    for old, copy in zip(state, given, strict=True):
        if holds_others(old) and type(old) is type(copy):
            if not is_tuple(old):
                yield old, copy, contents(copy)
            pairs = paired(old, copy)
            yield from held_in([one for one, _ in pairs], [other for _, other in pairs])


def left_out(before: Any, now: Any) -> Iterator[Any]:
    """The lists and dicts at a place, or in a tuple there, of which none is there now."""
    if is_tuple(before):
        others = now if type(now) is type(before) and len(now) == len(before) else [None] * len(before)
        for pair in zip(before, others, strict=True):
            yield from left_out(*pair)
    elif before is not now and holds_others(before):
        yield before


def is_unchanged(old: Any, new: Any) -> bool:
    """Whether a variable that is or holds lists and dicts is unchanged."""
    if not holds_others(old):
        return True
    if type(old) is not type(new) or len(parts_of(old)) != len(parts_of(new)):
        return False
    if type(old) in LISTS or is_tuple(old):
        pairs = list(zip(old, new, strict=True))
    else:
        (first, second) = (each if type(each) is dict else vars(each) for each in (old, new))
        pairs = [(each, second.get(key, old)) for key, each in first.items()]
    return all(is_unchanged(*pair) if holds_others(pair[0]) else pair[0] is pair[1] for pair in pairs)


def tuple_of(kind: Any, parts: list[Any]) -> Any:
    return tuple(parts) if kind is tuple else kind._make(parts)


def copied(thing: Any) -> Any:
    """Return a variable with copies of the lists and dicts in it."""
    kind = type(thing)
    if resolved(thing) is not thing:
        return thing
    if kind is dict:
        return made(with_place(thing, {key: copied(each) for key, each in thing.items()}))
    if kind in LISTS or is_tuple(thing):
        parts = [copied(each) for each in thing]
        if kind is list:
            return made(with_place(thing, parts))
        if kind is collections.deque:
            return made(collections.deque(parts, thing.maxlen))
        return thing if all(map(operator.is_, parts, thing)) else tuple_of(kind, parts)
    if isinstance(thing, Appended):
        return made(Appended(thing.elements(), thing.to))
    if is_object(thing):
        return made(with_attributes(kind, {name: copied(each) for name, each in vars(thing).items()}))
    return made(with_place(thing, set(thing))) if kind is set else thing


def require_own(holder: Any) -> None:
    """Note that a list, a dict or an object changes. Raise for one that was taken from another one at a traced
    place."""
    if in_region() and active.scope is not None:
        active.scope.journal.note_holder(holder)
    trace = current_trace()
    if trace is not None and id(holder) in trace.picked:
        raise CaptureError(
            f"a list changes that was taken from another one at a place that is traced: write a[k][i] = x, or use an "
            f"array\n  at {user_source()}"
        )
    if trace is not None and any(id(each) in trace.bound for each in originals_of(holder)):
        raise CaptureError(
            f"cannot change a {type(holder).__name__} that two variables may share{shared_names(holder)}: a loop or a "
            f"branch on traced values has bound one of them. Copy it first: y = [*x]\n  at {user_source()}"
        )
    outdate_aliases(holder)


def note_bound(holders: Sequence[Any]) -> None:
    """Note lists and dicts that two variables may share from now on: it is not known which of them a change would
    reach."""
    trace = current_trace()
    if trace is not None:
        known = (list, dict, set, collections.deque)
        trace.bound.update({id(each): each for each in holders if type(each) in known or is_object(each)})


def require_changeable(holder: Any) -> None:
    require_own(holder)
    if in_region() and (type(holder) in (*LISTS, dict) or is_object(holder)):
        hide_original(holder)
    if in_region() and not isinstance(holder, Tracer) and not is_made_here(holder):
        raise CaptureError(
            f"cannot assign to an element or an attribute of this {type(holder).__name__} in a loop or a branch on "
            f"traced values: Python would do it once, while the function is traced. Change a copy that is made there: "
            f"y = [*x]\n  at {user_source()}"
        )


_CHANGING = frozenset(
    "append extend insert pop popitem remove clear sort reverse update add discard setdefault "
    "appendleft popleft extendleft rotate difference_update intersection_update "
    "__delitem__ __iadd__ __imul__ __ior__ __iand__ __isub__ __ixor__".split()
)


def refuse_once(name: str) -> None:
    """Raise for a call that changes something, in a loop or a branch: Python would make it once, during tracing."""
    raise CaptureError(
        f"{name} in a loop or a branch on traced values: Python would do it once, while the function is traced"
        f"\n  at {user_source()}"
    )


def refuse_change(method: Any) -> None:
    holder = getattr(method, "__self__", None)
    if not isinstance(holder, (list, dict, set, collections.deque)) or method.__name__ not in _CHANGING:
        return
    require_own(holder)
    if not in_region():
        return
    note_change(holder)
    if type(holder) in (*LISTS, dict):
        hide_original(holder)
    if not is_made_here(holder):
        refuse_once(f"{method.__name__}() of a {type(holder).__name__}")


def made(container: Any) -> Any:
    """Note that a list, dict or set was made here, in this body or branch, and return it."""
    scope = active.scope
    if in_region() and scope is not None:
        scope.journal.made[id(container)] = container
    elif (trace := current_trace()) is not None:
        trace.made[id(container)] = container
    return container


def made_whole(container: Any) -> Any:
    """Note that a container, with all lists and dicts in it, was made here, and return it."""
    if holds_others(container):
        made(container)
        for each in parts_of(container):
            made_whole(each)
    return container


def made_if_list(found: Any) -> Any:
    """Return the result of an operator or a function; note that it was made here if it is a list, which is a new
    one."""
    return made(found) if type(found) is list else found


def note_change(holder: Any) -> None:
    """Note that a loop or a branch makes a list, or its copy of one, longer or shorter."""
    trace, holder = current_trace(), originals_of(holder)[-1]
    if trace is not None and type(holder) in (list, collections.deque):
        trace.changed[id(holder)] = holder


def is_own(container: Any) -> bool:
    """Whether a list was made here, and not in a loop or a branch around."""
    trace = current_trace()
    if in_region():
        scope = active.scope
        assert scope is not None
        return is_made_here(container) and id(container) not in scope.journal.originals
    return trace is not None and trace.made.get(id(container)) is container
