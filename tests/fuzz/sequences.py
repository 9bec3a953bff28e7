"""Sequences of calls of one function, against Python's own: between the calls all changes that the function reads,
arguments have other lengths, dtypes and layouts, and some calls fail.

All numbers are small integers, those in floats too, so that results are equal and not only near."""

from __future__ import annotations

import copy
import linecache
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from numbagraph import TraceError, graph_jit
from numbagraph.testing.op_calls import outcome
from tests.fuzz.places import NAMES, PLACES, Part
from tests.fuzz.runner import Difference, Report

__all__ = ["case", "names"]

ERRORS = (IndexError, ValueError, TypeError, KeyError, NotImplementedError)
"""Which of several errors comes first is not compared: lengths are compared before elements."""
BACKENDS = ("numba", "numpy")
MOST_STEPS = 10
MOST_TRIALS = 60
"""Shorter sequences that are tried when one differs."""

STATEMENTS = ("y = y + ({})", "y = y * ({})", "y = ({}) - y", "y = np.where(y > ({}), y, 1)")
TAKEN = (
    "y = y + x[i]",
    "if np.sum(x) > 3:\n        y = y + 1",
    "for j in range(len(x)):\n        y = y + x[j]",
    "y = y + np.ones(3)",
)
"""What may fail for some arguments, or makes the function one that is converted before it is traced."""


@dataclass(frozen=True)
class Change:
    """A change of what the function reads: Python's text, and what `value` is in it."""

    text: str
    value: Any


@dataclass(frozen=True)
class Call:
    """The arguments of a call, and whether the result goes to an array of the caller's."""

    x: Any
    i: int
    into: bool


@dataclass(frozen=True)
class Sequence:
    """A program, and what is done with it."""

    made: tuple[Change, ...]
    body: tuple[str, ...]
    steps: tuple[Change | Call, ...]
    backend: str

    def source(self) -> str:
        lines = "".join(f"    {each}\n" for each in self.body)
        return f"def f(x, i, s, *, q=1):\n    y = x * q\n{lines}    return y\n"

    def __str__(self) -> str:
        steps = "".join(f"# {each}\n" for each in (*self.made, *self.steps))
        return f"backend {self.backend}\n{steps}{self.source()}"


def names() -> list[str]:
    return sorted(PLACES)


def case(rng: np.random.Generator, report: Report) -> None:
    """One function, called after each of some changes."""
    sequence, places = drawn(rng)
    difference = compared(sequence, report)
    if difference is None:
        report.covered.update(places)
        return
    for _ in range(MOST_TRIALS):
        found = ((each, compared(each, Report(0))) for each in shorter(sequence))
        smaller = next(((each, text) for each, text in found if text is not None), None)
        if smaller is None:
            break
        sequence, difference = smaller
    raise Difference(f"{difference}\n{sequence}")


def drawn(rng: np.random.Generator) -> tuple[Sequence, list[str]]:
    known = names()
    places = [known[rng.integers(len(known))] for _ in range(rng.integers(1, 5))]
    made, body, changes = [], [], ["f.__kwdefaults__ = dict(q=value)", "f.__kwdefaults__['q'] = value"]
    for k, name in enumerate(places):
        place = PLACES[name]
        made.append(Change(place.made.format(k=k), value_of(rng)))
        body.append(STATEMENTS[rng.integers(len(STATEMENTS))].format(place.read.format(k=k)))
        changes += [each.format(k=k) for each in place.changes] * 3
    if rng.random() < 0.5:
        body.insert(int(rng.integers(len(body) + 1)), TAKEN[rng.integers(len(TAKEN))])
    steps: list[Change | Call] = []
    for _ in range(int(rng.integers(3, MOST_STEPS))):
        steps.append(call_of(rng))
        for _ in range(int(rng.integers(0, 3))):
            steps.append(Change(changes[rng.integers(len(changes))], value_of(rng)))
    backend = BACKENDS[rng.integers(len(BACKENDS))]
    return Sequence(tuple(made), tuple(body), (*steps, call_of(rng)), backend), places


