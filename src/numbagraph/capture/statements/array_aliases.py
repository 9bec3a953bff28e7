"""Arrays that several variables of a loop share.

A loop carries arrays by value. That is what Python does as long as the loop assigns to no element of an array that has
another name, too; a loop that may do so is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any, NamedTuple

from numbagraph.blockwise.promotion import weak_constant
from numbagraph.capture.statements.branches import Ending
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.loop_state import Parts, shown
from numbagraph.capture.values.written_arrays import (
    ELEMENT,
    Chosen,
    Journal,
    assign,
    forget,
    is_outside,
    root_of,
    share,
)
from numbagraph.ir import shapes
from numbagraph.ir.graph import Guard
from numbagraph.ir.op import registry
from numbagraph.ir.values import Constant, Value
from numbagraph.tracing.errors import TraceError
from numbagraph.tracing.stale_arrays import OUTSIDE, Sources, Stale
from numbagraph.tracing.tracer import Tracer, user_source

Key = tuple[int, int]
"""The number of a variable, and the number of a part of it."""


class Found(NamedTuple):
    """The result of one pass over the body of a loop."""

    starts: list[Parts]
    ends: list[Ending]
    test: Value | None
    test_guards: tuple[Guard, ...]
    roots: dict[Key, Tracer]
    """The arrays that stand for carried ones."""
    written: set[Key]
    """The keys of those arrays that the body has written."""
    entered: dict[int, Value]
    """The values of arrays from outside before the step, by the arrays' identity."""


