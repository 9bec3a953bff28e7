"""Divides ``try`` with handlers, so that nothing which a handler could see happens before an error that it takes.

The effects of a ``try`` before its last error must be lost: handlers begin with the variables from before it. So the
statements of a ``try`` are divided: a new one begins where a statement may raise after others have had an effect, with
the same handlers, in the ``else`` of the one before. Loops have a ``try`` in each step, which sets a flag and ends
them.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections import Counter
from collections.abc import Sequence
from typing import Any

from numbagraph.capture.syntax.names import SCOPES, Liveness, changed, loads, walk
from numbagraph.ir.sources import PREFIX

Block = list[ast.stmt]
ERROR = f"{PREFIX}error"
"""The variable for the caught error in the function that a handler becomes."""
_LIBRARIES = ("np", "numpy", "math")


def divided(statements: Block) -> Block:
    """Return the statements of a function, with each ``try`` divided."""
    return _Dividing(statements).block(statements)


def is_bare(handler: ast.ExceptHandler) -> bool:
    """Whether a handler only raises the caught error again."""
    match handler.body:
        case [ast.Raise(exc=ast.Name(id=name))]:
            return name == ERROR
    return False


class _Dividing:
    def __init__(self, statements: Block) -> None:
        self.read = names_read(statements)
        self.made = 0

    def block(self, statements: Sequence[ast.stmt]) -> Block:
        done: Block = []
        for each in statements:
            if isinstance(each, ast.Try) and each.handlers:
                done += self.attempt(each)
                continue
            if not isinstance(each, SCOPES):
                for name in ("body", "orelse", "finalbody"):
                    if isinstance(inner := getattr(each, name, None), list):
                        setattr(each, name, self.block(inner))
            done.append(each)
        return done

    def attempt(self, statement: ast.Try) -> Block:
        """Divide a ``try``."""
        statement.orelse = self.block(statement.orelse)
        for each in statement.handlers:
            each.body = [raised_again(one) for one in self.block(each.body)]
        parts = Parts(statement, self.read)
        rest: Block = statement.orelse
        for part in reversed(parts.divided()):
            if parts.is_spread(part):
                rest = self.spread(part[0], statement, rest)
            else:
                handlers = copy.deepcopy(statement.handlers)
                one = ast.copy_location(ast.Try(self.block(part), handlers, rest, []), statement)
                one.partial = parts.acts_before(part)  # type: ignore[attr-defined]
                rest = [one]
        if statement.finalbody:
            whole = ast.Try(rest, [], [], self.block(statement.finalbody))
            return [ast.copy_location(whole, statement)]
        return rest

    def spread(self, compound: ast.stmt, around: ast.Try, rest: Block) -> Block:
        """Move a ``try`` into each of the blocks of a loop or a branch."""
        self.made += 1
        flag = f"{PREFIX}caught{self.made}"
        is_loop = isinstance(compound, (ast.For, ast.While))
        for name in ("body", "orelse"):
            block = getattr(compound, name)
            if block:
                inner = ast.copy_location(
                    ast.Try(block, self.noting(flag, around, is_loop and name == "body"), [], []), around
                )
                setattr(compound, name, self.attempt(inner))
        done: Block = rest
        for number, handler in reversed(list(enumerate(around.handlers, 1))):
            test = ast.Compare(ast.Name(flag, ast.Load()), [ast.Eq()], [ast.Constant(number)])
            done = [ast.If(test, copy.deepcopy(handler.body), done)]
        made = [ast.Assign([ast.Name(flag, ast.Store())], ast.Constant(0)), compound, *done]
        return [located(each, around) for each in made]

    @staticmethod
    def noting(flag: str, around: ast.Try, ends: bool) -> list[ast.ExceptHandler]:
        """Return handlers that note which of them has been reached."""
        found = []
        for number, each in enumerate(around.handlers, 1):
            body: Block = [ast.Assign([ast.Name(flag, ast.Store())], ast.Constant(number))]
            handler = ast.ExceptHandler(copy.deepcopy(each.type), None, [*body, *([ast.Break()] if ends else [])])
            found.append(located(handler, each))
        return found


class Parts:
    """The statements of a ``try``."""

    def __init__(self, statement: ast.Try, read: Counter[str]) -> None:
        self.statement = statement
        own = names_read(statement.body)
        elsewhere = {name for name, count in read.items() if count > own[name]}
        self.visible = elsewhere | Liveness().before(statement.body, set())
        """The names whose values may be read after an error."""
        self.hides_error = all(not each.name and ERROR not in loads(each.body) for each in statement.handlers)

    def divided(self) -> list[Block]:
        """Divide the statements where one may raise after others have had an effect."""
        found: list[Block] = [[]]
        acted = False
        for each in self.statement.body:
            is_spread = self.is_spread([each])
            if found[-1] and (is_spread or (acted and may_raise(each))):
                found.append([])
                acted = False
            found[-1].append(each)
            acted = acted or is_spread or self.acts(each)
        return found

    def is_spread(self, part: Block) -> bool:
        """Whether a part is a loop or a branch that needs a ``try`` in its blocks."""
        if len(part) != 1 or not self.hides_error:
            return False
        match part[0]:
            case ast.For() | ast.While():
                return True
            case ast.If() as branch:
                return self.acts_before([branch]) or any(
                    isinstance(each, (ast.For, ast.While)) for each in walk(branch)
                )
        return False

    def acts_before(self, statements: Sequence[ast.stmt]) -> bool:
        """Whether a statement may raise after another one has had a visible effect."""
        return self.followed(statements, False)[0]

    def followed(self, statements: Sequence[ast.stmt], acted: bool) -> tuple[bool, bool]:
        """Return whether a statement may raise after an effect, if ``acted`` says that there was one before, and
        whether there has been one behind the statements."""
        found = False
        for each in statements:
            blocks = [getattr(each, name, []) for name in ("body", "orelse", "finalbody")]
            blocks += [one.body for one in getattr(each, "handlers", [])]
            if not any(blocks) or isinstance(each, SCOPES):
                found |= acted and may_raise(each)
                acted |= self.acts(each)
                continue
            found |= acted
            ends = [self.followed(block, acted or isinstance(each, (ast.For, ast.While))) for block in blocks if block]
            found |= any(one for one, _ in ends)
            acted |= any(one for _, one in ends)
        return found, acted

    def acts(self, statement: ast.stmt) -> bool:
        """Whether a statement has an effect that is visible after an error behind it."""
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            return True
        if changed(statement, self.visible) & self.visible:
            return True
        for each in walk(statement):
            if isinstance(each, (ast.Subscript, ast.Attribute)) and not isinstance(each.ctx, ast.Load):
                return True
            if isinstance(each, ast.Call) and not is_harmless(each.func):
                return True
        return False


def is_harmless(function: ast.expr) -> bool:
    """Whether a function is called that changes nothing, as far as its name says."""
    match function:
        case ast.Name(id=name):
            return hasattr(builtins, name) and name != "next"
        case ast.Attribute(value=ast.Name(id=name)):
            return name in _LIBRARIES
    return False


def may_raise(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Break() | ast.Continue() | ast.Return(value=None | ast.Name() | ast.Constant()):
            return False
        case ast.Assign(targets=targets, value=ast.Name() | ast.Constant()):
            return not all(isinstance(each, ast.Name) for each in targets)
    return True


def names_read(statements: Sequence[ast.stmt]) -> Counter[str]:
    """The number of times that each name is read."""
    found: Counter[str] = Counter()
    for each in walk(statements):
        match each:
            case ast.Name(id=name, ctx=ast.Load()) | ast.AugAssign(target=ast.Name(id=name)):
                found[name] += 1
    return found


def raised_again(statement: ast.stmt) -> ast.stmt:
    """Return a statement of a handler that names the error which ``raise`` alone raises."""
    for each in walk(statement, inner=False):
        if isinstance(each, ast.Raise) and each.exc is None:
            each.exc = ast.copy_location(ast.Name(ERROR, ast.Load()), each)
    return statement


def located(node: ast.AST, at: ast.AST) -> Any:
    if not hasattr(node, "lineno"):
        ast.copy_location(node, at)
    return ast.fix_missing_locations(node)
