"""Python's lists, dicts and sets in loops and branches on traced values, which change copies of them."""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable, Sequence
from typing import Any

from numbagraph.frontend.active import active, current_trace
from numbagraph.frontend.capture.appended import Appended, resolved
from numbagraph.frontend.capture.objects import is_object, with_attributes
from numbagraph.frontend.capture.source import CaptureError
from numbagraph.frontend.locating import OnlyTraced
from numbagraph.frontend.tracing import Tracer, user_source

State = Sequence[Any]
Function = Callable[..., Any]


def in_region() -> bool:
    """Whether what happens now does so in a loop or a branch of the program, rather than once."""
    return active.scope is not None and active.scope.journal is not None


class Containers:
    """The lists and dicts among variables: a branch or a body changes copies of them, and once it is known what these
    become, they are changed."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.same = [holds_others(each) or resolved(each) is not each for each in state]
        self.touched: set[int] = set()
        """The variables whose lists and dicts an earlier pass has changed."""

    def changed_by(self, function: Callable[[State], State], state: State) -> Callable[[], State]:
        """The function of copies of the variables."""
        return lambda: self.run(function, state)

    def run(self, function: Callable[[State], State], state: State) -> State:
        given = [copied(each) for each in state]
        for number, (old, new) in enumerate(zip(self.state, given, strict=True)):
            stand_in(old, new)
            if number in self.touched:
                hide_originals(new)
        before = [copied(each) for each in given]
        found = function(given)
        pairs_of_copies = zip(before, given, strict=True)
        self.touched |= {number for number, pair in enumerate(pairs_of_copies) if not is_unchanged(*pair)}
        pairs = zip(self.same, found[-len(given) :] if given else (), given, strict=True)
        self.same = [flag and one is other for flag, one, other in pairs]
        return found

    def after(self, variables: State) -> list[Any]:
        """The variables behind the loop or the branch, with the lists and dicts that they were before."""
        if has_shared(self.state, set()) and not all(map(is_unchanged, self.state, variables)):
            raise CaptureError(
                f"a list or a dict that two variables or places share changes in a loop or a branch on traced values: "
                f"use one of them there, or make a copy\n  at {user_source()}"
            )
        return [
            updated(old, new) if flag else new for flag, old, new in zip(self.same, self.state, variables, strict=True)
        ]


def has_shared(thing: Any, seen: set[int]) -> bool:
    """Whether one list or dict is found twice."""
    if not holds_others(thing):
        return False
    if type(thing) is not tuple:
        if id(thing) in seen:
            return True
        seen.add(id(thing))
    return any(has_shared(each, seen) for each in parts_of(thing))


SEQUENCES = (list, tuple, collections.deque)


def holds_others(thing: Any) -> bool:
    """Whether something is a list, a dict, a tuple, or an object with attributes. A list in a buffer is one thing."""
    return (type(thing) in (*SEQUENCES, dict) or is_object(thing)) and resolved(thing) is thing


def is_unchanged(old: Any, new: Any) -> bool:
    """Whether a variable that is or holds lists and dicts is what it was."""
    if not holds_others(old):
        return True
    if type(old) is not type(new) or len(parts_of(old)) != len(parts_of(new)):
        return False
    if type(old) in SEQUENCES:
        pairs = list(zip(old, new, strict=True))
    else:
        (first, second) = (each if type(each) is dict else vars(each) for each in (old, new))
        pairs = [(each, second.get(key, old)) for key, each in first.items()]
    return all(is_unchanged(*pair) if holds_others(pair[0]) else pair[0] is pair[1] for pair in pairs)


def updated(old: Any, new: Any) -> Any:
    """A container, changed into what another one holds."""
    kind = type(old)
    if resolved(old) is not old and resolved(old) is resolved(new):
        return old
    if kind is not type(new) or not holds_others(old):
        return new
    if kind is tuple:
        parts = tuple(map(updated, old, new))
        return old if all(map(operator.is_, parts, old)) else parts
    require_changeable(old)
    if kind in SEQUENCES:
        found = [updated(old[number], each) if number < len(old) else each for number, each in enumerate(new)]
        old.clear()
        old.extend(found)
        return old
    held, after = (old, new) if kind is dict else (vars(old), vars(new))
    kept = {key: updated(held[key], each) if key in held else each for key, each in after.items()}
    held.clear()
    held.update(kept)
    return old


def copied(thing: Any) -> Any:
    """A variable, with lists and dicts of its own."""
    kind = type(thing)
    if resolved(thing) is not thing:
        return thing
    if kind is dict:
        return made({key: copied(each) for key, each in thing.items()})
    if kind in SEQUENCES:
        parts = [copied(each) for each in thing]
        if kind is list:
            return made(parts)
        if kind is collections.deque:
            return made(collections.deque(parts, thing.maxlen))
        return thing if all(map(operator.is_, parts, thing)) else tuple(parts)
    if isinstance(thing, Appended):
        return made(Appended(thing.elements(), thing.to))
    if is_object(thing):
        return made(with_attributes(kind, {name: copied(each) for name, each in vars(thing).items()}))
    return made(set(thing)) if kind is set else thing


class Hidden(OnlyTraced):
    """In place of an element of a list or a dict, of which a loop or a branch changes a copy."""

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
    """Note of which lists and dicts a variable's own ones are copies."""
    scope, kind = active.scope, type(original)
    if scope is None or scope.journal is None or not holds_others(original) or not isinstance(copy, kind):
        return
    if kind is not tuple:
        scope.journal.originals[id(copy)] = original
    if kind is type(copy) and len(parts_of(original)) == len(parts_of(copy)):
        for pair in zip(parts_of(original), parts_of(copy), strict=True):
            stand_in(*pair)


