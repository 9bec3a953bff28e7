"""Variables that steps or branches bind to other lists (``prev = cur``), of any length: each has an array with room of
its own, into which the list is copied that it is bound to at the end of a step. Nobody else may have that list then."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from numbagraph.blockwise.promotion import as_value, weak_constant
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
from numbagraph.capture.values.stacked_list import ListNeeded, Stacked
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.values import ArrayType, Value
from numbagraph.tracing.tracer import Tracer, user_source

State = Sequence[Any]


class Fixed(ListNeeded):
    """What a variable is bound to in a loop or a branch changes, which may bind it to another list."""

    def __init__(self, slot: Slot, text: str) -> None:
        super().__init__(text)
        self.slot = slot


def _changing(name: str) -> Callable[..., Any]:
    """A method that changes a list, of one that nobody reads by another name."""

    def change(self: Slot, *args: Any, **named: Any) -> Any:
        self.require_own()
        return getattr(Buffered, name)(self, *args, **named)

    change.__name__ = name
    return change


class Slot(Buffered):
    """What a variable is bound to. Whoever has the list that it was at first sees no change, so it is only read, unless
    nobody may read that one as long as there is the slot."""

    is_own = False
    is_stale = False
    """Whether the variable may be bound to another list since, which lies in the same arrays."""
    _end: Tracer

    @property
    def end(self) -> Any:  # type: ignore[override]
        if self.is_stale:
            raise CaptureError(
                "a list is read by another name than that of a variable which a loop or a branch on traced values may "
                f"have bound to another list since: bind that name to a copy (x[:])\n  at {user_source()}"
            )
        return self._end

    @end.setter
    def end(self, value: Any) -> None:
        self._end = value

    def shares(self, other: Any) -> bool:
        """Whether two lie in the same arrays."""
        return isinstance(other, Slot) and other._end is self._end

    def renewed(self) -> Slot:
        """The same for what a loop or a branch does to the variable; nobody reads this one from now on."""
        found = Slot.__new__(Slot)
        vars(found).update(vars(self))
        self.is_stale = True
        return found

    originals: Sequence[Any] = ()
    """The list that the variable was bound to at first, and those outside of which it is a copy."""

    def bound_in(self, state: State) -> set[int]:
        """Which variables have that list."""
        return {number for number, each in enumerate(state) if any(resolved(each) is one for one in self.originals)}

    def require_own(self) -> None:
        if self.is_own:
            return
        raise Fixed(
            self,
            f"a list changes that a variable holds which a loop or a branch on traced values binds to other lists: "
            f"change a copy (x[:]), or assign to the elements of an array that is long enough\n  at {user_source()}",
        )

    append, insert, pop, popleft = map(_changing, ("append", "insert", "pop", "popleft"))
    clear, reverse, arrange = map(_changing, ("clear", "reverse", "arrange"))
    __setitem__, __delitem__ = map(_changing, ("__setitem__", "__delitem__"))

    def become(self, contents: Contents) -> None:
        """Hold other elements."""
        contents.admit(self)
        self.require_room(registry["less_equal"](contents.length, self.room))
        for store, column in zip(self.stores if contents.columns else (), contents.columns, strict=True):
            store[: Tracer(contents.length)] = column
        self.first[...] = 0
        self.end[...] = Tracer(contents.length)


class Varying(Slot):
    """A vector whose length changes from step to step, of which each step is given a copy."""

    def vector(self) -> Tracer:
        found: Tracer = self.columns()[0]
        found._foreign = "an array whose length changes in a loop, of which the step has a copy,"
        return found


def with_vectors(state: State) -> list[Any]:
    """The variables as a step is given them."""
    return [each.vector() if isinstance(each, Varying) else each for each in state]


class Contents(NamedTuple):
    """The elements of a list as they are now."""

    length: Value
    columns: list[Any]
    """An array for each part of the elements; none where there are no elements."""
    examples: list[Any]
    """Elements of each of the types that there are."""

    @classmethod
    def of(cls, held: Any) -> Contents:
        if is_vector(held):
            held = held if isinstance(held, Tracer) else Tracer(as_value(held))
            length = shapes.as_value(held.value.shape[0])
            return cls(length, [held.copy()], [Tracer(placeholder(ArrayType(held.dtype, ())))])
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
        """Raise where a slot cannot hold such elements, so that it is made once more, for both."""
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
        """Those that were found to be."""
        self.may_begin = may_begin
        """Whether these may be bound to nothing before, as both paths bind them."""
        self.slots: dict[int, Slot] = {}
        """Of those that were bound to nothing before."""
        self.changed: set[int] = set()
        """Those that some path binds to anything else."""
        self.ends = Ends()
        self.shared: dict[int, Any] = {}
        """What others are bound to that has been made elsewhere, so that another variable may be the same."""

    def noted(self, variables: list[Any], before: State, touched: Collection[int]) -> list[Any]:
        """The variables after the loop or the branch. Those that may be one with others are noted, and what they were
        before, which they may still be: it cannot change under another name, nor be read under one once it may have
        changed."""
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
    """The variables of a loop or a branch: what else holds their lists is not read any more."""
    return [each.renewed() if isinstance(each, Slot) else each for each in state]


def with_slots(run: Callable[[State], State], rebound: Rebound) -> Callable[[State], State]:
    """What a step or a branch makes of its variables, with those in slots that begin in one. Variables that are bound
    to other lists and are in none are noted in `rebound`."""

    def function(given: State) -> State:
        for each in given:
            if isinstance(each, Slot):  # what has been traced before is another path, or another pass
                each.is_stale = False
        found = list(run(with_vectors(given)))
        first = len(found) - len(given)
        for number, one in enumerate(given):
            if isinstance(one, Slot) and one.shares(found[first + number]):
                one.is_stale = False
                found[first + number] = one
        ends = found[first:]
        rebound.ends.note(ends)
        moved, slots = {}, dict(enumerate(given)) | rebound.slots
        for number, (one, other) in enumerate(zip(given, ends, strict=True)):
            if isinstance(one, Varying):
                if not is_vector(other):
                    raise CaptureError(
                        f"a vector whose length changes in a loop is another thing after a step\n  at {user_source()}"
                    )
                moved[number] = other
                continue
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
            if is_vector(held):
                continue
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
    """How often a list is found in variables."""
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
    kind = Varying if is_vector(held) else Slot
    found = kind((), known, steps, Named("list", None))
    found.originals = [] if held is UNDEFINED else list(map(resolved, originals_of(held)))
    found.become(contents)
    return found


def is_vector(thing: Any) -> bool:
    return thing.ndim == 1 if isinstance(thing, np.ndarray) else is_array(thing) and thing.ndim == 1


def is_array(thing: Any) -> bool:
    return isinstance(thing, Tracer) and thing._is_array


def can_be_hidden(held: Any) -> bool:
    """Whether a variable's list can be kept from all who may have it by another name."""
    return held is UNDEFINED or (type(held) is list and is_made_here(held))


def freed(slot: Slot, held: Any) -> Any:
    """The list to which a variable is bound in the end, which may change if nobody has the one it was at first."""
    if isinstance(slot, Varying):
        return slot.vector()
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
