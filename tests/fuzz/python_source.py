"""Draws programs of Python's statements, as their source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")
Block = list["Statement"]
Known = dict[str, list[str]]


class Statement:
    """A line, and the blocks below it, each with its own first line."""

    def __init__(self, line: str, block: Block | None = None, other: Block | None = None) -> None:
        self.line = line
        self.block = block
        self.other = other


HELPERS = """
def bump(p, q, z):
    p[0] += z
    return q.sum()

def shift(p, q, z):
    for number in range(1, len(p)):
        if q[number - 1] > z:
            return number
        p[number] = q[number - 1]
    return 0

def keep(p, q, z):
    p = p + z
    p[-1] = q[0]
    return p[0]
"""
"""Functions that programs call, with one array for two arguments too."""


def source_of(block: Block) -> str:
    """The source of the program with this body."""
    lines = list(lines_of(block, 1))
    helpers = HELPERS if any(f"{name}(" in line for line in lines for name in ("bump", "shift", "keep")) else ""
    return "\n".join((helpers, "def program(a, b, m, c, n, k, s):", *lines)) + "\n"


def lines_of(block: Block, depth: int) -> Iterator[str]:
    indent = "    " * depth
    for each in block:
        yield indent + each.line
        if each.block is not None:
            yield from lines_of(each.block, depth + 1) if each.block else [f"{indent}    pass"]
        if each.other is not None:
            yield f"{indent}else:"
            yield from lines_of(each.other, depth + 1) if each.other else [f"{indent}    pass"]


def without_one(block: Block) -> Iterator[Block]:
    """The program without one of its statements, or with what stands below it in its place."""
    for number, each in enumerate(block):
        before, after = block[:number], block[number + 1 :]
        is_counted = each.line.endswith(COUNTED) and each.line.startswith("i")  # without it, a loop never ends
        if not is_counted and (not each.line.startswith("return") or number < len(block) - 1):
            yield [*before, *after]
        if each.block is not None:
            if each.line.startswith("if"):
                yield [*before, *each.block, *after]
                yield [*before, *(each.other or []), *after]
            if each.other is not None:
                yield [*before, Statement(each.line, each.block), *after]
            for smaller in without_one(each.block):
                yield [*before, Statement(each.line, smaller, each.other), *after]
            for smaller in without_one(each.other or []):
                yield [*before, Statement(each.line, each.block, smaller), *after]


def with_all_returned(block: Block) -> Block:
    """The program whose results are followed by all variables that it begins with."""
    names = [each.line.partition(" = ")[0] for each in block if each.line in START]

    def returning(lines: Block) -> Block:
        return [
            Statement(
                ", ".join((each.line, *names)) if each.line.startswith("return") else each.line,
                each.block and returning(each.block),
                each.other and returning(each.other),
            )
            for each in lines
        ]

    return returning(block)


FLOATS = (
    "{f} + {f}",
    "{f} - {f}",
    "({f} * {f}) % 8.0",
    "{v}[{i}]",
    "max({f}, {f})",
    "abs({f})",
    "-{f}",
    "{f}",
    "2.0",
    "m[{i}, {i}]",
    "np.sum({v})",
    "min({f}, 3.0)",
    "float({i})",
    "{f} if {b} else {f}",
    "{v}.max(initial=-9.0)",
    "np.floor({f} / 2)",
    "{v}[-1]",
    "{v}[{i} - 1] + {v}[{i}]",
    "m[{i}].sum()",
    "m.T[{i}, {i}]",
    "m.flat[{i}]",
    "bump({v}, {v}, {f})",
    "keep({v}, {v}, {f})",
    "sum(x for x in {v} if x > {f})",
    "m.ravel()[{i}:].sum()",
)
INTEGERS = (
    "{i} + 1",
    "{i} - 1",
    "{i}",
    "({i} * {i}) % 5",
    "{i} // 2",
    "{i} % 3",
    "len({v})",
    "c[{i}]",
    "0",
    "1",
    "-1",
    "int({f}) % 4",
    "max({i}, {i})",
    "m.shape[1]",
    "int(c[{i}])",
    "{i} + int({b})",
    "shift({v}, {v}, {f})",
    "-{i}",
    "({i} << 1) % 5",
)
BOOLS = (
    "{f} < {f}",
    "{f} >= {f}",
    "{i} == {i}",
    "{i} > {i}",
    "{b} and {b}",
    "{b} or {b}",
    "not {b}",
    "0 <= {i} < len({v})",
    "{i} % 2 == 0",
    "{v}[{i}] > {f}",
    "np.any({v} > {f})",
    "{f} != {f}",
)
VECTORS = (
    "{v} + 1",
    "{v} * 2",
    "{v} + {v}",
    "{v}.copy()",
    "np.zeros(len({v}))",
    "{v}[::-1]",
    "{v} - {f}",
    "np.abs({v})",
    "np.where({v} > {f}, {v}, 0.0)",
    "m[:, {i}]",
    "m.sum(axis=1)",
    "np.full(len({v}), {f})",
    "{v} % 4",
    "np.cumsum({v}) % 8",
    "np.maximum({v}, {f})",
    "np.zeros_like({v})",
)
ALIASES = ("{v}", "{v}", "m[:, 0]", "{v}[::-1]", "{v}[:]", "m.T[0]", "m.T[{i}]", "{v}.reshape(-1)")
PARTS = ("1:", ":-1", ":", "::2", "::-1", "{i}:", ":{i}", "{i}:{i} + 2", "1:-1")
RANGES = (
    "range(len({v}))",
    "range(n)",
    "range(1, len({v}))",
    "range(len({v}) - 1, -1, -1)",
    "range({i})",
    "range(3)",
    "range(1, len({v}) - 1)",
    "range({i}, {i})",
    "range(0, len({v}), 2)",
    "range(m.shape[1])",
    "range({i}, -1, -2)",
    "range(3, {i}, -1)",
    "reversed(range({i}))",
    "range({i}, {i}, -1)",
    "range(-2, 0)",
)
THROUGH = (
    "m.T[{i}]",
    "m.T[{i}, {i}]",
    "m.T[1:, {i}]",
    "m[{i}:].T[0]",
    "m.flat[{i}]",
    "m.ravel()[{i}]",
    "m.reshape(-1)[{i}:]",
    "{v}[1:][{i}]",
    "{v}[::-1][:{i}]",
    "{v}.reshape(-1, 1)[{i}]",
    "{v}[::2][-1]",
    "c[{i}]",
    "np.flip(m)[0]",
)
"""Parts of views that are written."""
UPDATES = ("=", "+=", "-=", "=")


START = (
    "t = s * 2.0",
    "u = 1.0",
    "q = 0",
    "v = a + b",
    "w = a",
    "v = np.zeros(len(a))",
    "w = m[:, 0]",
    "w = b.copy()",
)
DEPTH = 3
COUNTED = " += 1"


class Draw:
    """Draws the body of a program, from the names that are known in each scope, by kind."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.count = 0
        self.returns = False
        """Whether some path returns before the end."""

    def choose(self, items: Sequence[T]) -> T:
        return items[int(self.rng.integers(len(items)))]

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def program(self) -> Block:
        known = {"f": ["s"], "i": ["n", "k"], "v": ["a", "b"]}
        block = []
        for line in self.rng.permutation(START)[: self.rng.integers(3, 6)]:
            kind = {"t": "f", "u": "f", "q": "i"}.get(line[0], "v")
            known[kind].append(line[0])
            block.append(Statement(str(line)))
        block += self.block(known, DEPTH if self.chance(0.2) else DEPTH - 1, in_loop=False, most=5)
        values = [each for names in known.values() for each in dict.fromkeys(names)]
        chosen = [str(each) for each in self.rng.permutation(values)[: self.rng.integers(1, 5)]]
        if self.returns:  # the same kinds
            chosen = [self.choose(known[kind]) for kind in ("f", "v")]
        return [*block, Statement(f"return {', '.join(chosen)}, {self.expression(FLOATS, known)}")]

    def expression(self, forms: Sequence[str], known: Known, depth: int = 2) -> str:
        text = self.choose(forms)
        for kind, inner in (("f", FLOATS), ("i", INTEGERS), ("b", BOOLS), ("v", VECTORS)):
            while f"{{{kind}}}" in text:
                deeper = depth and (kind == "b" or self.chance(0.25))
                if kind == "b" and not depth:
                    part = f"{self.choose(known['f'])} > 0"
                else:
                    part = f"({self.expression(inner, known, depth - 1)})" if deeper else self.choose(known[kind])
                text = text.replace(f"{{{kind}}}", part, 1)
        return text

    def block(self, known: Known, depth: int, *, in_loop: bool, most: int = 4) -> Block:
        found: Block = []
        for _ in range(int(self.rng.integers(1, most))):
            if depth and self.chance(0.5):
                found.append(self.choose((self.loop, self.loop, self.branch, self.repeat))(known, depth - 1, in_loop))
            elif in_loop and self.chance(0.1):
                line = self.choose(("break", "continue", "break"))
                found.append(Statement(f"if {self.expression(BOOLS, known)}:", [Statement(line)]))
            elif self.chance(0.05):
                self.returns = True
                chosen = [self.choose(known[kind]) for kind in ("f", "v")]
                end = Statement(f"return {', '.join(chosen)}, {self.expression(FLOATS, known)}")
                found.append(Statement(f"if {self.expression(BOOLS, known)}:", [end]))
            else:
                found.append(Statement(self.line(known)))
        return found

    def line(self, known: Known) -> str:
        kind = self.choose(
            (
                *("float", "float", "integer", "vector", "alias", "element", "element", "part", "row", "swap"),
                *("call", "through", "through"),
            )
        )
        number, integer, vector = (self.choose(known[each]) for each in "fiv")
        operator = self.choose(UPDATES)
        value = self.expression(FLOATS, known)
        match kind:
            case "float":
                return f"{number} {operator} {value}"
            case "integer" if integer not in ("n", "k") and not integer.startswith("i"):
                return f"{integer} {operator} ({self.expression(INTEGERS, known)}) % 6"
            case "vector":
                return f"{vector} {operator} {self.expression(VECTORS, known)}"
            case "alias" if self.chance(0.2):
                return f"{vector} = {self.expression(ALIASES, known)}"
            case "call":
                called = self.expression(
                    ("bump({v}, {v}, {f})", "shift({v}, {v}, {f})", "keep({v}, {v}, {f})"), known, 1
                )
                return self.choose((f"{number} {operator} {called}", called))
            case "through":
                place = self.choose(THROUGH)
                return f"{self.expression((place,), known, 0)} {operator} {value}"
            case "element":
                return f"{vector}[{self.expression(INTEGERS, known, 1)}] {operator} {value}"
            case "part":
                part = self.expression(PARTS, known, 0)
                value = self.choose((value, f"{self.choose(known['v'])}[{part}]", self.expression(VECTORS, known, 1)))
                return f"{vector}[{part}] {operator} {value}"
            case "row":
                place = self.choose(("m[{i}]", "m[:, {i}]", "m[{i}, {i}]", "m[{i}, :]", "m[{i}, 1:]"))
                value = self.choose((value, self.expression(VECTORS, known, 1)))
                return f"{self.expression((place,), known, 0)} {operator} {value}"
        one, two = (self.choose(known[kind := self.choose("fv")]), self.choose(known[kind]))
        return f"{one}, {two} = {two}, {one}"

    def inner(self, known: Known) -> Known:
        return {kind: list(names) for kind, names in known.items()}

    def loop(self, known: Known, depth: int, in_loop: bool) -> Statement:
        own = self.inner(known)
        self.count += 1
        number, value, vector = f"j{self.count}", f"x{self.count}", self.choose(known["v"])
        match self.choose(("range", "range", "range", "elements", "both", "pairs", "rows", "columns", "backwards")):
            case "range":
                head = f"for {number} in {self.expression(RANGES, known, 1)}:"
            case "elements":
                head = f"for {value} in {vector}:"
            case "both":
                head = f"for {number}, {value} in enumerate({vector}):"
            case "pairs":
                head = f"for {value}, {number} in zip({vector}, c):"
            case "columns":
                head = f"for {value} in m.T:"
            case "backwards":
                head = f"for {number}, {value} in zip(range({self.choose(known['i'])}), reversed({vector})):"
            case _:
                head = f"for {value} in m:"
        if number in head:
            own["i"] += [number, number]
        if value in head:
            own["v" if head.endswith(("in m:", "in m.T:")) else "f"].append(value)
        other = self.block(known, 0, in_loop=False, most=2) if self.chance(0.1) else None
        return Statement(head, self.block(own, depth, in_loop=True), other)

    def repeat(self, known: Known, depth: int, in_loop: bool) -> Statement:
        self.count += 1
        own, number = self.inner(known), f"i{self.count}"
        own["i"].append(number)
        limit = self.choose(("3", "n", f"len({self.choose(known['v'])})"))
        condition = self.choose((f"{number} < {limit}", f"{number} < 4 and ({self.expression(BOOLS, own)})"))
        body = [Statement(f"{number}{COUNTED}"), *self.block(own, depth, in_loop=True)]
        return Statement("if True:", [Statement(f"{number} = 0"), Statement(f"while {condition}:", body)])

    def branch(self, known: Known, depth: int, in_loop: bool) -> Statement:
        first = self.block(self.inner(known), depth, in_loop=in_loop)
        other = self.block(self.inner(known), depth, in_loop=in_loop) if self.chance(0.5) else None
        return Statement(f"if {self.expression(BOOLS, known)}:", first, other)
