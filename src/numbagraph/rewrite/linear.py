"""Scalar factors and terms are taken out of sums: ``sum(s * a) -> s * sum(a)``, ``sum(a / s) -> sum(a) / s``.

A log-density and its gradient sum the same few products, each scaled by its own scalars. With the scalars outside,
the sums merge, and what is left in the loop is a few multiplications and additions, with no division.

The result may differ from NumPy's where a scalar is infinite or a product over- or underflows before it is scaled;
apart from that it is as accurate as a pairwise sum (docs/limits.md lists it among the differences).
"""

from __future__ import annotations

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph
from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Node, Value, at_source, constant

DIVISIONS = ("true_divide", "divide")
INEXACT = ("multiply", "square", *DIVISIONS)
"""Terms that are rounded products: summing them apart from a scalar term loses nothing that they had."""


class Scaled(Struct):
    """``scale * core``, where ``scale`` is rank 0 (None: 1)."""

    scale: Value | None
    core: Value


def linear_sums(graph: Graph) -> Graph:
    """The graph with scalar factors and terms outside of its sums and scatter-additions."""
    mapped: dict[Value, Value] = {}
    known: dict[Value, Scaled] = {}
    roots = [*graph.outputs, *(guard.condition for guard in graph.guards)]
    for value in graph.with_outputs(roots).order:
        mapped[value] = value
        if not isinstance(value, Node):
            continue
        with at_source(value.source):
            inputs = tuple(mapped[source] for source in value.inputs)
            if inputs != value.inputs:
                mapped[value] = value.op.bind(*inputs, **value.attrs)
            if value.op.name in ("sum", "scatter_add") and value.dtype.kind in "fc":
                rebuilt = mapped[value]
                assert isinstance(rebuilt, Node)
                mapped[value] = _outside(rebuilt, known)
    changed = any(mapped[value] is not value for value in graph.outputs)
    return graph.with_outputs([mapped[value] for value in graph.outputs]) if changed else graph


def _outside(node: Node, known: dict[Value, Scaled]) -> Value:
    """A sum with its scalar factors, and the scalar terms of what it sums, outside."""
    summand = node.inputs[0]
    terms = _scalar_terms(summand) if node.op.name == "sum" else None
    vector = summand if terms is None else terms.core
    scaled = factor(vector, known)
    if terms is None and scaled.scale is None:
        return node
    total = node.op.bind(scaled.core, *node.inputs[1:], **node.attrs)
    result = total if scaled.scale is None else total * scaled.scale
    if terms is None or terms.scale is None:
        return result
    count = shapes.as_value(shapes.product([summand.shape[axis] for axis in node.attrs["axes"]]))
    return result + terms.scale * registry["cast"](count, summand.dtype)


def _scalar_terms(summand: Value) -> Scaled | None:
    """Split a sum of scalars and one rounded product into (the scalars, the product); None when it is not that."""
    scalars: Value | None = None
    vector, negated = summand, False
    while isinstance(vector, Node) and vector.op.name in ("add", "subtract", "negative"):
        if vector.op.name == "negative":
            vector, negated = vector.inputs[0], not negated
            continue
        left, right = vector.inputs
        if left.ndim and right.ndim:
            return None
        minus = vector.op.name == "subtract"
        term, term_negated = (left, negated) if right.ndim else (right, negated != minus)
        vector, negated = (right, negated != minus) if right.ndim else (left, negated)
        signed = -term if term_negated else term
        scalars = signed if scalars is None else scalars + signed
    rounded = isinstance(vector, Node) and vector.op.name in INEXACT
    if scalars is None or not rounded:
        return None
    return Scaled(scalars, -vector if negated else vector)


def factor(value: Value, known: dict[Value, Scaled]) -> Scaled:
    """Take the rank-0 factors out of a product. Iterative, since products may be deep."""
    stack = [value]
    while stack:
        top = stack[-1]
        waiting = [each for each in _factors(top) if each.ndim and each not in known]
        if waiting:
            stack.extend(waiting)
        else:
            known[stack.pop()] = _combine(top, known)
    return known[value]


def _factors(value: Value) -> tuple[Value, ...]:
    """The operands through which a scalar factor passes."""
    if not isinstance(value, Node) or not value.ndim:
        return ()
    if value.op.name in ("multiply", "negative", "square"):
        return value.inputs
    if value.op.name in DIVISIONS and not value.inputs[1].ndim:
        return value.inputs[:1]
    return ()


def _combine(value: Value, known: dict[Value, Scaled]) -> Scaled:
    parts = _factors(value)
    if not parts:
        return Scaled(None, value)
    assert isinstance(value, Node)
    scaled = [known[each] if each.ndim else Scaled(each, each) for each in parts]
    if all(each.scale is None for each in scaled) and value.op.name != "negative" and value.op.name not in DIVISIONS:
        return Scaled(None, value)
    name = value.op.name
    if name == "negative":
        return Scaled(_times(constant_like(-1.0, value), scaled[0].scale), scaled[0].core)
    if name in DIVISIONS:
        divisor = value.inputs[1]
        scale = registry[name](1.0 if scaled[0].scale is None else scaled[0].scale, divisor)
        return Scaled(scale, scaled[0].core)
    if name == "square":
        scale = scaled[0].scale
        return Scaled(None if scale is None else scale * scale, value.op.bind(scaled[0].core))
    cores = [each.core for each, part in zip(scaled, parts, strict=True) if part.ndim]
    core = cores[0] if len(cores) == 1 else value.op.bind(*cores)
    return Scaled(_times(scaled[0].scale, scaled[1].scale), core)


def _times(left: Value | None, right: Value | None) -> Value | None:
    if left is None or right is None:
        return right if left is None else left
    return left * right


def constant_like(number: float, value: Value) -> Value:
    return constant(number, dtype=value.dtype)
