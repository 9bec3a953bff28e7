"""Rules that keep the terms which a switch leaves out of a derivative out of it, whatever the other branch evaluates
to.

The derivative of a branch is 0 where it is not taken, and the chain rule multiplies that by derivatives that may be
infinite there: ``switch(x > 0, log(x), x)``, tails of normal distributions. PyTensor, too, moves choices behind
products and quotients (`local_mul_switch_sink`, `local_div_switch_sink`), of values as of derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence

from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.values import Constant, Node, Value
from numbagraph.ops.shape import squeeze_at
from numbagraph.rewrite.engine import RuleSet, node_rule, rule
from numbagraph.rewrite.joined_arrays import of_named_op
from numbagraph.rewrite.patterns import where


@node_rule(lambda op: op.name == "sum" or op.kind == "view", of_named_op, operands=("where",))
def whole_arrays(node: Node) -> Value | None:
    """Leave out an array as a whole, and with it its sum and its views."""
    chosen, *rest = node.inputs
    assert isinstance(chosen, Node)
    condition, x, y = chosen.inputs
    kept = y if is_zero(x) else x
    if kept.ndim != chosen.ndim or chosen.dtype.kind not in "fc" or not (is_zero(x) or is_zero(y)):
        return None
    found = condition_of_sum(condition, node.attrs["axes"]) if node.op.name == "sum" else viewed(condition, node, kept)
    if found is None:
        return None
    result = node.op.bind(kept, *rest, **node.attrs)
    return registry["where"](found, 0.0, result) if is_zero(x) else registry["where"](found, result, 0.0)


def condition_of_sum(condition: Value, axes: Sequence[int]) -> Value | None:
    """The condition of a sum over some axes (from the right), if it is the same all along them."""
    present = [axis for axis in axes if axis >= -condition.ndim]
    if any(condition.shape[axis] != 1 for axis in present):
        return None
    return squeeze_at(condition, [axis + condition.ndim for axis in present])


def viewed(condition: Value, node: Node, kept: Value) -> Value | None:
    """The condition of a view of an array, if there is one condition for all of it, or one for each element."""
    if not condition.ndim:
        return condition
    if condition.ndim != kept.ndim or not all(map(shapes.same, condition.shape, kept.shape)):
        return None
    return node.op.bind(condition, *node.inputs[1:], **node.attrs)


def is_zero(value: Value) -> bool:
    return isinstance(value, Constant) and not value.ndim and not value.data


SWITCHES = RuleSet(
    "switches",
    [
        rule(lambda c, x, y: where(c, 0, x) * y, lambda c, x, y: where(c, 0, x * y)),
        rule(lambda c, x, y: where(c, x, 0) * y, lambda c, x, y: where(c, x * y, 0)),
        rule(lambda c, x, y: where(c, 0, x) / y, lambda c, x, y: where(c, 0, x / y)),
        rule(lambda c, x, y: where(c, x, 0) / y, lambda c, x, y: where(c, x / y, 0)),
        whole_arrays,
        rule(lambda c, x: -where(c, 0, x), lambda c, x: where(c, 0, -x)),
        rule(lambda c, x: -where(c, x, 0), lambda c, x: where(c, -x, 0)),
    ],
    exact=False,
)
