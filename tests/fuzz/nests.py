"""Derivatives of nests of loops that fill tables against differences of Python's values, in calls of other lengths."""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from numbagraph import TraceError, grad, graph_jit, jvp, value_and_grad
from numbagraph.loops.schedule import LengthNotKnown
from numbagraph.testing.op_calls import outcome
from numbagraph.tracing.errors import EscapedError
from tests.fuzz.gradients import derivative
from tests.fuzz.nest_source import Draw, source_of
from tests.fuzz.python_source import Block, without_one
from tests.fuzz.runner import Difference, Report

__all__ = ["case", "names"]

REFUSALS = (TraceError, NotImplementedError, LengthNotKnown)
"""No program keeps what is traced, so that `EscapedError` is a difference."""
FLOATS = (0, 1, 2, 3)
"""The arguments of which derivatives are taken."""
LENGTHS = (1, 2, 3, 4)
BACKENDS = ("numpy",) * 5 + ("numba",)
"""Derivatives are the same graphs for each, and most of the time would be that of LLVM. What is stored of loops that
end by a condition is decided for native code alone."""
MORE = ("", "", "forward", "second")
"""What else is compared of a program, beside values and gradients."""
CAPTURED = np.array([0.3, -0.4, 0.8, 0.2])
MOST_TRIALS = 25

Function = Callable[..., Any]


def names() -> list[str]:
    """There is no op that these programs are about."""
    return []


def case(rng: np.random.Generator, report: Report) -> None:
    """One program, called several times."""
    block = Draw(rng).program()
    calls = arguments_of(rng)
    source = source_of(block)
    backends = BACKENDS[-2:] if "while" in source or "break" in source else BACKENDS
    backend, more = (str(rng.choice(among)) for among in (backends, MORE))
    difference = compared(block, calls, backend, more, report)
    if difference is None:
        return
    for _ in range(MOST_TRIALS):
        smaller = next(((each, found) for each, found in differing(block, calls, backend, more) if found), None)
        if smaller is None:
            break
        block, difference = smaller
    raise Difference(f"backend {backend}: {difference}\n{source_of(block)}")


def differing(block: Block, calls: Any, backend: str, more: str) -> Iterator[tuple[Block, str | None]]:
    for each in without_one(block):
        yield each, compared(each, calls, backend, more, Report(0))


