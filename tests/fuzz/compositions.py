"""Derivatives that are taken inside of other code, at points that are computed there, against JAX and differences."""

from __future__ import annotations

import contextlib
import linecache
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import optree

import numbagraph
from numbagraph import TraceError, graph_jit
from numbagraph.loops.schedule import LengthNotKnown
from numbagraph.testing.op_calls import outcome
from numbagraph.tracing.errors import EscapedError
from tests.fuzz import composition_ops
from tests.fuzz.composition_parts import FUNCTIONS, PLACES, POINTS, TRANSFORMATIONS
from tests.fuzz.composition_source import Draw, Program, smaller
from tests.fuzz.runner import Difference, OutOfTime, Report, limited
from tests.fuzz.stand_ins import (
    DIFFERENCES,
    SHORT_DIFFERENCES,
    Inexpressible,
    Names,
    agree,
    difference_names,
    finite,
    jax_names,
    ours,
)

__all__ = ["case", "names"]

REFUSALS = (TraceError, NotImplementedError, LengthNotKnown)
"""No program keeps what is traced, so that `EscapedError` is a difference."""
LENGTHS = ("which JAX must know", "whether a computed length is 1")
"""Of errors that refuse a program, beside those."""
BACKENDS = (*("numpy",) * 14, *("numba",) * 3, "jax", "to_jax", "eager")
"""Derivatives are the same graphs for each, and most of the time would be that of LLVM and XLA."""
COSTLY = 4000
"""Values from which on differences take too long."""
LARGEST = 1e4
"""Of a result beyond it, rounding leaves little."""
WITHOUT_JAX = (*("intersect1d", "setdiff1d", "setxor1d", "union1d"), *("unique", "unique_all", "unique_counts"))
"""Ops of which JAX 0.10 takes zero for the derivative."""
PATIENCE = 10.0
"""Seconds that JAX may take."""
CLOSE, NEAR, SAME = 1e-9, 1e-7, 1e-6
"""Bounds for JAX's numbers, for those where rounding is seen to count, and for differences."""
ROUGHLY = 1e-3
"""A bound for differences by short steps, where a kink is looked for."""
MOST_TRIALS = 30

Arguments = tuple[Any, ...]
Reference = tuple[Any, float]
"""A result, and how near another one must come."""


def names() -> list[str]:
    """The ops of points and of what is differentiated, and the kinds of everything else."""
    tables = {"place": PLACES, "of": FUNCTIONS, "point": POINTS, "by": TRANSFORMATIONS}
    kinds = [f"{table}: {name}" for table, entries in tables.items() for name in entries]
    return [*kinds, *(name for name in composition_ops.names() if composition_ops.uses(name))]


def case(rng: np.random.Generator, report: Report) -> None:
    """One program, called twice."""
    program = Draw(rng, composition_ops.names()).program()
    calls = arguments_of(rng)
    backend = str(rng.choice(BACKENDS))
    difference = compared(program, calls, backend, report)
    if difference is None:
        return
    for _ in range(MOST_TRIALS):
        found = next(((each, text) for each, text in differing(program, calls, backend) if text), None)
        if found is None:
            break
        program, difference = found
    raise Difference(f"{difference}\n{standalone(program, calls, backend)}")


def differing(program: Program, calls: list[Arguments], backend: str) -> Iterator[tuple[Program, str | None]]:
    for each in smaller(program):
        yield each, compared(each, calls, backend, Report(0))


def arguments_of(rng: np.random.Generator) -> list[Arguments]:
    """A vector, weights, a matrix with an inverse, and a number of steps, for each call."""
    lengths = rng.permutation([2, 2, 3])[:2] if rng.random() < 0.3 else (2, 2)
    return [
        (
            rng.uniform(-1, 1, m),
            rng.uniform(0.3, 0.9, m),
            2.0 * np.eye(m) + rng.uniform(0.0, 0.5, (m, m)),
            int(rng.integers(0, 4)),
        )
        for m in lengths
    ]


def function_of(source: str, known: Names) -> Callable[..., Any]:
    name = f"<program {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    known = dict(known)
    exec(compile(source, name, "exec"), known)
    return known["program"]


def compared(program: Program, calls: list[Arguments], backend: str, report: Report) -> str | None:
    """How a program's results differ from all that the references agree on, if they do."""
    run = under_test(function_of(program.source, ours()), backend)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for given in calls:
            references = list(references_of(program, given, report))
            if not references or not finite([each for each, _ in references], LARGEST):
                report.refused["no reference, or none that is finite"] += not references
                continue
            if any(not agree(each, references[0][0], SAME) for each, _ in references):
                report.refused["the references differ: no smooth point"] += 1
                continue
            found = outcome(run, list(given))
            if is_refusal(found) or (isinstance(found, Exception) and any(map(is_refused, program.ops))):
                report.refused[str(found).partition("\n")[0][:80]] += 1
                return None
            if isinstance(found, Exception):
                return f"{given}: {references[0][0]} expected, found {found!r}"
            expected, bound = references[0]
            if not agree(found, expected, bound) and not is_rounding(program, given, found, expected):
                reason = excuse(program, given, found)
                if reason is None:
                    return f"{given}: {expected} expected, found {found}"
                report.refused[reason] += 1
                continue
            report.covered.update(program.kinds)
    return None


