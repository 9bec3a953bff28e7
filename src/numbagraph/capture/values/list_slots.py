"""Variables that steps or branches bind to other lists (``prev = cur``), of any length: each has an array with room of
its own, into which the list that it is bound to at the end of a step is copied. No other variable may have that list
then."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from numbagraph.blockwise.promotion import weak_constant
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.append_log import Appended, Outgrown, resolved
from numbagraph.capture.values.containers import in_region, is_own, made, made_whole, note_bound
from numbagraph.capture.values.list_aliases import (
    Ends,
    holds_others,
    is_made_here,
    is_tuple,
    note_rebound,
    originals_of,
    parts_of,
)
from numbagraph.capture.values.list_buffer import Buffered, Elements, Named
from numbagraph.capture.values.optional import UNDEFINED, placeholder
from numbagraph.capture.values.stacked_list import Stacked
from numbagraph.ir.op import registry
from numbagraph.ir.values import ArrayType, Value
from numbagraph.tracing.retrace import ReboundListChanges
from numbagraph.tracing.tracer import Tracer, user_source

State = Sequence[Any]


def _changing(name: str) -> Callable[..., Any]:
    """Return a method that changes a list, after a check that the list is read by no other name."""

    def change(self: Slot, *args: Any, **named: Any) -> Any:
        self.require_own()
        return getattr(Buffered, name)(self, *args, **named)

    change.__name__ = name
    return change


class Slot(Buffered):
    """The list that a variable is bound to. Other names of the variable's first list would not see a change, so the
    slot is only read, unless that list is unreadable as long as the slot exists."""

    is_own = False
    is_stale = False
    """Whether the variable may have been bound to another list since, which lies in the same arrays."""
    _end: Tracer

    @property
    def end(self) -> Any:  # type: ignore[override]
        if self.is_stale:
            raise CaptureError(
                "this list may be out of date: a loop or a branch on traced values may have bound the variable that "
                f"shares it to another one. Copy it first: y = x[:]\n  at {user_source()}"
            )
        return self._end

    @end.setter
    def end(self, value: Any) -> None:
        self._end = value

    def shares(self, other: Any) -> bool:
        """Whether two slots lie in the same arrays."""
        return isinstance(other, Slot) and other._end is self._end

    def renewed(self) -> Slot:
        """Return a slot on the same arrays for the changes of a loop or a branch, and make this one unreadable."""
        found = Slot.__new__(Slot)
        vars(found).update(vars(self))
        self.is_stale = True
        return found

    originals: Sequence[Any] = ()
    """The list that the variable was bound to at first, and the ones outside of which that is a copy."""

    def bound_in(self, state: State) -> set[int]:
        """The numbers of the variables that have the first list."""
        return {number for number, each in enumerate(state) if any(resolved(each) is one for one in self.originals)}

    def require_own(self) -> None:
        if self.is_own:
            return
        raise ReboundListChanges(
            self,
            f"cannot change this list: a loop or a branch on traced values binds its variable to other lists. Change "
            f"a copy (x[:]), or assign to the elements of an array that is long enough\n  at {user_source()}",
        )

    append, insert, pop, popleft = map(_changing, ("append", "insert", "pop", "popleft"))
    clear, reverse, arrange = map(_changing, ("clear", "reverse", "arrange"))
    __setitem__, __delitem__ = map(_changing, ("__setitem__", "__delitem__"))

    def become(self, contents: Contents) -> None:
        """Replace the elements by others."""
        contents.admit(self)
        self.require_room(registry["less_equal"](contents.length, self.room))
        for store, column in zip(self.stores if contents.columns else (), contents.columns, strict=True):
            store[: Tracer(contents.length)] = column
        self.first[...] = 0
        self.end[...] = Tracer(contents.length)


class Contents(NamedTuple):
    """The elements of a list as they are now."""

    length: Value
    columns: list[Any]
    """An array for each part of the elements; none where there are no elements."""
    examples: list[Any]
    """One element of each of the types that occur."""

    @classmethod
    def of(cls, held: Any) -> Contents:
        if isinstance(held, Buffered):
            columns = [] if held.spec is None else held.columns()
            return cls(held.count(), columns, [] if held.spec is None else [held.example()])
        if isinstance(held, Stacked):
            array = held.array
            kind = ArrayType(array.dtype, array.value.shape[1:], weak=held.kept.are_pythons)
            return cls(held.count(), [array.copy()], [Tracer(placeholder(kind))])
        buffered = Buffered(held, Elements(), None, Named.of(held))
        columns = buffered.columns() if held else []
        return cls(weak_constant(len(held)), columns, list(held))

    def admit(self, slot: Slot) -> None:
        """Raise where a slot cannot hold such elements: the function is traced again, with a slot for both types."""
        for each in self.examples:
            slot.parts_of(each)
        if any(slot.known.shapes):
            raise CaptureError(
                f"a list of arrays to which a step of a loop binds a variable: keep them in an array\n"
                f"  at {user_source()}"
            )


def is_list(thing: Any) -> bool:
    """Whether something is a list of which a slot can hold the elements."""
    held = resolved(thing)
    if type(held) is list:
        return not any(type(each) is Outgrown or isinstance(each, (list, dict)) for each in held)
    return (
        isinstance(held, Stacked) and held.depth == 1 and (not isinstance(held, Buffered) or held.named.name == "list")
    )


class Rebound:
    """The variables that a loop or a branch binds to other lists than before, by their numbers."""

    def __init__(self, *, may_begin: bool = False) -> None:
        self.numbers: set[int] = set()
        """The numbers of the variables that were found to be bound to other lists."""
        self.may_begin = may_begin
        """Whether these may be undefined before, since both paths bind them."""
        self.slots: dict[int, Slot] = {}
        """The slots of variables that were undefined before."""
        self.changed: set[int] = set()
        """The numbers of the variables that some path binds to another object."""
        self.ends = Ends()
        self.shared: dict[int, Any] = {}
        """The objects made elsewhere that other variables are bound to, and share, by the variables' numbers."""

    def noted(self, variables: list[Any], before: State, touched: Collection[int]) -> list[Any]:
        """Return the variables after the loop or the branch. Note those that may be one with others, and their former
        values, which they may still be: these cannot change under another name, nor be read under one once they may
        have changed."""
        for number, each in self.shared.items():
            note_bound(originals_of(each))
            note_bound([variables[number]])
        note_bound([before[number] for number in self.changed])
        for number in self.changed:
            if type(variables[number]) is set:
                note_bound([variables[number]])
            if number not in self.shared:
                made(made_whole(variables[number]))
            note_rebound(before[number], variables[number], number in touched)
        self.ends.note_aliases(variables)
        return variables


