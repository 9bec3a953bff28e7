"""Rewrites expressions whose meaning depends on traced values into calls of operators: truth, calls, elements."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from types import CodeType
from typing import Any, TypeGuard

from numbagraph.capture.syntax.names import appended_to, free_names, stores, walk
from numbagraph.capture.syntax.source import OPERATORS, arguments, refusal
from numbagraph.capture.syntax.walrus import reads, without_assignments
from numbagraph.ir.sources import PREFIX

_OPERATORS = {
    ast.Add: "iadd",
    ast.Sub: "isub",
    ast.Mult: "imul",
    ast.MatMult: "imatmul",
    ast.Div: "itruediv",
    ast.Mod: "imod",
    ast.Pow: "ipow",
    ast.LShift: "ilshift",
    ast.RShift: "irshift",
    ast.BitOr: "ior",
    ast.BitXor: "ixor",
    ast.BitAnd: "iand",
    ast.FloorDiv: "ifloordiv",
}


_SIGNS = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}

NO_CONVERSION = -1
"""The code of a value in an f-string that is not converted."""


def name_read(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def constant(value: Any) -> ast.expr:
    return ast.Constant(value)


def call_of(operator: str, *args: ast.expr) -> ast.Call:
    """A call of an operator."""
    return ast.Call(ast.Attribute(name_read(OPERATORS), operator, ast.Load()), list(args), [])


def call_in_order(operator: str, **args: ast.expr) -> ast.Call:
    """A call of an operator whose arguments are evaluated in this order, which is not that of its parameters."""
    function = ast.Attribute(name_read(OPERATORS), operator, ast.Load())
    return ast.Call(function, [], [ast.keyword(name, value) for name, value in args.items()])


def thunk(value: ast.expr) -> ast.expr:
    """Wrap an expression so that it is evaluated later."""
    return ast.Lambda(arguments(()), value)


def key_of(key: ast.expr) -> ast.expr:
    """Return a subscript as a value."""
    if isinstance(key, ast.Slice):
        return call_of("slice_", *(each or constant(None) for each in (key.lower, key.upper, key.step)))
    if isinstance(key, ast.Tuple):
        return ast.Tuple([key_of(each) for each in key.elts], ast.Load())
    return key


class _Asked(ast.expr):
    """An operand of which only the truth is used."""

    _fields = ("value",)
    value: ast.expr

    def __init__(self, value: ast.expr) -> None:
        super().__init__()
        self.value = value


class Expressions(ast.NodeTransformer):
    def __init__(self, code: CodeType) -> None:
        self.code = code
        self.local: set[str] = set()
        self.reads: Counter[str] = Counter()
        """The number of times that the function reads each name."""
        self.deferred = 0
        """The number of functions around an expression that evaluate it later, or not at all."""

    def later(self, node: ast.expr) -> ast.expr:
        """Rewrite an expression that a function of its own evaluates."""
        self.deferred += 1
        found: ast.expr = self.visit(node)
        self.deferred -= 1
        return found

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        if self.deferred:
            raise refusal(
                f"{node.target.id!r} is assigned (:=) in an expression that is evaluated under a condition, or several "
                f"times: write a statement",
                self.code,
                node.lineno,
            )
        node.value = self.visit(node.value)
        return node

    # ---- statements without control flow ----

    def statement(self, statement: ast.stmt) -> list[ast.stmt]:
        match statement:
            case ast.Expr(value=ast.Call(args=[element])) if (name := appended_to(statement)) in self.local:
                assert name is not None
                grown = call_of("append", name_read(name), self.visit(element))
                return [ast.Assign([ast.Name(name, ast.Store())], grown)]
            case ast.Assign(targets=targets) if is_generator(statement.value) and all(
                isinstance(each, (ast.Tuple, ast.List)) for each in targets
            ):
                return self.assignment(targets, self.visit_ListComp(statement.value))
            case ast.Assign(targets=targets):
                return self.assignment(targets, self.visit(statement.value))
            case ast.AnnAssign(value=None):
                return []
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return self.assignment([target], self.visit(value))
            case ast.AugAssign():
                return [self.augmented(statement)]
            case ast.Delete(targets=targets):
                return [self.deleted(each) for each in targets]
        visited = self.visit(statement)
        return [visited]

    def of_items(self, statement: ast.stmt) -> ast.stmt:
        """Rewrite a statement whose blocks have been rewritten already."""
        if isinstance(statement, ast.With):
            statement.items = [self.visit(each) for each in statement.items]
        return statement

    def assignment(self, targets: Sequence[ast.expr], value: ast.expr) -> list[ast.stmt]:
        if len(targets) == 1 and isinstance(targets[0], (ast.Attribute, ast.Subscript)):
            return [self.stored(targets[0], value)]
        if all(isinstance(each, ast.Name) for each in targets):
            return [ast.Assign(list(targets), value)]
        if len(targets) > 1:
            name = f"{PREFIX}value"
            parts = [each for target in targets for each in self.assignment([target], name_read(name))]
            return [ast.Assign([ast.Name(name, ast.Store())], value), *parts]
        pattern = targets[0]
        assert isinstance(pattern, (ast.Tuple, ast.List))
        return self.unpacking(pattern, value)

    def unpacking(self, pattern: ast.Tuple | ast.List, value: ast.expr) -> list[ast.stmt]:
        """Unpack a value: assign names first, all at once, and then parts of objects, from temporary variables."""
        later: list[tuple[ast.expr, str]] = []

        def plain(target: ast.expr) -> ast.expr:
            match target:
                case ast.Tuple() | ast.List():
                    return ast.Tuple([plain(each) for each in target.elts], ast.Store())
                case ast.Starred(value=inner):
                    return ast.Starred(plain(inner), ast.Store())
                case ast.Attribute() | ast.Subscript():
                    name = f"{PREFIX}part{len(later)}"
                    later.append((target, name))
                    return ast.Name(name, ast.Store())
            return target

        star = next((number for number, each in enumerate(pattern.elts) if isinstance(each, ast.Starred)), None)
        if star is None:
            unpacked = call_of("unpack", value, shape_of(pattern))
        else:
            unpacked = call_of("unpack_star", value, constant(star), constant(len(pattern.elts) - star - 1))
            pattern.elts[star] = pattern.elts[star].value  # type: ignore[attr-defined]
        first = ast.Assign([plain(pattern)], unpacked)
        return [first, *(self.stored(target, name_read(name)) for target, name in later)]

    def stored(self, target: ast.expr, value: ast.expr) -> ast.stmt:
        """Assign a value to a target. Python evaluates the value before the target, whose key it may change."""
        if isinstance(target, ast.Attribute):
            place = {"holder": self.visit(target.value), "name": constant(target.attr)}
            return ast.Expr(call_in_order("set_attribute", value=value, **place))
        assert isinstance(target, ast.Subscript)
        place = {"holder": self.holder(target.value), "key": self.visit(key_of(target.slice))}
        return ast.Expr(call_in_order("set_item", value=value, **place))

    def holder(self, node: ast.expr) -> ast.expr:
        """Rewrite an object to whose elements something is assigned."""
        if not isinstance(node, ast.Subscript):
            found: ast.expr = self.visit(node)
            return found
        return self.at(node, call_of("holder_at", self.holder(node.value), self.visit(key_of(node.slice))))

    def deleted(self, target: ast.expr) -> ast.stmt:
        if not isinstance(target, ast.Subscript):
            return ast.Delete([self.visit(target)])
        return ast.Expr(call_of("delete_item", self.visit(target.value), self.visit(key_of(target.slice))))

    def augmented(self, statement: ast.AugAssign) -> ast.stmt:
        value, operator = self.visit(statement.value), constant(_OPERATORS[type(statement.op)])
        target = statement.target
        if isinstance(target, ast.Name):
            variable = ast.Name(target.id, ast.Load())
            variable.unsure = getattr(target, "unsure", False)  # type: ignore[attr-defined]
            changed = call_of("augmented", operator, self.visit(variable), value)
            return ast.Assign([ast.Name(target.id, ast.Store())], changed)
        if isinstance(target, ast.Subscript):
            holder, key = self.holder(target.value), self.visit(key_of(target.slice))
            return ast.Expr(call_of("augment_item", operator, call_of("place_of", holder, key), value))
        place = call_of("attribute_of", self.visit(target.value), constant(target.attr))
        return ast.Expr(call_of("augment_attribute", operator, place, value))

    # ---- expressions ----

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not getattr(node, "unsure", False):
            return node
        if getattr(node, "sure", False):
            return self.at(node, call_of("assigned", name_read(node.id)))
        return self.at(node, call_of("defined", name_read(node.id), constant(node.id)))

    def test(self, node: ast.expr) -> ast.expr:
        """Rewrite an expression of which only the truth is used."""
        match node:
            case ast.BoolOp():
                node.values = [ast.copy_location(_Asked(each), each) for each in node.values]
            case ast.UnaryOp(op=ast.Not()):
                node.operand = ast.copy_location(_Asked(node.operand), node.operand)
        found: ast.expr = self.visit(node)
        return found

    def visit__Asked(self, node: _Asked) -> ast.expr:
        found = self.test(node.value)
        if isinstance(node.value, (ast.BoolOp, ast.Compare)):
            return found
        return self.at(node.value, call_of("asked", found))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        first, others = self.visit(node.values[0]), [self.later(each) for each in node.values[1:]]
        return self.at(node, call_of("and_" if isinstance(node.op, ast.And) else "or_", first, *map(thunk, others)))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        node.operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return self.at(node, call_of("not_", node.operand))
        if isinstance(node.operand, ast.Constant):
            return node
        return self.at(node, call_of("unary", constant(_SIGNS[type(node.op)]), node.operand))

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        node.value = self.visit(node.value)
        if not isinstance(node.ctx, ast.Load):
            return node
        return self.at(node, call_of("attribute", node.value, constant(node.attr)))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        """Rewrite an f-string: its text is made when the numbers in it are known."""
        template, values = "", []
        for part in node.values:
            if isinstance(part, ast.Constant):
                template += str(part.value).replace("{", "{{").replace("}", "}}")
                continue
            assert isinstance(part, ast.FormattedValue)
            spec = part.format_spec.values if isinstance(part.format_spec, ast.JoinedStr) else []
            if not all(isinstance(each, ast.Constant) for each in spec):
                self.generic_visit(node)
                return node
            format_ = "".join(str(each.value) for each in spec if isinstance(each, ast.Constant))
            conversion = f"!{chr(part.conversion)}" if part.conversion != NO_CONVERSION else ""
            template += f"{{{conversion}:{format_}}}" if format_ else f"{{{conversion}}}"
            values.append(self.visit(part.value))
        return self.at(node, call_of("text", constant(template), *values))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Rewrite operators, which special methods of the user's classes may stand for."""
        self.generic_visit(node)
        name = _OPERATORS[type(node.op)].removeprefix("i")
        if isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
            return self.at(node, call_of("percent", node.left, node.right))
        return self.at(node, call_of("binary", constant(name), node.left, node.right))

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        test, yes, no = self.test(node.test), self.later(node.body), self.later(node.orelse)
        return self.at(node, call_of("if_expression", test, thunk(yes), thunk(no)))

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        first, *others = node.comparators
        operands = [self.visit(node.left), self.visit(first), *map(self.later, others)]
        if len(node.ops) == 1:
            return self.at(node, comparison(node.ops[0], *operands))
        return self.at(node, self.chain(node.ops, operands))

    def chain(self, ops: Sequence[ast.cmpop], operands: Sequence[ast.expr]) -> ast.expr:
        """Rewrite ``a < b < c``, which evaluates ``b`` once, as a function of ``a`` and ``b``."""
        left, right, *rest = operands
        if not rest:
            return comparison(ops[0], left, right)
        name = f"{PREFIX}between"
        others = thunk(self.chain(ops[1:], [name_read(name), *rest]))
        both = call_of("and_", comparison(ops[0], name_read(f"{PREFIX}left"), name_read(name)), others)
        function = ast.Lambda(arguments((f"{PREFIX}left", name)), both)
        return ast.Call(function, [left, right], [])

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node.func:
            case ast.Name(id="super") if not node.args and self.code.co_argcount:
                # branches are functions of their own
                node.args = [name_read("__class__"), name_read(self.code.co_varnames[0])]
                return node
            case (
                ast.Name(id="super" | "locals" | "globals" | "vars")
                | ast.Attribute(value=ast.Name(id="__numbagraph__"))
            ):
                self.generic_visit(node)
                return node
        generators = [each for each in (*node.args, *(each.value for each in node.keywords)) if is_generator(each)]
        node.args = [self.generator(each) if is_generator(each) else self.visit(each) for each in node.args]
        for keyword in node.keywords:
            each = keyword.value
            keyword.value = self.generator(each) if is_generator(each) else self.visit(each)
        called = "call_with_generator" if generators else "call"
        if isinstance(node.func, ast.Attribute):  # methods are no properties, as a rule
            node.func.value = self.visit(node.func.value)
            function: ast.expr = node.func
        else:
            function = self.visit(node.func)
        node.func = self.at(node.func, call_of(called, function))
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        holder, key = self.visit(node.value), self.visit(key_of(node.slice))
        if isinstance(node.ctx, ast.Load):
            return self.at(node, call_of("item", holder, key))
        node.value, node.slice = holder, key  # of del
        return node

    def visit_List(self, node: ast.List) -> ast.expr:
        self.generic_visit(node)
        return self.at(node, call_of("made", node)) if isinstance(node.ctx, ast.Load) else node

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        self.generic_visit(node)
        pairs = [ast.Tuple([key, value], ast.Load()) for key, value in zip(node.keys, node.values, strict=True) if key]
        return self.at(node, call_of("made", node) if None in node.keys else call_of("dict_", *pairs))

    def visit_Set(self, node: ast.Set) -> ast.expr:
        self.generic_visit(node)
        return self.at(node, call_of("set_", *node.elts))

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        around, self.deferred = self.deferred, 0
        node.body = self.visit(node.body)
        self.deferred = around
        return self.at(node, call_of("converted", node))

    def visit_ListComp(self, node: ast.ListComp | ast.GeneratorExp) -> ast.expr:
        return self.at(node, call_of("list_of", self.generator(node)))

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        raise refusal("a generator that is kept: make a list of it, [...]", self.code, node.lineno)

    def visit_SetComp(self, node: ast.SetComp) -> ast.expr:
        return self.at(node, call_of("set_of", self.generator(ast.GeneratorExp(node.elt, node.generators))))

    def visit_DictComp(self, node: ast.DictComp) -> ast.expr:
        pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node)
        return self.at(node, call_of("dict_of", self.generator(ast.GeneratorExp(pair, node.generators))))

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        if is_generator(node.value):
            node.value = self.visit_ListComp(node.value)
            return node
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = self.at(node.value, call_of("starred", node.value))
        return node

    def generator(self, node: ast.ListComp | ast.GeneratorExp) -> ast.expr:
        """Rewrite a comprehension as a generator of its elements."""
        targets = {each.target.id for each in walk(node) if isinstance(each, ast.NamedExpr)}
        here = reads(node)
        if targets and targets.isdisjoint(self.local) and all(self.reads[each] == here[each] for each in targets):
            without_assignments(node)
            ast.fix_missing_locations(node)
        return self.at(node, self.generated(node.elt, node.generators))

    def generated(self, element: ast.expr, generators: Sequence[ast.comprehension]) -> ast.expr:
        first, *others = generators
        bound = stores([each.target for each in generators])
        if isinstance(element, ast.Lambda) and (shared := free_names(element) & bound):
            raise refusal(
                f"{min(shared)!r} changes in a list of functions which read it: Python would read its last value; pass "
                f"it as an argument",
                self.code,
                element.lineno,
            )
        self.deferred += 1
        iterable = self.generator(first.iter) if is_generator(first.iter) else self.visit(first.iter)
        conditions = [self.test(each) for each in first.ifs]
        name = f"{PREFIX}element"
        inner = self.generated(element, others) if others else self.visit(element)
        self.deferred -= 1
        tests: ast.expr = constant(None)
        if conditions:
            test = call_of("and_", conditions[0], *map(thunk, conditions[1:])) if len(conditions) > 1 else conditions[0]
            tests = over_pattern(first.target, test, name)
        made = over_pattern(first.target, inner, name)
        return call_of("generated", iterable, made, tests, constant(bool(others)))

    def visit_Await(self, node: ast.expr) -> ast.expr:
        raise refusal("await in a function with loops or branches on traced values", self.code, node.lineno)

    @staticmethod
    def at(old: ast.AST, new: ast.expr) -> ast.expr:
        ast.copy_location(new, old)
        for each in ast.walk(new):
            if "lineno" in each._attributes and not hasattr(each, "lineno"):
                ast.copy_location(each, old)
        return new