class Aliases:
    """The arrays that the variables of a loop are, before it and after a step."""

    def __init__(
        self,
        names: Sequence[str],
        leaf: Callable[[int, int], Any],
        found: Found,
        carried: Collection[Key],
        arrays: Mapping[int, Tracer],
        journal: Journal,
        *,
        length: Value | None,
    ) -> None:
        self.names = names
        self.found = found
        self.arrays = arrays
        """The arrays from outside that the loop assigns to, by identity."""
        self.journal = journal
        """The record of the loop's reads and writes of arrays from outside."""
        self.starts = {key: root_of(each) for key in carried if is_array(each := leaf(*key))}
        self.begin_outside = {key for key in carried if is_outside(leaf(*key))}
        """The variables that are arrays of enclosing scopes before the loop."""
        self.ending_roots = ending_roots(found.ends)
        """The arrays that variables are, or are views of, after a step."""
        self.ends = {key: root for key, root in self.ending_roots.items() if key in carried}
        self.own = {id(root): key for key, root in found.roots.items()}
        self.length = length
        """The number of steps; None in a while loop, where it is not known before."""
        self.may_be_empty = not isinstance(length, Constant) or int(length.data) < 1

    def reachable(self) -> set[Key]:
        """The variables whose arrays before the loop are written: a step may bind them to each other's."""
        pending, done = list(self.found.written), set(self.found.written)
        while pending:
            for key in self.passed(pending.pop()):
                if key not in done:
                    done.add(key)
                    pending.append(key)
        return done

    def require_apart(self) -> None:
        """Raise where the loop assigns to an array that a carried variable is, under another name."""
        for key in [*self.starts, *self.ends]:
            found = [each for roots in (self.starts, self.ends) if key in roots for each in choices(roots[key])]
            if any(id(each) in self.arrays for each in found):
                raise self.refusal(key)
        written = self.reachable()
        for key in written:
            start = self.starts.get(key)
            others = [each for other, each in self.starts.items() if other != key]
            if start is not None and (id(start) in self.journal.read or any(start is each for each in others)):
                raise self.refusal(key)
        self.require_own_elements(written)
        if not self.found.written:
            return
        ends = list(self.ending_roots.items())
        for position, (key, root) in enumerate(ends):
            is_outside = key in self.ends and any(id(each) not in self.own for each in living(choices(root)))
            before = [each for other, each in ends[:position] if key in self.ends or other in self.ends]
            if is_outside or any(may_be_one(root, each) for each in before):
                raise self.refusal(key)

    def require_own_elements(self, written: Collection[Key]) -> None:
        """Raise where a later step assigns to an array that a list holds: the list has a copy."""
        if not self.journal.kept.keys().isdisjoint(self.arrays):
            raise held_by_a_list("an array")
        for key, root in self.ending_roots.items():
            found = [*choices(root), *(getattr(root._origins, "paths", ()))]
            is_element = any(
                each is not None and (each._foreign == ELEMENT or id(each) in self.journal.kept) for each in found
            )
            if is_element and (key in written or self.journal.assigns_to_elements):
                raise held_by_a_list(shown(self.names[key[0]]))

    def refusal(self, key: Key) -> CaptureError:
        return CaptureError(
            f"{shown(self.names[key[0]])} and another variable are one array in a loop that also assigns to its "
            f"elements: copy it (x.copy())\n  at {user_source()}"
        )

    def renew_rebound(self, results: Mapping[Key, Tracer]) -> None:
        """Make arrays from before a loop unreadable that its variables have been bound to and written through, unless
        the variables change places in each step (``a, b = b, a``)."""
        renewed: list[tuple[Tracer, Value]] = []
        for key in self.reachable():
            start = self.starts.get(key)
            if start is None:
                continue
            if (last := self.exchanged(key, start, results)) is not None and not start._foreign:
                renewed.append((start, last))
                continue
            name = shown(self.names[key[0]])
            if isinstance(start._foreign, Sources):
                start._foreign = start._foreign.give_up(start)
            if start._foreign:
                raise CaptureError(
                    f"{name} begins as {start._foreign}, is bound to other arrays in a loop on traced values, and "
                    f"assigned to: begin with a copy (x.copy())\n  at {user_source()}"
                )
            forget(start, f"{name} was bound to other arrays in a loop, and assigned to: copy it before")
        for start, last in renewed:
            assign(start, last)

    def exchanged(self, key: Key, start: Tracer, results: Mapping[Key, Tracer]) -> Value | None:
        """The value after a loop of a variable's array from before it, if the variables that have it in turn are
        known."""
        holders = self.holders(key)
        if not holders or self.length is None or any(each not in results for each in holders):
            return None
        found = [results[each].value for each in holders]
        if any(each.dtype != start.value.dtype or not is_same_shape(each, start.value) for each in found):
            return None
        turn = registry["remainder"].bind(self.length, weak_constant(len(found)))
        last = found[0]
        for number, each in enumerate(found[1:], 1):
            last = registry["where"](registry["equal"](turn, number), each, last)
        return last

    def holders(self, key: Key) -> list[Key]:
        """The variables that have a variable's array in turn, step by step, until that variable has it again."""
        following = {
            self.own[id(root)]: other
            for other, root in self.ends.items()
            if id(root) in self.own and not root._origins and self.found.ends[other[0]].leaves[other[1]].object is root
        }
        found = [key]
        while (other := following.get(found[-1])) != key:
            if other is None or other in found:
                return []
            found.append(other)
        return found

    def note_appended(self, number: int, result: Tracer) -> None:
        """Note that a list shares the arrays that were appended to it, rather than holding their values at that
        time."""
        for (each, place), root in self.ending_roots.items():
            if each != number:
                continue
            key = self.own.get(id(root))
            if id(root) in self.arrays or key in self.found.written:
                raise self.refusal((each, place))
            share(result, root if key is None else self.starts.get(key))

    def note_shared(self, tracers: Mapping[Key, Tracer]) -> None:
        """Note which arrays the variables after the loop may be. Those that may be each other are not written."""
        (sources, starts), same = self.sources(), self.same()
        arrays = {key: tracers[key] for key in sources if tracers[key].ndim}
        for key, array in arrays.items():
            both = {other for pair in same if key in pair for other in pair} - {key}
            apart = [each for other, each in arrays.items() if other != key and other not in both]
            roots, first = living(sources[key].values()), living(starts.get(key, {}).values())
            require_steps = None
            if self.length is None:
                roots += first
            elif not {id(each) for each in first} <= {id(each) for each in roots}:
                require_steps = partial(self.require_steps, shown(self.names[key[0]]))
            origins = {id(each): each for root in (*roots, *first) for each in (root, *root._origins)}
            array._origins = tuple(origins.values())
            for each in array._origins:
                each._share_with(array, Stale.OWNED if both else Sources(roots, apart, require_steps))
            for other in both & arrays.keys():
                array._share_with(arrays[other])

    def note_outside(self, tracers: Mapping[Key, Tracer]) -> None:
        """Note which variables may be arrays of enclosing scopes after the loop. They are not written."""
        after = {key for key in tracers if is_outside(self.found.ends[key[0]].leaves[key[1]].object)}
        before, known = after | self.begin_outside, 0
        while known != len(before):
            known = len(before)
            after |= {key for key in tracers if not before.isdisjoint(self.passed(key))}
            before |= after
        for key, array in tracers.items():
            if key in after or (key in before and self.length is None):
                array._foreign = OUTSIDE
            elif key in before and self.may_be_empty and (not array._foreign or isinstance(array._foreign, Sources)):
                held = array._foreign or Sources((), (), None)
                require_steps = partial(self.require_steps, shown(self.names[key[0]]))
                array._foreign = Sources(held.arrays, held.apart, require_steps)  # type: ignore[union-attr]

    def require_steps(self, name: str) -> None:
        """Require that the loop takes a step: without one a variable is the array from before, to which others may have
        names."""
        assert self.length is not None
        shapes.require(
            registry["greater"](self.length, 0),
            f"{name} is assigned to after a loop that took no step, where it still is the array from before: begin "
            f"the loop with a copy (x.copy())\n  at {user_source()}",
            TraceError,
        )

    def sources(self) -> tuple[dict[Key, dict[int, Tracer]], dict[Key, dict[int, Tracer]]]:
        """The arrays from before the loop, by identity, that each variable may be after its steps, and those that it is
        where the loop takes no step."""
        before = {key: {id(start): start} for key, start in self.starts.items()}
        after: dict[Key, dict[int, Tracer]] = {}
        while True:
            known = {key: len(each) for key, each in before.items()}
            for key, root in self.ends.items():
                after[key] = {id(each): each for each in living(choices(root))}
                for each in self.passed(key):
                    after[key] |= before.get(each, {})
                before[key] = before.get(key, {}) | after[key]
            if known == {key: len(each) for key, each in before.items()}:
                break
        return after, {key: {id(start): start} for key, start in self.starts.items()} if self.may_be_empty else {}

    def same(self) -> set[frozenset[Key]]:
        """The pairs of variables that may be one array after the loop."""
        pairs = [frozenset(pair) for pair in combinations(self.starts.keys() | self.ends.keys(), 2)]
        starts = {pair for pair in pairs if self.are_one(self.starts, pair)}
        before, after = set(starts), set[frozenset[Key]]()
        sources, _ = self.sources()
        while True:
            known = len(before)
            for pair in pairs:
                one, two = pair
                passed = {frozenset(each) for each in product(self.passed(one), self.passed(two))}
                may_meet = any(len(each) == 1 or each in before for each in passed)
                is_permuted = all(id(self.ends.get(key)) in self.own for key in pair)
                if not is_permuted and sources.get(one, {}).keys() & sources.get(two, {}).keys():
                    may_meet = True
                if may_meet or self.are_one(self.ends, pair):
                    after.add(pair)
            before |= after
            if known == len(before):
                return before if self.may_be_empty else after

    def passed(self, key: Key) -> list[Key]:
        """The variables whose array before a step may be a variable's array after it."""
        root = self.ends.get(key)
        roots = () if root is None else choices(root)
        return [self.own[id(each)] for each in roots if id(each) in self.own]

    @staticmethod
    def are_one(arrays: Mapping[Key, Tracer], pair: frozenset[Key]) -> bool:
        found = [arrays.get(key) for key in pair]
        return found[0] is not None and found[0] is found[1]


