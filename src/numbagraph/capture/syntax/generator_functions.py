"""Generator functions: the body of a loop over one runs, for each element, at the place where the function yields it.

``for x in f(): body`` runs ``f`` with ``body`` as a function of the element and of the variables that the loop changes.
``yield x`` calls it, and carries the variables on, so that loops and branches of ``f`` are captured as any others are.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

from numbagraph.capture.syntax.names import walk
from numbagraph.capture.syntax.source import OPERATORS, CaptureError, refusal
from numbagraph.ir.sources import PREFIX
from numbagraph.tracing.errors import OnlyTraced, calling_source, user_source

VISIT, STATE, EACH = f"{PREFIX}visit", f"{PREFIX}state", f"{PREFIX}each"
Visit = Callable[[Any, Any], Any]


class Lazy(OnlyTraced):
    """An iterable with traced elements, for loops alone: its elements cannot be listed during tracing."""

    kind = "a generator"

    def __iter__(self) -> Any:
        """Raise: functions of Python and of libraries, which are not converted, iterate as usual."""
        raise CaptureError(
            f"cannot take the elements of {self.kind} one by one, since their number is traced: use a loop, a "
            f"comprehension, or NumPy's functions of np.array(...)\n  at {calling_source()}"
        )


class Once(Lazy):
    """An iterator of Python's, which is used up when its elements have been taken."""

    is_taken = False

    def take(self) -> None:
        if self.is_taken:
            raise CaptureError(
                f"an iterator is used a second time, when Python's has no elements any more: make a list of it, or "
                f"call the function again\n  at {user_source()}"
            )
        self.is_taken = True


def taken(iterable: Any) -> Any:
    """Return the iterable of a loop, and use it up if it is an iterator."""
    if isinstance(iterable, Once):
        iterable.take()
    return iterable


class Yielding(Once):
    """A call of a generator function: it runs when a loop takes its elements, with that loop's changes to its
    variables."""

    def __init__(self, run: Callable[[Visit, Any], Any]) -> None:
        self.run = run

    def mapped(self, function: Callable[[Any], Any]) -> Yielding:
        self.take()
        return Yielding(lambda visit, state: self.run(lambda element, own: visit(function(element), own), state))

    def __repr__(self) -> str:
        return "a generator"

    advice = "return a list or an array of what it gives"


def generator(function: Callable[..., Any]) -> Callable[..., Yielding]:
    """Return a generator function, from its form that takes a visitor and the state of the consumer."""
    return lambda *args, **kwargs: Yielding(lambda visit, state: function(visit, state, *args, **kwargs))


def has_ended(state: Sequence[Any]) -> Any:
    """Whether the loop over a generator was left."""
    return state[0]


def yields(definition: ast.FunctionDef) -> bool:
    return any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in walk(definition.body, inner=False))


def with_visitor(definition: ast.FunctionDef, code: CodeType) -> None:
    """Rewrite a generator function as one that takes a visitor and a state, and returns the last state."""
    if any(isinstance(each, ast.arg) and each.arg in (VISIT, STATE) for each in ast.walk(definition.args)):
        return
    made = _Visiting(code).block(definition.body)
    last = definition.body[-1]
    definition.body = [*made, ast.copy_location(ast.Return(_read(STATE)), last)]
    definition.args.posonlyargs[:0] = [ast.arg(VISIT), ast.arg(STATE)]
    ast.fix_missing_locations(definition)


class _Visiting:
    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.made = 0

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [new for each in statements for new in self.statement(each)]

    def statement(self, statement: ast.stmt) -> list[ast.stmt]:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return [statement]
            case ast.Expr(value=ast.Yield(value=value)):
                return self.visit(value or ast.Constant(None), statement)
            case ast.Expr(value=ast.YieldFrom(value=value)):
                self.made += 1
                name = f"{EACH}{self.made}"
                body = self.visit(_read(name), statement)
                loop = ast.For(ast.Name(name, ast.Store()), value, body, [])
                return [ast.fix_missing_locations(ast.copy_location(loop, statement))]
            case ast.Return(value=None | ast.Constant(value=None)):
                return [ast.copy_location(ast.Return(_read(STATE)), statement)]
            case ast.Return():
                raise refusal("return of a value in a generator: yield it", self.code, statement.lineno)
        for name in ("body", "orelse", "finalbody"):
            if isinstance(block := getattr(statement, name, None), list):
                setattr(statement, name, self.block(block))
        for each in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            each.body = self.block(each.body)
        if any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in _own(statement)):
            raise refusal("the value of a yield: write it as a statement", self.code, statement.lineno)
        return [statement]

    def visit(self, value: ast.expr, at: ast.stmt) -> list[ast.stmt]:
        called = ast.Call(_read(VISIT), [value, _read(STATE)], [])
        ended = ast.Call(ast.Attribute(_read(OPERATORS), "has_ended", ast.Load()), [_read(STATE)], [])
        made = [
            ast.Assign([ast.Name(STATE, ast.Store())], called),
            ast.If(ended, [ast.Return(_read(STATE))], []),
        ]
        return [ast.fix_missing_locations(ast.copy_location(each, at)) for each in made]


def _own(statement: ast.stmt) -> list[ast.AST]:
    """The nodes of a statement apart from the statements in it."""
    parts = [each for each in ast.iter_child_nodes(statement) if not isinstance(each, ast.stmt)]
    handlers = (ast.ExceptHandler, ast.match_case)
    return list(walk([each for each in parts if not isinstance(each, handlers)], inner=False))


def _read(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())
