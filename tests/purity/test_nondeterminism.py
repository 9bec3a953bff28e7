"""What answers otherwise each time is refused while a function is traced: it would be the same in all later calls."""
# ruff: noqa: NPY002  the legacy functions are refused, too

from __future__ import annotations

import datetime
import functools
import os
import queue
import random
import secrets
import sys
import threading
import time
import uuid
from time import perf_counter
from typing import Any

import numpy as np
import pytest
import scipy.stats
from numpy.random import normal as imported

import numbagraph
from numbagraph import graph_jit
from numbagraph.tracing.tracer import TraceError

RNG = np.random.default_rng(0)
LEGACY = np.random.RandomState(0)
PYTHONS = random.Random(0)
SYSTEM = random.SystemRandom()
draw = RNG.normal
X = np.ones(3)


class Noisy:
    def __init__(self) -> None:
        self.source = np.random.default_rng(1)
        self.table = {"normal": RNG.normal}

    def added(self, x: Any) -> Any:
        return x + self.source.normal(size=3)

    def through_another(self, x: Any) -> Any:
        return self.added(x) * 2

    @property
    def noise(self) -> float:
        return self.source.normal()

    def by_property(self, x: Any) -> Any:
        return x + self.noise

    def from_table(self, x: Any) -> Any:
        return x + self.table["normal"]()

    def __call__(self, x: Any) -> Any:
        return x * self.source.random()


def helper(x: Any) -> Any:
    return x + np.random.rand()


def calling(function: Any, x: Any) -> Any:
    return function(x)


def importing(x: Any) -> Any:
    from time import time as now

    return x + now()


def swallowing(x: Any) -> Any:
    try:
        seconds = time.time()
    except TypeError:
        seconds = 0.0
    return x + seconds


def closure() -> Any:
    generator = np.random.default_rng()
    return lambda x: x + generator.uniform()


def local(x: Any) -> Any:
    generator = np.random.default_rng(3)
    number = generator.normal
    return x + number()


REFUSED: dict[str, Any] = {
    "np.random.normal": lambda x: x + np.random.normal(loc=0.0, scale=1.0, size=3),
    "np.random.rand": lambda x: x + np.random.rand(),
    "imported": lambda x: x + imported(),
    "RandomState": lambda x: x + LEGACY.normal(),
    "fresh": lambda x: x + np.random.default_rng().normal(),
    "fresh RandomState": lambda x: x + np.random.RandomState(0).rand(),
    "Generator": lambda x: x + RNG.normal(),
    "bound": lambda x: x + draw(),
    "closure": closure(),
    "comprehension": lambda x: x + sum([RNG.normal() for _ in range(2)]),
    "map": lambda x: x + sum(map(RNG.normal, [1.0, 2.0])),
    "getattr": lambda x: x + getattr(np.random, "normal")(),  # noqa: B009
    "partial": functools.partial(lambda number, x: x + number(), RNG.normal),
    "bits": lambda x: x + float(RNG.bit_generator.random_raw()),
    "spawn": lambda x: x + len(RNG.spawn(1)),
    "helper": lambda x: helper(x),
    "argument of a helper": lambda x: calling(lambda y: y + np.random.rand(), x),
    "attribute": Noisy().added,
    "method of a method": Noisy().through_another,
    "property": Noisy().by_property,
    "table": Noisy().from_table,
    "callable object": Noisy(),
    "gradient": numbagraph.grad(lambda x: np.sum(x) * RNG.normal()),
    "vmap": numbagraph.vmap(lambda x: x * np.random.normal()),
    "compiled": lambda x: graph_jit(helper)(x),
    "scipy.stats": lambda x: x + scipy.stats.norm.rvs(),
    "random.random": lambda x: x + random.random(),
    "random.gauss": lambda x: x + random.gauss(0, 1),
    "Random": lambda x: x + PYTHONS.random(),
    "Random.choice": lambda x: x + PYTHONS.choice([1, 2]),
    "SystemRandom": lambda x: x + SYSTEM.random(),
    "time.time": lambda x: x + time.time(),
    "imported clock": lambda x: x + perf_counter(),
    "import inside": importing,
    "time_ns": lambda x: x + time.time_ns(),
    "monotonic": lambda x: x + time.monotonic(),
    "process_time": lambda x: x + time.process_time(),
    "urandom": lambda x: x + os.urandom(1)[0],
    "uuid": lambda x: x + uuid.uuid4().int % 3,
    "secrets": lambda x: x + secrets.randbelow(3),
    "datetime": lambda x: x + datetime.datetime.now().second,
    "date": lambda x: x + datetime.date.today().day,
    "caught": swallowing,
}