def is_same_shape(one: Value, other: Value) -> bool:
    return one.ndim == other.ndim and all(map(shapes.same, one.shape, other.shape))


def held_by_a_list(what: str) -> CaptureError:
    return CaptureError(
        f"{what} is an element of a list in a loop that also assigns to its elements: copy it (x.copy())"
        f"\n  at {user_source()}"
    )


def choices(root: Tracer) -> tuple[Tracer, ...]:
    """The arrays that an array may be, as loops and branches chose it."""
    return (root, *root._origins)


def may_be_one(one: Tracer | None, other: Tracer | None) -> bool:
    """Whether two arrays may be the same: what one branch chose for both is compared path by path."""
    if one is None or other is None:
        return False
    if one is other:
        return True
    left, right = one._origins, other._origins
    if isinstance(left, Chosen) and isinstance(right, Chosen) and left.join is right.join:
        return any(may_be_one(*pair) for pair in zip(left.paths, right.paths, strict=True))
    if isinstance(left, Chosen):
        return any(may_be_one(each, other) for each in left.paths)
    if isinstance(right, Chosen):
        return any(may_be_one(one, each) for each in right.paths)
    if isinstance(one._foreign, Sources) and any(other is each for each in one._foreign.apart):
        return False
    return not {id(each) for each in choices(one)}.isdisjoint(id(each) for each in choices(other))


def living(arrays: Iterable[Tracer]) -> list[Tracer]:
    return [each for each in arrays if each._scope is not None and not each._scope.ended]


def is_array(leaf: Any) -> bool:
    return isinstance(leaf, Tracer) and leaf._is_array


def ending_roots(ends: Sequence[Ending]) -> dict[Key, Tracer]:
    """The arrays that variables are, or are views of, after a step."""
    return {
        (number, place): root_of(leaf.object)
        for number, end in enumerate(ends)
        for place, leaf in enumerate(end.leaves)
        if is_array(leaf.object)
    }
