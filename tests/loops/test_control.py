"""The steps of loops and branches: what they update where it lies, what they compute once, and what they count."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from numbagraph import graph_jit, scan
from numbagraph.emit.temporaries import MOST_ON_STACK, SMALL, temporaries
from numbagraph.intrinsics.emitters.ir import Buffer, Literal
from numbagraph.ir.types import FLOAT64
from numbagraph.ir.values import ArrayType
from numbagraph.loops.ir import Block, Entry, Program


def same_as_python(function: Callable[..., Any], *args: Any) -> str:
    """What `explain` says of a function that gives what plain Python does, and writes the same."""
    compiled, ours, theirs = graph_jit(function), _copies(args), _copies(args)
    found, expected = compiled(*ours), function(*theirs)
    np.testing.assert_equal(found, expected)
    np.testing.assert_equal(ours, theirs)
    return str(compiled.explain(*args))


def _copies(args: Any) -> list[Any]:
    return [each.copy() if isinstance(each, np.ndarray) else each for each in args]


X = np.array([3.0, -1.0, 2.0, -5.0, 4.0, -0.0, 7.0])


def both_paths_write(x, y):
    for i in range(1, x.shape[0]):
        if x[i] > 0:
            y[i] = y[i - 1] + x[i]
        else:
            y[i] = y[i - 1] * 2
            y[0] += 1
    return y.sum()


def paths_write_several(x, y):
    z = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        if x[i] > 0:
            z[i], y[i] = y[i], z[i - 1]
        elif x[i] < -2:
            y[i] = 3
        else:
            z[i] = x[i]
    return z


def paths_exchange(x, y):
    y, z = y + 1, np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        if x[i] > 0:
            y[i] += 1
            y, z = z, y
        else:
            z[i] -= 1
    return y, z


def paths_read_what_others_write(x, y):
    z = np.ones(x.shape[0])
    for i in range(x.shape[0]):
        if x[i] > 0:
            y[i] = z[i] + 1
            z[i] = y[i - 1]
        else:
            z[i] = y[i] + 1
            y[i - 1] = z[i]
    return z


@pytest.mark.parametrize(
    "function", [both_paths_write, paths_write_several, paths_exchange, paths_read_what_others_write]
)
def test_paths_of_a_branch_write(function):
    same_as_python(function, X, np.arange(7.0))
    same_as_python(function, X[::-1], np.arange(14.0)[::2])


def test_arrays_that_both_paths_write_are_not_copied():
    text = same_as_python(both_paths_write, X, np.arange(7.0))
    branch = text[text.index("branch (switch)") :]
    assert "copy" not in branch


def search_and_count(x, centres, counts):
    for i in range(x.shape[0]):
        best, nearest = np.inf, 0
        for k in range(centres.shape[0]):
            distance = (x[i] - centres[k]) ** 2
            if distance < best:
                best, nearest = distance, k
        for d in range(counts.shape[1]):
            counts[nearest, d] += 1
        if counts[nearest, 0] > 2:
            counts[nearest, 0] -= nearest


def test_what_a_loop_gave_is_passed_to_others():
    """Not computed again in each of their steps."""
    text = same_as_python(search_and_count, X, np.array([-3.0, 1.0, 5.0]), np.zeros((3, 4), int))
    assert text.count("loop (scan)") == 3


def test_numbers_that_count_steps_go_on_behind_a_strip():
    """Steps between two questions for signals are a loop of their own."""

    def function(x, last):
        found = i = -1
        for i in range(x.shape[0]):
            if x[i] > 0:
                found = i
                last[0] = i
        return found, i

    x = np.zeros(2**21 + 2**20, dtype=np.int8)
    x[[5, 2**21 - 1]] = 1
    same_as_python(function, x, np.zeros(1))
    x[[2**21, 2**21 + 7, -1]] = 1
    same_as_python(function, x, np.zeros(1))


@pytest.mark.parametrize("length", [0, 1, 5])
@pytest.mark.parametrize("reverse", [False, True])
def test_numbers_that_count_steps(length, reverse):
    def function(start, xs):
        def step(carry, x):
            number, total = carry
            return (number - 3, total + number * x), number

        return scan(step, (start, np.int64(0)), xs, reverse=reverse)

    compiled = graph_jit(function)
    xs = np.arange(1, length + 1)
    for start in (np.int64(7), np.int64(-(2**63) + 4)):
        (number, total), numbers = compiled(start, xs)
        with np.errstate(over="ignore"):
            before = start - 3 * np.arange(length)
            assert number == np.int64(start) - np.int64(3 * length)
            assert total == (before * (xs[::-1] if reverse else xs)).sum()
        np.testing.assert_array_equal(numbers, before[::-1] if reverse else before)


def temporary(*shape: int) -> list[Buffer]:
    return [Buffer("temporary", ArrayType(FLOAT64, shape), tuple(Literal(each, np.dtype(int)) for each in shape))]


def test_small_temporaries_are_on_the_stack():
    slots = [temporary(), temporary(SMALL // 8), temporary(SMALL // 8 + 1), temporary(0)]
    found = temporaries(Program(Block([], slots), Entry([], []), []))
    assert [size for _, size in found.on_stack] == [8, SMALL, 1]
    assert found.in_arena == (tuple(slots[2]),)
    many = [temporary(SMALL // 8) for _ in range(2 * MOST_ON_STACK // SMALL)]
    found = temporaries(Program(Block([], many), Entry([], []), []))
    assert sum(size for _, size in found.on_stack) == MOST_ON_STACK
    assert len(found.in_arena) == len(many) // 2


def columns_from_their_left(a, n):
    for j in range(1, n):
        a[1:-1, j] = 0.5 * a[1:-1, j - 1]


def rows_from_above(a, n):
    for i in range(1, n):
        a[i, 1:-1] = a[i - 1, :-2] + a[i, 2:]


def rows_of_a_view(a, n):
    inner = a[1:-1, 1:]
    for i in range(n - 3):
        inner[i + 1] = inner[i] * 0.5


def elements_of_a_row(a, n):
    for i in range(n):
        row = a[i]
        for j in range(1, n):
            row[j] = row[j - 1] + 1


def rows_exchanged(a, n):
    for i in range(n // 2):
        a[[i, n - 1 - i]] = a[[n - 1 - i, i]]


IN_PLACE = [columns_from_their_left, rows_from_above, rows_of_a_view, elements_of_a_row, rows_exchanged]


@pytest.mark.parametrize("function", IN_PLACE)
def test_parts_at_running_positions_are_updated_in_place(function):
    """Each assignment costs what it writes, and not the array."""
    text = same_as_python(function, np.linspace(0, 1, 31 * 37).reshape(31, 37), 31)
    assert "1 of them updated in place" in text
    assert not any(whole in text for whole in ("i0 < 31", "i0 < 29 x", "i0 < 37"))
