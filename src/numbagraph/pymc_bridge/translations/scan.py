"""Translation of PyTensor's loops (`Scan`).

Of what a loop computes, PyTensor keeps a buffer: its first rows are the values before the first step, and each step
writes one row behind them. A buffer with fewer rows than that keeps the last ones, the oldest first; rows that no step
writes are zeros. Here, a loop carries those rows that a step reads, and stacks what it computes.

The buffers of derivatives (mit-mot) are read and written at several rows in each step. The rows that a step reads move
on by one from step to step: they are carried, but for the newest, which is an element of a sequence, and the oldest is
stacked once a step is done with it. So a step costs as much as it has rows, not as the buffer has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply
from pytensor.scan.op import Scan

from numbagraph.blockwise.lengths import plus, split_offset
from numbagraph.blockwise.promotion import convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Draft, close_together
from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import ArrayType, Constant, Extent, Input, Node, Value, constant
from numbagraph.ops.control.loop import Loop
from numbagraph.ops.control.operands import stand_ins
from numbagraph.ops.indexing.slicing import narrow
from numbagraph.ops.indexing.subscripts import index
from numbagraph.ops.shape import broadcast_value, expand_at
from numbagraph.pymc_bridge.importer import Importer, UnsupportedOp, describe, imports
from numbagraph.pymc_bridge.translations.inner_graphs import body_of_loop, closed_body, in_best_form, known_around
from numbagraph.pymc_bridge.translations.nested_ops import IN_THE_MODE
from numbagraph.pymc_bridge.translations.structure import length_of


class Buffer(Struct, eq=False):
    """A result of a loop that steps read: values of several steps, one a row."""

    rows: Value
    reads: tuple[int, ...]
    """The rows that a step reads, counted from the oldest that it knows."""
    writes: tuple[int, ...]
    """The rows that it writes."""

    @property
    def depth(self) -> int:
        """The number of rows before the first step; each step adds one."""
        return max(*self.reads, *self.writes)

    @property
    def length(self) -> Extent:
        return self.rows.shape[0]

    def end(self, steps: Extent) -> Extent:
        """The number of rows that so many steps know."""
        return plus(steps, self.depth)

    def before(self, count: int) -> list[Value]:
        """The rows before the first step, preceded by rows that are never read."""
        known = [index(self.rows, number) for number in range(self.depth)]
        return [known[0]] * (count - self.depth) + known


class Parts:
    """The operands of a loop by their roles, in PyTensor's order."""

    def __init__(self, node: Apply, inputs: Sequence[Any]) -> None:
        info = node.op.info
        rest = iter(inputs)
        take = taker(rest)
        self.steps = length_of(next(rest))
        self.sequences = [first_rows(each, self.steps) for each in take(info.n_seqs)]
        self.derivatives = [
            Buffer(rows, from_oldest(reads, reads), from_oldest(writes, reads))
            for rows, reads, writes in zip(
                take(info.n_mit_mot), info.mit_mot_in_slices, info.mit_mot_out_slices, strict=True
            )
        ]
        taps = (*info.mit_sot_in_slices, *info.sit_sot_in_slices)
        self.states = [
            Buffer(rows, from_oldest(reads, reads), (-min(reads),))
            for rows, reads in zip(take(len(taps)), taps, strict=True)
        ]
        self.lengths = [length_of(each) for each in take(info.n_nit_sot)]
        self.untraced = take(info.n_untraced_sit_sot)
        self.others = list(rest)
        self.as_while = info.as_while


def from_oldest(taps: Sequence[int], reads: Sequence[int]) -> tuple[int, ...]:
    """Taps, counted from the oldest row that a step reads."""
    oldest = min(0, *reads)
    return tuple(tap - oldest for tap in taps)


def first_rows(value: Value, count: Extent) -> Value:
    """The first rows of a sequence, one for each step: PyTensor refuses fewer rows, and does not read more."""
    found = distance(value.shape[0], count)
    if found == 0:
        return value
    text = f"a loop of {shapes.resolve(count)} steps over {value.type}"
    shapes.require(shapes.compare("greater_equal", value.shape[0], count), text)
    return narrow(value, -value.ndim, 0, count)


def distance(left: Extent, right: Extent) -> int | None:
    """``left - right``, if it is the same whatever the lengths are."""
    (one, here), (other, there) = map(offset_of, (left, right))
    return here - there if shapes.same(one, other) else None


def offset_of(extent: Extent) -> tuple[Extent, int]:
    """An extent as another extent plus a number, where it may be arithmetic of PyTensor's."""
    offset = 0
    while True:
        extent, more = split_offset(extent)
        offset += more
        if not isinstance(extent, Node) or extent.op.name not in ("cast", "add", "subtract"):
            return extent, offset
        known = [each for each in extent.inputs if isinstance(each, Constant)]
        others = [each for each in extent.inputs if not isinstance(each, Constant)]
        if len(others) != 1 or others[0].ndim or others[0].dtype.kind not in "iu":
            return extent, offset
        if extent.op.name == "subtract" and extent.inputs[0] in known:
            return extent, offset
        offset += sum(int(each.data) for each in known) * (-1 if extent.op.name == "subtract" else 1)
        extent = others[0]


