"""Programs by size, for `growth`: loops, chains, wide and deep graphs, derivatives of these, and PyMC models.

Loops are source text, since Python's own would be loops again, and chains of operations are straight lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from numbagraph import cond, fori_loop, grad, graph_jit, scan, value_and_grad

from .workloads.dag import INPUTS, OPERATIONS, array_source, define, random_dag

LENGTH = 5
"""The elements of each array: they are not read."""
Compile = Callable[[], object]


@dataclass(frozen=True)
class Family:
    """Programs that differ in their size alone."""

    name: str
    unit: str
    """What the size counts."""
    sizes: tuple[int, ...]
    prepare: Callable[[int, float], Compile]
    """Makes the program of a size with a constant in it, and gives what compiles it."""
    warm: int
    """The size of the program that is compiled before, for imports. It has another constant."""
    module: str = "numbagraph"
    """The module that it needs."""

    @property
    def is_installed(self) -> bool:
        return find_spec(self.module) is not None


def compiling(function: Callable[..., Any], arguments: Sequence[Any], derive: Any = None) -> Compile:
    """What compiles a function, or a derivative of the sum of what it gives, for some arguments, without a call."""
    if derive is not None:
        function = derive(lambda *given, value=function: np.sum(value(*given)))
    return partial(graph_jit(function).warmup, *arguments)


def lines_of(parameters: str, body: Sequence[str], result: str) -> Callable[..., Any]:
    text = "\n".join(["import numpy as np\n", f"def program({parameters}):", *(f"    {line}" for line in body)])
    return define("program", f"{text}\n    return {result}\n")


def trips(size: int, constant: float, derive: Any = None) -> Compile:
    body = [f"for _ in range({size}):", f"    v = np.sin(v) * 0.5 + {constant}"]
    return compiling(lines_of("v", body, "v"), [np.ones(LENGTH)], derive)


def chain(size: int, constant: float, derive: Any = None, start: Any = None) -> Compile:
    """Operations that follow each other; one in ten is a call of a mathematical function."""
    steps = [f"v = v * {constant}", "v = v + x", "v = v * x", "v = v - 0.75", "v = np.maximum(v, x)"]
    steps = [*steps, *steps[:4], "v = np.sin(v)"]
    body = ["v = x", *(steps[number % len(steps)] for number in range(size))]
    return compiling(lines_of("x", body, "v"), [np.ones(LENGTH) if start is None else start], derive)


def random_graph(size: int, constant: float) -> Compile:
    text = array_source("program", random_dag(size, OPERATIONS), gradient=False).replace("* 0.5", f"* {constant}")
    return compiling(define("program", text), [np.ones(LENGTH)] * INPUTS)


def arguments(size: int, constant: float) -> Compile:
    names = [f"x{number}" for number in range(size)]
    body = ["v = 0.0", *(f"v = v * {constant} + {name}" for name in names)]
    return compiling(lines_of(", ".join(names), body, "v"), [np.ones(LENGTH)] * size)


def results(size: int, constant: float) -> Compile:
    shown = ", ".join(f"np.sin(x) * {number + constant}" for number in range(size))
    return compiling(lines_of("x", [], f"({shown},)"), [np.ones(LENGTH)])


def lengths(size: int, constant: float) -> Compile:
    """Each argument has a length of its own, and gives a result."""
    names = [f"x{number}" for number in range(size)]
    shown = ", ".join(f"{name} * {constant}" for name in names)
    return compiling(lines_of(", ".join(names), [], f"({shown},)"), [np.ones(LENGTH + k) for k in range(size)])


def choices(size: int, constant: float, derive: Any = None) -> Compile:
    body = ["v = x", *(f"v = np.where(x > {number}.5, v * {constant} + {number}, v)" for number in range(size))]
    return compiling(lines_of("x", body, "v"), [np.ones(LENGTH)], derive)


def loops_in_loops(size: int, constant: float, derive: Any = None) -> Compile:
    """Nested `for` over constant ranges, by depth."""
    body = [f"{'    ' * depth}for i{depth} in range({20 + depth}):" for depth in range(size)]
    body.append("    " * size + f"v = np.sin(v) * 0.5 + {constant}")
    return compiling(lines_of("v", body, "v"), [np.ones(LENGTH)], derive)


def regions(size: int, constant: float, derive: Any = None) -> Compile:
    """A scan in a branch in a loop in a scan and so on, by depth."""

    def step(depth: int) -> Callable[[Any], Any]:
        if not depth:
            return lambda v: np.sin(v) * 0.5 + constant
        inner = step(depth - 1)
        return (
            lambda v: fori_loop(0, 3, lambda _, u: inner(u) + depth, v),
            lambda v: cond(np.sum(v) > depth, inner, lambda u: u * 0.5, v),
            lambda v: scan(lambda u, x: (inner(u) + x, None), v, np.arange(3.0))[0],
        )[depth % 3]

    return compiling(step(size), [np.ones(LENGTH)], derive)


def second(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The gradient of the sum of a gradient."""
    return grad(lambda x: np.sum(grad(function)(x)))


def model(size: int, constant: float) -> Compile:
    """Half of the variables are means of one number, with a common mean; half are their logarithmic scales."""
    import pymc as pm  # in few environments

    from numbagraph.pymc_bridge import compile_model

    rng = np.random.default_rng(size)
    with pm.Model() as built:
        common = pm.Normal("common", constant, 1.0)
        for number in range(size // 2):
            mean, scale = pm.Normal(f"mean{number}", common, 1.0), pm.HalfNormal(f"scale{number}", 1.0)
            pm.Normal(f"y{number}", mean, scale, observed=rng.normal())

    def compile_() -> None:
        found = compile_model(built)
        found.compiled_logp_func.address, found.compiled_expand_func.address  # noqa: B018  compiled when asked for

    return compile_


TRIPS = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
LONG = (10, 100, 1_000, 5_000, 10_000, 20_000)
SHORT = (10, 100, 500, 1_000, 2_000, 5_000)
WIDE = (5, 50, 100, 200, 350, 500)
DEEP = (1, 2, 4, 6, 8, 10)
FAMILIES = {
    each.name: each
    for each in (
        Family("trips", "step", TRIPS, trips, 40),
        Family("trips, gradient", "step", TRIPS, partial(trips, derive=value_and_grad), 40),
        Family("chain", "operation", LONG, chain, 10),
        Family("chain, gradient", "operation", LONG, partial(chain, derive=value_and_grad), 10),
        Family("chain of numbers", "operation", LONG, partial(chain, start=1.0), 10),
        Family("random graph", "operation", LONG, random_graph, 50),
        Family("second derivative", "operation", SHORT, partial(chain, derive=second), 10),
        Family("arguments", "argument", WIDE, arguments, 5),
        Family("results", "result", WIDE, results, 5),
        Family("lengths", "argument and result", WIDE, lengths, 5),
        Family("where", "choice", SHORT, choices, 5),
        Family("where, gradient", "choice", SHORT, partial(choices, derive=value_and_grad), 5),
        Family("nested loops", "loop", DEEP, loops_in_loops, 1),
        Family("nested loops, gradient", "loop", DEEP, partial(loops_in_loops, derive=value_and_grad), 1),
        Family("regions", "region", (*DEEP, 15, 20), regions, 3),
        Family("regions, gradient", "region", DEEP, partial(regions, derive=value_and_grad), 3),
        Family("model", "variable", (10, 100, 300, 1_000, 2_000, 5_000), model, 10, module="pymc"),
    )
}