def renewed(state: State) -> list[Any]:
    """Return the variables of a loop or a branch with renewed slots, and make the old slots unreadable."""
    return [each.renewed() if isinstance(each, Slot) else each for each in state]


def with_slots(run: Callable[[State], State], rebound: Rebound) -> Callable[[State], State]:
    """Return ``run``, a step or a branch, as a function that copies the lists of variables that begin in slots into
    these. Note other variables that it binds to other lists in ``rebound``."""

    def function(given: State) -> State:
        for each in given:
            if isinstance(each, Slot):  # what has been traced before is another path, or another pass
                each.is_stale = False
        found = list(run(given))
        first = len(found) - len(given)
        for number, one in enumerate(given):
            if isinstance(one, Slot) and one.shares(found[first + number]):
                one.is_stale = False
                found[first + number] = one
        ends = found[first:]
        rebound.ends.note(ends)
        moved, slots = {}, dict(enumerate(given)) | rebound.slots
        for number, (one, other) in enumerate(zip(given, ends, strict=True)):
            if one is other or isinstance(one, Appended) or isinstance(other, Appended):
                continue
            if not isinstance(one, Slot) and resolved(other) is other:
                rebound.changed.add(number)
                if not is_made_here(other) and not is_tuple(other):
                    rebound.shared[number] = other
            if not is_list(other) or resolved(other) is one:
                continue
            if isinstance(slots[number], Slot):
                moved[number] = other
            elif is_list(one) or (one is UNDEFINED and rebound.may_begin):
                rebound.numbers.add(number)
        for held in moved.values():
            if times_held(resolved(held), ends) > 1 or not (isinstance(held, Slot) or is_made_here(held)):
                raise CaptureError(
                    f"a variable is bound to a list that may be another one's, too, in a loop or a branch on traced "
                    f"values: bind it to a copy (x[:])\n  at {user_source()}"
                )
        contents = {number: Contents.of(resolved(held)) for number, held in moved.items()}
        for number, each in contents.items():
            slots[number].become(each)
            found[first + number] = slots[number]
        return found

    return function


def times_held(held: Any, variables: State) -> int:
    """The number of times that a list is found in variables."""
    count, pending, seen = 0, list(variables), set()
    while pending:
        each = resolved(pending.pop())
        if each is held or (isinstance(held, Slot) and held.shares(each)):
            count += 1
        elif holds_others(each) and id(each) not in seen:
            seen.add(id(each))
            pending += parts_of(each)
    return count


def slot_of(held: Any, known: Elements, steps: Value | None) -> Slot:
    """A slot with the elements of a list."""
    contents = Contents.of([] if held is UNDEFINED else resolved(held))
    for each in contents.examples:
        known.admit(each)
    found = Slot((), known, steps, Named("list", None))
    found.originals = [] if held is UNDEFINED else list(map(resolved, originals_of(held)))
    found.become(contents)
    return found


def can_be_hidden(held: Any) -> bool:
    """Whether the list of a variable can be made unreadable by its other names."""
    return held is UNDEFINED or (type(held) is list and is_made_here(held))


def freed(slot: Slot, held: Any) -> Any:
    """Return the list to which a variable is bound in the end, which may change if its first list has no other name."""
    held = resolved(held)
    if held is UNDEFINED:
        return made(slot.as_list())
    if in_region():
        return slot
    if type(held) is list and is_own(held):
        held[:] = [Outgrown()]
    elif type(held) is Stacked:
        held.kept.is_outgrown = True
    else:
        return slot
    return made(slot.as_list())