def is_generator(node: ast.AST) -> TypeGuard[ast.GeneratorExp]:
    return isinstance(node, ast.GeneratorExp)


ORDERS = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}


def comparison(operator: ast.cmpop, left: ast.expr, right: ast.expr) -> ast.expr:
    if isinstance(operator, (ast.In, ast.NotIn, ast.Is, ast.IsNot)):
        is_in = isinstance(operator, (ast.In, ast.NotIn))
        found = call_of("contains", right, left) if is_in else call_of("is_", left, right)
        return call_of("not_", found) if isinstance(operator, (ast.NotIn, ast.IsNot)) else found
    if isinstance(operator, (ast.Eq, ast.NotEq)):
        return call_of("equal" if isinstance(operator, ast.Eq) else "not_equal", left, right)
    return call_of("ordered", constant(ORDERS[type(operator)]), left, right)


def shape_of(pattern: ast.expr) -> ast.expr:
    """The number of elements that each part of a pattern takes; None for one variable, and for a part that takes any
    number."""
    if not isinstance(pattern, (ast.Tuple, ast.List)) or any(isinstance(each, ast.Starred) for each in pattern.elts):
        return constant(None)
    return ast.Tuple([shape_of(each) for each in pattern.elts], ast.Load())


def over_pattern(target: ast.expr, value: ast.expr, name: str) -> ast.expr:
    """Return a function of one element, which is unpacked by a pattern. It is a comprehension of its own, since a
    lambda has no patterns."""
    if isinstance(target, ast.Name):
        return ast.Lambda(arguments((target.id,)), value)
    element = call_of("unpack", name_read(name), shape_of(target))
    generator = ast.comprehension(target, ast.List([element], ast.Load()), [], 0)
    first = ast.Subscript(ast.ListComp(value, [generator]), ast.Constant(0), ast.Load())
    return ast.Lambda(arguments((name,)), first)
