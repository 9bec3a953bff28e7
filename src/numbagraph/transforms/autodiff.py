"""Differentiation: reverse mode from each op's vjp, and forward mode as its transpose.

The cotangent of a complex value pairs with a tangent as the real part of their product, as in JAX: no conjugation.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from numbagraph.blockwise.common import flat, real_if
from numbagraph.blockwise.promotion import as_value, convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.sources import text_of
from numbagraph.ir.values import ArrayType, Input, Node, Unsupported, Value, at_source, toposort
from numbagraph.transforms.factors import factors_of
from numbagraph.transforms.interpret import call_of


def is_differentiable(value: Value) -> bool:
    """Whether a value can change by a little: integers and booleans cannot."""
    return value.dtype.kind in "fc"


def cotangents(
    outputs: Sequence[Value], output_cotangents: Sequence[Value | None], inputs: Sequence[Value]
) -> list[Value | None]:
    """The cotangents of ``inputs``, given those of ``outputs``: one pass over the graph between them, backwards.

    Parameters
    ----------
    outputs
        Values of a graph.
    output_cotangents
        One for each output, of its shape; None where it is zero.
    inputs
        The values to differentiate with respect to, each taken as independent of the others. They should be inputs
        of the graph or aliases: any other value may stand for more than one thing, since values are interned.

    Returns
    -------
    list
        For each input its cotangent, of its dtype and shape, or None where nothing depends on it.
    """
    found: dict[Value, Value] = {}
    for output, given in zip(outputs, output_cotangents, strict=True):
        if given is not None and is_differentiable(output):
            accumulate(found, output, fit(given, output, "the given cotangent"))
    points = frozenset(value for value in inputs if is_differentiable(value))
    active = set(points)
    path = path_between(outputs, active)
    calls = Calls(path)
    for node in reversed(path):
        given = found.pop(node, None)
        if node.op.multi_result:
            given = calls.collect(node, given)
        if given is not None:
            for source, cotangent in (*pull_back(node, given, active, points), *beside_arguments(node, given, points)):
                accumulate(found, source, cotangent)
    return [found.get(value) for value in inputs]


def path_between(outputs: Iterable[Value], active: set[Value]) -> list[Node]:
    """The nodes through which ``outputs`` change with the active values, in dependency order. All become active."""
    path = []
    for value in toposort(outputs, known=active):
        if not isinstance(value, Node) or value.op.vjp is flat or not is_differentiable(value):
            continue
        if not active.isdisjoint(value.inputs):
            active.add(value)
            path.append(value)
    return path


def reached(outputs: Iterable[Value], points: Iterable[Value]) -> set[Value]:
    """Return the values among ``points`` from which a path through differentiable values leads to ``outputs``."""
    wanted, found, seen = set(points), set[Value](), set[Value]()
    stack = list(outputs)
    while stack and len(found) < len(wanted):
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in wanted:
            found.add(value)
        elif isinstance(value, Node) and value.op.vjp is not flat and is_differentiable(value):
            stack += value.inputs
    return found


def pull_back(
    node: Node, given: Value | Mapping[int, Value], active: set[Value], points: Collection[Value]
) -> list[tuple[Value, Value]]:
    """Return the active inputs of a node that have a cotangent, each with it, given the node's own cotangent.

    Where the node takes the logarithm of a product, the factors of the product stand in its place.
    """
    with at_source(node.source):
        try:
            asked = {"wanted": tuple(each in active for each in node.inputs)} if node.op.selective else {}
            found = node.op.vjp(given, node, *node.inputs, **node.attrs, **asked)
            pairs = list(zip(node.inputs, found, strict=True))
            for place in node.op.logarithm_of:
                factors = factors_of(node.inputs[place], active, points)
                if factors is not None and isinstance(given, Value):
                    pairs[place : place + 1] = [(each.value, each.cotangent(given, node, place)) for each in factors]
            for source, cotangent in pairs:
                if isinstance(cotangent, Unsupported) and source in active:
                    cotangent()
        except NotImplementedError as error:
            raise NotImplementedError(f"{node.op.name} has no derivative: {error}\n  {text_of(node.source)}") from error
        return [
            (source, fit(cotangent, source, node.op.name))
            for source, cotangent in pairs
            if cotangent is not None and source in active
        ]


def fit(cotangent: object, value: Value, what: str) -> Value:
    """A cotangent in the dtype of the value that it belongs to. Its shape must be the same."""
    cotangent = as_value(cotangent)
    if cotangent.type is not value.type and cotangent.shape != value.shape:
        cotangent = with_shape(cotangent, value, what)
    if cotangent.type.weak or cotangent.dtype != value.dtype:
        cotangent = real_if(convert(cotangent, cotangent.dtype), value)
    return cotangent


def with_shape(cotangent: Value, value: Value, what: str) -> Value:
    """Return the cotangent with the shape of ``value``; where the two shapes may differ, require at entry that they
    agree."""
    if cotangent.ndim == value.ndim and all(map(shapes.same, cotangent.shape, value.shape)):
        return cotangent
    subject = (
        f"{what}: a cotangent of shape {shapes.shape_text(cotangent.shape)} for a value of shape "
        f"{shapes.shape_text(value.shape)}"
    )
    if cotangent.ndim != value.ndim:
        raise shapes.ShapeError(subject)
    for extent, expected in zip(cotangent.shape, value.shape, strict=True):
        if not shapes.same(extent, expected):
            shapes.require_same(extent, expected, subject)
    return registry["broadcast_to"](cotangent, value.shape)


def accumulate(found: dict[Value, Value], value: Value, cotangent: Value) -> None:
    """Add to the cotangent of ``value``."""
    previous = found.get(value)
    found[value] = cotangent if previous is None else sum_of(previous, cotangent)


def sum_of(one: Value, other: Value) -> Value:
    """The sum of two cotangents."""
    for node, rest in ((other, one), (one, other)):
        total = node.op.plus(node, rest) if isinstance(node, Node) else None
        if total is not None:
            return total
    return registry["add"].bind(one, other)


def beside_arguments(
    node: Node, given: Value | Mapping[int, Value], points: Collection[Value]
) -> list[tuple[Value, Value]]:
    """Return the cotangents of what a function with a rule of its own uses beside its arguments, which the rule says
    nothing of: those of the function itself, its arguments taken as constant."""
    count = node.op.computed(node)
    if not count or not isinstance(given, Mapping):
        return []
    results, arguments = node.inputs[:count], node.inputs[count : len(node.inputs) - node.op.captured(node)]
    used = set(toposort(results, known=arguments)).difference(arguments)
    beside = [each for each in points if each in used]
    if not beside:
        return []
    found = cotangents(results, [given.get(number) for number in range(count)], [*arguments, *beside])[-len(beside) :]
    return [(point, each) for point, each in zip(beside, found, strict=True) if each is not None]


class Calls:
    """Calls with several results. Each is pulled back once, when the cotangents of all its results are known."""

    def __init__(self, path: Sequence[Node]) -> None:
        self.first: dict[Any, Node] = {}
        self.given: dict[Any, dict[int, Value]] = {}
        for node in path:
            if node.op.multi_result:
                self.first.setdefault(call_of(node), node)

    def collect(self, node: Node, given: Value | None) -> dict[int, Value] | None:
        """Note the cotangent of one result. At the last of the call's results (backwards), return those of all
        results."""
        call = call_of(node)
        collected = self.given.setdefault(call, {})
        if given is not None:
            collected[node.attrs["result"]] = given
        return collected if collected and self.first[call] is node else None


def without_seeds(transposed: Sequence[Value], _outputs: Sequence[Value], seeds: Sequence[Value]) -> list[Value] | None:
    """Return the transposed derivative if it does not depend on ``seeds``, the cotangents that it was taken by; else
    None."""
    return list(transposed) if set(toposort(transposed)).isdisjoint(seeds) else None


AtZero = Callable[[Sequence[Value], Sequence[Value], Sequence[Value]], list[Value] | None]


def tangents(
    outputs: Sequence[Value],
    inputs: Sequence[Value],
    input_tangents: Sequence[Value | None],
    at_zero: AtZero = without_seeds,
) -> list[Value]:
    """The tangents of ``outputs``, given those of ``inputs`` (None where zero): forward mode.

    Cotangents are a linear function of the outputs' cotangents, whose transpose is the derivative itself. So forward
    mode needs no rules of its own: it is two reverse passes, and what only the first one needs is dead code.
    ``at_zero`` gives the transpose without the point at which it is taken, or None, where a user's rule has none.
    """
    seeds = [Input(ArrayType(output.dtype, output.shape), "cotangent") for output in outputs]
    pulled = cotangents(outputs, seeds, inputs)
    pairs = [(each, tangent) for each, tangent in zip(pulled, input_tangents, strict=True) if each is not None]
    pushed = cotangents([each for each, _ in pairs], [tangent for _, tangent in pairs], seeds)
    moving = [each for each in pushed if each is not None]
    found = at_zero(moving, [each for each, _ in pairs], seeds)
    if found is None:
        raise NotImplementedError(
            "forward mode (jvp, jacfwd, hessian) cannot pass this loop, whose derivative is not seen to be linear, or "
            "this custom_vjp, whose backward rule is not linear in the cotangent: use reverse mode (grad, vjp, jacrev)"
        )
    rest = iter(found)
    return [
        registry["zeros_like"](output) if each is None else next(rest)
        for output, each in zip(outputs, pushed, strict=True)
    ]
