"""The Python function that a graph represents, as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, count
from keyword import iskeyword
from pathlib import Path
from typing import Any

import numpy as np

from numbagraph.ir import shapes
from numbagraph.ir.graph import Graph, id_of
from numbagraph.ir.types import WEAK_TYPES
from numbagraph.ir.values import Constant, Dim, Extent, Input, Node, Value, python_type, toposort
from numbagraph.rewrite.engine import is_length

SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "neg": "-",
    "pos": "+",
    "invert": "~",
}
"""The Python symbols of the operators that ops declare."""

INDENT = "    "
COMMENT_COLUMN = 42
LONGEST_INLINE = 32
"""The length of an expression of lengths up to which it is written where it is used."""


class Names:
    """Names that are not in use yet."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._lengths = chain("nmkpqrst", (f"n{number}" for number in count(1)))
        self._values = chain("abcdefghijlouvw", (f"v{number}" for number in count(1)))

    def fresh(self, wish: str) -> str:
        """The identifier nearest to ``wish``."""
        name = re.sub(r"\W+", "_", wish).strip("_") or "x"
        if name[0].isdigit() or iskeyword(name):
            name = f"x{name}"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def length(self) -> str:
        return self.fresh(next(name for name in self._lengths if name not in self._taken))

    def value(self) -> str:
        return self.fresh(next(name for name in self._values if name not in self._taken))


class Printer:
    """The lines of one graph, and the texts that its values have in them."""

    def __init__(self, graph: Graph, names: Names) -> None:
        self.graph = graph
        self.names = names
        self.name = names.fresh(graph.name)
        self.texts: dict[Any, str] = {}
        """For a value, the text where it is used; for an inner graph, the name of its function."""

    def lines(self) -> Iterator[str]:
        for value in self.graph.inputs:
            self.texts[value] = self.names.fresh(value.name)
        arguments = ", ".join(f"{self.texts[value]}: {self.annotation(value)}" for value in self.graph.inputs)
        yield f"def {self.name}({arguments}):"
        for line in (*self.requirements(), *self.body()):
            yield INDENT + line

    def annotation(self, value: Input) -> str:
        kind = python_type(value.type)
        if kind is not None:
            return kind.__name__
        return f"{value.dtype}[{', '.join(map(self.extent, value.shape))}]" if value.ndim else str(value.dtype)

    def extent(self, extent: Extent) -> str:
        """A length as text. A computed one that is only checked against the length of an argument has a name of its own
        there."""
        resolved = shapes.resolve(extent)
        if isinstance(resolved, int):
            return str(resolved)
        dim = resolved if isinstance(resolved, Dim) else extent
        if dim not in self.texts:
            self.texts[dim] = self.names.length()
        return self.texts[dim]

    def requirements(self) -> Iterator[str]:
        for equality in self.graph.equalities:
            other = shapes.as_value(equality.other)
            yield from self.statements([other])
            yield commented(f"assert {self.spelled(equality.dim)} == {self.texts[other]}", equality.subject)
        for guard in self.graph.guards:
            inline = {guard.condition} - self.texts.keys()
            yield from self.statements([guard.condition], inline)
            yield commented(f"assert {bare(self.texts[guard.condition])}", guard.subject)

    def spelled(self, dim: Dim) -> str:
        """Where a length stands among the arguments."""
        argument, _, axis = id_of(dim, self.graph).partition(".")
        return f"{self.texts[self.graph.inputs[int(argument)]]}.shape[{axis}]" if axis else dim.name

    def body(self) -> Iterator[str]:
        """One line an operation. An only result that is used nowhere else stands in the return statement."""
        outputs = self.graph.outputs
        inline = set(outputs) - self.texts.keys() if len(outputs) == 1 else set()
        yield from self.statements(outputs, inline)
        results = [bare(self.texts[each]) for each in outputs]
        text = results[0] if len(results) == 1 else f"({', '.join(results)})"
        yield commented(f"return {text}", "".join(origin(each) for each in inline))

    def statements(self, values: Iterable[Value], inline: Iterable[Value] = ()) -> Iterator[str]:
        """Assignments for all that ``values`` depend on; after them, each has a text."""
        for value in toposort(values, known=self.texts):
            if not isinstance(value, Node):
                self.texts[value] = self.leaf(value)
                continue
            yield from self.inner_functions(value)
            text = self.expression(value)
            if value in inline or (is_length(value) and len(text) <= LONGEST_INLINE):
                self.texts[value] = text
            else:
                self.texts[value] = self.names.value()
                yield commented(f"{self.texts[value]} = {bare(text)}", origin(value))

    def inner_functions(self, node: Node) -> Iterator[str]:
        for item in (each for _, attribute in node.attributes for each in regions_of(attribute)):
            if item not in self.texts:
                printer = self.inner(item)
                printer.texts.update((value, text) for value, text in self.texts.items() if isinstance(value, Dim))
                self.texts[item] = printer.name
                yield from printer.lines()

    def inner(self, graph: Graph) -> Printer:
        """The printer of a region's graph."""
        return Printer(graph, self.names)

    def leaf(self, value: Value) -> str:
        if isinstance(value, Constant):
            return constant_text(value)
        return self.extent(value) if isinstance(value, Dim) else repr(value)

    def expression(self, node: Node) -> str:
        """The operation as Python writes it; with an operator, in parentheses."""
        operands = [self.texts[each] for each in node.inputs]
        symbol = SYMBOLS.get(node.op.operator)
        if symbol is not None and len(operands) <= 2:
            return f"({f' {symbol} '.join(operands)})" if len(operands) == 2 else f"({symbol}{operands[0]})"
        attributes = [(name, self.attribute(item)) for name, item in node.attributes]
        operands, attributes = with_lengths(node, [bare(each) for each in operands], attributes)
        return f"{node.op.name}({', '.join([*operands, *(f'{name}={text}' for name, text in attributes)])})"

    def attribute(self, item: Any) -> str:
        if isinstance(item, Graph):
            return self.texts[item]
        if regions_of(item):
            return f"({', '.join(map(self.attribute, item))})"
        return str(item) if isinstance(item, np.dtype) else repr(item)


