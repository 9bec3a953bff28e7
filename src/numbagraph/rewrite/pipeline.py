"""The passes over a graph, in their order: the one place that says what is done to a function and when."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from numbagraph.ir.graph import Graph
from numbagraph.ir.structs import Struct
from numbagraph.ir.values import Node, Value, toposort
from numbagraph.rewrite.algebra import ALGEBRA
from numbagraph.rewrite.assignments import assignments_in_turn
from numbagraph.rewrite.branching import branching_choices, branching_values
from numbagraph.rewrite.canonical import BEFORE_GRADIENT, CANONICALISE
from numbagraph.rewrite.checks import check_level, verify_types
from numbagraph.rewrite.engine import Rewrite, RuleSet, rewrite, rewrite_values
from numbagraph.rewrite.fission import divided_loops, divided_values
from numbagraph.rewrite.joined_branches import joined_branches
from numbagraph.rewrite.joined_loops import joined_loops
from numbagraph.rewrite.linear import linear_sums
from numbagraph.rewrite.products import EXPAND
from numbagraph.rewrite.specialise import SPECIALISE
from numbagraph.rewrite.stabilise import STABILISE
from numbagraph.rewrite.stages import Stage, Stages


class GraphPass(Struct):
    """A pass that is a function of the whole graph, rather than rules."""

    name: str
    apply: Callable[[Graph], Graph]
    op: str | None = None
    """The op that it is about, if it has nothing to do where there is none."""
    serial: bool = False
    """Whether it keeps loops from running on several threads."""


PREPARE: tuple[RuleSet, ...] = (BEFORE_GRADIENT, STABILISE)
"""What a function goes through before it is differentiated: the derivative of a stable form is stable."""

PREPARE_MATRICES: tuple[RuleSet, ...] = (BEFORE_GRADIENT, ALGEBRA)
"""What goes before that where there are matrices."""

MATRIX_PASSES: tuple[RuleSet, ...] = (*PREPARE_MATRICES, EXPAND)
"""The first passes where there are matrices."""

PASSES: tuple[RuleSet | GraphPass, ...] = (
    CANONICALISE,
    GraphPass("divided loops", divided_loops, "scan"),
    GraphPass("joined loops", joined_loops, "scan"),
    STABILISE,
    CANONICALISE,
    SPECIALISE,
    GraphPass("linear sums", linear_sums),
    CANONICALISE,
    GraphPass("assignments in turn", assignments_in_turn, "set_slice"),
    GraphPass("choices that branch", branching_choices, "where", serial=True),
    GraphPass("joined branches", joined_branches, "switch"),
)


def has_matrices(values: Iterable[Value]) -> bool:
    """Whether matrices are multiplied or factored: what is done to them elsewise no rule is about."""
    return any(isinstance(each, Node) and each.op.kind in ("core op", "product") for each in values)


def is_for(each: GraphPass, graph: Graph, parallel: bool) -> bool:
    if parallel and each.serial:
        return False
    return each.op is None or any(isinstance(value, Node) and value.op.name == each.op for value in graph.order)


def optimise(graph: Graph, parallel: bool = False) -> Stages:
    """All passes over ``graph``; one that has nothing left to do is left out. With ``parallel``, for threads."""
    stages = [Stage("traced", graph)]
    settled: dict[RuleSet | GraphPass, Graph] = {}
    for each in (*MATRIX_PASSES, *PASSES) if has_matrices(graph.order) else PASSES:
        if settled.get(each) is graph or (isinstance(each, GraphPass) and not is_for(each, graph, parallel)):
            continue
        rewrites: Sequence[Rewrite] = ()
        if isinstance(each, RuleSet):
            graph, rewrites = rewrite(graph, each)
        else:
            graph = each.apply(graph)
        settled[each] = graph
        stages.append(Stage(each.name, graph, tuple(rewrites), each if isinstance(each, RuleSet) else None))
        if check_level() >= 1:
            verify_types(graph, each.name)
    return Stages(tuple(stages))


def prepare(values: Iterable[Value], points: Collection[Value] = (), beside: Iterable[Value] = ()) -> list[Value]:
    """Values in the form in which they should be differentiated.

    Choices between expensive numbers that depend on ``points`` become branches, but for what values ``beside`` need.
    """
    values = list(values)
    count = len(values)
    if points:
        values += beside
    for rules in (*PREPARE_MATRICES, *PREPARE) if has_matrices(toposort(values)) else PREPARE:
        values = rewrite_values(values, rules)
    values = divided_values(values)
    return branching_values(values, points)[:count] if points else values
