"""Regions: closed graphs that nodes hold as attributes, such as the body of a loop (MLIR: isolated from above).

All that a region reads comes through its inputs: a node has an operand for each. Lengths of the enclosing graph become
lengths of the region's own inputs, or inputs themselves. While a region is made, its values are those of the enclosing
graph, so that what they require of lengths is required there; `close` takes them out of it, `opened` puts them back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from weakref import WeakValueDictionary

from numbagraph.forking import new_lock
from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, Guard, content_hash, guard_values, substitute, with_guard_values
from numbagraph.ir.structs import Struct, replace
from numbagraph.ir.types import INT64
from numbagraph.ir.values import (
    ArrayType,
    Constant,
    Dim,
    Extent,
    Input,
    Node,
    Value,
    at_source,
    extent_values,
    toposort,
)

_lock = new_lock()
_regions: WeakValueDictionary[Any, Graph] = WeakValueDictionary()


class Closed(Struct):
    """A region, and the values of the enclosing graph that it gets behind its parameters."""

    region: Graph
    captures: tuple[Value, ...]


def interned(graph: Graph) -> Graph:
    """The one region of this content: nodes that hold equal regions are then equal themselves. Its errors name the
    calls that lead to it wherever it is used; the loop that runs it names the others."""
    guards = [replace(each, source=each.source and each.source.copy()) for each in graph.guards]
    graph = replace(graph, guards=tuple(guards)) if guards else graph
    unknown = [shapes.not_one(extent) for each in graph.inputs for extent in each.shape]
    checks = [(each.error, each.subject, each.failure, each.ordered and each.source) for each in graph.guards]
    sources = tuple(each.source for each in graph.order if isinstance(each, Node))  # errors speak of lines
    key = (content_hash(graph, graph.name, repr(unknown)), sources, *rules_of(graph), *checks)
    with _lock:
        known = _regions.setdefault(key, graph)
    if known is not graph:
        forget_other_callers(known, graph)
    return known


def forget_other_callers(region: Graph, other: Graph) -> None:
    """Keep those calls alone, of the lines of a region, that lead to the equal region ``other``, too."""
    for one, another in zip(region.guards, other.guards, strict=True):
        if one.source is not None and another.source is not None:
            one.source.keep_common(another.source)
    for node, equal in zip(region.order, other.order, strict=True):
        if isinstance(node, Node) and isinstance(equal, Node) and node.source and equal.source and node is not equal:
            node.source = node.source.copy()  # the loop around may have the same
            node.source.keep_common(equal.source)


def rules_of(graph: Graph) -> list[Any]:
    """The rules for derivatives that a user has given inside of a graph. No hash has them, since they change nothing
    that is computed; but each may read variables of the function that has made it."""
    found: list[Any] = []
    pending, seen = [graph], {id(graph)}
    while pending:  # each result of a loop is a node that holds its regions: they are looked into once
        for each in pending.pop().order:
            if isinstance(each, Node) and each.attributes:
                found += [item for name, item in each.attributes if name == "rule"]
                inner = [region for region in regions_of(each) if id(region) not in seen]
                seen.update(map(id, inner))
                pending += inner
    return found


def close(
    parameters: Sequence[Input],
    outputs: Sequence[Value],
    *,
    name: str,
    known: Callable[[Node], bool] = lambda node: False,
    guards: Sequence[Guard] = (),
) -> Closed:
    """The region that computes ``outputs`` from ``parameters``, and from what else of the enclosing graph they need.

    Parameters
    ----------
    parameters
        Stand-ins, whose types speak of the lengths of the enclosing graph.
    outputs
        Values that depend on them.
    name
        What the region is called where it is printed.
    known
        Which values of the enclosing graph are passed rather than computed in the region.
    guards
        What it requires: the program fails where the region is run and a condition does not hold.
    """
    roots = [*outputs, *guard_values(guards)]
    found = reached([*parameters, *roots], known)
    own = set(parameters)
    late = late_lengths(each for each in found if each in own or isinstance(each, Input) or is_known(each, known))
    if late:  # the region is given these numbers
        found = reached([*parameters, *roots], lambda node: node in late or known(node))
    captures = [each for each in found if isinstance(each, Input) or each in late or is_known(each, known)]
    leaves = [*parameters, *(each for each in captures if each not in own)]
    mapped, lengths = of_lengths(leaves, [each for each in found if isinstance(each, Dim)])
    for value in behind_lengths(leaves):
        mapped[value] = Input(in_terms_of(value.type, mapped), value.name if isinstance(value, Input) else "captured")
    with shapes.collect_guards():  # the enclosing graph requires the same
        results = substitute(roots, mapped)
    checks = with_guard_values(guards, results[len(outputs) :])
    operands = (*leaves, *lengths)
    inputs = tuple(mapped[each] for each in operands)
    graph = Graph(inputs, tuple(results[: len(outputs)]), checks, (), name)  # type: ignore[arg-type]
    return Closed(interned(graph), operands[len(parameters) :])


def is_known(value: Value, known: Callable[[Node], bool]) -> bool:
    return isinstance(value, Node) and known(value)


def late_lengths(leaves: Iterable[Value]) -> set[Value]:
    """Return those lengths of some values that follow from elements of arrays, or from the result of a loop."""
    extents = {extent for each in leaves for extent in map(shapes.resolve, each.shape) if isinstance(extent, Node)}
    return {
        extent
        for extent in extents
        if any(each.ndim or (isinstance(each, Node) and each.op.kind == "control") for each in toposort([extent]))
    }


class Draft(Struct):
    """A region that is to be closed together with others: its name, its outputs, and what it requires."""

    name: str
    outputs: Sequence[Value]
    guards: Sequence[Guard] = ()


def close_together(
    parameters: Sequence[Input], drafts: Sequence[Draft], known: Callable[[Node], bool] = lambda node: False
) -> tuple[tuple[Graph, ...], tuple[Value, ...]]:
    """Several regions with the same inputs, and what they capture."""
    outputs = [each for draft in drafts for each in draft.outputs]
    guards = [each for draft in drafts for each in draft.guards]
    whole = close(parameters, outputs, name="regions", known=known, guards=guards)
    results, checks = iter(whole.region.outputs), iter(whole.region.guards)
    regions = [
        Graph(
            whole.region.inputs,
            tuple(next(results) for _ in draft.outputs),
            tuple(next(checks) for _ in draft.guards),
            (),
            draft.name,
        )
        for draft in drafts
    ]
    return tuple(map(interned, regions)), whole.captures


def reached(values: Iterable[Value], known: Callable[[Node], bool]) -> list[Value]:
    """Return the values that ``values`` are computed from, themselves included, and the lengths in the types of inputs.
    The inputs of known values are left out."""
    found: dict[Value, None] = {}
    stack = list(values)[::-1]
    while stack:
        value = stack.pop()
        if value in found:
            continue
        found[value] = None
        if isinstance(value, Node) and not known(value):
            stack += reversed(value.inputs)
        elif isinstance(value, Dim):
            stack += [value.representative] if isinstance(value.representative, Dim) else []
        elif not isinstance(value, Constant):
            stack += extent_values(value.type)
    return list(found)


def behind_lengths(leaves: Sequence[Value]) -> list[Value]:
    """Sort leaves so that each follows the leaves that its lengths are computed from: numbers, and arrays whose
    elements they are."""
    known = set(leaves)
    done: dict[Value, None] = {}

    def place(leaf: Value) -> None:
        if leaf in done:
            return
        lengths = [each for each in map(shapes.resolve, leaf.shape) if isinstance(each, Node)]
        for each in toposort(lengths):
            if each in known:
                place(each)
        done[leaf] = None

    for each in sorted(leaves, key=lambda each: each.ndim):
        place(each)
    return list(done)


def of_lengths(leaves: Iterable[Value], dims: Iterable[Dim]) -> tuple[dict[Value, Value], list[Value]]:
    """Return the value that replaces each length of the enclosing graph, and the lengths that no leaf has."""
    direct = [extent for each in leaves for extent in map(shapes.resolve, each.shape) if isinstance(extent, Dim)]
    mapped: dict[Value, Value] = {each: Dim(each.name, each.may_be_one, each.apart) for each in dict.fromkeys(direct)}
    passed: list[Value] = []
    for dim in dims:
        length = shapes.resolve(dim)
        if not isinstance(length, Dim):
            mapped[dim] = shapes.as_value(length)
        elif length not in mapped:
            mapped[length] = Input(ArrayType(INT64, (), weak=True), length.name)
            passed.append(length)
    for dim in dims:  # those that are known to be equal are one
        mapped.setdefault(dim, mapped.get(shapes.as_value(dim), dim))
    return mapped, passed


def in_terms_of(type: ArrayType, mapped: Mapping[Value, Value]) -> ArrayType:
    """A type with other values for its lengths."""
    return ArrayType(type.dtype, tuple(length_in(extent, mapped) for extent in type.shape), type.weak)


def length_in(extent: Extent, mapped: Mapping[Value, Value]) -> Extent:
    extent = shapes.resolve(extent)
    if isinstance(extent, int):
        return extent
    with shapes.collect_guards():
        return shapes.resolve(substitute([extent], mapped)[0])


def operand_lengths(region: Graph, operands: Sequence[Value | ArrayType]) -> dict[Value, Value]:
    """Return the values of the enclosing graph that the inputs of a region, and the lengths in their types, stand
    for."""
    mapped: dict[Value, Value] = {}
    for value, operand in zip(region.inputs, operands, strict=True):
        if isinstance(operand, Value):
            mapped[value] = operand
        for own, extent in zip(value.shape, operand.shape, strict=True):
            if isinstance(own, Dim):
                mapped[own] = mapped[shapes.as_value(own)] = shapes.as_value(extent)
    return mapped


def opened(region: Graph, operands: Sequence[Value]) -> list[Value]:
    """The outputs of a region as values of the enclosing graph, computed from ``operands``."""
    mapped = operand_lengths(region, operands)
    with shapes.collect_guards():  # what the region requires was required when it was made
        return substitute(region.outputs, mapped)


def without_effects(region: Graph) -> Graph:
    """Return the region without its effects, for a derivative, which runs it again. In place of an effect stands its
    first input."""
    roots = [*region.outputs, *guard_values(region.guards)]
    mapped: dict[Value, Value] = {}
    known: dict[int, Graph] = {}
    with shapes.collect_guards():  # the region around it requires the same
        for value in toposort(roots):
            mapped[value] = value
            if isinstance(value, Node) and value.op.kind == "effect":
                mapped[value] = mapped[value.inputs[0]]
            elif isinstance(value, Node):
                inputs = tuple(mapped[each] for each in value.inputs)
                attrs = {name: item_without_effects(item, known) for name, item in value.attributes}
                if inputs != value.inputs or attrs != value.attrs:
                    with at_source(value.source):
                        mapped[value] = value.op.bind(*inputs, **attrs)
    if all(mapped[each] is each for each in roots):
        return region
    found = [mapped[each] for each in roots]
    count = len(region.outputs)
    guards = with_guard_values(region.guards, found[count:])
    return interned(replace(region, outputs=tuple(found[:count]), guards=guards))


def item_without_effects(item: Any, known: dict[int, Graph]) -> Any:
    """Return an attribute of a node, with the effects taken out of its regions. ``known`` has those of regions that
    other results of the same loops hold."""
    if isinstance(item, Graph):
        if id(item) not in known:
            known[id(item)] = without_effects(item)
        return known[id(item)]
    return tuple(item_without_effects(each, known) for each in item) if type(item) is tuple else item


def opened_guards(region: Graph, operands: Sequence[Value]) -> tuple[Guard, ...]:
    """Return a region's guards with values of the enclosing graph, computed from ``operands``."""
    mapped = operand_lengths(region, operands)
    with shapes.collect_guards():
        return with_guard_values(region.guards, substitute(guard_values(region.guards), mapped))