class Translation:
    """A loop in translation: its carries, its sequences, and the body of a step.

    It carries rows of derivatives, rows of states, and untraced values. It runs over sequences, and the newest rows of
    derivatives; one that may end before has the number of the step instead.
    """

    def __init__(self, importer: Importer, node: Apply, inputs: Sequence[Any]) -> None:
        self.importer, self.node = importer, node
        self.parts = parts = Parts(node, inputs)
        self.kept = [kept_rows(each, parts.steps) for each in parts.states]
        self.initial = [row for each in parts.derivatives for row in each.before(each.depth)]
        for state, kept in zip(parts.states, self.kept, strict=True):
            self.initial += state.before(kept)
        self.initial += parts.untraced
        self.xs = [*parts.sequences, *(newest_rows(each, parts.steps) for each in parts.derivatives)]
        self.carries = stand_ins([each.type for each in self.initial], "carry")
        self.number = Input(ArrayType(INT64, ()), "number")
        rows = stand_ins([each.type.with_shape(each.shape[1:]) for each in self.xs], "x")
        self.parameters = [*self.carries, *([self.number] if parts.as_while else rows)]
        self.elements = [self.element(each) for each in self.xs] if parts.as_while else rows
        self.step()

    def element(self, rows: Value) -> Value:
        """The row of a step, by its number."""
        with shapes.collect_guards():  # it is one of those that there are
            return index(rows, self.number)

    def step(self) -> None:
        """Translate a step: its new carries, and the values that it stacks."""
        parts, sequences = self.parts, len(self.parts.sequences)
        take = taker(self.carries)
        windows: list[list[Value]] = [
            [*take(each.depth), newest]
            for each, newest in zip(parts.derivatives, self.elements[sequences:], strict=True)
        ]
        states = [take(kept) for kept in self.kept]
        taps = [window[read] for each, window in zip(parts.derivatives, windows, strict=True) for read in each.reads]
        for each, rows in zip(parts.states, states, strict=True):
            taps += [rows[len(rows) - each.depth + read] for read in each.reads]
        untraced = take(len(parts.untraced))
        graph, inside = self.node.op.fgraph, self.importer.part()
        given = [*self.elements[:sequences], *taps, *untraced, *parts.others]
        inside.values.update(zip(graph.inputs, given, strict=True))
        around = [each for each in (*parts.others, *self.xs) if isinstance(each, Value)]
        self.body = body_of_loop(inside, graph.outputs, around, self.parameters)
        results = iter(self.body.outputs)
        for each, window in zip(parts.derivatives, windows, strict=True):
            for write in each.writes:
                window[write] = next(results)
        self.new = [next(results) for _ in states]
        self.oldest = [window[0] for window in windows]
        self.others = [next(results) for _ in parts.lengths]
        after = [row for window in windows for row in window[1:]]
        after += [row for rows, new in zip(states, self.new, strict=True) for row in (*rows[1:], new)]
        after += [next(results) for _ in untraced]
        self.after = [self.fitted(*each) for each in zip(after, self.carries, strict=True)]
        self.until = next(results, None)

    def fitted(self, value: Value, carry: Value) -> Value:
        """Require a new carry to have the shape of the carry before, and return it."""
        text = f"a step of the loop that computes {describe(self.node.outputs[0])} makes {value.type} of {carry.type}"
        for one, other in zip(value.shape, carry.shape, strict=True):
            shapes.require_same(one, other, text)
        return value

    def all_steps(self) -> list[Value]:
        """The results of a loop that takes all of its steps."""
        parts, stacked = self.parts, [*self.oldest, *self.new, *self.others]
        body = replace(self.body, outputs=(*self.after, *stacked))
        closed = closed_body(body, self.parameters, "step")
        operands, carries = (*self.initial, *self.xs, *closed.captures), len(self.initial)
        loop = Loop(shapes.as_value(parts.steps), operands, closed.region, carries, len(self.xs), reverse=False)
        last = taker([loop.result(number) for number in range(carries)])
        rows = iter([loop.result(carries + number) for number in range(len(stacked))])
        found = [whole(each, next(rows), last(each.depth), parts.steps) for each in parts.derivatives]
        for state, kept in zip(parts.states, self.kept, strict=True):
            ends, new = last(kept), next(rows)
            found.append(
                few_rows(state, ends, parts.steps)
                if kept == shapes.resolve(state.rows.shape[0])
                else in_buffer([*map(as_row, state.before(state.depth)), new], state.end(parts.steps), state.length)
            )
        found += [in_buffer([each], parts.steps, length) for each, length in zip(rows, parts.lengths, strict=True)]
        return [*found, *last(len(parts.untraced))]

    def last_values(self, until: Value) -> list[Value]:
        """The results of a loop that ends when a condition holds: as many steps as it takes, so many rows it computes,
        and only the last ones have a length that is known."""
        parts = self.parts
        all_few = all(kept == shapes.resolve(state.length) for kept, state in zip(self.kept, parts.states, strict=True))
        if parts.derivatives or not all_few or any(shapes.resolve(each) != 1 for each in parts.lengths):
            raise UnsupportedOp(
                f"{describe(self.node.outputs[0])} is the result of a loop that ends when a condition holds: its "
                "length is not known before",
                advice=f"Let the loop take all of its steps, and choose among the values. {IN_THE_MODE}",
            )
        shapes.require(shapes.compare("greater_equal", parts.steps, 1), "a loop that may end before takes no step")
        goes_on = Input(ArrayType(BOOL, ()), "goes_on")
        others = stand_ins([each.type for each in self.others], "last")
        parameters = [*self.carries, *others, self.number, goes_on]
        after = [*self.after, *self.others, self.number + constant(np.int64(1))]
        body = replace(self.body, outputs=(*after, registry["logical_not"](convert(until, BOOL))))
        more = registry["less"](self.number, shapes.as_value(parts.steps))
        drafts = Draft("goes_on", [registry["logical_and"](goes_on, more)]), Draft("step", body.outputs, body.guards)
        regions, captures = close_together(parameters, drafts, known_around([body], parameters))
        operands = [*self.initial, *map(zeros_like, self.others), constant(np.int64(0)), constant(np.bool_(True))]
        attrs = {"condition": regions[0], "body": in_best_form(regions[1]), "carries": len(parameters)}
        bind = registry["while_loop"].bind
        last = taker([bind(*operands, *captures, **attrs, result=number) for number in range(len(parameters))])
        states = [stacked(last(kept)) for kept in self.kept]
        untraced = last(len(parts.untraced))
        return [*states, *map(as_row, last(len(others))), *untraced]


