"""Loops without checks run where no check would fail, and only there."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import numbagraph as ng
from numbagraph.ir.values import Value
from numbagraph.jit.graph_function import GraphFunction
from numbagraph.loops import control
from numbagraph.loops.implications import Implication
from numbagraph.loops.polynomials import Polynomial
from numbagraph.loops.versions import Versions

LIMITS = (2**62, 2**63 - 1, -(2**63), -(2**62), 2**40, 2**41, 2**25 + 1, 3037000500)


def along(x, low, high, scale, offset):
    total = 0.0
    for i in range(low, high):
        total += x[scale * i + offset]
    return total


def backwards(x, low, high, scale, offset):
    total = 0.0
    for i in range(high, low, -1):
        total -= x[scale * i + offset] + x[offset - i]
    return total


def triangle(x, rows, first, last, slope, offset):
    total = 0.0
    for i in range(rows):
        for j in range(first + i, last - slope * i):
            total += x[j + offset] * x[i]
    return total


def segments(x, starts, y):
    for i in range(starts.shape[0] - 1):
        for k in range(starts[i], starts[i + 1]):
            y[i] += x[k]


def band(a, lower, upper):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(max(0, i - lower), min(a.shape[1], i + upper)):
            total += a[i, j]
    return total


def recurrence(x, low, high, lag):
    for i in range(low, high):
        x[i] = x[i - lag] * 0.5 + 1.0


def neighbours(a, first):
    b = a.copy()
    for _ in range(3):
        for i in range(first, a.shape[0] - 1):
            for j in range(first, a.shape[1] - 1):
                b[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]
        a[:] = b


def picked(x, positions, first):
    total = 0.0
    for i in range(positions.shape[0]):
        total += x[positions[i]] * x[first + i]
    return total


def checked(x, count, limit):
    total = 0.0
    for i in range(count):
        if i >= limit:
            raise ValueError("too far")
        total += x[i]
    return total


def flattened(x, rows, columns, stride):
    total = 0.0
    for i in range(rows):
        for j in range(columns):
            total += x[i * stride + j]
    return total


def guarded(x, low, high, offset):
    total = 0.0
    for i in range(low, high):
        if i >= offset:
            total += x[i - offset]
        else:
            total -= x[i] * 2.0
    return total


def protected(x, count, shift):
    total = 0.0
    for i in range(count):
        for j in range(count):
            if i + j < x.shape[0] and i > shift:
                total += x[i + j] * x[i - shift - 1]
            elif not (i == 0 or j >= x.shape[0]):
                total -= x[j]
    return total


def stored(x, limit, shift):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        if x[i] > limit:
            y[i] = x[i - 1]
        elif i > shift:
            y[i - shift] += x[i - shift] * 3.0
    return y.sum()


def scattered(x, positions, limit):
    y = np.zeros(x.shape[0])
    for i in range(positions.shape[0]):
        if x[positions[i]] > limit:
            y[positions[i]] = 1.0
            y[i] += 2.0
    return y.sum()


def window(a, kernel, shift):
    """Conditions by `and` and `or`, with loops inside of the branches that they choose."""
    total = 0.0
    for i in range(a.shape[0]):
        for p in range(kernel.shape[0]):
            y = i + p - shift
            if y < 0 or y >= a.shape[0]:
                continue
            for j in range(a.shape[1]):
                x = j - y + shift
                if 0 <= x < a.shape[1]:
                    total += a[y, x] * kernel[p]
                elif x == -shift or not (j > 1 and p > shift):
                    total -= a[y - 1, j]
    return total


def rows(starts, positions, a):
    """The inner loops have conditions of their own, on elements."""
    total = 0.0
    for i in range(starts.shape[0] - 1):
        for k in range(starts[i], starts[i + 1]):
            for j in range(a.shape[1]):
                total += a[positions[k], j] * a[i, j]
    return total


def ahead(x, first, reach):
    total = 0.0
    i = first
    while i < x.shape[0] and total < 30.0:
        total += x[i] + x[i - reach]
        i += 1
    return total


def behind(x, last, limit):
    i = last
    while i >= limit:
        x[i] += x[i - 1]
        if x[i] > 5.0:
            i -= 2
        else:
            i -= 1
    return i


def merged(x, y, offset):
    out = np.zeros(x.shape[0] + y.shape[0])
    i, j, k = 0, 0, 0
    while i < x.shape[0] and j < y.shape[0]:
        if x[i] <= y[j]:
            out[k] = x[i]
            i += 1
        else:
            out[k + offset] = y[j]
            j += 1
        k += 1
    while j < y.shape[0]:
        out[k] = y[j]
        j += 1
        k += 1
    return out.sum() + i + 10 * j


def sorted_by_insertion(x, first, stop):
    for i in range(first, x.shape[0]):
        key = x[i]
        j = i - 1
        while j >= stop and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key


def counted(x, limit, step):
    inside = outside = 0
    for i in range(x.shape[0]):
        if x[i] < limit:
            inside += 1
        else:
            k = 0
            while k < step:
                outside += 2
                k += 1
    return inside, outside


def jumping(x, start, times):
    """No counter: it grows by more than a constant."""
    i, found = start, 0.0
    while i < x.shape[0]:
        found += x[i]
        i = i * times + 1
        if found > 50.0:
            break
    return found


def vector(length: int) -> np.ndarray:
    return np.arange(1.0, length + 1.0)


def matrix(rows: int, columns: int) -> np.ndarray:
    return np.arange(1.0, rows * columns + 1.0).reshape(rows, columns)


LENGTHS = st.integers(0, 6)
NUMBERS = st.integers(-7, 7)
POSITIONS = st.lists(NUMBERS, max_size=5).map(lambda each: np.array(each, int))
MAKERS: dict[Callable[..., Any], st.SearchStrategy[Any]] = {
    along: st.tuples(LENGTHS.map(vector), NUMBERS, NUMBERS, NUMBERS, NUMBERS),
    backwards: st.tuples(LENGTHS.map(vector), NUMBERS, NUMBERS, NUMBERS, NUMBERS),
    triangle: st.tuples(LENGTHS.map(vector), LENGTHS, NUMBERS, NUMBERS, NUMBERS, NUMBERS),
    segments: st.tuples(LENGTHS.map(vector), POSITIONS, LENGTHS.map(vector)),
    band: st.tuples(st.builds(matrix, LENGTHS, LENGTHS), NUMBERS, NUMBERS),
    recurrence: st.tuples(LENGTHS.map(vector), NUMBERS, NUMBERS, NUMBERS),
    neighbours: st.tuples(st.builds(matrix, LENGTHS, LENGTHS), NUMBERS),
    picked: st.tuples(LENGTHS.map(vector), POSITIONS, NUMBERS),
    checked: st.tuples(LENGTHS.map(vector), LENGTHS, NUMBERS),
    guarded: st.tuples(LENGTHS.map(vector), NUMBERS, NUMBERS, NUMBERS),
    protected: st.tuples(LENGTHS.map(vector), LENGTHS, NUMBERS),
    stored: st.tuples(LENGTHS.map(vector), LENGTHS, NUMBERS),
    scattered: st.tuples(LENGTHS.map(vector), POSITIONS, LENGTHS),
    flattened: st.tuples(LENGTHS.map(vector), LENGTHS, LENGTHS, NUMBERS),
    window: st.tuples(st.builds(matrix, LENGTHS, LENGTHS), LENGTHS.map(vector), NUMBERS),
    rows: st.tuples(POSITIONS, POSITIONS, st.builds(matrix, LENGTHS, LENGTHS)),
    ahead: st.tuples(LENGTHS.map(vector), NUMBERS, NUMBERS),
    behind: st.tuples(LENGTHS.map(vector), NUMBERS, NUMBERS),
    merged: st.tuples(LENGTHS.map(vector), LENGTHS.map(vector), NUMBERS),
    sorted_by_insertion: st.tuples(POSITIONS.map(np.float64), NUMBERS, NUMBERS),
    counted: st.tuples(LENGTHS.map(vector), NUMBERS, LENGTHS),
    jumping: st.tuples(LENGTHS.map(vector), NUMBERS, NUMBERS),
}


def outcome(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    try:
        return function(*arguments)
    except (IndexError, ValueError, OverflowError) as error:
        return type(error)


COMPILED = {function: ng.graph_jit(function) for function in MAKERS}


def require_same(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    plain, given = copy.deepcopy(arguments), copy.deepcopy(arguments)
    expected, found = outcome(function, plain), outcome(COMPILED[function], given)
    if found is OverflowError:  # of a number of more than 64 bits, which Python has
        assert max(abs(each) for each in arguments if isinstance(each, int)) >= 2**31
        plain = arguments
    else:
        assert issubclass(found, expected) if isinstance(found, type) else found == expected
    np.testing.assert_equal(given, arguments if isinstance(expected, type) else plain)


@pytest.mark.repeats(but_each=5)
@pytest.mark.parametrize("function", MAKERS, ids=lambda each: each.__name__)
def test_values_and_errors_are_those_of_python(function: Callable[..., Any], extent: str) -> None:
    @settings(max_examples=300 if extent == "all" else 50, deadline=None)
    @given(MAKERS[function])
    def run(arguments: tuple[Any, ...]) -> None:
        require_same(function, arguments)

    run()


@pytest.mark.parametrize("place", range(1, 5))
@pytest.mark.parametrize("function", [along, backwards, triangle], ids=lambda each: each.__name__)
def test_large_numbers_do_not_wrap(function: Callable[..., Any], place: int) -> None:
    for limit in LIMITS:
        for shift, steps in product((-1, 0, 1), (0, 1, 2)):
            if abs(limit + shift) >= 2**63:
                continue
            numbers = [0, steps, 1, 0, 0]
            numbers[place] = limit + shift
            if function is not triangle and place in (1, 2):  # few steps, wherever they are
                numbers[:2] = sorted((limit + shift, limit + shift - steps))
            if function is triangle and place == 2:
                continue  # a loop of that many steps
            require_same(function, (vector(4), *numbers[: 5 if function is triangle else 4]))


@pytest.mark.parametrize("limit", [*LIMITS, -(2**63) + 1, -(2**40), -5, -4, 0, 3, 4, 5])
def test_ends_of_ranges_do_not_wrap(limit: int) -> None:
    for other in (-4, -1, 0, 2, 4, 5, *LIMITS):
        for starts in ([0, 2, limit, other, 1], [limit, other]):
            if max(abs(last - first) for first, last in pairwise(starts)) < 2**63:
                require_same(segments, (vector(4), np.array(starts), vector(4)))


@pytest.mark.parametrize("failing", [0, 1, 4])
def test_the_first_step_that_fails_is_named(failing: int) -> None:
    positions = np.zeros(5, int)
    positions[failing] = 9
    with pytest.raises(IndexError) as caught:
        COMPILED[picked](vector(5), positions, 0)
    line = inspect.getsourcelines(picked)[1] + 3
    assert f"test_versions.py:{line}\n    total += x[positions[i]] * x[first + i]\n  in step {failing}\n" in str(
        caught.value
    )


LINEAR: dict[Callable[..., Any], tuple[str, ...]] = {
    along: ("low", "high", "offset"),
    triangle: ("rows", "first", "last", "offset"),
    flattened: ("rows", "columns", "stride"),
}
"""Loops of which all conditions are found, and the numbers that they are called with."""


@pytest.mark.parametrize("function", LINEAR, ids=lambda each: each.__name__)
def test_what_is_asked_before_a_loop_holds_if_and_only_if_no_step_fails(
    function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Sequence[Implication]] = []

    def condition_of(found: Versions, order: Sequence[Value]) -> Value:
        asked.append(found.needed)
        return original(found, order)

    original = control.condition_of
    monkeypatch.setattr(control, "condition_of", condition_of)
    fixed = {"scale": 1, "slope": 0}
    names = list(inspect.signature(function).parameters)[1:]
    steps = ng.graph_jit(function, static_argnames=tuple(fixed.keys() & set(names)), cache=False)
    outcome(steps, [vector(4), *(fixed.get(name, 2) for name in names)])
    (needed,) = asked

    @settings(max_examples=500, deadline=None)
    @given(LENGTHS, st.tuples(*(NUMBERS for _ in LINEAR[function])))
    def run(length: int, numbers: tuple[int, ...]) -> None:
        values = dict(zip(LINEAR[function], numbers, strict=True), **fixed)
        x = Watched(length)
        fails = outcome(function, [x, *(values[name] for name in names)]) is IndexError
        held = all_hold(needed, {"x.shape[0]": length, **values})
        assert not (held and fails)
        assert held or fails or x.least < 0  # negative positions may take the version with checks

    run()


class Watched:
    """An array of ones that knows the least position that was read."""

    def __init__(self, length: int) -> None:
        self.length, self.least = length, 0

    def __getitem__(self, position: int) -> float:
        if not -self.length <= position < self.length:
            raise IndexError
        self.least = min(self.least, position)
        return 1.0


def all_hold(needed: Sequence[Implication], values: Mapping[str, int]) -> bool:
    def holds(each: Implication) -> bool:
        premises = (number_of(premise, values) >= 1 for premise in each.premises)
        return not all(premises) or number_of(each.goal, values) >= 0

    return all(map(holds, needed))


def number_of(found: Polynomial, values: Mapping[str, int]) -> int:
    return sum(
        count * math.prod(values[str(each.name)] for each in factors)  # type: ignore[attr-defined]
        for factors, count in found.terms.items()
    )


def test_loops_that_leave_in_a_step_are_unrolled():
    """LLVM vectorises no such loop; of one without checks it would then vectorise nothing."""

    def counted(places, counts):
        for i in range(places.shape[0]):
            counts[places[i]] += 1

    def added(x):
        total = 0.0
        for i in range(x.shape[0]):
            total += x[i]
        return total

    places, code = np.arange(40) % 7 - 3, "llvm.loop.unroll.count"
    assert code in GraphFunction(counted).llvm(places, np.zeros(7, int), optimised=False)
    assert code not in GraphFunction(added).llvm(np.ones(40), optimised=False)
    compiled = ng.graph_jit(counted)
    for length in (*range(10), 40):
        ours, theirs = np.zeros(7, int), np.zeros(7, int)
        compiled(places[:length], ours)
        counted(places[:length], theirs)
        np.testing.assert_array_equal(ours, theirs)
        if length:
            wrong = places[:length].copy()
            wrong[-1] = 7
            with pytest.raises(IndexError, match="index 7 is out of bounds"):
                compiled(wrong, ours)


def test_the_version_with_checks_is_no_part_of_the_program():
    def sums(x, shift):
        total, count = 0.0, 0
        for i in range(x.shape[0]):
            total += x[i - shift]
            count += 2
            x[i] = total
        return total, count

    text = GraphFunction(sums).llvm(np.arange(5.0), 1, optimised=False)
    functions = {each.partition('"')[2].partition('"')[0]: each for each in text.split("\ndefine ")}
    assert [each for each, body in functions.items() if "\nstep" in body] == ["sums.program"]
    assert functions["sums.program"].count("\nstep") == 1

    compiled = ng.graph_jit(sums)
    for shift in (0, 1, 5, -1, 6):  # of which the last two fail
        ours, theirs = np.arange(5.0), np.arange(5.0)
        try:
            expected = sums(theirs, shift)
        except IndexError:
            with pytest.raises(IndexError):
                compiled(ours, shift)
        else:
            assert compiled(ours, shift) == expected
            np.testing.assert_array_equal(ours, theirs)