def output_type(region: Graph, number: int, operands: Sequence[Value | ArrayType]) -> ArrayType:
    """Return the type of an output in the enclosing graph. For an operand that has no value there, its type is
    enough."""
    return in_terms_of(region.outputs[number].type, operand_lengths(region, operands))


def with_lengths(inputs: Sequence[Input], chosen: Iterable[int], reached: Iterable[Value]) -> list[int]:
    """Return the numbers of the chosen inputs, of the inputs that their lengths follow from, and of further inputs
    where only their shapes give a length that a ``reached`` value is or has."""
    found, known = set(chosen), set[Dim]()
    position = {value: number for number, value in enumerate(inputs)}
    asked = lengths_in(reached)
    pending = sorted(found)
    while pending:
        asked |= lengths_in(inputs[number] for number in pending)
        known.update(*(own_lengths(inputs[number]) for number in pending))
        numbers = {
            position[each]
            for number in pending
            for each in toposort(extent_values(inputs[number].type))
            if isinstance(each, Input)
        } - found
        missing = (number for number, each in enumerate(inputs) if own_lengths(each) & (asked - known))
        pending = sorted(numbers) or [number for number in missing if number not in found][:1]
        found.update(pending)
    return sorted(found)


def own_lengths(value: Value) -> set[Dim]:
    """Return the symbolic lengths of a value's own dimensions, which are known wherever the value is."""
    return {extent for extent in map(shapes.resolve, value.shape) if isinstance(extent, Dim)}


