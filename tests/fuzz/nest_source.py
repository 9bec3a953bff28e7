"""Draws nests of loops over elements, rows and slices of arrays. What they compute is smooth almost everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from tests.fuzz.python_source import Block, Statement, lines_of

T = TypeVar("T")

VECTORS = {"x": "n", "y": "p", "u": "n", "v": "p"}
"""The arguments, and the tables that programs fill; each with the axis that it has."""
MATRICES = {"m": "rc", "w": "rc", "z": "rn"}
TABLES = {
    "u": ("x.copy()", "np.zeros(len(x))", "np.zeros_like(x)", "0.5 * x"),
    "v": ("y.copy()", "np.zeros(len(y))", "np.ones(len(y))"),
    "w": ("m.copy()", "np.zeros(m.shape)", "np.zeros((len(m), m.shape[1]))", "0.5 * m.T.copy().T"),
    "z": ("np.zeros((len(m), len(x)))", "np.outer(m[:, 0], x)"),
}
LENGTHS = {"n": "len(x)", "p": "len(y)", "r": "len(m)", "c": "m.shape[1]"}
SCALARS = ("a", "b")
VALUES = (
    "{s} * {s}",
    "{s} + 0.5 * {s}",
    "np.sin({s})",
    "np.tanh({s} + {s})",
    "max({s}, {s})",
    "min({s}, 0.3)",
    "abs({s})",
    "np.exp(-{s} ** 2)",
    "({s} if {t} else {s})",
    "np.where({t}, {s}, {s})",
    "np.prod(np.cos({part}))",
    "np.sum({part})",
    "np.sum(np.sin({part}) ** 2)",
    "np.max({part}, initial=-2.0)",
    "0.1 * {number}",
)
"""Of scalars."""


class Draw:
    """A program of random numbers, as statements."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.count = 0
        self.axes: dict[str, str] = {}
        """The axis that each number of a loop around goes along; "" for others."""
        self.tables: list[str] = []

    def choose(self, among: Sequence[T]) -> T:
        return among[int(self.rng.integers(len(among)))]

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def program(self) -> Block:
        self.tables = [name for name in TABLES if self.chance(0.5)] or [self.choose([*TABLES])]
        block = [Statement(f"{name} = {self.choose(TABLES[name])}") for name in self.tables]
        block += [Statement("a = 0.1"), Statement("b = s")]
        for _ in range(int(self.rng.integers(1, 3))):
            block.append(self.loop(depth=int(self.rng.integers(1, 4))))
        ends = [f"np.sum(np.sin({name}) * weights({name}))" for name in self.tables]
        return [*block, Statement("return " + " + ".join([*ends, "np.sin(a)", "0.5 * b"]))]

    # ---- numbers and positions ----

    def number(self) -> str:
        return self.choose([*self.axes, "1", "2", "k[0]"]) if self.axes else "1"

    def position(self, axis: str, inside: str = "") -> str:
        """A position along an axis, which is in its bounds unless lengths of arguments differ."""
        own = [name for name, its in self.axes.items() if its == axis]
        length = LENGTHS[axis]
        if own and self.chance(0.8):
            i = self.choose(own)
            return self.choose((i, i, i, f"{i} - 1", f"{length} - 1 - {i}", f"({i} + 1) % {length}"))
        return self.choose(
            ("0", "-1", f"{self.number()} % {length}", f"k[{self.number()} % len(k)] % {length}", f"{length} // 2")
        )

    def bounds(self, axis: str) -> str:
        """A part of an axis."""
        own = [name for name, its in self.axes.items() if its == axis]
        i = self.choose(own) if own and self.chance(0.8) else self.number()
        return self.choose((":", f":{i}", f"{i}:", f":{i} + 1", f"{i} + 1:", "1:", ":-1", "1:-1", "::-1", f":{i}:2"))

    # ---- expressions ----

    def element(self, names: Sequence[str]) -> str:
        name = self.choose(names)
        if name in VECTORS:
            return f"{name}[{self.position(VECTORS[name])}]"
        places = [self.position(axis) for axis in MATRICES[name]]
        return f"{name}[{', '.join(places)}]"

    def read(self) -> list[str]:
        return ["x", "y", "m", *self.tables, *self.tables]

    def part(self) -> str:
        """A vector: a slice, a row, a column, or two of them."""
        name = self.choose(self.read())
        if name in VECTORS:
            return f"{name}[{self.bounds(VECTORS[name])}]"
        first, second = MATRICES[name]
        return self.choose(
            (
                f"{name}[{self.position(first)}]",
                f"{name}[{self.position(first)}, {self.bounds(second)}]",
                f"{name}[{self.bounds(first)}, {self.position(second)}]",
            )
        )

    def scalar(self, depth: int = 2) -> str:
        if depth == 0 or self.chance(0.3):
            elements = [self.element(self.read()) for _ in range(2)]
            return self.choose((*SCALARS, "s", *elements, f"CAPTURED[{self.number()} % 4]"))
        text = self.choose(VALUES)
        while "{" in text:
            for kind, draw in (
                ("{s}", lambda: self.scalar(depth - 1)),
                ("{t}", self.test),
                ("{part}", self.part),
                ("{number}", self.number),
            ):
                if kind in text:
                    text = text.replace(kind, draw(), 1)
        return text

    def test(self) -> str:
        numbers = [*self.axes, "k[0]"]
        return self.choose(
            (
                f"{self.choose(numbers)} % 2 == 0",
                f"{self.choose(numbers)} > {self.choose(numbers)}",
                f"{self.scalar(0)} > {self.choose(('0.1', '0.0', self.scalar(0)))}",
                f"k[{self.number()} % len(k)] > 1",
            )
        )

    # ---- statements ----

    def block(self, depth: int) -> Block:
        found = [self.statement(depth) for _ in range(int(self.rng.integers(1, 3)))]
        return [*found, self.loop(depth - 1)] if depth > 1 else found

    def statement(self, depth: int) -> Statement:
        if self.chance(0.25):
            return self.branch(depth)
        name = self.choose(self.tables)
        value = self.scalar()
        kind = self.choose(("scalar", "element", "element", "element", "part"))
        if kind == "scalar":
            scalar = self.choose(SCALARS)
            return Statement(self.choose((f"{scalar} += 0.3 * {value}", f"{scalar} = np.tanh({value})")))
        if kind == "element":
            left = self.element([name])
            return Statement(
                self.choose((f"{left} = np.sin({value})", f"{left} += 0.3 * {value}", f"{left} *= {value}"))
            )
        axes = VECTORS.get(name) or MATRICES[name]
        last = self.bounds(axes[-1])
        left = f"{name}[{last}]" if name in VECTORS else f"{name}[{self.position(axes[0])}, {last}]"
        if name not in VECTORS and self.chance(0.3):
            last = self.bounds(axes[0])
            left = f"{name}[{last}, {self.position(axes[1])}]"
            axes = axes[0]
        others = [each for each, axis in VECTORS.items() if axis == axes[-1] and (each in "xy" or each in self.tables)]
        value = f"{value} * {self.choose(others)}[{last}]" if others and self.chance(0.7) else value
        return self.assigned(left, value)

    def assigned(self, left: str, value: str) -> Statement:
        return Statement(self.choose((f"{left} = np.sin({value})", f"{left} += 0.3 * {value}", f"{left} *= {value}")))

    def branch(self, depth: int) -> Statement:
        first, other = ([self.plain()] for _ in range(2))
        jump = self.chance(0.25) and bool(self.axes)
        if jump:
            first.append(Statement(self.choose(("continue", "break"))))
        if depth > 1 and self.chance(0.3):
            first.insert(0, self.loop(1))
        nested = [Statement(f"if {self.test()}:", other, [self.plain()])] if self.chance(0.3) else other
        return Statement(f"if {self.test()}:", first, nested if self.chance(0.6) else None)

    def plain(self) -> Statement:
        found = self.statement(0)
        while found.block is not None:
            found = self.statement(0)
        return found

    def loop(self, depth: int) -> Statement:
        self.count += 1
        i = f"i{self.count}"
        axis = self.choose([*LENGTHS])
        length = LENGTHS[axis]
        before = dict(self.axes)
        others = [name for name, its in before.items() if its == axis]
        bounds = (f"{length}", f"1, {length}", f"{length} - 1, -1, -1", f"{length} - 2, -1, -1")
        if others:
            bounds += (self.choose(others), f"{self.choose(others)} + 1", f"{self.choose(others)}, {length}")
        kind = self.choose(("length", "length", "length", "constant", "data", "while"))
        limit = self.choose(("3", f"{length} - 1", f"{length} - 1"))
        self.axes[i] = axis if kind == "length" or (kind == "while" and limit != "3") else ""
        if kind == "while":
            test = f" and {self.test()}" if self.chance(0.4) else ""
            body = [Statement(f"{i} += 1"), *self.block(depth)]
            found = Statement("if True:", [Statement(f"{i} = -1"), Statement(f"while {i} < {limit}{test}:", body)])
        else:
            data = self.choose(("k[0]", f"k[{[*before][-1]} % len(k)]" if before else "k[-1]"))
            bound = {"length": self.choose(bounds), "constant": self.choose(("2", "3")), "data": data}[kind]
            found = Statement(f"for {i} in range({bound}):", self.block(depth))
        self.axes = before
        return found


def source_of(block: Block) -> str:
    """The source of the program with this body."""
    return "\n".join(("def program(x, y, m, s, k):", *lines_of(block, 1))) + "\n"
