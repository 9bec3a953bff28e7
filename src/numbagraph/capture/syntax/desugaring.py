"""Rewrites statements into simpler ones with the same meaning: ``match``, and assignments in conditions (``:=``)."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import NamedTuple

from numbagraph.capture.syntax.names import SCOPES, walk
from numbagraph.capture.syntax.source import OPERATORS, refusal
from numbagraph.ir.sources import PREFIX

Block = list[ast.stmt]


class Pattern(NamedTuple):
    """The tests that a pattern makes of a value, and the names that it binds if they hold."""

    tests: list[ast.expr]
    bound: list[tuple[str, ast.expr]]


class Simpler:
    """Rewrites the statements of one function, except those of nested functions."""

    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.made = 0

    def block(self, statements: Sequence[ast.stmt]) -> Block:
        return [new for each in statements for new in self.statement(each)]

    def statement(self, statement: ast.stmt) -> Block:
        if isinstance(statement, SCOPES):
            return [statement]
        for name in ("body", "orelse", "finalbody"):
            if isinstance(block := getattr(statement, name, None), list):
                setattr(statement, name, self.block(block))
        for each in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            each.body = self.block(each.body)
        match statement:
            case ast.Match():
                return self.placed(self.match(statement), statement)
            case ast.While(test=test) if has_assignment(test):
                return self.placed(self.while_loop(statement), statement)
            case ast.If(test=test) if any(map(has_assignment, later_parts(test))):
                before, statement.test = self.stepwise(test)
                return self.placed([*before, statement], statement)
        return [statement]

    @staticmethod
    def placed(made: Block, at: ast.stmt) -> Block:
        for each in made:
            for node in ast.walk(each):
                if "lineno" in node._attributes and not hasattr(node, "lineno"):
                    ast.copy_location(node, at)
        return made

    def name(self, what: str) -> str:
        self.made += 1
        return f"{PREFIX}{what}{self.made}"

    # ---- assignments in conditions ----

    def while_loop(self, loop: ast.While) -> Block:
        """Rewrite a loop so that its condition is tested at the beginning of the body."""
        if loop.orelse:
            raise refusal("`:=` in the condition of a while loop with an else", self.code, loop.lineno)
        test = ast.copy_location(ast.If(loop.test, [ast.Pass()], [ast.Break()]), loop.test)
        loop.body = [*self.statement(test), *loop.body]
        loop.test = ast.Constant(True)
        return [loop]

    def stepwise(self, test: ast.expr) -> tuple[Block, ast.expr]:
        """Rewrite ``a and b`` whose later parts assign: each part is a statement under the condition of those
        before."""
        if not isinstance(test, ast.BoolOp):
            return [], test
        name = self.name("holds")
        first, *others = test.values
        before, value = self.stepwise(first)
        done: Block = [*before, assignment(name, value)]
        for each in others:
            before, value = self.stepwise(each)
            inside = [*before, assignment(name, value)]
            is_and = isinstance(test.op, ast.And)
            done = [*done, ast.If(read(name), inside if is_and else [ast.Pass()], [] if is_and else inside)]
        return done, read(name)

    # ---- match ----

    def match(self, statement: ast.Match) -> Block:
        subject = self.name("subject")
        return [assignment(subject, statement.subject), *self.cases(statement.cases, read(subject))]

    def cases(self, cases: Sequence[ast.match_case], subject: ast.expr) -> Block:
        if not cases:
            return []
        case, *others = cases
        pattern = self.pattern(case.pattern, subject)
        bound = [assignment(*each) for each in pattern.bound]
        test = all_of(pattern.tests)
        if case.guard is None:
            body = [*bound, *case.body]
            return body if test is None else [ast.If(test, body, self.cases(others, subject))]
        if test is None:
            return [*bound, *self.statement(ast.If(case.guard, case.body, self.cases(others, subject)))]
        name = self.name("holds")
        guarded = ast.If(test, [*bound, assignment(name, case.guard)], [assignment(name, ast.Constant(False))])
        return [guarded, ast.If(read(name), case.body, self.cases(others, subject))]

    def pattern(self, pattern: ast.pattern, value: ast.expr) -> Pattern:
        match pattern:
            case ast.MatchValue(value=expected):
                return Pattern([ast.Compare(value, [ast.Eq()], [expected])], [])
            case ast.MatchSingleton(value=expected):
                return Pattern([ast.Compare(value, [ast.Is()], [ast.Constant(expected)])], [])
            case ast.MatchAs(pattern=inner, name=name):
                tests, bound = self.pattern(inner, value) if inner is not None else Pattern([], [])
                return Pattern(tests, [*bound, (name, value)] if name is not None else bound)
            case ast.MatchOr(patterns=patterns):
                found = [self.pattern(each, value) for each in patterns]
                if any(each.bound for each in found):
                    raise refusal("names in the alternatives of a pattern", self.code, pattern.lineno)
                tests = [all_of(each.tests) or ast.Constant(True) for each in found]
                return Pattern([ast.BoolOp(ast.Or(), tests)], [])
            case ast.MatchSequence(patterns=patterns) if not any(map(is_star, patterns)):
                parts = [ast.Subscript(value, ast.Constant(each), ast.Load()) for each in range(len(patterns))]
                test = operator("is_sequence", value, ast.Constant(len(patterns)))
                return self.joined(test, zip(patterns, parts, strict=True))
            case ast.MatchClass(cls=kind, patterns=[], kwd_attrs=names, kwd_patterns=patterns):
                parts = [ast.Attribute(value, each, ast.Load()) for each in names]
                test = ast.Call(ast.Name("isinstance", ast.Load()), [value, kind], [])
                return self.joined(test, zip(patterns, parts, strict=True))
        what = type(pattern).__name__.removeprefix("Match").lower()
        raise refusal(
            f"a {what} pattern of this form in a match statement: write if and elif", self.code, pattern.lineno
        )

    def joined(self, test: ast.expr, parts: Iterator[tuple[ast.pattern, ast.expr]]) -> Pattern:
        found = [self.pattern(*each) for each in parts]
        tests = [each for one in found for each in one.tests]
        return Pattern([test, *tests], [each for one in found for each in one.bound])


def is_star(pattern: ast.pattern) -> bool:
    return isinstance(pattern, ast.MatchStar)


def has_assignment(node: ast.AST) -> bool:
    """Whether an expression assigns to a variable of the function around it."""
    return any(isinstance(each, ast.NamedExpr) for each in walk(node, inner=False))


def later_parts(test: ast.expr) -> list[ast.expr]:
    """The parts of a condition that are evaluated only if others hold or do not hold."""
    if not isinstance(test, ast.BoolOp):
        return []
    return [*test.values[1:], *(part for each in test.values for part in later_parts(each))]


def all_of(tests: Sequence[ast.expr]) -> ast.expr | None:
    if not tests:
        return None
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), list(tests))


def read(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def assignment(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def operator(name: str, *operands: ast.expr) -> ast.expr:
    return ast.Call(ast.Attribute(ast.Name(OPERATORS, ast.Load()), name, ast.Load()), list(operands), [])
