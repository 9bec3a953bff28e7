"""Lists and dicts that may alias each other, since loops and branches on traced values have bound variables to them, or
change copies of them: once one changes by one name, reads by another name are refused."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.append_log import Outgrown, resolved
from numbagraph.capture.values.objects import is_object
from numbagraph.tracing.errors import OnlyTraced
from numbagraph.tracing.trace import active, current_trace
from numbagraph.tracing.tracer import user_source
from numbagraph.tracing.variable_names import listed, names_of

State = Sequence[Any]

LISTS = (list, collections.deque)


def is_tuple(thing: Any) -> bool:
    """Whether something is a tuple, which may have names for its places."""
    return type(thing) is tuple or (isinstance(thing, tuple) and hasattr(thing, "_fields"))


def holds_others(thing: Any) -> bool:
    """Whether something is a list, a dict, a tuple, or an object with attributes. A list in a buffer is one thing."""
    return (type(thing) in (*LISTS, dict) or is_tuple(thing) or is_object(thing)) and resolved(thing) is thing


def contents(container: Any) -> dict[Any, Any]:
    """The elements of a container, by place."""
    if type(container) in LISTS or is_tuple(container):
        return dict(enumerate(container))
    return dict(container if type(container) is dict else vars(container))


def paired(one: Any, other: Any) -> list[tuple[Any, Any]]:
    """Pairs of the elements that two containers hold at the same places."""
    if type(one) is not type(other) or not holds_others(one):
        return []
    first, second = contents(one), contents(other)
    return [(each, second[key]) for key, each in first.items() if key in second]


def parts_of(container: Any) -> list[Any]:
    if type(container) in LISTS or is_tuple(container):
        return list(container)
    return list((container if type(container) is dict else vars(container)).values())


def originals_of(holder: Any) -> list[Any]:
    """A list or a dict, and the ones outside of which it is a copy."""
    found, scope = [holder], active.scope
    while scope is not None and scope.journal is not None:
        found.append(scope.journal.originals.get(id(found[-1]), found[-1]))
        scope = scope.parent
    return found


def copies_of(holder: Any) -> list[Any]:
    """The copies of a list or a dict in the regions that are traced."""
    scope, journals, found = active.scope, [], [holder]
    while scope is not None and scope.journal is not None:
        journals.append(scope.journal)
        scope = scope.parent
    for journal in reversed(journals):
        found += [
            journal.made[key]
            for key, original in journal.originals.items()
            if any(original is each for each in found) and key in journal.made
        ]
    return found[1:]


def is_made_here(container: Any) -> bool:
    scope = active.scope
    return scope is None or scope.journal is None or id(container) in scope.journal.made


class Hidden(OnlyTraced):
    """A placeholder for an element of a list or a dict that a loop or a branch changes a copy of."""

    __slots__ = ()

    def operand(self) -> Any:
        return self._refuse()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise CaptureError(
            f"a list or a dict is read by another name, or from within another object, in a loop or a branch on traced "
            f"values that changes it: use one name there\n  at {user_source()}"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __getitem__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __len__ = __iter__ = __float__ = __int__ = __neg__ = _refuse
    __format__ = __abs__ = __call__ = _refuse


def stand_in(original: Any, copy: Any) -> None:
    """Note the lists and dicts of which a variable's own ones are copies."""
    scope, kind = active.scope, type(original)
    if scope is None or scope.journal is None or not holds_others(original) or not isinstance(copy, kind):
        return
    if not is_tuple(original):
        scope.journal.originals[id(copy)] = original
    if kind is type(copy) and len(parts_of(original)) == len(parts_of(copy)):
        for pair in zip(parts_of(original), parts_of(copy), strict=True):
            stand_in(*pair)


def hide_originals(copy: Any) -> None:
    """Make the originals of a copy unreadable until the end of the region where the copy was made."""
    if holds_others(copy):
        for each in parts_of(copy):
            hide_originals(each)
    outdate_aliases(copy, and_copies=False)
    hide_original(copy)


def hide_original(copy: Any) -> None:
    scope = active.scope
    while scope is not None and scope.journal is not None:
        original = scope.journal.originals.get(id(copy))
        if original is not None:
            held = original if type(original) in (*LISTS, dict) else vars(original)
            if id(held) not in scope.journal.hidden:
                scope.journal.hidden[id(held)] = (held, held.copy())
                keys = held if type(held) is dict else range(len(held))
                for key in list(keys):
                    held[key] = Hidden()
            copy = original
        scope = scope.parent


def note_rebound(old: Any, new: Any, has_changed: bool) -> None:
    """Note that a loop or a branch has put another list or dict into the place of an old one, which it may still be."""
    if has_changed:
        outdate_aliases(old)
        outdate(old)
    elif holds_others(old):
        note_aliases(new, old)


def note_aliases(one: Any, other: Any) -> None:
    """Note that a list or a dict may be another one, which becomes unreadable once this one changes."""
    if one is other or type(one) is not type(other) or not holds_others(one):
        return
    trace = current_trace()
    if not is_tuple(one) and trace is not None:
        trace.may_alias.setdefault(id(one), (one, []))[1].append(other)
    for pair in paired(one, other):
        note_aliases(*pair)


