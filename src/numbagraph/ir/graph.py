"""`Graph`, a function from inputs to outputs.

Dead code is what no output depends on, and a pass is a function from graph to graph.
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

from numbagraph.ir.opaque import opaque_values
from numbagraph.ir.structs import Struct, cached_property, replace
from numbagraph.ir.values import Constant, Dim, Extent, Input, Node, Source, Value, at_source, toposort


class Guard(Struct):
    """A condition (boolean scalar) that must hold; ``subject`` says what it protects, for people."""

    condition: Value
    subject: str
    source: Source | None
    error: type[Exception] = ValueError
    failure: Callable[..., Exception] | None = None
    """A function that makes the error from the values of ``arguments``; without it, the error is ``error(subject)``."""
    arguments: tuple[Value, ...] = ()
    ordered: bool = False
    """Whether the guard is a statement of the function: it is checked where it stands, whether or not results
    follow."""


def guard_values(guards: Iterable[Guard]) -> list[Value]:
    """Return the conditions of guards, and the arguments of their errors."""
    return [value for guard in guards for value in (guard.condition, *guard.arguments)]


def with_guard_values(guards: Iterable[Guard], values: Iterable[Value]) -> tuple[Guard, ...]:
    """Return the guards with other values in place of those that `guard_values` gives."""
    rest = iter(values)
    return tuple(
        replace(guard, condition=next(rest), arguments=tuple(next(rest) for _ in guard.arguments)) for guard in guards
    )


class DimEquality(Struct):
    """Two lengths that a function's own broadcasting says are equal; checked at entry."""

    dim: Dim
    other: Extent
    subject: str
    source: Source | None
    error: type[Exception]


class Graph(Struct):
    """A function: inputs, outputs, and what must hold for it to be run."""

    inputs: tuple[Input, ...]
    outputs: tuple[Value, ...]
    guards: tuple[Guard, ...] = ()
    equalities: tuple[DimEquality, ...] = field(default=(), compare=False)
    name: str = "f"
    stabilised: bool = True
    """Whether formulas may become forms that are finite where they, as they are written, are not."""

    @cached_property
    def order(self) -> tuple[Value, ...]:
        """Every value that results follow from, in dependency order."""
        return tuple(toposort(self.outputs))

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """Every value that results and the conditions of guards follow from, in dependency order."""
        conditions = [each.condition for each in self.guards]
        return tuple(toposort([*self.outputs, *conditions])) if conditions else self.order

    @cached_property
    def places(self) -> dict[Dim, str]:
        """For each length of an input, the first input and axis that has it."""
        found: dict[Dim, str] = {}
        for position, value in enumerate(self.inputs):
            for axis, extent in enumerate(value.shape):
                if isinstance(extent, Dim):
                    found.setdefault(extent, f"{position}.{axis}")
        return found

    @cached_property
    def late(self) -> frozenset[Value]:
        """The conditions of guards that do not follow from lengths and numbers alone: they are known when elements of
        arrays are, or loops have run."""
        conditions = [guard.condition for guard in self.guards]
        late: set[Value] = set()
        for value in toposort(conditions):
            inputs = value.inputs if isinstance(value, Node) else ()
            if value.ndim or not late.isdisjoint(inputs) or (isinstance(value, Node) and value.op.kind == "control"):
                late.add(value)
        return frozenset(late.intersection(conditions))

    def with_outputs(self, outputs: Iterable[Value], guards: Iterable[Guard] | None = None) -> Graph:
        kept = self.guards if guards is None else tuple(guards)
        return Graph(self.inputs, tuple(outputs), kept, self.equalities, self.name, self.stabilised)

    def transformed(self, function: Callable[[list[Value]], Sequence[Value]]) -> Graph:
        """Return the graph with its outputs, and the values that its guards need, transformed by ``function``; the
        graph itself, if nothing changes."""
        before, count = [*self.outputs, *guard_values(self.guards)], len(self.outputs)
        after = function(before)
        if all(map(operator.is_, before, after)):
            return self
        return self.with_outputs(after[:count], with_guard_values(self.guards, after[count:]))


class Hashed(NamedTuple):
    """The hash of a graph, as long as each length that it speaks of is equal to the same one."""

    text: str
    lengths: dict[Dim, Extent]


