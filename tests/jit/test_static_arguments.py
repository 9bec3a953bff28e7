"""Static arguments: part of the key of a version, by type and bits."""

import copy
import enum
import functools
import inspect
import queue
from collections import namedtuple
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from numbagraph import graph_jit
from tests.support.tally import Tally

X = np.arange(6.0).reshape(3, 2)


def counting(function):
    """The function, and a count of how often it runs, which is when it is traced."""
    runs = Tally()

    @functools.wraps(function)
    def counted(*args, **kwargs):
        runs.step()
        return function(*args, **kwargs)

    return counted, runs


def test_static_arguments_are_part_of_the_key():
    counted, runs = counting(lambda x, n, mode: x * n if mode == "scale" else x + n)
    counted.__signature__ = inspect.signature(lambda x, n, mode: None)
    f = graph_jit(counted, static_argnames=("n", "mode"))
    x = np.arange(3.0)
    for _ in range(2):
        np.testing.assert_array_equal(f(x, 2, "scale"), 2 * x)
        np.testing.assert_array_equal(f(x, 3, mode="scale"), 3 * x)
        np.testing.assert_array_equal(f(x, 3, "shift"), 3 + x)
    assert len(runs) == 3


def test_equal_static_arguments_of_different_types_are_not_the_same():
    f = graph_jit(lambda x, n: x * n, static_argnames="n")
    x = np.arange(3)
    assert [f(x, n).dtype for n in (1, 1.0, True)] == [np.int64, np.float64, np.int64]
    f = graph_jit(lambda x, n: x * n[0], static_argnames="n")
    assert [f(x, (n,)).dtype for n in (1, 1.0)] == [np.int64, np.float64]


@dataclass(frozen=True)
class Setting:
    number: Any
    rest: tuple = ()
    note: str = field(default="", compare=False)


Marked = namedtuple("Marked", "number rest")


class Level(enum.IntEnum):
    ONE = 1


class Factor(enum.Enum):
    TWO = 2.0


NAN = float("nan")


NUMBERS = [1, 1.0, True, 1 + 0j, np.float32(1), np.int64(1), Level.ONE, 0.0, -0.0, 0j, -0j, complex(0, -0.0), NAN]


WRAPPED = {
    "itself": lambda number: number,
    "in a tuple": lambda number: (2, (number,)),
    "in a named tuple": lambda number: Marked(number, ()),
    "in a frozen set": lambda number: frozenset([number]),
    "in a dataclass": Setting,
    "deep in a dataclass": lambda number: Setting(1, (Setting(frozenset([(number,)])),)),
}


@pytest.mark.parametrize("wrap", WRAPPED.values(), ids=WRAPPED)
def test_static_arguments_that_are_equal_are_not_the_same(wrap):
    x, seen = np.arange(3), queue.SimpleQueue()  # a list must not be written to
    f = graph_jit(lambda x, n: (seen.put(repr(n)), x)[1], static_argnames="n", backend="numpy")
    for _ in range(2):
        for number in [*NUMBERS, *NUMBERS[::-1], float("nan")]:
            f(x, wrap(number))
    assert [seen.get() for _ in range(seen.qsize())] == [repr(wrap(number)) for number in NUMBERS]


def test_other_static_arguments_are_the_same_if_they_are_equal():
    class Own:
        def __init__(self, name):
            self.name = name

        def __eq__(self, other):
            return isinstance(other, Own) and self.name == other.name

        def __hash__(self):
            return hash(self.name)

    x = np.arange(3)
    pairs = [(Own("a"), Own("b")), ("a", b"a"), (np.float64, np.float32), (Factor.TWO, 2.0), (range(0), range(1, 1))]
    pairs += [(None, 0), (np.dtype("f4"), np.dtype("f8")), (Decimal("1.0"), Decimal("1.00")), (str.upper, str.lower)]
    for one, other in pairs:
        counted, runs = counting(lambda x, n: x)
        counted.__signature__ = inspect.signature(lambda x, n: None)
        f = graph_jit(counted, static_argnames="n", backend="numpy")
        for each in (one, other, copy.copy(one), copy.copy(other)):
            f(x, each)
        assert len(runs) == 2, (one, other)


def test_static_arguments_drive_python():
    @graph_jit(static_argnames="order")
    def power_sum(x, order=3):
        total = x * 0
        for _ in range(order):
            total = total * x + 1
        return total

    x = np.array([2.0, 3.0])
    np.testing.assert_array_equal(power_sum(x), [7, 13])
    np.testing.assert_array_equal(power_sum(x, 2), [3, 4])
