"""Rewrites ``break``, ``continue`` and ``return`` into flags, so that each statement is left at its end alone.

The statements behind one that may jump run under the condition that it did not. Where one branch of an ``if`` always
jumps, they move into the other branch.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from numbagraph.capture.syntax.loop_returns import Exits
from numbagraph.capture.syntax.names import SCOPES
from numbagraph.ir.sources import PREFIX

RETURNED, RESULT = f"{PREFIX}returned", f"{PREFIX}result"
Loop = ast.For | ast.While


class Flags(NamedTuple):
    """The names of the flags of the loop around some statements."""

    broken: str
    continued: str


def without_jumps(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a function with only the last one returning. Loops get an attribute ``flags``: the names
    of the flags that end them."""
    if not any("return" in jumps([each]) for each in body[:-1]) and _is_plain(body[-1]):
        return _Lowering(returns=False).lower(body, None)
    if not always_jumps(body):
        body = [*body, ast.copy_location(ast.Return(ast.Constant(None)), body[-1])]
    lowered = _Lowering(returns=True).lower(body, None)
    start = [assigned(RETURNED, ast.Constant(False), body[0])]
    end = ast.copy_location(ast.Return(ast.Name(RESULT, ast.Load())), body[-1])
    return [*start, *lowered, ast.fix_missing_locations(end)]


def _is_plain(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Return) or "return" not in jumps([statement])


def jumps(statements: Sequence[ast.stmt]) -> set[str]:
    """The jumps (break, continue, return) that leave these statements."""
    found: set[str] = set()
    for each in statements:
        match each:
            case ast.Return():
                found.add("return")
            case ast.Break():
                found.add("break")
            case ast.Continue():
                found.add("continue")
            case ast.For() | ast.While():
                found |= jumps(each.body) & {"return"} | jumps(each.orelse)
            case _ if not isinstance(each, SCOPES):
                for block in blocks(each):
                    found |= jumps(block)
    return found


def blocks(statement: ast.AST) -> list[list[ast.stmt]]:
    """The lists of statements inside of a statement."""
    names = ("body", "orelse", "finalbody")
    found = [getattr(statement, name) for name in names if isinstance(getattr(statement, name, None), list)]
    return found + [handler.body for handler in getattr(statement, "handlers", [])]


def always_jumps(statements: Sequence[ast.stmt]) -> bool:
    """Whether the end of the statements is never reached."""
    for each in statements:
        match each:
            case ast.Return() | ast.Break() | ast.Continue() | ast.Raise():
                return True
            case ast.If() if each.orelse and always_jumps(each.body) and always_jumps(each.orelse):
                return True
            case ast.While(test=ast.Constant(value=value)) if value and "break" not in jumps(each.body):
                return True
            case ast.With() if always_jumps(each.body):
                return True
            case ast.Try(handlers=handlers, finalbody=last):
                whole = always_jumps([*each.body, *each.orelse]) and all(always_jumps(one.body) for one in handlers)
                if whole or always_jumps(last):
                    return True
    return False


def assigned(name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    statement = ast.Assign([ast.Name(name, ast.Store())], value)
    return ast.fix_missing_locations(ast.copy_location(statement, at))


def conditional(test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], at: ast.AST) -> ast.stmt:
    ast.fix_missing_locations(ast.copy_location(test, at))
    return ast.copy_location(ast.If(test, body or [ast.copy_location(ast.Pass(), at)], orelse), at)


def none_of(names: Sequence[str]) -> ast.expr:
    loaded: list[ast.expr] = [ast.Name(each, ast.Load()) for each in names]
    return ast.UnaryOp(ast.Not(), loaded[0] if len(loaded) == 1 else ast.BoolOp(ast.Or(), loaded))