def check_refused(name: str) -> None:
    """A function that draws must be an error that names its line, and the process as it was."""
    with pytest.raises(
        TraceError,
        match=r"(?s)pass what it (?:returns as an argument|draws, or draw from a key)[^\n]*\n"
        r".*test_nondeterminism\.py:\d+",
    ):
        graph_jit(REFUSED[name])(X)
    assert sys.gettrace() is None or sys.gettrace().__module__ != "numbagraph.purity.nondeterminism"


@pytest.mark.parametrize("name", REFUSED)
def test_what_answers_otherwise_each_time_is_refused(name: str) -> None:
    check_refused(name)


def test_a_generator_with_a_seed_answers_alike_each_time():
    compiled = graph_jit(local)
    for _ in range(2):
        np.testing.assert_array_equal(compiled(X), local(X))


SHAPE, OPTIONS = (2,), {"size": 2}


def drawing(x: Any, *shape: Any, **options: Any) -> Any:
    return x + np.random.normal(*shape, **options).sum()


def with_cells(x: Any, y: Any, *shape: Any) -> Any:
    def inner() -> Any:
        return x + y + np.random.rand(*shape)[0]

    return inner() + sum(y for _ in shape)


def in_blocks(x: Any) -> Any:
    total = x
    for shape in (SHAPE, SHAPE):
        try:
            with np.errstate(all="ignore"):
                total = total + (np.random.rand(*shape)[0] if len(shape) else 0) * sum(*[[1, 2]])
        except ValueError:
            total = total + np.max(*[shape])
    return total


def in_a_handler(x: Any) -> Any:
    try:
        raise KeyError(*SHAPE)
    except KeyError:
        return x + np.random.rand(*SHAPE)[0]


UNPACKED: dict[str, Any] = {
    "function": lambda x: x + np.random.rand(*x.shape[1:]),
    "keywords": lambda x: x + np.random.normal(**OPTIONS)[0],
    "both": lambda x: x + np.add(1, (np.random.normal(*[0.0], **OPTIONS)))[0],
    "method": lambda x: x + RNG.normal(*[0.0, 1.0]),
    "deep on the stack": lambda x: [1, 2, (x, x + max(3, np.random.rand(*SHAPE)[0]))][2][1],
    "Python function": lambda x: drawing(x, *[0.0, 1.0, 2]),
    "variables": lambda x: with_cells(x, 1, *SHAPE),
    "generator": lambda x: x + sum(np.random.rand(*each)[0] for each in (SHAPE,)),
    "blocks": in_blocks,
    "handler": in_a_handler,
    "clock": lambda x: x + time.time(*()),
}


@pytest.mark.parametrize("name", UNPACKED)
def test_calls_with_unpacked_arguments_are_refused(name: str) -> None:
    with pytest.raises(TraceError, match=r"^(np\.random|time)\.[\w.]+ (answers otherwise|draws from)"):
        graph_jit(UNPACKED[name])(X)


def test_calls_with_unpacked_arguments_that_are_pure() -> None:
    def function(x: Any) -> Any:
        options = {"axis": 0}
        stacked = np.stack(*[[x, x]], **options)
        named = [np.multiply(*pair) for pair in zip(x, [1.0, 2.0, 3.0], strict=True)] if time is None else [x]
        return np.sum(*[stacked], **options) + named[0] + len(str(RNG and "")) + max(*[1, 2])

    np.testing.assert_array_equal(graph_jit(function)(X), 3 * X + 2)


def test_the_name_and_the_line_are_those_of_the_user() -> None:
    line = helper.__code__.co_firstlineno + 1
    with pytest.raises(TraceError, match=rf"(?s)^np\.random\.rand answers otherwise.*test_nondeterminism\.py:{line}$"):
        graph_jit(helper)(X)