class Ends:
    """The variables at the ends of the branches, or of the steps of a loop."""

    def __init__(self) -> None:
        self.found: list[tuple[State, dict[int, Any]]] = []

    def note(self, variables: State) -> State:
        """Note the variables at one of the ends, and the originals of the copies among them."""
        scope = active.scope
        if scope is not None and scope.journal is not None and any(map(holds_others, variables)):
            self.found.append((list(variables), dict(scope.journal.originals)))
        return variables

    def note_aliases(self, variables: State) -> None:
        """Note which lists and dicts after the branch or the loop may be one, or one from before."""
        for ends, originals in self.found:
            for end, group in alike(ends, variables):
                add_aliases([originals.get(id(end), end), *group])

    def note_carried(self, variables: State) -> None:
        """Note which lists and dicts may be one at the beginning of a step."""
        for ends, _ in self.found:
            for _, group in alike(ends, variables):
                add_aliases(group)


def alike(ends: State, variables: State) -> list[tuple[Any, list[Any]]]:
    """Lists and dicts at the ends, each with the values of variables in its places."""
    groups: dict[int, tuple[Any, list[Any]]] = {}
    pending = list(zip(ends, variables, strict=True))
    while pending:
        end, after = pending.pop()
        pending += paired(end, after)
        if type(end) is type(after) and holds_others(end) and not is_tuple(end):
            groups.setdefault(id(end), (end, []))[1].append(after)
    return list(groups.values())


def add_aliases(group: Sequence[Any]) -> None:
    """Note of several lists or dicts that they may be one."""
    trace = current_trace()
    for one, other in itertools.permutations(group, 2):
        if trace is not None and one is not other:
            trace.may_alias.setdefault(id(one), (one, []))[1].append(other)


def may_be_one(one: Any, other: Any) -> bool:
    """Whether two lists or dicts may be one."""
    trace = current_trace()
    pairs = itertools.permutations((*originals_of(one), *originals_of(other)), 2)
    return trace is not None and any(
        first is not second and any(each is second for each in trace.may_alias.get(id(first), (first, []))[1])
        for first, second in pairs
    )


def shared_names(holder: Any) -> str:
    """Name the variables that may share a list or a dict, for the end of an error, where more than one is known."""
    trace = current_trace()
    related = list(trace.may_alias.values()) if trace is not None else []
    found = originals_of(holder)
    seen = set(map(id, found))
    for one in found:  # it grows
        for each, others in related:
            group = [each, *others]
            if any(one is other for other in group):
                found += [other for other in group if id(other) not in seen]
                seen.update(map(id, group))
    names = names_of(found)
    return f" ({listed(names)})" if len(names) > 1 else ""


def outdate_aliases(holder: Any, *, and_copies: bool = True) -> None:
    """Make all lists and dicts unreadable that may be a list or a dict that changes. The contents of their copies
    before that are known in the region that changes them."""
    trace = current_trace()
    pending = originals_of(holder) if trace is not None and trace.may_alias else []
    seen = set(map(id, pending))
    while pending and trace is not None:
        each = pending.pop()
        for other in trace.may_alias.get(id(each), (each, []))[1]:
            if id(other) not in seen:
                seen.add(id(other))
                outdate(other, and_copies=and_copies)
                pending += originals_of(other)


def outdate(holder: Any, *, and_copies: bool = True) -> None:
    """Make a list or a dict, and its copies, unreadable, since its contents are not known; those in a tuple, too."""
    if is_tuple(holder):
        for each in filter(holds_others, holder):
            outdate(each, and_copies=and_copies)
        return
    for each in [holder, *(copies_of(holder) if and_copies else ())]:
        if not is_made_here(each):
            note_hidden(each)
        hide_original(each)
        blank(each)


def outgrow(holders: Iterable[Any]) -> None:
    """Make lists unreadable whose longer ones only their variables have, and lists that they may be."""
    for each in holders:
        outdate_aliases(each)
        blank(each)


def note_hidden(holder: Any) -> None:
    """Note the contents of a list or a dict that is unreadable until the end of the region."""
    scope, held = active.scope, vars(holder) if is_object(holder) else holder
    assert scope is not None
    scope.journal.hidden.setdefault(id(held), (held, held.copy()))
    scope.journal.outdated[id(holder)] = holder


def blank(holder: Any) -> None:
    """Replace the contents of a list or a dict by placeholders, so that a read raises."""
    if is_object(holder):
        for name in vars(holder):
            setattr(holder, name, Outgrown())
        return
    holder.clear()
    if type(holder) is dict:
        holder[Outgrown()] = Outgrown()
    else:
        holder.append(Outgrown())


def sharing(state: State) -> set[int]:
    """The variables that are or hold a list or a dict which is found twice among all of them."""
    owners: dict[int, list[int]] = {}
    for number, each in enumerate(state):
        pending = [each]
        while pending:
            thing = pending.pop()
            if holds_others(thing):
                if not is_tuple(thing):
                    owners.setdefault(id(thing), []).append(number)
                pending += parts_of(thing)
    return {number for numbers in owners.values() if len(numbers) > 1 for number in numbers}
