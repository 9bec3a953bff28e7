"""Lengths that follow from elements which loops compute: a program's lengths must be known before it runs."""

from __future__ import annotations

from collections.abc import Iterable

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph
from numbagraph.ir.regions import regions_of
from numbagraph.ir.values import Dim, Node, Value, toposort
from numbagraph.loops.fusion import everything, extents_of, is_barrier


class ComputedLengths:
    """A search for arrays with computed lengths, through graphs that are looked at one after the other. It remembers
    the values that it has seen."""

    def __init__(self) -> None:
        self._behind_loops: dict[Value, bool] = {}
        self._seen: set[Value] = set()

    def is_computed(self, value: Value) -> bool:
        """Whether a value only exists once a loop has run."""
        stack = [value]
        while stack:
            top = stack[-1]
            inputs = [representative(each) for each in top.inputs] if isinstance(top, Node) else []
            missing = [each for each in inputs if each not in self._behind_loops]
            stack.extend(missing)
            if not missing:
                stack.pop()
                self._behind_loops[top] = is_barrier(top) or any(self._behind_loops[each] for each in inputs)
        return self._behind_loops[value]

    def first(self, values: Iterable[Value]) -> Value | None:
        """The first array with a computed length among ``values`` and the values that they follow from. Values that an
        earlier search has seen are passed over."""
        stack = list(values)
        while stack:
            value = stack.pop()
            if value in self._seen:
                continue
            self._seen.add(value)
            lengths = extents_of(value)
            if any(map(self.is_computed, lengths)):
                return value
            stack += lengths
            if isinstance(value, Node):
                stack += value.inputs
        return None


def representative(value: Value) -> Value:
    """The value itself; for lengths that are known to be equal, the one that represents all."""
    return shapes.as_value(value) if isinstance(value, Dim) else value


def array_of_computed_length(graph: Graph, *, inside: bool = True) -> Value | None:
    """The first array of a graph whose length is computed, if there is one; ``inside``: also in its loops and
    branches."""
    return first_of_computed_length(graph, inside, set())


def first_of_computed_length(graph: Graph, inside: bool, seen: set[int]) -> Value | None:
    """The first such array in graphs that were not looked at: the results of a loop share its regions."""
    lengths = ComputedLengths()
    seen.add(id(graph))
    for value in everything(graph):
        if any(map(lengths.is_computed, extents_of(value))):
            return value
        for region in regions_of(value) if inside else ():
            found = None if id(region) in seen else first_of_computed_length(region, inside, seen)
            if found is not None:
                return found
    return None


def is_of_control(array: Value | None) -> bool:
    return isinstance(array, Node) and array.op.kind == "control"


def is_branch(array: Value | None) -> bool:
    return isinstance(array, Node) and array.op.name in ("cond", "switch")


def advice(graph: Graph, array: Value | None) -> str:
    """Return advice for an error: the code to write instead of one in which an array has a computed length, in a
    function that is compiled natively."""
    if is_of_control(array) or array_of_computed_length(graph, inside=False) is None:
        return (
            "  What loops and branches give has a length that is known before, but for a list beside an empty one: put "
            "the condition of a branch into what selects (x[(x > 0) & condition], [v for v in x if condition and v > "
            "0]), let the other path give [], reduce what is selected (x[mask].sum()), or keep all of it (np.where)"
        )
    return (
        "  In functions for native callers lengths must be known before: reduce what a mask selects (x[mask].sum()), "
        "keep all elements (np.where(mask, x, 0)), or give the length as an argument"
    )


def refusal(array: Value | None) -> str:
    """Return the text of the error about a computed length of an array, with the line where the user made the array."""
    what = "an array" if not is_of_control(array) else "what branches give" if is_branch(array) else "what a loop gives"
    # what rules have made may have no line: then that of what it is made of
    made = [] if array is None else [array, *reversed(toposort([*extents_of(array), array]))]
    source = next((each.source for each in made if isinstance(each, Node) and each.source is not None), None)
    where = f"\n  {source.text}" if source is not None else ""
    return f"a length of {what} follows from elements that are computed here, but it must be known before{where}"
