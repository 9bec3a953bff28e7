"""Graphs inside of PyTensor's ops as regions: the bodies of loops, and branches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytensor.graph.basic import Variable

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph
from numbagraph.ir.regions import Closed, close, interned
from numbagraph.ir.structs import replace
from numbagraph.ir.values import Input, Node, Value
from numbagraph.loops.lengths import array_of_computed_length, refusal
from numbagraph.ops.control.operands import strong
from numbagraph.pymc_bridge.importer import Importer, UnsupportedOp
from numbagraph.pymc_bridge.origin import expression
from numbagraph.pymc_bridge.parametrisations import CANCELLATIONS, PARAMETRISATIONS
from numbagraph.pymc_bridge.translations.assertions import with_checks
from numbagraph.rewrite.engine import rewrite_values
from numbagraph.rewrite.pipeline import prepare
from numbagraph.runtime.arguments import flatten
from numbagraph.tracing.regions import Body, dependents, invariants


def body_of(inside: Importer, variables: Sequence[Variable], used: Sequence[Value]) -> Body:
    """The body that an importer of its own makes of some variables, with the checks that they need.

    ``used`` are values around the region.
    """
    with shapes.collect_guards() as found:
        inside.requirements = []
        outputs = [inside(each) for each in variables]
        used = [*used, *inside.entered]
    if not all(isinstance(each, Value) for each in outputs):
        raise UnsupportedOp("a loop or a branch whose results are no arrays")
    conditions = [each.condition for each in inside.requirements]
    own, checks = with_checks(
        inside.requirements, conditions, variables, [strong(each) for each in outputs], expression
    )
    guards, found.guards = (*found.guards, *checks), []
    shapes.require_all(found)
    return Body(tuple(own), flatten(own)[1], guards, frozenset(used))


def body_of_loop(
    inside: Importer, variables: Sequence[Variable], used: Sequence[Value], parameters: Sequence[Input]
) -> Body:
    """The body of a loop. Its requirements of values that are the same in each step are checked before the loop."""
    body = body_of(inside, variables, used)
    varying = dependents(parameters, [guard.condition for guard in body.guards])
    before = shapes.GuardCollector()
    before.guards = [each for each in body.guards if each.condition not in varying and not each.ordered]
    shapes.require_all(before)
    return replace(body, guards=tuple(each for each in body.guards if each not in before.guards))


def closed_body(body: Body, parameters: Sequence[Input], name: str) -> Closed:
    """The region of a loop. Values that are the same in each step are computed before the loop."""
    found = close(parameters, body.outputs, name=name, known=known_around([body], parameters), guards=body.guards)
    return replace(found, region=in_best_form(found.region))


def known_around(bodies: Sequence[Body], parameters: Sequence[Input]) -> Callable[[Node], bool]:
    """Return a predicate that tells which values are passed to regions."""
    hoisted: set[Value] = set().union(*(invariants(each, parameters) for each in bodies))

    def known(node: Node) -> bool:
        return node in hoisted or any(each.is_used(node) for each in bodies)

    return known


def in_best_form(region: Graph) -> Graph:
    """A region in the form in which it should be differentiated; it must know its lengths before it runs."""
    with shapes.collect_guards():  # the graph around it requires the same
        outputs = rewrite_values(prepare(rewrite_values(region.outputs, PARAMETRISATIONS)), CANCELLATIONS)
    found = interned(replace(region, outputs=tuple(outputs)))
    array = array_of_computed_length(found, inside=False)
    if array is not None:
        raise UnsupportedOp(refusal(array))
    return found
