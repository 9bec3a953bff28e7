"""Scalar replacement of short arrays in a block of lanes: an element becomes a value that has the lanes alone.

Vectors then run along the lanes, whatever the arrays' own shapes are. LLVM calls this scalar replacement of aggregates.
"""

from __future__ import annotations

import operator
from collections.abc import Container, Sequence
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from numbagraph.blockwise.lowering import Assemble, Cast, Map, Reduce, View
from numbagraph.ir import shapes
from numbagraph.ir.graph import Guard, guard_values, substitute, with_guard_values
from numbagraph.ir.op import registry
from numbagraph.ir.values import ArrayType, Constant, Input, Node, Value, at_source, toposort
from numbagraph.transforms.interpret import interpret

LARGEST = 32
"""The largest number of elements of an array that is replaced."""

MOST = 3_000
"""The largest number of elements that a step computes; beyond, code would take seconds to compile."""

FIRST = 1 << 40
"""The first of the numbers by which elements are followed through views: no constant that fills an array is one."""

PAIRWISE = {
    "sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "any": "logical_or", "all": "logical_and",
}  # fmt: skip
"""For reductions, the ops that join two elements."""


class Elements:
    """A value as a whole, or as the values of its elements; each is made from the other when it is asked for."""

    def __init__(self, lanes: int, whole: Value | None, parts: np.ndarray | None = None, *, in_lanes: bool) -> None:
        self.lanes = lanes
        self.in_lanes = in_lanes
        """Whether the first dimension of the whole is the lanes, which the elements have, too, unless they are the same
        for all lanes."""
        self._whole, self._parts = whole, parts
        self.row: tuple[Node, Sequence[Elements]] | None = None
        """For rows of unknown length, the elementwise node and its operands, so that an element can be computed alone.
        The whole is computed if it is asked for."""

    @property
    def ndim(self) -> int:
        if self._whole is not None:
            return self._whole.ndim
        if self.row is not None:
            return self.row[0].ndim
        assert self._parts is not None
        return self._parts.ndim + 1

    @property
    def whole(self) -> Value:
        if self._whole is None and self.row is not None:
            node, operands = self.row
            self._whole = node.op.bind(*(each.whole for each in operands), **node.attrs)
        if self._whole is None:
            parts = self._parts
            assert parts is not None
            each = [self.spread(part) for part in parts.flat]
            self._whole = (
                registry["reshape"](registry["stack"](each, -1), (self.lanes, *parts.shape)) if parts.ndim else each[0]
            )
        return self._whole

    def spread(self, part: Value) -> Value:
        return part if part.ndim else registry["broadcast_to"](part, (self.lanes,))

    def parts(self) -> np.ndarray | None:
        """The elements as an array of values; None if there are too many, or nobody knows how many."""
        if self._parts is None and self._whole is not None:
            self._parts = split(self._whole, leading=int(self.in_lanes))
        return self._parts


def split(whole: Value, *, leading: int) -> np.ndarray | None:
    """Return the elements of an array, each with the leading dimensions of it."""
    inner = lengths_of(whole, leading)
    if inner is None:
        return None
    parts = np.empty(inner, object)
    for place in np.ndindex(inner):
        part = whole
        for axis in range(len(inner)):
            part = registry["pick"].bind(part, shapes.as_value(place[axis]), axis=axis - len(inner), checked=False)
        parts[place] = part
    return parts


def lengths_of(value: Value, leading: int) -> tuple[int, ...] | None:
    """Return the lengths behind the leading dimensions of an array, if they are known and it has few elements there."""
    inner = [shapes.resolve(each) for each in value.shape[leading:]]
    known = tuple(each for each in inner if isinstance(each, int))
    return known if len(known) == len(inner) and 0 < prod(known) <= LARGEST else None


def count_of_elements(value: Value) -> int:
    """How many elements of a value are computed, if it is replaced."""
    return prod(lengths_of(value, 1) or ()) if isinstance(value, Node) else 0


