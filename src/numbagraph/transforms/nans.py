"""The search for the operation of a graph that first made a NaN of operands that have none.

The graph is run with NumPy, and the way of the NaN is followed back from the results. Through elementwise operations
that is done element by element, so what `where` does not choose is not looked at. A loop or a branch that made it is
run once more, and its regions are looked into: the error then says which step it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numbagraph.blockwise import lowering
from numbagraph.ir.graph import Graph
from numbagraph.ir.values import Node, Value
from numbagraph.transforms.interpret import (
    Environment,
    Evaluation,
    bind,
    describe,
    effects,
    operation_of,
    regions,
    saying,
)


def faults(array: Any, infs: bool) -> np.ndarray | None:
    """Return a mask of the NaNs of an array, or also of its infinities; None if it has none."""
    array = np.asarray(array)
    if array.dtype.kind not in "fc":
        return None
    found = ~np.isfinite(array) if infs else np.isnan(array)
    return found if found.any() else None


class Followed(Evaluation):
    """A run of a graph that notes where values have faults."""

    def __init__(self, graph: Graph, environment: Environment, infs: bool) -> None:
        super().__init__(graph, environment)
        self.infs = infs
        self.faults: dict[Value, np.ndarray] = {}
        for value, found in environment.items():
            self.note(value, found)

    def note(self, value: Value, result: Any) -> Any:
        found = faults(result, self.infs)
        if found is not None:
            self.faults[value] = found
        return result

    def leaf(self, value: Value) -> Any:
        return self.note(value, super().leaf(value))

    def apply(self, node: Node, operands: list[Any]) -> Any:
        return self.note(node, super().apply(node, operands))

    def first_maker(self) -> Node | None:
        """Return the first value with a fault that comes from none of its operands, of those whose faults are in
        results."""
        makers, seen = set(), set()
        stack = [each for each in self.graph.outputs if each in self.faults]
        while stack:
            value = stack.pop()
            if value in seen or not isinstance(value, Node):
                continue
            seen.add(value)
            origins = self.origins(value)
            if self.new(value, origins).any():
                makers.add(value)
            stack += origins
        return next((each for each in self.graph.order if each in makers), None)  # type: ignore[misc]

    def origins(self, node: Node) -> list[Value]:
        """The operands that the faults of a value may come from."""
        found = [each for each in node.inputs if each in self.faults]
        if not is_elementwise(node):
            return found
        return [each for each in found if (self.faults[each] & self.faults[node]).any()]

    def new(self, node: Node, origins: Sequence[Value]) -> np.ndarray:
        """The faults of a value that come from none of its operands."""
        found = self.faults[node]
        if not is_elementwise(node):
            return found & (not origins)
        for each in origins:
            found = found & ~self.faults[each]
        return found


def is_elementwise(node: Node) -> bool:
    return isinstance(node.op.lower, lowering.Map)


def blame(graph: Graph, arrays: Sequence[Any], infs: bool = False) -> None:
    """Raise for the operation that first made a NaN which a result has.

    If all of them come from inputs and constants, that is no fault.

    Parameters
    ----------
    graph
        What has given a NaN.
    arrays
        What it was given.
    infs
        Whether infinities are faults too.

    Raises
    ------
    FloatingPointError
        With the operation, its operands and the user's line, and of a loop the step.
    """
    with effects.suppressed(), regions.looked_at(None):
        run = Followed(graph, bind(graph, arrays), infs)
        run.run(graph.outputs)
        maker = run.first_maker()
        if maker is not None:
            operands = Evaluation(graph, bind(graph, arrays)).run(maker.inputs)
            with saying(lambda: operation_of(maker, operands), maker.source):
                look_inside(maker, operands, infs)
                raise FloatingPointError(made(maker, operands, run.new(maker, run.origins(maker)), infs))
    if not any(each in run.faults for each in graph.outputs):
        what = "not finite" if infs else "NaN"
        raise FloatingPointError(
            f"{graph.name} gives a value that is {what} where NumPy does not, since compiled code computes it in "
            "another way: explain() shows the rules that were applied, and backend='numpy' applies none"
        )


def look_inside(node: Node, operands: Sequence[Any], infs: bool) -> None:
    """Raise for the first step of a loop that makes a fault, or for the branch that was taken."""

    def look(region: Graph, arrays: Sequence[Any], results: Sequence[Any]) -> None:
        if any(faults(each, infs) is not None for each in results):
            blame(region, arrays, infs)

    if isinstance(node.op.lower, lowering.Control):
        attrs = node.attrs
        with regions.looked_at(look):
            node.op.lower.evaluate(*operands, results=[attrs.pop("result")], **attrs)


def made(node: Node, operands: Sequence[Any], new: np.ndarray, infs: bool) -> str:
    """Describe the fault that an operation has made, with its operands; of an elementwise one, the first faulty
    element."""
    place = tuple(map(int, np.argwhere(new)[0])) if new.ndim else ()
    given = [describe(each) for each in operands]
    if is_elementwise(node):
        given = [str(np.broadcast_to(np.asarray(each), new.shape)[place]) for each in operands]
    where = f"element {list(place)} of " if place else ""
    kind = "NaN or infinite" if infs else "NaN"
    return f"{where}{node.op.name}({', '.join(given)}) is {kind}, and no operand is"
