"""Translation of choices (`ifelse`): only the branch that is taken is run."""

from __future__ import annotations

from collections.abc import Collection

from pytensor.graph.basic import Apply, Variable

from numbagraph.blockwise.promotion import convert
from numbagraph.ir import shapes
from numbagraph.ir.op import registry
from numbagraph.ir.regions import Draft, close_together
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import Node, Value
from numbagraph.pymc_bridge.compatibility import conditional
from numbagraph.pymc_bridge.importer import Importer, UnsupportedOp, chooses, describe
from numbagraph.pymc_bridge.translations.inner_graphs import body_of, in_best_form
from numbagraph.tracing.regions import Body


@chooses(conditional.IfElse)
def if_else(importer: Importer, node: Apply, condition: Value) -> list[Value]:
    count, truth = node.op.n_outs, convert(condition, BOOL)
    taken = truth, registry["logical_not"](truth)
    sides = node.inputs[1 : 1 + count], node.inputs[1 + count :]
    first, second = (body_of(importer.branch(flag), side, []) for flag, side in zip(taken, sides, strict=True))
    for x, y, variable in zip(first.outputs, second.outputs, node.outputs, strict=True):
        require_one_shape(x, y, variable)
    if not computes(first) and not computes(second):
        return [registry["where"](truth, *pair) for pair in zip(first.outputs, second.outputs, strict=True)]
    drafts = Draft("otherwise", second.outputs, second.guards), Draft("then", first.outputs, first.guards)
    regions, captures = close_together([], drafts, lambda each: first.is_used(each) or second.is_used(each))
    branches = tuple(map(in_best_form, regions))
    bind, number = registry["switch"].bind, convert(truth, INT64)
    return [bind(number, *captures, branches=branches, result=result) for result in range(count)]


def require_one_shape(x: Value, y: Value, variable: Variable) -> None:
    """Require branches of one shape: otherwise the length of the result would depend on the condition."""
    text = (
        f"{describe(variable)} is chosen by ifelse from arrays of the shapes {shapes.shape_text(x.shape)} and "
        f"{shapes.shape_text(y.shape)}, which need to be the same here"
    )
    for one, other in zip(x.shape, y.shape, strict=True):
        if isinstance(one, int) and isinstance(other, int) and one != other:
            raise UnsupportedOp(text)
        shapes.require_same(one, other, text)


def computes(body: Body) -> bool:
    """Whether a branch computes something: values from around it are there anyhow."""
    return bool(body.guards) or any(is_computed(each, body.used) for each in body.outputs)


def is_computed(value: Value, around: Collection[Value]) -> bool:
    while isinstance(value, Node) and value not in around:
        if value.op.kind != "view":
            return True
        value = value.inputs[0]
    return False