class ShortArrays:
    """The short arrays among what a loop over lanes takes.

    Parameters
    ----------
    parameters
        The loop's inputs. The first dimension of those in ``batched`` is the lanes.
    carries
        How many of them it carries. Unless some of these are short arrays, nothing is replaced.
    batched
        The inputs with lanes.
    lanes
        The number of lanes.
    replaced
        The number of parameters, from the first on, that may be replaced; by default all.
    """

    def __init__(
        self,
        parameters: Sequence[Input],
        carries: int,
        batched: Container[Value],
        lanes: int,
        replaced: int | None = None,
    ) -> None:
        self.parameters, self.carries, self.lanes = parameters, carries, lanes
        self.wholes = [each for each in parameters if each in batched]
        self.parts: dict[Value, np.ndarray] = {}
        for each in parameters[:replaced]:
            if each not in batched:
                continue
            inner = lengths_of(each, 1)
            if inner:
                parts = self.parts[each] = np.empty(inner, object)
                for place in np.ndindex(inner):
                    parts[place] = Input(ArrayType(each.dtype, (lanes,)), each.name)
        if self.parts.keys().isdisjoint(parameters[:carries]):
            self.parts = {}
        self.same = {each for each in parameters[carries:replaced] if each in batched and each not in self.parts}
        """The other arrays with lanes that are the same in each step."""
        self.picked: dict[Value, Input] = {}
        """What is picked of them, which becomes an input of its own."""

    @property
    def inputs(self) -> list[Input]:
        """The parameters, with those of elements in the places of short arrays."""
        found = [one for each in self.parameters for one in self.parts.get(each, np.array([each])).flat]
        return [*found, *self.picked.values()]

    def count(self, number: int) -> int:
        """How many inputs stand for the first parameters."""
        return len(self.for_inputs([True] * number))

    def for_inputs(self, flags: Sequence[bool]) -> list[bool]:
        """Return the flags of the inputs, given those of the first parameters."""
        pairs = zip(self.parameters, flags, strict=False)
        return [flag for each, flag in pairs for _ in range(self.parts[each].size if each in self.parts else 1)]

    def taken_apart(self, values: Sequence[Value]) -> list[Value]:
        """Return what takes the places of the inputs, given what takes those of the parameters."""
        found: list[Value] = []
        for each, value in zip(self.parameters, values, strict=True):
            parts = split(value, leading=1) if each in self.parts else None
            found += [value] if parts is None else parts.flat
        given: dict[Value, Value] = dict(zip(self.parameters, values, strict=True))
        return [*found, *substitute(list(self.picked), given)]

    def put_together(self, values: Sequence[Value]) -> list[Value]:
        """Return what takes the places of the parameters that are carried, given what takes those of their inputs: a
        value of a step, or of all steps, with the lanes first."""
        found, rest = [], iter(values)
        for each in self.parameters[: self.carries]:
            parts = self.parts.get(each)
            if parts is None:
                found.append(next(rest))
                continue
            columns = [next(rest) for _ in range(parts.size)]
            found.append(registry["reshape"](registry["stack"](columns, -1), (*columns[0].shape, *parts.shape)))
        return found

    def computed(self, outputs: Sequence[Value], guards: Sequence[Guard]) -> tuple[list[Value], list[Guard]]:
        """Return what the loop carries on and stacks, and its guards, computed from inputs instead of parameters."""
        values = [*outputs, *guard_values(guards)]
        if sum(map(count_of_elements, toposort(values))) > MOST:
            self.parts = {}
        if not self.parts:
            return list(outputs), list(guards)
        found = self.elements_of(values)
        inside: list[Value] = []
        for number, output in enumerate(found[: len(outputs)]):
            is_replaced = number < self.carries and self.parameters[number] in self.parts
            parts = output.parts() if is_replaced else None
            inside += [output.whole] if parts is None else map(output.spread, parts.flat)
        return inside, list(with_guard_values(guards, [each.whole for each in found[len(outputs) :]]))

    def elements_of(self, outputs: Sequence[Value]) -> list[Elements]:
        """Return values of a block, computed element by element where that can be."""
        environment: dict[Value, Elements] = {}
        for each in self.wholes:
            parts = self.parts.get(each)
            environment[each] = Elements(self.lanes, each if parts is None else None, parts, in_lanes=True)
        return interpret(outputs, environment, lambda each: Elements(self.lanes, each, in_lanes=False), self.apply)

    def apply(self, node: Node, operands: list[Elements]) -> Elements:
        if not any(each.in_lanes for each in operands):
            wholes = [each.whole for each in operands]
            is_same = all(map(operator.is_, wholes, node.inputs))  # not so behind what joins all lanes
            return Elements(self.lanes, node if is_same else node.op.bind(*wholes, **node.attrs), in_lanes=False)
        is_picked = node.op is registry["pick"] and isinstance(node.inputs[1], Constant) and operands[0].ndim == 2
        with at_source(node.source):
            if is_picked and operands[0].parts() is None:
                return Elements(self.lanes, self.element(operands[0], node), in_lanes=True)
            if is_row(node, operands, self.lanes):
                row = Elements(self.lanes, None, in_lanes=True)
                row.row = node, operands
                return row
            parts = of_node(node, operands, self.lanes)
            if parts is not None:
                return Elements(self.lanes, None, parts, in_lanes=True)
            found = node.op.bind(*(each.whole for each in operands), **node.attrs)
        return Elements(self.lanes, found, in_lanes=bool(found.ndim) and found.shape[0] == self.lanes)

    def element(self, value: Elements, pick: Node) -> Value:
        """Return the element of rows of unknown length at a place."""
        if value.row is None:
            found = pick.op.bind(value.whole, *pick.inputs[1:], **pick.attrs)
            return self.picked.setdefault(found, Input(found.type, "picked")) if value.whole in self.same else found
        node, operands = value.row
        numbers = []
        for each in operands:
            parts = each.parts()
            numbers.append(self.element(each, pick) if parts is None else parts.flat[0])
        return node.op.bind(*numbers, **node.attrs)


