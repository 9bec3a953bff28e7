"""Patterns: what a rule looks for, written as a small Python function and traced on variables.

``lambda x: log(1 + exp(x))`` with the symbols of this module gives a pattern when it is called on variables, and
nodes when it is called on values. So both sides of a rule are written in the same words.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cache
from inspect import CO_VARARGS
from itertools import product
from typing import Any

import numpy as np

import numbagraph.ops  # noqa: F401  (fills the registry, which knows Python's operators)
from numbagraph.blockwise.promotion import as_value
from numbagraph.ir.op import registry
from numbagraph.ir.structs import Struct, cached_property
from numbagraph.ir.values import Constant, Node, Op, Value

Bindings = dict[str, Any]
Head = Any
"""The head of an operand: its op, `Constant`, or None for anything else."""


def head_of(value: Value) -> Head:
    kind = type(value)
    return value.op if kind is Node else Constant if kind is Constant else None  # type: ignore[attr-defined]


class Pattern(Struct):
    """A shape of values that a rule looks for. It has Python's operators, as values have them."""

    @property
    def head(self) -> Head:
        """The head that a value must have to match; None where any will do."""
        return None

    def match(self, value: Value, bindings: Bindings) -> bool:
        """Whether ``value`` matches the pattern; ``bindings`` takes the values of the variables."""
        raise NotImplementedError


class PatternVariable(Pattern):
    """Any value; the same value wherever the variable stands."""

    name: str

    def match(self, value: Value, bindings: Bindings) -> bool:
        return bindings.setdefault(self.name, value) is value

    def __repr__(self) -> str:
        return self.name


variable = cache(PatternVariable)


class Rest(Pattern):
    """All operands from here on; always the last."""

    name: str


class Attribute(Struct):
    """The static attribute of an op, whatever it is."""

    name: str

    def __repr__(self) -> str:
        return self.name


class PatternNumber(Pattern):
    """A constant all elements of which are this number, once it is converted to the constant's dtype."""

    number: complex
    _encodings: dict[np.dtype, bytes | None] = field(default_factory=dict, compare=False, repr=False)

    @property
    def head(self) -> Head:
        return Constant

    def match(self, value: Value, bindings: Bindings) -> bool:  # noqa: ARG002
        if not isinstance(value, Constant):
            return False
        encoding = self._encoding(value.dtype)
        return encoding is not None and value.data.size > 0 and value.data.tobytes() == encoding * value.data.size

    def _encoding(self, dtype: np.dtype) -> bytes | None:
        """The bytes of the number as ``dtype``, None where it does not fit. Bit by bit: 0.0 is not -0.0."""
        if dtype not in self._encodings:
            number = np.array(self.number)
            with np.errstate(all="ignore"):
                converted = number.astype(dtype)
                same = np.isfinite(converted) == np.isfinite(number) if dtype.kind in "fc" else converted == number
            self._encodings[dtype] = converted.tobytes() if same else None
        return self._encodings[dtype]

    def __repr__(self) -> str:
        return repr(self.number)


class Application(Pattern):
    """A node of an op. Attributes that the pattern does not mention may have any value."""

    op: Op
    operands: tuple[Pattern, ...]
    rest: str | None = None
    """The name for the operands after these; None where there must be no others."""
    attributes: tuple[tuple[str, Any], ...] = ()

    @property
    def head(self) -> Head:
        return self.op

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        return tuple([each.head for each in self.operands])

    def accepts(self, heads: Sequence[Head]) -> bool:
        """Whether a node on operands with these heads may match: a cheap test before the real one."""
        wanted = self.heads
        if len(heads) < len(wanted) or (len(heads) > len(wanted) and self.rest is None):
            return False
        return all(each is None or each is head for each, head in zip(wanted, heads, strict=False))

    def match(self, value: Value, bindings: Bindings) -> bool:
        if type(value) is not Node or value.op is not self.op:
            return False
        operands, inputs = self.operands, value.inputs
        if self.rest is not None:
            bindings[self.rest] = inputs[len(operands) :]
            inputs = inputs[: len(operands)]
        if len(inputs) != len(operands) or (self.attributes and not self.match_attributes(value, bindings)):
            return False
        for each, source in zip(operands, inputs, strict=True):  # noqa: SIM110  (a generator takes twice the time)
            if not each.match(source, bindings):
                return False
        return True

    def match_attributes(self, node: Node, bindings: Bindings) -> bool:
        attrs = node.attrs
        for name, wanted in self.attributes:
            if name not in attrs:
                return False
            if isinstance(wanted, Attribute):
                wanted = bindings.setdefault(wanted.name, attrs[name])
            if wanted != attrs[name]:
                return False
        return True

    def __repr__(self) -> str:
        attributes = [f"{name}={wanted!r}" for name, wanted in self.attributes]
        rest = [f"*{self.rest}"] if self.rest is not None else []
        return f"{self.op.name}({', '.join([*map(repr, self.operands), *rest, *attributes])})"


