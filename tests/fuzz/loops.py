"""Programs of loops and branches in each other, against Python's: values, errors, other lengths, batches, gradients."""

from __future__ import annotations

import textwrap
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import numbagraph
from numbagraph import TraceError, grad, graph_jit, vmap
from numbagraph.ir.op import numpy_function, registry
from numbagraph.testing.arrays import LAYOUTS
from numbagraph.testing.op_calls import outcome
from tests.fuzz import plain_loops
from tests.fuzz.arguments import leaves, mapped, writeable
from tests.fuzz.gradients import derivative
from tests.fuzz.near import difference, perturbed
from tests.fuzz.runner import Difference, Report

__all__ = ["case", "names"]

REFUSALS = (TraceError, NotImplementedError)
DEPTH = 3
SCALAR, VECTOR, MATRIX, INTEGER = "scalar", "vector", "matrix", "integer"
FLOATS = (SCALAR, VECTOR, MATRIX)
ROUGH = ("spacing", "nextafter", "signbit", "rint", "floor", "ceil", "trunc", "fix", "sign")
"""What they make of a rounding error is another number."""
FORMS = {
    SCALAR: (
        "{scalar} * 0.5 + {scalar}", "np.sum(np.sin({vector}))", "{op}({scalar})", "{vector}[{integer} % 3]",
        "np.where({scalar} > {scalar}, {scalar}, {integer})", "np.sum({matrix} @ {vector}) * 0.1",
        "{sequence}[{integer} % 2]", "np.cos({scalar})", "{scalar} * {integer}", "constant + 0 * {scalar}",
    ),
    VECTOR: (
        "{vector} * {scalar} + {vector}", "{op}({vector})", "{vector}[::-1]", "np.tanh({matrix} @ {vector})",
        "np.cumsum({vector}) * 0.1", "np.sort({vector})", "np.where({vector} > {scalar}, {vector}, 0.5)",
        "np.sum({matrix}, axis=0) * 0.1", "{vector} * 0", "{matrix}[{integer} % 2]", "{vector} + {integer}",
        "{constant} * np.sum({vector}) + {vector}",
    ),
    MATRIX: (
        "np.outer({vector}, {vector}) * 0.1", "{matrix}.T", "{op}({matrix})", "np.tanh({matrix} @ {matrix})",
        "{matrix} * 0.5 + {vector}", "{matrix} - {scalar}", "{matrix}[::-1, :]",
    ),
    INTEGER: ("{integer} + 1", "({integer} * 5 + 3) % 7", "{integer} // 2", "2", "{integer} * {integer} % 11"),
}  # fmt: skip


def names() -> list[str]:
    """The ops that bodies call: functions of one real number."""
    found = []
    for op in registry:
        function = numpy_function(op)
        if isinstance(function, np.ufunc) and function.nin == 1 and "d->d" in function.types and op.name not in ROUGH:
            found.append(op.name)
    return sorted(found)


def called(op: str) -> str:
    """What programs call an op: names of some have dots."""
    return f"call_{op.replace('.', '_')}"


class Names(dict[str, list[str]]):
    """What is known in a scope, by kind; inner scopes know what the outer ones do."""

    def inner(self) -> Names:
        return Names({kind: list(known) for kind, known in self.items()})