def content_hash(graph: Graph, *salt: str) -> str:
    """A hash of what the graph computes: equal for equal graphs of two processes, whatever their names."""
    return hashed(graph, *salt).text


def hashed(graph: Graph, *salt: str) -> Hashed:
    numbers: dict[Value, str] = {}
    lengths: dict[Dim, Extent] = {}
    digest = hashlib.blake2b("\n".join(salt).encode(), digest_size=20)
    if not graph.stabilised:
        digest.update(b"as written\n")

    def extent_key(extent: Extent) -> str:
        if isinstance(extent, Dim):
            lengths[extent] = extent = extent.representative
        return str(extent) if isinstance(extent, int) else number(extent)

    def number(value: Value) -> str:
        if value not in numbers:
            for each in toposort([value], known=numbers):
                describe(each)
        return numbers[value]

    def describe(value: Value) -> None:
        if isinstance(value, Dim):
            lengths[value] = representative = value.representative
            if representative is not value:
                numbers[value] = extent_key(representative)
                return
            text = "dim"
        elif isinstance(value, Constant):
            text = f"constant {value.dtype.str} {value.shape} {value.type.weak} {value.data.tobytes().hex()}"
        elif isinstance(value, Node):
            sources = " ".join(numbers[each] for each in value.inputs)
            text = f"{value.op.name} {sources} {attributes_key(value.attributes, lengths)}"
        else:
            raise ValueError(f"{value!r} is not an input of the graph")
        numbers[value] = f"%{len(numbers)}"
        digest.update(f"{text}\n".encode())

    for value in graph.inputs:  # a length of one may be another one
        numbers[value] = f"%{len(numbers)}"
    for position, value in enumerate(graph.inputs):
        extents = ",".join(extent_key(extent) for extent in value.shape)
        digest.update(f"input {position} {value.dtype.str} {extents} {value.type.weak}\n".encode())
    for output in graph.outputs:
        extents = ",".join(extent_key(extent) for extent in output.shape)
        digest.update(f"output {number(output)} {extents} {output.type.weak}\n".encode())
    for equality in graph.equalities:
        digest.update(f"equal {id_of(equality.dim, graph)} {extent_key(equality.dim)}\n".encode())
    for guard in graph.guards:
        digest.update(f"guard {' '.join(map(number, guard_values([guard])))}\n".encode())
    return Hashed(digest.hexdigest(), lengths)


def id_of(dim: Dim, graph: Graph) -> str:
    """Return the place of ``dim`` among the inputs' extents."""
    return graph.places.get(dim, "computed")


def attributes_key(attributes: tuple[tuple[str, Any], ...], lengths: dict[Dim, Extent]) -> str:
    return repr([(name, region_key(item, lengths)) for name, item in attributes])


def region_key(item: Any, lengths: dict[Dim, Extent]) -> Any:
    """An attribute as a key has it: regions by what they compute. Adds the lengths that they speak of."""
    if isinstance(item, Graph):
        known = region_hash(item)
        lengths.update(known.lengths)
        return known.text
    return tuple(region_key(each, lengths) for each in item) if type(item) is tuple else item


def region_hash(region: Graph) -> Hashed:
    """The hash of a region, which is kept: otherwise each region would be hashed again with each one around it."""
    known: Hashed | None = region.__dict__.get("hashed")
    if known is None or any(length.representative is not was for length, was in known.lengths.items()):
        known = region.__dict__["hashed"] = hashed(region)
    return known


def substitute(outputs: Iterable[Value], replacements: Mapping[Value, Value]) -> list[Value]:
    """``outputs`` with some values replaced, rebuilt through each op (types follow from the new inputs)."""
    mapped: dict[Value, Value] = {each: each for each in opaque_values()}
    mapped |= replacements
    outputs = list(outputs)
    for value in toposort(outputs, known=mapped):
        if isinstance(value, Node):
            inputs = tuple(mapped[source] for source in value.inputs)
            if inputs == value.inputs:
                mapped[value] = value
            else:
                with at_source(value.source):
                    mapped[value] = value.op.bind(*inputs, **value.attrs)
        else:
            mapped[value] = value
    return [mapped[output] for output in outputs]