def value_of(rng: np.random.Generator) -> Any:
    """A number of some kind, or now and then an array, which may not fit the others."""
    number = int(rng.integers(-3, 4))
    kinds = (int, float, bool, np.float32, np.float64, np.int64, lambda n: -0.0 if n < 0 else 0.0)
    if rng.random() < 0.1:
        return np.full(int(rng.choice([1, 2, 3])), float(number))
    return kinds[rng.integers(len(kinds))](number)


def call_of(rng: np.random.Generator) -> Call:
    length = int(rng.choice([0, 1, 2, 3, 3, 3, 5]))
    x: Any = rng.integers(-3, 4, size=2 * length).astype(rng.choice(["d", "d", "d", "f", "q"]))
    x = (x[:length], x[:length], x[::2], x[length:][::-1], x.reshape(2, length))[rng.integers(5)]
    return Call(x, int(rng.integers(-1, 4)), bool(rng.random() < 0.15))


def shorter(sequence: Sequence) -> Iterator[Sequence]:
    """The sequence without one of its steps, or one of its statements."""
    for part in ("steps", "body"):
        own = getattr(sequence, part)
        for position in range(len(own)):
            rest = {part: (*own[:position], *own[position + 1 :])}
            yield Sequence(**{**vars(sequence), **rest})


def world(sequence: Sequence) -> dict[str, Any]:
    """The names of a program, with a function ``f`` that is found in its source."""
    name, source = f"<sequence {hash(sequence.body)}>", sequence.source()
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    space = {**NAMES, "s": Part(0)}
    for each in sequence.made:
        change(space, each)
    exec(compile(source, name, "exec"), space)
    return space


def change(space: dict[str, Any], step: Change) -> Exception | None:
    """Do what a step says; an error that it raises is the same in each world."""
    space["value"] = copy.deepcopy(step.value)
    name = f"<step {hash(step.text)}>"
    linecache.cache[name] = (len(step.text), None, step.text.splitlines(keepends=True), name)
    try:
        exec(compile(step.text, name, "exec"), space)
    except (IndexError, KeyError) as error:
        return error
    finally:
        del space["value"]
    return None


def compared(sequence: Sequence, report: Report) -> str | None:
    """How a compiled function differs from Python's after some steps, if it does."""
    plain, own = world(sequence), world(sequence)
    compiled: Any = graph_jit(own["f"], static_argnames="s", backend=sequence.backend, cache=False)  # type: ignore[call-overload]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, step in enumerate(sequence.steps):
            if isinstance(step, Change):
                change(plain, step)
                change(own, step)
                continue
            for again in range(2):
                difference = called(plain, own, compiled, step, report)
                if difference is not None:
                    return f"step {number}, call {again}: {difference}"
    return None


def called(plain: dict[str, Any], own: dict[str, Any], compiled: Any, step: Call, report: Report) -> str | None:
    given, kept = copied(step.x), copied(step.x)
    expected = outcome(plain["f"], [copied(step.x), step.i, plain["s"]])
    function: Callable[..., Any] = compiled
    if step.into and isinstance(expected, np.ndarray):
        function = lambda *args: compiled(*args, out=np.empty_like(expected))  # noqa: E731
    found = outcome(function, [given, step.i, own["s"]])
    if given.tobytes() != kept.tobytes():
        return f"an argument was changed from {kept} to {given}"
    if isinstance(found, TraceError):
        report.refused[str(found).partition("\n")[0][:80]] += 1
        return None
    if isinstance(expected, Exception) or isinstance(found, Exception):
        both = isinstance(expected, Exception) and isinstance(found, ERRORS)
        return None if both else f"{expected!r} expected, found {found!r}"
    wanted, result = np.asarray(expected), np.asarray(found)
    same = (wanted.dtype, wanted.shape, wanted.tobytes()) == (result.dtype, result.shape, result.tobytes())
    return None if same else f"{expected!r} expected, found {found!r}"


def copied(x: np.ndarray) -> np.ndarray:
    """A copy of the same layout."""
    whole = x if x.base is None else x.base
    start = (x.__array_interface__["data"][0] - whole.__array_interface__["data"][0]) // x.itemsize
    flat = np.array(whole).reshape(-1)
    steps = [each // x.itemsize for each in x.strides]
    if not x.size:
        return np.empty_like(x)
    return np.lib.stride_tricks.as_strided(flat[start:], x.shape, [each * x.itemsize for each in steps])