class _Lowering:
    def __init__(self, *, returns: bool) -> None:
        self.returns = returns
        self.loops = 0
        self.exits: Exits | None = None
        """The exits of the outermost loop around a statement that may return behind it."""
        self.in_try = False
        """Whether handlers see errors of the returned expression, which is then not computed behind the loop."""

    def lower(self, statements: Sequence[ast.stmt], flags: Flags | None) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for number, each in enumerate(statements):
            rest = statements[number + 1 :]
            match each:
                case ast.Return() if self.returns:
                    return [*done, *self.leave(each)]
                case ast.Break() if flags:
                    return [*done, assigned(flags.broken, ast.Constant(True), each)]
                case ast.Continue() if flags:
                    return [*done, assigned(flags.continued, ast.Constant(True), each)]
                case ast.For() | ast.While():
                    lowered, is_whole = self.loop(each, rest, flags)
                    done += lowered
                    if is_whole:
                        return done
                case ast.If() if jumps([each]):
                    return [*done, *self.branch(each, rest, flags)]
                case _ if not isinstance(each, SCOPES):
                    found = jumps_of(each, flags)
                    if isinstance(each, ast.Try) and each.orelse and jumps(each.body):
                        each.orelse = [conditional(none_of(found), each.orelse, [], each.orelse[0])]
                    around = self.exits, self.in_try
                    is_try = isinstance(each, ast.Try) and not each.finalbody
                    self.exits, self.in_try = self.exits if is_try else None, True
                    for block in blocks(each):
                        block[:] = self.lower(block, flags)
                    self.exits, self.in_try = around
                    done += [assigned(name, ast.Constant(False), each) for name in found if name != RETURNED]
                    done.append(each)
                    if rest and found:
                        return [*done, conditional(none_of(found), self.lower(rest, flags), [], rest[0])]
                case _:
                    done.append(each)
        return done

    def leave(self, statement: ast.Return) -> list[ast.stmt]:
        end = assigned(RETURNED, ast.Constant(True), statement)
        if self.exits is None:
            return [assigned(RESULT, statement.value or ast.Constant(None), statement), end]
        done, end.reads = self.exits.leave(statement, self.in_try)  # type: ignore[attr-defined]
        return [*done, end]

    def loop(self, loop: Loop, rest: Sequence[ast.stmt], flags: Flags | None) -> tuple[list[ast.stmt], bool]:
        """Lower a loop, and with it the statements that follow, if these depend on how the loop was left."""
        self.loops += 1
        own = Flags(f"{PREFIX}broken{self.loops}", f"{PREFIX}continued{self.loops}")
        found = jumps(loop.body)
        done: list[ast.stmt] = []
        ends = [RETURNED] if "return" in found else []
        if "break" in found:
            ends.append(own.broken)
            done.append(assigned(own.broken, ast.Constant(False), loop))
        never_ends = always_jumps([loop])
        is_outermost = "return" in found and self.returns and self.exits is None
        if is_outermost:
            self.exits = Exits(loop, RESULT, assigned)
        body = self.lower(loop.body, own)
        behind: list[ast.stmt] = []
        if is_outermost:
            assert self.exits is not None
            done, behind, self.exits = [*self.exits.before(), *done], self.exits.behind(), None
        if "continue" in found:
            body = [assigned(own.continued, ast.Constant(False), loop), *body]
        orelse, loop.body, loop.orelse = loop.orelse, body, []
        loop.flags = ends  # type: ignore[union-attr]
        done.append(loop)
        if orelse:
            last = [conditional(none_of(ends), orelse, [], orelse[0])] if ends else orelse
            rest = [*last, *rest]
        if behind and never_ends:
            return [*done, *behind], True
        if behind:
            test = ast.Name(RETURNED, ast.Load())
            return [*done, conditional(test, behind, self.lower(rest, flags), loop)], True
        if "return" in found and rest:
            return [*done, conditional(none_of([RETURNED]), self.lower(rest, flags), [], rest[0])], True
        return ([*done, *self.lower(rest, flags)], True) if orelse else (done, False)

    def branch(self, branch: ast.If, rest: Sequence[ast.stmt], flags: Flags | None) -> list[ast.stmt]:
        """Lower an ``if`` that may jump, with the statements that follow."""
        if always_jumps(branch.body):
            yes, no = branch.body, [*branch.orelse, *rest]
        elif branch.orelse and always_jumps(branch.orelse):
            yes, no = [*branch.body, *rest], branch.orelse
        else:
            found = jumps_of(branch, flags)
            whole = conditional(branch.test, self.lower(branch.body, flags), self.lower(branch.orelse, flags), branch)
            cleared = [assigned(each, ast.Constant(False), branch) for each in found if each != RETURNED]
            if not rest:
                return [whole]
            return [*cleared, whole, conditional(none_of(found), self.lower(rest, flags), [], rest[0])]
        return [conditional(branch.test, self.lower(yes, flags), self.lower(no, flags), branch)]


def jumps_of(statement: ast.stmt, flags: Flags | None) -> list[str]:
    """The flags that say whether a statement has jumped."""
    found = jumps([statement])
    names = [RETURNED] if "return" in found else []
    if flags is not None:
        names += [flags.broken] if "break" in found else []
        names += [flags.continued] if "continue" in found else []
    return names
