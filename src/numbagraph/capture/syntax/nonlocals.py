"""Variables that nested functions assign to (``nonlocal``), as attributes of cells."""

from __future__ import annotations

import ast
from types import CodeType
from typing import Any

from numbagraph.capture.syntax.names import parameters, stores, walk
from numbagraph.capture.syntax.source import OPERATORS, refusal
from numbagraph.ir.sources import PREFIX


def shared_names(definition: ast.FunctionDef) -> set[str]:
    """The local variables of a function that nested ones declare as `nonlocal`."""
    inside = [each for each in walk(definition.body) if isinstance(each, ast.Nonlocal)]
    own = {id(each) for each in walk(definition.body, inner=False)}
    names = {name for each in inside if id(each) not in own for name in each.names}
    return names & (stores(definition.body) | parameters(definition))


class Shared(Exception):
    """A variable that a nested function reads after it may have changed: it must be in a cell."""

    def __init__(self, name: str, owner: tuple[str, int]) -> None:
        super().__init__(name)
        self.name, self.owner = name, owner


def with_cells(definition: ast.FunctionDef, code: CodeType, more: set[str]) -> None:
    """Rewrite a function whose nested functions assign to its variables: these become attributes of cells. ``more`` are
    variables that they read after a change."""
    names = shared_names(definition) | more
    if not names:
        return
    if any(isinstance(each, ast.ClassDef) for each in walk(definition.body)):
        raise refusal("nonlocal beside a class", code, definition.lineno)
    given = names & parameters(definition)
    start: list[ast.stmt] = []
    for name in sorted(names):
        made = ast.Call(ast.Attribute(_read(OPERATORS), "cell", ast.Load()), [ast.Constant(name)], [])
        start.append(ast.Assign([ast.Name(cell_of(name), ast.Store())], made))
        if name in given:
            start.append(ast.Assign([ast.Attribute(_read(cell_of(name)), "value", ast.Store())], _read(name)))
    renaming = _Renaming(names)
    first = definition.body[0]
    body = [renaming.visit(each) for each in definition.body]
    definition.body = [*(ast.fix_missing_locations(ast.copy_location(each, first)) for each in start), *body]


def cell_of(name: str) -> str:
    return f"{PREFIX}cell_{name}"


class _Renaming(ast.NodeTransformer):
    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in self.names:
            return node
        found = ast.Attribute(ast.copy_location(_read(cell_of(node.id)), node), "value", node.ctx)
        return ast.copy_location(found, node)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.stmt:
        node.names = [each for each in node.names if each not in self.names]
        return node if node.names else ast.copy_location(ast.Pass(), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        declared = {
            name for each in walk(node.body, inner=False) if isinstance(each, ast.Nonlocal) for name in each.names
        }
        self._inside(node, parameters(node) | (stores(node.body) - declared))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        self._inside(node, parameters(node))
        return node

    def visit_ListComp(self, node: Any) -> Any:
        first = node.generators[0]
        first.iter = self.visit(first.iter)  # it is read outside of the comprehension
        around, self.names = self.names, self.names - stores([each.target for each in node.generators])
        self.generic_visit(node)
        self.names = around
        return node

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def _inside(self, node: Any, own: set[str]) -> None:
        node.args = self.visit(node.args)
        around, self.names = self.names, self.names - own
        if isinstance(node.body, list):
            node.body = [self.visit(each) for each in node.body]
        else:
            node.body = self.visit(node.body)
        self.names = around


def _read(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())
