"""Graphs with lengths that the data decide, as graphs that run one after the other.

A program must know the lengths of its arrays before it runs. Where one follows from what a loop nest or a call
computes, the graph is cut there: an earlier graph computes the number, and hands it, with other things that are not to
be computed twice, to a later one.
"""

from __future__ import annotations

from collections.abc import Sequence

from numbagraph.ir import shapes
from numbagraph.ir.abi import ArrayLeaf, Leaf, ScalarLeaf
from numbagraph.ir.graph import Graph, Guard, substitute
from numbagraph.ir.op import registry
from numbagraph.ir.regions import in_terms_of
from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.values import Input, Node, Value, python_type
from numbagraph.loops.fusion import everything, extents_of, is_barrier


class Phase(Struct):
    """A part of a graph."""

    graph: Graph
    """The graph of the phase. Its inputs are the arguments, the values that earlier phases hand to it, and the captured
    arrays."""
    handed: tuple[int, ...]
    """The values that earlier phases hand to this one, by their numbers among the results of all earlier phases."""
    leaves: tuple[Leaf, ...]
    """The layouts of the ``handed`` values."""


class Levels:
    """The phase in which each value of a graph can be computed, and from which on it can be a length."""

    def __init__(self, graph: Graph) -> None:
        self.of: dict[Value, int] = {}
        self._ready: dict[Value, int] = {}
        stack = list(everything(graph))
        while stack:
            value = stack[-1]
            inputs = value.inputs if isinstance(value, Node) else ()
            missing = [each for each in (*inputs, *extents_of(value)) if each not in self.of and each is not value]
            stack += missing
            if missing:
                continue
            stack.pop()
            lengths = [self._ready[each] for each in extents_of(value)]
            self.of[value] = max([0, *lengths, *(self.of[each] for each in inputs)])
            ready = max([0, *(self._ready[each] for each in inputs)])
            self._ready[value] = max(ready, self.of[value] + 1) if is_barrier(value) else ready

    @property
    def last(self) -> int:
        return max(self.of.values(), default=0)


def phases_of(graph: Graph, captured: int) -> list[Phase]:
    """The phases of a graph, the last ``captured`` inputs of which are captured arrays."""
    levels = Levels(graph)
    last = levels.last
    guards = [[each for each in graph.guards if levels.of[each.condition] == level] for level in range(last + 1)]
    outputs: list[list[Value]] = [[] for _ in range(last)] + [list(graph.outputs)]
    crossing: list[list[Value]] = [[] for _ in range(last + 1)]
    for level in range(last, -1, -1):
        roots = [*outputs[level], *(each.condition for each in guards[level])]
        crossing[level] = from_before(roots, level, levels)
        for value in crossing[level]:
            if value not in outputs[levels.of[value]]:
                outputs[levels.of[value]].append(value)
    numbers = {value: number for number, value in enumerate(value for some in outputs[:-1] for value in some)}
    first = len(graph.inputs) - captured
    found = []
    for level in range(last + 1):
        given = sorted(crossing[level], key=lambda value: (value.ndim, numbers[value]))
        part = phase_graph(graph, first, given, outputs[level], guards[level], is_last=level == last)
        leaves = tuple(map(leaf_of, given))
        found.append(Phase(replace(part, name=f"{graph.name}.{level}"), tuple(numbers[each] for each in given), leaves))
    return found


def from_before(roots: Sequence[Value], level: int, levels: Levels) -> list[Value]:
    """The values among those that ``roots`` follow from which earlier phases compute, and which this phase should not
    compute again."""
    found: dict[Value, None] = {}
    stack, seen = list(roots)[::-1], set[Value]()
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        if is_barrier(value) and levels.of[value] < level:
            found[value] = None
            stack += extents_of(value)
        else:
            stack += extents_of(value)
            stack += reversed(value.inputs) if isinstance(value, Node) else ()
    return list(found)


def phase_graph(
    graph: Graph,
    first: int,
    given: Sequence[Value],
    outputs: Sequence[Value],
    guards: Sequence[Guard],
    *,
    is_last: bool,
) -> Graph:
    """The graph of one phase, for the arguments, the values that earlier phases hand to it, and the captured arrays,
    which begin with input ``first``."""
    mapped: dict[Value, Value] = {}
    for number, value in enumerate(given):  # numbers first: lengths follow from them
        mapped[value] = Input(in_terms_of(value.type, mapped), f"handed{number}")
    with shapes.collect_guards():
        roots = [*outputs, *(each.condition for each in guards)]
        results = substitute(roots, mapped)
    own = results[: len(outputs)]
    if not is_last:  # a number goes from one phase to the next as a scalar of NumPy
        own = [each if each.ndim or each.type.weak else registry["as_scalar"].bind(each) for each in own]
    checks = tuple(replace(each, condition=new) for each, new in zip(guards, results[len(outputs) :], strict=True))
    inputs = (*graph.inputs[:first], *(mapped[each] for each in given), *graph.inputs[first:])
    return Graph(inputs, tuple(own), checks, graph.equalities, graph.name, graph.stabilised)  # type: ignore[arg-type]


def leaf_of(value: Value) -> Leaf:
    """The layout in which a value is handed over. It is not known whether any of its lengths is 1."""
    kind = python_type(value.type)
    return ScalarLeaf(kind) if kind is not None else ArrayLeaf(value.dtype, (None,) * value.ndim)
