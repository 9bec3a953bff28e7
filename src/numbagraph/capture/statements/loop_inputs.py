"""Arrays that a loop reads at the number of its step: each step is passed an element, which needs no check."""

from __future__ import annotations

from collections.abc import Sequence

from numbagraph.ir import shapes
from numbagraph.ir.graph import substitute
from numbagraph.ir.op import registry
from numbagraph.ir.structs import replace
from numbagraph.ir.values import Input, Node, Value, toposort
from numbagraph.ops.control.operands import row_type
from numbagraph.tracing.regions import Body, dependents


def with_sequences(
    body: Body, parameters: Sequence[Input], counter: Input, length: Value
) -> tuple[Body, list[Input], list[Value]]:
    """Return the body of a loop whose ``counter`` runs from 0 to its length as one that takes elements of the arrays
    which it reads there; the parameters that stand for the elements; and the arrays."""
    roots = [*body.outputs, *(guard.condition for guard in body.guards)]
    varying = dependents(parameters, roots)
    elements: dict[Value, Input] = {}
    mapped: dict[Value, Value] = {}
    for value in toposort(roots):
        if not isinstance(value, Node) or value.op is not registry["pick"] or value.inputs[1] is not counter:
            continue
        array = value.inputs[0]
        is_outside = isinstance(array, Input) or (isinstance(array, Node) and body.is_used(array))
        along_first = value.attrs["axis"] == -array.ndim and shapes.same(array.shape[0], shapes.resolve(length))
        if array not in varying and is_outside and along_first:
            if array not in elements:
                elements[array] = Input(row_type(array), f"x{len(elements)}")
            mapped[value] = elements[array]
    if not mapped:
        return body, [], []
    with shapes.collect_guards():  # the body has what is required already, and no step outside of the loop has to
        results = substitute(roots, mapped)
    outputs, conditions = results[: len(body.outputs)], results[len(body.outputs) :]
    guards = tuple(replace(guard, condition=each) for guard, each in zip(body.guards, conditions, strict=True))
    return replace(body, outputs=tuple(outputs), guards=guards), list(elements.values()), list(elements)