def is_row(node: Node, operands: Sequence[Elements], lanes: int) -> bool:
    """Whether a node computes the elements of rows of unknown length, each from those of the same place."""
    if not is_elementwise(node) or node.ndim != 2 or node.shape[0] != lanes or lengths_of(node, 1) is not None:
        return False
    return all(is_alike(value, each, node) for value, each in zip(node.inputs, operands, strict=True))


def is_alike(value: Value, elements: Elements, row: Node) -> bool:
    """Whether an operand is a number for each lane or for all, or a row of the same length."""
    parts, with_lanes = elements.parts(), elements.in_lanes
    if parts is not None:
        return parts.size == 1 and (not with_lanes or value.ndim == row.ndim)
    same = shapes.resolve(value.shape[-1]) == shapes.resolve(row.shape[-1])
    return same and value.ndim == row.ndim - (not with_lanes)


def is_elementwise(node: Node) -> bool:
    return isinstance(node.op.lower, (Map, Cast)) or (node.op.kind == "identity" and not node.attributes)


def of_node(node: Node, operands: Sequence[Elements], lanes: int) -> np.ndarray | None:
    """Return the elements of a result; None if it is computed as a whole."""
    if not node.ndim or node.shape[0] != lanes or lengths_of(node, 1) is None:
        return None
    lower = node.op.lower
    if is_elementwise(node):
        return by_elements(node, operands)
    if (isinstance(lower, View) and node.op.kind != "identity") or (isinstance(lower, Assemble) and not lower.reducer):
        return followed(node, operands, lanes)
    return reduced(node, operands[0]) if isinstance(lower, Reduce) else None


def by_elements(node: Node, operands: Sequence[Elements]) -> np.ndarray | None:
    """Apply an elementwise op to the elements of broadcast operands."""
    inner = lengths_of(node, 1)
    assert inner is not None
    aligned = []
    for each in operands:
        # an array without the lanes may have fewer dimensions; one with them has them where the result has
        fits = each.ndim == node.ndim if each.in_lanes else each.ndim < node.ndim
        parts = each.parts() if fits else None
        if parts is None:
            return None
        aligned.append(np.broadcast_to(parts, inner))
    found = np.empty(inner, object)
    for place in np.ndindex(inner):
        found[place] = node.op.bind(*(each[place] for each in aligned), **node.attrs)
    return found


def followed(node: Node, operands: Sequence[Elements], lanes: int) -> np.ndarray | None:
    """Return the elements of an array that is put together from others, found by running the op on numbers that name
    elements."""
    numbers: list[Any] = []
    named: list[tuple[int, np.ndarray]] = []
    end = FIRST
    for source, each in zip(node.inputs, operands, strict=True):
        if not each.in_lanes:
            if not isinstance(source, Constant) or source.dtype.kind not in "iu":
                return None
            numbers.append(source.data[()])
            continue
        parts = each.parts()
        if parts is None or source.dtype != node.dtype:
            return None
        numbers.append(np.arange(end, end + lanes * parts.size).reshape(lanes, *parts.shape))
        named.append((end, parts))
        end += lanes * parts.size
    inner = lengths_of(node, 1)
    places = np.asarray(node.op.reference(*numbers, **node.attrs))
    if places.shape != (lanes, *(inner or ())) or places.dtype != np.int64:
        return None
    found = np.empty(places.shape[1:], object)
    for place in np.ndindex(found.shape):
        first = int(places[(0, *place)])
        begin, parts = max((one for one in named if one[0] <= first), key=lambda one: one[0], default=(0, None))
        if parts is None or first - begin >= parts.size:
            return None
        if not np.array_equal(places[(slice(None), *place)], first + parts.size * np.arange(lanes)):
            return None
        found[place] = parts.flat[first - begin]
    return found


def reduced(node: Node, operand: Elements) -> np.ndarray | None:
    """Join the elements along some axes, one after the other."""
    joins = PAIRWISE.get(node.op.name)
    parts = operand.parts() if operand.in_lanes and joins is not None and set(node.attrs) == {"axes"} else None
    if joins is None or parts is None or node.dtype != node.inputs[0].dtype:
        return None
    places = sorted(axis % operand.ndim - 1 for axis in node.attrs["axes"])
    if places[0] < 0:
        return None
    kept = [axis for axis in range(parts.ndim) if axis not in places]
    rows = parts.transpose(*kept, *places).reshape(*(parts.shape[axis] for axis in kept), -1)
    found = np.empty(rows.shape[:-1], object)
    for place in np.ndindex(found.shape):
        found[place] = reduce(registry[joins], rows[place])
    return found
