"""Branches on traced conditions, as `switch` ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import optree

from numbagraph.blockwise.promotion import convert
from numbagraph.capture.statements.roomy_arrays import Room
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.iterables import require_known
from numbagraph.capture.values.known_conditions import assumed
from numbagraph.capture.values.loop_state import (
    Parts,
    common_shape,
    fitted,
    is_number,
    is_same,
    joined,
    kind,
    kind_of,
    parts_of,
    shown,
    value_of,
    with_array,
)
from numbagraph.capture.values.one_of import OneOf, is_choosable
from numbagraph.capture.values.optional import UNDEFINED, aligned, placeholder, settled
from numbagraph.capture.values.raised_errors import Premature, Raised, catcher_here, caught, is_caught, raised_of
from numbagraph.capture.values.strings import Leaf, are_other_texts
from numbagraph.capture.values.written_arrays import Chosen, Traced, assign, in_region, share
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Draft, close_together
from numbagraph.ir.types import INT64
from numbagraph.ir.values import Value, at_source
from numbagraph.rewrite.masks import guards_without_masks
from numbagraph.runtime.arguments import NAMESPACE
from numbagraph.runtime.structures import structure_of
from numbagraph.tracing.effect_tokens import now, set_order, with_order
from numbagraph.tracing.regions import TRUE, is_recomputed, require_to_run, with_late_lengths
from numbagraph.tracing.retrace import UnlikeBranches
from numbagraph.tracing.trace import active, current_trace
from numbagraph.tracing.tracer import Tracer, user_source

Branch = Callable[[], Sequence[Any]]


class Ending(NamedTuple):
    """A variable at the end of a branch."""

    leaves: list[Leaf]
    parts: Parts

    @classmethod
    def of(cls, tree: Any) -> Ending:
        """Flatten a tree of leaves."""
        parts, spec = optree.tree_flatten(tree, namespace=NAMESPACE)
        leaves = [each if isinstance(each, Leaf) else Leaf(each, None) for each in parts]
        return cls(leaves, Parts([leaf.object for leaf in leaves], spec))

    def is_otherwise(self, other: Ending) -> bool:
        """Whether two variables have other structures or texts, or one of them has undefined parts."""
        return self.parts.spec != other.parts.spec or any(map(are_others, self.leaves, other.leaves))

    def tree(self) -> Any:
        leaves = [UNDEFINED if each.object is UNDEFINED else each for each in self.leaves]
        return optree.tree_unflatten(self.parts.spec, leaves)


def are_others(one: Leaf, other: Leaf) -> bool:
    return are_other_texts(one, other) or (one.object is UNDEFINED) is not (other.object is UNDEFINED)


def ending(variable: Any, name: str) -> Ending:
    parts = parts_of(variable)
    return Ending([Leaf(each, value_of(each, name) if is_number(each) else None) for each in parts.leaves], parts)


def outside(start: Parts, name: str) -> Ending:
    """Flatten a variable before a loop."""

    def value(leaf: Any) -> Value | None:
        return leaf.value if isinstance(leaf, Tracer) else value_of(leaf, name) if is_number(leaf) else None

    return Ending([Leaf(each, value(each)) for each in start.leaves], start)


def outer(leaf: Leaf) -> Any:
    """Return a part of a variable before a loop; its value, where the part was made up."""
    return Tracer(leaf.value) if leaf.object is None and leaf.value is not None else leaf.object


ORDER = "the order of prints"


def ordered(order: Tracer, function: Branch) -> list[Any]:
    """Call a function with the order of effects, and return the order after its effects before its results."""
    set_order(order)
    found = function()
    return [now(), *found]


def branch(test: Value, names: Sequence[str], yes: Branch, no: Branch) -> Sequence[Any]:
    """Trace two branches, and return the variables after the one that the program takes."""

    def again(order: Tracer) -> tuple[Any, list[Any]]:
        sides = [lambda each=each: ordered(order, each) for each in (yes, no)]
        first, *others = chosen_branch(test, (ORDER, *names), *sides)
        return first, others

    return with_order(lambda: chosen_branch(test, names, yes, no), again)


def chosen_branch(test: Value, names: Sequence[str], yes: Branch, no: Branch) -> Sequence[Any]:
    with at_source(user_source()):
        sides = []
        for function, other, holds in ((yes, no, True), (no, yes, False)):
            with assumed(test, holds):
                side = traced(function, names, "if" if holds else "else")
            if isinstance(side.result, Premature):
                return other()
            if isinstance(side.result, Raised) and len(side.guards) == 1 and not side.written:
                # a check, before the other branch
                with assumed(test, holds):
                    raised = again(function)
                raised.require(registry["logical_not"](test) if holds else test)
                return [settled(each) for each in other()]
            sides.append(side)
        errors = [each.result for each in sides if isinstance(each.result, Raised)]
        if len(errors) == len(sides):
            Joined(test, (), *[side._replace(result=[]) for side in reversed(sides)]).variables()
            if not is_caught():
                raise CaptureError(f"an if on a traced value raises errors on both paths\n  at {user_source()}")
            raise errors[0].marked()
        known = next(each.result for each in sides if not isinstance(each.result, Raised))
        ends = [each._replace(result=unreached(known)) if isinstance(each.result, Raised) else each for each in sides]
        return Joined(test, names, ends[1], ends[0]).variables()


def postponed(error: Exception) -> bool:
    """Whether an error may disappear in the next pass over the loop around this branch."""
    trace = current_trace()
    assert trace is not None
    return trace.loop is not None and trace.loop.postpones(error)


def again(function: Branch) -> Raised:
    """Return the error that a branch raises, with values of the region around it: they are computed only if it is
    raised."""
    try:
        with caught():
            function()
    except Exception as error:
        raised = raised_of(error)
        if raised is None:
            raise
        return raised
    raise AssertionError("a branch raises when it is traced, and not when it is traced again")


def unreached(known: Sequence[Ending]) -> list[Ending]:
    """Return placeholders for the variables of a branch that always raises, in the types of the other branch's."""
    found = []
    for each in known:
        leaves = [leaf if leaf.value is None else Leaf(None, placeholder(leaf.value.type)) for leaf in each.leaves]
        found.append(Ending(leaves, each.parts))
    return found