def arguments_of(rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Two vectors, a matrix, a number, and positions, for some calls: equal lengths first, or others."""
    pick = lambda: int(rng.choice(LENGTHS))  # noqa: E731
    n = pick()
    equal, other = [(n, n, n, n), (pick(),) * 4], [(pick(), pick(), pick(), pick()) for _ in range(2)]
    lengths = [*equal, *other, (3, 3, 2, 4)] if rng.random() < 0.7 else [*other, *equal]
    return [
        (
            rng.uniform(-1, 1, n),
            rng.uniform(-1, 1, p),
            rng.uniform(-1, 1, (r, c)),
            float(rng.uniform(-1, 1)),
            rng.integers(0, 4, n),
        )
        for n, p, r, c in lengths
    ]


def weights(table: Any) -> Any:
    """No element's weight is that of another one."""
    return np.reshape(1.0 + 0.4 * np.cos(np.arange(table.size)), table.shape)


def function_of(source: str) -> Function:
    name = f"<program {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    known: dict[str, Any] = {"np": np, "weights": weights, "CAPTURED": CAPTURED}
    exec(compile(source, name, "exec"), known)
    return known["program"]


def compared(block: Block, calls: Any, backend: str, more: str, report: Report) -> str | None:
    """How the derivatives of a program differ from those of Python's values, if they do."""
    plain = function_of(source_of(block))
    first = graph_jit(value_and_grad(plain, argnums=FLOATS), backend=backend, cache=False)
    forward = graph_jit(along_direction(plain), backend=backend, cache=False)
    again = graph_jit(twice(plain), backend=backend, cache=False)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for number, given in enumerate(calls):
            directions = [np.cos(1.0 + np.arange(np.size(each)).reshape(np.shape(each))) for each in given[:4]]
            expected, found = outcome(plain, list(given)), outcome(first, list(given))
            if isinstance(expected, NameError):  # a smaller program that has lost a name
                return None
            if isinstance(found, REFUSALS) and not isinstance(found, EscapedError):
                report.refused[str(found).partition("\n")[0][:80]] += 1
                return None
            if isinstance(expected, Exception):
                if not isinstance(found, (IndexError, ValueError, ZeroDivisionError)) and is_read(expected):
                    return f"call {number}, {given}: {expected!r} expected, found {found!r}"
                continue
            if isinstance(found, Exception):
                return f"call {number}, {given}: {expected!r} expected, found {found!r}"
            difference = first_order(plain, given, expected, found)
            if difference is None and more == "forward":
                slope = sum(np.sum(one * other) for one, other in zip(found[1], directions, strict=True))
                difference = near("forward mode", outcome(forward, [*given, *directions]), slope, 0.0)
            if difference is None and more == "second":
                difference = second_order(plain, first, again, given, directions)
            if difference is not None:
                return f"call {number}, {given}: {difference}"
    return None


def is_read(error: Exception) -> bool:
    """Elements beyond the end, and remainders by zero, are no errors of compiled code where nobody uses them."""
    return not isinstance(error, (IndexError, ZeroDivisionError))


def along_direction(plain: Function) -> Function:
    def forward(x: Any, y: Any, m: Any, s: Any, k: Any, *directions: Any) -> Any:
        return jvp(lambda *floats: plain(*floats, k), (x, y, m, s), directions)[1]

    return forward


def twice(plain: Function) -> Function:
    """The gradient of the slope along a direction, which the gradient is."""

    def slope(x: Any, y: Any, m: Any, s: Any, k: Any, *directions: Any) -> Any:
        found = grad(plain, argnums=FLOATS)(x, y, m, s, k)
        return sum(np.sum(one * other) for one, other in zip(found, directions, strict=True))

    return grad(slope, argnums=FLOATS)


def units(given: Any) -> Iterator[tuple[int, tuple[int, ...], list[Any]]]:
    """Each element of the arguments, and where it is."""
    for number in FLOATS:
        for place in np.ndindex(np.shape(given[number])):
            directions = [np.zeros(np.shape(each)) for each in given[:4]]
            directions[number][place] = 1.0
            yield number, place, directions


def moved(given: Any, directions: Any, t: float) -> list[Any]:
    floats = [each + t * direction for each, direction in zip(given[:4], directions, strict=True)]
    return [*floats[:3], float(floats[3]), given[4]]


def value_at(plain: Function, given: Any, directions: Any, t: float) -> Any:
    """NaN on a path that reads beyond an end."""
    found = outcome(plain, moved(given, directions, t))
    return np.nan if isinstance(found, Exception) else found


def first_order(plain: Function, given: Any, expected: Any, found: Any) -> str | None:
    value, slopes = found
    if difference := near("the value", value, expected, 0.0):
        return difference
    for number, place, directions in units(given):
        slope, error = derivative(lambda t, d=directions: value_at(plain, given, d, t))
        if difference := near(f"slope {number}{place}", np.asarray(slopes[number])[place], slope, error):
            return difference
    return None


def second_order(plain: Function, first: Function, again: Function, given: Any, directions: Any) -> str | None:
    found = outcome(again, [*given, *directions])
    if isinstance(found, REFUSALS) and not isinstance(found, EscapedError):
        return None
    if isinstance(found, Exception):
        return f"second derivatives: {found!r}"
    slopes = lambda t: np.concatenate([np.ravel(each) for each in first(*moved(given, directions, t))[1]])  # noqa: E731
    expected, error = derivative(slopes)
    if not derivative(lambda t: value_at(plain, given, directions, t))[1] < 1e-4:
        return None
    flat = np.concatenate([np.ravel(each) for each in found])
    for number, each in enumerate(flat):
        if difference := near(f"second derivative {number}", each, expected[number], error[number]):
            return difference
    return None


def near(what: str, found: Any, expected: Any, error: Any) -> str | None:
    """Where differences from both sides agree: what is computed is smooth there."""
    if isinstance(found, Exception):
        return f"{what}: {expected!r} expected, found {found!r}"
    bound = 1e-5 if error else 1e-9
    if not error < 1e-3 * (1 + abs(expected)) or not np.isfinite(expected):
        return None
    if abs(found - expected) <= bound * (1 + abs(expected)) + 10 * error:
        return None
    return f"{what}: {expected!r} expected, found {found!r}"