def parts_of(container: Any) -> list[Any]:
    if type(container) in SEQUENCES:
        return list(container)
    return list((container if type(container) is dict else vars(container)).values())


def hide_originals(copy: Any) -> None:
    """From now on, until the end of the region where a copy was made, nobody reads what it is a copy of."""
    if holds_others(copy):
        for each in parts_of(copy):
            hide_originals(each)
    hide_original(copy)


def hide_original(copy: Any) -> None:
    scope = active.scope
    while scope is not None and scope.journal is not None:
        original = scope.journal.originals.get(id(copy))
        if original is not None:
            held = original if type(original) in (*SEQUENCES, dict) else vars(original)
            if id(held) not in scope.journal.hidden:
                scope.journal.hidden[id(held)] = (held, held.copy())
                keys = held if type(held) is dict else range(len(held))
                for key in list(keys):
                    held[key] = Hidden()
            copy = original
        scope = scope.parent


def require_own(holder: Any) -> None:
    """Raise for a list that was taken from another one at a traced place."""
    trace = current_trace()
    if trace is not None and id(holder) in trace.picked:
        raise CaptureError(
            f"a list changes that was taken from another one at a place that is traced: write a[k][i] = x, or use an "
            f"array\n  at {user_source()}"
        )
    if trace is not None and any(id(each) in trace.bound for each in originals_of(holder)):
        raise CaptureError(
            f"a {type(holder).__name__} changes that two variables may share, as a loop or a branch on traced values "
            f"has bound one of them: bind it to a copy ([*x])\n  at {user_source()}"
        )


def note_bound(holders: Sequence[Any]) -> None:
    """Note of lists and dicts that two variables may be one from now on: nobody knows which of them a change would
    reach."""
    trace = current_trace()
    if trace is not None:
        known = (list, dict, collections.deque)
        trace.bound.update({id(each): each for each in holders if type(each) in known or is_object(each)})


def originals_of(holder: Any) -> list[Any]:
    """A list or a dict, and those outside of which it is a copy."""
    found, scope = [holder], active.scope
    while scope is not None and scope.journal is not None:
        found.append(scope.journal.originals.get(id(found[-1]), found[-1]))
        scope = scope.parent
    return found


def require_changeable(holder: Any) -> None:
    require_own(holder)
    if in_region() and (type(holder) in (*SEQUENCES, dict) or is_object(holder)):
        hide_original(holder)
    if in_region() and not isinstance(holder, Tracer) and not is_made_here(holder):
        raise CaptureError(
            f"assignment to an element or an attribute of a {type(holder).__name__} in a loop or a branch on traced "
            f"values: Python would do it once, while the function is traced; change a copy, which is made there ([*x])"
            f"\n  at {user_source()}"
        )


_CHANGING = frozenset(
    "append extend insert pop popitem remove clear sort reverse update add discard setdefault "
    "appendleft popleft extendleft rotate difference_update intersection_update".split()
)


def refuse_once(name: str) -> None:
    """Refuse a call that changes something, in a loop or a branch."""
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
    if type(holder) in (*SEQUENCES, dict):
        hide_original(holder)
    if not is_made_here(holder):
        refuse_once(f"{method.__name__}() of a {type(holder).__name__}")


def made(container: Any) -> Any:
    """A list, dict or set that was made here, in this body or branch."""
    scope = active.scope
    if in_region() and scope is not None:
        scope.journal.made[id(container)] = container
    elif (trace := current_trace()) is not None:
        trace.made[id(container)] = container
    return container


def made_if_list(found: Any) -> Any:
    """What an operator or a function has given, which is a new list if it is one."""
    return made(found) if type(found) is list else found


def note_change(holder: Any) -> None:
    """Note that a loop or a branch makes a list longer or shorter, of which it may have a copy."""
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


def is_made_here(container: Any) -> bool:
    scope = active.scope
    return scope is None or scope.journal is None or id(container) in scope.journal.made
