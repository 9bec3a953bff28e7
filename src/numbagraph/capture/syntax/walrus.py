"""Assignments (``:=``) in comprehensions, as loops of one step: ``for x in a if (y := f(x)) > 0`` is ``for x in a for y
in [f(x)] if y > 0``."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from numbagraph.capture.syntax.names import walk

Comprehension = ast.ListComp | ast.GeneratorExp


def reads(nodes: ast.AST | Sequence[ast.AST]) -> Counter[str]:
    """The number of times that names are read."""
    found = [each.id for each in walk(nodes) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)]
    return Counter(found)


def without_assignments(node: Comprehension) -> None:
    """Rewrite a comprehension whose assignments happen in each step, wherever they stand in an expression."""
    done: list[ast.comprehension] = []
    for each in node.generators:
        done.append(ast.comprehension(each.target, each.iter, [], each.is_async))
        for part in (part for test in each.ifs for part in conjunction(test)):
            rest = taken_out(part, done)
            done[-1].ifs.append(rest)
    node.elt = taken_out(node.elt, done)
    node.generators = done


def taken_out(expression: ast.expr, done: list[ast.comprehension]) -> ast.expr:
    """Return an expression that reads the variables which loops of one step have assigned before."""
    found = list(evaluated(expression))
    reading = Reading(found)
    for each in found:
        value = ast.copy_location(ast.List([reading.visit(each.value)], ast.Load()), each)
        done.append(ast.comprehension(each.target, value, [], 0))
    rest: ast.expr = reading.visit(expression)
    return rest


def conjunction(test: ast.expr) -> Iterator[ast.expr]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for each in test.values:
            yield from conjunction(each)
    else:
        yield test


def evaluated(node: ast.AST) -> Iterator[ast.NamedExpr]:
    """The assignments in an expression that always happen, those inside of others first."""
    match node:
        case ast.BoolOp():
            parts: list[ast.AST] = [node.values[0]]
        case ast.IfExp():
            parts = [node.test]
        case ast.Compare():
            parts = [node.left, node.comparators[0]]
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return
        case _:
            parts = list(ast.iter_child_nodes(node))
    for each in parts:
        yield from evaluated(each)
    if isinstance(node, ast.NamedExpr):
        yield node


class Reading(ast.NodeTransformer):
    """Replaces some assignments by reads of their variables."""

    def __init__(self, done: Sequence[ast.NamedExpr]) -> None:
        self.done = done

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        if not any(node is each for each in self.done):
            self.generic_visit(node)
            return node
        return ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
