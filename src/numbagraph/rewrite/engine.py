"""The rewrite engine: rules, and their application to a graph from the inputs up, until none applies.

A rule keeps dtype and shape: ``rule(lambda x: log(1 + exp(x)), lambda x: softplus(x))``. So the nodes above a
replacement need no new types, and a pass costs one visit a node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from numbagraph.blockwise.promotion import convert
from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph
from numbagraph.ir.op import registry
from numbagraph.ir.opaque import opaque_values
from numbagraph.ir.structs import Struct, cached_property, replace
from numbagraph.ir.types import INT64
from numbagraph.ir.values import ArrayType, Constant, Dim, Node, Op, Source, Value, at_source, constant, make_node
from numbagraph.ops.shape import broadcast_value
from numbagraph.rewrite.patterns import Application, Bindings, Head, Template, alternatives, head_of

LONGEST_CHAIN = 1000
"""The largest number of rules that fire one after the other on one node; more can only be rules that undo each other or
grow without end."""


class RewriteError(RuntimeError):
    """A rule that changes a type, or rules that never come to an end: a fault of the rules, not of the graph."""


class Rule:
    """A rule that may replace a node. ``name`` and ``source`` are for messages."""

    source: Source

    @cached_property
    def name(self) -> str:
        raise NotImplementedError

    @cached_property
    def repeats(self) -> bool:
        """Whether the rule applies only to nodes that have one value for several operands."""
        return False

    @property
    def waits(self) -> bool:
        """Whether the rule is about an op whose module has not been imported, so that no graph has it."""
        return False

    def __repr__(self) -> str:
        return f"<rule {self.name}>"

    @property
    def op(self) -> Op | None:
        """The op that the rule is about; None if `concerns` decides."""
        return None

    def heads(self) -> frozenset[Head]:
        """The heads of operands that the rule distinguishes."""
        raise NotImplementedError

    def concerns(self, op: Op) -> bool:
        """Whether the rule is about nodes of ``op``. It is called once for each op."""
        return op is self.op

    def accepts(self, heads: Sequence[Head]) -> bool:
        """Whether the rule may apply to nodes whose operands have these heads. It is called once for each
        combination."""
        raise NotImplementedError

    def apply(self, node: Node) -> Any:
        """Return a replacement for ``node``, or None. A number becomes a constant of the node's type, a smaller shape
        is broadcast."""
        raise NotImplementedError


def source_of(function: Callable[..., Any]) -> Source:
    code = function.__code__
    return Source(code.co_filename, code.co_firstlineno)


class PatternRule(Rule):
    """A rule that replaces nodes which match a pattern and meet a condition."""

    def __init__(
        self,
        pattern: Callable[..., Any],
        replacement: Callable[..., Any],
        where: Callable[..., bool] | None = None,
        name: str | None = None,
    ) -> None:
        self.template = Template(pattern)
        self.replacement = Template(replacement)
        self.where = Template(where) if where is not None else None
        self.given_name = name
        self.source = source_of(pattern)

    @cached_property
    def pattern(self) -> Application:
        return self.template.trace()

    @cached_property
    def name(self) -> str:
        return self.given_name or repr(self.pattern)

    @cached_property
    def repeats(self) -> bool:
        return len(set(self.pattern.operands)) < len(self.pattern.operands)

    @property
    def op(self) -> Op:
        return self.pattern.op

    @cached_property
    def symbols(self) -> frozenset[str]:
        return self.template.symbols()

    @property
    def waits(self) -> bool:
        return registry.is_deferred(self.symbols)

    @cached_property
    def alternatives(self) -> list[Application]:
        """One pattern for each order of commutative operands; made when the first node of its op is met."""
        return [each for each in alternatives(self.pattern) if isinstance(each, Application)]

    def heads(self) -> frozenset[Head]:
        return frozenset(head for each in self.alternatives for head in each.heads)

    def accepts(self, heads: Sequence[Head]) -> bool:
        return any(each.accepts(heads) for each in self.alternatives)

    def apply(self, node: Node) -> Any:
        for pattern in self.alternatives:
            bindings: Bindings = {"node": node}
            if pattern.match(node, bindings) and (self.where is None or self.where(bindings)):
                return self.replacement(bindings)
        return None


class NodeRule(Rule):
    """A rule about many ops at once, written as a function of the node."""

    def __init__(
        self,
        function: Callable[[Node], Any],
        concerns: Callable[[Op], bool],
        accepts: Callable[[Sequence[Head]], bool],
        operands: Sequence[str],
    ) -> None:
        self.function = function
        self.condition = concerns
        self.operand_condition = accepts
        self.operands = operands
        self.source = source_of(function)

    @cached_property
    def name(self) -> str:
        return self.function.__name__

    def heads(self) -> frozenset[Head]:
        declared = [registry[name] for name in self.operands if not registry.is_deferred([name])]
        return frozenset([Constant, *declared])

    def concerns(self, op: Op) -> bool:
        return self.condition(op)

    def accepts(self, heads: Sequence[Head]) -> bool:
        own = self.heads()
        return self.operand_condition([head if head in own else None for head in heads])

    def apply(self, node: Node) -> Any:
        return self.function(node)


def rule(
    pattern: Callable[..., Any],
    replacement: Callable[..., Any],
    where: Callable[..., bool] | None = None,
    name: str | None = None,
) -> PatternRule:
    """Declare that what ``pattern`` describes is better written as ``replacement``.

    All three are small functions. The parameters of ``pattern`` are its variables: positional ones stand for values,
    ``*rest`` for all further operands, keyword-only ones for static attributes. ``replacement`` and ``where`` (a
    condition on what was matched) take those of them that they name, and ``node``, the matched node itself.
    """
    return PatternRule(pattern, replacement, where, name)


def node_rule(
    concerns: Callable[[Op], bool], accepts: Callable[[Sequence[Head]], bool], operands: Sequence[str] = ()
) -> Callable[[Callable[[Node], Any]], NodeRule]:
    """Declare a rule as a function of the node, tried for ops that it ``concerns`` where it ``accepts`` the operands.

    ``accepts`` gets the head of each operand where that is `Constant` or an op named in ``operands``, else None.
    """
    return lambda function: NodeRule(function, concerns, accepts, operands)


def all_constant(heads: Sequence[Head]) -> bool:
    return bool(heads) and all(head is Constant for head in heads)


@node_rule(lambda op: op.kind not in ("view", "callback", "effect") and op.name != "alias", all_constant)
def fold_constants(node: Node) -> Constant | None:
    """Constants in, constant out, unless it takes more room than they do. A view of a constant is free as it is.

    An alias may be what a derivative is taken with respect to. Users' functions are called when the program runs.
    """
    data = [each.data for each in node.inputs if isinstance(each, Constant)]
    try:
        with np.errstate(all="ignore"):
            result = np.asarray(node.op.reference(*data, **node.attrs))
    except (ArithmeticError, ValueError):
        return None  # an error belongs to the call that runs into it
    if result.dtype != node.dtype or result.size > max(each.size for each in data):
        return None
    return constant(result, weak=node.type.weak)


class RuleSet:
    """Rules by what they look for. For each op and heads of operands, the few that may apply are found once.

    Rules that are not ``exact`` give better results than what they replace, and may give more finite ones.
    """

    def __init__(self, name: str, rules: Iterable[Rule], *, exact: bool = True) -> None:
        self.name = name
        self.rules = tuple(rules)
        self.exact = exact
        self._known = 0
        """The number of ops that had been declared when the tables were built: rules may have waited for others."""
        self._by_op: dict[Op | None, list[tuple[int, Rule]]] = {}
        self._about: dict[Op, About] = {}

    def candidates(self, node: Node) -> tuple[Rule, ...]:
        if self._known != registry.count:
            self._look_again()
        about = self._about.get(node.op)
        if about is None:
            several = [each for each in self._by_op[None] if each[1].concerns(node.op)]
            ordered = sorted([*several, *self._by_op.get(node.op, ())], key=itemgetter(0))
            about = About(tuple(each for _, each in ordered))
            if registry.holds(node.op):  # others may hold users' functions, and live as long as someone uses them
                self._about[node.op] = about
        return about.candidates(node) if about.rules else ()

    def _look_again(self) -> None:
        self._known = registry.count
        self._about.clear()
        self._by_op = {None: []}
        for each in enumerate(self.rules):
            if not each[1].waits:
                self._by_op.setdefault(each[1].op, []).append(each)


class About:
    """The rules about one op, by the heads of operands that make a difference to them."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.rules = rules
        self.heads = frozenset(head for each in rules for head in each.heads()) - {None}
        self._found: dict[tuple[tuple[Head, ...], bool], tuple[Rule, ...]] = {}

    def candidates(self, node: Node) -> tuple[Rule, ...]:
        known, inputs = self.heads, node.inputs
        heads = tuple([head if (head := head_of(each)) in known else None for each in inputs])
        repeated = len(inputs) > 1 and len(set(inputs)) < len(inputs)
        found = self._found.get((heads, repeated))
        if found is None:
            found = tuple(each for each in self.rules if each.accepts(heads) and repeated >= each.repeats)
            self._found[heads, repeated] = found
        return found