def test_what_is_only_named_or_pure_is_no_error() -> None:
    def verbose(x: Any) -> Any:
        if x.ndim > 5:
            print(time.time())
        assert isinstance(RNG, np.random.Generator)
        seed = uuid.uuid5(uuid.NAMESPACE_DNS, "name").int % 7
        return np.power(x, 2) + seed + time.strptime("2020", "%Y").tm_year

    np.testing.assert_array_equal(graph_jit(verbose)(X), verbose(X))
    assert helper(X).shape == (3,)  # outside, all is as ever
    assert Noisy().through_another(X).shape == (3,)


def test_a_library_may_look_at_the_clock() -> None:
    namespace: dict[str, Any] = {"time": time}
    file = os.path.join(os.path.dirname(pytest.__file__), "logger.py")
    exec(compile("def log():\n    return time.time()", file, "exec"), namespace)
    log = namespace["log"]

    def function(x: Any) -> Any:
        log()
        return x + 1 if time else x

    np.testing.assert_array_equal(graph_jit(function)(X), X + 1)


@pytest.mark.parametrize("source", [RNG, LEGACY, PYTHONS, RNG.bit_generator])
def test_generators_are_no_arguments(source: Any) -> None:
    for options in ({"static_argnames": "source"},) if source is RNG else ({}, {"static_argnames": "source"}):
        with pytest.raises(TypeError, match="pass the numbers that it draws"):
            graph_jit(lambda x, source: x + source.random(), **options)(X, source)


@pytest.mark.parametrize("seed", [0, 3, 2**31, 2**32 + 5, 2**62])
def test_a_generator_that_the_function_makes_itself(seed: int) -> None:
    def seeded(x: Any) -> Any:
        return x + np.random.default_rng(0).normal(size=3)

    def seeded_by(x: Any, seed: Any) -> Any:
        rng = np.random.default_rng(seed)
        return x + rng.normal(size=3), rng.integers(10, size=4), rng.permutation(3)

    compiled, compiled_by = graph_jit(seeded), graph_jit(seeded_by)
    for _ in range(2):
        np.testing.assert_allclose(compiled(X), seeded(X))
        for found, expected in zip(compiled_by(X, seed), seeded_by(X, seed), strict=True):
            np.testing.assert_allclose(found, expected)


def test_seeds_as_numpy_takes_them() -> None:
    several = graph_jit(lambda seed: np.random.default_rng([seed, 5, 2**40]).random())
    assert several(9) == np.random.default_rng([9, 5, 2**40]).random()
    with pytest.raises(ValueError, match="non-negative"):
        graph_jit(lambda seed: np.random.default_rng(seed).random())(-1)
    with pytest.raises(ValueError, match=r"below 2\*\*32"):
        several(2**32)

    def stream(x: Any, seed: Any) -> Any:
        rng, total = np.random.default_rng(seed), 0.0
        for v in x:
            if v > x[0]:
                total += rng.uniform() * v
        return total

    assert graph_jit(stream)(X, 7) == pytest.approx(stream(X, 7))
    with pytest.raises(TraceError, match=r"Generator\.random draws from a generator"):
        graph_jit(lambda x: x + np.random.default_rng().random())(X)


def test_a_static_function_that_draws() -> None:
    with pytest.raises(TraceError, match="draws from a generator that is no argument"):
        graph_jit(lambda x, number: x + number(), static_argnames="number")(X, RNG.normal)


def test_other_threads_draw_while_one_traces() -> None:
    found: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def noisy(x: Any) -> Any:
        return x + RNG.random()

    def function(x: Any, wait: bool) -> Any:
        if wait:
            thread = threading.Thread(target=lambda: found.put(noisy(X)))
            thread.start()
            thread.join()
        return noisy(x) if not wait else x + 1

    compiled = graph_jit(function, static_argnames="wait")
    np.testing.assert_array_equal(compiled(X, True), X + 1)
    assert found.get(timeout=10).shape == (3,)
    with pytest.raises(TraceError):
        compiled(X, False)