def regions_of(attribute: Any) -> list[Graph]:
    """The graphs that an attribute is, or has."""
    items = attribute if type(attribute) is tuple else (attribute,)
    return [each for each in items if isinstance(each, Graph)]


def with_lengths(
    node: Node, operands: list[str], attributes: list[tuple[str, str]]
) -> tuple[list[str], list[tuple[str, str]]]:
    """Run-time lengths are operands, and None in a template among the attributes: written into the template."""
    templates = [(number, item) for number, (_, item) in enumerate(node.attributes) if holds_none(item)]
    if len(templates) != 1 or templates[0][1].count(None) != len(operands) - 1:
        return operands, attributes
    number, template = templates[0]
    extents = shapes.join_extents(template, operands[1:])
    text = f"({', '.join(map(str, extents))}{',' if len(extents) == 1 else ''})"
    return operands[:1], [*attributes[:number], (attributes[number][0], text), *attributes[number + 1 :]]


def holds_none(item: Any) -> bool:
    return isinstance(item, tuple) and None in item


def constant_text(value: Constant) -> str:
    if value.ndim:
        return f"array({value.data.tolist()!r}, {value.dtype})"
    number = str(value.data[()])
    return number if value.dtype in WEAK_TYPES else f"{value.dtype}({number})"


def bare(text: str) -> str:
    """An expression without the parentheses around all of it."""
    depth = 0
    for position, each in enumerate(text):
        depth += (each == "(") - (each == ")")
        if not depth:
            return text[1:-1] if text[0] == "(" and position == len(text) - 1 else text
    return text


def origin(value: Value) -> str:
    """The user's line: file name and number, or the cell of a notebook."""
    source = value.source if isinstance(value, Node) else None
    return Path(str(source)).name if source is not None else ""


def commented(text: str, comment: str) -> str:
    first_line = comment.partition("\n")[0]
    return f"{text:<{COMMENT_COLUMN}}  # {first_line}" if first_line else text
