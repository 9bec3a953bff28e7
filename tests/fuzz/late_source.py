"""Draws loops over lengths that elements decide: those of masks, positions, unique values, repeated elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from tests.fuzz.python_source import Block, Statement

T = TypeVar("T")

FLOAT, INTEGER = "float", "integer"

Vectors = dict[str, tuple[str, str]]
"""Names of vectors, each with the axis that it has and the kind of its elements: an axis, if they are its positions."""

ARGUMENTS: Vectors = {"x": ("n", FLOAT), "y": ("p", FLOAT), "k": ("n", INTEGER)}
LATE: tuple[tuple[str, Vectors], ...] = (
    ("u#, v# = np.unique(k, return_inverse=True)", {"u#": ("U#", INTEGER), "v#": ("n", "U#")}),
    ("u#, v# = np.unique(k, return_inverse=True)", {"u#": ("U#", INTEGER), "v#": ("n", "U#")}),
    ("u#, c# = np.unique(k, return_counts=True)", {"u#": ("U#", INTEGER), "c#": ("U#", INTEGER)}),
    ("u#, f# = np.unique(k, return_index=True)", {"u#": ("U#", INTEGER), "f#": ("U#", "n")}),
    ("u# = np.unique(k[x > 0.0])", {"u#": ("U#", INTEGER)}),
    ("u# = np.unique(np.round(x, 1))", {"u#": ("U#", FLOAT)}),
    ("p# = np.flatnonzero(x > 0.1)", {"p#": ("P#", "n")}),
    ("p# = np.nonzero(k > 1)[0]", {"p#": ("P#", "n")}),
    ("p# = np.where(k % 2 == 0)[0]", {"p#": ("P#", "n")}),
    ("p# = np.argwhere(y > 0.0)[:, 0]", {"p#": ("P#", "p")}),
    ("i#, j# = np.nonzero(m > 0.0)", {"i#": ("P#", "r"), "j#": ("P#", "c")}),
    ("w# = x[k > 1]", {"w#": ("W#", FLOAT)}),
    ("w# = np.sin(x[x > s])", {"w#": ("W#", FLOAT)}),
    ("w# = np.sort(y[y > -0.5])", {"w#": ("W#", FLOAT)}),
    ("w# = np.cumsum(x[k > 0])", {"w#": ("W#", FLOAT)}),
    ("w# = m[m > 0.0]", {"w#": ("W#", FLOAT)}),
    ("w# = np.concatenate((x[k > 1], y))", {"w#": ("W#", FLOAT)}),
    ("w# = np.compress(k < 2, x)", {"w#": ("W#", FLOAT)}),
    ("w# = np.delete(x, np.flatnonzero(k == 1))", {"w#": ("W#", FLOAT)}),
    ("w# = np.repeat(x, k)", {"w#": ("W#", FLOAT)}),
    ("w# = np.repeat(x, 2)[np.repeat(x, 2) > 0.0]", {"w#": ("W#", FLOAT)}),
    ("p# = np.repeat(np.arange(len(k)), k)", {"p#": ("P#", "n")}),
    ("b# = np.bincount(k)", {"b#": ("B#", INTEGER)}),
    ("b# = np.bincount(k, weights=x)", {"b#": ("B#", FLOAT), "k": ("n", "B#")}),
    ("z#, w# = np.searchsorted(np.unique(k), k), np.unique(k) * 0.5", {"z#": ("n", "W#"), "w#": ("W#", FLOAT)}),
    ("u# = np.intersect1d(k, np.arange(1, 3))", {"u#": ("U#", INTEGER)}),
    ("u# = np.union1d(k, np.arange(1, 3))", {"u#": ("U#", INTEGER)}),
    ("u# = np.setdiff1d(k, np.arange(1, 2))", {"u#": ("U#", INTEGER)}),
    (
        "q# = np.concatenate((np.array([0]), np.flatnonzero(np.diff(k)) + 1, np.array([len(k)])))",
        {"q#": ("Q#", "bounds")},
    ),
    ("q# = np.concatenate((np.array([0]), np.cumsum(np.bincount(k))))", {"q#": ("Q#", "bounds")}),
    ("h# = np.argsort(k, kind='stable')[np.sort(k) > 0]", {"h#": ("H#", "n")}),
)
"""Statements whose lengths elements decide, and the vectors that they make."""

NEW = (
    "np.zeros({length})",
    "np.zeros({length})",
    "np.ones({length})",
    "np.full({length}, s)",
    "np.zeros({length}) + s",
    "np.empty({length})",
)
REDUCTIONS = (
    "np.sum({part})",
    "np.sum({part})",
    "{part}.sum()",
    "np.sum(np.sin({part}) ** 2)",
    "np.max({part}, initial=-1.0)",
    "np.mean({part})",
    "np.prod({part})",
    "np.median({part})",
    "0.1 * len({part})",
    "0.1 * np.count_nonzero({part} > 0.1)",
    "({part}.max() if len({part}) > 0 else 0.25)",
    "({part}.mean() if len({part}) else {s})",
    "(np.median({part}) if len({part}) > 1 else {s})",
    "np.sum({part}[:1])",
    "(0.5 if np.any({part} > 0.1) else {s})",
    "np.dot({part}, {part})",
    "np.std({part})",
)
VALUES = (
    *REDUCTIONS,
    "{s} + 0.5 * {s}",
    "{s} * {s}",
    "np.sin({s})",
    "np.tanh({s} + {s})",
    "max({s}, {s})",
    "min({s}, 0.3)",
    "({s} if {t} else {s})",
    "np.where({t}, {s}, {s})",
    "0.1 * {number}",
)


class Draw:
    """A program of random numbers, as statements."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.count = 0
        self.vectors: Vectors = dict(ARGUMENTS)
        self.lengths = {"n": "len(x)", "p": "len(y)", "r": "len(m)", "c": "m.shape[1]"}
        self.late: list[str] = []
        """The axes whose lengths elements decide."""
        self.tables: dict[str, str] = {}
        """Arrays that the program fills, each with its axes: "n", or "U0 n"."""
        self.axes: dict[str, str] = {}
        """The axis that each integer of a loop around goes along; "" for others."""
        self.items: list[str] = []
        """The numbers of loops around that are elements."""
        self.has_list = False

    def choose(self, among: Sequence[T]) -> T:
        return among[int(self.rng.integers(len(among)))]

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def program(self) -> Block:
        """A program that returns a tuple of all that it fills."""
        block = [self.late_vector() for _ in range(int(self.rng.integers(1, 4)))]
        block += [self.table() for _ in range(int(self.rng.integers(1, 4)))]
        block += [Statement("a = 0.1"), Statement("b = s")]
        if self.chance(0.3):
            self.has_list = True
            block.append(Statement("out = []"))
        for _ in range(int(self.rng.integers(1, 3))):
            block.append(self.loop(depth=self.choose((1, 1, 1, 2, 2))))
        results = [*self.tables, "a", "b", *(["np.array(out)", "0.1 * len(out)"] if self.has_list else [])]
        return [*block, Statement(f"return {', '.join(results)}")]

    def late_vector(self) -> Statement:
        text, made = self.choose(LATE)
        number = str(len(self.late))
        for name, (axis, kind) in made.items():
            name, axis, kind = (each.replace("#", number) for each in (name, axis, kind))
            self.vectors[name] = axis, kind
            if axis not in self.lengths:
                self.lengths[axis] = self.choose((f"len({name})", f"len({name})", f"{name}.shape[0]", f"{name}.size"))
                self.late.append(axis)
        return Statement(text.replace("#", number))

    def table(self) -> Statement:
        name = f"t{len(self.tables)}"
        axis = self.choose(self.late) if self.chance(0.7) else self.choose("np")
        own = [each for each, (its, kind) in self.vectors.items() if its == axis and kind == FLOAT]
        if own and self.chance(0.3):
            self.tables[name] = axis
            return Statement(f"{name} = {self.choose(own)}.copy()")
        axes = (axis, self.choose([*self.late, "n", "p"])) if self.chance(0.25) else (axis,)
        length = self.lengths[axis] if len(axes) == 1 else f"({', '.join(self.lengths[each] for each in axes)})"
        self.tables[name] = " ".join(axes)
        new = self.choose(NEW)
        if "empty" in new:  # with numbers, before anybody reads them
            return Statement(f"{name} = np.empty({length}); {name}[:] = s")
        return Statement(f"{name} = {new.format(length=length)}")

    # ---- numbers, positions and parts ----

    def floats(self, axis: str = "") -> list[str]:
        """Vectors of floating-point numbers, along an axis."""
        found = [name for name, (its, kind) in self.vectors.items() if kind == FLOAT and axis in ("", its)]
        return found + [name for name, axes in self.tables.items() if " " not in axes and axis in ("", axes)]

    def axis_of(self, name: str) -> str:
        return self.tables[name] if name in self.tables else self.vectors[name][0]

    def number(self) -> str:
        integers = [name for name, (_, kind) in self.vectors.items() if kind != FLOAT]
        some = self.choose(integers)
        return self.choose((*self.axes, f"{some}[{self.position(self.vectors[some][0])}]", "1"))

    def position(self, axis: str) -> str:
        """A position along an axis, which is in its bounds mostly."""
        found = [name for name, its in self.axes.items() if its == axis]
        for name, (its, kind) in self.vectors.items():
            if kind == axis:
                found += [f"{name}[{i}]" for i, along in self.axes.items() if along == its]
        if found and self.chance(0.9):
            i = self.choose(found)
            return self.choose((i, i, i, i, f"{i} - 1", f"{self.lengths[axis]} - 1 - {i}"))
        return self.choose(("0", "-1"))

    def element(self, name: str) -> str:
        axes = self.axis_of(name).split()
        return f"{name}[{', '.join(map(self.position, axes))}]"

    def part(self) -> str:
        """Some of the elements of a vector."""
        name = self.choose(self.floats())
        axis = self.axis_of(name)
        keys = [each for each, (its, kind) in self.vectors.items() if its == axis and kind != FLOAT]
        places = [each for each, (_, kind) in self.vectors.items() if kind == axis]
        bounds = [each for each, (_, kind) in self.vectors.items() if kind == "bounds"]
        forms = [f"{name}[{self.choose(self.floats(axis))} > {self.scalar(0)}]", f"{name}[{self.position(axis)}:]"]
        forms.append(f"{name}[:{self.position(axis)}]")
        for key in keys:
            forms += [self.masked(name, key)] * 3
        for place in places:
            forms += [f"{name}[{place}]", f"{name}[{place}][{name}[{place}] > {self.scalar(0)}]"]
        for bound in bounds:
            i = next((i for i, along in self.axes.items() if along == self.vectors[bound][0]), None)
            forms += [f"{name}[{bound}[{i}]:{bound}[{i} + 1]]"] * 3 if i else [f"{name}[{bound}[0]:{bound}[-1]]"]
        return self.choose(forms)

    def masked(self, name: str, key: str) -> str:
        """The elements that belong to one of the groups of a key."""
        along = self.vectors[key][1]
        groups = [i for i, its in self.axes.items() if its == along]
        if not groups:
            groups = [self.element(each) for each, (_, kind) in self.vectors.items() if kind != FLOAT]
        return f"{name}[{key} {self.choose(('==', '==', '==', '!=', '<='))} {self.choose(groups)}]"

    def scalar(self, depth: int = 2) -> str:
        if depth == 0 or self.chance(0.2):
            elements = [self.element(self.choose([*self.floats(), *self.tables])) for _ in range(3)]
            return self.choose(("a", "b", "s", *self.items, *self.items, *elements))
        text = self.choose(VALUES)
        part = self.part()
        while "{" in text:
            text = text.replace("{part}", part)
            for kind, draw in (
                ("{s}", lambda: self.scalar(depth - 1)),
                ("{t}", self.test),
                ("{number}", self.number),
            ):
                if kind in text:
                    text = text.replace(kind, draw(), 1)
        return text

    def test(self) -> str:
        return self.choose(
            (
                f"{self.number()} % 2 == 0",
                f"{self.number()} > {self.number()}",
                f"{self.scalar(0)} > {self.choose(('0.1', '0.0', self.scalar(0)))}",
                f"np.any({self.part()} > {self.scalar(0)})",
                f"len({self.part()}) > 1",
                f"{self.part()}.size == 0",
            )
        )

    # ---- statements ----

    def block(self, depth: int) -> Block:
        found = [self.statement(depth) for _ in range(int(self.rng.integers(1, 3)))]
        return [*found, self.loop(depth - 1)] if depth > 1 else found

    def statement(self, depth: int = 0) -> Statement:
        if depth and self.chance(0.25):
            return self.branch()
        kinds = ("number", "list") if self.has_list and self.axes else ("number",)
        kind = self.choose((*kinds, "element", "element", "element", "part", "vector"))
        value = self.scalar()
        if kind == "number":
            name = self.choose("ab")
            return Statement(self.choose((f"{name} += 0.3 * {value}", f"{name} = np.tanh({value})")))
        if kind == "list":
            return Statement(f"out.append({value})")
        name = self.choose([*self.tables])
        left = self.element(name)
        if kind == "part":
            left, value = self.written(name), self.scalar(1)
        elif kind == "vector" and " " in self.tables[name]:
            row, column = self.tables[name].split()
            left = f"{name}[{self.position(row)}]"
            floats = self.floats(column)
            value = f"{value} * {self.choose(floats)}" if floats else value
        return Statement(self.choose((f"{left} = {value}", f"{left} += 0.3 * {value}", f"{left} = np.sin({value})")))

    def written(self, name: str) -> str:
        """A part of a table."""
        axis = self.tables[name].split()[0]
        keys = [each for each, (its, kind) in self.vectors.items() if its == axis and kind != FLOAT]
        i = self.position(axis)
        forms = [f"{name}[{i}:]", f"{name}[:{i}]", f"{name}[{i}:{i} + 1]", f"{name}[{name} > {self.scalar(0)}]"]
        forms += [self.masked(name, key) for key in keys]
        forms += [f"{name}[{each}]" for each, (its, kind) in self.vectors.items() if kind == axis and its in self.late]
        return self.choose(forms)

    def branch(self) -> Statement:
        first, other = ([self.statement()] for _ in range(2))
        if self.chance(0.3) and self.axes:
            first.append(Statement(self.choose(("continue", "break"))))
        return Statement(f"if {self.test()}:", first, other if self.chance(0.5) else None)

    def loop(self, depth: int) -> Statement:
        self.count += 1
        i, e = f"g{self.count}", f"e{self.count}"
        filled = [each for axes in self.tables.values() for each in axes.split()]
        axis = self.choose([*filled, *filled, *self.late, *"np"])
        length = self.lengths[axis]
        before, items = dict(self.axes), list(self.items)
        own = [each for each, (its, kind) in self.vectors.items() if its == axis and kind == FLOAT]
        places = {each: kind for each, (its, kind) in self.vectors.items() if its == axis and kind in self.lengths}
        bounds = [each for each, (its, kind) in self.vectors.items() if its == axis and kind == "bounds"]
        kinds = ["range", "range", "range", "back", "while"]
        kinds += ["enumerate", "elements", "zip"] * bool(own) + ["positions", "positions"] * bool(places)
        kind = "bounds" if bounds else self.choose(kinds)
        self.axes[i] = axis
        if kind in ("enumerate", "elements", "zip"):
            self.items.append(e)
        match kind:
            case "range":
                line = f"for {i} in range({self.choose(('', '', '1, '))}{length}):"
            case "back":
                line = f"for {i} in range({length} - 1, -1, -1):"
            case "bounds":
                line = f"for {i} in range({length} - 1):"
            case "enumerate":
                line = f"for {i}, {e} in enumerate({self.choose(own)}):"
            case "zip":
                line = f"for {i}, {e} in zip(range({length}), {self.choose(own)}):"
            case "elements":
                del self.axes[i]
                line = f"for {e} in {self.choose(own)}:"
            case "positions":
                name = self.choose([*places])
                self.axes[i] = places[name]
                line = f"for {i} in {name}:"
            case _:
                test = f" and {self.test()}" if self.chance(0.3) else ""
                line = f"while {i} < {length} - 1{test}:"
        body = self.block(depth)
        self.axes, self.items = before, items
        if kind == "while":
            body = [Statement(f"{i} += 1"), *body]
            return Statement("if True:", [Statement(f"{i} = -1"), Statement(line, body)])
        return Statement(line, body)


def as_number(block: Block) -> Block:
    """The same program with one number as its result, to which each element of what it returns adds in its own way."""
    names = block[-1].line.removeprefix("return ").split(", ")
    terms = [
        f"np.sum(np.sin({each}) * weights({each}))" if each.startswith(("t", "np")) else f"np.sin({each})"
        for each in names
    ]
    return [*block[:-1], Statement("return " + " + ".join(terms))]
