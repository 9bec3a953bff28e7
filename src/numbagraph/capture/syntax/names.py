"""The names that statements read and bind."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
OWN_NAMES = (*SCOPES, *COMPREHENSIONS)
CHANGING = ("heappush", "heappop", "heapify", "heapreplace", "heappushpop", "insort", "insort_left", "insort_right")
"""Functions that change a list which is their argument."""

Nodes = ast.AST | Sequence[ast.AST] | None


@cache
def _parts(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields in which nodes of a kind may have other nodes. Contexts and operators, a third of all, have no
    names."""
    return tuple(name for name in kind._fields if name not in ("ctx", "op", "ops"))


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below a node, but for contexts and operators."""
    found: list[ast.AST] = []
    for name in _parts(type(node)):
        part = getattr(node, name, None)
        if isinstance(part, ast.AST):
            found.append(part)
        elif isinstance(part, list):
            found += [each for each in part if isinstance(each, ast.AST)]
    return found


def walk(nodes: Nodes, *, inner: bool = True) -> Iterator[ast.AST]:
    """All nodes but contexts and operators; without ``inner``, those of nested functions and comprehensions are left
    out, too."""
    pending = [] if nodes is None else [nodes] if isinstance(nodes, ast.AST) else list(nodes)
    while pending:
        node = pending.pop()
        yield node
        if inner or not isinstance(node, OWN_NAMES):
            pending += children(node)


def loads(nodes: Nodes) -> set[str]:
    """The names that are read, in nested functions too."""
    return {each.id for each in walk(nodes) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}


def appended_to(statement: ast.Expr) -> str | None:
    """The variable in ``x.append(y)``, which is bound to the longer list."""
    match statement.value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[_], keywords=[]):
            return name
    return None


def method_of(statement: ast.Expr) -> str | None:
    """The variable in ``x.method(y)``, whose attributes or elements may change."""
    match statement.value:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
            return name
    return None


def stores(nodes: Nodes) -> set[str]:
    """The names that are bound or deleted."""
    found = set()
    for each in walk(nodes, inner=False):
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
            found.add(each.id)
        elif isinstance(each, (ast.FunctionDef, ast.ClassDef)) or (isinstance(each, ast.ExceptHandler) and each.name):
            found.add(each.name)
        elif isinstance(each, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in each.names}
    return found


def changed(nodes: Nodes, local: Iterable[str]) -> set[str]:
    """The names that are bound, and those local ones whose elements are assigned: a list or a dict may be changed."""
    holders = set()
    for each in walk(nodes, inner=False):
        if isinstance(each, ast.Subscript) and not isinstance(each.ctx, ast.Load):
            holder: ast.AST = each
            while isinstance(holder, ast.Subscript):
                holder = holder.value
            if isinstance(holder, ast.Name):  # objects whose attributes are assigned to are no variables
                holders.add(holder.id)
        elif isinstance(each, ast.Expr) and (called := method_of(each)):
            holders.add(called)
        else:
            match each:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="pop" | "popleft")):
                    holders.add(name)
                case ast.Call(func=ast.Attribute(attr=called) | ast.Name(id=called), args=[ast.Name(id=name), *_]):
                    if called in CHANGING:
                        holders.add(name)
    return stores(nodes) | holders & set(local)


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    return {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}


def free_names(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """The names that a nested function, or a function inside of it, reads from scopes around it."""
    around = loads([function.args, *getattr(function, "decorator_list", [])])
    return (around | _read_in(function.body)) - parameters(function) - stores(function.body)


def _read_in(nodes: Nodes) -> set[str]:
    """The names that nodes read from the scope in which they stand."""
    found: set[str] = set()
    for each in walk(nodes, inner=False):
        match each:
            case ast.Name(id=name, ctx=ast.Load()):
                found.add(name)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                found |= free_names(each)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                own = stores([one.target for one in each.generators])
                found |= _read_in(children(each)) - own | _read_in(each.generators[0].iter)
            case ast.ClassDef():
                found |= loads(each)
    return found


def kept_functions(nodes: Nodes) -> Iterator[ast.Lambda]:
    """The functions that are put into containers, from which they may be called later."""
    for each in walk(nodes):
        held: list[ast.expr] = []
        match each:
            case ast.Call(func=ast.Attribute(attr="append" | "add" | "insert" | "appendleft" | "setdefault")):
                held = each.args
            case ast.List() | ast.Tuple() | ast.Set():
                held = each.elts
            case ast.Dict():
                held = each.values
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                held = [each.elt]
            case ast.Assign(targets=targets) if not all(isinstance(target, ast.Name) for target in targets):
                held = [each.value]
        yield from (value for value in held if isinstance(value, ast.Lambda))


class Liveness:
    """Finds the names that may be read later (backwards over structured statements).

    Each loop around a statement needs the reads of its nodes again, so these are kept: they are not read anew once the
    nodes are rewritten.
    """

    def __init__(self) -> None:
        self.read: dict[ast.AST, set[str]] = {}

    def loads(self, node: ast.AST) -> set[str]:
        if node not in self.read:
            self.read[node] = loads(node)
        return self.read[node]

    def before(self, statements: Sequence[ast.stmt], live: set[str]) -> set[str]:
        for statement in reversed(statements):
            live = self.before_one(statement, live)
        return live

    def before_one(self, statement: ast.stmt, live: set[str]) -> set[str]:
        match statement:
            case ast.If():
                return (
                    self.loads(statement.test) | self.before(statement.body, live) | self.before(statement.orelse, live)
                )
            case ast.While():
                return self.at_head(statement, live)
            case ast.For():
                return self.loads(statement.iter) | self.at_head(statement, live)
            case ast.With():
                return loads([each.context_expr for each in statement.items]) | self.before(statement.body, live)
            case ast.Assign():
                bound = {each.id for each in walk(statement.targets) if isinstance(each, ast.Name)
                         and isinstance(each.ctx, ast.Store)}  # fmt: skip
                return live - bound | self.loads(statement)
            case ast.AugAssign(target=ast.Name(id=name)):
                return live | self.loads(statement) | {name}
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                return live - {name} | self.loads(value)
            case ast.Return():
                return self.loads(statement)
            case _:
                return live | self.loads(statement)

    def at_head(self, loop: ast.For | ast.While, live: set[str]) -> set[str]:
        """The names that may be read from the beginning of an iteration on."""
        bound = stores(loop.target) if isinstance(loop, ast.For) else set()
        found = live | (self.loads(loop.test) if isinstance(loop, ast.While) else set())
        while True:
            more = found | self.before(loop.body, found) - bound
            if more == found:
                return found
            found = more


class Assignedness:
    """Marks names that are read although some path leads there on which they were not assigned: ``node.unsure``. Names
    read behind a loop in place of a statement in it (``statement.reads``) were assigned there: ``node.sure``."""

    def __init__(self, local: set[str]) -> None:
        self.local = local

    def block(self, statements: Sequence[ast.stmt], sure: set[str]) -> set[str]:
        for each in statements:
            sure = self.one(each, sure)
        return sure

    def one(self, statement: ast.stmt, sure: set[str]) -> set[str]:
        match statement:
            case ast.If():
                self.mark(statement.test, sure)
                sure = sure | stores(statement.test)
                return self.block(statement.body, sure) & self.block(statement.orelse, sure)
            case ast.For():
                self.mark(statement.iter, sure)
                sure = sure | stores(statement.iter)
                self.block(statement.body, sure | stores(statement.target))
                return sure
            case ast.While():
                self.mark(statement.test, sure)
                self.block(statement.body, sure)
                return sure
            case ast.With():
                self.mark(statement.items, sure)
                return self.block(statement.body, sure | stores(statement.items))
            case ast.Try():
                inside = self.block(statement.body, sure)
                ends = self.block(statement.orelse, inside)
                for each in statement.handlers:
                    ends = ends & self.block(each.body, sure | stores(each))
                return ends | self.block(statement.finalbody, sure)
            case ast.AugAssign(target=ast.Name()):
                self.mark(statement.value, sure)
                statement.target.unsure = statement.target.id not in sure  # type: ignore[attr-defined]
                return sure
            case ast.Delete():
                self.mark(statement, sure)
                return sure - stores(statement)
            case _:
                self.mark(statement, sure)
                for each in walk(getattr(statement, "reads", None)):
                    if isinstance(each, ast.Name):
                        each.sure = getattr(each, "sure", True) and each.id in sure  # type: ignore[attr-defined]
                return sure | stores(statement)

    def mark(self, nodes: Nodes, sure: set[str]) -> None:
        for each in walk(nodes):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
                each.unsure = each.id in self.local and each.id not in sure  # type: ignore[attr-defined]