def lengths_in(values: Iterable[Value]) -> set[Dim]:
    """Return the lengths among some values, and the lengths that their shapes follow from."""
    extents = {shapes.as_value(each) for value in values for each in (*value.shape, *dims_of(value))}
    dims = (shapes.resolve(each) for each in toposort(extents) if isinstance(each, Dim))
    return {each for each in dims if isinstance(each, Dim)}


def dims_of(value: Value) -> tuple[Dim, ...]:
    return (value,) if isinstance(value, Dim) else ()


def without_unused(regions: Sequence[Graph], needed: int = 0) -> tuple[tuple[Graph, ...], list[int]]:
    """Return regions with the same inputs without the inputs that none of them reads, and the numbers of the inputs
    that stay. The first ``needed`` ones stay in any case."""
    kept: set[int] = set()
    for region in regions:  # an equal one of another trace may stand for it, which has inputs of its own
        found = set(toposort([*region.outputs, *guard_values(region.guards)]))
        used = (number for number, each in enumerate(region.inputs) if number < needed or each in found)
        kept.update(with_lengths(region.inputs, used, found))
    numbers = sorted(kept)
    return tuple(
        interned(replace(region, inputs=tuple(region.inputs[each] for each in numbers))) for region in regions
    ), numbers


def regions_of(value: Value) -> list[Graph]:
    """The regions that a loop or a branch holds."""
    if not isinstance(value, Node) or value.op.kind != "control":
        return []
    items = [item for _, each in value.attributes for item in (each if type(each) is tuple else (each,))]
    return [each for each in items if isinstance(each, Graph)]