def taker(values: Iterable[Any]) -> Callable[[int], list[Any]]:
    """Return a function that takes the next values, a given number at a time."""
    rest = iter(values)
    return lambda count: [next(rest) for _ in range(count)]


def kept_rows(state: Buffer, steps: Extent) -> int:
    """The number of rows of a state that are carried: those that a step reads, or all of a buffer that has hardly
    more."""
    length = shapes.resolve(state.length)
    few = isinstance(length, int) and state.depth <= length <= state.depth + 1
    return length if few and distance(length, state.end(steps)) != 0 else state.depth  # type: ignore[return-value]


def newest_rows(buffer: Buffer, steps: Extent) -> Value:
    """The rows of a derivative's buffer that the steps read for the first time, one each."""
    text = f"a loop of {shapes.resolve(steps)} steps over a buffer of {buffer.rows.type}"
    if distance(buffer.length, buffer.end(steps)) != 0:
        shapes.require(shapes.compare("greater_equal", buffer.length, buffer.end(steps)), text)
    return narrow(buffer.rows, -buffer.rows.ndim, buffer.depth, steps)


def whole(buffer: Buffer, finished: Value, last: Sequence[Value], steps: Extent) -> Value:
    """The buffer of a derivative after the loop: the rows that steps are done with, the last ones, and the rows
    behind."""
    end, pieces = buffer.end(steps), [finished, *map(as_row, last)]
    if distance(buffer.length, end) != 0:
        pieces.append(narrow(buffer.rows, -buffer.rows.ndim, end, shapes.subtract(buffer.length, end)))
    return joined(pieces)


def few_rows(state: Buffer, last: Sequence[Value], steps: Extent) -> Value:
    """The buffer of a state that has as many rows as were carried."""
    found = stacked(last)
    if len(last) == state.depth:
        return found
    took_steps = shapes.compare("greater_equal", steps, 1)
    return found if took_steps is True else registry["where"](took_steps, found, state.rows)


def in_buffer(pieces: Sequence[Value], count: Extent, length: Extent) -> Value:
    """``count`` rows in a buffer that may have more, or fewer."""
    rows, more = joined(pieces), distance(length, count)
    if more == 0:
        return rows
    if more is not None and more < 0:
        return narrow(rows, -rows.ndim, -more, length)
    behind = 1 if more is None else more
    padded = joined([rows, broadcast_value(constant(0, dtype=rows.dtype), (behind, *rows.shape[1:]))])
    if more is not None:
        return padded
    first = shapes.maximum(shapes.subtract(count, length), 0)
    places = registry["arange"](shapes.as_value(length)) + shapes.as_value(first)
    return index(padded, registry["minimum"](places, shapes.as_value(count)))


def as_row(value: Value) -> Value:
    return expand_at(value, (0,))


def stacked(values: Sequence[Value]) -> Value:
    return joined(list(map(as_row, values)))


def joined(pieces: Sequence[Value]) -> Value:
    return pieces[0] if len(pieces) == 1 else registry["concatenate"](pieces, 0)


def zeros_like(value: Value) -> Value:
    return broadcast_value(constant(0, dtype=value.dtype), value.shape)


@imports(Scan)
def scan(importer: Importer, node: Apply, *inputs: Any) -> list[Value]:
    found = Translation(importer, node, inputs)
    return found.all_steps() if found.until is None else found.last_values(found.until)