class Draw:
    """Draws the source of a program."""

    def __init__(self, rng: np.random.Generator, ops: list[str]) -> None:
        self.rng = rng
        self.ops = ops
        self.used: list[str] = []
        self.count = 0

    def choose(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def op(self) -> str:
        self.used.append(self.choose(self.ops))
        return called(self.used[-1])

    def expression(self, kind: str, known: Names) -> str:
        text: str = self.choose(FORMS[kind])
        values = defaultdict(str, op="", constant="constant")
        for part in (*FLOATS, INTEGER, "sequence"):
            while f"{{{part}}}" in text:
                text = text.replace(f"{{{part}}}", self.choose(known[part]), 1)
        if "{op}" in text:
            text = text.replace("{op}", self.op(), 1)
        return f"rounded({text.format_map(values)})" if kind != INTEGER else text

    def block(self, known: Names, depth: int, most: int = 4) -> list[str]:
        lines = []
        for _ in range(int(self.rng.integers(1, most))):
            if depth and self.rng.random() < 0.45:
                kinds = (self.scan, self.scan, self.fori, self.repeat, self.branch, self.branch, self.map)
                lines += self.choose(kinds)(known, depth - 1)
            else:
                kind = self.choose((*FLOATS, INTEGER))
                target = self.name(kind[0])
                lines.append(f"{target} = {self.expression(kind, known)}")
                known[kind].append(target)
        return lines

    def function(self, parameters: str, head: list[str], known: Names, depth: int, results: list[str]) -> list[str]:
        """A function that returns values of some kinds; ``results`` is extended by its name."""
        name, own = self.name("f"), known
        body = [*head, *self.block(own, depth, 3)]
        kinds, results[:] = list(results), [name]
        values = []
        for kind in kinds:
            value = self.choose(own[kind]) if self.rng.random() < 0.6 else self.expression(kind, own)
            values.append(value)
        body.append(f"return {self.tuple(values)}")
        return [f"def {name}({parameters}):", *(f"    {line}" for line in body)]

    @staticmethod
    def tuple(items: list[str]) -> str:
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"

    def carries(self, known: Names) -> tuple[list[str], list[str], list[str]]:
        """Kinds of what is carried, where it starts, and its names inside."""
        kinds = [self.choose((*FLOATS, INTEGER)) for _ in range(int(self.rng.integers(1, 4)))]
        starts = [self.choose(known[kind]) for kind in kinds]
        starts = [f"{start} * 1.0" if kind == SCALAR else start for kind, start in zip(kinds, starts, strict=True)]
        return kinds, starts, [self.name(kind[0]) for kind in kinds]

    def scan(self, known: Names, depth: int) -> list[str]:
        kinds, starts, inside = self.carries(known)
        own = known.inner()
        rows = self.rng.random() < 0.7
        stacked = [self.choose((SCALAR, VECTOR)) for _ in range(int(self.rng.integers(3)))]
        head = [f"{self.tuple(inside)} = carry"]
        for kind, each in zip(kinds, inside, strict=True):
            own[kind].append(each)
        if rows:
            head.append("element, row = x")
            own[SCALAR].append("element")
            own[VECTOR].append("row")
        step = [*kinds, *stacked]
        lines = self.function("carry, x", head, own, depth, step)
        last = lines.pop()
        values = self.name("values")
        lines += [f"    {values} = {last.strip().removeprefix('return ')}"]
        lines += [f"    return {values}[:{len(kinds)}], {values}[{len(kinds)}:]"]
        after, ys = [self.name(kind[0]) for kind in kinds], self.name("ys")
        xs = f"({self.choose(known['sequence'])}, rows)" if rows else "None, steps"
        reverse = ", reverse=True" if self.rng.random() < 0.3 else ""
        lines.append(f"{self.tuple(after)}, {ys} = loops.scan({step[0]}, {self.tuple(starts)}, {xs}{reverse})")
        for kind, each in zip(kinds, after, strict=True):
            known[kind].append(each)
        for number, kind in enumerate(stacked):
            target = self.name(kind[0])
            lines.append(f"{target} = rounded(total({ys}, {number}, {self.choose(known[kind])}))")
            known[kind].append(target)
        return lines

    def fori(self, known: Names, depth: int) -> list[str]:
        kinds, starts, inside = self.carries(known)
        own, number = known.inner(), self.name("k")
        own[INTEGER].append(number)
        for kind, each in zip(kinds, inside, strict=True):
            own[kind].append(each)
        step = list(kinds)
        lines = self.function(f"{number}, carry", [f"{self.tuple(inside)} = carry"], own, depth, step)
        after = [self.name(kind[0]) for kind in kinds]
        upper = self.choose(("0", "1", "2", "3", "steps", f"{self.choose(known[INTEGER])} % 4"))
        lines.append(f"{self.tuple(after)} = loops.fori_loop(0, {upper}, {step[0]}, {self.tuple(starts)})")
        for kind, each in zip(kinds, after, strict=True):
            known[kind].append(each)
        return lines

    def repeat(self, known: Names, depth: int) -> list[str]:
        kinds, starts, inside = self.carries(known)
        own, number = known.inner(), self.name("k")
        own[INTEGER].append(number)
        for kind, each in zip(kinds, inside, strict=True):
            own[kind].append(each)
        test, step = self.name("test"), list(kinds)
        names = [number, *inside]
        lines = self.function("carry", [f"{self.tuple(names)} = carry"], own, depth, step)
        lines[-1] = f"    return ({number} + 1, *{lines[-1].strip().removeprefix('return ')})"
        condition = f"{number} < 4"
        if SCALAR in kinds and self.rng.random() < 0.5:
            condition = f"({condition}) & (rounded({inside[kinds.index(SCALAR)]}) < 0.7)"
        lines += [f"def {test}(carry):", f"    {self.tuple(names)} = carry", f"    return {condition}"]
        after = [self.name("k"), *(self.name(kind[0]) for kind in kinds)]
        first = self.choose(("0", "2", "4", "steps"))
        lines.append(f"{self.tuple(after)} = loops.while_loop({test}, {step[0]}, {self.tuple([first, *starts])})")
        for kind, each in zip([INTEGER, *kinds], after, strict=True):
            known[kind].append(each)
        return lines

    def branch(self, known: Names, depth: int) -> list[str]:
        kinds = [self.choose((*FLOATS, INTEGER)) for _ in range(int(self.rng.integers(1, 4)))]
        lines, functions = [], []
        for _ in range(2 if self.rng.random() < 0.6 else 3):
            results = list(kinds)
            lines += self.function("", [], known.inner(), depth, results)
            functions += results
        after = [self.name(kind[0]) for kind in kinds]
        if len(functions) == 2:
            test = f"rounded({self.choose(known[SCALAR])}) > {self.choose(known[SCALAR])}"
            test = test if self.rng.random() < 0.5 else f"{self.choose(known[INTEGER])} % 2 == 0"
            call = f"loops.cond({test}, {', '.join(functions)})"
        else:
            call = f"loops.switch({self.choose(known[INTEGER])} - 1, [{', '.join(functions)}])"
        lines.append(f"{self.tuple(after)} = {call}")
        for kind, each in zip(kinds, after, strict=True):
            known[kind].append(each)
        return lines

    def map(self, known: Names, depth: int) -> list[str]:
        kind = self.choose((SCALAR, VECTOR))
        own, results = known.inner(), [kind]
        own[SCALAR].append("element")
        lines = self.function("element", [], own, depth, results)
        target = self.name(kind[0])
        call = f"loops.map({results[0]}, {self.choose(known['sequence'])})"
        lines.append(f"{target} = rounded(total({call}, 0, {self.choose(known[kind])}))")
        known[kind].append(target)
        return lines


class Program:
    """A function of a scalar, a vector, a matrix, a sequence, rows and a number of steps; and arguments for it."""

    parameters = ("s", "v", "m", "sequence", "rows", "steps")

    def __init__(self, rng: np.random.Generator, ops: list[str]) -> None:
        drawn = Draw(rng, ops)
        known = Names(scalar=["s"], vector=["v"], matrix=["m"], integer=["steps"], sequence=["sequence"])
        lines = drawn.block(known, DEPTH, 6)
        made = [each for kind in (*FLOATS, INTEGER) for each in known[kind][1:]]
        lines.append(f"return {Draw.tuple(made)}")
        self.ops = drawn.used
        self.source = f"def program({', '.join(self.parameters)}):\n" + textwrap.indent("\n".join(lines), "    ")
        self.dtype = np.dtype(rng.choice(["float64", "float64", "float32"]))
        self.constant = self.dtype.type(0.5)
        self.arguments = self.of_lengths(rng, int(rng.choice([2, 3, 4])), int(rng.choice([0, 1, 2, 4])))

    def of_lengths(self, rng: np.random.Generator, width: int, steps: int) -> list[Any]:
        shapes = ((), (width,), (width, width), (steps,), (steps, width))
        return [rng.uniform(-1, 1, shape).astype(self.dtype)[()] for shape in shapes] + [steps]

    def function(self, loops: Any, rounded: Callable[[Any], Any] = lambda value: value) -> Any:
        """The function; ``rounded`` is called with what each statement computes, and gives what is used of it."""
        space = {"np": np, "loops": loops, "rounded": rounded, "constant": self.constant, "total": total}
        space |= {called(name): numpy_function(registry[name]) for name in self.ops}
        exec(compile(self.source, "<program>", "exec"), space)
        return space["program"]

    def __str__(self) -> str:
        return "\n".join(f"{name} = {each!r}" for name, each in zip(self.parameters, self.arguments, strict=True)) + (
            f"\n{self.source}"
        )


def total(stacked: Any, number: int, like: Any) -> Any:
    """The sum of what a loop has stacked; Python's gives nothing where it took no step."""
    if stacked is None:
        return like * 0
    return np.sum(stacked[number], axis=0) + like * 0


def case(rng: np.random.Generator, report: Report) -> None:
    """One program, called with several arguments, in a batch, and differentiated."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        check(Program(rng, names()), rng, report)


def check(program: Program, rng: np.random.Generator, report: Report) -> None:
    run = graph_jit(program.function(numbagraph), cache=False)
    first = outcome(run, writeable(program.arguments))
    if isinstance(first, REFUSALS):
        report.refused[str(first).partition("\n")[0][:80]] += 1
        return
    lengths = [(3, 2), (2, 0), (1, 1), (0, 3)]
    others = [program.of_lengths(rng, *lengths[int(rng.integers(4))]) for _ in range(2)]
    layout = LAYOUTS[str(rng.choice(["Fortran order", "strided", "rows apart", "negative strides", "unaligned"]))]
    for given in (program.arguments, mapped(layout, program.arguments), *others):
        compare(program, outcome(run, given), given, "a call")
    backend = graph_jit(program.function(numbagraph), backend="numpy")
    compare(program, outcome(backend, program.arguments), program.arguments, "NumPy's backend")
    check_batch(program, rng)
    check_gradient(program, rng)
    report.covered.update(program.ops)


def compare(program: Program, found: Any, given: list[Any], what: str) -> None:
    expected = outcome(program.function(plain_loops), given)
    if isinstance(expected, Exception):
        return  # what is not used is not computed
    generators = map(np.random.default_rng, range(3))
    runs = [outcome(program.function(plain_loops, partial(perturbed, rng=each)), given) for each in generators]
    if any(isinstance(each, Exception) for each in runs):
        return
    if isinstance(found, Exception):
        raise Difference(f"{what}: {found!r}\n{given}\n{program}")
    for number, (wanted, each) in enumerate(zip(leaves(expected), leaves(found), strict=True)):
        differs = difference(each, wanted, [leaves(run)[number] for run in runs])
        if differs is not None:
            raise Difference(f"{what}: result {number}: {differs}\n{given}\n{program}")


def check_batch(program: Program, rng: np.random.Generator) -> None:
    """Some arguments differ from one element to the next."""
    axes = tuple(0 if rng.random() < 0.5 else None for _ in program.arguments[:-1])
    if all(axis is None for axis in axes):
        return
    batch = [
        each if axis is None else np.stack([each, each * 0.5, each * -1])
        for each, axis in zip(program.arguments, (*axes, None), strict=True)
    ]
    found = outcome(graph_jit(vmap(program.function(numbagraph), in_axes=(*axes, None)), cache=False), batch)
    if isinstance(found, REFUSALS):
        return
    for element in range(3):
        given = [each if axis is None else each[element] for each, axis in zip(batch, (*axes, None), strict=True)]
        if isinstance(found, Exception) and element == 0 and any_fails(program, batch, axes):
            return
        own = found if isinstance(found, Exception) else tuple(each[element] for each in leaves(found))
        compare(program, own, given, f"a batch along {axes}")


def any_fails(program: Program, batch: list[Any], axes: tuple[int | None, ...]) -> bool:
    """Whether Python's program fails for any element of a batch."""
    elements = (
        [each if axis is None else each[number] for each, axis in zip(batch, (*axes, None), strict=True)]
        for number in range(3)
    )
    return any(isinstance(outcome(program.function(plain_loops), each), Exception) for each in elements)


def check_gradient(program: Program, rng: np.random.Generator) -> None:
    """Not of loops without steps: what their bodies compute before the first one has derivatives, which may be NaN."""
    if program.dtype != np.float64 or not program.arguments[-1]:
        return

    def loss(loops: Any) -> Any:
        function = program.function(loops)

        return lambda *args: sum(np.sum(np.sin(each * 1.0)) for each in leaves(function(*args)))

    point, directions = program.arguments, [rng.uniform(-1, 1, np.shape(each)) for each in program.arguments[:-1]]
    numbers = tuple(range(len(directions)))
    found = outcome(graph_jit(grad(loss(numbagraph), argnums=numbers), cache=False), point)
    if isinstance(found, REFUSALS):
        return

    def along(t: float) -> Any:
        moved = [each + t * d for each, d in zip(point, directions, strict=False)]
        return np.asarray(outcome(loss(plain_loops), [*moved, point[-1]]), float)

    if isinstance(outcome(loss(plain_loops), point), Exception):
        return
    if isinstance(found, Exception):
        raise Difference(f"the gradient: {found!r}\n{program}")
    slope = sum(np.sum(a * b) for a, b in zip(found, directions, strict=True))
    if np.isnan(slope) and not all_finite(program, point):
        return
    expected, error = derivative(along)
    if error < 1e-4 * (1 + abs(expected)) and not abs(slope - expected) <= 1e-5 * (1 + abs(expected)) + 10 * error:
        raise Difference(f"the gradient: {expected} expected, found {slope}\n{program}")


def all_finite(program: Program, given: list[Any]) -> bool:
    """Whether all that Python's program computes is finite. What is not, and is thrown away or overwritten, may make
    derivatives NaN: its own are infinite or NaN, and are multiplied by 0."""
    found: list[Any] = []

    def noted(value: Any) -> Any:
        found.append(value)
        return value

    outcome(program.function(plain_loops, noted), given)
    return all(np.all(np.isfinite(each)) for each in found)
