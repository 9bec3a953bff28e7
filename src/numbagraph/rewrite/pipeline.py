"""The passes over a graph, in their order: the one place that says what is done to a function and when.

A pass is imported by the first graph with an op that it is about: most functions have no matrices, loops and branches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from numbagraph import times
from numbagraph.forking import importing
from numbagraph.ir.graph import Graph
from numbagraph.ir.later import Later
from numbagraph.ir.op import lazy, load
from numbagraph.ir.opaque import opaque_values
from numbagraph.ir.structs import Struct, cached_property
from numbagraph.ir.values import Node, Value, toposort
from numbagraph.rewrite.debug_checks import check_level, verify_types
from numbagraph.rewrite.engine import RuleSet, rewrite, rewrite_values
from numbagraph.rewrite.stages import Stage, Stages

if TYPE_CHECKING:
    from numbagraph.rewrite import branching, costly_elements, fission, partial_products, substitutions
else:
    branching, fission = Later("numbagraph.rewrite.branching"), Later("numbagraph.rewrite.fission")
    costly_elements = Later("numbagraph.rewrite.costly_elements")
    partial_products = Later("numbagraph.rewrite.partial_products")
    substitutions = Later("numbagraph.rewrite.substitutions")


class Pass(Struct):
    """A step of the pipeline, given by the path of the object that does it."""

    path: str
    about: tuple[str, ...] = ()
    """Names or kinds of ops of which the graph must have one; empty for a pass that always runs."""
    serial: bool = False
    """Whether it keeps loops from running on several threads."""
    stabilises: bool = False
    """Whether the results of the pass may be finite where the formula, as it is written, is not."""

    def is_for(self, present: Collection[str], parallel: bool = False, *, stabilise: bool = True) -> bool:
        """Whether the pass is worth a try for a graph with ops of these names and kinds."""
        if (parallel and self.serial) or (self.stabilises and not stabilise):
            return False
        return not self.about or any(each in present for each in self.about)

    def run(self, graph: Graph) -> Stage:
        """Run the pass, and return the stage that it leads to."""
        raise NotImplementedError


class RulePass(Pass):
    """A pass that applies a set of rules."""

    @cached_property
    def rules(self) -> RuleSet:
        with importing:
            found: RuleSet = load(self.path)
        return found

    def run(self, graph: Graph) -> Stage:
        after, rewrites = rewrite(graph, self.rules)
        return Stage(self.rules.name, after, tuple(rewrites), self.rules)


class GraphPass(Pass):
    """A pass that is a function of the whole graph, rather than rules."""

    name: str = ""

    @cached_property
    def function(self) -> Callable[[Graph], Graph]:
        return lazy(self.path)

    def run(self, graph: Graph) -> Stage:
        return Stage(self.name, self.function(graph))


MATRICES = ("core op", "product")
"""The kinds of ops that multiply or factor matrices. A graph without any of them needs no pass for matrices."""

PREPARE: tuple[RulePass, ...] = (
    RulePass("numbagraph.rewrite.canonical:BEFORE_GRADIENT", MATRICES),
    RulePass("numbagraph.rewrite.algebra:ALGEBRA", MATRICES),
    RulePass("numbagraph.rewrite.algebra:LOG_DETERMINANTS", ("determinant_of",), stabilises=True),
    RulePass("numbagraph.rewrite.canonical:BEFORE_GRADIENT"),
    RulePass("numbagraph.rewrite.stabilise:STABILISE", stabilises=True),
)
"""The passes over a function before it is differentiated: the derivative of a stable form is stable."""

PASSES: tuple[Pass, ...] = (
    RulePass("numbagraph.rewrite.canonical:BEFORE_GRADIENT", MATRICES),
    RulePass("numbagraph.rewrite.algebra:ALGEBRA", MATRICES),
    RulePass("numbagraph.rewrite.algebra:LOG_DETERMINANTS", ("determinant_of",), stabilises=True),
    GraphPass("numbagraph.rewrite.partial_products:partial_products", ("product",), name="partial products"),
    RulePass("numbagraph.rewrite.products:EXPAND", MATRICES),
    RulePass("numbagraph.rewrite.canonical:CANONICALISE"),
    GraphPass("numbagraph.rewrite.fission:divided_loops", ("scan",), name="divided loops"),
    GraphPass("numbagraph.rewrite.joined_loops:joined_loops", ("scan",), name="joined loops"),
    RulePass("numbagraph.rewrite.stabilise:STABILISE", stabilises=True),
    RulePass("numbagraph.rewrite.canonical:CANONICALISE"),
    RulePass("numbagraph.rewrite.orthogonal:ORTHOGONAL", ("special function",)),
    RulePass("numbagraph.rewrite.known_orders:KNOWN_ORDERS", ("jv", "yv", "yn", "kv", "kn", "hankel_j")),
    GraphPass("numbagraph.rewrite.costly_elements:costly_elements", ("gather", "where"), name="costly elements"),
    RulePass("numbagraph.rewrite.specialise:SPECIALISE"),
    GraphPass("numbagraph.rewrite.linear:linear_sums", ("sum", "scatter_add"), stabilises=True, name="linear sums"),
    RulePass("numbagraph.rewrite.canonical:CANONICALISE"),
    RulePass("numbagraph.rewrite.window_sums:WINDOW_SUMS", ("scatter_add",)),
    GraphPass("numbagraph.rewrite.values_alone:values_alone", ("eig", "eigh", "svd"), name="values alone"),
    GraphPass("numbagraph.rewrite.inverses_alone:inverses_alone", ("solve_factored",), name="inverses alone"),
    GraphPass(
        "numbagraph.rewrite.products_by_q:products_by_q", ("product_of_q", "product_with_q"), name="products by Q"
    ),
    GraphPass("numbagraph.rewrite.assignments:assignments_in_turn", ("set_slice",), name="assignments in turn"),
    GraphPass("numbagraph.rewrite.diagonals:assigned_diagonals", ("iota",), name="assigned diagonals"),
    GraphPass("numbagraph.rewrite.branching:branching_choices", ("where",), serial=True, name="choices that branch"),
    GraphPass("numbagraph.rewrite.joined_branches:joined_branches", ("switch",), name="joined branches"),
)


def ops_in(values: Iterable[Value]) -> frozenset[str]:
    """The names and the kinds of the ops of some values."""
    ops = {each.op for each in values if isinstance(each, Node)}
    return frozenset(name for op in ops for name in (op.name, op.kind))


def optimise(graph: Graph, parallel: bool = False) -> Stages:
    """Run all passes over ``graph``, except those that have nothing left to do. With ``parallel``, for threads."""
    stages = [Stage("traced", graph)]
    settled: dict[Pass, Graph] = {}
    present = ops_in(graph.values)
    for each in PASSES:
        if settled.get(each) is graph or not each.is_for(present, parallel, stabilise=graph.stabilised):
            continue
        with times.stage(f"pass {each.path.partition(':')[2]}"):
            stage = each.run(graph)
        if stage.graph is not graph:
            graph = stage.graph
            present = ops_in(graph.values)
        settled[each] = graph
        stages.append(stage)
        if check_level() >= 1:
            verify_types(graph, stage.name)
    return Stages(tuple(stages))


def on_demand(values: list[Value], points: Collection[Value], *, stabilise: bool) -> list[Value]:
    """Values of which only what is read is computed, in regions as well; with ``points``, where it depends on these.
    What does not may depend on captured arrays alone, and is then computed once, when these are known."""
    present = ops_in(toposort(values))
    if "control" in present:
        values = substitutions.with_regions(values, lambda roots: on_demand(roots, (), stabilise=stabilise))
    if "product" in present:
        values = partial_products.partial_values(values, points, stabilise=stabilise)
    if "gather" in present or "where" in present:
        values = costly_elements.costly_values(values, points)
    return values


def prepare(
    values: Iterable[Value],
    points: Collection[Value] = (),
    beside: Iterable[Value] = (),
    *,
    stabilise: bool = True,
) -> list[Value]:
    """Values in the form in which they should be differentiated.

    Choices between expensive numbers that depend on ``points`` become branches, but for what values ``beside`` need.
    ``stabilise`` is that of `graph_jit`.
    """
    values = list(values)
    count = len(values)
    if points:
        values += beside
    present = ops_in(toposort(values))
    for each in PREPARE:
        if each.is_for(present, stabilise=stabilise):
            values = rewrite_values(values, each.rules)
    present = ops_in(toposort(values))
    values = on_demand(values, opaque_values(), stabilise=stabilise)
    if "scan" in present:
        values = fission.divided_values(values)
    if points and "where" in present:
        values = branching.branching_values(values, points)
    return values[:count]