def as_pattern(operand: Pattern | complex) -> Pattern:
    return operand if isinstance(operand, Pattern) else PatternNumber(operand, {})


class Symbol(Struct):
    """An op by its name: called on patterns it makes a pattern, on values a node."""

    name: str

    def __call__(self, *operands: Any, **attributes: Any) -> Any:
        op = registry[self.name]
        if any(isinstance(operand, Pattern) for operand in operands):
            rest = operands[-1].name if isinstance(operands[-1], Rest) else None
            fixed = operands if rest is None else operands[:-1]
            return Application(op, tuple(map(as_pattern, fixed)), rest, tuple(attributes.items()))
        if attributes or op.kind != "elementwise":
            return op.bind(*map(as_value, operands), **attributes)
        return op.frontend(op, *operands, weak=True)


def __getattr__(name: str) -> Symbol:
    """The symbol of any op: ``from numbagraph.rewrite.patterns import exp, log``."""
    if name.startswith("__"):
        raise AttributeError(name)
    return Symbol(name)


def install_operators() -> None:
    """Give patterns the operators that ops declare."""
    for op in registry.declared():
        if op.operator:
            symbol = Symbol(op.name)
            setattr(Pattern, f"__{op.operator}__", lambda self, *other, symbol=symbol: symbol(self, *other))
            setattr(Pattern, f"__r{op.operator}__", lambda self, other, symbol=symbol: symbol(other, self))


install_operators()


def alternatives(pattern: Pattern) -> list[Pattern]:
    """The pattern with the operands of commutative ops in every order."""
    if not isinstance(pattern, Application):
        return [pattern]
    result: list[Pattern] = []
    for operands in product(*map(alternatives, pattern.operands)):
        orders = [operands, operands[::-1]] if pattern.op.commutative else [operands]
        result += [Application(pattern.op, order, pattern.rest, pattern.attributes) for order in orders]
    return list(dict.fromkeys(result))


class Template:
    """A function that is called with the bindings which its parameters name."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        code = function.__code__
        names = code.co_varnames
        positional, keyword = code.co_argcount, code.co_kwonlyargcount
        self.positional = names[:positional]
        self.keyword = names[positional : positional + keyword]
        self.rest = names[positional + keyword] if code.co_flags & CO_VARARGS else None

    def __call__(self, bindings: Bindings) -> Any:
        arguments = [bindings[name] for name in self.positional]
        if self.rest is not None:
            arguments += bindings[self.rest]
        return self.function(*arguments, **{name: bindings[name] for name in self.keyword})

    def symbols(self) -> frozenset[str]:
        """The names of ops that the function mentions."""
        names, scope = self.function.__code__.co_names, self.function.__globals__
        seen = [*map(scope.get, names), *(cell.cell_contents for cell in self.function.__closure__ or ())]
        own = [each.name for each in seen if isinstance(each, Symbol)]
        return frozenset([*own, *names] if any(each is sys.modules[__name__] for each in seen) else own)

    def trace(self) -> Application:
        """The pattern that the function builds."""
        bindings: Bindings = {name: variable(name) for name in self.positional}
        bindings.update((name, Attribute(name)) for name in self.keyword)
        if self.rest is not None:
            bindings[self.rest] = (Rest(self.rest),)
        pattern = self(bindings)
        if not isinstance(pattern, Application):
            raise TypeError(f"a rule's pattern must be an operation, not {pattern!r}")
        return pattern
