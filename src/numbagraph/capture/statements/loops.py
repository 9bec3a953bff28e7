"""Loops on traced values, as `scan` and `while_loop` ops.

What a loop carries is found by tracing its body: first nothing is carried; whatever is another at the end of the body
than at its start is carried the next time, and so are the arrays from outside that it writes, until nothing is added
and the types stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from numbagraph.blockwise.promotion import weak_constant
from numbagraph.capture.statements.appends import Growing, is_missing
from numbagraph.capture.statements.array_aliases import Aliases, Found, Key
from numbagraph.capture.statements.branches import ORDER, Ending, described, ending, ordered, outer, outside
from numbagraph.capture.statements.length_changes import Lengths, made_up, require_lasting
from numbagraph.capture.statements.loop_conditions import unwritten
from numbagraph.capture.statements.loop_inputs import with_sequences
from numbagraph.capture.statements.loop_memory import Memory, Recalled
from numbagraph.capture.statements.roomy_arrays import length_of
from numbagraph.capture.syntax.source import CaptureError
from numbagraph.capture.values.append_log import Appended, Outgrown
from numbagraph.capture.values.list_aliases import outgrow
from numbagraph.capture.values.loop_state import (
    Kind,
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
from numbagraph.capture.values.optional import UNDEFINED, aligned, required
from numbagraph.capture.values.places import identity
from numbagraph.capture.values.raised_errors import Raised, catcher_here, raised_of
from numbagraph.capture.values.stacked_list import Stacked
from numbagraph.capture.values.strings import Leaf
from numbagraph.capture.values.written_arrays import Journal, Traced, assign, in_region
from numbagraph.ir.graph import Guard
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Draft, close, close_together
from numbagraph.ir.structs import replace
from numbagraph.ir.values import ArrayType, Extent, Input, Value, at_source
from numbagraph.ops.control.loop import Loop
from numbagraph.rewrite.masks import guards_without_masks
from numbagraph.runtime.arguments import flatten
from numbagraph.tracing.effect_tokens import with_order
from numbagraph.tracing.regions import TRUE, Body, invariants, require_to_run, with_late_lengths
from numbagraph.tracing.retrace import StaticLoop, UncountedGrowth
from numbagraph.tracing.trace import active, current_trace, tried
from numbagraph.tracing.tracer import Tracer, user_source

PASSES = 12
ONE = flatten(0)[1]


class Step(NamedTuple):
    """The step of a loop: a function that says whether the loop goes on, and one of the variables after one more
    step."""

    body: Callable[[Any, Sequence[Any]], Sequence[Any]]
    """A function of the number of the step and the variables, which returns the new variables."""
    goes_on: Callable[[Any, Sequence[Any]], Any] | None = None
    """A condition of the number of the step and the variables; None where the number of steps is known."""
    counts: bool = True
    """Whether the number of the step is used."""

    def in_order(self) -> Step:
        """Return this step with the order of effects as its first variable."""
        goes_on = self.goes_on
        return Step(
            lambda number, state: ordered(state[0], lambda: self.body(number, state[1:])),
            None if goes_on is None else lambda number, state: goes_on(number, state[1:]),
            self.counts,
        )

    def counted(self, *, goes_on: bool = True) -> Step:
        """Return this step for a loop that counts its steps, or (``goes_on=False``) whose number of steps is known."""
        return Step(self.body, self.goes_on if goes_on else None)


class Capture:
    """The capture of one loop."""

    def __init__(
        self,
        names: Sequence[str],
        state: Sequence[Any],
        step: Step,
        length: Value | None,
        *,
        counts_steps: bool = False,
    ) -> None:
        self.names = names
        self.counts_steps = counts_steps
        """Whether only the number of steps is wanted."""
        self.step = step
        self.length = length
        self.state = state
        self.starts = [parts_of(each) for each in state]
        self.carried: dict[Key, tuple[Kind, tuple[Any, ...]]] = {}
        """The dtype and the shape of each part of a variable that changes."""
        self.arrays: dict[int, Tracer] = {}
        """The arrays from outside that are written."""
        self.parameters: list[Input] = []
        self.lengths = Lengths()
        self.firsts: dict[Key, Value] = {}
        """The arrays before the loop whose lengths change; a step that asked for them would read them."""
        self.growing: dict[int, Growing] = {}
        """The lists that each step appends to."""

    def variables(self, site: Any) -> list[Any]:
        """Return the variables after the loop."""
        trace = current_trace()
        assert trace is not None
        around: Memory | None = trace.loop
        key = None if around is None else around.key((site, *map(identity, self.names)))
        nothing = Recalled([], {}, {}, {}, Memory())
        known = nothing if around is None else around.known.get(key, nothing)
        self.recall(known)
        for _ in range(PASSES):
            is_open = any(start.is_absent for start in self.starts) or (around is not None and around.is_open)
            trace.loop = memory = known.inner.begun(is_open)
            self.firsts = {key: value_of(self.leaf(*key), self.names[key[0]]) for key in self.lengths.changing}
            try:
                traced = in_region(self.run, "the body of a loop")
            finally:
                trace.loop = around
            if isinstance(traced.result, Raised) and memory.postponed is not None:
                raise memory.postponed
            if isinstance(traced.result, Raised):
                return self.without_step(traced.result)
            if not self.grow(traced):
                if memory.postponed is not None:
                    raise memory.postponed
                if around is not None:
                    specs, changing = [each.spec for each in self.starts], self.lengths.changing
                    around.known[key] = Recalled(specs, dict(self.carried), changing, dict(self.arrays), known.inner)
                return self.finish(traced)
        raise CaptureError(f"the types of what a loop changes do not settle\n  at {user_source()}")

    def without_step(self, raised: Raised) -> list[Any]:
        """Return the variables after a loop whose body always raises an error: it takes no step."""
        if not all(type(each) is str for each in raised.arguments):
            raise CaptureError(f"the body of a loop always raises {raised.kind.__name__}\n  at {user_source()}")
        if self.step.goes_on is None:
            assert self.length is not None
            raised.require(registry["less_equal"](self.length, 0))
        else:
            test = self.step.goes_on(Tracer(weak_constant(0)), self.state)
            raised.require(registry["logical_not"](test.value) if isinstance(test, Tracer) else not test)
        return list(self.state)

    def recall(self, known: Recalled) -> None:
        """Start with the carries that an earlier pass of a loop around this one has found."""
        for (number, place), (dtype, _) in known.carried.items():
            leaf = self.leaf(number, place)
            if known.specs[number] == self.starts[number].spec and is_number(leaf):
                value = value_of(leaf, self.names[number])
                self.carried[number, place] = (joined(kind(value.type), dtype), value.shape)
                self.lengths.recall((number, place), known.changing.get((number, place)))
        for key, array in known.arrays.items():
            if array._scope is not None and active.scope is not None and active.scope.is_inside(array._scope):
                self.arrays[key] = array

    def leaf(self, number: int, place: int) -> Any:
        """A part of a variable before the loop."""
        leaves = self.starts[number].leaves
        return leaves[place] if place < len(leaves) else None

    # ---- one pass ----

    def run(self, journal: Journal) -> Any:
        """Trace the body once, with parameters for the carries."""
        counter = Input(weak_constant(0).type, "step")
        self.parameters = [counter] if self.step.counts else []
        for array in self.arrays.values():
            journal.note(array)
            assert isinstance(array.value, Value)
            parameter = Input(array.value.type, "array")
            self.parameters.append(parameter)
            array._renew(with_array(parameter, array))
        self.lengths.counts.clear()
        entered = {key: array.value for key, array in self.arrays.items()}
        roots: dict[Key, Tracer] = {}
        starts = [self.with_parameters(number, roots) for number in range(len(self.names))]
        self.parameters += self.lengths.counts.values()
        before = {key: root.value for key, root in roots.items()}
        number = Tracer(counter)
        with unwritten(journal, roots.values()):
            test, guards = self.tested(number, [each.whole() for each in starts])
        try:
            state = self.step.body(number, [each.whole() for each in starts])
        except Exception as error:
            raised = raised_of(error)
            if raised is None:
                raise
            return raised
        ends = [self.ended(number, each) for number, each in enumerate(state)]
        written = {key for key, root in roots.items() if root.value is not before[key]}
        return Found(starts, ends, test, guards, roots, written, entered)

    def ended(self, number: int, variable: Any) -> Ending:
        """A variable after a step."""
        name = self.names[number]
        if number in self.growing:
            return self.appended(self.growing[number].own(variable), name)
        return self.appended(variable, name) if isinstance(variable, Appended) else ending(variable, name)

    def appended(self, elements: Appended, name: str) -> Ending:
        """Flatten the elements that a step has appended to a list."""
        if self.length is None and not self.counts_steps:
            raise UncountedGrowth(
                f"{shown(name)} grows in a loop whose number of steps is not known before: assign to the elements of "
                f"an array that is long enough\n  at {user_source()}"
            )
        return ending([each if is_missing(each) else required(each) for each in elements.elements()], name)

    def with_parameters(self, number: int, roots: dict[Key, Tracer]) -> Parts:
        start = self.starts[number]
        if number in self.growing:
            scope = active.scope
            assert scope is not None
            appended = scope.journal.made.setdefault(("appended", number), self.growing[number].empty())
            scope.journal.made[id(appended)] = appended
            return Parts([appended], ONE)

        def part(place: int, leaf: Any) -> Any:
            known = self.carried.get((number, place))
            if known is None:
                return leaf
            (dtype, weak), shape = known
            if (number, place) in self.lengths.changing:
                first = self.firsts[number, place]
                parameter, value = self.lengths.parameter((number, place), self.names[number], known[0], first)
            else:
                parameter = value = Input(ArrayType(dtype, shape, weak=weak), self.names[number])
            self.parameters.append(parameter)
            found = Tracer(value)
            if shape:
                roots[number, place] = found
            return found

        return Parts([part(place, leaf) for place, leaf in enumerate(start.leaves)], start.spec)

    def tested(self, number: Tracer, state: Sequence[Any]) -> tuple[Value | None, tuple[Guard, ...]]:
        if self.step.goes_on is None:
            return None, ()
        trace = current_trace()
        assert trace is not None
        mark = len(trace.guards.guards)
        test = self.step.goes_on(number, state)
        if not isinstance(test, Tracer):
            raise StaticLoop
        guards = tuple(trace.guards.guards[mark:])
        del trace.guards.guards[mark:]
        return test.value, guards

    # ---- between passes ----

    def grow(self, traced: Traced) -> bool:
        """Add carries, or widen their types, as a pass requires; return whether anything was changed."""
        found: Found = traced.result
        before = dict(self.carried), dict(self.lengths.changing), [*self.arrays], len(self.growing)
        # what was written before its variable was carried is not written any more
        self.arrays = {id(array): array for array, value in traced.written if value is not found.entered.get(id(array))}
        for number, (start, end) in enumerate(zip(found.starts, found.ends, strict=True)):
            self.compare(number, start, end, found)
        self.lengths.split(self.both_lengths(found))
        return (self.carried, self.lengths.changing, [*self.arrays], len(self.growing)) != before

    def both_lengths(self, found: Found) -> dict[Key, tuple[Extent, Extent]]:
        """The lengths of carried arrays whose length changes, before the loop and after a step."""
        lengths = {}
        for number, place in self.lengths.changing:
            start, end = self.leaf(number, place), found.ends[number].leaves[place].value
            assert end is not None
            lengths[number, place] = length_of(value_of(start, self.names[number])), length_of(end)
        return lengths

    def compare(self, number: int, start: Parts, end: Ending, found: Found) -> None:
        name = self.names[number]
        if number in self.growing:
            return
        if end.parts.is_undefined:
            if not start.is_undefined:
                raise CaptureError(f"{shown(name)} is deleted in a loop on traced values\n  at {user_source()}")
            return
        if start.is_undefined or outside(start, name).is_otherwise(end):
            if self.grows(number, start, end):
                return
            start, end = self.align(number, start, end)
            found.ends[number] = end
        for place, (one, other) in enumerate(zip(start.leaves, end.leaves, strict=True)):
            if not is_same(one, other.object):
                self.carry(number, place, one, other)

    def align(self, number: int, start: Parts, end: Ending) -> tuple[Parts, Ending]:
        """Align a variable that is None or undefined before the loop, or after a step: its value is carried beside a
        flag."""
        name = self.names[number]
        before, after = map(Ending.of, aligned(outside(self.starts[number], name).tree(), end.tree()))
        if before.parts.spec != after.parts.spec:
            raise CaptureError(
                f"{shown(name)} is {described(start)} before a step of a loop, and {described(end.parts)} after it: "
                f"give it one structure\n  at {user_source()}"
            )
        if before.parts.spec == start.spec and not start.is_undefined:
            return start, after
        leaves = [made_up(name, leaf, self.parameters) for leaf in before.leaves]
        self.starts[number] = Parts([outer(leaf) for leaf in leaves], before.parts.spec)
        self.carried = {key: kind for key, kind in self.carried.items() if key[0] != number}
        return self.starts[number], after

    def grows(self, number: int, start: Parts, end: Ending) -> bool:
        """Whether a variable is a list to which a step has appended."""
        before, after = start.whole(), end.parts.whole()
        if isinstance(after, Appended):
            after = after.elements()
            if self.length is None:
                self.appended(Appended(after), self.names[number])
        growing = Growing(self.names[number], before) if type(before) in (list, Appended) else None
        if growing is None or not growing.grown_to(after):
            return False
        self.growing[number] = growing
        return True

    def carry(self, number: int, place: int, start: Any, after: Leaf) -> None:
        name, end = self.names[number], after.value
        if type(after.object) is Outgrown and is_number(start):
            raise CaptureError(
                f"{shown(name)} may be what another variable was, which has changed: a loop or a branch on traced "
                f"values has bound one to the other. Assign new objects or lists to it\n  at {user_source()}"
            )
        if end is None or not is_number(start):
            raise CaptureError(
                f"{shown(name)} is {kind_of(start)}, and another thing after a step of a loop on traced values: only "
                f"numbers, arrays, and trees of them may change\n  at {user_source()}"
            )
        first = value_of(self.leaf(number, place), name)
        changes = self.lengths.changes((number, place), first, end, self.parameters)
        require_lasting(name, first, end, self.parameters, int(changes))
        if changes:
            self.lengths.note((number, place), first, end, self.parameters)
        known = self.carried.get((number, place), (kind(first.type),))[0]
        self.carried[number, place] = (joined(known, kind(end.type)), common_shape(first, end, name))

    # ---- the op ----

    def finish(self, traced: Traced) -> list[Any]:
        found: Found = traced.result
        aliases = Aliases(self.names, self.leaf, found, self.carried, self.arrays, traced.journal, length=self.length)
        aliases.require_apart()
        keys = sorted(self.carried)
        news = dict(
            zip([id(array) for array, _ in traced.written], [value for _, value in traced.written], strict=True)
        )
        first = int(self.step.counts)
        outputs: list[Value] = [registry["add"].bind(each, weak_constant(1)) for each in self.parameters[:first]]
        initial: list[Value] = [weak_constant(0) for _ in outputs]
        own = dict(zip(self.arrays, self.parameters[first:], strict=False))
        for key, array in self.arrays.items():
            outputs.append(news.get(key, own[key]))
            initial.append(array.value)
        for number, place in keys:
            start = value_of(self.leaf(number, place), self.names[number])
            initial.append(self.beginning((number, place), start))
        fitting, traced = traced.also(lambda: [self.fitting(key, found) for key in keys])
        counts = self.lengths.before_and_after(self.both_lengths(found))
        initial += [before for before, _ in counts]
        fitting += [after for _, after in counts]
        outputs += fitting
        if self.counts_steps:
            return self.bound(traced, found, initial, outputs)[:1]
        grown, traced = traced.also(lambda: self.appended_columns(found))
        outputs += [each for rows in grown.values() for each in rows]
        results = self.bound(traced, found, initial, outputs)
        stacked = iter(results[len(initial) :])
        lists = {
            number: self.growing[number].after([next(stacked) for _ in columns]) for number, columns in grown.items()
        }
        for number, each in lists.items():
            if isinstance(each, Stacked):
                aliases.note_appended(number, each.array)
        tracers = self.carried_results(keys, results[first + len(self.arrays) : len(initial)])
        aliases.renew_rebound(tracers)
        outgrow(self.state[number] for number in self.growing)
        for array, result in zip(self.arrays.values(), results[first:], strict=False):
            assign(array, with_array(result, array))
        aliases.note_shared(tracers)
        aliases.note_outside(tracers)
        after = [self.after(number, tracers, found.ends[number]) for number in range(len(self.names))]
        return [lists.get(number, each) for number, each in enumerate(after)]

    def beginning(self, key: Key, start: Value) -> Value:
        """A part of a variable before the loop, in the type that is carried."""
        target, shape = self.carried[key]
        if key in self.lengths.changing:
            return self.lengths.initial(key, target, start)
        return fitted(start, target, shape, self.names[key[0]])

    def fitting(self, key: Key, found: Found) -> Value:
        """A part of a variable after a step, in the type that is carried."""
        number, place = key
        end = found.ends[number].leaves[place].value
        assert end is not None
        if key in self.lengths.changing:
            return self.lengths.after_step(key, end, self.names[number])
        return fitted(end, *self.carried[key], self.names[number])

    def carried_results(self, keys: Sequence[Key], results: Sequence[Value]) -> dict[Key, Tracer]:
        """Return the parts of variables after the loop."""
        counts = dict(zip(self.lengths.counts, results[len(keys) :], strict=True))
        return {key: Tracer(self.lengths.result(key, each, counts)) for key, each in zip(keys, results, strict=False)}

    def appended_columns(self, found: Found) -> dict[int, list[Value]]:
        return {number: each.columns(found.ends[number], self.parameters) for number, each in self.growing.items()}

    def bound(self, traced: Traced, found: Found, initial: Sequence[Value], outputs: Sequence[Value]) -> list[Value]:
        nothing = flatten(())[1]
        parameters, initial = self.parameters, list(initial)
        carries = len(initial)
        used = with_late_lengths([*traced.used, *initial])
        values, guards = guards_without_masks(outputs, traced.guards, used)
        body = Body(tuple(values), nothing, guards, used)
        catcher_here().note_loop([*traced.guards, *found.test_guards])
        is_checked = body.is_checked or any(guard.ordered for guard in found.test_guards)
        if is_checked:
            parameters = [*parameters, Input(TRUE.type, "checked")]
            initial.append(TRUE)
            body = replace(body, outputs=(*body.outputs[:carries], TRUE, *body.outputs[carries:]))
        results = self.results(body, parameters, initial, found)
        if is_checked:
            require_to_run(results.pop(carries))
        return results

    def results(self, body: Body, parameters: list[Input], initial: list[Value], found: Found) -> list[Value]:
        count, nothing = len(body.outputs), flatten(())[1]
        if found.test is None:
            assert self.length is not None
            body, elements, arrays = with_sequences(body, parameters, parameters[0], self.length)
            parameters = [*parameters, *elements]
            hoisted = invariants(body, parameters)
            known = lambda node: body.is_used(node) or node in hoisted  # noqa: E731
            closed = close(parameters, body.outputs, name="step", known=known, guards=body.guards)
            operands = (*initial, *arrays, *closed.captures)
            counts = len(initial), len(arrays)
            loop = Loop(self.length, operands, closed.region, *counts, reverse=False, checkpoint=active.checkpoints)
            return [loop.result(number) for number in range(count)]
        (test,), guards = guards_without_masks([found.test], found.test_guards, body.used)
        condition = Body((test,), nothing, guards, body.used)
        hoisted = invariants(body, parameters) | invariants(condition, parameters)
        drafts = Draft("goes_on", condition.outputs, condition.guards), Draft("step", body.outputs, body.guards)
        regions, captures = close_together(parameters, drafts, lambda node: body.is_used(node) or node in hoisted)
        attrs = {"condition": regions[0], "body": regions[1], "carries": len(parameters)}
        if active.checkpoints:
            attrs["checkpoint"] = True
        bind = registry["while_loop"].bind
        return [bind(*initial, *captures, **attrs, result=number) for number in range(count)]

    def after(self, number: int, tracers: dict[Key, Tracer], end: Ending) -> Any:
        start = self.starts[number]
        if end.parts.is_undefined:
            return UNDEFINED
        leaves = [tracers.get((number, place), leaf) for place, leaf in enumerate(start.leaves)]
        return Parts(leaves, start.spec).whole()


def captured(
    names: Sequence[str], state: Sequence[Any], step: Step, site: Any, length: Value | None = None
) -> list[Any]:
    """Capture a loop, and return the variables after it."""

    def run(names: Sequence[str], state: Sequence[Any], step: Step) -> list[Any]:
        active.loops += 1
        with at_source(user_source()):
            try:
                with tried():
                    return Capture(names, state, step, length).variables(site)
            except UncountedGrowth:
                if ORDER in names:
                    raise
            (steps,) = Capture(names, state, step.counted(), None, counts_steps=True).variables(site)
            return Capture(names, state, step.counted(goes_on=False), steps).variables(site)

    def again(order: Tracer) -> tuple[Any, list[Any]]:
        first, *others = run((ORDER, *names), (order, *state), step.in_order())
        return first, others

    return with_order(lambda: run(names, state, step), again)
