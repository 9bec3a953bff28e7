"""Programs that assign to attributes, globals and elements against Python: results, errors, and the state of all that
they write, in calls one after the other, between which it changes.

All numbers are small integers, those in floats too, so that results are equal and not only near."""

from __future__ import annotations

import copy
import linecache
import traceback
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from numbagraph import ShapeError, TraceError, grad, graph_jit, vmap
from numbagraph.errors import SideEffectError
from numbagraph.jit.options import Backend
from numbagraph.loops.schedule import LengthNotKnown
from numbagraph.testing.op_calls import outcome
from tests.fuzz.captured import arguments_of
from tests.fuzz.captured import same as same_values
from tests.fuzz.python_source import Block, without_one
from tests.fuzz.runner import Difference, Report
from tests.fuzz.storage_source import CHANGES, STATE, Draw, source_of

__all__ = ["case", "names"]

REFUSALS = (TraceError, NotImplementedError, OverflowError, LengthNotKnown, SideEffectError)
ERRORS = (IndexError, ValueError, ZeroDivisionError, TypeError, AttributeError, KeyError)
"""Which of several errors comes first is not compared: lengths are checked before elements."""
CALLS = 4
MOST_TRIALS = 60
KINDS = ("calls", "calls", "calls", "grad", "vmap")
STEPS = (1e-5, 3e-6)
"""Of differences."""
BACKENDS: tuple[Backend, ...] = ("numpy", "numpy", "numba")


def names() -> list[str]:
    return ["compared", "refused", "grad", "vmap"]


def case(rng: np.random.Generator, report: Report) -> None:
    """One program, called several times."""
    block = Draw(rng).program()
    steps, point = steps_of(rng), point_of(rng)
    backend = BACKENDS[rng.integers(len(BACKENDS))]
    kind = KINDS[rng.integers(len(KINDS))]

    def compare(block: Block, report: Report) -> str | None:
        if kind == "calls":
            return compared(block, steps, backend, report)
        return transformed(block, kind, point, backend, report)

    difference = compare(block, report)
    if difference is None:
        return
    for _ in range(MOST_TRIALS):
        found = ((each, compare(each, Report(0))) for each in without_one(block))
        smaller = next(((each, text) for each, text in found if text is not None), None)
        if smaller is None:
            break
        block, difference = smaller
    source = source_of(block)
    raise Difference(f"backend {backend}: {difference}\n{source[source.index('def program') :]}")


def steps_of(rng: np.random.Generator) -> list[Any]:
    """Arguments of calls, each twice, and changes between them."""
    found: list[Any] = []
    for _ in range(CALLS):
        given = arguments_of(rng)
        found += [given, given] if rng.random() < 0.5 else [given]
        if rng.random() < 0.5:
            found.append(CHANGES[rng.integers(len(CHANGES))])
    return found


def point_of(rng: np.random.Generator) -> tuple[Any, ...]:
    """Arguments with numbers at which no condition changes."""
    given = arguments_of(rng)
    return tuple(
        each + rng.uniform(0.1, 0.4, np.shape(each)) if np.asarray(each).dtype.kind == "f" else each for each in given
    )


def compared(block: Block, steps: list[Any], backend: Backend, report: Report) -> str | None:
    """How a compiled program differs from Python's, if it does."""
    source = source_of(block)
    try:
        plain, own = (
            world_of(source, lambda f: f),
            world_of(source, lambda f: graph_jit(f, cache=False, backend=backend)),
        )
    except SyntaxError:
        return None
    compiled = graph_jit(own["program"], backend=backend, cache=False)
    for number, step in enumerate(steps):
        if isinstance(step, str):
            exec(step, plain)
            exec(step, own)
            continue
        difference = called(plain, own, compiled, step, report)
        if difference is not None:
            return None if difference == "refused" else f"step {number} of {steps}: {difference}"
    report.covered["compared"] += 1
    return None


def world_of(source: str, jit: Callable[..., Any]) -> dict[str, Any]:
    name = f"<program {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names: dict[str, Any] = {"np": np, "jit": jit, "__name__": "world"}
    exec(compile(source, name, "exec"), names)
    return names


