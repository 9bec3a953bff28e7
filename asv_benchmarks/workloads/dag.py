"""Random elementwise graphs, as source text: the same straight-line function for every system.

The text names `np` only, so it runs on any namespace that takes the place of `np`; as the body of a loop,
with `math` for `np`, it is the fused function for Numba. Each node is one operation. Intervals are carried
along, so that no operation leaves its domain and no value grows: then systems agree to the last few digits,
however many nodes.
"""

import hashlib
import linecache
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .base import Problem, Workload, generator

Interval = tuple[float, float]
INPUTS = 4
LENGTH = 1000
LIMIT = 6.0


@dataclass(frozen=True)
class Operation:
    """NumPy text, what the reverse sweep does for each operand, and the interval of the result.

    The sweep's text is the derivative by the operand (`y` is the result), or, where it names the result's
    adjoint `g`, all of the operand's.
    """

    text: str
    sweep: tuple[str, ...]
    interval: Callable[..., Interval]
    domain: Callable[..., bool] = lambda *operands: True


def monotone(f: Callable[[float], float]) -> Callable[[Interval], Interval]:
    return lambda x: (f(x[0]), f(x[1]))


def product(x: Interval, y: Interval) -> Interval:
    ends = [a * b for a in x for b in y]
    return min(ends), max(ends)


def magnitude(x: Interval) -> Interval:
    return max(0.0, x[0], -x[1]), max(-x[0], x[1])


def squared(x: Interval) -> Interval:
    low, high = magnitude(x)
    return low**2, high**2


def quotient(x: Interval, y: Interval) -> Interval:
    return product(x, (1 / y[1], 1 / y[0]))


def widened(x: Interval) -> Interval:
    return min(x[0], 0.0), max(x[1], 0.0)


def unit(x: Interval) -> Interval:
    return -1.0, 1.0


OPERATIONS = (
    Operation("{0} + {1}", ("1.0", "1.0"), lambda x, y: (x[0] + y[0], x[1] + y[1])),
    Operation("{0} - {1}", ("1.0", "-1.0"), lambda x, y: (x[0] - y[1], x[1] - y[0])),
    Operation("{0} * {1}", ("{1}", "{0}"), product),
    Operation("{0} / {1}", ("1.0 / {1}", "-{y} / {1}"), quotient, lambda x, y: y[0] >= 0.5),
    Operation("{0} + 1.5", ("1.0",), lambda x: (x[0] + 1.5, x[1] + 1.5)),
    Operation("{0} * 0.5", ("0.5",), lambda x: (x[0] / 2, x[1] / 2)),
    Operation("{0} ** 2", ("2.0 * {0}",), squared),
    Operation("abs({0})", ("np.copysign(1.0, {0})",), magnitude),
    Operation("np.sqrt({0})", ("0.5 / {y}",), monotone(math.sqrt), lambda x: x[0] >= 0.1),
    Operation("np.exp({0})", ("{y}",), monotone(math.exp), lambda x: x[1] <= 1.5),
    Operation("np.expm1({0})", ("{y} + 1.0",), monotone(math.expm1), lambda x: x[1] <= 1.5),
    Operation("np.log1p({0})", ("1.0 / (1.0 + {0})",), monotone(math.log1p), lambda x: x[0] >= -0.5),
    Operation("np.tanh({0})", ("1.0 - {y} ** 2",), monotone(math.tanh)),
    Operation("np.arctan({0})", ("1.0 / (1.0 + {0} ** 2)",), monotone(math.atan)),
    Operation("np.sin({0})", ("np.cos({0})",), unit),
    Operation("np.cos({0})", ("-np.sin({0})",), unit),
)
ADD = OPERATIONS[0]
MIXED = (
    *OPERATIONS,
    Operation("{0} - np.mean({0})", ("{g} - np.mean({g})",), lambda x: (x[0] - x[1], x[1] - x[0])),
    Operation("{0} * np.mean({1})", ("np.mean({1})", "np.full_like({1}, np.mean({g} * {0}))"), product),
    Operation("np.cumsum({0}) * 0.001", ("np.cumsum({g}[::-1])[::-1] * 0.001",), widened),
)
"""With operations that need all of an operand before they give any of the result: more than one loop."""


@dataclass
class Dag:
    """Values are numbered: the inputs first, then one for each node. `nodes` has (operation, operands)."""

    intervals: list[Interval] = field(default_factory=lambda: [(-1.0, 1.0)] * INPUTS)
    nodes: list[tuple[Operation, tuple[int, ...]]] = field(default_factory=list)
    unused: list[int] = field(default_factory=lambda: list(range(INPUTS)))

    def append(self, operation: Operation, operands: tuple[int, ...]) -> None:
        self.nodes.append((operation, operands))
        self.unused = [value for value in self.unused if value not in operands] + [len(self.intervals)]
        self.intervals.append(operation.interval(*(self.intervals[i] for i in operands)))

    def accepts(self, operation: Operation, operands: tuple[int, ...]) -> bool:
        """In its domain, of a modest size, and not there already: a compiler would merge the two."""
        intervals = [self.intervals[i] for i in operands]
        if not operation.domain(*intervals) or (operation, operands) in self.nodes:
            return False
        return all(abs(end) <= LIMIT for end in operation.interval(*intervals))