def traced(function: Branch, names: Sequence[str], what: str) -> Traced:
    refusals = active.refusals

    def run(_: Any) -> Any:
        try:
            found = function()
        except Exception as error:
            raised = raised_of(error)
            if raised is None and postponed(error):
                active.refusals = refusals
                return Premature()
            if raised is None:
                raise
            raised.require(False)
            return raised
        return [ending(each, name) for each, name in zip(found, names, strict=True)]

    return in_region(run, f"the branch of {what}")


class Joined:
    """Two branches, and the variables behind them."""

    def __init__(self, test: Value, names: Sequence[str], no: Traced, yes: Traced) -> None:
        self.test = test
        self.names = names
        self.no = no
        self.yes = yes
        self.outputs: list[list[Value]] = [[], []]
        """The outputs of the op in each branch."""
        self.places: list[Callable[[Value], None]] = []
        """A function for each result of the op, which puts it into place."""
        self.counts: dict[tuple[Value, Value], list[list[Value]]] = {}
        """The lengths that are results, each with the lists that it is put into."""
        self._used: frozenset[Value] | None = None
        self.bases: set[Value] = set()
        """The arrays in whose memory results lie, of which the branches use a part."""
        self.chosen: list[tuple[Tracer, Sequence[Any]]] = []
        """Chosen arrays, each with the objects it was chosen from: where one of these is an array with another name,
        the result cannot be written, nor read after that array has been written."""

    def variables(self) -> list[Any]:
        ends = zip(self.names, self.no.result, self.yes.result, strict=True)
        found = [self.meet(name, *both) for name, *both in ends]
        self.meet_arrays()
        for place, result in zip(self.places, self.results(), strict=True):
            place(result)
        for result, sources in self.chosen:
            for source in sources:
                share(result, source)
            result._origins = Chosen.of(result, self, sources)
        return [each() for each in found]

    def give(self, values: Sequence[Value], place: Callable[[Value], None]) -> None:
        for outputs, value in zip(self.outputs, values, strict=True):
            outputs.append(value)
        self.places.append(place)

    @staticmethod
    def choose(test: Tracer, yes: Branch, no: Branch) -> Any:
        return branch(test.value, ("a value",), lambda: [yes()], lambda: [no()])[0]

    def meet(self, name: str, no: Ending, yes: Ending) -> Callable[[], Any]:
        """Join a variable of both branches. Return a function that gives it, once the op is there."""
        if no.is_otherwise(yes):
            no, yes = map(Ending.of, aligned(no.tree(), yes.tree()))
        both = [each.parts.whole() for each in (no, yes)]
        are_unlike = no.parts.spec != yes.parts.spec or type(both[0]) is not type(both[1]) or callable(both[0])
        if are_unlike and all(map(is_choosable, both)):
            return self.one_of(name, no, yes)
        if no.parts.spec != yes.parts.spec:
            raise UnlikeBranches(
                f"{shown(name)} is {described(yes.parts)} where the condition holds, and {described(no.parts)} "
                f"elsewhere: give it one structure\n  at {user_source()}"
            )
        leaves = [self.meet_leaf(name, *both) for both in zip(no.leaves, yes.leaves, strict=True)]
        return lambda: Parts([each() for each in leaves], no.parts.spec).whole()

    def one_of(self, name: str, no: Ending, yes: Ending) -> Callable[[], Any]:
        """Choose between two objects, or two functions, once they are used. Each has values in its own branch alone."""
        if is_same(no.parts.whole(), yes.parts.whole()):
            return lambda: no.parts.whole()
        sides = [
            [self.meet_leaf(name, *pair) for pair in zip(*ends, strict=True)]
            for ends in ((no.leaves, unreached([no])[0].leaves), (unreached([yes])[0].leaves, yes.leaves))
        ]

        def together() -> Any:
            first, second = (
                Parts([each() for each in leaves], end.parts.spec).whole()
                for leaves, end in zip(sides, (no, yes), strict=True)
            )
            return OneOf(Tracer(self.test), second, first, self.choose)

        return together

    def meet_leaf(self, name: str, no: Leaf, yes: Leaf) -> Callable[[], Any]:
        if is_same(no.object, yes.object):
            return lambda: lasting(no.object, yes.object)
        if no.value is None or yes.value is None:
            for each in (no, yes):
                require_known([each.object])
            one, other = kind_of(yes.object), kind_of(no.object)
            raise UnlikeBranches(
                f"{shown(name)} is {one} where the condition holds, and {other} elsewhere: a branch on traced values "
                f"chooses between numbers, arrays, and trees of them\n  at {user_source()}"
            )
        target = joined(kind(no.value.type), kind(yes.value.type))
        shape = common_shape(no.value, yes.value, name)
        room = Room.of((no, yes), lambda: self.used) if shape else None
        found: list[Value] = []

        def fit(leaf: Leaf, value: Value) -> list[Value]:
            if room is None:
                return [fitted(value, target, shape, name)]
            return room.filled(leaf, value, target, shape, name)

        def place(result: Value) -> None:
            chosen.append(Tracer(result if room is None else room.held(result, *found)))
            self.chosen.append((chosen[0], (no.object, yes.object)))

        chosen: list[Tracer] = []
        first, second = no.value, yes.value
        no_values, self.no = self.no.also(lambda: fit(no, first))
        yes_values, self.yes = self.yes.also(lambda: fit(yes, second))
        if room is not None:
            self.bases.update(room.bases())
            self.give_length((no_values.pop(), yes_values.pop()), found)
        self.give(no_values + yes_values, place)
        return lambda: chosen[0]

    def give_length(self, values: tuple[Value, Value], found: list[Value]) -> None:
        """Give a length, which other variables may have, too."""
        known = self.counts.setdefault(values, [])
        known.append(found)
        if len(known) == 1:
            self.give(values, lambda result: [each.append(result) for each in known])  # type: ignore[func-returns-value]

    @property
    def used(self) -> frozenset[Value]:
        """The values of the surroundings that the branches use."""
        if self._used is None:
            written = {array.value for each in (self.no, self.yes) for array, _ in each.written}
            self._used = with_late_lengths(written.union(self.no.used, self.yes.used))
        return self._used

    def meet_arrays(self) -> None:
        """Join the arrays from outside that either branch has assigned to."""
        written = [{id(array): value for array, value in each.written} for each in (self.no, self.yes)]
        arrays = {id(array): array for each in (self.no, self.yes) for array, _ in each.written}
        for key, array in arrays.items():
            values = [each.get(key, array.value) for each in written]
            self.give(values, lambda result, array=array: assign(array, with_array(result, array)))

    def results(self) -> list[Value]:
        sides = (self.no, self.yes)
        catcher_here().note_branches(self.test, *sides)
        is_checked = any(guard.ordered for side in sides for guard in side.guards)
        if is_checked:
            for outputs in self.outputs:
                outputs.append(TRUE)
        known = self.used | self.bases
        drafts = [
            Draft(f"branch{number}", *guards_without_masks(outputs, side.guards, known))
            for number, (outputs, side) in enumerate(zip(self.outputs, sides, strict=True))
        ]
        regions, captures = close_together((), drafts, lambda node: node in known and not is_recomputed(node))
        index = convert(self.test, INT64)
        bind = registry["switch"].bind
        count = len(self.outputs[0])
        results = [bind(index, *captures, branches=regions, result=number) for number in range(count)]
        if is_checked:
            require_to_run(results.pop())
        return results


def lasting(one: Any, other: Any) -> Any:
    """Return one of two leaves that are the same, in the form that it has behind the branches."""
    for each in (one, other):
        if not isinstance(each, Tracer) or each._scope is None or not each._scope.ended:
            return each
    return Tracer(one.value)


def described(parts: Parts) -> str:
    if parts.spec.is_leaf():
        return kind_of(parts.leaves[0])
    return structure_of(parts.spec)