def is_refusal(found: Any) -> bool:
    """Of programs for JAX, too, where lengths follow from numbers; and of `squeeze` where lengths are computed, which
    `docs/limits.md` has."""
    if isinstance(found, TypeError) and any(each in str(found) for each in LENGTHS):
        return True
    return isinstance(found, REFUSALS) and not isinstance(found, EscapedError)


def is_refused(use: composition_ops.Use) -> bool:
    """Whether numbagraph refuses the call of an op by itself, as it does some that NumPy lets pass; or has complex
    numbers where NumPy's dtype follows from the numbers."""
    plain = function_of(f"def program(x, w, a, n):\n    return {use.of('x')}\n", ours())
    given = arguments_of(np.random.default_rng(0))[0]
    found = outcome(graph_jit(plain, backend="numpy", cache=False), list(given))
    return isinstance(found, Exception) or np.iscomplexobj(found)


def under_test(plain: Callable[..., Any], backend: str) -> Callable[..., Any]:
    """The program as numbagraph runs it: the plain one takes derivatives at numbers, each by itself."""
    if backend == "eager":
        return plain
    if backend == "to_jax":
        return partial(exported, plain)
    return graph_jit(plain, backend=backend, cache=False)  # type: ignore[arg-type]


def exported(plain: Callable[..., Any], x: Any, w: Any, a: Any, n: int) -> Any:
    import jax

    from numbagraph.jax_bridge.translate import x64

    with x64():
        return np.asarray(jax.jit(numbagraph.to_jax(plain))(x, w, a, n))


def references_of(program: Program, given: Arguments, report: Report) -> Iterator[Reference]:
    """JAX's result, and that by differences, where they exist."""
    with contextlib.suppress(Exception, OutOfTime):
        if any(each.name in WITHOUT_JAX for each in program.ops):
            raise Inexpressible
        found = by_jax(program, *given)
        report.covered["JAX"] += 1
        yield found, CLOSE
    if program.cost <= COSTLY:
        values = [outcome(function_of(program.source, difference_names(*each)), list(given)) for each in DIFFERENCES]
        if not any(isinstance(each, Exception) for each in values) and agree(*values, SAME):
            report.covered["differences"] += 1
            yield values[0], SAME


def by_jax(program: Program, x: Any, w: Any, a: Any, n: int) -> np.ndarray:
    import jax

    from numbagraph.jax_bridge.translate import x64

    with x64(), limited(PATIENCE):
        arrays = map(jax.numpy.asarray, (x, w, a))
        return np.asarray(function_of(program.source, jax_names())(*arrays, n))


def is_rounding(program: Program, given: Arguments, found: Any, expected: Any) -> bool:
    """Whether a result is as near as one of JAX's from arguments with rounding errors."""
    moved = outcome(partial(by_jax, program), (given[0] * (1 + 1e-12), *given[1:]))
    if isinstance(moved, Exception):
        return False
    deviation = float(np.abs(np.asarray(moved) - expected).max(initial=0.0))
    return agree(found, expected, min(NEAR + 1e3 * deviation, SAME))


def excuse(program: Program, given: Arguments, found: Any) -> str | None:
    """Why JAX's number is no reference, by differences from both sides and from one.

    They differ at a kink, such as that of `abs` at 0, where each library takes a derivative of its own; or they come to
    what was found, as where JAX makes a matrix symmetric of which NumPy reads the lower half. Programs that cost too
    much have no excuse.
    """
    if program.cost > COSTLY:
        return None
    values = [outcome(function_of(program.source, difference_names(*each)), list(given)) for each in SHORT_DIFFERENCES]
    if any(isinstance(each, Exception) for each in values):
        return None
    if not agree(*values, ROUGHLY):
        return "no smooth point"
    return "JAX differs from NumPy" if agree(found, values[0], ROUGHLY) else None


def standalone(program: Program, calls: list[Arguments], backend: str) -> str:
    """A program that runs by itself."""
    lines = ["import numpy as np", "import numbagraph as ng"]
    source = program.source
    if "special." in source:
        lines.insert(1, "from scipy import special")
    if "CONSTANT" in source:
        lines.append("CONSTANT = np.array([0.5, -0.3, 0.8, 0.1])")
    if "host(" in source:
        lines.append("host = lambda x: ng.pure_callback(np.sin, x, x, vjp=lambda g, y, x: (g * np.cos(x),))")
    made = "program" if backend == "eager" else f"ng.graph_jit(program, backend={backend!r})"
    if backend == "to_jax":
        made = "jax.jit(ng.to_jax(program))"
        lines[1:1] = ["import jax", 'jax.config.update("jax_enable_x64", True)']
    lines += [source, f"run = {made}"]
    for given in calls:
        shown = optree.tree_map(
            lambda each: f"np.array({each.tolist()})" if isinstance(each, np.ndarray) else each, given
        )
        lines.append(f"print(run({', '.join(map(str, shown))}))")
    return "\n".join(lines)
