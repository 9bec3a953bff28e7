"""Draws programs that take derivatives at computed points inside of other code, as their source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from textwrap import indent
from typing import TypeVar

import numpy as np

from tests.fuzz import composition_ops
from tests.fuzz.composition_parts import ENDINGS, FUNCTIONS, HELPERS, PLACES, POINTS, TRANSFORMATIONS

T = TypeVar("T")
OPS = 0.5
"""The share of points, and of functions, that are about an op of the registry."""
AROUND = (
    "p = {op}",
    "p = y + 0.3 * {op}",
    "p = y * {op}",
    "p = y - 0.1 * ({op}) * 1.0",
    "p = {op} + 0.0 * y",
    "p = np.where({op} > 0.2, y, 0.5 * y)",
    "q = {op}\np = y + q * q",
)
"""How points follow from a call of an op. Those that are one number have the shape of the vector all the same."""
WIDTH = 12
"""Values that a derivative by differences takes, of two elements."""
MOST = 12000
"""Values beyond which a program takes JAX, too, seconds."""


@dataclass(frozen=True)
class Level:
    """A function of a vector ``y``, which takes a derivative at a point that follows from it."""

    point: str
    kind: str
    transformation: str
    ending: str

    @property
    def cost(self) -> int:
        """How many values of what is differentiated differences take."""
        in_point = 2 * ("hessian" in self.point) or int("ng.grad" in self.point or "F, " in self.point)
        return WIDTH ** TRANSFORMATIONS[self.transformation][0] + (WIDTH**in_point if in_point else 0)


@dataclass(frozen=True)
class Program:
    """A place, the levels of derivatives in it from the innermost, and what the innermost differentiates."""

    place: str
    levels: tuple[Level, ...]
    function: tuple[str, str]
    kind: str
    ops: tuple[composition_ops.Use, ...] = ()
    """The ops of the program that was drawn first."""

    @property
    def cost(self) -> int:
        found = WIDTH ** PLACES[self.place][0]
        for each in self.levels:
            found *= each.cost
        return found

    @property
    def kinds(self) -> list[str]:
        """What it is made of."""
        levels = [name for each in self.levels for name in (f"point: {each.kind}", f"by: {each.transformation}")]
        return [f"place: {self.place}", f"of: {self.kind}", *levels, *(each.name for each in self.ops)]

    @property
    def source(self) -> str:
        functions, lines = self.function, []
        for number, level in enumerate(self.levels):
            name = "d" if number == len(self.levels) - 1 else f"d{number}"
            lines += [f"def {name}(y):", indent(level_source(level, functions), "    ")]
            functions = (f"np.sum(np.sin({name}(z)) * w)", f"np.sin({name}(z))")
        body = "\n".join([*helpers_of("\n".join(lines)), *lines, PLACES[self.place][1]])
        return f"def program(x, w, a, n):\n{indent(body, '    ')}\n"


def helpers_of(text: str) -> Iterator[str]:
    for name, body in HELPERS.items():
        if f"{name}(" in text:
            yield f"def {name}(z):\n{indent(body, '    ')}"
    if "scanned" in text:
        yield "def scanned(c, t):\n    return np.sin(c) + t, t"


def level_source(level: Level, functions: tuple[str, str]) -> str:
    lines = [f"{level.point}", TRANSFORMATIONS[level.transformation][1], f"return {level.ending}"]
    for name, value in zip("fF", functions, strict=True):
        if any(f"{name}{after}" in line for line in lines for after in "(),)"):
            lines.insert(0, f"def {name}(z):\n    return {value}")
    return "\n".join(lines)


class Draw:
    """A program of random numbers."""

    def __init__(self, rng: np.random.Generator, ops: Sequence[str]) -> None:
        self.rng = rng
        self.among = ops
        self.ops: list[composition_ops.Use] = []

    def choose(self, among: Sequence[T]) -> T:
        return among[int(self.rng.integers(len(among)))]

    def program(self) -> Program:
        found = self.any_program()
        while found.cost > MOST:
            found = self.any_program()
        return found

    def any_program(self) -> Program:
        self.ops = []
        depth = int(self.rng.choice([1, 1, 2, 2, 3]))
        kind, function = self.function()
        levels = tuple(self.level() for _ in range(depth))
        place = self.choose([*PLACES])
        return Program(place, levels, function, kind, tuple(self.ops))

    def op(self, smooth: bool) -> composition_ops.Use | None:
        found = composition_ops.uses(self.choose(self.among)) if self.among else ()
        found = tuple(each for each in found if each.is_smooth or not smooth)
        if not found or self.rng.random() > OPS:
            return None
        use = self.choose(found)
        self.ops.append(use)
        return use

    def function(self) -> tuple[str, tuple[str, str]]:
        use = self.op(smooth=True)
        if use is None:
            kind = self.choose([*FUNCTIONS])
            return kind, FUNCTIONS[kind]
        return "op", (f"np.sum({use.of('z')} * w)", f"{use.of('z')} * w")

    def level(self) -> Level:
        kind = self.choose([*POINTS])
        point = POINTS[kind]
        use = self.op(smooth=False)
        if use is not None:
            kind = "op"
            point = self.choose(AROUND).replace("{op}", use.of("y"))
            if point == f"p = {use.of('y')}":
                point += " + np.zeros(y.shape)"
        return Level(point, kind, self.choose([*TRANSFORMATIONS]), self.choose(ENDINGS))


def smaller(program: Program) -> Iterator[Program]:
    """Programs with one part less, or a simpler one: none of these has the first as a simpler one of its own."""
    for number, level in enumerate(program.levels):
        before, after = program.levels[:number], program.levels[number + 1 :]
        if len(program.levels) > 1:
            yield replace(program, levels=(*before, *after))
        for each in simpler(level):
            yield replace(program, levels=(*before, each, *after))
    if program.place != "plain":
        yield replace(program, place="plain")
    if program.function != FUNCTIONS["cube"]:
        yield replace(program, function=FUNCTIONS["cube"])


def simpler(level: Level) -> Iterator[Level]:
    if level.transformation != "grad":
        yield replace(level, transformation="grad")
    if level.ending != "r":
        yield replace(level, ending="r")
    if level.kind != "argument":
        yield replace(level, point=POINTS["argument"], kind="argument")
        if level.kind != "times one":
            yield replace(level, point=POINTS["times one"], kind="times one")
