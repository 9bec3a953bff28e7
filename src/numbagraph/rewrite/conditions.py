"""Branches that choose between conditions alone are conditions themselves.

Python evaluates the second part of ``a and b`` where the first does not decide, so each is captured as a branch. Where
that part is cheap and cannot fail, it is computed in either case: LLVM would do so too, but what follows from a
condition (`numbagraph.loops.elimination`) is found on the graph.
"""

from __future__ import annotations

from numbagraph.ir.graph import Graph
from numbagraph.ir.op import registry
from numbagraph.ir.regions import opened
from numbagraph.ir.types import BOOL, INT64
from numbagraph.ir.values import Constant, Node, Value, toposort
from numbagraph.rewrite.engine import node_rule

CHEAP = 1.0
"""The cost of an op up to which it is computed whether its result is needed or not."""
MOST = 12
"""The largest number of operations in a branch that becomes part of a condition."""


@node_rule(lambda op: op.name == "switch", lambda heads: True)
def condition_of_branches(node: Node) -> Value | None:
    """Compute a choice of two truth values without a branch."""
    branches: tuple[Graph, ...] = node.attrs["branches"]
    result: int = node.attrs["result"]
    if node.dtype != BOOL or node.ndim or len(branches) != 2 or any(each.guards for each in branches):
        return None
    if not all(is_cheap(each.outputs[result]) for each in branches):
        return None
    index, *operands = node.inputs
    test = truth(index)
    no, yes = (opened(each, operands)[result] for each in branches)
    found = chosen(test, no, yes)
    return registry["cast"].bind(found, dtype=BOOL, weak=True) if node.type.weak else found


def truth(index: Value) -> Value:
    """Whether the second of two branches is taken."""
    if isinstance(index, Node) and index.op.name == "cast" and index.inputs[0].dtype == BOOL:
        return index.inputs[0]
    return registry["greater"](index, 0)


def is_cheap(output: Value) -> bool:
    """Whether a scalar of a region is computed by a few cheap operations that cannot fail."""
    nodes = [each for each in toposort([output]) if isinstance(each, Node)]
    return len(nodes) <= MOST and all(
        each.op.kind == "elementwise" and not each.ndim and (each.op.cost <= CHEAP or is_division_by_constant(each))
        for each in nodes
    )


def is_division_by_constant(node: Node) -> bool:
    """Whether the processor computes a division as a shift or a product."""
    if node.op.name not in ("floor_divide", "remainder") or node.dtype != INT64:
        return False
    divisor = node.inputs[1]
    return isinstance(divisor, Constant) and bool(divisor.data)


def chosen(test: Value, no: Value, yes: Value) -> Value:
    """Build `where` as a condition whose parts later passes can analyse."""
    if yes is test or is_known(yes, True):
        return registry["logical_or"](test, no)
    if no is test or is_known(no, False):
        return registry["logical_and"](test, yes)
    if is_known(yes, False):
        return registry["logical_and"](registry["logical_not"](test), no)
    if is_known(no, True):
        return registry["logical_or"](registry["logical_not"](test), yes)
    return registry["where"](test, yes, no)


def is_known(value: Value, truth: bool) -> bool:
    return isinstance(value, Constant) and bool(value.data) is truth
