"""Moves the value of ``return`` in a loop behind the loop.

Nothing runs between a ``return`` and the end of its loop, so behind it all variables have the values that they had. A
result that is an array of the loop is then that array, and not another variable that may be the same one; and the loop
carries no result.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from numbagraph.capture.syntax.names import loads, stores, walk
from numbagraph.ir.sources import PREFIX

Block = list[ast.stmt]
Assign = Callable[[str, ast.expr, ast.AST], ast.stmt]


class Exit(NamedTuple):
    """A way to return from a loop."""

    value: ast.expr | None
    """The returned expression; None where the loop itself computes it."""
    flag: str
    at: ast.Return


class Exits:
    """The ways to return from a loop, or from loops in it."""

    def __init__(self, loop: ast.For | ast.While, result: str, assigned: Assign) -> None:
        self.loop = loop
        self.bound = stores(loop)
        self.result = result
        self.assigned = assigned
        self.known: dict[str, Exit] = {}
        self.parts = 0

    def leave(self, statement: ast.Return, in_try: bool = False) -> tuple[Block, ast.expr | None]:
        """Return the statements that the loop runs in place of a ``return``, apart from ending, and the expression that
        is computed behind it."""
        done: Block = []
        value: ast.expr = statement.value or ast.Constant(None)
        may_raise = in_try and not isinstance(value, (ast.Name, ast.Constant))
        postponed = None if may_raise else self.postponed(value, done)
        if postponed is None:
            done.append(self.assigned(self.result, value, statement))
        key = "" if postponed is None else ast.dump(postponed)
        flag = f"{PREFIX}left{self.loop.lineno}_{len(self.known)}"
        leaving = self.known.setdefault(key, Exit(postponed, flag, statement))
        return [*done, self.assigned(leaving.flag, ast.Constant(True), statement)], leaving.value

    def postponed(self, value: ast.expr, done: Block) -> ast.expr | None:
        """Return an expression with the same value behind the loop; None where the loop would carry more for it than a
        value."""
        match value:
            case ast.Name():
                return value
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                if not any(isinstance(each, ast.Starred) for each in parts):
                    value.elts = [self.part(each, done) for each in parts]
                    return value
            case ast.Dict(keys=keys):
                if all(isinstance(each, ast.Constant) for each in keys):
                    value.values = [self.part(each, done) for each in value.values]
                    return value
            case ast.Subscript(value=holder) if self.lasts(holder):
                value.slice = self.key(value.slice, done)
                return value
        return value if self.lasts(value) else None

    def key(self, key: ast.expr, done: Block) -> ast.expr:
        match key:
            case ast.Tuple():
                key.elts = [self.key(each, done) for each in key.elts]
            case ast.Slice():
                bounds = [each and self.part(each, done) for each in (key.lower, key.upper, key.step)]
                key.lower, key.upper, key.step = bounds
            case _:
                return self.part(key, done)
        return key

    def part(self, value: ast.expr, done: Block) -> ast.expr:
        """Return a part of a result, which the loop computes if it cannot be computed behind it."""
        found = self.postponed(value, done)
        if found is not None:
            return found
        self.parts += 1
        name = f"{PREFIX}part{self.loop.lineno}_{self.parts}"
        done.append(self.assigned(name, value, value))
        return ast.copy_location(ast.Name(name, ast.Load()), value)

    def lasts(self, value: ast.expr) -> bool:
        """Whether an expression reads no variable that the loop binds, which the loop would have to carry for it."""
        assigns = any(isinstance(each, ast.NamedExpr) for each in walk(value))
        return not assigns and loads(value).isdisjoint(self.bound)

    def before(self) -> Block:
        """Return statements, before the loop, that clear the flags by which the ways are told apart."""
        return [self.assigned(each.flag, ast.Constant(False), self.loop) for each in [*self.known.values()][1:]]

    def behind(self) -> Block:
        """Return statements, behind the loop, that compute the result where the loop returns."""
        done: Block = []
        for number, each in enumerate(self.known.values()):
            own = self.returned(each)
            if number == 0:
                done = own
            elif own or done:
                test = ast.copy_location(ast.Name(each.flag, ast.Load()), each.at)
                done = [ast.copy_location(ast.If(test, own or [ast.copy_location(ast.Pass(), each.at)], done), each.at)]
        return done

    def returned(self, leaving: Exit) -> Block:
        return [] if leaving.value is None else [self.assigned(self.result, leaving.value, leaving.at)]