def random_dag(nodes: int, operations: Sequence[Operation]) -> Dag:
    """`nodes` operations with much reuse; the last ones add up what nobody used yet, so that none is dead."""
    rng = generator(nodes)
    dag = Dag()
    while spare := nodes - (len(dag.nodes) + len(dag.unused) - 1):
        operation = operations[int(rng.integers(len(operations)))]
        operands = tuple(_operand(dag, rng) for _ in operation.sweep)
        takes = 2 - len({*operands} & {*dag.unused})  # its own node, and an addition if it uses up nothing
        if takes <= spare and dag.accepts(operation, operands):
            dag.append(operation, operands)
    while len(dag.unused) > 1:
        dag.append(ADD, (dag.unused[0], dag.unused[1]))
    return dag


def _operand(dag: Dag, rng: np.random.Generator) -> int:
    """An unused value half of the time: graphs of models are deep as well as wide."""
    if rng.random() < 0.5:
        return dag.unused[int(rng.integers(len(dag.unused)))]
    return int(rng.integers(len(dag.intervals)))


def forward(dag: Dag) -> list[str]:
    lines = []
    for number, (operation, operands) in enumerate(dag.nodes, start=INPUTS):
        lines.append(f"v{number} = " + operation.text.format(*(f"v{i}" for i in operands)))
    return lines


def backward(dag: Dag, one: str) -> list[str]:
    """The reverse sweep, from the derivative of the sum by the last value: `one`."""
    last = len(dag.intervals) - 1
    lines, seen = [f"d{last} = {one}"], {last}
    for number in range(last, INPUTS - 1, -1):
        operation, operands = dag.nodes[number - INPUTS]
        names = [f"v{i}" for i in operands]
        for operand, derivative in zip(operands, operation.sweep, strict=True):
            sign = "+=" if operand in seen else "="
            seen.add(operand)
            text = derivative if "{g}" in derivative else f"{{g}} * ({derivative})"
            lines.append(f"d{operand} {sign} " + text.format(*names, y=f"v{number}", g=f"d{number}"))
    return lines


def array_source(name: str, dag: Dag, gradient: bool) -> str:
    """Over whole arrays. Every adjoint starts as the fresh result of a product, so `+=` changes no other."""
    inputs = ", ".join(f"v{i}" for i in range(INPUTS))
    lines = [f"def {name}({inputs}):", *("    " + line for line in forward(dag))]
    result = f"np.sum(v{len(dag.intervals) - 1})"
    if gradient:
        lines += ("    " + line for line in backward(dag, "np.ones_like(v0)"))
        result += ", (" + ", ".join(f"d{i}" for i in range(INPUTS)) + ",)"
    return "\n".join(["import numpy as np\n", *lines, f"    return {result}\n"])


def loop_source(name: str, dag: Dag, gradient: bool) -> str:
    """Over elements, for Numba: all of the graph in the body of one loop."""
    lines = ["total = 0.0", *(f"g{i} = np.empty_like(x{i})" for i in range(INPUTS) if gradient)]
    body = [f"v{i} = x{i}[k]" for i in range(INPUTS)]
    body += forward(dag) + (backward(dag, "1.0") if gradient else []) + [f"total += v{len(dag.intervals) - 1}"]
    body += [f"g{i}[k] = d{i}" for i in range(INPUTS) if gradient]
    lines.append("for k in range(x0.size):")
    lines += ["    " + _scalar(line) for line in body]
    lines.append("return total" + (", (" + ", ".join(f"g{i}" for i in range(INPUTS)) + ",)" if gradient else ""))
    inputs = ", ".join(f"x{i}" for i in range(INPUTS))
    header = ["import math\nimport numpy as np\n", f"def {name}({inputs}):"]
    return "\n".join([*header, *("    " + line for line in lines), ""])


def _scalar(line: str) -> str:
    """The same operation on a scalar, by the name that `math` has for it."""
    return line.replace("np.arctan", "math.atan").replace("np.", "math.")


def define(name: str, text: str) -> Callable[..., Any]:
    """The function that `text` defines. Numba's cache asks for a file; tracebacks do not."""
    file = f"<{name}>"
    if folder := os.environ.get("NUMBA_CACHE_DIR"):
        path = Path(folder) / f"{name}_{hashlib.sha256(text.encode()).hexdigest()[:12]}.py"
        if not path.exists():  # its time stamp is part of the key of Numba's cache
            path.write_text(text)
        file = str(path)
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, file, "exec"), scope)
    return scope[name]


def dag_problem(nodes: int, operations: Sequence[Operation] = OPERATIONS, gradient: bool = False) -> Problem:
    """Loops by hand only where one loop does it."""
    dag = random_dag(nodes, operations)
    return Problem(
        define("dag", array_source("dag", dag, gradient=False)),
        tuple(generator(nodes).uniform(-1.0, 1.0, size=(INPUTS, LENGTH))),
        argnums=tuple(range(INPUTS)) if gradient else (),
        by_hand=define("dag_by_hand", array_source("dag_by_hand", dag, gradient)) if gradient else None,
        loops=define("dag_loops", loop_source("dag_loops", dag, gradient)) if operations is OPERATIONS else None,
    )


def dag_workload(name: str, sizes: tuple[int, ...], largest: dict[str, int], **options: Any) -> Workload:
    return Workload(
        name,
        sizes,
        partial(dag_problem, **options),
        rtol=1e-9,
        compile_sizes=sizes[:2],
        tags=frozenset({"growth"}),
        largest=largest,
    )


WORKLOADS = (
    dag_workload("dag", (100, 500, 1000), {}),
    dag_workload("dag_grad", (100,), {}, gradient=True),
    dag_workload("mixed", (100,), {"pytensor": 300}, operations=MIXED),
    dag_workload("mixed_grad", (100,), {"pytensor": 100}, operations=MIXED, gradient=True),
)