def transformed(block: Block, kind: str, given: tuple[Any, ...], backend: Backend, report: Report) -> str | None:
    """How the derivative or the batch of a program differs from differences of Python's, or from its calls."""
    source = source_of(block)
    try:
        plain, own = (world_of(source, lambda f: f) for _ in range(2))
    except SyntaxError:
        return None
    *others, s = given

    def number(world: dict[str, Any], s: Any) -> Any:
        first, second, third = world["program"](*others, s)
        return first + np.sum(second) + third

    def python(s: float) -> Any:
        kept = copied(plain)
        found = outcome(number, [plain, s])
        plain.update(kept)
        return found

    if kind == "grad":
        function, argument = grad(lambda s: number(own, s) * 1.0), s
        wanted = [difference_of(python, s, step) for step in STEPS]
    else:
        function, argument = vmap(lambda s: number(own, s) * 1.0), s + np.arange(3.0)
        wanted = [[python(each) for each in argument]] * 2
    found = outcome(graph_jit(function, backend=backend, cache=False), [argument])
    if isinstance(found, (*REFUSALS, ShapeError)):
        report.refused[str(found).partition("\n")[0][:100]] += 1
        report.covered[f"{kind} refused"] += 1
        return None
    if isinstance(found, NameError) or any(isinstance(each, Exception) for each in np.ravel(np.array(wanted, object))):
        return None
    report.covered[kind] += 1
    if isinstance(found, Exception):
        return f"{kind}: {wanted[0]!r} expected, found {''.join(traceback.format_exception(found)[-8:])}"
    if not np.allclose(wanted[0], wanted[1], 1e-3, 1e-3):
        return None  # a condition changes there
    return None if np.allclose(found, wanted[0], 1e-4, 1e-4) else f"{kind}: {wanted[0]!r} expected, found {found!r}"


def difference_of(function: Callable[[float], Any], s: float, step: float) -> Any:
    above, below = function(s + step), function(s - step)
    return next((each for each in (above, below) if isinstance(each, Exception)), None) or (above - below) / (2 * step)


def called(plain: dict[str, Any], own: dict[str, Any], function: Any, given: Any, report: Report) -> str | None:
    before, kept = state_of(plain), copied(plain)
    changed, passed = copy.deepcopy(given), copy.deepcopy(given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = outcome(plain["program"], list(changed))
        found = outcome(function, list(passed))
    if isinstance(expected, NameError) or isinstance(found, NameError):
        return "refused"
    if isinstance(found, REFUSALS) or (isinstance(found, ShapeError) and "must leave it as it is" in str(found)):
        report.refused[str(found).partition("\n")[0][:100]] += 1
        report.covered["refused"] += 1
        after = state_of(own)
        return "refused" if same(after, before) else f"refused, but the state is {after}, not {before}"
    if isinstance(expected, IndexError) and not isinstance(found, Exception):
        return "refused"  # of an element that nobody uses
    if isinstance(expected, Exception):
        if not isinstance(found, ERRORS):
            return f"{expected!r} expected, found {found!r}"
        plain.update(kept)
        after = state_of(own)
        return None if same(after, before) else f"failed, but the state is {after}, not {before}"
    if isinstance(found, Exception):
        return f"{expected!r} expected, found {''.join(traceback.format_exception(found)[-8:])}"
    if not same(found, expected):
        return f"{expected!r} expected, found {found!r}"
    after, wanted = state_of(own), state_of(plain)
    if not same(after, wanted):
        return f"state {wanted} expected, found {after}"
    return None if same_values(passed, changed) else f"arguments {changed!r} expected, found {passed!r}"


def copied(world: dict[str, Any]) -> dict[str, Any]:
    """A copy of the state."""
    memo: dict[int, Any] = {}
    found = {name: copy.deepcopy(world[name], memo) for name in STATE if name != "kept"}
    cell = world["kept"].__closure__[0]
    value = cell.cell_contents
    kept = FunctionType(world["kept"].__code__, world, "kept", None, (type(cell)(value),))
    return {**found, "kept": kept}


def state_of(world: dict[str, Any]) -> Any:
    """The state as tuples and arrays; what has been met before is a number."""
    met: dict[int, int] = {}

    def walk(thing: Any) -> Any:
        if isinstance(thing, (bool, int, float, np.generic, str, type(None))):
            return thing
        if isinstance(thing, FunctionType):
            return tuple(walk(each.cell_contents) for each in thing.__closure__ or ())
        if isinstance(thing, np.ndarray):
            return thing.copy()  # one that is stored is a copy, which may be one array or two
        if id(thing) in met:
            return f"<{met[id(thing)]}>"
        met[id(thing)] = len(met)
        if isinstance(thing, dict):
            return ("dict", *((key, walk(each)) for key, each in thing.items()))
        if isinstance(thing, (list, tuple)):
            return (type(thing).__name__, *map(walk, thing))
        if hasattr(thing, "__slots__"):
            return (type(thing).__name__, *((name, walk(getattr(thing, name))) for name in thing.__slots__))
        return (type(thing).__name__, *((name, walk(each)) for name, each in vars(thing).items()))

    return tuple((name, walk(world[name])) for name in STATE)


def same(found: Any, expected: Any) -> bool:
    if isinstance(expected, (str, type(None))) or isinstance(found, (str, type(None))):
        return type(found) is type(expected) and found == expected
    if isinstance(expected, (tuple, list)) or isinstance(found, (tuple, list)):
        return type(found) is type(expected) and len(found) == len(expected) and all(map(same, found, expected))
    return np.shape(found) == np.shape(expected) and same_values(found, expected)
