"""Nested functions, and the variables through which they can be called later."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from numbagraph.capture.syntax.names import OWN_NAMES, children, free_names, method_of, parameters, stores, walk

Function = ast.FunctionDef | ast.Lambda


class Closures:
    """The functions that are defined in another function."""

    def __init__(self, body: Sequence[ast.stmt] = ()) -> None:
        found = list(functions_in(body))
        self.functions = [each for each, _ in found]
        self.free = {id(each): names for each, names in found}  # before their bodies are rewritten
        self.holders = {id(each): set[str]() for each in self.functions}
        """The variables that are a function, or hold it, by the function's identity."""
        statements = [each for each in walk(body) if isinstance(each, (ast.Assign, ast.AnnAssign, ast.Expr))]
        for each in self.functions:
            if isinstance(each, ast.FunctionDef):
                self.holders[id(each)].add(each.name)
        for statement in statements:
            for each in kept(statement):
                if isinstance(each, ast.Lambda):
                    self.holders[id(each)] |= targets(statement)
        for names in self.holders.values():
            while True:
                more = {name for each in statements if names & names_kept(each) for name in targets(each)} - names
                if not more:
                    break
                names |= more

    def stale(self, statement: ast.stmt, used: set[str], carried: set[str]) -> tuple[str, Function] | None:
        """Find a variable that a loop or a branch binds, and a function from outside that reads it from where the
        function was defined, where it does not change: a function called in the loop or afterwards (``used`` then), or
        any one if the variable is carried."""
        inside, bound = set(map(id, walk(statement))), stores(statement)
        used = self.reached(used)
        for each in self.functions:  # what is assigned to elements of an array, they see
            if id(each) in inside:
                continue
            shared = self.free[id(each)] & (bound if self.holders[id(each)] & used else bound & carried)
            if shared:
                return min(shared), each
        return None

    def reached(self, used: set[str]) -> set[str]:
        """Variables that are read, with those that the functions in them read."""
        while True:
            more = {
                name for each in self.functions if self.holders[id(each)] & used for name in self.free[id(each)]
            } - used
            if not more:
                return used
            used = used | more


def functions_in(nodes: Sequence[ast.AST], own: frozenset[str] = frozenset()) -> Iterator[tuple[Function, set[str]]]:
    """Nested functions, those in others too, and the names that each reads from where the outermost of these stands.

    ``own`` are names of the functions around the nodes.
    """
    for each in walk(nodes, inner=False):
        if isinstance(each, (ast.FunctionDef, ast.Lambda)):
            yield each, free_names(each) - own
            yield from functions_in(children(each), own.union(parameters(each), stores(each.body)))
        elif isinstance(each, OWN_NAMES):
            yield from functions_in(children(each), own)


def kept(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions in a statement whose values may be in reach afterwards: not the called functions, nor the
    arguments of a call, except those of `functools.partial` and of methods that are statements of their own, such as
    ``append``."""
    pending: list[ast.AST] = []
    match statement:
        case ast.Assign(value=ast.expr() as value) | ast.AnnAssign(value=ast.expr() as value):
            pending = [value]
        case ast.Expr(value=ast.Call(args=given, keywords=named)) if method_of(statement):
            pending = [*given, *named]
    while pending:
        each = pending.pop()
        if isinstance(each, ast.expr):
            yield each
        if isinstance(each, ast.Call):
            called = each.func.attr if isinstance(each.func, ast.Attribute) else getattr(each.func, "id", "")
            pending += [*each.args, *each.keywords] if called in ("partial", "dict", "list", "tuple") else []
        elif not isinstance(each, (ast.Lambda, ast.Attribute, ast.Subscript)):
            pending += ast.iter_child_nodes(each)


def names_kept(statement: ast.stmt) -> set[str]:
    return {each.id for each in kept(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}


def targets(statement: ast.stmt) -> set[str]:
    """The variables that hold the values which a statement keeps."""
    found = stores(statement)
    called = method_of(statement) if isinstance(statement, ast.Expr) else None
    for each in getattr(statement, "targets", ()):  # of `table[k] = f`, the table
        found |= {name.id for name in ast.walk(each) if isinstance(name, ast.Name)}
    return found | ({called} if called else set())