class Rewrite(Struct):
    """One application of a rule."""

    rule: Rule
    node: Node
    replacement: Value

    def __str__(self) -> str:
        return f"{self.rule.name} ({self.rule.source}) at {self.node.source}"


def rewrite(graph: Graph, rules: RuleSet, limit: int | None = None) -> tuple[Graph, list[Rewrite]]:
    """``graph`` with the rules applied wherever they can be, guards included; at most ``limit`` rewrites."""
    rewriter = Rewriter(rules, limit)
    return rewriter.graph(graph), rewriter.rewrites


def rewrite_values(values: Iterable[Value], rules: RuleSet) -> list[Value]:
    """Values, with the rules applied to all that they depend on."""
    rewriter = Rewriter(rules)
    return [rewriter.value(each) for each in values]


class Rewriter:
    """One pass: remembers what became of each value. Iterative, since graphs are deep."""

    def __init__(self, rules: RuleSet, limit: int | None = None) -> None:
        self.rules = rules
        self.limit = limit
        self.rewrites: list[Rewrite] = []
        self._done: dict[Value, Value] = {each: each for each in opaque_values()}
        self._after_loops: dict[Value, bool] = {}
        self._regions: dict[int, tuple[Graph, Graph]] = {}
        """The rewritten region of each region, by its identity: the results of a loop are nodes of their own, but share
        its regions."""
        self._replaced: dict[Value, Rewrite] = {}
        """Values that a rule has replaced, while the replacement is rewritten in turn."""

    def graph(self, graph: Graph) -> Graph:
        outputs = [self.value(each) for each in graph.outputs]
        guards = [replace(each, condition=self.value(each.condition)) for each in graph.guards]
        kept = [guard for guard in guards if not (isinstance(guard.condition, Constant) and guard.condition.data)]
        if outputs == list(graph.outputs) and kept == list(graph.guards):
            return graph
        return graph.with_outputs(outputs, kept)

    def value(self, root: Value) -> Value:
        done, stack = self._done, [root]
        while stack:
            value = stack[-1]
            if value in done:
                stack.pop()
            elif value in self._replaced:
                self._close(value)
            elif not isinstance(value, Node) or (is_length(value) and not self._follows_from_loop(value)):
                done[value] = shapes.as_value(value) if isinstance(value, Dim) else value
            else:
                missing = [each for each in self._sources(value) if each not in done]
                if missing:
                    stack += reversed(missing)
                else:
                    stack += self._visit(value)
        return done[root]

    def _follows_from_loop(self, value: Value) -> bool:
        """Whether a length is computed from a result of a loop or a branch. It is rewritten then, as the other results
        are, so that the loop runs once."""
        known, stack = self._after_loops, [value]
        while stack:
            each = stack[-1]
            if each in known or not isinstance(each, Node):
                known.setdefault(each, False)
                stack.pop()
            elif missing := [operand for operand in each.inputs if operand not in known]:
                stack += missing
            else:
                known[each] = each.op.kind == "control" or any(known[operand] for operand in each.inputs)
        return known[value]

    def _sources(self, node: Node) -> Sequence[Value]:
        """The values that must be rewritten before ``node``: its inputs, and computed lengths in its type."""
        lengths = [extent for extent in node.type.shape if type(extent) is Node]
        return (*node.inputs, *lengths) if lengths else node.inputs

    def _visit(self, value: Node) -> tuple[Value, ...]:
        """Rewrite a value whose inputs are rewritten; returns what must be rewritten in turn."""
        done, node = self._done, self._rebuild(value)
        if node is not value and node in done:
            done[value] = done[node]
            return ()
        applied = None if is_length(node) else self._fire(node)
        if applied is None:
            done[value] = done[node] = node
            return ()
        if node in self._replaced or len(self._replaced) > LONGEST_CHAIN:
            raise self._endless(applied)
        self.rewrites.append(applied)
        self._replaced[value] = self._replaced[node] = applied
        return (applied.replacement,)

    def _close(self, value: Value) -> None:
        """Let a rewritten replacement stand for the value from now on."""
        applied = self._replaced.pop(value)
        if applied.replacement not in self._done:
            raise self._endless(applied)  # it depends on what it replaces
        self._replaced.pop(applied.node, None)
        self._done[value] = self._done[applied.node] = self._done[applied.replacement]

    def _endless(self, last: Rewrite) -> RewriteError:
        chain = list(dict.fromkeys(str(applied.rule) for applied in [*self._replaced.values(), last]))
        return RewriteError(f"rules that never come to an end: {last}; before it: {', '.join(chain[-5:])}")

    def _rebuild(self, node: Node) -> Node:
        """Apply the same operation to the rewritten inputs. Its type stays: rules keep types."""
        done = self._done
        inputs = tuple([done[each] for each in node.inputs])
        attributes = node.attributes
        if attributes:
            attributes = tuple([(name, self._inner(item)) for name, item in attributes])
        if inputs == node.inputs and attributes == node.attributes:
            return node
        with at_source(node.source):
            return make_node(node.op, inputs, attributes, lambda: self._rewritten_type(node.type))

    def _inner(self, item: object) -> object:
        """Rewrite the regions of a node. Guards on lengths that rules add there are dropped: the region already has
        those that it needs, and new ones would be on its own lengths, which are not known outside."""
        if type(item) is tuple and any(isinstance(each, Graph) for each in item):
            return tuple(map(self._inner, item))
        if not isinstance(item, Graph):
            return item
        known = self._regions.get(id(item))
        if known is None:
            with shapes.collect_guards():
                known = self._regions[id(item)] = (item, self.graph(item))
        return known[1]

    def _rewritten_type(self, type: ArrayType) -> ArrayType:
        shape = tuple(shapes.resolve(self._done.get(extent, extent)) for extent in type.shape)  # type: ignore[arg-type]
        return ArrayType(type.dtype, shape, type.weak)

    def _fire(self, node: Node) -> Rewrite | None:
        """The first rule that replaces ``node``, applied."""
        candidates = self.rules.candidates(node)
        if not candidates or len(self.rewrites) == self.limit:
            return None
        with at_source(node.source):
            for each in candidates:
                result = each.apply(node)
                if result is not None and result is not node:
                    return Rewrite(each, node, fitted(result, node, each))
        return None


def is_length(value: Value) -> bool:
    """Whether a value is arithmetic on lengths (or on Python integers). It stays as it is: types refer to it."""
    return value.type.weak and value.dtype == INT64


def fitted(result: object, node: Node, origin: Rule) -> Value:
    """Convert the result of a rule to a value of the type of the replaced node."""
    if not isinstance(result, Value):
        result = constant(np.array(result, dtype=node.dtype), weak=node.type.weak)
    same_rank = result.ndim == node.ndim
    if not same_rank or not all(map(shapes.same, result.shape, node.shape)):
        if result.ndim > node.ndim:
            raise wrong_type(result, node, origin)
        result = broadcast_value(result, node.shape)
    if result.type.weak and not node.type.weak and result.dtype == node.dtype:
        result = convert(result, node.dtype)  # a choice between two numbers of Python is none
    if result.dtype != node.dtype or result.type.weak != node.type.weak:
        raise wrong_type(result, node, origin)
    return result


def wrong_type(result: Value, node: Node, origin: Rule) -> RewriteError:
    return RewriteError(
        f"rule {origin.name} ({origin.source}) replaces {node.type} by {result.type}: a rule must keep the type"
    )
