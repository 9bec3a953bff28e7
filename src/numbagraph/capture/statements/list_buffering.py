"""Decides when lists are kept in buffers: a loop or a branch on traced values that reads, makes longer or makes shorter
a list in a way that cannot be followed otherwise is traced again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numbagraph.capture.values.append_log import Outgrown
from numbagraph.capture.values.containers import in_region, is_own, made
from numbagraph.capture.values.list_aliases import is_made_here, outdate_aliases
from numbagraph.capture.values.list_buffer import Buffered, Elements, Named
from numbagraph.capture.values.list_slots import Rebound, Slot, can_be_hidden, freed, slot_of
from numbagraph.capture.values.optional import UNDEFINED
from numbagraph.capture.values.stacked_list import Selected, Stacked
from numbagraph.capture.values.written_arrays import in_region as traced_region
from numbagraph.ir.values import Value
from numbagraph.tracing.retrace import (
    ConditionWrites,
    KeysNeeded,
    LengthsNeeded,
    ListNeeded,
    PlacesWritten,
    ReboundListChanges,
    StaticLoop,
    UncountedGrowth,
    UnlikeBranches,
)
from numbagraph.tracing.trace import Trace, current_trace, tried

State = Sequence[Any]
Run = Callable[[State], State]
PASSES = 12


def with_lists(run: Run, state: State, rebound: Rebound, steps: Value | None = None) -> State:
    """Return the variables after a loop of ``steps`` steps, or after a branch. Note those that are bound to other lists
    there in ``rebound``."""
    trace = current_trace()
    assert trace is not None
    around, trace.changed = trace.changed, {}
    try:
        with tried():
            return run(state)
    except (StaticLoop, ConditionWrites, UncountedGrowth, KeysNeeded, PlacesWritten):
        raise
    except Exception as error:
        own = changed_here(trace)
        if not own and not rebound.numbers and not (isinstance(error, ListNeeded) and any(map(is_stacked, state))):
            raise
        first = error
    finally:
        around.update(trace.changed)
        trace.changed = around
    return with_buffers(run, state, own, steps, first, rebound)


def is_stacked(variable: Any) -> bool:
    """Whether a variable is a list whose length is traced, which has elements of one kind."""
    return type(variable) in (Stacked, Selected) and variable.depth == 1


def with_changed_lists(run: Run, state: State, rebound: Rebound, body: Callable[[], Any]) -> State:
    """Return the variables after a loop whose condition seems to be known, if a step changes lists; raise `StaticLoop`
    if the loop can be run as it is."""
    trace = current_trace()
    assert trace is not None
    around, trace.changed = trace.changed, {}
    try:
        with tried():
            traced_region(lambda _: body() and None, "a step of a loop")
    except Exception as error:  # noqa: BLE001  it is raised where nothing else is
        own, first = changed_here(trace), error
    else:
        raise StaticLoop
    finally:
        trace.changed = around
    if not own:
        raise StaticLoop
    return with_buffers(run, state, own, None, first, rebound)


def changed_here(trace: Trace) -> list[Any]:
    """The lists from here whose lengths have changed."""
    own = filter(is_own, trace.changed.values())
    return [each for each in own if not any(type(part) is Outgrown for part in each)]


def with_buffers(
    run: Run,
    state: State,
    own: Sequence[Any],
    steps: Value | None = None,
    first: Exception | None = None,
    rebound: Rebound | None = None,
) -> State:
    """Return the variables after a loop or a branch, with some lists in buffers, whose types follow from the appended
    elements, and the lists of variables in ``rebound`` in slots."""
    rebound = rebound or Rebound()
    own = list(own)
    saved = [list(each) for each in own]
    known, known_stacked = [Elements() for _ in own], [Elements() for _ in state]
    every = [*known, *known_stacked]
    failed: Exception | None = first
    before: list[Any] = []
    stacked = {number for number, each in enumerate(state) if isinstance(first, ListNeeded) and is_stacked(each)}
    stacked -= rebound.numbers
    hidden: set[int] = set()
    """The variables whose slots change, so that their first lists are unreadable."""
    for _ in range(PASSES):
        slots: dict[int, Slot] = {}
        bound = rebound.numbers - stacked
        try:
            with tried():
                slots = {number: slot_of(state[number], known_stacked[number], steps) for number in bound}
                for number in hidden & slots.keys():
                    slots[number].is_own = True
                rebound.slots = {number: each for number, each in slots.items() if state[number] is UNDEFINED}
                for each, held, kinds in zip(own, saved, known, strict=True):
                    outdate_aliases(each)
                    buffered = Buffered(held, kinds, None if in_region() else steps, Named.of(each))
                    each.clear()
                    each.append(Outgrown(None if any(each is state[number] for number in hidden) else buffered))
                given = [
                    in_buffer(each, kinds)
                    if number in stacked
                    else each
                    if each is UNDEFINED
                    else slots.get(number, each)
                    for number, (each, kinds) in enumerate(zip(state, known_stacked, strict=True))
                ]
                outgrow([state[number] for number in stacked], True)
                before = [*(tuple(each.kinds) for each in every), len(slots), len(hidden)]
                found = run(given)
                return [
                    freed(each, state[number]) if isinstance(each, Slot) and each is slots.get(number) else each
                    for number, each in enumerate(found)
                ]
        except Exception as error:  # noqa: BLE001  it is raised where nothing else is
            failed = error
        changing = {
            number for number, each in slots.items() if isinstance(failed, ReboundListChanges) and failed.slot is each
        }
        if isinstance(failed, ReboundListChanges) and not changing:  # a branch in the loop changes what it was given
            changing = failed.slot.bound_in(state)
            rebound.numbers.update(changing)
        outgrow([state[number] for number in stacked], False)
        for each, held in zip(own, saved, strict=True):
            each.clear()
            each.extend(held)
        stacked |= {number for number in changing if is_stacked(state[number])}
        for number in changing:
            if can_be_hidden(state[number]) and number not in hidden:
                hidden.add(number)
                if type(state[number]) is list and all(each is not state[number] for each in own):
                    own.append(state[number])
                    saved.append(list(state[number]))
                    known.append(Elements())
        if isinstance(failed, PlacesWritten):
            raise failed
        if before == [*(tuple(each.kinds) for each in every), len(rebound.numbers - stacked), len(hidden)]:
            break
    assert failed is not None
    # a path that has no buffer for a list is a matter of the buffers alone
    raise (
        first
        if first is not None and (isinstance(first, LengthsNeeded) or isinstance(failed, UnlikeBranches))
        else failed
    )


def in_buffer(held: Stacked, kinds: Elements) -> Buffered:
    found = Buffered.of_stacked(held, kinds)
    return made(found) if is_made_here(held) else found


def outgrow(lists: Sequence[Stacked], are_outgrown: bool) -> None:
    """Make other objects that stand for lists unreadable, which are in buffers from now on, or readable again. In a
    region the region around knows these by the values of its variables."""
    if not in_region():
        for each in lists:
            each.kept.is_outgrown = are_outgrown
