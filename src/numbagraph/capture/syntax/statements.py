"""Rewrites statements of control flow into calls of operators: branches and bodies become local functions of the
variables that they change, which return the variables' new values."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType

from numbagraph.capture.syntax.closures import Closures
from numbagraph.capture.syntax.desugaring import Simpler
from numbagraph.capture.syntax.expressions import Expressions, call_of, constant, name_read, thunk
from numbagraph.capture.syntax.generator_functions import with_visitor, yields
from numbagraph.capture.syntax.jumps import blocks, none_of, without_jumps
from numbagraph.capture.syntax.names import (
    SCOPES,
    Assignedness,
    Liveness,
    changed,
    children,
    free_names,
    kept_functions,
    loads,
    parameters,
    stores,
    walk,
)
from numbagraph.capture.syntax.nonlocals import Shared, with_cells
from numbagraph.capture.syntax.source import OPERATORS, Definition, arguments, function_of, refusal
from numbagraph.capture.syntax.try_statements import ERROR, divided, is_bare
from numbagraph.capture.syntax.walrus import reads
from numbagraph.ir.sources import PREFIX

_REFUSED = {
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.Await: "await",
    ast.AsyncFor: "async for",
    ast.AsyncWith: "async with",
    ast.Global: "global",
    ast.Nonlocal: "nonlocal",
}
ITEM = f"{PREFIX}item"


def own_dict(definition: ast.FunctionDef) -> list[ast.stmt]:
    """The statement that notes that the dict of a function's keyword arguments is made for each call of it."""
    keywords = definition.args.kwarg
    if keywords is None:
        return []
    found = ast.Expr(call_of("made", name_read(keywords.arg)))
    return [ast.fix_missing_locations(ast.copy_location(found, definition.body[0]))]


Cells = dict[tuple[str, int], set[str]]
"""The variables of each function that must be in cells, by the function's name and line."""


def rewritten(read: Callable[[CodeType], Definition], code: CodeType) -> ast.FunctionDef:
    """Return the definition of a function, rewritten so that its control flow is calls of operators. ``read`` returns
    the definition as it is written."""
    cells: Cells = {}
    while True:
        try:
            return rewritten_once(read(code), code, cells)
        except Shared as found:
            names = cells.setdefault(found.owner, set())
            if found.name in names:
                raise AssertionError(f"{found.name} is in a cell") from None
            names.add(found.name)


def rewritten_once(definition: Definition, code: CodeType, cells: Cells) -> ast.FunctionDef:
    if isinstance(definition, ast.Lambda):
        value = ast.copy_location(ast.Return(definition.body), definition.body)
        function = function_of("lambda_", definition.args, [value])
        definition = ast.copy_location(function, definition)
    else:
        definition.name = f"{PREFIX}{definition.name}"
    Rewriting(code, cells).function(definition)
    return definition


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """The code objects of the functions and classes inside of a function."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from codes_in(each)


def is_code_of(code: CodeType, definition: ast.FunctionDef) -> bool:
    first = min([definition.lineno, *(each.lineno for each in definition.decorator_list)])
    return code.co_name == definition.name and code.co_firstlineno in (first, definition.lineno)


class Rewriting:
    """Rewrites the body of one function."""

    def __init__(self, code: CodeType, cells: Cells) -> None:
        self.code = code
        self.cells = cells
        self.expressions = Expressions(code)
        self.liveness = Liveness()
        self.made = 0
        self.local: set[str] = set()
        self.closures = Closures()

    def function(self, definition: ast.FunctionDef) -> None:
        if yields(definition):
            with_visitor(definition, self.code)
        self.owner = definition.name, definition.lineno
        with_cells(definition, self.code, self.cells.get(self.owner, set()))
        definition.body = divided(Simpler(self.code).block(definition.body))
        for each in walk(definition.body, inner=False):
            for kind, spelling in _REFUSED.items():
                if isinstance(each, kind):
                    raise refusal(
                        f"{spelling} in a function with loops or branches on traced values: write it without",
                        self.code,
                        getattr(each, "lineno", None),
                    )
        self.local = stores(definition.body) | parameters(definition)
        self.closures = Closures(definition.body)
        self.expressions.local, self.expressions.reads = self.local, reads(definition.body)
        body = without_jumps(definition.body)
        Assignedness(stores(definition.body)).block(body, parameters(definition))
        definition.body = [*own_dict(definition), *self.statements(body, set())]
        definition.returns = None

    def method(self, definition: ast.FunctionDef) -> None:
        """Rewrite a method of a class that the function defines."""
        kind = "generator" if yields(definition) else "converted"
        code = next((each for each in codes_in(self.code) if is_code_of(each, definition)), self.code)
        name = definition.name
        Rewriting(code, self.cells).function(definition)
        definition.name = name
        definition.decorator_list = [*definition.decorator_list, _attribute(kind)]

    def new_name(self, what: str) -> str:
        self.made += 1
        return f"{PREFIX}{what}{self.made}"

    def statements(self, statements: Sequence[ast.stmt], live: set[str]) -> list[ast.stmt]:
        after: list[set[str]] = []
        for each in reversed(statements):
            after.append(live)
            live = self.liveness.before_one(each, live)
        done: list[ast.stmt] = []
        for each, names in zip(statements, reversed(after), strict=True):
            for new in self.statement(each, names):
                _located(new, each)
                done.append(new)
        return done

    def statement(self, statement: ast.stmt, live: set[str]) -> list[ast.stmt]:
        match statement:
            case ast.If():
                return self.branch(statement, live)
            case ast.For():
                return self.for_loop(statement, live)
            case ast.While():
                return self.while_loop(statement, live)
            case ast.Try(handlers=[_, *_], finalbody=[]):
                return self.attempt(statement, live)
            case ast.FunctionDef():
                kind = "generator" if yields(statement) else "converted"
                nested = Rewriting(self.code, self.cells)
                nested.function(statement)
                statement.decorator_list = [*statement.decorator_list, _attribute(kind)]
                return [statement]
            case ast.ClassDef():
                for each in statement.body:
                    if isinstance(each, ast.FunctionDef):
                        self.method(each)
                return [statement]
            case ast.Return(value=ast.expr() as value):
                return [ast.Return(call_of("returned", self.expressions.visit(value)))]
            case ast.Raise(exc=ast.Call(func=function, args=arguments_, keywords=[])):
                parts = [self.expressions.visit(each) for each in arguments_]
                return [ast.Expr(call_of("raise_", self.expressions.visit(function), *parts))]
            case ast.Raise(exc=ast.expr() as raised):
                return [ast.Expr(call_of("raise_", self.expressions.visit(raised)))]
            case ast.Assert():
                message = thunk(self.expressions.visit(statement.msg)) if statement.msg else constant(None)
                return [ast.Expr(call_of("assert_", self.expressions.test(statement.test), message))]
            case ast.With():
                statement.body = self.statements(statement.body, live)
                return [self.expressions.of_items(statement)]
            case _ if blocks(statement) and not isinstance(statement, SCOPES):
                around = live | loads(statement)
                for block in blocks(statement):
                    block[:] = self.statements(block, around)
                return [self.expressions.of_items(statement)]
            case _:
                return self.expressions.statement(statement)

    # ---- branches and loops ----

    def branch(self, branch: ast.If, live: set[str]) -> list[ast.stmt]:
        bound = changed(branch.body, self.local) | changed(branch.orelse, self.local)
        inside = self.liveness.before(branch.body, live) | self.liveness.before(branch.orelse, live)
        names = sorted(bound & (live | inside))
        self.require_private(names, branch, live | inside)
        yes, no = self.new_name("then"), self.new_name("else")
        orelse = self.statements(branch.orelse, live)
        call = call_of(
            "if_",
            self.expressions.test(branch.test),
            tuple_of(names),
            name_read(yes),
            name_read(no),
            picked(names),
            self.kept(names, [*branch.body, *branch.orelse]),
        )
        return [
            self.inner(yes, names, self.statements(branch.body, live), picked(names), branch.body[0]),
            self.inner(no, names, orelse, picked(names), branch.orelse[0] if branch.orelse else branch),
            *unpacked(names, call),
        ]

    def attempt(self, statement: ast.Try, live: set[str]) -> list[ast.stmt]:
        handlers = statement.handlers
        behind = self.liveness.before(statement.orelse, live)
        bound = changed([*statement.body, *statement.orelse, *handlers], self.local)
        bound -= {each.name for each in handlers if each.name}
        inside = self.liveness.before(statement.body, behind).union(
            *(self.liveness.before(each.body, live) for each in handlers)
        )
        names = sorted(bound & (live | inside))
        self.require_private(names, statement, live | inside)
        body = self.new_name("try")
        made = [self.inner(body, names, self.statements(statement.body, behind), picked(names), statement.body[0])]
        orelse: ast.expr = constant(None)
        if statement.orelse:
            name = self.new_name("orelse")
            rest = self.statements(statement.orelse, live)
            made.append(self.inner(name, names, rest, picked(names), statement.orelse[0]))
            orelse = name_read(name)
        known: list[ast.expr] = []
        for each in handlers:
            classes = thunk(self.expressions.visit(each.type)) if each.type else constant(None)
            run: ast.expr = constant(None)
            if not is_bare(each):
                name = self.new_name("except")
                start = [ast.Assign([ast.Name(each.name, ast.Store())], name_read(ERROR))] if each.name else []
                taken = [*start, *self.statements(each.body, live)]
                made.append(self.inner(name, [ERROR, *names], taken, picked(names), each.body[0]))
                run = name_read(name)
            known.append(ast.Tuple([classes, run], ast.Load()))
        partial = constant(getattr(statement, "partial", False))
        call = call_of(
            "try_", tuple_of(names), name_read(body), orelse, ast.Tuple(known, ast.Load()), partial, picked(names)
        )
        return [*made, *unpacked(names, call)]

    def for_loop(self, loop: ast.For, live: set[str]) -> list[ast.stmt]:
        head = self.liveness.at_head(loop, live) | set(loop.flags)  # type: ignore[attr-defined]
        names = sorted((changed(loop.body, self.local) | stores(loop.target)) & head)
        self.require_private(names, loop, head)
        body = self.new_name("body")
        target = ast.copy_location(ast.Assign([loop.target], name_read(ITEM)), loop.target)
        statements = [*self.statements([target], head), *self.statements(loop.body, head)]
        ends = ended(loop.flags)  # type: ignore[attr-defined]
        result = ast.Tuple([self.expressions.visit(ends) if ends else constant(False), picked(names)], ast.Load())
        may_end = constant(ends is not None)
        kept = self.kept(names, [loop.target, *loop.body])
        parts = tuple_of(names), name_read(body), may_end, picked(names), kept
        call = call_of("for_", self.iterable(loop, names), *parts)
        return [self.inner(body, [ITEM, *names], statements, result, loop.body[0]), *unpacked(names, call)]

    def iterable(self, loop: ast.For, names: Sequence[str]) -> ast.expr:
        """Rewrite the iterable of a loop. A generator makes its elements between the steps."""
        if not isinstance(loop.iter, ast.GeneratorExp):
            return self.expressions.visit(loop.iter)
        shared = loads(loop.iter) & set(names)
        if shared:
            name = min(shared)
            raise refusal(
                f"{name!r} changes in a loop over a generator that reads it: make a list of it, [...]",
                self.code,
                loop.lineno,
            )
        return self.expressions.generator(loop.iter)

    def while_loop(self, loop: ast.While, live: set[str]) -> list[ast.stmt]:
        head = self.liveness.at_head(loop, live) | set(loop.flags)  # type: ignore[attr-defined]
        names = sorted(changed(loop.body, self.local) & head)
        self.require_private(names, loop, head)
        test, body = self.new_name("test"), self.new_name("body")
        condition: ast.expr = loop.test
        if loop.flags:  # type: ignore[attr-defined]
            condition = ast.BoolOp(ast.And(), [none_of(loop.flags), condition])  # type: ignore[attr-defined]
        _located(ast.copy_location(condition, loop.test), loop.test)
        tested = self.expressions.test(condition)
        kept = self.kept(names, [*loop.body, loop.test])
        call = call_of("while_", tuple_of(names), name_read(test), name_read(body), picked(names), kept)
        return [
            self.inner(test, names, [], tested, loop.test),
            self.inner(body, names, self.statements(loop.body, head), picked(names), loop.body[0]),
            *unpacked(names, call),
        ]

    @staticmethod
    def kept(names: Sequence[str], statements: Sequence[ast.AST]) -> ast.expr:
        """The variables that some statements never bind."""
        bound = stores(statements)
        return tuple_of(each for each in names if each not in bound)

    def require_private(self, names: Iterable[str], statement: ast.stmt, live: set[str]) -> None:
        """Raise for a function that would read variables of a loop: one that was defined before the loop reads them
        from there, where the loop does not change them; one that a step keeps would read those of its step, not of the
        last one."""
        bound = stores(statement) if isinstance(statement, (ast.For, ast.While)) else set()
        for each in kept_functions(statement):
            if shared := free_names(each) & bound:
                raise Shared(min(shared), self.owner)
        stale = self.closures.stale(statement, live | loads(statement), set(names))
        if stale is not None:
            raise Shared(stale[0], self.owner)

    def inner(
        self, name: str, names: Sequence[str], body: list[ast.stmt], result: ast.expr, at: ast.AST
    ) -> ast.FunctionDef:
        """Return a function of variables, some of which may be undefined."""
        statements = [*undefined(each for each in names if each not in (ITEM, ERROR)), *body, ast.Return(result)]
        function = function_of(name, arguments(names), statements)
        ast.copy_location(function, at)
        _located(function, at)
        return function


def ended(flags: Sequence[str]) -> ast.expr | None:
    """The condition that one of the flags is set."""
    if not flags:
        return None
    return name_read(flags[0]) if len(flags) == 1 else ast.BoolOp(ast.Or(), [name_read(each) for each in flags])


def tuple_of(names: Iterable[str]) -> ast.expr:
    return ast.Tuple([constant(each) for each in names], ast.Load())


def picked(names: Iterable[str]) -> ast.expr:
    """Return an expression of the values of variables, or a mark for undefined ones."""
    return call_of("pick", ast.Call(name_read("locals"), [], []), *map(constant, names))


def undefined(names: Iterable[str]) -> list[ast.stmt]:
    """Delete those variables that are undefined, so that reading them raises Python's error."""
    return [
        ast.If(
            ast.Compare(name_read(each), [ast.Is()], [_attribute("UNDEFINED")]),
            [ast.Delete([ast.Name(each, ast.Del())])],
            [],
        )
        for each in names
    ]


def unpacked(names: Sequence[str], call: ast.expr) -> list[ast.stmt]:
    if not names:
        return [ast.Expr(call)]
    target = ast.Tuple([ast.Name(each, ast.Store()) for each in names], ast.Store())
    return [ast.Assign([target], call), *undefined(names)]


def _attribute(name: str) -> ast.expr:
    return ast.Attribute(name_read(OPERATORS), name, ast.Load())


def _located(node: ast.AST, at: ast.AST) -> None:
    """Give new nodes the line of the statement that they stand in, or of the node that they were made of. No node may
    be added to statements that have been through this."""
    pending = [(node, at)]
    while pending:
        each, around = pending.pop()
        if "lineno" in each._attributes:
            if not hasattr(each, "lineno"):
                ast.copy_location(each, around)
            around = each
        pending += [(part, around) for part in children(each) if not hasattr(part, "located")]
    if isinstance(node, ast.stmt):
        node.located = True  # type: ignore[attr-defined]
